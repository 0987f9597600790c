"""Measures that are not a DCG, next to DCG: from names to values.

:class:`~dcglearn.evaluation.expected_reciprocal_rank.ERR` and
:class:`~dcglearn.evaluation.rank_biased_precision.RBP` are computed here, with any numbers for
grades. They follow the rules of an evaluation, but for the least gain. What distinguishes relevant
and other documents is computed by ir_measures
(:mod:`dcglearn.evaluation.relevance_measures`): an unjudged document is not relevant, equal
scores have ir_measures' order, and a query without relevant documents counts 0, or is left out if
the rules leave out queries whose ideal is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import is_one_of
from dcglearn.evaluation.expected_reciprocal_rank import ERR, score_err
from dcglearn.evaluation.gain_measures import Fractions, fractions_of_gains
from dcglearn.evaluation.rank_biased_precision import RBP, RBPResidual, rbp_residual
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.relevance_measures import (
    RelevanceMeasure,
    relevance_levels,
    score_relevance,
)
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.unjudged_bounds import ValueBounds
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Label, Scale
from dcglearn.naming.names import parse_measure
from dcglearn.naming.other_names import OTHER_OPTIONS, OtherName, checked_name, parse_other_name

OtherMeasure: TypeAlias = ERR | RBP | RBPResidual | RelevanceMeasure

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
    measure : ERR, RBP, RBPResidual or RelevanceMeasure
    """

    name: str
    measure: OtherMeasure


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
    elif is_of_ir_measures(measure):
        found, text = _of_object(measure), str(measure)
    else:
        return None
    if found is None:
        return None
    try:
        return NamedOther(text, _of_name(found, scale))
    except InputError as error:
        raise error if error.place else error.at(text) from error


def is_of_ir_measures(measure: object) -> bool:
    """Return whether an object is a measure of ir_measures, without loading that."""
    return any(one.__module__.partition(".")[0] == "ir_measures" for one in type(measure).__mro__)


def _of_object(measure: Any) -> OtherName | None:
    """Return the parts of a measure of ir_measures; None for its nDCG, which is a DCG."""
    head, options = str(measure.NAME), dict(measure.params)
    if head == "nDCG":
        return None
    if not is_one_of(head, OTHER_OPTIONS):
        raise InputError(
            "is not among the measures that are taken from ir_measures",
            f"use one of {', '.join(OTHER_OPTIONS)}",
            str(measure),
        )
    cutoff = options.pop(measure.AT_PARAM, None)
    return checked_name(OtherName(head, cutoff, options), str(measure))


def _of_name(name: OtherName, scale: Scale) -> OtherMeasure:
    options = dict(name.options)
    rel = options.pop("rel", None)
    if name.head not in ("ERR", "RBP"):
        rel, levels = relevance_levels(rel, scale)
        return RelevanceMeasure(name.head, name.cutoff, rel, options, levels)
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
    return measure.on_scale(scale) if isinstance(measure, ERR | RBP) else measure


def with_residuals(measures: Sequence[Any], rules: Rules) -> list[Any]:
    """Return the measures, with the residual of each RBP after it.

    Parameters
    ----------
    measures : sequence of NamedMeasure or NamedOther
    rules : Rules
        With bounds, the largest possible value holds the residual, and there is no column for it.

    Returns
    -------
    list of NamedMeasure or NamedOther
    """
    found = []
    for one in measures:
        found.append(one)
        if isinstance(one.measure, RBP) and rules.unjudged != "bounds":
            found.append(NamedOther(f"{one.name}, residual", RBPResidual(one.measure)))
    return found


def id_orders(measures: Sequence[object]) -> frozenset[bool]:
    """Return in which orders of equal scores measures of ir_measures need runs.

    Parameters
    ----------
    measures : sequence of measures
        Of any kind.

    Returns
    -------
    frozenset of bool
        Holds True for "by id, the smallest first", and False for trec_eval's order.

    Examples
    --------
    >>> sorted(id_orders([RelevanceMeasure("AP"), RelevanceMeasure("RR", 10), ERR()]))
    [False, True]
    """
    return frozenset(one.smallest_id_first for one in measures if isinstance(one, RelevanceMeasure))


def score_others(
    measures: Sequence[object], ranked: Ranked, by_id: Callable[[bool], Ranked], rules: Rules
) -> dict[int, ValueBounds]:
    """Return the values of those measures that are not a DCG.

    Parameters
    ----------
    measures : sequence of measures
        Of any kind, on the scale of the rankings.
    ranked : Ranked
        The rankings of a run, in the order of the rules.
    by_id : callable
        Takes whether the smallest id is first, and returns the rankings in that order.
    rules : Rules

    Returns
    -------
    dict from int to ValueBounds
        By position among the measures.

    Raises
    ------
    InputError
        If ir_measures is not installed, or bounds are asked of its measures.
    """
    found = {
        m: _native(one, ranked, rules)
        for m, one in enumerate(measures)
        if isinstance(one, ERR | RBP | RBPResidual)
    }
    for order in id_orders(measures):
        rows = [
            m
            for m, one in enumerate(measures)
            if isinstance(one, RelevanceMeasure) and one.smallest_id_first == order
        ]
        asked = [cast("RelevanceMeasure", measures[m]) for m in rows]
        rankings = by_id(order)
        for m, one, values in zip(rows, asked, score_relevance(asked, rankings), strict=True):
            if rules.worthless is None:
                relevant = np.array(one.levels) > 0
                values[rankings.pools[:, relevant].sum(axis=1) == 0] = np.nan
            found[m] = ValueBounds(values, values)
    return found


def check_bounds(measures: Sequence[NamedOther], rules: Rules) -> None:
    """Refuse bounds for measures of ir_measures.

    Parameters
    ----------
    measures : sequence of NamedOther
    rules : Rules

    Raises
    ------
    InputError
        Naming the first.
    """
    if rules.unjudged == "bounds":
        for one in measures:
            if isinstance(one.measure, RelevanceMeasure):
                raise InputError(
                    "no bounds for measures of ir_measures",
                    'leave it out, or choose another rule than `unjudged="bounds"`',
                    one.name,
                )


def _native(measure: ERR | RBP | RBPResidual, ranked: Ranked, rules: Rules) -> ValueBounds:
    if isinstance(measure, ERR):
        return _err(measure, ranked, rules)
    rbp = measure.of if isinstance(measure, RBPResidual) else measure
    gains = rbp.dcg.gains
    gain = {"nothing": 0.0, "bounds": min(gains)}.get(rules.unjudged)
    value = score_runs(rbp.dcg, ranked, gain)
    if rules.unjudged == "bounds":
        return ValueBounds(value, value + rbp_residual(rbp, ranked, gain))
    if isinstance(measure, RBPResidual):
        value = rbp_residual(rbp, ranked, gain)
    return ValueBounds(value, value)


def _err(measure: ERR, ranked: Ranked, rules: Rules) -> ValueBounds:
    probabilities = measure.probabilities or ()
    if rules.unjudged == "bounds":  # ERR rises with every R_i
        ends = [score_err(measure, ranked, end(probabilities)) for end in (min, max)]
        return ValueBounds(*ends)
    value = score_err(measure, ranked, 0.0 if rules.unjudged == "nothing" else None)
    if rules.worthless is None:
        satisfying = np.array(probabilities) > 0
        value[ranked.pools[:, satisfying].sum(axis=1) == 0] = np.nan
    return ValueBounds(value, value)
