"""Cells: one setting and one repetition, written down as a small JSON-able dict.

A cell is described by what differs from the defaults, and identified by a hash of that and of
:data:`CELL_VERSION`. Its generators are seeded by named axes only (:data:`AXES`), not by its place
in a grid. So two cells that differ in C or in the truth use the same lists, and a grid that is
extended asks for the same cells again.

Of functions of one's own a cell holds the hash of their code, which seeds nothing.

Finished cells are one file of JSON lines in each folder of results. A line is added as soon as a
cell is finished, so a run that is killed loses only the cells that it was computing; a line without
its end is skipped. Failures are kept until the cell is tried again. Two runs may share a file.
Cells of another version are not found.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.lab.provenance import sha256_of
from dcglearn.lab.registry import SHIPPED, ExperimentCode
from dcglearn.lab.setting import Setting, own_functions_used, unused_keys

CELL_VERSION = 8
"""Raise it by hand with every change that changes results; golden cells are tested."""

Cell: TypeAlias = dict[str, Any]
"""A cell, or what it results in: JSON-able."""

CELLS_FILE = "store/cells.jsonl"

_LISTS = ("base", "grades", "ranks", "probabilities")

AXES: dict[str, tuple[str, ...]] = {
    "truth": ("grades", "ranks"),
    **dict.fromkeys(("training", "calibration", "validation"), ("lists", *_LISTS)),
    "test": ("lists", "test_lists", *_LISTS),
    **dict.fromkeys(("judge", "errors", "policy", "folds", "learner"), ()),
}
"""The axes that seed each generator, besides the seed, the repetition and its name."""


def cell_of(setting: Setting, seed: int, repetition: int, code: ExperimentCode = SHIPPED) -> Cell:
    """Describe a cell."""
    unused = unused_keys(setting, code)
    changed = setting.model_dump(exclude_defaults=True, exclude={*unused})
    if setting.ranks == len(setting.base):
        changed.pop("ranks", None)
    if setting.test_lists == setting.lists:
        changed.pop("test_lists", None)
    used = own_functions_used(setting, code)
    computed = set(code.columns) & set(code.names("result"))
    more = {
        "options": {
            key: value
            for key, value in changed.pop("options", {}).items()
            if any(value != one.options.get(key, value) for one in used)
        },
        "columns": sorted(computed) if setting.learns else [],
        "code": {f"{one.axis} {one.name}": one.digest for one in used},
    }
    kept = {key: value for key, value in more.items() if value}
    return {"seed": seed, "repetition": repetition, **changed, **kept}


def key_of(cell: Cell) -> str:
    """Return the key under which the result of a cell is stored."""
    return hash_of([CELL_VERSION, cell])[:32]


def hash_of(content: object) -> str:
    """Return the hash of what is JSON-able."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256_of(text.encode())


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
