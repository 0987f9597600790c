"""Cells: one setting and one repetition, written down as a small JSON-able dict.

A cell is described by what differs from the defaults, and identified by a hash of that and of
:data:`CELL_VERSION`. What a cell draws comes from generators that are seeded by named axes only
(:data:`AXES`), not by the place of the cell in a grid. So two cells that differ in the margin, in
C, in the number of pairs or of errors, or in the truth, use the same lists; and a grid that is
extended or reordered asks for the same cells again.

A table of queries (counts of grades read from a LETOR file) may be large. A cell holds its hash;
the table itself is passed to :func:`dcglearn.trials.compute.run_cell` and stored once. So is the
code of functions of one's own: when a line changes on which they depend, so do the cells that use
them, but not what these draw.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dcglearn.axes.registry import JUDGMENT_MODEL, SHIPPED, STUDY, Registry
from dcglearn.design.setting import Setting, own_functions_used, unused_keys

CELL_VERSION = 7
"""Raise it by hand with every change that changes results; golden cells are tested."""

QueryTable = list[list[int]]
"""Counts of grades, best grade first; one row per query."""

_NOT_OF_SETTING = ("seed", "repetition", "columns", "code")

_LISTS = ("base", "grades", "ranks", "probabilities", "queries")

AXES: dict[str, tuple[str, ...]] = {
    "truth": ("grades", "ranks"),
    "training": ("lists", *_LISTS),
    "calibration": ("lists", *_LISTS),
    "validation": ("lists", *_LISTS),
    "test": ("lists", "test_lists", *_LISTS),
    "judge": (),
    "errors": (),
    "folds": (),
    "learner": (),
}
"""The axes that seed each generator, besides the seed, the repetition and its name."""


def cell_of(
    setting: Setting,
    seed: int,
    repetition: int,
    registry: Registry = SHIPPED,
    columns: Sequence[str] = (),
) -> dict[str, Any]:
    """Describe a cell.

    Parameters
    ----------
    setting : Setting
    seed, repetition : int
    registry : Registry, default that of this package
        What names mean.
    columns : sequence of str
        The results that are asked for. Those that are computed only then are part of the cell.

    Returns
    -------
    dict
        JSON-able: the seed, the repetition, and those keys of the setting that have an effect
        and differ from the defaults. ``code`` holds the hashes of functions of one's own.

    Examples
    --------
    >>> cell_of(Setting(flips=5), 1, 0)
    {'seed': 1, 'repetition': 0, 'flips': 5}
    """
    changed = setting.model_dump(exclude_defaults=True)
    if setting.ranks == len(setting.base):
        changed.pop("ranks", None)
    if setting.test_lists == setting.lists:
        changed.pop("test_lists", None)
    unused = unused_keys(setting, registry, columns)
    for key in unused:
        changed.pop(key, None)
    used = own_functions_used(setting, registry, columns)
    options = {
        key: value
        for key, value in changed.pop("options", {}).items()
        if f"options.{key}" not in unused
        and any(value != one.options[key] for one in used if key in one.options)
    }
    asked = set(columns) & set(registry.names("result"))
    code = {f"{one.axis} {one.name}": one.code.identity for one in used if one.code is not None}
    more = {"options": options, "columns": sorted(asked), "code": code}
    if setting.learner in (JUDGMENT_MODEL, STUDY):
        del more["columns"]
    kept = {key: value for key, value in more.items() if value}
    return {"seed": seed, "repetition": repetition, **changed, **kept}


def setting_of(cell: dict[str, Any]) -> Setting:
    """Return the setting of a cell.

    Parameters
    ----------
    cell : dict

    Returns
    -------
    Setting
    """
    return Setting(**{key: value for key, value in cell.items() if key not in _NOT_OF_SETTING})


def key_of(cell: dict[str, Any]) -> str:
    """Return the key under which the result of a cell is stored.

    Parameters
    ----------
    cell : dict

    Returns
    -------
    str
        A hash of :data:`CELL_VERSION` and of the cell, whatever the order of its entries.
    """
    return _hash([CELL_VERSION, cell]).hex()[:32]


def query_table_hash(table: QueryTable) -> str:
    """Return the hash by which cells refer to a table of queries.

    Parameters
    ----------
    table : list of list of int
        Counts of grades, one row per query.

    Returns
    -------
    str
        SHA-256 of the content, in hexadecimal.

    Examples
    --------
    >>> query_table_hash([[1, 0, 2]])[:12]
    'a39a150fe0f8'
    """
    return _hash(table).hex()


def rng_for(cell: dict[str, Any], name: str) -> np.random.Generator:
    """Return the generator for one of the things that a cell draws.

    Parameters
    ----------
    cell : dict
        With the table of queries in full, where it has one: the content of the table seeds
        the generator.
    name : str
        One of :data:`AXES`.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    The number of pairs is not an axis, so a smaller sample is the start of a larger one:

    >>> one, other = ({"seed": 1, "repetition": 0, "pairs": n} for n in (20, 200))
    >>> rng_for(one, "training").random() == rng_for(other, "training").random()
    True
    """
    axes = {axis: cell[axis] for axis in AXES[name] if axis in cell}
    digest = _hash([name, cell["seed"], cell["repetition"], axes])
    return np.random.default_rng(int.from_bytes(digest))


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def _hash(content: object) -> bytes:
    return hashlib.sha256(_encode(content).encode()).digest()
