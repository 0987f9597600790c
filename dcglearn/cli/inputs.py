"""What commands read: files, measures for judgments, and values of options."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dcglearn.base.errors import InputError
from dcglearn.base.errors import naming as naming
from dcglearn.base.files import check_outputs
from dcglearn.base.numbers import parse_number

if TYPE_CHECKING:
    from dcglearn.inference.evidence import Evidence
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.measures.measure import Measure
    from dcglearn.measures.names import NamedMeasure
    from dcglearn.measures.scale import Scale


def refuse_together(*groups: Mapping[str, object]) -> None:
    """Refuse options of different groups that are given together, by name."""
    given = [next((name for name, value in one.items() if value), None) for one in groups]
    names = [name for name in given if name is not None]
    if len(names) > 1:
        raise InputError(f"{names[0]} with {names[1]}", "use one of them")


def check_files(
    outputs: str | Sequence[str] | None,
    formats: Collection[str] | None,
    *inputs: str | Sequence[str] | None,
) -> None:
    """Check the files that a command writes, as :func:`check_outputs` does.

    Inputs are all arguments that may name what is read: files, patterns, folders, and measures.
    Without formats, any suffix will do.
    """
    if formats is None:
        formats = [Path(one).suffix.lower() for one in _listed(outputs)]
    read = [path for one in inputs for text in _listed(one) for path in _files_of(text)]
    check_outputs(_listed(outputs), read, formats)


def _listed(given: str | Sequence[str] | None) -> Sequence[str]:
    return [given] if isinstance(given, str) else given or []


def _files_of(text: str) -> list[Path]:
    """Return the files that an argument names, alone or within a measure in full."""
    found = glob.glob(text, recursive=True)  # noqa: PTH207 - Path's are relative
    names = [text, *re.findall(r"[^\s()]+\.json", text), *found]
    if measure := re.fullmatch(r"(.+\.json):\w*", text, re.IGNORECASE):
        names.append(measure.group(1))
    paths = [Path(name) for name in names if os.path.exists(name)]  # noqa: PTH110 - any text
    return [*paths, *(file for folder in paths if folder.is_dir() for file in folder.rglob("*"))]


def measures_for_judgments(
    names: list[str] | None, preferences: Preferences | Evidence, path: str
) -> list[NamedMeasure]:
    """Return the named measures on the scale of the judgments; without names, every preset."""
    from dcglearn.measures.names import measure_for
    from dcglearn.measures.presets import usual_presets

    if not names:
        with naming(path):
            names = list(usual_presets(preferences.scale, preferences.n_ranks))
    return [measure_for(name, preferences.scale, preferences.n_ranks) for name in names]


def split_measures(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide arguments into files of judgments and measures, each of which may be mixed.

    The first argument is a file of judgments. Of the others, those are that are folders, patterns
    (``*``), ``-``, or have the name of a format; and a ``.json`` file that does not begin as a
    measure file does. What else is there under that name is a file, too, unless it is a preset.
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
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the measure {name} is named twice", "name it once")


def needs_scale(text: str) -> bool:
    """Return whether a measure is a preset: files and measures in full state their grades."""
    from dcglearn.measures.names import states_its_grades

    return not states_its_grades(text)


def scale_of(measure: Measure) -> Scale:
    """Return the scale of a measure's grades; grades without names are numbered."""
    from dcglearn.measures.scale import Scale

    return Scale(measure.grades or tuple(range(measure.n_grades))[::-1])


def preset_without_grades(name: str) -> InputError:
    """Return the error for a preset without a scale; if it is not a preset, raise that error."""
    from dcglearn.measures.names import measure_for
    from dcglearn.measures.scale import Scale

    measure_for(name, Scale((2, 1, 0)), 10)
    return InputError(f"the preset {name!r} needs grades", "declare them, such as --scale 2,1,0")


def parse_C(text: str) -> float | Literal["cv"]:
    """Read the value of ``--C``: a positive number, or ``cv``."""
    if text == "cv":
        return "cv"
    C = parse_number(text)
    if not C > 0:
        raise InputError(f"--C is {text!r:.40}", "use a finite number above 0, or cv")
    return C


def parse_family(text: str | None, option: str) -> str | list[float] | None:
    """Read the value of ``--gains`` or ``--discounts``: the name of a family, or numbers."""
    import numpy as np

    from dcglearn.inference.families import discount_family, gain_family

    if text is None:
        return None
    if "," in text:
        return [parse_number(one) for one in text.split(",")]
    with naming(option):  # refuses an unknown name
        if option.endswith("gains"):
            gain_family(text, np.array([1.0, 0.0]))
        else:
            discount_family(text, 2)
    return text
