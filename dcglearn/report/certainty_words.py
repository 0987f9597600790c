"""The words of certainty: numbers as people say them, and hypotheses as statements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dcglearn.measures.scale import Scale

if TYPE_CHECKING:  # the words are needed where no model is
    from dcglearn.inference.estimate import JudgmentFit
    from dcglearn.inference.questions import Question
    from dcglearn.inference.ratios import Estimated

FAMILY_NAMES = {
    "linear": "linear gains",
    "exponential": "2^g - 1",
    "log2": "1/log2(rank + 1)",
    "zipf": "1/rank",
    "constant": "every rank alike",
}
"""What people call families of gains and discounts."""

MEASURE_NAMES = {
    "linear-log2": "g / log2(rank + 1)",
    "exponential-log2": "(2^g - 1) / log2(rank + 1)",
}
"""What people call presets; others keep their names."""


def short(number: float) -> str:
    """Write a number as people say it: two digits, without the zero before the point.

    Parameters
    ----------
    number : float

    Examples
    --------
    >>> short(0.654), short(1.0), short(-0.04), short(12.3)
    ('.65', '1.00', '-.04', '12.30')
    """
    text = f"{number:.2f}"
    return text.replace("0.", ".", 1) if abs(number) < 0.995 else text


def one_in(share: float) -> str:
    """Write a share of pairs of lists as one in so many.

    Parameters
    ----------
    share : float

    Examples
    --------
    >>> one_in(0.0164), one_in(0.5), one_in(0.0)
    ('1 in 61', '1 in 2', 'none')
    """
    return f"1 in {round(1 / share):,}" if share > 0 else "none"


def share_words(share: float) -> str:
    """Write a share in per cent, with one digit.

    Parameters
    ----------
    share : float

    Examples
    --------
    >>> share_words(0.0412), share_words(0.5)
    ('4.1%', '50.0%')
    """
    return f"{100 * share:.1f}%"


def interval_words(one: Estimated) -> str:
    """Write the interval of a number, or that there is none.

    Parameters
    ----------
    one : Estimated
    """
    if not one.determined:
        return "not determined by these judgments"
    return f"{short(one.low)} to {short(one.high)}"


def estimate_words(one: Estimated) -> str:
    """Write an estimate; a dash if its interval is unbounded, so that it may be any number.

    Parameters
    ----------
    one : Estimated

    Examples
    --------
    >>> from dcglearn.inference.ratios import Estimated
    >>> estimate_words(Estimated("gain 1", -261.3, -math.inf, math.inf, determined=False))
    '-'
    """
    bounded = math.isfinite(one.low) and math.isfinite(one.high)
    return short(one.estimate) if bounded else "-"


def p_words(p: float) -> str:
    """Write a p-value with three digits.

    Parameters
    ----------
    p : float

    Examples
    --------
    >>> p_words(0.0123), p_words(1e-9), p_words(1.0)
    ('.012', 'below .001', '1')
    """
    return "below .001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"


def grade_name(scale: Scale, index: int) -> str:
    """Name a grade: the middle one of three by that, others by their label.

    Parameters
    ----------
    scale : Scale
    index : int
    """
    return "the middle grade" if len(scale) == 3 else f"grade {scale.labels[index]}"


def statement(one: Question) -> str:
    """Write a hypothesis as a statement.

    Parameters
    ----------
    one : Question
    """
    if one.about == "measure":
        return f"the measure is {MEASURE_NAMES.get(one.hypothesis, one.hypothesis)}"
    if one.about == "gains":
        return "gains are linear" if one.hypothesis == "linear" else "gains are 2^g - 1"
    if one.about == "discounts":
        rules = {"log2": "1/log2(rank + 1)", "zipf": "1/rank", "constant": "alike for all ranks"}
        return f"discounts are {rules.get(one.hypothesis, one.hypothesis)}"
    if one.about == "positions":
        return "a grade is worth the same at every rank"
    if one.about == "additivity":
        return "a list is worth the sum of its documents"
    fixed = {"side": "the side does not matter", "lapses": "no answer is random"}
    return fixed.get(one.about, one.hypothesis)


def clusters_words(fit: JudgmentFit) -> str:
    """Say which judgments are not taken as independent.

    Parameters
    ----------
    fit : JudgmentFit
    """
    judges = any(one.name == "judge" for one in fit.covariance.clusterings)
    ids = ["a query"] * fit.evidence.has_query_ids + ["a judge"] * judges
    words = "each judgment is taken as independent, as none shares a query with another"
    if ids:
        words = f"judgments that share {' or '.join(ids)} are kept together"
    if fit.evidence.has_judges and not judges:
        words += "; too few judges said most of them to stand for others"
    return words


def few_clusters_words(effective: float) -> str:
    """Say how many queries, or judges, of equal weight judgments are worth, where they are few.

    Examples
    --------
    >>> few_clusters_words(11.3), few_clusters_words(230.0)
    ('worth 11.3 queries or judges of equal weight: p allows for so few', '')
    """
    few = effective < 20  # as dcglearn.inference.covariance says
    return f"worth {effective:.1f} queries or judges of equal weight: p allows for so few" * few


EMPTY_RANKS = (
    "lists that were compared differ in their empty ranks: what an empty rank is worth is "
    "estimated as well"
)
"""What the model of the judgment does where lists are of different length."""
