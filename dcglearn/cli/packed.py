"""Commands on packed pairs: judgments that need not fit in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.progress import cumulative, reporting
from dcglearn.cli.options import (
    Judgments,
    LenientOption,
    QrelsOption,
    RanksOption,
    RunOption,
    ScaleOption,
    join_of,
    judgments_of,
    reading,
    say,
    tell_unjudged,
)

if TYPE_CHECKING:
    from dcglearn.measures.files import MeasureFile, MeasurePart
    from dcglearn.solver.solve import SolverName


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(pack)


def pack(
    prefs: Judgments,
    out: Annotated[str, typer.Argument(metavar="OUT", help="A .parquet file to write.")],
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    qrels: QrelsOption = None,
    run: RunOption = None,
    lenient: LenientOption = False,
) -> None:
    """Pack strict judgments, so that fit can read them part by part."""
    from dcglearn.base.files import check_writable, checked_suffix
    from dcglearn.data.judgment_files import read_preferences_in_batches, scan_judgments
    from dcglearn.data.packed_pairs import packed_writer
    from dcglearn.data.record_formats import IgnoredInput
    from dcglearn.measures.scale import Scale

    checked_suffix(out, [".parquet"])
    check_writable(out)
    if Path(out).exists() and Path(prefs).exists() and Path(out).samefile(prefs):
        raise InputError("would be written over itself", "name another file", out)
    named = None if scale is None else Scale.parse(scale)
    with reading(prefs, lenient) as (passed_over, advance):
        join = join_of(qrels, run, n_ranks, passed_over, named)
        known = scan_judgments(prefs, named, n_ranks, passed_over, advance, join)
    tell_unjudged(join)
    strict = known.judgments - known.ties
    if not strict:
        raise InputError("no strict preference", "give at least one answer a or b", prefs)
    with (
        reporting(f"packing {known.judgments:,} judgments") as advance,
        packed_writer(out, known.scale, known.ties) as write,
    ):
        for part in read_preferences_in_batches(
            prefs, known, IgnoredInput() if lenient else None, advance, document_grades=join
        ):
            if len(part.pairs):
                write(part.pairs, part.pair_weights if known.weighted else None)
    left = f"; {known.ties:,} without a preference are left out" if known.ties else ""
    say(f"wrote {out}: {strict:,} preferences{left}")


def fit_packed(
    path: str, C: float | None, margin: str, solver: str, use: MeasurePart, workers: str
) -> tuple[str, MeasureFile]:
    """Learn from packed pairs; return what they are, in words, and the measure."""
    from dcglearn.base.workers import open_workers
    from dcglearn.data.packed_pairs import PackedPairs
    from dcglearn.learning.fit import fit
    from dcglearn.measures.scale import Scale
    from dcglearn.report.learned import learned_measure_of_packed
    from dcglearn.solver.streamed import Streamed

    if solver not in ("auto", "newton"):
        raise InputError(
            f"--solver {solver} needs the judgments in memory", "leave it out: newton reads them"
        )
    if C is None:
        raise InputError("--C cv needs the judgments in memory", "choose C on a part of them", path)
    pairs = PackedPairs.of(path)
    with (
        open_workers(workers) as found,
        judgments_of(path),
        reporting(f"solving for {pairs.n_pairs:,} pairs, by pairs read") as advance,
    ):
        problem = Streamed.of(
            pairs, margin, C, workers=None if workers == "1" else found, advance=cumulative(advance)
        )
        asked = cast("SolverName", solver)
        name = Path(path).name
        content = learned_measure_of_packed(fit(problem, asked), problem, name, use, asked)
    files = len({part.path for part in pairs.row_groups})
    place = f"{path}: {pairs.n_pairs:,} packed preferences in {files:,} "
    words = "file" if files == 1 else "files"
    return f"{place}{words}; lists of {pairs.n_ranks}; grades {Scale(pairs.labels)}", content
