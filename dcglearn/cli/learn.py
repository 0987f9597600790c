"""The command that learns from judgments: fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.base.numbers import counted
from dcglearn.base.process import return_free_memory
from dcglearn.base.progress import reporting
from dcglearn.terminal.choices import EncodingChoice, MarginChoice, SolverChoice, UseChoice
from dcglearn.terminal.inputs import (
    naming,
    parse_C,
    parse_family,
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
    SeedOption,
    SolverOption,
    UseOption,
)
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    import numpy as np

    from dcglearn.base.types import Integers
    from dcglearn.families.given import FamilyLike
    from dcglearn.hypotheses.certainty import Certainty
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.learning.choose_c import ChosenC
    from dcglearn.learning.core_learner import CoreLearner
    from dcglearn.naming.measure_files import MeasureFile
    from dcglearn.solver.problem import Problem

_RESAMPLING_BYTES = 800
"""Memory per judgment in which C is chosen and queries are resampled."""


@reads_judgments()
def fit(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions = AS_USUAL,
    C: COption = "1.0",
    margin: MarginOption = "unit",
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

    from dcglearn.cli.packed import fit_packed
    from dcglearn.judgments.inspection import count_contents
    from dcglearn.learning.record import SourceRecord
    from dcglearn.report.judgments import contents_text, scale_text
    from dcglearn.report.learned import learned_measure_of_pairs

    prefs = name_files(files)
    value = parse_C(C)
    families = parse_family("--gains", gains), parse_family("--discounts", discounts)
    if out is not None:
        checked_suffix(out, [".json"])
        check_writable(out)
    packed = judgments.open_packed(files)
    if packed is not None:
        if value is not None and not intervals:
            about, content = fit_packed(
                packed, prefs, value, margin, solver, use, workers, families
            )
            _give(about, content, None, out, json, use)
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
        learner = learner_of(
            data, value, margin, solver, "documents" if judgments.documents else "grades", *families
        )
        learner.check_families(data.n_ranks, data.n_grades)
        words = scale_text(data.scale, judgments.scale is not None, judgments.documents)
        about = contents_text(prefs, contents, words)
        certainty = _certainty(data, judgments.documents, families)
        groups, sampled = data.pair_groups if value is None else None, data if intervals else None
        pairs, weights, labels, n = data.pairs, data.pair_weights, data.scale.labels, len(data)
        del data  # most of the memory
        return_free_memory()
        problem, choice = learner.problem(pairs, weights), None
        del pairs, weights
        n_strict = problem.n_pairs
        source = SourceRecord(file=Path(prefs).name, judgments=n, strict=n_strict)
        if groups is not None:
            choice = _choose(problem, groups, np.random.default_rng(seed), solver, use)
            problem = problem.with_C(choice.C)
        with reporting(f"solving for {counted(n_strict, 'pair')}"):
            learner.learn(problem, choice)
        resampled = None
        if sampled is not None:
            from dcglearn.learning.intervals import parameter_intervals

            rng, choose = np.random.default_rng(seed), use if choice else None
            with reporting("learning from resamples (fits)") as advance:
                resampled = parameter_intervals(
                    learner, sampled, rng, intervals, 0.95, advance, choose
                )
        with reporting("counting agreements"):
            content = learned_measure_of_pairs(
                learner,
                problem.pairs,
                problem.weights,
                labels,
                source,
                use,
                resampled,
                choice,
                certainty,
            )
    _give(about, content, choice, out, json, use)


def learner_of(
    data: Preferences,
    C: float | None,
    margin: MarginChoice,
    solver: SolverChoice,
    encoding: EncodingChoice,
    gains: FamilyLike | None = None,
    discounts: FamilyLike | None = None,
) -> CoreLearner:
    """Return the learner that options describe."""
    from dcglearn.learning.core_learner import CoreLearner

    return CoreLearner(
        encoding=encoding,
        margin=margin,
        C=1.0 if C is None else C,
        solver=solver,
        n_grades=data.n_grades,
        gains=gains,
        discounts=discounts,
        grade_values=data.scale.values,
    )


def _choose(
    problem: Problem,
    groups: Integers,
    rng: np.random.Generator,
    solver: SolverChoice,
    use: UseChoice,
) -> ChosenC:
    from dcglearn.learning.choose_c import choose_C

    with reporting("choosing C (fits)") as advance:
        return choose_C(problem, groups, rng, solver=solver, use=use, advance=advance)


def _certainty(
    data: Preferences, documents: bool, families: tuple[FamilyLike | None, FamilyLike | None]
) -> Certainty:
    """Estimate the same gains and discounts by a model of the judgment."""
    from dcglearn.hypotheses.certainty import NO_GRADES, Certainty, certainty_of

    if documents:
        return Certainty(reason=NO_GRADES)
    with reporting("estimating intervals"):
        return certainty_of(data, *families)


def _fit_json(content: MeasureFile, choice: ChosenC | None) -> dict[str, Any]:
    import json as codec

    from dcglearn.naming.measure_files import measure_to_json

    document: dict[str, Any] = codec.loads(measure_to_json(content))
    if choice is not None:
        document["choice_of_C"] = choice.to_json()
    return document


def _give(
    about: str,
    content: MeasureFile,
    choice: ChosenC | None,
    out: str | None,
    json: bool,
    use: UseChoice,
) -> None:
    """Write the learned measure, and print it."""
    from dcglearn.naming.measure_files import write_measure
    from dcglearn.report.learned_text import learned_text

    if out is not None:
        write_measure(content, out)
    if json:
        print_json(_fit_json(content, choice))
        return
    print_text(learned_text(content, about))
    if out is not None:
        part = "DCG" if use == "dcg" else "W"
        print_text(f"\nwrote {out}; commands given this file use its {part}")
