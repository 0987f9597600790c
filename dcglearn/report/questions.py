"""What judgments say to questions, and of groups of judgments: as text, and as JSON."""

from collections.abc import Sequence
from typing import Any

from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.questions import Question
from dcglearn.inference.segments import Segments
from dcglearn.learning.record import Estimated
from dcglearn.report.tables import Row, Table, page, shown_p
from dcglearn.report.words import (
    EMPTY_RANKS,
    estimate_words,
    few_clusters_words,
    interval_words,
    kept_together,
    one_in,
    statement,
)

DOUBLED = (
    "p of measures, gains and discounts is doubled, as at most one of the gains and one of the "
    "discounts is true"
)

_ALIKE = {"rejected": "differ", "near the line": "near the line", "not rejected": "alike"}


def questions_table(questions: Sequence[Question], *columns: str) -> Table:
    """Return some columns of what is known of questions."""
    rows = []
    for one in questions:
        test, tested = one.test, one.test.df > 0
        cells: Row = {
            "statement": statement(one),
            "verdict": one.verdict,
            "differs (judged pairs)": one_in(one.reversed_judged),
            "p": shown_p(one.corrected) if tested else None,
            "LR": test.statistic,
            "T": test.score,
            "df": test.df,
            "df of clusters": round(test.cluster_df) if tested else None,
            "raw p": shown_p(test.p) if tested else None,
        }
        rows.append([cells[name] for name in columns])
    return Table(columns, rows, digits=1)


def questions_text(questions: Sequence[Question]) -> str:
    """Describe tests, and of a single one the estimates."""
    first, *others = questions
    tables = [
        questions_table(
            questions, "statement", "verdict", "differs (judged pairs)", "p", "LR", "df"
        )
    ]
    if not others:
        tables.append(
            Table(
                ("number", "estimate", "95% interval", "tested"),
                _estimates(first.fit, first.restricted),
            )
        )
    clusters = kept_together(first.fit.clusters)
    if first.fit.evidence.has_judges and "judge" not in first.fit.clusters:
        clusters += "; too few judges said most of them to stand for others"
    notes = [
        "better lists lose, which no measure here allows"
        * bool(first.restricted.table[0, 0] < 0 and first.verdict == "rejected"),
        "LR: likelihood ratio",
        DOUBLED if any(one.corrected != one.test.p for one in questions) else "",
        clusters,
        few_clusters_words(first.test.effective),
    ]
    lines = ["; ".join(filter(None, notes)), *[EMPTY_RANKS] * first.fit.evidence.layout.empty]
    return page(*tables, "\n".join(lines))


def question_json(one: Question) -> dict[str, Any]:
    """Return a question with its answer as a dict for JSON."""
    return {
        "about": one.about,
        "hypothesis": one.hypothesis,
        "verdict": one.verdict,
        **vars(one.test),
        "corrected_p": one.corrected,
        "reversed_judged": one.reversed_judged,
    }


def segments_text(segments: Segments) -> str:
    """Describe a comparison of groups of judgments, and of two groups the estimates."""
    rows = [
        (
            one.name,
            one.judgments,
            one.other_judgments,
            _ALIKE[one.verdict],
            one_in(one.reversed_judged),
            shown_p(one.corrected),
        )
        for one in segments.compared
    ]
    parts: list[str | Table] = [
        Table(("group", "judgments", "others", "measures", "differ (judged pairs)", "p"), rows)
    ]
    if len(segments.compared) == 1:
        one = segments.compared[0]
        parts.append(
            Table(
                ("number", one.name, "95% interval", "others", "95% interval"),
                _estimates(one.fit, one.other, both=True),
            )
        )
    if few := few_clusters_words(min(one.effective for one in segments.compared)):
        parts.append(f"the judgments are {few}")
    if segments.too_small:
        parts.append(f"left out, too few judgments: {', '.join(segments.too_small)}")
    return page(*parts)


def segments_json(segments: Segments) -> dict[str, Any]:
    """Return a comparison of groups as a dict for JSON."""
    compared = [
        vars(one) | {"fit": _numbers(one.fit), "other": _numbers(one.other)}
        for one in segments.compared
    ]
    return {"compared": compared, "too_small": segments.too_small}


def _numbers(fit: JudgmentFit) -> tuple[Estimated, ...]:
    return fit.gains() + fit.discounts()


def _estimates(fit: JudgmentFit, other: JudgmentFit, both: bool = False) -> list[list[str]]:
    """Return rows of the numbers of two fits, with the interval of the first or of both."""
    return [
        [a.name, estimate_words(a), interval_words(a), estimate_words(b)]
        + [interval_words(b)] * both
        for a, b in zip(_numbers(fit), _numbers(other), strict=True)
        if not a.given
    ]
