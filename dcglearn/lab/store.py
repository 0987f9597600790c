"""Finished cells on disk: one JSON line per cell, appended as the cells finish.

A run that is killed loses at most the record it was writing. Every append begins on a fresh line,
so a torn record does not spoil the next one: it is dropped, counted and computed again. So is a
record that was changed after it was written (:mod:`dcglearn.lab.records`). A file that is removed,
replaced or cut while a run adds to it is an error, because finished cells were lost with it.
Failures are recorded and never reused. Records of another version of the cells have other keys;
they stay in the file and are skipped.

``cells.jsonl`` holds the records. A table of queries that cells refer to is stored once, in
``tables/HASH.json``, and the code of functions of one's own in ``code``. Records of earlier
versions of this package hold the whole table in each cell; they are still read.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dcglearn.axes.data_files import DataFile
from dcglearn.axes.own_code import Code, FileCode
from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text, write_text
from dcglearn.base.numbers import counted
from dcglearn.base.workers import Say
from dcglearn.design.cells import QueryTable, key_of, query_table_hash
from dcglearn.lab import records

CELLS_FILE = "cells.jsonl"
TABLES_FOLDER = "tables"
CODE_FOLDER = "code"


class Store:
    """The results of all cells computed for one folder of results.

    Parameters
    ----------
    folder : path-like
        Made when the first record is written.

    Attributes
    ----------
    torn : int
        Records that cannot be read; they are dropped.
    damaged : int
        Records whose checksum, key or result is wrong; they are dropped.
    failed : int
        Cells that failed and have no result.
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
        self.folder = Path(folder)
        self.path = self.folder / CELLS_FILE
        self.torn = self.damaged = self.failed = self.other_versions = 0
        self._results: dict[str, dict[str, Any]] = {}
        self._failures: dict[str, dict[str, Any]] = {}
        self._seconds: dict[str, float] = {}
        self._file: tuple[int, int] | None = None  # device and inode, once there is a file
        self._size = 0  # at least
        try:
            content = self._content()
        except OSError as error:
            raise InputError(
                f"cannot be read ({error.strerror})", "choose another `out`", str(self.path)
            ) from error
        for line in content.split(b"\n"):
            if line.strip():
                self._read(line)
        self.failed = len(self._failures)

    def _content(self) -> bytes:
        if not self.path.exists():
            return b""
        with self.path.open("rb") as file:
            content = file.read()
            self._check_same(os.fstat(file.fileno()))
        return content

    def _read(self, line: bytes) -> None:
        try:
            key, outcome = records.decode_record(line)
        except records.UnreadableRecordError:
            self.torn += 1
        except records.DamagedRecordError:
            self.damaged += 1
        except records.OtherVersionError:
            self.other_versions += 1
        else:
            self._keep(key, outcome)

    def _keep(self, key: str, outcome: dict[str, Any]) -> None:
        """Keep a result, or a failure of a cell that has no result."""
        if "result" in outcome:
            self._results[key] = outcome["result"]
            self._seconds.pop(key, None)
            if "seconds" in outcome:
                self._seconds[key] = outcome["seconds"]
            self._failures.pop(key, None)
        elif key not in self._results:
            self._failures[key] = outcome

    def __len__(self) -> int:
        """Count the cells with a result."""
        return len(self._results)

    def get(self, cell: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a finished cell, or None."""
        return self._results.get(key_of(cell))

    def seconds(self, cell: dict[str, Any]) -> float | None:
        """Return the processor time that the result of a cell took, or None if it is not known.

        Parameters
        ----------
        cell : dict

        Returns
        -------
        float or None
        """
        return self._seconds.get(key_of(cell))

    def error(self, cell: dict[str, Any]) -> str | None:
        """Return the error of a cell that failed when it was last tried, or None.

        Parameters
        ----------
        cell : dict

        Returns
        -------
        str or None
            One line; if the error is a bug, the traceback follows on further lines.
        """
        failure = self._failures.get(key_of(cell))
        if failure is None:
            return None
        trace = failure.get("traceback")
        return f"{failure.get('error')}\n{trace}" if trace else str(failure.get("error"))

    def add(self, cell: dict[str, Any], outcome: dict[str, Any]) -> None:
        """Write a record and keep it; a result that no cell can have is kept as a failure.

        Parameters
        ----------
        cell : dict
        outcome : dict
            ``result`` or ``error``, as :func:`dcglearn.trials.compute.run_cell` returns.

        Raises
        ------
        InputError
            If the file cannot be written, or was removed or replaced.
        """
        if "error" not in outcome and (problem := records.problem_of_result(outcome.get("result"))):
            outcome = {"error": f"ValueError: {problem}"}
        line = f"\n{records.encode_record(cell, outcome)}\n"
        try:
            if self._file is None:
                self.folder.mkdir(parents=True, exist_ok=True)
            make = os.O_CREAT if self._file is None else 0
            # One write of one whole line, so that two runs may share a store.
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | make, 0o666)
            try:
                self._check_same(os.fstat(handle))
                written = os.write(handle, line.encode())
                self._size = os.fstat(handle).st_size
            finally:
                os.close(handle)
        except FileNotFoundError as error:
            raise self._lost() from error
        except OSError as error:
            raise InputError(
                f"cannot be written ({error.strerror})", "choose another `out`", str(self.path)
            ) from error
        if written < len(line):  # the line is ASCII
            raise InputError(
                "the disk is full", "make room; finished cells are kept", str(self.path)
            )
        self._keep(key_of(cell), outcome)

    def check_kept(self) -> None:
        """Check that the file is still there, and still as long as it was.

        Raises
        ------
        InputError
            If it was removed, replaced or cut since it was read or last written.
        """
        if self._file is None:
            return
        try:
            self._check_same(self.path.stat())
        except OSError as error:
            raise self._lost() from error

    def _check_same(self, found: os.stat_result) -> None:
        file = found.st_dev, found.st_ino
        if self._file not in (None, file) or found.st_size < self._size:
            raise self._lost()
        self._file, self._size = file, found.st_size

    def _lost(self) -> InputError:
        return InputError(
            "was removed, replaced or cut during the run, and finished cells were lost with it",
            "run the same command again, which computes them",
            str(self.path),
        )

    def add_queries(self, table: QueryTable) -> None:
        """Store a table of queries, unless it is already there and whole.

        Parameters
        ----------
        table : list of list of int
            Counts of grades, one row per query.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        path = self._table_path(query_table_hash(table))
        text = json.dumps(table, separators=(",", ":")) + "\n"
        try:
            if path.exists() and path.read_bytes() == text.encode():
                return
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot be made ({error.strerror})", "choose another `out`", str(path.parent)
            ) from error
        write_text(path, text)

    def queries(self, table_hash: str) -> QueryTable:
        """Return a stored table of queries: what a stored cell needs to be computed again.

        Parameters
        ----------
        table_hash : str
            The value of ``queries`` in the cell.

        Returns
        -------
        list of list of int

        Raises
        ------
        InputError
            If the table is not there, or is not the one that was stored.
        """
        path = self._table_path(table_hash)
        text = read_text(path)
        try:
            table: QueryTable = json.loads(text)
            whole = query_table_hash(table) == table_hash
        except (ValueError, RecursionError):
            whole = False
        if not whole:
            raise InputError("is damaged", "run the config again, which writes it", str(path))
        return table

    def add_code(self, code: Code) -> None:
        """Store the code of a function of one's own, unless it is there or part of a package.

        Parameters
        ----------
        code : FileCode or PackageCode

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        if not isinstance(code, FileCode):
            return
        path = self._code_path(f"{code.axis} {code.name}", code.digest)
        try:
            if path.exists():
                return
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot be made ({error.strerror})", "choose another `out`", str(path.parent)
            ) from error
        write_text(path, json.dumps(asdict(code), indent=1) + "\n")

    def codes(self, cell: dict[str, Any]) -> tuple[Code, ...]:
        """Return the stored code of a cell: what it needs to be computed again.

        Parameters
        ----------
        cell : dict

        Returns
        -------
        tuple of FileCode
            Without functions of packages, which are not stored.

        Raises
        ------
        InputError
            If the code is not there, or cannot be read.
        """
        found: list[Code] = []
        for name, digest in cell.get("code", {}).items():
            if isinstance(digest, str):
                path = self._code_path(name, digest)
                try:
                    fields = json.loads(read_text(path))
                    files = tuple(DataFile(**one) for one in fields.get("files", ()))
                    modules = tuple(fields["modules"])
                    found.append(FileCode(**{**fields, "modules": modules, "files": files}))
                except (ValueError, TypeError, KeyError, RecursionError) as error:
                    raise InputError("is damaged", "run the config again", str(path)) from error
        return tuple(found)

    def _code_path(self, name: str, digest: str) -> Path:
        return self.folder / CODE_FOLDER / f"{name.replace(' ', '-')}-{digest[:32]}.json"

    def _table_path(self, table_hash: str) -> Path:
        return self.folder / TABLES_FOLDER / f"{table_hash}.json"


def open_store(out: Path, note: Say) -> Store:
    """Open the store of a folder of results, and tell which of its records are ignored.

    Parameters
    ----------
    out : Path
    note : callable
        Called with a line for damaged records, and for those of other versions.

    Returns
    -------
    Store
    """
    store = Store(out / "store")
    counts = {"torn": store.torn, "damaged": store.damaged}
    bad = [f"{n:,} {word} record{'s' * (n > 1)}" for word, n in counts.items() if n]
    if bad:
        note(f"{store.path}: ignored {' and '.join(bad)}; missing cells are computed again")
    if store.other_versions:
        records = counted(store.other_versions, "record")
        note(f"{store.path}: ignored {records} of other versions of cells")
    return store
