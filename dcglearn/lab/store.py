"""Finished cells on disk: one JSON line each, appended as they finish.

A run that is killed loses at most the record it was writing: every append begins on a fresh
line, so a torn record spoils no other, and it is dropped, counted and computed again.
Failures are written down and never reused. Records of another version of the cells have
other keys; they stay where they are and are passed over.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.lab.cells import CELL_VERSION, key_of

CELLS_FILE = "cells.jsonl"


class Store:
    """The results of all cells computed for one folder of results.

    Parameters
    ----------
    folder : path-like
        Made when the first record is written.

    Attributes
    ----------
    torn : int
        Records that cannot be read, dropped.
    failed : int
        Records of cells that failed and have no result.
    other_versions : int
        Records of other versions of the cells.

    Raises
    ------
    InputError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     store.add({"seed": 1}, {"result": {"precision": 0.9}})
    ...     Store(folder).get({"seed": 1})
    {'precision': 0.9}
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / CELLS_FILE
        self.torn = self.failed = self.other_versions = 0
        self._results: dict[str, dict[str, Any]] = {}
        self._errors: dict[str, str] = {}
        try:
            lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        except OSError as error:
            raise InputError(
                f"cannot be read ({error.strerror})", "choose another `out`", str(self.path)
            ) from error
        for line in lines:
            if line.strip():
                self._take(line)
        self.failed = len(self._errors)

    def _take(self, line: bytes) -> None:
        try:
            record = json.loads(line)
            version, key = record["version"], str(record["key"])
            result, error = record.get("result"), record.get("error")
        except (ValueError, KeyError, TypeError, AttributeError):
            self.torn += 1
            return
        if version != CELL_VERSION:
            self.other_versions += 1
        elif isinstance(result, dict) and all(map(_is_number_or_list, result.values())):
            self._results[key] = result
            self._errors.pop(key, None)
        elif error is None:
            self.torn += 1
        elif key not in self._results:
            self._errors[key] = str(error)

    def __len__(self) -> int:
        """Cells with a result."""
        return len(self._results)

    def get(self, cell: dict[str, Any]) -> dict[str, Any] | None:
        """Return a finished cell's result, or None."""
        return self._results.get(key_of(cell))

    def error(self, cell: dict[str, Any]) -> str | None:
        """Return why a cell failed when it was last tried, or None."""
        return self._errors.get(key_of(cell))

    def add(self, cell: dict[str, Any], outcome: dict[str, Any]) -> None:
        """Write a record and keep it.

        Parameters
        ----------
        cell : dict
        outcome : dict
            ``result`` or ``error``, as :func:`dcglearn.lab.cells.run_cell` returns.

        Raises
        ------
        InputError
            If the place cannot be written.
        """
        key = key_of(cell)
        record = {"version": CELL_VERSION, "key": key, "cell": cell, **outcome}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # One write of one whole line, so that two runs may share a store.
            line = "\n" + json.dumps(record, separators=(",", ":")) + "\n"
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                written = os.write(handle, line.encode())
            finally:
                os.close(handle)
        except OSError as error:
            raise InputError(
                f"cannot be written ({error.strerror})", "choose another `out`", str(self.path)
            ) from error
        if written < len(line):  # the line is ASCII
            raise InputError("the disk is full", "make room; the cells are kept", str(self.path))
        if "result" in outcome:
            self._results[key] = outcome["result"]
            self._errors.pop(key, None)
        elif key not in self._results:
            self._errors[key] = str(outcome.get("error"))


def _is_number_or_list(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(one, int | float) for one in values)
