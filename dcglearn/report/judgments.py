"""What the commands print about judgments and comparisons: sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence

from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.judgments.inspection import Contents, count_contents
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.record import FEW_QUERIES, ChosenC, Identifiability
from dcglearn.learning.undetermined import undetermined_statements
from dcglearn.measures.scale import Label, Scale
from dcglearn.report.tables import Table
from dcglearn.report.wording import bulleted


def contents_text(name: str, contents: Contents, scale: str) -> str:
    """Describe a judgment file in a paragraph."""
    s = contents
    levels = ", ".join(f"{s.answers[a]:,} {a}" for a in ("tie", "good", "bad") if s.answers[a])
    with_levels = s.answers["good"] or s.answers["bad"]
    ties = counted(s.ties, "tie") + (f" ({levels})" if with_levels else "")
    by = counted(s.queries, "query", "queries") if s.queries else "no query ids"
    judges = f", {counted(s.judges, 'judge')}" if s.judges else ""
    lists = f"lists of {s.n_ranks}" + (
        f" ({s.shorter_lists:,} of {2 * s.judgments:,} shorter)" if s.shorter_lists else ""
    )
    return (
        f"{name}: {counted(s.judgments, 'judgment')}, {s.strict:,} strict ({s.answers['a']:,} a, "
        f"{s.answers['b']:,} b), {ties}; {by}{judges}; {lists}; {scale}"
    )


def scale_text(scale: Scale, declared: bool, documents: bool) -> str:
    """Describe what lists hold: grades and where their order comes from, or documents."""
    if documents:
        return f"rankings of the {len(scale)} documents {', '.join(map(str, scale.labels))}"
    return f"grades {scale}" + ("" if declared else " (those that occur; best first)")


def held_text(
    name: str, held: Preferences | PackedPairs, strict: int, declared: bool, documents: bool
) -> str:
    """Describe judgments that are held in memory, or that packed files hold."""
    if isinstance(held, PackedPairs):
        files = counted(len({part.path for part in held.row_groups}), "file")
        packed = f"{name}: {counted(len(held), 'packed judgment')}, {strict:,} strict, in {files}"
        return f"{packed}; lists of {held.n_ranks}; grades {held.scale}"
    words = scale_text(held.scale, declared, documents)
    with reporting("counting judgments"):
        return contents_text(name, count_contents(held), words)


def identifiability_text(
    known: Identifiability, labels: Sequence[Label], noun: str = "grade"
) -> str:
    """Describe what judgments determine, before any fit."""
    value = "gain" if noun == "grade" else "relevance"
    shares = (
        "data shares (1: the data alone; 0: the penalty w'w alone): at most "
        f"{known.offset_share:.2f} for a constant added to all discounts; "
        f"{known.discount_share.min():.2f} for the least determined discount; "
        f"{known.gain_share.min():.2f} for the least determined {value}"
    )
    statements = undetermined_statements(known, labels, noun)
    return "What these judgments determine, before any fit (C = 1):\n" + bulleted(
        [*statements, shares]
    )


def choice_table(choice: ChosenC) -> Table:
    """Return a table of the agreement of each C with held-out queries, or judgments."""
    best = max(choice.agreement)
    rows = [
        (f"{C:g}", share, best - share, error, "chosen" if choice.C == C else "")
        for C, share, error in zip(choice.grid, choice.agreement, choice.error, strict=True)
    ]
    held_out = "queries" if choice.by_query else "judgments"
    columns = ("C", f"agreement, held-out {held_out}", "behind the best", "standard error", "")
    rule = "the largest within one standard error of the best"
    if choice.queries < FEW_QUERIES:
        rule = f"the best, for there are fewer than {FEW_QUERIES} {held_out}"
    caption = f"C: {rule}, by repeated cross-validation"
    return Table(columns, rows, caption + (f"; {choice.remark}" if choice.remark else ""))
