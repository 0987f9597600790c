"""Commands on packed pairs: judgments that need not fit in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import cumulative, reporting
from dcglearn.terminal.choices import MarginChoice, SolverChoice, UseChoice
from dcglearn.terminal.inputs import naming
from dcglearn.terminal.judgment_options import (
    JudgmentOptions,
    reads_judgments,
)
from dcglearn.terminal.options import JudgmentFilesArgument
from dcglearn.terminal.output import print_note, print_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dcglearn.inference.certainty import Certainty
    from dcglearn.inference.usual import LearnedDCG
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.learning.record import DrawsRecord
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.measure_files import MeasureFile


@reads_judgments(without=["documents", "drop_judge"])
def pack(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions,
    out: Annotated[str, typer.Argument(metavar="OUT", help="The .parquet file to write.")],
) -> None:
    """Pack judgments into a file that is read in parts."""
    from dcglearn.base.files import check_writable, checked_suffix

    checked_suffix(out, [".parquet"])
    check_writable(out)
    _check_another(out, files)
    packed = judgments.open_packed(files)
    if packed is not None:
        found = _pack(Path(out), packed.scale, packed.n_pairs, packed.batches())
    else:
        table = judgments.gather(files)
        found = _pack(Path(out), table.scale, len(table), table.batches())
    done, ties = found
    left = f", {ties:,} of them without a preference" if ties else ""
    print_text(f"wrote {out}: {counted(done, 'judgment')}{left}")


def _check_another(out: str, files: list[str]) -> None:
    """Refuse to write over what is read, or what may have been meant to be read."""
    from dcglearn.judgments.packed import is_packed

    if not Path(out).exists():
        return
    if any(Path(one).exists() and Path(out).samefile(one) for one in files):
        raise InputError("is the file of the judgments", "name another file to write", out)
    if len(files) > 1 and not is_packed(out):
        remedy = "name the file to write last; one that is not there yet, or of packed pairs"
        raise InputError("is there, and holds no packed pairs", remedy, out)


def _pack(path: Path, scale: Scale, n: int, parts: Iterator[Preferences]) -> tuple[int, int]:
    """Write judgments to a packed file; return their number, and that of ties."""
    from dcglearn.judgments.packed import packed_writer

    done = ties = 0
    with (
        reporting(f"packing {counted(n, 'judgment')}") as advance,
        packed_writer(path, scale) as write,
    ):
        for part in parts:
            write(part)
            done, ties = done + len(part), ties + int((~part.strict).sum())
            advance(done, n)
    return done, ties


class Draws(NamedTuple):
    """How many measures are drawn around the learned one, and the seed."""

    n: int
    seed: int


def draws_of(
    judgments: Preferences | PackedPairs, prior: str, certainty: Certainty, draws: Draws
) -> DrawsRecord | None:
    """Draw measures around the one learned from judgments that count as their clusters say."""
    import numpy as np

    from dcglearn.report.learned import draws_record

    if not draws.n:
        return None
    effect = 1.0 if certainty.fit is None else certainty.fit.covariance.design_effect
    learned = learned_from(prior, judgments, effect)
    if learned is None:
        raise InputError("--draws without a prior", "draw around a measure: leave --prior out")
    return draws_record(learned, effect, draws.n, np.random.default_rng(draws.seed))


def learned_from(
    prior: str, judgments: Preferences | PackedPairs, design_effect: float = 1.0
) -> LearnedDCG | None:
    """Learn from the usual measures, or from one measure; None without a prior."""
    from dcglearn.inference.usual import learn_dcg, why_no_prior
    from dcglearn.measures.dcg import DCG
    from dcglearn.naming.names import measure_for

    if prior == "none":
        return None
    reason = why_no_prior(judgments.scale, judgments.n_ranks)
    if reason and prior == "usual":
        print_note(f"learned without a prior: {reason}")
        return None
    start: str | DCG = prior
    if prior != "usual":
        with naming("--prior"):
            measure = measure_for(prior, judgments.scale, judgments.n_ranks).measure
            if not isinstance(measure, DCG):
                raise InputError(f"{prior} is not a DCG", "name a preset, a DCG, usual or none")
            start = measure
    with reporting("learning from usual measures"):
        learned = learn_dcg(judgments, start, design_effect)
    return learned if prior == "usual" else replace(learned, prior=prior, centres={prior: 1.0})


def fit_packed(
    pairs: PackedPairs,
    path: str,
    C: float,
    margin: MarginChoice,
    solver: SolverChoice,
    use: UseChoice,
    workers: str,
    prior: str,
    draws: Draws,
) -> tuple[str, MeasureFile]:
    """Learn from packed pairs; return a line that describes them, and the measure."""
    from dcglearn.base.workers import open_workers
    from dcglearn.inference.certainty import certainty_of
    from dcglearn.learning.fit import fit
    from dcglearn.learning.problem import Problem
    from dcglearn.learning.record import JudgmentsRecord
    from dcglearn.report.learned import learned_measure_of

    if solver not in ("auto", "newton"):
        raise InputError(
            f"--solver {solver} does not apply to packed pairs",
            "leave it out: newton reads them",
            path,
        )
    refused: list[str] = []
    solving = f"solving for {counted(pairs.n_pairs, 'pair')} (pairs read)"
    with open_workers(workers, refused.append) as found, naming(path):
        with reporting(solving) as advance:
            several = None if workers == "1" else found
            problem = Problem.packed(pairs, margin, C, several, cumulative(advance))
            learned = fit(problem, solver)
        with reporting("estimating intervals"):
            certainty = certainty_of(pairs)
        usual = learned_from(prior, pairs)
        with reporting("counting agreements"):
            file = JudgmentsRecord(Path(path).name, pairs.n_pairs, problem.n_pairs)
            labels = pairs.scale.labels
            drawn = draws_of(pairs, prior, certainty, draws)
            content = learned_measure_of(learned, labels, file, use, None, certainty, usual, drawn)
    for words in refused:  # not while the line of progress is redrawn
        print_note(f"{path}: {words}")
    files = counted(len({part.path for part in pairs.row_groups}), "file")
    held = f"{path}: {counted(problem.n_pairs, 'packed preference')} in {files}"
    return f"{held}; lists of {pairs.n_ranks}; grades {pairs.scale}", content
