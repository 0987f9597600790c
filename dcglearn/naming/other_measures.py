"""From a name, or an object of ir_measures, to a measure that is not a DCG.

ERR, RBP, and what ir_measures computes: P, AP, RR, R, Bpref and their like. They are types of their
own and not a :data:`~dcglearn.measures.measure.Measure`, which is linear in the gains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from dcglearn.base.errors import InputError, is_one_of
from dcglearn.measures.binary import BinaryMeasure
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number
from dcglearn.measures.expected_reciprocal_rank import ERR
from dcglearn.measures.grade_fractions import Fractions, fractions_of_gains
from dcglearn.measures.rank_biased_precision import RBP, RBPResidual
from dcglearn.measures.scale import Label, Scale, canonical_label
from dcglearn.naming.grammar import OTHER_OPTIONS, OtherName, checked_name, parse_other_name
from dcglearn.naming.names import NamedMeasure, measure_on_scale, parse_measure

if TYPE_CHECKING:
    import ir_measures

OtherMeasure: TypeAlias = ERR | RBP | RBPResidual | BinaryMeasure

BEST_SATISFIES = 15 / 16
"""The probability of the best grade, where those of ERR are made of gains: that of the best of five
grades by default, (2^4 - 1) / 2^4."""


@dataclass(frozen=True)
class NamedOther:
    """A measure that is not a DCG, with its name.

    Parameters
    ----------
    name : str
        The text that named it.
    measure : ERR, RBP, RBPResidual or BinaryMeasure
    """

    name: str
    measure: OtherMeasure


OtherMeasureLike: TypeAlias = "ERR | RBP | NamedOther | ir_measures.Measure"
"""A measure that is not a DCG, without a text that names it."""


def is_other_measure(measure: object) -> bool:
    """Return whether a value is a measure that is not a DCG, or an object of ir_measures.

    Parameters
    ----------
    measure : object

    Returns
    -------
    bool

    Examples
    --------
    >>> is_other_measure(ERR()), is_other_measure("ERR")
    (True, False)
    """
    return isinstance(measure, ERR | RBP | NamedOther) or _is_of_ir_measures(measure)


def other_measure(measure: object, scale: Scale) -> NamedOther | None:
    """Return the measure that a value or a text means, if that is not a DCG.

    Parameters
    ----------
    measure : object
        ERR, RBP, a measure of ir_measures, or text such as ``"AP(rel=2)@10"``.
    scale : Scale
        The grades of the qrels.

    Returns
    -------
    NamedOther or None
        None for everything else.

    Raises
    ------
    InputError
        If it does not fit the grades, or is not among the measures that can be computed.

    Examples
    --------
    >>> other_measure("recip_rank", Scale((2, 1, 0))).measure
    RR
    >>> other_measure("ERR@20", Scale((2, 1, 0))).measure
    ERR({2: 0.1875, 1: 0.0625, 0: 0}) @ 20
    """
    if isinstance(measure, NamedOther):
        return NamedOther(measure.name, _on_scale(measure.measure, scale))
    if isinstance(measure, ERR | RBP):
        return NamedOther(str(measure), _on_scale(measure, scale))
    if isinstance(measure, str):
        found = parse_other_name(measure)
        text = measure
    elif _is_of_ir_measures(measure):
        found, text = _of_object(measure), str(measure)
    else:
        return None
    if found is None:
        return None
    try:
        return NamedOther(text, _of_name(found, scale))
    except InputError as error:
        raise error if error.place else error.at(text) from error


def _is_of_ir_measures(measure: object) -> bool:
    """Return whether an object is a measure of ir_measures, without loading that."""
    return any(one.__module__.partition(".")[0] == "ir_measures" for one in type(measure).__mro__)


def _of_object(measure: Any) -> OtherName | None:
    """Return the parts of a measure of ir_measures; None for its nDCG, which is a DCG."""
    head, options = str(measure.NAME), dict(measure.params)
    if head == "nDCG":
        return None
    if not is_one_of(head, OTHER_OPTIONS):
        raise InputError("is not computed here", "ir_measures has it", str(measure))
    cutoff = options.pop(measure.AT_PARAM, None)
    return checked_name(OtherName(head, cutoff, options), str(measure))


def _of_name(name: OtherName, scale: Scale) -> OtherMeasure:
    options = dict(name.options)
    rel = options.pop("rel", None)
    if name.head not in ("ERR", "RBP"):
        rel, levels = relevance_levels(rel, scale)
        return BinaryMeasure(name.head, name.cutoff, rel, options, levels)
    if rel is not None and (name.numbers is not None or name.path):
        raise InputError("has numbers for grades and rel", "keep one of them")
    cutoff = cast("int | None", name.cutoff)
    made: ERR | RBP
    if name.head == "ERR":
        numbers, grades = _numbers(name, options.pop("top", None), BEST_SATISFIES)
        if numbers is not None and options:
            raise InputError("has probabilities and max_rel", "keep one of them")
        made = ERR(numbers, cutoff, grades, **options)
    else:
        numbers, grades = _numbers(name, options.pop("top", None), 1.0)
        if rel is not None:
            _, levels = relevance_levels(rel, scale)
            numbers, grades = tuple(float(level > 0) for level in levels), scale.labels
        made = RBP(numbers, cutoff=cutoff, grades=grades, **options)
    return _on_scale(made, scale)


def _numbers(
    name: OtherName, top: float | None, usual: float
) -> tuple[Fractions | None, tuple[Label, ...] | None]:
    """Return the numbers for grades that a name holds, or those of its measure file."""
    if name.path is None:
        if top is not None:
            raise InputError("has top and no measure file", "write the numbers for the grades")
        return name.numbers, None
    measure = parse_measure(name.path).measure
    if not isinstance(measure, DCG):
        raise InputError(
            "position-dependent weights are not gains",
            f"write {name.path.removesuffix(':utility')}:dcg",
        )
    return fractions_of_gains(measure, usual if top is None else top), measure.grades


def _on_scale(measure: OtherMeasure, scale: Scale) -> OtherMeasure:
    if isinstance(measure, ERR):
        return err_on_scale(measure, scale)
    return rbp_on_scale(measure, scale) if isinstance(measure, RBP) else measure


def err_on_scale(measure: ERR, scale: Scale) -> ERR:
    """Return ERR with one probability for each grade of a scale.

    Parameters
    ----------
    measure : ERR
    scale : Scale

    Returns
    -------
    ERR

    Raises
    ------
    InputError
        If there is no probability for a grade, or a grade is above `max_rel`.

    Examples
    --------
    >>> err_on_scale(ERR(), Scale((2, 1, 0)))
    ERR({2: 0.1875, 1: 0.0625, 0: 0})
    """
    if measure.probabilities is not None:
        fitted = _fractions_on_scale(measure.probabilities, measure.grades, scale)
        return replace(measure, probabilities=fitted, grades=scale.labels)
    largest = max(scale.values)
    if largest > measure.max_rel:
        raise InputError(
            f"has {format_number(measure.max_rel)} for the largest grade, and the grades are "
            f"{scale}",
            f"write ERR(max_rel={format_number(largest)})",
        )
    values = np.maximum(scale.values, 0.0)
    probabilities = (2.0**values - 1) / 2.0**measure.max_rel
    return replace(measure, probabilities=tuple(probabilities.tolist()), grades=scale.labels)


def rbp_on_scale(measure: RBP, scale: Scale) -> RBP:
    """Return RBP with one gain for each grade of a scale.

    Parameters
    ----------
    measure : RBP
    scale : Scale

    Returns
    -------
    RBP

    Raises
    ------
    InputError
        If there is no gain for a grade.

    Examples
    --------
    >>> rbp_on_scale(RBP(), Scale((2, 1, 0)))
    RBP({2: 1, 1: 0.5, 0: 0}, p=0.8)
    """
    if measure.gains is not None:
        fitted = _fractions_on_scale(measure.gains, measure.grades, scale)
    else:
        values = np.maximum(scale.values, 0.0)
        fitted = tuple((values / (values.max() or 1.0)).tolist())
    return replace(measure, gains=fitted, grades=scale.labels)


def _fractions_on_scale(
    fractions: Fractions, grades: tuple[Label, ...] | None, scale: Scale
) -> Fractions:
    measure = DCG(fractions, "constant", grades=grades)
    return cast("DCG", measure_on_scale(NamedMeasure("", measure), scale).measure).gains


def relevance_levels(rel: Label | None, scale: Scale) -> tuple[Label, tuple[int, ...]]:
    """Return the worst relevant grade, and 1 for each grade from it up.

    Parameters
    ----------
    rel : label or None
        By default 1, which needs grades that are numbers. A number need not be on the scale.
    scale : Scale

    Returns
    -------
    rel : label
    levels : tuple of int, length L
        1 for relevant grades, otherwise 0; a negative grade keeps its number.

    Raises
    ------
    InputError
        If the grades are names, and `rel` is not one of them.

    Examples
    --------
    >>> relevance_levels(2, Scale((2, 1, 0, -1)))
    (2, (1, 0, 0, -1))
    >>> relevance_levels("good", Scale(("perfect", "good", "bad")))
    ('good', (1, 1, 0))
    """
    labels = scale.labels
    numbers = [one for one in labels if not isinstance(one, str)]
    if rel is None and len(numbers) < len(labels):
        raise InputError(
            f"the grades {scale} are names", f"say the worst relevant one, such as rel={labels[0]}"
        )
    if rel is None and 0 < max(numbers) < 1:
        raise InputError(
            f"no grade of {scale} is 1 or more",
            f"say the worst relevant one, such as rel={labels[0]}",
        )
    cut = canonical_label(1 if rel is None else rel)
    ordered = len(numbers) == len(labels) and numbers == sorted(numbers, reverse=True)
    if cut in labels or isinstance(cut, str) or not ordered:
        try:
            least = scale.index(cut)
        except InputError as error:
            guess = error.remedy.removesuffix("declare every grade")
            raise InputError(error.problem, f"{guess}use a grade of the scale") from error
        relevant = [index <= least for index in range(len(labels))]
    else:
        relevant = [number >= cut for number in numbers]
    others = [0 if isinstance(one, str) else min(math.floor(one), 0) for one in labels]
    return cut, tuple(1 if one else other for one, other in zip(relevant, others, strict=True))
