"""From what a person types to a measure.

A measure is named by a preset (``zipf``, ``rbp:0.8 @ 3``), in full
(``nDCG([3, 1, 0], log2) @ 10``), or by a measure file (``learned.json``), whose other part is
picked with ``learned.json:utility`` or ``learned.json:dcg``. ``nDCG(zipf) @ 10`` and
``nDCG(learned.json)`` normalise what they name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import cast

from dcglearn.base.errors import InputError
from dcglearn.measures.dcg import DCG, DCG_FORMS
from dcglearn.measures.files import MeasureFile, MeasurePart, read_measure
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import preset
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility

_WRAPPED = re.compile(r"\s*(DCG|nDCG|minmaxDCG)\(([^\[{]+)\)\s*(?:@\s*(\d+)\s*)?")
_CUT = re.compile(r"(.*?)\s*@\s*(\d+)\s*")
_FILE = re.compile(r"(.+\.json)(?::(dcg|utility))?", re.IGNORECASE)


@dataclass(frozen=True)
class NamedMeasure:
    """A measure, the name it was asked for by, and the file it came from, if any."""

    name: str
    measure: Measure
    file: MeasureFile | None = None


def is_measure_file_name(text: str) -> bool:
    """Whether a name is that of a measure file."""
    return _FILE.fullmatch(text.strip()) is not None


def split_cutoff(text: str) -> tuple[str, int | None]:
    """Split a name from the cutoff at its end.

    Parameters
    ----------
    text : str

    Returns
    -------
    name : str
    cutoff : int or None

    Examples
    --------
    >>> split_cutoff("zipf @ 10"), split_cutoff("a@b/learned.json")
    (('zipf', 10), ('a@b/learned.json', None))
    """
    match = _CUT.fullmatch(text)
    return (text, None) if match is None else (match.group(1), int(match.group(2)))


def parse_measure(text: str) -> NamedMeasure:
    """Read a measure that needs no scale: a file, or a measure in full.

    Parameters
    ----------
    text : str

    Returns
    -------
    NamedMeasure

    Raises
    ------
    InputError
        If the file cannot be read, or the text is no measure.
    """
    match = _FILE.fullmatch(text.strip())
    if match is None:
        kind = LinearUtility if text.strip().startswith("LinearUtility") else DCG
        return NamedMeasure(text, kind.parse(text))
    path, use = match.groups()
    content = read_measure(path)
    try:
        measure = content.measure if use is None else content.pick(cast(MeasurePart, use))
    except InputError as error:
        raise error.at(path) from error
    return NamedMeasure(text, measure, content)


def measure_for(text: str, scale: Scale, n_ranks: int) -> NamedMeasure:
    """Return the measure that a name means for lists of `n_ranks` grades on a scale.

    Parameters
    ----------
    text : str
    scale : Scale
        The grades of the lists it will score.
    n_ranks : int
        K, their length.

    Returns
    -------
    NamedMeasure

    Raises
    ------
    InputError
        If there is no such measure, or it is made for another K or other grades.

    Examples
    --------
    >>> measure_for("zipf", Scale((1, 0)), 5).measure
    DCG({1: 1, 0: 0}, zipf)
    """
    found = _named(text, scale, n_ranks)
    try:
        check_compatible(found.measure, scale, n_ranks)
    except InputError as error:
        raise error.at(found.name) from error
    return found


def measure_for_documents(text: str, scale: Scale, n_ranks: int) -> NamedMeasure:
    """Return the measure that a name means for documents of some grades in long lists.

    Parameters
    ----------
    text : str
    scale : Scale
        The grades that occur. A measure that names its grades may know more of them.
    n_ranks : int
        The longest list; a vector of discounts may be shorter and counts its own ranks.

    Returns
    -------
    NamedMeasure
        Its measure has one gain, or column, for each grade of `scale`.

    Raises
    ------
    InputError
        If there is no such measure, or it has no gain for a grade of the scale.

    Examples
    --------
    >>> measure_for_documents("nDCG({2: 3, 1: 1, 0: 0}, log2) @ 5", Scale((1, 0)), 100).measure
    nDCG({1: 1, 0: 0}, log2) @ 5
    """
    return measure_on_scale(_named(text, scale, n_ranks), scale)


def measure_on_scale(named: NamedMeasure, scale: Scale) -> NamedMeasure:
    """Return the same measure with one gain, or column, for each grade of a scale.

    Parameters
    ----------
    named : NamedMeasure
    scale : Scale
        The grades that occur. A measure that names its grades may have more of them.

    Returns
    -------
    NamedMeasure

    Raises
    ------
    InputError
        If the measure has no gain for a grade of the scale.
    """
    measure, theirs = named.measure, named.measure.grades
    if theirs is None and measure.n_grades != len(scale):
        raise InputError(
            f"has {measure.n_grades} gains, and the documents {len(scale)} grades ({scale})",
            "name the grades: {2: 3, 1: 1, 0: 0}",
            named.name,
        )
    unknown = [] if theirs is None else [g for g in scale.labels if g not in theirs]
    if unknown:
        raise InputError(
            f"has no gain for the grade {unknown[0]}, only for {', '.join(map(str, theirs or ()))}",
            "use a measure that covers every grade that occurs",
            named.name,
        )
    columns = range(len(scale)) if theirs is None else [theirs.index(g) for g in scale.labels]
    if isinstance(measure, LinearUtility):
        fitted: Measure = LinearUtility(measure.matrix[:, list(columns)], scale.labels)
    else:
        gains = tuple(measure.gains[column] for column in columns)
        fitted = replace(measure, gains=gains, grades=scale.labels)
    return replace(named, measure=fitted)


def _named(text: str, scale: Scale, n_ranks: int) -> NamedMeasure:
    match = _WRAPPED.fullmatch(text)
    if match is not None:
        head, name, cutoff = match.groups()
        inner = _named(name, scale, n_ranks)
        if isinstance(inner.measure, LinearUtility):
            remedy = f"write {name.removesuffix(':utility')}:dcg"
            raise InputError("position-dependent weights are no DCG", remedy, text)
        normalise = DCG_FORMS[head]
        if cutoff is not None and inner.measure.cutoff is not None:
            raise InputError("two cutoffs", "give one of them", text)
        cut = inner.measure.cutoff if cutoff is None else int(cutoff)
        whole = replace(inner.measure, normalise=normalise, cutoff=cut)
        return NamedMeasure(text, whole, inner.file)
    called, depth = split_cutoff(text)
    if is_measure_file_name(called) and depth is not None:
        found = parse_measure(called)
        if isinstance(found.measure, LinearUtility):
            raise InputError("position-dependent weights have no cutoff", "leave it out", text)
        return replace(found, name=text, measure=found.measure @ depth)
    if is_measure_file_name(text) or "[" in text or "{" in text:
        return parse_measure(text)
    return NamedMeasure(text, preset(text, scale, n_ranks))


def check_compatible(
    measure: Measure, scale: Scale, n_ranks: int, other: str = "the judgments"
) -> None:
    """Refuse a measure of another K or L, or of other grades, than the lists it shall score.

    Parameters
    ----------
    measure : DCG or LinearUtility
    scale : Scale
    n_ranks : int
    other : str
        Whose K and L these are, for the message.

    Raises
    ------
    InputError
        Naming both sides.
    """
    if measure.n_grades != len(scale):
        raise InputError(
            f"has {measure.n_grades} grades, {other} {len(scale)} ({scale})",
            "use a measure of the same grades, or declare the full scale",
        )
    if measure.grades is not None and measure.grades != scale.labels:
        theirs = " > ".join(map(str, measure.grades))
        raise InputError(f"has the grades {theirs}, {other} {scale}", "use one scale")
    if isinstance(measure, DCG) and (isinstance(measure.discounts, str) or measure.cutoff):
        return
    if measure.n_ranks != n_ranks:
        raise InputError(
            f"has {measure.n_ranks} ranks, {other} {n_ranks}",
            "use lists of one length, or cut a DCG with @",
        )
