"""Names of measures: from a text to a measure.

A measure is named by a preset (``zipf``, ``rbp:0.8 @ 3``), by its full name
(``nDCG([3, 1, 0], log2) @ 10``), or by a measure file (``learned.json``, ``learned.json:utility``).
``nDCG(zipf) @ 10`` and ``nDCG(learned.json)`` are the normalised forms. Other names are read by
:mod:`dcglearn.measures.grammar`.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from dcglearn.base.checks import checked_text
from dcglearn.base.errors import InputError, naming
from dcglearn.base.numbers import counted
from dcglearn.measures.dcg import DCG, DCG_FORMS
from dcglearn.measures.grammar import (
    ParsedName,
    canonical_dcg_name,
    parse_other_name,
    split_cutoff,
)
from dcglearn.measures.measure import Measure, MeasureFile, read_measure
from dcglearn.measures.other_measures import (
    ERR,
    RBP,
    BinaryMeasure,
    OtherMeasure,
    relevance_levels,
)
from dcglearn.measures.presets import preset
from dcglearn.measures.scale import Scale, ScaleLike, needed_scale
from dcglearn.measures.utility import LinearUtility

if TYPE_CHECKING:
    import ir_measures

_FORM_OF = re.compile(r"\s*(n?DCG)\(([^\[{]+)\)\s*")
_FILE = re.compile(r"(.+\.json)(?::(\w*))?", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """A measure of any kind, and the text that named it."""

    name: str
    measure: Measure | OtherMeasure

    def with_grades(self, scale: Scale) -> Self:
        """Return the measure for documents of these grades."""
        with naming(self.name):
            return replace(self, measure=self.measure.on_scale(scale))


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


MeasureLike: TypeAlias = Measure | MeasureFile | NamedMeasure | str | os.PathLike[str]


def as_measure(measure: MeasureLike, scale: Scale | None = None, n_ranks: int = 0) -> Measure:
    """Return the measure that a value, a file or a text means."""
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, MeasureFile | NamedMeasure):
        return measure.measure
    if not isinstance(measure, str | os.PathLike):
        raise not_a_measure(measure)
    text = os.fspath(measure)
    if scale is None:
        return parse_measure(text).measure
    return measure_for(text, scale, n_ranks).measure


def as_dcg(measure: MeasureLike) -> DCG:
    """Return the DCG that a value, a file or a text means."""
    found = as_measure(measure)
    if not isinstance(found, DCG):
        file = measure.removesuffix(":utility") if isinstance(measure, str) else "FILE.json"
        raise InputError("gains that differ by rank", f"name a DCG, such as {file}:dcg")
    return found


def not_a_measure(value: object) -> InputError:
    """Return the error about a value that is not a measure."""
    return InputError(
        f"a measure of type {type(value).__name__}",
        "give a DCG, a LinearUtility, a measure file or text such as 'nDCG([3, 1, 0], log2) @ 10'",
    )


def repeated_name(names: Sequence[str]) -> str | None:
    """Return the first name that appears again, None if all differ."""
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


def is_measure_file_name(text: str) -> bool:
    """Return True for the name of a measure file, with or without a part."""
    return _FILE.fullmatch(text.strip()) is not None


def states_its_grades(text: str) -> bool:
    """Return whether a text is a measure file or a measure in full, and not a preset."""
    return any(mark in text.lower() for mark in ("[", "{", ".json"))


def parse_measure(text: str, scale: Scale | None = None, n_ranks: int = 0) -> NamedMeasure:
    """Return the measure that a text means; presets need a scale and a number of ranks."""
    called, cutoff = split_cutoff(canonical_dcg_name(checked_text(text, "a measure", "zipf")))
    form, file = _FORM_OF.fullmatch(called), _FILE.fullmatch(called.strip())
    measure: Measure
    content = None
    if form is not None:
        inner = parse_measure(form[2], scale, n_ranks)
        if isinstance(inner.measure, LinearUtility):
            remedy = f"write {form[2].removesuffix(':utility')}:dcg"
            raise InputError("position-dependent weights are not a DCG", remedy, text)
        if cutoff is not None and inner.measure.cutoff is not None:
            raise InputError("has two cutoffs", "keep one", text)
        measure, content = replace(inner.measure, normalise=DCG_FORMS[form[1]]), inner.file
    elif file is not None:
        content = read_measure(file[1])
        with naming(file[1]):
            measure = content.pick((file[2] or content.use).lower())
    elif states_its_grades(called):
        kind = LinearUtility if called.strip().startswith("LinearUtility") else DCG
        measure = kind.parse(called)
    elif scale is not None:
        measure = preset(called, scale, n_ranks)
    else:
        raise InputError(
            f"the preset {text!r} needs the grades and the number of ranks",
            "give preset(name, scale, n_ranks), or a measure in full: DCG([3, 1, 0], log2)",
        )
    if cutoff is not None:
        if isinstance(measure, LinearUtility):
            raise InputError("position-dependent weights have no cutoff", "leave it out", text)
        measure = measure @ cutoff
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

    Examples
    --------
    >>> measure_for("zipf", Scale((1, 0)), 5).measure
    DCG({1: 1, 0: 0}, zipf)
    """
    scale = needed_scale(scale)
    named = parse_measure(text, scale, n_ranks)
    with naming(text):
        check_compatible(named.measure, scale, n_ranks)
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

    Examples
    --------
    >>> measure_for_documents("nDCG({2: 3, 1: 1, 0: 0}, log2) @ 5", Scale((1, 0)), 100).measure
    nDCG({1: 1, 0: 0}, log2) @ 5
    """
    scale = needed_scale(scale)
    return parse_measure(text, scale, n_ranks).with_grades(scale)


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
    ranks, is_cut = measure.n_ranks, isinstance(measure, DCG) and measure.cutoff
    if ranks and ranks != n_ranks and not is_cut:
        raise InputError(
            f"has {counted(ranks, 'rank')}, but {other} have {n_ranks}",
            f"use rankings of {counted(ranks, 'rank')}, or give a DCG a cutoff with @",
        )


def measures_on_one_scale(
    names: Sequence[str], text: str | None, n_ranks: int
) -> tuple[Scale, list[NamedMeasure]]:
    """Return the scale that a text declares, or that of the first measure that has its own.

    Presets are on it, and other measures as they are; each file is read once: it may be a pipe.
    """
    own = {name: parse_measure(name) for name in names if states_its_grades(name)}
    if text is not None:
        scale = Scale.parse(text)
    elif own:
        scale = Scale(next(iter(own.values())).measure.labels)
    else:
        measure_for(names[0], Scale((2, 1, 0)), 10)  # refuses what is not a preset
        problem = f"the preset {names[0]!r} needs grades"
        raise InputError(problem, "declare them, such as `scale=2,1,0`")
    return scale, [own.get(name) or parse_measure(name, scale, n_ranks) for name in names]


def named_measure(text: str, scale: str | None, n_ranks: int | None) -> NamedMeasure:
    """Return the measure of a name: a preset has a scale, of others it is checked if given."""
    declared, (named,) = measures_on_one_scale([text], scale, n_ranks or 10)
    with naming(text):
        ranks = n_ranks or named.measure.n_ranks or 10
        check_compatible(named.measure, declared, ranks, "the options")
    return named


def as_ndcg(name: str, depth: int) -> str:
    """Return the name of the nDCG of a measure, cut at `depth` unless the name has a cutoff."""
    called, cutoff = split_cutoff(canonical_dcg_name(name).strip())
    cut = f" @ {depth if cutoff is None else cutoff}"
    if cutoff is None and is_measure_file_name(called):
        own = parse_measure(called).measure.n_ranks
        cut = "" if own is not None and own < depth else cut  # it ends before `depth`
    if called.startswith("LinearUtility"):
        raise InputError("position-dependent weights have no nDCG", "name a DCG", name)
    if called.startswith("nDCG("):
        return called + cut
    return (f"n{called}" if called.startswith("DCG(") else f"nDCG({called})") + cut


TOP = {"ERR": 15 / 16, "RBP": 1.0}
"""The number of the best grade, where a measure file has the gains: that of ERR is (2^4 - 1) / 2^4,
which is the probability of the best of five grades by default."""

AskedMeasure: TypeAlias = "MeasureLike | OtherMeasure | Named | ir_measures.Measure"


def asked_measure(measure: AskedMeasure, scale: Scale, n_ranks: int) -> Named:
    """Return the measure that a value, a file or a text means, for documents of these grades."""
    if isinstance(measure, MeasureFile):
        measure = NamedMeasure(str(measure.measure), measure.measure, measure)
    elif isinstance(measure, Measure | OtherMeasure):
        measure = Named(str(measure), measure)
    if isinstance(measure, Named):
        return measure.with_grades(scale)
    of_ir_measures = type(measure).__module__.startswith("ir_measures.")
    if not of_ir_measures and not isinstance(measure, str | os.PathLike):
        raise not_a_measure(measure)
    text = str(measure)
    with naming(text):
        other = parse_other_name(text)
        if other is None:
            return measure_for_documents(text, scale, n_ranks)
        return Named(text, _of_name(other, scale))


def _of_name(name: ParsedName, scale: Scale) -> OtherMeasure:
    head, arguments, options, cutoff = name
    rel = options.pop("rel", None)
    if head not in TOP:
        rel, levels = relevance_levels(rel, scale)
        return BinaryMeasure(head, cutoff, rel, options, levels)
    numbers, grades = next(iter(arguments), None), None
    if numbers is not None and (rel is not None or "max_rel" in options):
        raise InputError("has numbers for grades and rel or max_rel", "keep one of them")
    if isinstance(numbers, str):
        file = as_dcg(numbers)
        largest = max(file.gains)
        if min(file.gains) < 0 or largest <= 0:
            raise InputError(
                f"the gains of {file}",
                "write a number from 0 to 1 for each grade, such as {2: 1, 1: 0.5, 0: 0}",
            )
        top = options.pop("top", TOP[head])
        numbers, grades = tuple(top * (gain / largest) for gain in file.gains), file.grades
    elif "top" in options:
        raise InputError("has top and no measure file", "write the numbers for the grades")
    elif rel is not None:
        levels = relevance_levels(rel, scale)[1]
        numbers, grades = tuple(float(level > 0) for level in levels), scale.labels
    kind: Any = ERR if head == "ERR" else RBP
    made: ERR | RBP = kind(numbers, cutoff=cutoff, grades=grades, **options)
    return made.on_scale(scale)
