"""The sentences of a study, from its numbers.

A reader who has not read a paper understands every word. Each sentence is built from the tests and
estimates of :class:`~dcglearn.study.facts.Study`; none is written by hand.
"""

from __future__ import annotations

import math

from dcglearn.base.numbers import decimals
from dcglearn.inference.conclusions import Support, upside_down
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.questions import Question
from dcglearn.inference.ratios import Estimated
from dcglearn.report.certainty_words import (
    FAMILY_NAMES,
    MEASURE_NAMES,
    grade_name,
    interval_words,
    one_in,
    p_words,
    share_words,
    short,
)
from dcglearn.study.facts import Study


def headline(study: Study) -> list[str]:
    """Return the answer, a few sentences.

    Parameters
    ----------
    study : Study

    Returns
    -------
    list of str
        What to do about gains, about discounts, and how much it matters.
    """
    sentences = []
    if study.in_use is not None:
        question = study.question("measure", study.in_use)
        if question is not None:
            sentences.append(_about_measure(study.in_use, question))
    if study.support == "supported":
        sentences += [*gain_sentences(study), discount_sentence(study), _recommendation(study)]
        sentences += [_gained(study), _not_a_sum(study)]
    else:
        sentences += [*_unsupported(study), _agreeing(study)]
    sentences += _one_judge(study)
    return [one for one in sentences if one]


def _not_a_sum(study: Study) -> str:
    """Say that no DCG describes these people, where documents do not add up."""
    question = study.question("additivity", "documents add up")
    if question is None or question.verdict != "rejected":
        return ""
    return (
        "But people do not judge these lists by a sum over documents (p "
        f"{_is(question.test.p)}): what a document adds depends on the others, as where one good "
        "document is enough. No DCG is exactly right then; this one is the nearest."
    )


def _one_judge(study: Study) -> list[str]:
    """Say where one of few judges changes the answer."""
    found = []
    answer = conclusion_words(study.support, study.recommended)
    for one in study.judges:
        if one.without is None:
            continue
        other = conclusion_words(one.without.support, one.without.recommended)
        if other != answer:
            found.append(
                f"Without judge {one.judge} ({one.judgments:,} judgments, about "
                f"{share_words(one.lapses[0])} of them at random) the answer is another: {other}."
            )
    return found


def conclusion_words(support: Support, fit: JudgmentFit) -> str:
    """Say in a few words what is concluded."""
    if support != "supported":
        return {"reversed": "better grades lose", "open": "nothing is shown"}.get(
            support, "no measure is recommended"
        )
    gains = FAMILY_NAMES.get(str(fit.model.gains), "estimated gains")
    rule = FAMILY_NAMES.get(str(fit.model.discounts), "estimated discounts")
    return f"{gains} with {rule}"


def _unsupported(study: Study) -> list[str]:
    """Return what to conclude where better grades do not win."""
    if study.support == "reversed":
        return [
            "Better grades lose: people prefer the lists with the worse grades. Check that the "
            "scale names the best grade first, and that the preferred list is the one meant.",
            "If so, no gains that grow with the grade fit these judgments, and no measure is "
            "recommended.",
        ]
    if study.support == "contradicted":
        return [
            f"These judgments do not show that grade {study.data.scale.labels[0]}, the best one, "
            "is worth more than the worst, so gains relative to it are not determined, and no "
            "measure is recommended.",
            *upside_down(study.with_free_gains),
            *gain_sentences(study),
            discount_sentence(study),
        ]
    if study.recommended.covariance.one_cluster:
        return [
            "All strict judgments are of one query, and say nothing about others: nothing is "
            "determined, and no measure is recommended.",
            "Nothing contradicts the measure that you use: keep it until more queries are judged.",
        ]
    return [
        "These judgments do not show that people prefer lists with better grades: they are too "
        "few, or answers depend too little on the grades. Gains and discounts are not determined, "
        "and no measure is recommended.",
        "Nothing contradicts the measure that you use: keep it until more is judged.",
    ]


def _agreeing(study: Study) -> str:
    """Return how often the measure in use agrees with people, and chance."""
    name = study.in_use or "exponential-log2"
    share = next(one.share for one in study.agreement if one.measure == name)
    called = MEASURE_NAMES.get(name, name)
    return f"{called} agrees with {share_words(share)} of the preferences; guessing with 50%."


def gain_sentences(study: Study) -> list[str]:
    """Return what to do about 2^g - 1 and linear gains.

    Parameters
    ----------
    study : Study
    """
    if len(study.data.scale) < 3:
        return ["There are two grades, so gains are not in question."]
    estimates = study.with_free_gains.gains()
    found = []
    for name in ("exponential", "linear"):
        question = study.question("gains", name)
        if question is None:
            continue
        index = _most_different(question, estimates)
        worth, excluded = "", False
        if index is not None:
            estimate = estimates[index]
            preset_gain = question.restricted.gains()[index].estimate
            excluded = not estimate.low <= preset_gain <= estimate.high
            grade = grade_name(study.data.scale, index)
            worth = (
                f"{grade} is worth {short(estimate.estimate)} of the best "
                f"({interval_words(estimate)}), {FAMILY_NAMES[name]} {_say(name)} "
                f"{short(preset_gain)}"
            )
        found.append(_what_to_do(name, question, worth, excluded))
    return found


def discount_sentence(study: Study) -> str:
    """Return what to do about the discount 1/log2(rank + 1).

    Parameters
    ----------
    study : Study
    """
    question = study.question("discounts", "log2")
    if question is None:
        return ""
    name = FAMILY_NAMES["log2"]
    others = [
        FAMILY_NAMES[one.hypothesis]
        for one in study.questions
        if one.about == "discounts" and one.hypothesis != "log2" and one.verdict == "rejected"
    ]
    but = (
        f"; {' and '.join(others)} {'do' if len(others) > 1 else 'does'} not fit" if others else ""
    )
    if question.verdict == "not rejected":
        return f"Keep the discount {name}: the judgments do not contradict it{but}."
    effect, p = _effect(question), _p(question)
    if question.verdict == "near the line":
        return f"The discount {name} is in doubt{p}: keep it until more is judged; {effect}{but}."
    if question.verdict == "rejected":
        return f"Stop using the discount {name}: it does not fit; {effect}{but}."
    return "These judgments cannot tell discounts apart."


def more_judgments(study: Study) -> list[str]:
    """Return how many more judgments would halve intervals, and decide what is undecided.

    Parameters
    ----------
    study : Study
    """
    evidence = study.recommended.likelihood.evidence
    n = len(evidence)
    spread = ", spread over queries like these," if evidence.has_query_ids else ""
    numbers = (*study.with_free_gains.gains(), *study.free.discounts())
    if not any(one.determined and not one.given for one in numbers):
        return [
            "No interval is bounded yet, so how many more judgments would be enough cannot be said."
        ]
    found = [f"About {_rounded(3 * n):,} more strict judgments{spread} would halve every interval."]
    for one in study.questions:
        if one.about not in ("gains", "discounts") or one.verdict not in (
            "near the line",
            "not rejected",
        ):
            continue
        excess = one.test.score - one.test.df
        if excess <= 0.5 * one.test.df:
            continue  # nothing suggests a difference
        needed = _DECIDING * math.sqrt(one.test.df) / excess * n
        if needed > n:
            wrong = (
                f"{FAMILY_NAMES[one.hypothesis]} {_are(one.hypothesis)} as wrong as it looks now"
            )
            found.append(f"If {wrong}, about {_rounded(needed - n):,} more would show it.")
    return found


_DECIDING = 13.3
"""The expected LR - d, for d = 1, at which a test at .005 rejects four times in five."""


def _rounded(number: float) -> int:
    digits = max(0, len(str(int(number))) - 2)
    return int(round(number, -digits))


def _about_measure(name: str, question: Question) -> str:
    effect, p = _effect(question), _p(question)
    return {
        "rejected": f"Stop using {name}: the judgments contradict it; {effect}.",
        "near the line": f"{name} is in doubt{p}: keep it until more is judged; {effect}.",
        "not rejected": f"Keep {name}: the judgments do not contradict it.",
        "not determined": f"The judgments cannot say whether {name} fits.",
    }[question.verdict]


def _p(question: Question) -> str:
    """Return the p-value alone, and corrected."""
    alone, both = _is(question.test.p), p_words(question.corrected)
    return f" (p {alone} alone, {both} corrected for two questions)"


def _is(p: float) -> str:
    """Return a p-value after a verb that is left out."""
    return f"= {p_words(p)}" if p >= 0.001 else p_words(p)


def _what_to_do(name: str, question: Question, worth: str, excluded: bool) -> str:
    called = FAMILY_NAMES[name]
    effect = _effect(question)
    if not worth and question.verdict == "not rejected":
        return (
            f"{called[0].upper()}{called[1:]} {_are(name)} not contradicted, but these judgments "
            "do not determine what grades are worth relative to the best."
        )
    worth = worth or f"the judgments contradict {_it(name)}"
    if question.verdict == "rejected":
        return f"Stop using {called}: {worth}; {effect}."
    if question.verdict == "near the line":
        start = f"{called[0].upper()}{called[1:]} {_are(name)} in doubt{_p(question)}"
        return f"{start}, and more judgments could decide: {worth}; {effect}."
    if question.verdict == "not rejected" and excluded:
        start = f"{called[0].upper()}{called[1:]} {_are(name)} not rejected{_p(question)}, but"
        return f"{start} in doubt: {worth}; {effect}."
    if question.verdict == "not rejected":
        return f"{called[0].upper()}{called[1:]} {_fit(name)}: {worth}."
    return f"These judgments cannot say whether {called} {_fit(name)}."


def _effect(question: Question) -> str:
    orders = "they order" if question.hypothesis == "linear" else "it orders"
    share = question.reversed_judged
    if not share:
        return f"{orders} all judged pairs as the estimate does"
    return f"{orders} {one_in(share)} judged pairs differently from the estimate"


def _it(name: str) -> str:
    return "them" if name == "linear" else "it"


def _are(name: str) -> str:
    return "are" if name == "linear" else "is"


def _say(name: str) -> str:
    return "say" if name == "linear" else "says"


def _fit(name: str) -> str:
    return "fit" if name == "linear" else "fits"


def _most_different(question: Question, estimates: tuple[Estimated, ...]) -> int | None:
    """Return the grade whose gain under the hypothesis is farthest outside its interval.

    None if no gain is determined.
    """
    given = [one.estimate for one in question.restricted.gains()]
    distances = [
        abs(value - one.estimate) / (one.high - one.low) if one.high > one.low else 0.0
        for value, one in zip(given, estimates, strict=True)
    ]
    known = [i for i, one in enumerate(estimates) if one.determined and not one.given]
    return max(known, key=lambda i: distances[i], default=None)


def _recommendation(study: Study) -> str:
    gains = ", ".join(
        f"{label} = {decimals(max(0.0, gain), 2)}"
        for label, gain in zip(study.data.scale.labels, study.recommended.dcg.gains, strict=True)
    )
    discounts = study.recommended.model.discounts
    rule = (
        f"the discount {FAMILY_NAMES['log2']}"
        if discounts == "log2"
        else "the discounts "
        + ", ".join(short(d) for d in study.recommended.dcg.discounts_for(study.data.n_ranks))
    )
    return f"Use the gains {gains} with {rule}."


def _gained(study: Study) -> str:
    """Return how much more often the recommended measure agrees with people than others."""
    shares = {one.measure: one.share for one in study.agreement}
    recommended = shares["recommended"]
    other = study.in_use or "exponential-log2"
    called = MEASURE_NAMES.get(other, other)
    words = f"It agrees with {share_words(recommended)} of the preferences, {called} with"
    gained = recommended - shares[other]
    small = "; which one is used changes little" if 0 <= gained < 0.01 else ""
    return f"{words} {share_words(shares[other])}{small}."
