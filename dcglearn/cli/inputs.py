"""What commands read: files, measures for judgments, and values of options."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import dcglearn
from dcglearn.base.errors import InputError, naming
from dcglearn.base.numbers import parse_number

if TYPE_CHECKING:
    import numpy as np


def refuse_together(*groups: Mapping[str, object]) -> None:
    """Refuse options of different groups that are given together, by name."""
    given = [
        [name for name, value in group.items() if value is not None and value is not False]
        for group in groups
    ]
    names = [found[0] for found in given if found]
    if len(names) > 1:
        raise InputError(f"{names[0]} with {names[1]}", "use one of them")


def name_files(files: Sequence[str]) -> str:
    """Return what to call files that are read as one."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


def files_named(texts: Iterable[str]) -> list[Path]:
    """Return the files that arguments name: paths, patterns, folders, and within measures."""
    found = []
    for text in texts:
        names = [text, *re.findall(r"[^\s()=]+\.json", text, re.IGNORECASE)]
        names += glob.glob(text, recursive=True)  # noqa: PTH207 - Path's are relative
        found += [Path(name) for name in names if os.path.exists(name)]  # noqa: PTH110 - any text
    return [*found, *(file for path in found if path.is_dir() for file in path.rglob("*"))]


def measures_for_judgments(
    names: Sequence[str], preferences: dcglearn.Preferences | dcglearn.PackedPairs, path: str
) -> list[dcglearn.NamedMeasure]:
    """Return the named measures on the scale of the judgments; without names, every preset."""
    scale, n_ranks = preferences.scale, preferences.n_ranks
    if not names:
        with naming(path):
            names = [*dcglearn.usual_presets(scale, n_ranks)]
    return [dcglearn.measure_for(name, scale, n_ranks) for name in names]


def split_measures(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide arguments into files of judgments and measures, each of which may be mixed.

    The first argument is a file of judgments, and so are folders, patterns (``*``), ``-``, names
    of a format, and other files that are not measure files, unless a preset has their name.
    """
    files = list(arguments[:1])
    measures: list[str] = []
    for one in arguments[1:]:
        (files if _is_of_judgments(one) else measures).append(one)
    return files, measures


def _is_of_judgments(text: str) -> bool:
    from dcglearn.base.tables.sources import format_of_name
    from dcglearn.measures.measure_files import begins_as_measure
    from dcglearn.measures.names import is_measure_file_name
    from dcglearn.measures.presets import PRESETS

    if text == "-":
        return True
    if "\0" in text or not text or text.partition(":")[0] in PRESETS:
        return False
    path = Path(text)
    if is_measure_file_name(text):
        return path.is_file() and not begins_as_measure(path)
    return "(" not in text and ("*" in text or format_of_name(text) is not None or path.exists())


def check_distinct(names: Sequence[str]) -> None:
    """Refuse a measure that is named twice."""
    from dcglearn.measures.names import repeated_name

    repeated = repeated_name(names)
    if repeated is not None:
        raise InputError(f"the measure {repeated} is named twice", "name it once")


def seeded(seed: int) -> np.random.Generator:
    """Return the generator of the random numbers of a seed."""
    import numpy as np

    return np.random.default_rng(seed)


def parse_C(text: str) -> float | Literal["cv"]:
    """Read the value of ``--C``: a positive number, or ``cv``."""
    if text == "cv":
        return "cv"
    C = parse_number(text)
    if not C > 0:
        raise InputError(f"--C is {text!r:.40}", "use a finite number above 0, or cv")
    return C
