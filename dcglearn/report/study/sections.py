"""A study as sections of paragraphs, tables and code, which every format renders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.report.judgments import findings
from dcglearn.report.questions import DOUBLED
from dcglearn.report.study.facts import Study
from dcglearn.report.study.words import measure_words, more_judgments
from dcglearn.report.tables import Table, shown_p
from dcglearn.report.words import (
    EMPTY_RANKS,
    estimate_words,
    interval_words,
    listed,
    one_in,
    p_phrase,
    share_words,
    short,
    statement,
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
            "says (see how well it predicts, below). Where two intervals overlap, the judgments do "
            "not say which number is larger.",
            "The same gains and discounts serve nDCG: normalising divides both lists of a query "
            "by the same number.",
        ],
        tables,
    )


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
    if study.link.p >= 0.05:
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
    clusters = study.conclusion.free.clusters
    said = [
        "Model: P = e/2 + (1 - e) logistic(<W, s(a) - s(b)> + side); W = c g', gains "
        f"{recommended.model.gains}, discounts {recommended.model.discounts} (recommended), both "
        "free (tables). Prior: W, side normal(0, 10), e Beta(1, 10). Intervals: Fieller, CR2 "
        f"variances{f' clustered by {listed(clusters)}' if clusters else ''}, Satterthwaite's "
        "degrees of freedom, or the profile where Fieller's has no bounds.",
        "Tests: scores at the restricted estimate, Hotelling's T, F; LR is the likelihood ratio "
        "beside it; p is as it comes, not doubled.",
        f"Link: score test of v |v|, gamma = {link.gamma:.3f}, t = {link.t:.2f} on {link.df:.0f}, "
        f"{p_phrase(link.p)}.",
    ]
    if study.held_out is not None:
        said.append(f"Held-out log loss {study.held_out.log_loss:.4f} nats per judgment.")
    columns = ("hypothesis", "LR", "T", "df", "df of clusters", "p")
    return Section("For engineers", said, [Table(columns, rows, digits=2)])
