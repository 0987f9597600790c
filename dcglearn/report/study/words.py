"""The headline of a study: the decision with its one reason, what it changes, how sure it is.

A reader who has not read a paper understands every word. Each sentence is built from the tests and
estimates of :class:`~dcglearn.report.study.facts.Study`; none is written by hand.
"""

from __future__ import annotations

from dcglearn.base.numbers import counted, decimals
from dcglearn.inference.conclusions import Conclusion, upside_down
from dcglearn.inference.fit_file import hypothesis_record
from dcglearn.report.certainty_words import (
    FAMILY_NAMES,
    MEASURE_NAMES,
    certainty_sentences,
    judged_pairs,
    p_phrase,
    share_words,
    short,
    verdict_sentences,
)
from dcglearn.report.study.facts import LEARNED, Study


def headline(study: Study) -> list[str]:
    """Return the answer, a few sentences: what to change, what that changes, how sure it is."""
    certainty, more = study.certainty, more_words(study)
    found = [_decision(study, more), _changes(study)]
    if study.conclusion.support in ("supported", "contradicted"):
        discounts = [one for one in study.conclusion.questions if one.about == "discounts"]
        found += [
            *upside_down(study.conclusion.free_gains),
            " ".join(certainty_sentences(study.data.scale.labels, certainty, more)),
            " ".join(verdict_sentences(map(hypothesis_record, discounts), more=more)),
            _not_a_sum(study),
        ]
    if study.few_raters:
        found.append(
            f"So few raters said most of this ({study.few_raters} in all) that it says little "
            "about how others would judge."
        )
    return [one for one in [*found, *_one_judge(study)] if one]


def more_words(study: Study) -> str:
    """Name what could decide: more raters, where few said most."""
    return "more raters" if study.few_raters else "more judgments"


def measure_words(name: str) -> str:
    """Return what people call a measure."""
    return MEASURE_NAMES.get(name, name)


def _decision(study: Study, more: str) -> str:
    """Say whether to change the measure in use, with the one reason."""
    name = measure_words(study.in_use[0])
    if study.conclusion.support != "supported":
        return f"Change {name}: not yet. {_why_nothing(study)}"
    one, differs = study.against, study.agreement_of(study.in_use[0]).differs
    if one.verdict == "not rejected":
        also = "" if study.change == "no" else f", nor any other usual measure: {more} could"
        return f"Change {name}: {study.change}. The judgments do not contradict it{also}."
    if not differs:
        return f"Change {name}: no. The measure that fits best orders all judged pairs as it does."
    change = f"Change {name} to {_proposal(study)}: {study.change}."
    about = {"gains": "its gains", "discounts": "its discount"}.get(one.about, "it")
    p = p_phrase(one.corrected)
    why = {
        "rejected": f"contradict {about} ({p})",
        "near the line": f"leave {about} in doubt ({p}; {more} could decide)",
    }.get(one.verdict, "cannot tell whether it fits")
    return f"{change} The judgments {why}, and the two order {judged_pairs(differs)} differently."


def _why_nothing(study: Study) -> str:
    """Say why no measure is proposed: better grades do not win."""
    best = study.data.scale.labels[0]
    if study.conclusion.support == "reversed":
        return (
            "Better grades lose: people prefer the lists with the worse grades. Check that the "
            "scale names the best grade first, and that the preferred list is the one meant; if "
            "so, no gains that grow with the grade fit these judgments."
        )
    if study.conclusion.support == "contradicted":
        return (
            f"These judgments do not show that grade {best}, the best one, is worth more than the "
            "worst, so gains relative to it are not determined."
        )
    if study.conclusion.recommended.covariance.one_cluster:
        return "All strict judgments are of one query, and say nothing about others."
    return (
        "These judgments do not show that people prefer lists with better grades: they are too "
        "few, or answers depend too little on the grades."
    )


def _proposal(study: Study) -> str:
    """Return the gains and discounts of the proposed measure."""
    fit = study.conclusion.recommended
    gains = ", ".join(
        f"{label} = {decimals(max(0.0, gain), 2)}"
        for label, gain in zip(study.data.scale.labels, fit.dcg.gains, strict=True)
    )
    if fit.model.discounts == "log2":
        return f"the gains {gains} with the discount {FAMILY_NAMES['log2']}"
    discounts = ", ".join(map(short, fit.dcg.discounts_for(study.data.n_ranks)))
    return f"the gains {gains} with the discounts {discounts}"


def _changes(study: Study) -> str:
    """Say what the change is good for, or how often the measure in use is right."""
    used, learned = study.agreement_of(study.in_use[0]), study.agreement[0]
    name, share = measure_words(used.measure), share_words(used.share)
    stays = study.change == "no" or study.against.verdict == "not rejected"
    if stays or learned.measure != LEARNED:
        return f"{name} agrees with {share} of the preferences; guessing with 50%."
    others = "queries" if study.conclusion.free.evidence.has_query_ids else "judgments"
    said = (
        f"The new one agrees with {share_words(learned.share)} of the preferences, each predicted "
        f"from other {others}; {name} with {share}."
    )
    if study.changed is None:
        return said
    changed, compared = study.changed
    return f"{said} Of {counted(compared, 'comparison')} of the runs, {changed:,} would change."


def _not_a_sum(study: Study) -> str:
    """Say that no DCG describes these people, where documents do not add up."""
    question = study.question("additivity", "documents add up")
    if question is None or question.verdict != "rejected":
        return ""
    return (
        f"But people do not judge these lists by a sum over documents ({p_phrase(question.test.p)})"
        ": what a document adds depends on the others, as where one good document is enough. No "
        "DCG is exactly right then."
    )


def _one_judge(study: Study) -> list[str]:
    """Say where one of few judges changes the answer."""
    answer = _concluded(study.conclusion)
    return [
        f"Without judge {one.judge} ({one.judgments:,} judgments, about "
        f"{share_words(one.lapses[0])} of them at random) the answer is another: {other}."
        for one in study.judges
        if one.without is not None and (other := _concluded(one.without)) != answer
    ]


def _concluded(conclusion: Conclusion) -> str:
    """Say in a few words what is concluded."""
    if conclusion.support != "supported":
        return {"reversed": "better grades lose", "open": "nothing is shown"}.get(
            conclusion.support, "no measure is recommended"
        )
    model = conclusion.recommended.model
    gains = FAMILY_NAMES.get(str(model.gains), "estimated gains")
    return f"{gains} with {FAMILY_NAMES.get(str(model.discounts), 'estimated discounts')}"


def more_judgments(study: Study) -> str:
    """Return how many more judgments would halve intervals."""
    evidence, certainty = study.conclusion.free.evidence, study.certainty
    if study.few_raters:
        return "More raters; more judgments by the same ones would say little about others."
    if not any(one.determined and not one.given for one in certainty.gains + certainty.discounts):
        return "No interval is bounded yet, so how many more judgments are needed is not known."
    n = 3 * len(evidence)
    spread = ", spread over queries like these," * evidence.has_query_ids
    rounded = round(n, -max(0, len(str(n)) - 2))
    return f"About {rounded:,} more strict judgments{spread} would halve every interval."
