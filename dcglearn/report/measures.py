"""What the commands print about measures."""

from __future__ import annotations

from dcglearn.base.numbers import counted
from dcglearn.learning.record import LearnedRecord
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.measure_files import MeasureFile
from dcglearn.measures.utility import LinearUtility
from dcglearn.report.learned_text import learned_text
from dcglearn.report.tables import Table


def measure_text(
    name: str, content: MeasureFile, picked: Measure | None = None, n_ranks: int | None = None
) -> str:
    """Describe a measure file, learned or not."""
    measure = content.measure if picked is None else picked
    lines = [f"{name}: {in_full(measure, content)}"]
    if content.dcg is not None and content.utility is not None:
        other = "utility" if content.use == "dcg" else "dcg"
        lines.append(f"commands use its {content.use}; it also holds a {other}")
    if isinstance(measure, LinearUtility):
        return "\n".join([*lines, "", weights_table(measure).text()])
    if LearnedRecord.read(content) is not None:
        return "\n".join([*lines, "", learned_text(content)])
    if content.dcg is not None:
        for table in _dcg_tables(content.dcg, n_ranks):
            lines += ["", table.text()]
    return "\n".join(lines)


def _dcg_tables(dcg: DCG, n_ranks: int | None) -> tuple[Table, Table]:
    labels = dcg.grades or range(dcg.n_grades)
    discounts = dcg.discounts_for(n_ranks or dcg.n_ranks or 10).tolist()
    gains = [(str(label), gain) for label, gain in zip(labels, dcg.gains, strict=True)]
    ranks = [(str(k), discount) for k, discount in enumerate(discounts, start=1)]
    return Table(("grade", "gain"), gains), Table(("rank", "discount"), ranks)


def in_full(measure: Measure, content: MeasureFile | None = None) -> str:
    """Name a measure in full; a learned one by where it comes from, as its numbers need notes."""
    record = None if content is None else LearnedRecord.read(content)
    if record is None:
        return str(measure)
    kind = "W" if isinstance(measure, LinearUtility) else "DCG"
    source = record.learned_from
    return (
        f"{kind} learned from {source.strict:,} strict of "
        f"{counted(source.judgments, 'judgment')} in "
        f"{source.file}"
    )


def weights_table(utility: LinearUtility) -> Table:
    """Return W as a table, one row per rank."""
    heads = [str(label) for label in utility.grades or range(utility.n_grades)]
    rows: list[tuple[str | float, ...]] = [
        (str(k + 1), *row) for k, row in enumerate(utility.weights)
    ]
    return Table(("rank", *heads), rows, "W, the worth of a grade at a rank")
