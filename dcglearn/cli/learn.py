"""Commands that learn from judgments: fit, compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.base.progress import reporting
from dcglearn.terminal.choices import EncodingChoice, MarginChoice, SolverChoice, UseChoice
from dcglearn.terminal.inputs import (
    check_distinct,
    load_judgments,
    measures_for_judgments,
    naming,
    parse_C,
    parse_family,
)
from dcglearn.terminal.options import (
    MAX_COUNT,
    COption,
    DiscountsOption,
    EncodingOption,
    GainsOption,
    JsonOption,
    JudgmentsArgument,
    LenientOption,
    MarginOption,
    QrelsOption,
    RanksOption,
    RunOption,
    ScaleOption,
    SeedOption,
    SolverOption,
    UseOption,
)
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    import numpy as np

    from dcglearn.data.preferences import Preferences
    from dcglearn.families.learned import FamilyLike
    from dcglearn.learning.choose_c import ChosenC
    from dcglearn.learning.compare import MeasureComparison
    from dcglearn.learning.intervals import ParameterIntervals
    from dcglearn.learning.learner import DCGLearner
    from dcglearn.measures.files import MeasureFile


def fit(
    prefs: JudgmentsArgument,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    gains: GainsOption = None,
    discounts: DiscountsOption = None,
    solver: SolverOption = "auto",
    encoding: EncodingOption = "grades",
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
            help="Add 95% intervals of gains and discounts, from N fits to resampled queries.",
        ),
    ] = 0,
    seed: SeedOption = 0,
    qrels: QrelsOption = None,
    run: RunOption = None,
    lenient: LenientOption = False,
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
    from dcglearn.data.packed_pairs import is_packed
    from dcglearn.inspection.summary import summarise
    from dcglearn.report.judgments import contents_text, scale_text
    from dcglearn.report.learned import learned_measure

    value = parse_C(C)
    families = parse_family("--gains", gains), parse_family("--discounts", discounts)
    if out is not None:
        checked_suffix(out, [".json"])
        check_writable(out)
    if is_packed(prefs):
        given = {
            "--scale": scale,
            "--K": n_ranks,
            "--lenient": lenient,
            "--intervals": intervals,
            "--qrels": qrels,
            "--run": run,
        }
        for option, wanted in {**given, "--encoding": encoding != "grades"}.items():
            if wanted:
                raise InputError(f"{option} does not apply to packed pairs", "leave it out", prefs)
        about, content = fit_packed(prefs, value, margin, solver, use, workers, families)
        _give(about, content, None, out, json, use)
        return
    if workers != "1":
        raise InputError("--workers applies to packed pairs only", "run dcglearn pack first", prefs)
    data = load_judgments(prefs, scale, n_ranks, lenient, encoding == "documents", qrels, run)
    with naming(prefs):
        data.check_strict()
        learner = _learner(data, value, margin, solver, encoding, *families)
        choice = None
        if value is None:
            choice = _choose(learner, data, np.random.default_rng(seed), use)
            learner.set_params(C=choice.C)
        with reporting(f"solving for {len(data.pairs):,} pairs"):
            learner.fit(data.pairs, sample_weight=data.pair_weights)
        resampled = None
        if intervals:
            resampled = _intervals(learner, data, np.random.default_rng(seed), intervals)
        content = learned_measure(learner, data, Path(prefs).name, use, resampled)
    words = scale_text(data.scale, scale is not None, encoding == "documents")
    _give(contents_text(prefs, summarise(data), words), content, choice, out, json, use)


def compare(
    prefs: JudgmentsArgument,
    measure: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MEASURE", help="Measures to compare with; by default every preset."
        ),
    ] = None,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    solver: SolverOption = "auto",
    use: UseOption = "dcg",
    folds: Annotated[
        int, typer.Option("--folds", min=2, metavar="N", help="Folds, by query.")
    ] = 10,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the table (.md, .tex, .csv, .txt, .json) or the figure (.png, .svg, .pdf). "
            "May be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    qrels: QrelsOption = None,
    run: RunOption = None,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Compare the learned measure with presets, by cross-validation."""
    import numpy as np

    from dcglearn.learning import compare as study
    from dcglearn.learning.record import LearnedRecord
    from dcglearn.report.comparisons import comparison_table

    value = parse_C(C)
    for path in out or []:
        _check_out(path)
    data = load_judgments(prefs, scale, n_ranks, lenient, False, qrels, run)
    check_distinct(measure or [])
    named = measures_for_judgments(measure, data, prefs)
    with naming(prefs), reporting("comparing (steps)") as advance:
        found = study.compare(
            data,
            {one.name: one.measure for one in named},
            _learner(data, value, margin, solver, "grades"),
            np.random.default_rng(seed),
            use,
            folds,
            tune=value is None,
            advance=advance,
        )
    for path in out or []:
        _write_comparison(found, path, Path(prefs).name)
    if json:
        print_json(found.to_json())
        return
    print_text(comparison_table(found).text())
    for one in named:
        record = LearnedRecord.read(one.file) if one.file else None
        if record and record.learned_from.file == Path(prefs).name:
            print_text(
                f"{one.name} was itself learned from {Path(prefs).name}: its agreement is too high"
            )
    for path in out or []:
        print_text(f"wrote {path}")


def _learner(
    data: Preferences,
    C: float | None,
    margin: MarginChoice,
    solver: SolverChoice,
    encoding: EncodingChoice,
    gains: FamilyLike | None = None,
    discounts: FamilyLike | None = None,
) -> DCGLearner:
    from dcglearn.learning.learner import DCGLearner

    return DCGLearner(
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
    learner: DCGLearner, data: Preferences, rng: np.random.Generator, use: UseChoice
) -> ChosenC:
    from dcglearn.learning.choose_c import choose_C

    with reporting("choosing C (fits)") as advance:
        problem = learner.problem(data.pairs, data.pair_weights)
        return choose_C(
            problem, data.pair_groups, rng, solver=learner.solver, use=use, advance=advance
        )


def _intervals(
    learner: DCGLearner, data: Preferences, rng: np.random.Generator, resamples: int
) -> ParameterIntervals:
    from dcglearn.learning.intervals import parameter_intervals

    with reporting("intervals (fits)") as advance:
        return parameter_intervals(learner, data, rng, resamples, advance=advance)


def _fit_json(content: MeasureFile, choice: ChosenC | None) -> dict[str, Any]:
    import json as codec

    from dcglearn.measures.files import measure_to_json

    document: dict[str, Any] = codec.loads(measure_to_json(content))
    if choice is not None:
        document["choice_of_C"] = {
            "C": choice.C,
            "grid": list(choice.grid),
            "agreement": list(choice.agreement),
        }
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
    from dcglearn.measures.files import write_measure

    if out is not None:
        write_measure(out, content)
    if json:
        print_json(_fit_json(content, choice))
        return
    _print_fit(about, content, choice)
    if out is not None:
        part = "DCG" if use == "dcg" else "W"
        print_text(f"\nwrote {out}; commands given this file use its {part}")


def _print_fit(about: str, content: MeasureFile, choice: ChosenC | None) -> None:
    from dcglearn.report.judgments import choice_table
    from dcglearn.report.measures import learned_text

    print_text(about)
    if choice is not None:
        print_text("\n" + choice_table(choice).text())
    print_text("\n" + learned_text(content))


def _check_out(path: str) -> None:
    from dcglearn.report.tables import FIGURE_FORMATS, TABLE_FORMATS

    checked_suffix(path, (*TABLE_FORMATS, ".json", *FIGURE_FORMATS))
    check_writable(path)


def _write_comparison(found: MeasureComparison, path: str, name: str) -> None:
    import json as codec

    from dcglearn.base.files import write_text
    from dcglearn.report.comparisons import comparison_table
    from dcglearn.report.measure_figures import draw_comparison
    from dcglearn.report.style import save
    from dcglearn.report.tables import FIGURE_FORMATS

    suffix = Path(path).suffix.lower()
    if suffix in FIGURE_FORMATS:
        save(draw_comparison(found, f"Learned against ad hoc on {name}"), path)
    elif suffix == ".json":
        write_text(path, codec.dumps(found.to_json(), indent=2) + "\n")
    else:
        comparison_table(found).write(path)
