"""A study as sections of paragraphs, tables and code, which every format renders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.ratios import Estimated
from dcglearn.judgments.judges import JudgeTests
from dcglearn.naming.presets import preset
from dcglearn.report.certainty_words import (
    EMPTY_RANKS,
    MEASURE_NAMES,
    estimate_words,
    interval_words,
    one_in,
    p_words,
    share_words,
    short,
    statement,
)
from dcglearn.report.tables import Cell, Table
from dcglearn.study.facts import Study
from dcglearn.study.words import more_judgments


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it.

    Attributes
    ----------
    title : str
    paragraphs : sequence of str
    tables : sequence of Table
    code : mapping from caption to text
    specialists : bool
        Whether it uses the terms of statistics.
    """

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    code: dict[str, str] = field(default_factory=dict)
    specialists: bool = False


def sections(study: Study) -> list[Section]:
    """Return the sections of a study, after its headline.

    Parameters
    ----------
    study : Study
    """
    found = [
        _measure(study),
        _matters(study),
        _tests(study),
        _judgments(study),
        _calibration(study),
        Section("How much more would help", more_judgments(study)),
        _tools(study),
        _terms(),
        _specialists(study),
    ]
    return [one for one in found if one is not None]


def _measure(study: Study) -> Section:
    scale, n_ranks = study.data.scale, study.data.n_ranks
    linear = preset("linear-log2", scale, n_ranks)
    exponential = preset("exponential-log2", scale, n_ranks)
    zipf = preset("zipf", scale, n_ranks).discounts_for(n_ranks)
    log2 = linear.discounts_for(n_ranks)
    with_free_gains = study.with_free_gains.gains()
    supported = study.support == "supported"
    gains: list[list[Cell]] = [
        [str(label), *_estimated(one), _unit(linear.gains, i), _unit(exponential.gains, i)]
        for i, (label, one) in enumerate(zip(scale.labels, with_free_gains, strict=True))
    ]
    discounts: list[list[Cell]] = [
        [str(i + 1), *_estimated(one), short(log2[i] / log2[0]), short(zipf[i] / zipf[0])]
        for i, one in enumerate(study.free.discounts())
    ]
    recommended = study.recommended.model.discounts
    return Section(
        "The measure that these judgments support" if supported else "Gains and discounts",
        [
            "Gains say what a document of each grade is worth, relative to the best grade; the "
            "worst grade is worth 0. Discounts say how much each rank counts, relative to the "
            "first.",
            "The interval holds the true number 95 times in 100, if people judge as the model "
            "says (see how well it predicts, below). Gains are estimated with the discounts "
            f"{_DISCOUNT_WORDS[str(recommended)]}, discounts with any gains.",
            *_disorder(study),
            "The same gains and discounts serve nDCG: normalising divides both lists of a query "
            "by the same number.",
        ],
        [
            Table(("grade", "gain", "interval", "linear", "2^g - 1"), gains),
            Table(("rank", "discount", "interval", "1/log2(rank + 1)", "1/rank"), discounts),
        ],
    )


_DISCOUNT_WORDS = {"log2": "1/log2(rank + 1)", "decreasing": "that are recommended"}


def _disorder(study: Study) -> list[str]:
    """Say that a lower rank with a higher discount is no finding, where intervals overlap."""
    found = study.free.discounts()
    rising = [
        i + 2
        for i, (upper, lower) in enumerate(pairwise(found))
        if lower.estimate > upper.estimate and lower.low < upper.high
        if upper.determined and lower.determined
    ]
    if not rising:
        return []
    ranks = ", ".join(map(str, rising))
    return [
        f"Rank {ranks} seems to count more than the rank above it, but the intervals overlap: the "
        "judgments do not say so."
    ]


def _matters(study: Study) -> Section:
    names = {"recommended": "the recommended measure"} | MEASURE_NAMES
    reversals = {one.hypothesis: one for one in study.questions if one.about == "measure"}
    rows: list[list[Cell]] = []
    for one in study.agreement:
        question = reversals.get(one.measure)
        rows.append(
            [
                names.get(one.measure, one.measure),
                share_words(one.share),
                # one query has no variance between queries
                "" if math.isnan(one.low) else f"{share_words(one.low)} to {share_words(one.high)}",
                "" if question is None else one_in(question.reversed_judged),
                "" if question is None else share_words(question.reversed_all),
            ]
        )
    best, usual = study.agreement[0], study.agreement[1:]
    close = [one for one in usual if abs(one.share - best.share) < 0.01]
    paragraphs = [
        "Agreement is the share of judgments in which a measure prefers the list that people "
        "prefer. The last columns compare each measure with the estimate: how often the two "
        "disagree about the pairs that were judged, and about all pairs of these lists.",
    ]
    if study.support == "open":
        paragraphs.append("The estimate is not determined: measures that differ may both be right.")
    if close and study.support == "supported":
        paragraphs.append(
            f"{len(close)} of {len(usual)} usual measures agree with people to within one "
            "percentage point of the recommended one: a measure may be wrong in its numbers and "
            "still seldom change a verdict."
        )
    columns = ("measure", "agrees", "95% interval", "differs (judged pairs)", "differs (all pairs)")
    return Section("How much it matters", paragraphs, [Table(columns, rows)])


def _tests(study: Study) -> Section:
    rows: list[list[Cell]] = [
        [
            statement(one),
            one.verdict,
            one_in(one.reversed_judged),
            p_words(one.corrected) if one.test.df else "",
        ]
        for one in study.questions
    ]
    return Section(
        "What the judgments contradict",
        [
            '"Rejected" means that judgments like these would hardly occur if the statement were '
            'true; "not rejected" does not prove it. "Near the line" means that more judgments '
            "could turn it either way.",
            "p is doubled for measures, gains and discounts: at most one of the gains and one of "
            "the discounts is true. Other statements are about the model, and stand alone.",
        ],
        [Table(("statement", "verdict", "differs (judged pairs)", "p"), rows)],
    )


def _judgments(study: Study) -> Section:
    found = study.inspection
    summary = found.summary
    paragraphs = [
        f"{counted(summary.judgments, 'judgment')} of lists of {summary.n_ranks}: "
        f"{counted(summary.strict, 'prefers', 'prefer')} a list, "
        f"{counted(summary.ties, 'is a tie', 'are ties')}. The estimates use the preferences "
        "between lists of different grades."
    ]
    evidence = study.recommended.likelihood.evidence
    left_out = [
        f"{count:,} {what}"
        for count, what in (
            (evidence.same_lists, "of two lists with the same grades"),
            (evidence.without_weight, "of weight 0"),
        )
        if count
    ]
    if left_out:
        paragraphs.append(f"Not used: {' and '.join(left_out)}.")
    if evidence.layout.empty:
        paragraphs.append(f"{EMPTY_RANKS[0].upper()}{EMPTY_RANKS[1:]}.")
    if found.queries is not None:
        largest = found.queries.largest
        preferring, used = found.queries.queries, _used_queries(evidence)
        effective = counted(round(found.queries.effective), "query", "queries")
        fewer = f", {preferring:,} of them preferences, {used:,} such as the estimates use"
        paragraphs.append(
            f"{counted(summary.queries, 'query holds', 'queries hold')} judgments"
            f"{'' if summary.queries == used else fewer}. The preferences are worth as much as "
            f"those of {effective} judged evenly; the largest query "
            f"holds {largest.judgments:,} ({share_words(largest.share)})."
        )
    else:
        paragraphs.append(
            "No query is named, so judgments count as independent; if some share a query, "
            "intervals are too narrow."
        )
    if found.judges is not None:
        paragraphs.append(
            f"{counted(found.judges.tested, 'judge was', 'judges were')} tested: "
            f"{_outstanding(found.judges)}."
        )
        if study.judges:
            judges = counted(evidence.n_judges, "judge")
            paragraphs.append(
                f"What is concluded here is about these {judges}; where so few said most, they "
                "say little about how others would judge."
            )
    else:
        paragraphs.append("No judge is named, so judges cannot be compared.")
    if summary.contradicted:
        paragraphs.append(
            f"{counted(summary.contradicted, 'judgment was', 'judgments were')} contradicted by "
            "others of the same lists; no measure can agree with more than "
            f"{share_words(summary.ceiling)}."
        )
    paragraphs += _answering(study)
    return Section("About the judgments", paragraphs)


_KINDS = (
    ("one side", "nearly always one side"),
    ("chance", "nearly at random"),
    ("reversed", "as if answers were swapped"),
)


def _outstanding(judges: JudgeTests) -> str:
    """Name the judges who stand out, by how."""
    found = []
    for kind, words in _KINDS:
        names = [
            one.judge
            for one in judges.outstanding
            if (one.one_sided if kind == "one side" else one.random == kind)
        ]
        if names:
            more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            verb = "answers" if len(names) == 1 else "answer"
            found.append(f"{', '.join(names[:5])}{more} {verb} {words}")
    return "; ".join(found) or "none answers one side, nearly at random, or as if swapped"


def _used_queries(evidence: Evidence) -> int:
    """Return how many queries hold judgments that a model uses."""
    return len(np.unique(evidence.judged.queries[evidence.judged.queries >= 0]))


def _answering(study: Study) -> list[str]:
    """Return what the model says of lapses, side and ties."""
    found = []
    likelihood = study.recommended.likelihood
    if study.support == "open":
        found.append("How many answers are random cannot be said: none seem to depend on grades.")
    elif "lapses" in likelihood.names:
        one = study.recommended.other("lapses")
        found.append(
            f"About {share_words(one.estimate)} of the answers look random "
            f"({share_words(one.low)} to {share_words(one.high)})."
        )
    side = study.question("side", "no side bias")
    if side is not None:
        found.append(
            {
                "rejected": "The side on which a list is shown changes answers.",
                "near the line": "The side on which a list is shown may change answers.",
            }.get(side.verdict, "The side on which a list is shown makes no difference that shows.")
        )
    if study.ties is not None:
        gains = [
            f"grade {label} is worth {short(one.estimate)} ({interval_words(one)})"
            for label, one in zip(study.data.scale.labels, study.ties.gains(), strict=True)
            if not one.given
        ]
        if gains:
            found.append(
                f"With ties as evidence as well, {', '.join(gains)} of the best grade. This "
                "assumes that ties depend on the difference in the same way as preferences."
            )
    return found


def _calibration(study: Study) -> Section | None:
    if study.held_out is None:
        return None
    rows: list[list[Cell]] = [
        [
            ("largest", "", "middle", "", "smallest")[i] if len(study.held_out.groups) == 5 else "",
            one.judgments,
            share_words(one.expected),
            share_words(one.observed),
        ]
        for i, one in enumerate(study.held_out.groups)
    ]
    words = {
        True: "Answers do not depend on the difference quite as the model says "
        f"(p = {p_words(study.link.p)}): "
        + (
            "small differences decide more, or large ones less, than it expects."
            if study.link.gamma < 0
            else "large differences decide more than it expects."
        )
        + " Intervals are then somewhat too narrow or off; trust the order of sizes, not the "
        "second digit.",
        False: "Nothing suggests that answers depend on the difference in another way than the "
        f"model says (p = {p_words(study.link.p)}).",
    }
    unit = "query" if study.recommended.likelihood.evidence.has_query_ids else "judgment"
    return Section(
        "How well it predicts",
        [
            f"Each {unit} was predicted from the others. People should prefer the list with the "
            "higher value as often as expected, for large and for small differences.",
            words[study.link.p < 0.05],
        ],
        [Table(("difference", "judgments", "expected", "observed"), rows)],
    )


def _tools(study: Study) -> Section:
    if study.support != "supported":
        return Section("What to put into your tools", ["Nothing new: no measure is recommended."])
    return Section(
        "What to put into your tools",
        []
        if study.tools
        else [
            "No tool can express discounts like these; write the measure to a "
            "file with dcglearn fit, and evaluate with dcglearn evaluate."
        ],
        code=dict(study.tools),
    )


def _terms() -> Section:
    rows: list[list[Cell]] = [
        ["grade", "how relevant a document is to a query, as assessors said"],
        ["gain", "what a document of a grade is worth, in units of the best grade"],
        ["discount", "how much a rank counts, in units of the first rank"],
        ["DCG", "the sum over ranks of discount times gain: the value of a list"],
        ["tie", "an answer that neither list is better"],
        ["agreement", "the share of judgments in which the measure prefers the same list"],
        ["interval", "from where to where the true number may be; it holds it 95 times in 100"],
    ]
    return Section("Words", tables=[Table(("word", "meaning"), rows)])


def _specialists(study: Study) -> Section:
    model = study.recommended.model
    rows: list[list[Cell]] = [
        [
            statement(one),
            one.test.statistic,
            one.test.score,
            one.test.df,
            one.test.cluster_df if one.test.df else None,
            one.test.p,
            one.corrected,
            one.reversed_all,
        ]
        for one in study.questions
    ]
    evidence = study.recommended.likelihood.evidence
    ids = ["query"] * evidence.has_query_ids + ["judge"] * evidence.has_many_judges
    clustered = f" clustered by {' and '.join(ids)}" if ids else ""
    log_loss = (
        ""
        if study.held_out is None
        else f" Held-out log loss {study.held_out.log_loss:.4f} nats per judgment."
    )
    return Section(
        "For specialists",
        [
            f"Model: P = e/2 + (1 - e) logistic(<W, s(a) - s(b)> + side); W = c g', gains "
            f"{model.gains}, discounts {model.discounts} (recommended), both free (tables). Prior: "
            f"W, side normal(0, 10), e Beta(1, 10). Intervals: Fieller, CR2 variances{clustered}"
            ", Satterthwaite's degrees of freedom, or the profile where Fieller's has no bounds. "
            "Tests: scores at the restricted estimate, Hotelling's T, F; LR is beside "
            f"it.{log_loss}",
            f"Link: score test of v |v|, gamma = {study.link.gamma:.3f}, t = {study.link.t:.2f} on "
            f"{study.link.df:.0f}.",
        ],
        [
            Table(
                ("hypothesis", "LR", "T", "df", "df of clusters", "p", "corrected", "reversed"),
                rows,
            )
        ],
        specialists=True,
    )


def _estimated(one: Estimated) -> tuple[str, str]:
    value = estimate_words(one)
    value = value if one.determined or value == "-" else f"({value})"
    return value, "by definition" if one.given else interval_words(one)


def _unit(gains: Sequence[float], i: int) -> str:
    return short((gains[i] - gains[-1]) / (gains[0] - gains[-1]))
