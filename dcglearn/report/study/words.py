"""The words of a study: the headline, and sections of paragraphs, tables and code.

The headline is the decision with its one reason, what it changes, and how sure it is. A reader who
has not read a paper understands every word of it. Every format renders the same sections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted, decimals
from dcglearn.inference.fit_file import hypothesis_record
from dcglearn.inference.questions import Conclusion, upside_down
from dcglearn.report.judgments import findings
from dcglearn.report.questions import DOUBLED
from dcglearn.report.study.facts import LEARNED, Study
from dcglearn.report.tables import Table, shown_p
from dcglearn.report.words import (
    EMPTY_RANKS,
    FAMILY_NAMES,
    certainty_sentences,
    estimate_words,
    interval_words,
    judged_pairs,
    listed,
    measure_words,
    one_in,
    p_phrase,
    share_words,
    short,
    statement,
    verdict_sentences,
)

WORDS = Table(
    ("word", "meaning"),
    [
        ("grade", "how relevant a document is to a query, as assessors said"),
        ("gain", "what a document of a grade is worth, in units of the best grade"),
        ("discount", "how much a rank counts, in units of the first rank"),
        ("DCG", "the sum over ranks of discount times gain: the value of a list"),
        ("tie", "an answer that neither list is better"),
        ("agreement", "the share of judgments in which the measure prefers the same list"),
        ("interval", "from where to where the true number may be; it holds it 95 times in 100"),
    ],
)


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    code: dict[str, str] = field(default_factory=dict)


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


def sections(study: Study) -> list[Section]:
    """Return the sections of a study, after its headline."""
    found = [
        _measure(study),
        _matters(study),
        _tests(study),
        _judgments(study),
        _calibration(study),
        Section("How much more would help", [more_judgments(study)]),
        _tools(study),
        Section("Words", tables=[WORDS]),
        _engineers(study),
    ]
    return [one for one in found if one is not None]


def _measure(study: Study) -> Section:
    free = study.conclusion.free
    ranks = range(1, study.data.n_ranks + 1)
    tables = []
    for head, number, names, found, usual in zip(
        ("grade", "rank"),
        ("gain", "discount"),
        (study.data.scale.labels, ranks),
        (free.gains(), free.discounts()),
        study.usual,
        strict=True,
    ):
        rows = [
            (str(name), estimate_words(one), interval_words(one), *map(short, others))
            for name, one, *others in zip(names, found, *usual.values(), strict=True)
        ]
        tables.append(Table((head, number, "interval", *usual), rows))
    return Section(
        "Gains and discounts",
        [
            "Gains say what a document of each grade is worth, relative to the best grade; the "
            "worst grade is worth 0. Discounts say how much each rank counts, relative to the "
            "first.",
            "The interval holds the true number 95 times in 100, if people judge as the model "
            "says (see how well it predicts, below).",
            *_disorder(study),
            "The same gains and discounts serve nDCG: normalising divides both lists of a query "
            "by the same number.",
        ],
        tables,
    )


def _disorder(study: Study) -> list[str]:
    """Say that a lower rank with a higher discount is no finding, where intervals overlap."""
    rising = [
        str(rank)
        for rank, (upper, lower) in enumerate(pairwise(study.conclusion.free.discounts()), 2)
        if lower.estimate > upper.estimate and lower.low < upper.high
        if upper.determined and lower.determined
    ]
    if not rising:
        return []
    return [
        f"Rank {', '.join(rising)} seems to count more than the rank above it, but the intervals "
        "overlap: the judgments do not say so."
    ]


def _matters(study: Study) -> Section:
    proposed = study.proposed is not None
    rows = [
        (
            measure_words(one.measure),
            share_words(one.share),
            # one query has no variance between queries
            "" if math.isnan(one.low) else f"{share_words(one.low)} to {share_words(one.high)}",
            *(["" if one.differs is None else one_in(one.differs)] * proposed),
        )
        for one in study.agreement
    ]
    paragraphs = [
        "Agreement is the share of judgments in which a measure prefers the list that people "
        "prefer."
    ]
    if proposed:
        others = "queries" if study.conclusion.free.evidence.has_query_ids else "judgments"
        paragraphs.append(
            f"What was learned from these judgments predicts each of them from other {others}. The "
            "last column says how many judged pairs a measure orders otherwise than the one that "
            "is learned from all."
        )
    differs = ["differs from learned (judged pairs)"] * proposed
    columns = ("measure", "agrees", "95% interval", *differs)
    return Section("How much it matters", paragraphs, [Table(columns, rows)])


def _tests(study: Study) -> Section:
    rows = [
        (statement(one), one.verdict, shown_p(one.corrected) if one.test.df else None)
        for one in study.conclusion.questions
    ]
    return Section(
        "What the judgments contradict",
        [
            '"Rejected" means that judgments like these would hardly occur if the statement were '
            'true; "not rejected" does not prove it. "Near the line" means that more judgments '
            "could turn it either way.",
            f"Here {DOUBLED}. Other statements are about the model, and stand alone.",
        ],
        [Table(("statement", "verdict", "p"), rows)],
    )


def _judgments(study: Study) -> Section:
    found, evidence = study.inspection, study.conclusion.free.evidence
    summary = found.summary
    queries = f" of {counted(summary.queries, 'query', 'queries')}" if summary.queries else ""
    left_out = (
        (evidence.same_lists, "of two lists with the same grades"),
        (evidence.without_weight, "of weight 0"),
    )
    said = [
        f"{counted(summary.judgments, 'judgment')}{queries}, in lists of {summary.n_ranks}: "
        f"{counted(summary.strict, 'prefers', 'prefer')} a list, "
        f"{counted(summary.ties, 'is a tie', 'are ties')}",
        f"the estimates use {counted(len(evidence), 'preference')}",
        *(f"not used: {n:,} {what}" for n, what in left_out if n),
        *findings(found),
    ]
    if evidence.layout.empty:
        said.append(EMPTY_RANKS)
    if found.queries is None:
        said.append(
            "no query is named, so judgments count as independent; if some share a query, "
            "intervals are too narrow"
        )
    if found.judges is None:
        said.append("no judge is named, so judges cannot be compared")
    if summary.contradicted:
        said.append(
            "no measure can agree with more than "
            f"{share_words(summary.ceiling)}, because of opposite answers and identical lists"
        )
    said += _answering(study)
    return Section("About the judgments", [f"{one[0].upper()}{one[1:]}." for one in said])


def _answering(study: Study) -> list[str]:
    """Return what the model says of lapses, side and ties."""
    found, recommended = [], study.conclusion.recommended
    if study.conclusion.support == "open":
        found.append("how many answers are random cannot be said: none seem to depend on grades")
    elif "lapses" in recommended.likelihood.names:
        one = recommended.other("lapses")
        found.append(
            f"about {share_words(one.estimate)} of the answers look random "
            f"({share_words(one.low)} to {share_words(one.high)})"
        )
    side = study.question("side", "no side bias")
    if side is not None:
        verb = {"rejected": "changes", "near the line": "may change"}.get(side.verdict)
        shown = f"{verb} answers" if verb else "makes no difference that shows"
        found.append(f"the side on which a list is shown {shown}")
    return found


def _calibration(study: Study) -> Section | None:
    if study.held_out is None:
        return None
    names = ["largest", "", "middle", "", "smallest"]
    rows = [
        (name, one.judgments, share_words(one.expected), share_words(one.observed))
        for name, one in zip(names, study.held_out.groups, strict=False)
    ]
    unit = "queries" if study.conclusion.free.evidence.has_query_ids else "judgments"
    p = p_phrase(study.link.p)
    if math.isinf(study.link.df):
        said = (
            "These judgments cannot show whether answers depend on the difference in another way."
        )
    elif study.link.p >= 0.05:
        said = (
            "Nothing suggests that answers depend on the difference in another way than the model "
            f"says ({p})."
        )
    else:
        how = "small differences decide more, or large ones less,"
        if study.link.gamma > 0:
            how = "large differences decide more"
        said = (
            f"Answers do not depend on the difference quite as the model says ({p}): {how} than it "
            "expects. Intervals are then somewhat too narrow or off; trust the order of sizes, "
            "not the second digit."
        )
    return Section(
        "How well it predicts",
        [
            f"The {unit} were divided into {study.held_out.n_folds} parts, and each was predicted "
            "from the others. People should prefer the list with the higher value as often as "
            "expected, for large and for small differences.",
            said,
        ],
        [Table(("difference", "judgments", "expected", "observed"), rows)],
    )


def _tools(study: Study) -> Section:
    name = "the proposed measure"
    if study.change != "yes":
        name = f"the measure in use, {measure_words(study.in_use[0])}"
    said = [
        f"This is {name}, as nDCG, cut at the rank to which lists were judged: all these tools "
        "print it on one scale, from 0 to 1."
    ]
    taken = {tool: one for tool, one in study.tools.items() if isinstance(one, str)}
    said += [
        f"{tool} cannot take it: {one.problem}."
        for tool, one in study.tools.items()
        if isinstance(one, InputError)
    ]
    return Section("What to put into your tools", said, code=taken)


def _engineers(study: Study) -> Section:
    recommended, link = study.conclusion.recommended, study.link
    rows = [
        (
            statement(one),
            one.test.statistic,
            one.test.score,
            one.test.df,
            round(one.test.cluster_df) if one.test.df else None,
            shown_p(one.test.p) if one.test.df else None,
        )
        for one in study.conclusion.questions
    ]
    clusters, tested = study.conclusion.free.clusters, "these judgments cannot test it"
    if math.isfinite(link.df):
        numbers = f"gamma = {link.gamma:.3f}, t = {link.t:.2f} on {link.df:.0f}"
        tested = f"{numbers}, {p_phrase(link.p)}"
    said = [
        "Model: P = e/2 + (1 - e) logistic(<W, s(a) - s(b)> + side); W = c g', gains "
        f"{recommended.model.gains}, discounts {recommended.model.discounts} (recommended), both "
        "free (tables). Prior: W, side normal(0, 10), e Beta(1, 10). Intervals: Fieller, CR2 "
        f"variances{f' clustered by {listed(clusters)}' if clusters else ''}, Satterthwaite's "
        "degrees of freedom, or the profile where Fieller's has no bounds.",
        "Tests: scores at the restricted estimate, Hotelling's T, F; LR is the likelihood ratio "
        "beside it; p is as it comes, not doubled.",
        f"Link: score test of v |v|, {tested}.",
    ]
    if study.held_out is not None:
        said.append(f"Held-out log loss {study.held_out.log_loss:.4f} nats per judgment.")
    columns = ("hypothesis", "LR", "T", "df", "df of clusters", "p")
    return Section("For engineers", said, [Table(columns, rows, digits=2)])
