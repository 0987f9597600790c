"""What another tool can compute of a DCG, and what it cannot.

nDCG does not change when all gains are multiplied by a positive number, so gains can be scaled
until they are whole or far enough apart. A measure that a tool would silently compute wrongly is
refused, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number, rule_discounts
from dcglearn.measures.measure import Measure
from dcglearn.measures.names import MeasureLike, as_measure
from dcglearn.measures.scale import Label
from dcglearn.systems.ranked import ranked_arrays
from dcglearn.systems.rules import Ties
from dcglearn.systems.scoring import score_runs

ITSELF = "export the measure as an object, which pyterrier and scikit-learn call"
"""The remedy if a tool's own nDCG cannot compute a measure."""

_OBJECTIVE = "train on it with dcglearn.lambdarank_objective(measure), see docs/systems.md"

_TELL_APART = 10
"""Ranks after which no rule equals 1 / log2(i + 1)."""

UNJUDGED_NOTE = "A document without a judgment gains 0."


@dataclass(frozen=True)
class Export:
    """Text for another tool, and notes on what that computes differently."""

    text: str
    notes: tuple[str, ...] = ()


def labelled_dcg(measure: MeasureLike) -> DCG:
    """Return a DCG from any of its forms, with labels, for what needs one gain per grade."""
    found = as_measure(measure)
    if not isinstance(found, DCG):
        raise InputError("gains that differ by rank", "give a DCG: it has one gain per grade")
    return with_labels(found)


def with_labels(measure: DCG, labels: Sequence[Label] | None = None) -> DCG:
    """Return the measure with a label for each grade, and cut where its discounts end."""
    grades = labels_of(measure) if labels is None else labels
    return DCG(measure.gains, measure.discounts, measure.n_ranks, measure.normalise, tuple(grades))


def values_of_lists(measure: DCG, grades: Grades, scores: Floats, ties: Ties) -> Floats:
    """Return the value of each list of documents, of which all are judged and ranked (Q, N)."""
    ranked = ranked_arrays(grades, scores, measure.n_grades, ties=ties)
    values = score_runs(measure.plain(), ranked)
    return values if measure.normalise is None else measure.normalise_values(values, grades, grades)


def labels_of(measure: Measure) -> tuple[Label, ...]:
    """Return the labels of the grades, best first; by default L - 1, ..., 0."""
    return measure.grades or tuple(range(measure.n_grades))[::-1]


def gains_by_label(measure: DCG) -> dict[Label, float]:
    """Return the gain of each label, best grade first."""
    return dict(zip(labels_of(measure), measure.gains, strict=True))


def whole_labels(measure: DCG, tool: str) -> tuple[int, ...]:
    """Return the labels of the grades if all are whole numbers."""
    labels = labels_of(measure)
    for label in labels:
        if not isinstance(label, int):
            raise InputError(
                f"grade {label!r} is not a whole number, and the levels of {tool} are",
                "give the level of each grade, best first, such as `labels=(2, 1, 0)`",
            )
    return tuple(label for label in labels if isinstance(label, int))


def check_ndcg(
    measure: DCG, tool: str, ordered: bool = False, has_dcg: bool = False, positive: bool = True
) -> list[str]:
    """Refuse what a tool's nDCG computes differently; return a note on what it divides by.

    Gains must be 0 or more if `positive`, and increase with the label if `ordered`.
    """
    remedy = _OBJECTIVE if tool in ("LightGBM", "XGBoost") else ITSELF
    problem = _other_discounts(measure) or _other_gains(measure, positive, ordered)
    if problem:
        raise InputError(f"{tool} {problem}", remedy)
    if measure.normalise == "minmax":
        raise InputError(f"{tool} has nDCG, and this measure is a minmaxDCG", remedy)
    if measure.normalise is None and not has_dcg:
        named = replace(measure, normalise="ideal")
        return [f"{tool} divides each query by its ideal: it reports {named}."]
    return []


def _other_discounts(measure: DCG) -> str:
    """Say which discounts are not 1 / log2(i + 1)."""
    own = measure.discounts_for(measure.n_ranks or _TELL_APART)
    log2 = rule_discounts("log2", len(own))
    differ = np.flatnonzero(np.abs(own - log2) > 1e-12)
    if not len(differ):
        return ""
    rank = differ[0]
    return (
        f"discounts only by 1/log2(i + 1), which is {log2[rank]:.4g} at rank {rank + 1}, and this "
        f"measure has {own[rank]:.4g} there"
    )


def _other_gains(measure: DCG, positive: bool, ordered: bool) -> str:
    """Say which gain is below 0, or rises from a grade to a worse one."""
    labels, gains = labels_of(measure), measure.gains
    for label, gain in zip(labels, gains, strict=True):
        if positive and gain < 0:
            return f"takes only gains of 0 or more, and grade {label!r} gains {format_number(gain)}"
    for (one, gain), (worse, larger) in pairwise(zip(labels, gains, strict=True)):
        if ordered and larger > gain:
            return (
                "assumes for its ideal that gains increase with the label, and grade "
                f"{worse!r} gains {format_number(larger)}, more than the better {one!r}"
            )
    return ""


def whole_gains(measure: DCG, tool: str, most: int) -> tuple[list[int], Fraction]:
    """Scale the gains, as decimals, to the smallest whole numbers; return the factor, too."""
    exact = [Fraction(repr(gain)) for gain in measure.gains]
    factor = Fraction(math.lcm(*(gain.denominator for gain in exact)))
    factor /= math.gcd(*(int(gain * factor) for gain in exact)) or 1
    whole = [int(gain * factor) for gain in exact]
    if max(whole) > most:
        raise InputError(
            f"{tool} takes whole gains up to {most}, and the gains "
            f"{', '.join(map(format_number, measure.gains))} become whole only as "
            f"{', '.join(map(str, whole))}",
            f"round them, or {ITSELF}",
        )
    return whole, factor


def spread_gains(measure: DCG, tool: str, apart: float, most: float) -> tuple[str, ...]:
    """Scale the gains by a power of ten until distinct gains, and 0, differ by at least `apart`."""
    exact = [Fraction(repr(gain)) for gain in measure.gains]
    scale = Fraction(1)
    while max(exact) * scale > most:
        scale /= 10
    while max(exact) * scale <= most:
        texts = tuple(format_number(float(gain * scale)) for gain in exact)
        values = sorted({0.0, *map(float, texts)})
        if all(b - a >= apart for a, b in pairwise(values)):
            return texts
        scale *= 10
    raise InputError(
        f"{tool} treats gains that differ by less than {format_number(apart)} as equal, and the "
        f"gains {', '.join(map(format_number, measure.gains))} differ by that much only when "
        f"scaled beyond {most:g}",
        f"round them, or {ITSELF}",
    )
