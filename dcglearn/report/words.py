"""Results in words and tables, for people: what the commands print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from dcglearn.base.errors import InputError
from dcglearn.data.summary import Summary
from dcglearn.learning.factorise import is_order
from dcglearn.learning.identify import determined
from dcglearn.measures.files import MeasureFile
from dcglearn.measures.scale import Label
from dcglearn.report.tables import Table

if TYPE_CHECKING:  # scikit-learn, which these import, takes seconds to load
    from dcglearn.learning.choose import Choice
    from dcglearn.study.compare import Comparison

Status = Literal["fixed", "data", "ridge", "none"]

FIXED: Status = "fixed"

READING = {
    "worst": "the worst grade gains 0, the best 1; the first discount is 1",
    "absolute": "an empty rank is worth 0; the best grade gains 1, the first discount is 1",
    "worst order": "the worst grade gains 0, the best 1; discounts from 1 for the largest to 0 "
    "for the smallest: only ratios of their differences are determined",
    "absolute order": "an empty rank is worth 0 and the best grade gains 1; discounts from 1 for "
    "the largest to 0 for the smallest: only ratios of their differences are determined",
}
"""What each gauge fixes."""


def what_is_in(name: str, summary: Summary, scale: str, inferred: bool) -> str:
    """Say in a paragraph what a judgment file holds.

    Parameters
    ----------
    name : str
        The file.
    summary : Summary
    scale : str
        The scale in words.
    inferred : bool
        Whether it was taken from the file.
    """
    s = summary
    levels = ", ".join(f"{s.answers[a]:,} {a}" for a in ("tie", "good", "bad") if s.answers[a])
    ties = f"{s.ties:,} ties" + (f" ({levels})" if s.ties else "")
    by = f"{s.queries:,} queries" if s.queries else "no query ids"
    judges = f", {s.judges:,} judges" if s.judges else ""
    lists = f"lists of {s.n_ranks}" + (
        f" ({s.shorter_lists:,} of {2 * s.judgments:,} shorter)" if s.shorter_lists else ""
    )
    source = " (taken from the file; best first)" if inferred else ""
    return (
        f"{name}: {s.judgments:,} judgments, {s.strict:,} strict ({s.answers['a']:,} a, "
        f"{s.answers['b']:,} b), {ties}; {by}{judges}; {lists}; grades {scale}{source}"
    )


def inspection(summary: Summary) -> str:
    """Lay out everything that can be said of judgments without fitting anything."""
    s = summary
    low, high = s.a_share_interval
    lines = [
        f"side a wins {s.a_share:.3f} of the strict judgments (95% interval {low:.3f} to "
        f"{high:.3f}): "
        + ("the sides are even" if low <= 0.5 <= high else "one side is preferred as such"),
        f"strict judgments of identical lists: {s.identical:,}",
        f"pairs of lists judged strictly more than once: {s.repeated_pairs:,}; both ways: "
        f"{s.contradicted_pairs:,} (with {s.contradicted:,} judgments)",
        f"strict judgments of lists that were also judged a tie: {s.also_tied:,}",
        f"no measure of these grades agrees with more than {s.ceiling_identical:.4f} (identical "
        f"lists), or {s.ceiling:.4f} (contradictions too)",
    ]
    if s.without_query:
        lines.append(
            f"{s.without_query:,} judgments name no query: each counts as a query of its own"
        )
    return "\n".join(lines)


def grade_table(labels: Sequence[Label], counts: Sequence[int]) -> Table:
    """Return how often each grade occurs."""
    total = sum(counts) or 1
    rows = [(str(label), n, n / total) for label, n in zip(labels, counts, strict=True)]
    return Table(("grade", "documents", "share"), rows, digits=3)


def learned_text(content: MeasureFile) -> str:
    """Lay out a learned measure: parameters, certificate, agreement, what is not determined.

    Parameters
    ----------
    content : MeasureFile
        As :func:`dcglearn.learning.learned.learned_measure` makes it.
    """
    about = content.about
    gauge = about["factors"]["gauge"]
    documents = about["parameters"]["encoding"] == "documents"
    gains, discounts = parameter_tables(content)
    reading = READING[gauge]
    if documents:
        reading = reading.replace(
            "worst grade gains 0, the best 1", "least relevant document gets 0, the most relevant 1"
        )
    agreed = [(READERS[part], about["agreement"][part]) for part in READERS]
    lines = [
        _solution_line(about),
        "",
        gains.text(),
        "",
        discounts.text(),
        "",
        f"gauge: {reading}",
        "data share: how far the data, not the ridge w'w, decide (1: data alone). (x): more the "
        "ridge; -: nothing decides",
        *_moves(about["identifiability"]["move"]),
        f"rank 1: sigma_2 / sigma_1 = {about['factors']['second_ratio']:.3f}; the DCG holds "
        f"{about['factors']['first_share']:.1%} of W in this gauge",
        "",
        Table(("agreement with its own judgments", ""), agreed).text(),
        "",
        "what the judgments do not determine:",
        undetermined(about["identifiability"]["statements"]),
    ]
    return "\n".join(lines)


def _moves(move: float | None) -> list[str]:
    if move is None:
        return []
    return [f"if C doubled, no discount or gain would move by more than about {move:.3f}"]


READERS = {
    "utility": "W (the utility)",
    "rank_one": "rank-1 part of W",
    "dcg": "the DCG above",
}
"""Whose agreement is meant, by key of a learned file."""


def measure_text(name: str, content: MeasureFile, n_ranks: int | None = None) -> str:
    """Lay out a measure file, learned or not.

    Parameters
    ----------
    name : str
    content : MeasureFile
    n_ranks : int, optional
        How many discounts of a rule to list; its cutoff or 10 by default.
    """
    lines = [f"{name}: {content.measure}"]
    if content.dcg is not None and content.utility is not None:
        other = "utility" if content.use == "dcg" else "dcg"
        lines.append(f"commands use its {content.use}; it also holds a {other}")
    if is_learned(content):
        source = content.about["learned_from"]
        lines.append(
            f"learned from {source['strict']:,} strict of {source['judgments']:,} judgments in "
            f"{source['file']}"
        )
        return "\n".join([*lines, "", learned_text(content)])
    if content.dcg is not None:
        dcg = content.dcg
        width = n_ranks or dcg.n_ranks or 10
        labels = dcg.grades or range(dcg.n_grades)
        gains = [(str(label), gain) for label, gain in zip(labels, dcg.gains, strict=True)]
        discounts = [(str(k + 1), c) for k, c in enumerate(dcg.discounts_for(width).tolist())]
        lines += ["", Table(("grade", "gain"), gains).text()]
        lines += ["", Table(("rank", "discount"), discounts).text()]
    if content.utility is not None:
        utility = content.utility
        heads = [str(label) for label in utility.grades or range(utility.n_grades)]
        rows: list[tuple[str | float, ...]] = [
            (str(k + 1), *row) for k, row in enumerate(utility.weights)
        ]
        lines += ["", Table(("rank", *heads), rows, "W, the worth of a grade at a rank").text()]
    return "\n".join(lines)


def is_learned(content: MeasureFile) -> bool:
    """Whether a measure file tells how it was learned."""
    return content.dcg is not None and {"learned_from", "identifiability"} <= content.about.keys()


def choice_table(choice: Choice) -> Table:
    """Return the agreement of each C with held-out queries."""
    rows = [
        (f"{C:g}", share, "chosen" if choice.C == C else "")
        for C, share in zip(choice.grid, choice.agreement, strict=True)
    ]
    return Table(("C", "agreement, held-out queries", ""), rows)


def _solution_line(about: Mapping[str, Any]) -> str:
    how, solution, judged = about["parameters"], about["solution"], about["certificate"]
    polished = ", polished" if solution["polished"] else ""
    return (
        f"learned with C = {how['C']:g}, {how['margin']} margins ({solution['solver']}{polished}): "
        f"confirmed optimal, duality gap {judged['gap']:.1e}, |W - W*| <= {judged['distance']:.1e} "
        f"with |W| = {judged['size']:.3g}; {judged['active_pairs']:,} active pairs, "
        f"{judged['tied_grades']} tied grades"
    )


def parameter_tables(content: MeasureFile) -> tuple[Table, Table]:
    """Return gains by grade and discounts by rank, with what determines each.

    Parameters
    ----------
    content : MeasureFile
        A learned one.

    Returns
    -------
    gains, discounts : Table
        A number that the ridge decides more than the data stands in brackets; one that
        nothing determines is a dash.
    """
    gains, discounts = _values(content)
    found = content.about["identifiability"]
    status = parameter_status(content)
    kind = ("document", "relevance")
    if content.about["parameters"]["encoding"] == "grades":
        kind = ("grade", "gain")
    named = content.dcg.grades if content.dcg is not None else None
    labels: Sequence[Label] = named or range(len(gains))
    return (
        Table((*kind, "data share"), _rows(labels, gains, found["gain_share"], status[0])),
        Table(
            ("rank", "discount", "data share"),
            _rows(range(1, len(discounts) + 1), discounts, found["discount_share"], status[1]),
        ),
    )


def parameter_status(content: MeasureFile) -> tuple[list[Status], list[Status]]:
    """Say what each gain and each discount of a learned file comes from.

    Parameters
    ----------
    content : MeasureFile
        A learned one.

    Returns
    -------
    gains, discounts : lists of {"fixed", "data", "ridge", "none"}
        ``fixed``: by convention of the gauge.
    """
    gains, discounts = _values(content)
    found = content.about["identifiability"]
    still_ranks = [k - 1 for k in found["still_ranks"]]
    ends = [0]
    if is_order(found["gauge"]):
        ends = [discounts.index(max(discounts)), discounts.index(min(discounts))]
    if content.about["parameters"]["encoding"] == "documents":
        anchors = [gains.index(max(gains)), gains.index(min(gains))]
    else:
        shown = [grade for grade in range(len(gains)) if grade not in found["still_grades"]]
        anchors = [shown[0]] if found["gauge"].startswith("absolute") else [shown[0], shown[-1]]
    return (
        _status(gains, found["gain_share"], found["still_grades"], anchors),
        _status(discounts, found["discount_share"], still_ranks, ends),
    )


def _status(
    values: Sequence[float], shares: Sequence[float], still: Sequence[int], fixed: Sequence[int]
) -> list[Status]:
    return [
        FIXED
        if i in fixed and i not in still and abs(value) in (0.0, 1.0)
        else determined(share, i in still)
        for i, (value, share) in enumerate(zip(values, shares, strict=True))
    ]


def _rows(
    names: Sequence[Label],
    values: Sequence[float],
    shares: Sequence[float],
    status: Sequence[Status],
) -> list[tuple[str, str, str]]:
    shown = {"fixed": "{:.3f}", "data": "{:.3f}", "ridge": "({:.3f})", "none": "-"}
    return [
        (str(name), shown[kind].format(value), FIXED if kind == FIXED else f"{share:.2f}")
        for name, value, share, kind in zip(names, values, shares, status, strict=True)
    ]


def _values(content: MeasureFile) -> tuple[list[float], list[float]]:
    dcg = content.dcg
    if dcg is None or isinstance(dcg.discounts, str):
        raise InputError("is no learned measure", "give a file that a fit wrote")
    return list(dcg.gains), list(dcg.discounts)


def undetermined(statements: Sequence[str]) -> str:
    """List what the judgments do not determine."""
    return "\n".join(f"  - {statement}" for statement in statements)


def comparison_table(comparison: Comparison) -> Table:
    """Return the comparison as one table."""
    rows = [
        (
            row.name,
            row.agreement,
            f"{row.low:.4f} to {row.high:.4f}",
            row.ahead,
            "" if row.ahead_low is None else f"{row.ahead_low:+.4f} to {row.ahead_high:+.4f}",
            row.verdict,
            row.measure,
        )
        for row in comparison.rows
    ]
    columns = (
        "measure",
        "agreement",
        "95% interval",
        "learned ahead by",
        "95% interval of that",
        "verdict",
        "in full",
    )
    caption = (
        f"Agreement with {comparison.judgments:,} strict judgments of {comparison.queries:,} "
        f"queries; a tie of the measure counts 1/2. Learned: {comparison.n_folds}-fold "
        "cross-validation by query. Intervals: bootstrap over queries, paired, not corrected "
        "for the number of measures."
    )
    return Table(columns, rows, caption)
