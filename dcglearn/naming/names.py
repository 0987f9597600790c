"""Names of measures: from a text to a measure.

A measure is named by a preset (``zipf``, ``rbp:0.8 @ 3``), by its full name
(``nDCG([3, 1, 0], log2) @ 10``), or by a measure file (``learned.json``);
``learned.json:utility`` and ``learned.json:dcg`` select a part of the file.
``nDCG(zipf) @ 10`` and ``nDCG(learned.json)`` are the normalised forms. Names of other tools,
such as ``ndcg_cut.10``, are understood as well (:mod:`dcglearn.naming.grammar`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast, get_args

from dcglearn.base.checks import checked_text
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.measures.dcg import DCG, DCG_FORMS
from dcglearn.measures.measure import Measure, OtherMeasure
from dcglearn.measures.scale import Scale, ScaleLike, needed_scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.grammar import refuse_other_measures, resolve_alias
from dcglearn.naming.measure_files import MeasureFile, MeasurePart, read_measure
from dcglearn.naming.presets import PRESETS, parse_cutoff, preset

_WRAPPED = re.compile(r"\s*(DCG|nDCG|minmaxDCG)\(([^\[{]+)\)\s*(?:@(.*))?")
_CUT = re.compile(r"(.*?)\s*@\s*(\d+)\s*")
_FILE = re.compile(r"(.+\.json)(?::(\w*))?", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """A measure of any kind, and the text that named it."""

    name: str
    measure: Measure | OtherMeasure


@dataclass(frozen=True)
class NamedMeasure(Named):
    """A measure with its name.

    Parameters
    ----------
    name : str
        The text that named it.
    measure : DCG or LinearUtility
    file : MeasureFile, optional
        The content of the file that it was read from.
    """

    measure: Measure
    file: MeasureFile | None = field(default=None, repr=False)


MeasureLike: TypeAlias = DCG | LinearUtility | MeasureFile | NamedMeasure | str | os.PathLike[str]
"""A measure, or what names one."""


def as_measure(
    measure: MeasureLike, scale: Scale | None = None, n_ranks: int | None = None
) -> Measure:
    """Return the measure that a value, a file or a text means.

    >>> as_measure("zipf", Scale((1, 0)), 5), as_measure("DCG([1, 0], zipf)")
    (DCG({1: 1, 0: 0}, zipf), DCG([1, 0], zipf))
    """
    if isinstance(measure, DCG | LinearUtility):
        return measure
    if isinstance(measure, MeasureFile | NamedMeasure):
        return measure.measure
    if not isinstance(measure, str | os.PathLike):
        raise not_a_measure(measure)
    text = os.fspath(measure)
    if scale is not None and n_ranks is not None:
        return measure_for(text, scale, n_ranks).measure
    match = _WRAPPED.fullmatch(text)
    name = split_cutoff(text if match is None else match.group(2))[0].strip()
    if name.partition(":")[0] in PRESETS or resolve_alias(text) is not None:
        raise InputError(
            f"the preset {text!r} needs the grades and the number of ranks",
            "give preset(name, scale, n_ranks), or a measure in full: DCG([3, 1, 0], log2)",
        )
    return parse_measure(text).measure


def not_a_measure(value: object) -> InputError:
    """Return the error about a value that is not a measure."""
    return InputError(
        f"a measure of type {type(value).__name__}",
        "give a DCG, a LinearUtility, a measure file or text such as 'nDCG([3, 1, 0], log2) @ 10'",
    )


def is_measure_file_name(text: str) -> bool:
    """Return True for the name of a measure file, with or without a part."""
    return _FILE.fullmatch(text.strip()) is not None


def split_cutoff(text: str) -> tuple[str, int | None]:
    """Split a name into the name and the cutoff at its end.

    >>> split_cutoff("zipf @ 10"), split_cutoff("a@b/learned.json")
    (('zipf', 10), ('a@b/learned.json', None))
    """
    match = _CUT.fullmatch(text)
    return (text, None) if match is None else (match.group(1), parse_cutoff(match.group(2)))


def parse_measure(text: str) -> NamedMeasure:
    """Return the measure that a file or a full name means; presets need a scale.

    >>> parse_measure("nDCG([3, 1, 0], log2) @ 10").measure
    nDCG([3, 1, 0], log2) @ 10
    """
    return _named(text, _in_full)


def states_its_grades(text: str) -> bool:
    """Return whether a text is a measure file or a measure in full, and not a preset.

    >>> names = ("learned.json", "nDCG(learned.json) @ 5", "DCG([1, 0], log2)", "nDCG(zipf)")
    >>> [states_its_grades(name) for name in names]
    [True, True, True, False]
    """
    if "[" in text or "{" in text:
        return True
    match = _WRAPPED.fullmatch(text)
    return is_measure_file_name(split_cutoff(text if match is None else match.group(2))[0])


def _in_full(text: str) -> NamedMeasure:
    refuse_other_measures(text)
    kind = LinearUtility if text.strip().startswith("LinearUtility") else DCG
    return NamedMeasure(text, kind.parse(text))


def _from_file(text: str, path: str, part: str | None) -> NamedMeasure:
    use = None if part is None else part.lower()
    if use not in (None, *get_args(MeasurePart)):
        raise InputError(f"has no part {part!r}", f"write {path}:dcg or {path}:utility", path)
    content = read_measure(path)
    try:
        measure = content.measure if use is None else content.pick(cast(MeasurePart, use))
    except InputError as error:
        raise error.at(path) from error
    return NamedMeasure(text, measure, content)


def measure_for(text: str, scale: ScaleLike, n_ranks: int) -> NamedMeasure:
    """Return the measure that a name means for rankings of a given scale and length.

    Parameters
    ----------
    text : str
        A preset, a full name or a measure file.
    scale : Scale, str or sequence of labels
        The grades of the rankings, all of them.
    n_ranks : int
        K, the length of the rankings.

    Returns
    -------
    NamedMeasure

    Raises
    ------
    InputError
        If there is no such measure, or it has another K or other grades.

    Examples
    --------
    >>> measure_for("zipf", Scale((1, 0)), 5).measure
    DCG({1: 1, 0: 0}, zipf)
    """
    scale = needed_scale(scale)
    named = _on_scale(text, scale, n_ranks)
    try:
        check_compatible(named.measure, scale, n_ranks)
    except InputError as error:
        raise error.at(named.name) from error
    return named


def measure_for_documents(text: str, scale: ScaleLike, n_ranks: int) -> NamedMeasure:
    """Return the measure that a name means for runs whose documents have some of its grades.

    Parameters
    ----------
    text : str
        A preset, a full name or a measure file.
    scale : Scale, str or sequence of labels
        The grades that occur. A measure that names its grades may have others too.
    n_ranks : int
        The length of the longest run. A shorter vector of discounts acts as a cutoff.

    Returns
    -------
    NamedMeasure
        Its measure has one gain, or one column, per grade of `scale`.

    Raises
    ------
    InputError
        If there is no such measure, or it has no gain for a grade of the scale.

    Examples
    --------
    >>> measure_for_documents("nDCG({2: 3, 1: 1, 0: 0}, log2) @ 5", Scale((1, 0)), 100).measure
    nDCG({1: 1, 0: 0}, log2) @ 5
    """
    scale = needed_scale(scale)
    return measure_on_scale(_on_scale(text, scale, n_ranks), scale)


def measure_on_scale(named: NamedMeasure, scale: Scale) -> NamedMeasure:
    """Return the same measure with one gain, or column, for each grade of a scale."""
    measure, theirs = named.measure, named.measure.grades
    if theirs is None and measure.n_grades != len(scale):
        raise InputError(
            f"has {counted(measure.n_grades, 'gain')}, but the documents have "
            f"{counted(len(scale), 'grade')} ({scale})",
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


def _on_scale(text: str, scale: Scale, n_ranks: int) -> NamedMeasure:
    def preset_or_in_full(name: str) -> NamedMeasure:
        if "[" in name or "{" in name:
            return _in_full(name)
        refuse_other_measures(name)
        return NamedMeasure(name, preset(name, scale, n_ranks))

    other = resolve_alias(checked_text(text, "a measure", "zipf"))
    return replace(_named(other or text, preset_or_in_full), name=text)


def _named(text: str, in_other_words: Callable[[str], NamedMeasure]) -> NamedMeasure:
    """Return the measure of a text, where a function reads what is not a file."""
    match = _WRAPPED.fullmatch(checked_text(text, "a measure", "zipf"))
    if match is not None:
        head, name, cutoff = match.groups()
        inner = _named(name, in_other_words)
        if isinstance(inner.measure, LinearUtility):
            remedy = f"write {name.removesuffix(':utility')}:dcg"
            raise InputError("position-dependent weights are not a DCG", remedy, text)
        normalise = DCG_FORMS[head]
        if cutoff is not None and inner.measure.cutoff is not None:
            raise InputError("has two cutoffs", "keep one", text)
        cut = inner.measure.cutoff if cutoff is None else parse_cutoff(cutoff)
        whole = replace(inner.measure, normalise=normalise, cutoff=cut)
        return NamedMeasure(text, whole, inner.file)
    called, depth = split_cutoff(text)
    file = _FILE.fullmatch(called.strip())
    if file is not None:
        named = _from_file(called, *file.groups())
        if depth is None:
            return named
        if isinstance(named.measure, LinearUtility):
            raise InputError("position-dependent weights have no cutoff", "leave it out", text)
        return replace(named, name=text, measure=named.measure @ depth)
    return in_other_words(text)


def check_compatible(
    measure: Measure, scale: Scale, n_ranks: int, other: str = "the judgments"
) -> None:
    """Refuse a measure that cannot score rankings of this scale and length."""
    if measure.n_grades != len(scale):
        raise InputError(
            f"has {counted(measure.n_grades, 'grade')}, but {other} have {len(scale)} ({scale})",
            "use a measure of the same grades, or declare the full `scale`",
        )
    if measure.grades is not None and measure.grades != scale.labels:
        theirs = " > ".join(map(str, measure.grades))
        raise InputError(f"has the grades {theirs}, but {other} have {scale}", "use one scale")
    if isinstance(measure, DCG) and (isinstance(measure.discounts, str) or measure.cutoff):
        return
    ranks = measure.n_ranks
    if ranks is not None and ranks != n_ranks:
        raise InputError(
            f"has {counted(ranks, 'rank')}, but {other} have {n_ranks}",
            f"use rankings of {counted(ranks, 'rank')}, or give a DCG a cutoff with @",
        )
