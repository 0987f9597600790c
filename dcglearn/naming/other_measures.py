"""From a name, or an object of ir_measures, to a measure that is not a DCG.

ERR, RBP, and what ir_measures computes: P, AP, RR, R, Bpref and their like. They are types of their
own and not a :data:`~dcglearn.measures.measure.Measure`, which is linear in the gains.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from dcglearn.base.errors import InputError, is_one_of
from dcglearn.measures.binary import BinaryMeasure
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number
from dcglearn.measures.expected_reciprocal_rank import ERR
from dcglearn.measures.grade_fractions import Fractions, fractions_of_gains
from dcglearn.measures.measure import OtherMeasure
from dcglearn.measures.rank_biased_precision import RBP
from dcglearn.measures.scale import Label, Scale, canonical_label
from dcglearn.naming.grammar import OTHER_OPTIONS, OtherName, checked_name, parse_other_name
from dcglearn.naming.names import Named, NamedMeasure, measure_on_scale, parse_measure
from dcglearn.naming.presets import preset

if TYPE_CHECKING:
    import ir_measures

BEST_SATISFIES = 15 / 16
"""The probability of the best grade, where those of ERR are made of gains: that of the best of five
grades by default, (2^4 - 1) / 2^4."""

OtherMeasureLike: TypeAlias = "ERR | RBP | Named | ir_measures.Measure"
"""A measure that is not a DCG, without a text that names it."""


def is_other_measure(measure: object) -> bool:
    """Return whether a value is a measure that is not a DCG, or an object of ir_measures.

    >>> is_other_measure(ERR()), is_other_measure("ERR")
    (True, False)
    """
    return isinstance(measure, ERR | RBP | Named) or _is_of_ir_measures(measure)


def other_measure(measure: object, scale: Scale) -> Named | None:
    """Return the measure that a value or a text means on a scale, None if that is a DCG.

    >>> other_measure("recip_rank", Scale((2, 1, 0))).measure
    RR
    >>> other_measure("ERR@20", Scale((2, 1, 0))).measure
    ERR({2: 0.1875, 1: 0.0625, 0: 0}) @ 20
    """
    if isinstance(measure, Named) and not isinstance(measure, NamedMeasure):
        return Named(measure.name, _on_scale(cast("OtherMeasure", measure.measure), scale))
    if isinstance(measure, ERR | RBP):
        return Named(str(measure), _on_scale(measure, scale))
    if not isinstance(measure, str) and not _is_of_ir_measures(measure):
        return None
    text = str(measure)
    found = parse_other_name(text) if isinstance(measure, str) else _of_object(measure)
    if found is None:
        return None
    try:
        return Named(text, _of_name(found, scale))
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

    >>> rbp_on_scale(RBP(), Scale((2, 1, 0)))
    RBP({2: 1, 1: 0.5, 0: 0}, p=0.8)
    """
    if measure.gains is not None:
        fitted = _fractions_on_scale(measure.gains, measure.grades, scale)
    else:
        fitted = preset("rbp", scale, 1).gains
    return replace(measure, gains=fitted, grades=scale.labels)


def _fractions_on_scale(
    fractions: Fractions, grades: tuple[Label, ...] | None, scale: Scale
) -> Fractions:
    measure = DCG(fractions, "constant", grades=grades)
    return cast("DCG", measure_on_scale(NamedMeasure("", measure), scale).measure).gains


def relevance_levels(rel: Label | None, scale: Scale) -> tuple[Label, tuple[int, ...]]:
    """Return the worst relevant grade, and the level of each grade, as in BinaryMeasure.

    By default 1 is the worst, which needs grades that are numbers. It need not be on the scale.

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
