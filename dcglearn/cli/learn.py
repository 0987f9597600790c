"""Commands that learn from judgments: fit, compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.base.progress import reporting
from dcglearn.cli.options import (
    COption,
    EncodingOption,
    JsonOption,
    Judgments,
    LenientOption,
    MarginOption,
    QrelsOption,
    RanksOption,
    RunOption,
    ScaleOption,
    SeedOption,
    SolverOption,
    UseOption,
    check_names,
    judgments_of,
    parse_C,
    parse_use,
    print_json,
    read,
    say,
)

if TYPE_CHECKING:
    import numpy as np

    from dcglearn.data.preferences import Preferences
    from dcglearn.learning.choose_c import ChosenC
    from dcglearn.learning.compare import MeasureComparison
    from dcglearn.learning.intervals import ParameterIntervals
    from dcglearn.learning.learner import DCGLearner
    from dcglearn.measures.files import MeasureFile, MeasurePart


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (fit, compare):
        app.command()(command)


def fit(
    prefs: Judgments,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    solver: SolverOption = "auto",
    encoding: EncodingOption = "grades",
    use: UseOption = "dcg",
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="JSON", help="Write the measure here.")
    ] = None,
    intervals: Annotated[
        int,
        typer.Option(
            "--intervals",
            min=0,
            metavar="N",
            help="Give 95% intervals of gains and discounts, from N fits to resampled queries.",
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
            help="Who reads packed pairs: threads here (1), N processes, or a Dask cluster.",
        ),
    ] = "1",
    json: JsonOption = False,
) -> None:
    """Learn gains and discounts from judgments, or from packed pairs."""
    import numpy as np

    from dcglearn.cli.packed import fit_packed
    from dcglearn.data.packed_pairs import is_packed
    from dcglearn.data.summary import summarise
    from dcglearn.report.judgments import scale_in_words, what_is_in
    from dcglearn.report.learned import learned_measure

    value, part = parse_C(C), parse_use(use)
    check_names(margin, solver, encoding)
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
                raise InputError(f"{option} with packed pairs", "leave it out", prefs)
        about, content = fit_packed(prefs, value, margin, solver, part, workers)
        _give(about, content, None, out, json, part)
        return
    if workers != "1":
        raise InputError("--workers with judgments in memory", "dcglearn pack them", prefs)
    data = read(prefs, scale, n_ranks, lenient, encoding == "documents", qrels, run)
    with judgments_of(prefs):
        data.check_strict()
        learner = _learner(data, value, margin, solver, encoding)
        choice = None
        if value is None:
            choice = _choose(learner, data, np.random.default_rng(seed), part)
            learner.set_params(C=choice.C)
        with reporting(f"solving for {len(data.pairs):,} pairs"):
            learner.fit(data.pairs, sample_weight=data.pair_weights)
        found = None
        if intervals:
            found = _intervals(learner, data, np.random.default_rng(seed), intervals)
        content = learned_measure(learner, data, Path(prefs).name, part, found)
    words = scale_in_words(data.scale, scale is not None, encoding == "documents")
    _give(what_is_in(prefs, summarise(data), words), content, choice, out, json, part)


def compare(
    prefs: Judgments,
    measure: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MEASURE...]", help="Measures to compare with; every preset if none."
        ),
    ] = None,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    solver: SolverOption = "auto",
    use: UseOption = "dcg",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds by query.")] = 10,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the table (.md, .tex, .csv, .txt, .json) or figure (.png, .svg, .pdf); "
            "may be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    qrels: QrelsOption = None,
    run: RunOption = None,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Compare the learned measure, cross-validated by query, with the usual ones."""
    import numpy as np

    from dcglearn.learning import compare as study
    from dcglearn.learning.record import LearnedRecord
    from dcglearn.measures.names import measure_for
    from dcglearn.measures.presets import usual_presets
    from dcglearn.report.judgments import comparison_table

    value, part = parse_C(C), parse_use(use)
    check_names(margin, solver)
    for path in out or []:
        _check_out(path)
    data = read(prefs, scale, n_ranks, lenient, False, qrels, run)
    with judgments_of(prefs), reporting("comparing, by steps") as advance:
        named = [
            measure_for(name, data.scale, data.n_ranks)
            for name in (measure or usual_presets(data.scale, data.n_ranks))
        ]
        _check_distinct([one.name for one in named])
        found = study.compare(
            data,
            {one.name: one.measure for one in named},
            _learner(data, value, margin, solver, "grades"),
            np.random.default_rng(seed),
            part,
            folds,
            tune=value is None,
            advance=advance,
        )
    for path in out or []:
        _write_comparison(found, path, Path(prefs).name)
    if json:
        print_json(found.to_json())
        return
    say(comparison_table(found).text())
    for one in named:
        record = LearnedRecord.read(one.file) if one.file else None
        if record and record.learned_from.file == Path(prefs).name:
            say(f"{one.name} was itself learned from {Path(prefs).name}: its agreement flatters it")
    for path in out or []:
        say(f"wrote {path}")


def _check_distinct(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the measure {name!r} is named twice", "name each once")


def _learner(
    data: Preferences, C: float | None, margin: str, solver: str, encoding: str
) -> DCGLearner:
    from dcglearn.learning.learner import DCGLearner

    return DCGLearner(
        encoding=encoding,  # type: ignore[arg-type]  # fit refuses what is none of its values
        margin=margin,
        C=1.0 if C is None else C,
        solver=solver,  # type: ignore[arg-type]  # fit refuses what is none of its values
        n_grades=data.n_grades,
    )


def _choose(
    learner: DCGLearner, data: Preferences, rng: np.random.Generator, use: MeasurePart
) -> ChosenC:
    from dcglearn.learning.choose_c import choose_C

    with reporting("choosing C, by fits") as advance:
        problem = learner.problem(data.pairs, data.pair_weights)
        return choose_C(
            problem, data.pair_groups, rng, solver=learner.solver, use=use, advance=advance
        )


def _intervals(
    learner: DCGLearner, data: Preferences, rng: np.random.Generator, resamples: int
) -> ParameterIntervals:
    from dcglearn.learning.intervals import parameter_intervals

    with reporting("intervals, by fits") as advance:
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
    about: str, content: MeasureFile, choice: ChosenC | None, out: str | None, json: bool, use: str
) -> None:
    """Write what was learned, and print it."""
    from dcglearn.measures.files import write_measure

    if out is not None:
        write_measure(out, content)
    if json:
        print_json(_fit_json(content, choice))
        return
    _print_fit(about, content, choice)
    if out is not None:
        say(f"\nwrote {out}; commands that are given it use its {use}")


def _print_fit(about: str, content: MeasureFile, choice: ChosenC | None) -> None:
    from dcglearn.report.judgments import choice_table
    from dcglearn.report.measures import learned_text

    say(about)
    if choice is not None:
        say("\n" + choice_table(choice).text())
    say("\n" + learned_text(content))


def _check_out(path: str) -> None:
    from dcglearn.report.tables import FORMATS, FORMS

    checked_suffix(path, (*FORMS, ".json", *FORMATS))
    check_writable(path)


def _write_comparison(found: MeasureComparison, path: str, name: str) -> None:
    import json as codec

    from dcglearn.base.files import write_text
    from dcglearn.report.judgments import comparison_table
    from dcglearn.report.measure_figures import draw_comparison
    from dcglearn.report.style import save
    from dcglearn.report.tables import FORMATS

    suffix = Path(path).suffix.lower()
    if suffix in FORMATS:
        save(draw_comparison(found, f"Learned against ad hoc on {name}"), path)
    elif suffix == ".json":
        write_text(path, codec.dumps(found.to_json(), indent=2) + "\n")
    else:
        comparison_table(found).write(path)
