"""Facts as words: numbers, intervals, p-values, hypotheses, and the sentences made of them.

``fit``, ``show``, ``test`` and ``study`` take every word on certainty from here.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

from dcglearn.learning.record import CertaintyRecord, Estimated, HypothesisRecord
from dcglearn.measures.scale import Label
from dcglearn.report.tables import p_text

if TYPE_CHECKING:  # the words are needed where no model is
    from dcglearn.inference.questions import Question

FAMILY_NAMES = {
    "linear": "linear gains",
    "exponential": "2^g - 1",
    "log2": "1/log2(rank + 1)",
    "zipf": "1/rank",
    "constant": "1 at every rank",
}

MEASURE_NAMES = {
    "linear-log2": "g / log2(rank + 1)",
    "exponential-log2": "(2^g - 1) / log2(rank + 1)",
}

EMPTY_RANKS = (
    "lists that were compared differ in their empty ranks: what an empty rank is worth is "
    "estimated as well"
)
"""What the model of the judgment does where lists are of different length."""

_normal_quantile = NormalDist().inv_cdf

_MOST_NAMED = 5
"""The worth of more grades is in the table only."""

_VERDICTS = {
    "rejected": "These judgments contradict {}.",
    "near the line": "They leave {} in doubt: {} could decide.",
    "not rejected": "They do not contradict {}.",
    "not determined": "They cannot tell whether {} fit.",
}

_ABOUT_MODEL = {
    "positions": "a grade is worth the same at every rank",
    "additivity": "a list is worth the sum of its documents",
    "side": "the side does not matter",
    "lapses": "no answer is random",
}


def short(number: float) -> str:
    """Write a number as people say it: two digits, without the zero before the point."""
    text = f"{number:z.2f}"
    return text.replace("0.", ".", 1) if abs(number) < 0.995 else text


def one_in(share: float) -> str:
    """Write a share of pairs of lists as one in so many, or in per cent from a third on."""
    if share >= 1 / 3:
        return f"{100 * share:.0f}%"
    return f"1 in {round(1 / share):,}" if share > 0 else "none"


def judged_pairs(share: float) -> str:
    """Write a share of the judged pairs: one in so many, or per cent of a third or more."""
    of = " of" if share >= 1 / 3 else ""
    return f"{one_in(share)}{of} judged pairs" if share else "no judged pair"


def p_phrase(p: float) -> str:
    """Write a p-value as part of a sentence: ``p = .013``."""
    return f"p {'= ' * (p >= 0.001)}{p_text(p)}"


def interval_words(one: Estimated) -> str:
    """Write the interval of a number, or why there is none."""
    if one.given:
        return "by definition"
    if not one.determined:
        return "not determined"
    return f"{short(one.low)} to {short(one.high)}"


def estimate_words(one: Estimated) -> str:
    """Write an estimate: in brackets if it is not determined, a dash if it has no bound."""
    if not math.isfinite(one.estimate + one.high - one.low):
        return "-"
    return short(one.estimate) if one.determined else f"({short(one.estimate)})"


def listed(parts: Sequence[str]) -> str:
    """Join parts with commas and an "and".

    >>> listed(["one", "two", "three"])
    'one, two and three'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def measure_words(name: str) -> str:
    """Return what people call a measure."""
    return MEASURE_NAMES.get(name, name)


def extent_in_words(extent: str) -> str:
    """Return the parameters for which an order holds, as tables name them."""
    return "depends on the gains" if extent == "depends" else extent


def statement(one: Question) -> str:
    """Write a hypothesis as a statement."""
    family = FAMILY_NAMES.get(one.hypothesis, one.hypothesis)
    statements = {
        "measure": f"the measure is {measure_words(one.hypothesis)}",
        "gains": f"gains are {family.removesuffix(' gains')}",
        "discounts": f"discounts are {family}",
        **_ABOUT_MODEL,
    }
    return statements.get(one.about, one.hypothesis)


def kept_together(clusters: Sequence[str]) -> str:
    """Say which judgments are not taken as independent."""
    if not clusters:
        return "no judgment is known to share its query with another, so each is independent"
    return f"judgments that share {' or '.join(f'a {name}' for name in clusters)} are kept together"


def few_clusters_words(effective: float) -> str:
    """Say how many queries, or judges, of equal weight judgments are worth, where they are few."""
    few = effective < 20  # as dcglearn.inference.covariance says
    return f"worth {effective:.1f} queries or judges of equal weight: p allows for so few" * few


def certainty_sentences(
    labels: Sequence[Label], certainty: CertaintyRecord, more: str = "more judgments"
) -> list[str]:
    """Say what grades are worth, and which usual gains the judgments contradict.

    Of two grades, how much the second rank counts; `more` is what could decide.
    """
    interval = f"{certainty.level:.0%} interval"
    if len(labels) == 2:
        second = [
            f"; rank 2 counts {estimate_words(one)} of rank 1 ({interval} {interval_words(one)})"
            for one in certainty.discounts[1:2]
            if one.determined
        ]
        return [f"There are two grades, so gains are not in question{''.join(second)}."]
    names = [f"grade {label}" for label in labels]
    if len(labels) == 3:
        names = ["the best grade", "the middle grade", "the worst grade"]
    known, unknown, found = list[str](), list[str](), list[str]()
    for name, one in zip(names, certainty.gains, strict=True):
        worth = f"{estimate_words(one)} of the best ({interval} {interval_words(one)})"
        if not one.determined:
            unknown.append(name)
        elif not one.given:
            known.append(f"{name} is worth {worth}")
    if len(known) > _MOST_NAMED:
        found.append(f"What {len(known)} grades are worth is in the table.")
    elif known:
        worths = listed(known)
        found.append(f"{worths[0].upper()}{worths[1:]}.")
    if unknown:
        found.append(f"These judgments do not determine the worth of {listed(unknown)}.")
    found += verdict_sentences(certainty.hypotheses, certainty.gains, more)
    return found


def verdict_sentences(
    hypotheses: Iterable[HypothesisRecord],
    numbers: Sequence[Estimated] = (),
    more: str = "more judgments",
) -> list[str]:
    """Say which usual gains, or discounts, the judgments contradict, and how much that changes.

    One that is not rejected, with a gain outside the interval of its number, is in doubt; of
    several numbers, outside an interval that is as much wider as Bonferroni's correction makes it.
    """
    named = dict[str, list[str]]()
    for one in hypotheses:
        known = [
            (gain - number.estimate, number)
            for gain, number in zip(one.gains, numbers, strict=False)
            if number.determined and not number.given
        ]
        wider = _normal_quantile(0.025 / max(len(known), 1)) / _normal_quantile(0.025)
        outside = any(
            not number.low - number.estimate <= away / wider <= number.high - number.estimate
            for away, number in known
        )
        doubtful = outside and one.verdict == "not rejected"
        verdict = "near the line" if doubtful else one.verdict
        named.setdefault(verdict, []).append(_hypothesis(one, verdict))
    found = [
        words.format(listed(named[verdict]), more)
        for verdict, words in _VERDICTS.items()
        if verdict in named
    ]
    return [found[0].replace("They", "These judgments", 1), *found[1:]] if found else []


def _hypothesis(one: HypothesisRecord, verdict: str) -> str:
    details = [f"middle grade {short(one.gains[1])}"] if len(one.gains) == 3 else []
    if verdict in ("rejected", "near the line"):
        details.append(f"{judged_pairs(one.reversed_judged)} would be ordered differently")
    name = FAMILY_NAMES[one.hypothesis]
    name = name if one.gains else f"the discount {name}"
    return f"{name} ({', '.join(details)})" if details else name


def filled(text: str, first: str = "", other: str = "") -> str:
    """Break a paragraph into lines between words."""
    return textwrap.fill(
        text,
        96,
        initial_indent=first,
        subsequent_indent=other,
        break_long_words=False,
        break_on_hyphens=False,
    )


def bulleted(statements: Sequence[str]) -> str:
    """Return statements as an indented list."""
    return "\n".join(filled(statement, "  - ", "    ") for statement in statements)
