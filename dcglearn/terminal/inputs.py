"""What commands read: files, measures for judgments, and values of options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number

if TYPE_CHECKING:
    from dcglearn.inference.evidence import Evidence
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.measures.measure import Measure
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.names import NamedMeasure


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Name a file or an option in the errors of a block that name no place themselves."""
    try:
        yield
    except InputError as error:
        raise (error if error.place else error.at(place)) from error


def measures_for_judgments(
    names: list[str] | None, preferences: Preferences | Evidence, path: str
) -> list[NamedMeasure]:
    """Return the named measures on the scale of the judgments; without names, every preset."""
    from dcglearn.naming.names import measure_for
    from dcglearn.naming.presets import usual_presets

    if not names:
        with naming(path):
            names = list(usual_presets(preferences.scale, preferences.n_ranks))
    return [measure_for(name, preferences.scale, preferences.n_ranks) for name in names]


def split_measures(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide arguments into files of judgments and measures, each of which may be mixed.

    The first argument is a file of judgments. Of the others, those are that are folders, patterns
    (``*``), ``-``, or have the name of a format; and a ``.json`` file that does not begin as a
    measure file does. What else is there under that name is a file, too, unless it is a preset.

    Returns
    -------
    files, measures : list of str
    """
    files = list(arguments[:1])
    measures: list[str] = []
    for one in arguments[1:]:
        (files if _is_of_judgments(one) else measures).append(one)
    return files, measures


def _is_of_judgments(text: str) -> bool:
    from dcglearn.base.tables.sources import format_of_name
    from dcglearn.naming.measure_files import begins_as_measure
    from dcglearn.naming.names import is_measure_file_name
    from dcglearn.naming.presets import PRESETS

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
    from dcglearn.naming.names import states_its_grades

    return not states_its_grades(text)


def scale_of(measure: Measure) -> Scale:
    """Return the scale of a measure's grades; grades without names are numbered."""
    from dcglearn.measures.scale import Scale

    return Scale(measure.grades or tuple(range(measure.n_grades))[::-1])


def preset_without_grades(name: str) -> InputError:
    """Return the error for a preset without a scale; if it is not a preset, raise that error."""
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.names import measure_for

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


def parse_family(option: str, text: str | None) -> str | list[float] | None:
    """Read the value of ``--gains`` or ``--discounts``: the name of a family, or numbers."""
    if text is None or "," not in text:
        return text
    with naming(option):
        return [parse_number(one) for one in text.split(",")]
