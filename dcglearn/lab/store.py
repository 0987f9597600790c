"""Finished cells on disk: one file of JSON lines in each folder of results.

A line is added as soon as a cell is finished, so a run that is killed loses only the cells that it
was computing; a line without its end is skipped. Failures are kept until the cell is tried again.
Two runs may share a store. Cells of another version are not found.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.lab.cells import Cell, key_of

CELLS_FILE = "store/cells.jsonl"


class Store:
    """The outcomes of all cells computed for one folder of results, or kept in memory."""

    def __init__(self, out: str | Path | None) -> None:
        self.path = None if out is None else Path(out) / CELLS_FILE
        self._outcomes: dict[str, Cell] = {}
        with suppress(FileNotFoundError, NotADirectoryError):
            for line in self.path.read_bytes().splitlines() if self.path else ():
                with suppress(ValueError):  # it was not written to its end
                    record = json.loads(line)
                    self._outcomes[record["key"]] = record["outcome"]

    def get(self, cell: Cell) -> Cell | None:
        """Return the result of a finished cell, or None."""
        return self.outcome(cell).get("result")

    def outcome(self, cell: Cell) -> Cell:
        """Return the result of a cell, or its error when it was last tried, by these names."""
        return self._outcomes.get(key_of(cell), {})

    def add(self, cell: Cell, outcome: Cell) -> None:
        """Write an outcome and keep it; a result that is not finite is kept as a failure."""
        for name, value in outcome.get("result", {}).items():
            if not np.size(value) or not np.isfinite(value).all():
                outcome = {"error": f"ValueError: {name} is {value!r}"}
        key = key_of(cell)
        line = json.dumps({"key": key, "cell": cell, "outcome": outcome})
        if self.path is not None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab") as file:
                    file.write(f"\n{line}".encode())  # after one that was not written to its end
            except OSError as error:
                raise InputError(
                    f"cannot be used ({error.strerror})",
                    "make room, or choose another `out`; finished cells are kept",
                    str(self.path),
                ) from error
        self._outcomes[key] = json.loads(line)["outcome"]  # as the next run reads it
