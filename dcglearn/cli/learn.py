"""The command that learns from judgments: fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.base.numbers import counted
from dcglearn.base.process import return_free_memory
from dcglearn.base.progress import reporting
from dcglearn.terminal.choices import EncodingChoice, SolverChoice, UseChoice
from dcglearn.terminal.inputs import (
    naming,
    parse_C,
)
from dcglearn.terminal.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.terminal.options import (
    MAX_COUNT,
    COption,
    DiscountsOption,
    GainsOption,
    JsonOption,
    JudgmentFilesArgument,
    MarginOption,
    PriorOption,
    SeedOption,
    SolverOption,
    UseOption,
)
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    import numpy as np

    from dcglearn.base.types import Integers
    from dcglearn.inference.certainty import Certainty
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.learning.problem import Problem
    from dcglearn.learning.record import ChosenC
    from dcglearn.naming.measure_files import MeasureFile

_RESAMPLING_BYTES = 800
"""Memory per judgment in which C is chosen and queries are resampled."""


@reads_judgments()
def fit(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions = AS_USUAL,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    prior: PriorOption = "usual",
    gains: GainsOption = None,
    discounts: DiscountsOption = None,
    solver: SolverOption = "auto",
    use: UseOption = "dcg",
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the measure to a .json file."),
    ] = None,
    intervals: Annotated[
        int,
        typer.Option(
            "--intervals",
            min=0,
            max=MAX_COUNT,
            metavar="N",
            help="Add how far gains and discounts move with other queries: what 95% of N fits to "
            "resampled queries lie between.",
        ),
    ] = 0,
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            min=0,
            max=100_000,
            metavar="N",
            help="Add N measures as probable as the judgments make them: what evaluate "
            "--supported needs (1,000 are plenty).",
        ),
    ] = 0,
    seed: SeedOption = 0,
    workers: Annotated[
        str,
        typer.Option(
            "--workers",
            metavar="N|tcp://HOST:PORT",
            help="Processes that read packed pairs (1: threads of this one), or the address of a "
            "Dask scheduler.",
        ),
    ] = "1",
    json: JsonOption = False,
) -> None:
    """Learn gains and discounts from judgments or packed pairs."""
    import numpy as np

    from dcglearn.cli.packed import Draws, draws_of, fit_packed, learned_from
    from dcglearn.judgments.inspection import count_contents
    from dcglearn.learning.fit import Fit
    from dcglearn.learning.parameters import Parameters
    from dcglearn.learning.record import JudgmentsRecord
    from dcglearn.learning.solve import solve
    from dcglearn.report.judgments import contents_text, scale_text
    from dcglearn.report.learned import learned_measure_of

    prefs = name_files(files)
    value = parse_C(C)
    if gains is not None or discounts is not None:
        option = "--gains" if gains is not None else "--discounts"
        raise InputError(
            f"{option}: fit learns gains and discounts without formulas",
            "leave it out; dcglearn test asks whether a formula fits, and JudgmentModel in Python "
            "estimates gains and discounts that follow one",
        )
    if draws and judgments.documents:
        raise InputError(
            "--draws with --documents", "leave it out: documents have no usual measure"
        )
    if out is not None:
        checked_suffix(out, [".json"])
        check_writable(out)
    packed = judgments.open_packed(files)
    if packed is not None:
        if isinstance(value, float) and not intervals:
            about, content = fit_packed(
                packed, prefs, value, margin, solver, use, workers, prior, Draws(draws, seed)
            )
            _give(about, content, out, json, use)
            return
        if workers != "1":
            raise InputError("--workers with --C cv or --intervals", "leave it out", prefs)
        with reporting(f"reading {prefs}") as advance:
            data = packed.preferences(strict=True, bytes_each=_RESAMPLING_BYTES, advance=advance)
    elif workers != "1":
        raise InputError("--workers applies to packed pairs only", "run dcglearn pack first", prefs)
    else:
        data = judgments.load(files)
    return_free_memory()  # of reading
    with naming(prefs):
        with reporting("counting judgments"):
            data.check_strict()
            contents = count_contents(data)
        return_free_memory()
        encoding: EncodingChoice = "documents" if judgments.documents else "grades"
        parameters = Parameters(
            encoding=encoding, margin=margin, C=value, solver=solver, n_grades=data.n_grades
        )
        words = scale_text(data.scale, judgments.scale is not None, judgments.documents)
        about = contents_text(prefs, contents, words)
        certainty = _certainty(data, judgments.documents)
        usual = None if judgments.documents else learned_from(prior, data)
        drawn = draws_of(data, prior, certainty, Draws(draws, seed))
        groups, sampled = data.pair_groups if value == "cv" else None, data if intervals else None
        pairs, weights, labels, n = data.pairs, data.pair_weights, data.scale.labels, len(data)
        del data  # most of the memory
        return_free_memory()
        problem, choice = parameters.problem(pairs, weights), None
        del pairs, weights
        if groups is not None:
            choice = _choose(problem, groups, np.random.default_rng(seed), solver, use)
            problem = problem.with_C(choice.C)
        with reporting(f"solving for {counted(problem.n_pairs, 'pair')}"):
            learned = Fit(problem, solve(problem, solver), choice)
        resampled = None
        if sampled is not None:
            from dcglearn.learning.resample import parameter_intervals

            rng, choose = np.random.default_rng(seed), use if choice else None
            with reporting("learning from resamples (fits)") as advance:
                resampled = parameter_intervals(
                    learned, sampled, rng, intervals, 0.95, advance, choose
                )
        with reporting("counting agreements"):
            source = JudgmentsRecord(Path(prefs).name, n, problem.n_pairs)
            content = learned_measure_of(
                learned, labels, source, use, resampled, certainty, usual, drawn
            )
    _give(about, content, out, json, use)


def _choose(
    problem: Problem,
    groups: Integers,
    rng: np.random.Generator,
    solver: SolverChoice,
    use: UseChoice,
) -> ChosenC:
    from dcglearn.learning.resample import choose_C

    with reporting("choosing C (fits)") as advance:
        return choose_C(problem, groups, rng, solver=solver, use=use, advance=advance)


def _certainty(data: Preferences, documents: bool) -> Certainty:
    """Estimate gains and discounts by a model of the judgment."""
    from dcglearn.inference.certainty import NO_GRADES, Certainty, certainty_of

    if documents:
        return Certainty(reason=NO_GRADES)
    with reporting("estimating intervals"):
        return certainty_of(data)


def _give(
    about: str,
    content: MeasureFile,
    out: str | None,
    json: bool,
    use: UseChoice,
) -> None:
    """Write the learned measure, and print it."""
    import json as codec

    from dcglearn.naming.measure_files import measure_to_json, write_measure
    from dcglearn.report.learned_text import learned_text

    if out is not None:
        write_measure(content, out)
    if json:
        print_json(codec.loads(measure_to_json(content)))
        return
    print_text(learned_text(content, about))
    if out is not None:
        part = "DCG" if use == "dcg" else "W"
        print_text(f"\nwrote {out}; commands given this file use its {part}")
