"""What another tool can say of a DCG, and what it cannot.

Most tools divide by the ideal, know one discount, 1 / log2(i + 1), and take gains under
conditions of their own. nDCG does not change when all gains are multiplied by one positive
number, so gains may be scaled until they are whole or far enough apart. Whatever cannot be
said is refused here, with the reason: it would be computed wrongly without a word.
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
from dcglearn.measures.scale import Label

ITSELF = "hand over the measure itself, which pyterrier and scikit-learn can call"
"""The way out where a tool's own nDCG cannot say what a measure says."""


UNJUDGED_NOTE = "A document without a judgment gains 0."


@dataclass(frozen=True)
class Export:
    """A measure in another tool's terms.

    Parameters
    ----------
    text : str
        What to paste or save.
    notes : tuple of str
        What the tool cannot express, or how it differs; a sentence each.
    """

    text: str
    notes: tuple[str, ...] = ()


def with_labels(measure: DCG, labels: Sequence[Label] | None = None) -> DCG:
    """Return the measure with a label for each grade and a cutoff where its discounts end.

    Parameters
    ----------
    measure : DCG
    labels : sequence of labels, optional
        Best first. By default the measure's own grades, or L - 1, ..., 0.

    Returns
    -------
    DCG

    Raises
    ------
    InputError
        If there is not one label a grade.

    Examples
    --------
    >>> with_labels(DCG([1, 0.5, 0], [1, 0.5]))
    DCG({2: 1, 1: 0.5, 0: 0}, [1, 0.5]) @ 2
    """
    grades = labels_of(measure) if labels is None else labels
    return DCG(measure.gains, measure.discounts, measure.n_ranks, measure.normalise, tuple(grades))


def labels_of(measure: DCG) -> tuple[Label, ...]:
    """Return the labels of the grades, best first."""
    return measure.grades or tuple(range(measure.n_grades))[::-1]


def gains_by_label(measure: DCG) -> dict[Label, float]:
    """Return the gain of each label, best grade first.

    >>> gains_by_label(DCG([3, 1, 0]))
    {2: 3.0, 1: 1.0, 0: 0.0}
    """
    return dict(zip(labels_of(measure), measure.gains, strict=True))


def whole_labels(measure: DCG, tool: str) -> tuple[int, ...]:
    """Return the labels of the grades where all are whole numbers.

    Parameters
    ----------
    measure : DCG
    tool : str
        Who needs them, for the message.

    Returns
    -------
    tuple of int

    Raises
    ------
    InputError
        Naming the first label that is none.
    """
    found = []
    for label in labels_of(measure):
        if not isinstance(label, int):
            raise InputError(
                f"grade {label!r} is no whole number, and the levels of {tool} are",
                "say which level each grade has there, best first, such as --labels 2,1,0",
            )
        found.append(label)
    return tuple(found)


def check_log2(measure: DCG, tool: str) -> None:
    """Refuse discounts other than 1 / log2(i + 1).

    Parameters
    ----------
    measure : DCG
    tool : str

    Raises
    ------
    InputError
        Naming the first rank that differs.
    """
    if measure.discounts == "log2":
        return
    problem = f"{tool} discounts by 1/log2(i + 1) alone, and this measure by {measure.discounts}"
    if not isinstance(measure.discounts, str):
        own = measure.discounts_for(measure.n_ranks or 1)
        differ = np.abs(own - rule_discounts("log2", len(own))) > 1e-12
        if not differ.any():
            return
        rank = int(np.argmax(differ))
        problem = (
            f"{tool} discounts by 1/log2(i + 1) alone, which is {1 / math.log2(rank + 2):.4g} "
            f"at rank {rank + 1}, and this measure has {own[rank]:.4g} there"
        )
    raise InputError(problem, ITSELF)


def check_gains(measure: DCG, tool: str, positive: bool = True, ordered: bool = False) -> None:
    """Refuse gains that a tool counts in another way.

    Parameters
    ----------
    measure : DCG
    tool : str
    positive : bool
        Whether no gain may be below 0.
    ordered : bool
        Whether a worse grade may not gain more than a better one.

    Raises
    ------
    InputError
        Naming the grade.
    """
    labels = labels_of(measure)
    for label, gain in zip(labels, measure.gains, strict=True):
        if positive and gain < 0:
            raise InputError(
                f"grade {label!r} gains {format_number(gain)}, and {tool} takes no gain below 0",
                ITSELF,
            )
    for i in range(1, len(labels)) if ordered else ():
        if measure.gains[i] > measure.gains[i - 1]:
            raise InputError(
                f"grade {labels[i]!r} gains {format_number(measure.gains[i])}, more than the "
                f"better {labels[i - 1]!r}, and the ideal of {tool} assumes that gains grow with "
                "the label",
                ITSELF,
            )


def ndcg_notes(measure: DCG, tool: str) -> list[str]:
    """Refuse min-max normalisation, and say what a plain DCG becomes in a tool with nDCG alone.

    Parameters
    ----------
    measure : DCG
    tool : str

    Returns
    -------
    list of str
        Notes.

    Raises
    ------
    InputError
        If the measure is normalised by minimum and maximum.
    """
    if measure.normalise == "minmax":
        raise InputError(f"{tool} has nDCG, and this measure is a minmaxDCG", ITSELF)
    if measure.normalise is None:
        named = replace(measure, normalise="ideal")
        return [f"{tool} divides each query by its ideal: what it reports is {named}."]
    return []


def whole_gains(measure: DCG, tool: str, most: int) -> tuple[dict[Label, int], Fraction]:
    """Scale the gains, as decimals, to the smallest whole numbers.

    Parameters
    ----------
    measure : DCG
        Of gains not below 0.
    tool : str
    most : int
        The largest gain that the tool can take.

    Returns
    -------
    gains : dict from label to int
    factor : Fraction
        Whole gain / gain.

    Raises
    ------
    InputError
        If a whole number would exceed `most`.

    Examples
    --------
    >>> whole_gains(DCG([1, 0.65, 0]), "ranx", 1000)
    ({2: 20, 1: 13, 0: 0}, Fraction(20, 1))
    """
    exact = [Fraction(repr(gain)) for gain in measure.gains]
    factor = Fraction(math.lcm(*(gain.denominator for gain in exact)))
    factor /= math.gcd(*(int(gain * factor) for gain in exact)) or 1
    whole = [int(gain * factor) for gain in exact]
    if max(whole) > most:
        raise InputError(
            f"{tool} takes whole gains up to {most}, and the gains "
            f"{', '.join(map(format_number, measure.gains))} are whole only as "
            f"{', '.join(map(str, whole))}",
            f"round them, or {ITSELF}",
        )
    return dict(zip(labels_of(measure), whole, strict=True)), factor


def spread_gains(measure: DCG, tool: str, apart: float, most: float) -> tuple[str, ...]:
    """Scale the gains by a power of ten until any two that differ, and 0, lie `apart`.

    Parameters
    ----------
    measure : DCG
        Of gains not below 0.
    tool : str
    apart : float
        The smallest difference that the tool sees.
    most : float
        The largest gain that the tool can take.

    Returns
    -------
    tuple of str
        Decimal numbers, one a grade.

    Raises
    ------
    InputError
        If a gain would exceed `most`.

    Examples
    --------
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
        f"{tool} takes gains closer than {format_number(apart)} for equal, and the gains "
        f"{', '.join(map(format_number, measure.gains))} lie apart only when scaled beyond "
        f"{most:g}",
        f"round them, or {ITSELF}",
    )
