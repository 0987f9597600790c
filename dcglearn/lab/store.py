"""Finished cells on disk: one SQLite database for each folder of results.

A cell is written as soon as it is finished, so a run that is killed loses only the cells that it
was computing. Failures are kept until the cell is tried again, and never reused. Two runs may share
a store. Cells of another version have other keys, and are not found.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.lab.cells import key_of

CELLS_FILE = "cells.sqlite"

_BUSY_SECONDS = 60
"""How long a run waits for another one that writes to the same store."""

_TABLE = "CREATE TABLE IF NOT EXISTS cells (key TEXT PRIMARY KEY, cell TEXT, outcome TEXT)"


class Store:
    """The outcomes of all cells computed for one folder of results, or kept in memory."""

    def __init__(self, folder: str | Path | None) -> None:
        self.path = Path(":memory:" if folder is None else Path(folder) / CELLS_FILE)
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._database: sqlite3.Connection | None = None
        if self.path.exists():
            self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(
                self.path, _BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", _TABLE):
                database.execute(statement)
            rows = database.execute("SELECT key, outcome FROM cells")
            self._outcomes = {key: json.loads(outcome) for key, outcome in rows}
        except (OSError, sqlite3.OperationalError) as error:
            raise self._unusable(error) from error
        except (sqlite3.DatabaseError, ValueError) as error:
            remedy = "remove it; its cells are computed again"
            raise InputError(f"is damaged ({error})", remedy, str(self.path)) from error
        self._database = database
        return database

    def _unusable(self, error: Exception) -> InputError:
        why = getattr(error, "strerror", None) or error
        remedy = "make room, or choose another `out`; finished cells are kept"
        return InputError(f"cannot be used ({why})", remedy, str(self.path))

    def get(self, cell: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a finished cell, or None."""
        return self._outcomes.get(key_of(cell), {}).get("result")

    def error(self, cell: dict[str, Any]) -> str | None:
        """Return the error of a cell that failed when it was last tried, or None."""
        outcome = self._outcomes.get(key_of(cell), {})
        return "\n".join(outcome[key] for key in ("error", "traceback") if key in outcome) or None

    def add(self, cell: dict[str, Any], outcome: dict[str, Any]) -> None:
        """Write an outcome and keep it; a result that is not finite is kept as a failure."""
        for name, value in outcome.get("result", {}).items():
            if not np.size(value) or not np.isfinite(value).all():
                outcome = {"error": f"ValueError: {name} is {value!r}"}
        database = self._database or self._open()
        row = key_of(cell), json.dumps(cell), json.dumps(outcome)
        try:
            database.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?)", row)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        self._outcomes[row[0]] = json.loads(row[2])  # as the next run reads it

    def close(self) -> None:
        """Close the file; what was read remains."""
        if self._database is not None:
            self._database.close()
            self._database = None
