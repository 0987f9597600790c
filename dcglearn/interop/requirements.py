"""What another tool can compute of a DCG, and what it cannot.

Most tools divide by the ideal, have one discount, 1 / log2(i + 1), and restrict the gains. nDCG
does not change when all gains are multiplied by a positive number, so gains can be scaled until
they are whole or far enough apart. A measure that a tool would silently compute wrongly is
refused here, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number, rule_discounts
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Label
from dcglearn.naming.names import MeasureLike, as_measure

ITSELF = "export the measure as an object, which pyterrier and scikit-learn call"
"""The remedy if a tool's own nDCG cannot compute a measure."""

_OBJECTIVE = "train on it with dcglearn.lambdarank_objective(measure), see docs/systems.md"

SINGLE, DOUBLE = 1e30, 1e290
"""The largest numbers for tools that compute in 32 bits, and in 64."""

UNJUDGED_NOTE = "A document without a judgment gains 0."


@dataclass(frozen=True)
class Export:
    """Text for another tool, and notes on what that computes differently."""

    text: str
    notes: tuple[str, ...] = ()


def as_dcg(measure: MeasureLike) -> DCG:
    """Return a DCG from any of its forms, for what needs one gain per grade.

    >>> as_dcg("DCG([3, 1, 0], zipf) @ 5")
    DCG([3, 1, 0], zipf) @ 5
    """
    found = as_measure(measure)
    if not isinstance(found, DCG):
        raise InputError("gains that differ by rank", "give a DCG: it has one gain per grade")
    return found


def with_labels(measure: DCG, labels: Sequence[Label] | None = None) -> DCG:
    """Return the measure with a label for each grade, and cut where its discounts end.

    >>> with_labels(DCG([1, 0.5, 0], [1, 0.5]))
    DCG({2: 1, 1: 0.5, 0: 0}, [1, 0.5]) @ 2
    """
    grades = labels_of(measure) if labels is None else labels
    return DCG(measure.gains, measure.discounts, measure.n_ranks, measure.normalise, tuple(grades))


def labels_of(measure: Measure) -> tuple[Label, ...]:
    """Return the labels of the grades, best first; by default L - 1, ..., 0.

    >>> labels_of(DCG([3, 1, 0]))
    (2, 1, 0)
    """
    return measure.grades or tuple(range(measure.n_grades))[::-1]


def gains_by_label(measure: DCG) -> dict[Label, float]:
    """Return the gain of each label, best grade first.

    >>> gains_by_label(DCG([3, 1, 0]))
    {2: 3.0, 1: 1.0, 0: 0.0}
    """
    return dict(zip(labels_of(measure), measure.gains, strict=True))


def whole_labels(measure: DCG, tool: str) -> tuple[int, ...]:
    """Return the labels of the grades if all are whole numbers."""
    found = []
    for label in labels_of(measure):
        if not isinstance(label, int):
            raise InputError(
                f"grade {label!r} is not a whole number, and the levels of {tool} are",
                "give the level of each grade, best first, such as `labels=(2, 1, 0)`",
            )
        found.append(label)
    return tuple(found)


def instead(tool: str) -> str:
    """Return the remedy if a tool cannot express a measure.

    >>> instead("XGBoost")
    'train on it with dcglearn.lambdarank_objective(measure), see docs/systems.md'
    """
    return _OBJECTIVE if tool in ("LightGBM", "XGBoost") else ITSELF


def check_log2(measure: DCG, tool: str) -> None:
    """Refuse discounts other than 1 / log2(i + 1)."""
    if measure.discounts == "log2":
        return
    problem = f"{tool} discounts only by 1/log2(i + 1), and this measure by {measure.discounts}"
    if not isinstance(measure.discounts, str):
        own = measure.discounts_for(measure.n_ranks or 1)
        differ = np.abs(own - rule_discounts("log2", len(own))) > 1e-12
        if not differ.any():
            return
        rank = int(np.argmax(differ))
        problem = (
            f"{tool} discounts only by 1/log2(i + 1), which is {1 / math.log2(rank + 2):.4g} "
            f"at rank {rank + 1}, and this measure has {own[rank]:.4g} there"
        )
    raise InputError(problem, instead(tool))


def check_range(measure: DCG, tool: str, most: float) -> None:
    """Refuse numbers whose products and sums are beyond the floating-point numbers of a tool."""
    discounts = () if isinstance(measure.discounts, str) else measure.discounts
    for name, numbers in (("gain", measure.gains), ("discount", discounts)):
        for number in numbers:
            if number and not 1 / most <= abs(number) <= most:
                raise InputError(
                    f"{tool} computes with numbers from {1 / most:g} to {most:g}, and a {name} is "
                    f"{format_number(number)}",
                    f"multiply all {name}s by one number, or {instead(tool)}",
                )


def check_gains(measure: DCG, tool: str, positive: bool = True, ordered: bool = False) -> None:
    """Refuse gains that a tool would count differently."""
    labels = labels_of(measure)
    for label, gain in zip(labels, measure.gains, strict=True):
        if positive and gain < 0:
            raise InputError(
                f"grade {label!r} gains {format_number(gain)}, and {tool} takes only gains of 0 "
                "or more",
                instead(tool),
            )
    for i in range(1, len(labels)) if ordered else ():
        if measure.gains[i] > measure.gains[i - 1]:
            raise InputError(
                f"grade {labels[i]!r} gains {format_number(measure.gains[i])}, more than the "
                f"better {labels[i - 1]!r}, and the ideal of {tool} assumes that gains increase "
                "with the label",
                instead(tool),
            )


def ndcg_notes(measure: DCG, tool: str) -> list[str]:
    """Refuse min-max normalisation; note what a plain DCG becomes in a tool that has only nDCG."""
    if measure.normalise == "minmax":
        raise InputError(f"{tool} has nDCG, and this measure is a minmaxDCG", instead(tool))
    if measure.normalise is None:
        named = replace(measure, normalise="ideal")
        return [f"{tool} divides each query by its ideal: it reports {named}."]
    return []


@dataclass(frozen=True)
class WholeGains:
    """Whole gains by label, best grade first, and the common factor, whole gain / gain."""

    gains: dict[Label, int]
    factor: Fraction


def whole_gains(measure: DCG, tool: str, most: int) -> WholeGains:
    """Scale the gains, as decimals, to the smallest whole numbers.

    >>> whole_gains(DCG([1, 0.65, 0]), "ranx", 1000).gains
    {2: 20, 1: 13, 0: 0}
    """
    exact = [Fraction(repr(gain)) for gain in measure.gains]
    factor = Fraction(math.lcm(*(gain.denominator for gain in exact)))
    factor /= math.gcd(*(int(gain * factor) for gain in exact)) or 1
    whole = [int(gain * factor) for gain in exact]
    if max(whole) > most:
        raise InputError(
            f"{tool} takes whole gains up to {most}, and the gains "
            f"{', '.join(map(format_number, measure.gains))} become whole only as "
            f"{', '.join(map(str, whole))}",
            f"round them, or {instead(tool)}",
        )
    return WholeGains(dict(zip(labels_of(measure), whole, strict=True)), factor)


def spread_gains(measure: DCG, tool: str, apart: float, most: float) -> tuple[str, ...]:
    """Scale the gains by a power of ten until distinct gains, and 0, differ by at least `apart`.

    >>> spread_gains(DCG([1, 0.65, 0]), "trec_eval", 1.0, 1e9)
    ('10', '6.5', '0')
    """
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
        f"round them, or {instead(tool)}",
    )
