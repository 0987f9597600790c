"""Commands on judgments: simulate, inspect, fit, agree, compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_place
from dcglearn.base.progress import reporting
from dcglearn.cli.options import (
    COption,
    JsonOption,
    Judgments,
    LenientOption,
    MarginOption,
    RanksOption,
    ScaleOption,
    SeedOption,
    SolverOption,
    UseOption,
    parse_C,
    parse_use,
    print_json,
    read,
)

if TYPE_CHECKING:
    import numpy as np

    from dcglearn.data.preferences import Preferences
    from dcglearn.learning.choose import Choice
    from dcglearn.learning.learner import DCGLearner
    from dcglearn.measures.files import MeasureFile
    from dcglearn.study.compare import Comparison


def add_to(app: typer.Typer) -> None:
    """Register the commands, in the order in which they are used."""
    for command in (simulate, inspect, fit, agree, compare):
        app.command()(command)


def simulate(
    out: Annotated[str, typer.Argument(metavar="OUT", help=".jsonl, .csv or .parquet to write.")],
    judgments: Annotated[int, typer.Option("--judgments", "-n", min=1, help="How many.")] = 500,
    truth: Annotated[
        str, typer.Option("--truth", help="What the judge likes: a preset or a measure in full.")
    ] = "linear-log2",
    scale: ScaleOption = "2,1,0",
    n_ranks: RanksOption = 5,
    shortest: Annotated[
        int | None, typer.Option("--shortest", min=1, help="Lists have this many to K documents.")
    ] = None,
    permute: Annotated[
        bool, typer.Option("--permute", help="Both lists of a pair hold the same grades.")
    ] = False,
    reliability: Annotated[float, typer.Option(help="1 / scale of the judge's noise.")] = 4.0,
    indifference: Annotated[float, typer.Option(help="Smaller differences are ties.")] = 0.5,
    bias: Annotated[float, typer.Option(help="What being shown as a is worth.")] = 0.0,
    seed: SeedOption = 0,
) -> None:
    """Write simulated side-by-side judgments, to try things on."""
    import numpy as np

    from dcglearn.data.tables import write_preferences
    from dcglearn.measures.naming import measure_for
    from dcglearn.measures.scale import Scale
    from dcglearn.study.simulate import drawn_lists, side_by_side

    check_place(out)
    grades, width = Scale.parse(scale or "2,1,0"), n_ranks or 5
    rng = np.random.default_rng(seed)
    lists = drawn_lists(judgments, width, [1 / len(grades)] * len(grades), rng, shortest)
    if permute:
        lists[:, 1] = rng.permuted(lists[:, 0], axis=1)
    found = side_by_side(
        measure_for(truth, grades, width).measure,
        lists,
        grades,
        rng,
        reliability,
        indifference,
        bias,
    )
    write_preferences(found, out)
    typer.echo(
        f"wrote {out}: {len(found):,} judgments by a judge who likes {truth}, "
        f"{int(found.strict.sum()):,} strict"
    )


def inspect(
    prefs: Judgments,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Say what is in a file of judgments and what it can determine; fit nothing."""
    from dcglearn.data.summary import summarise
    from dcglearn.learning.identify import identify
    from dcglearn.learning.problem import Problem
    from dcglearn.report.words import grade_table, inspection, undetermined, what_is_in

    data = read(prefs, scale, n_ranks, lenient)
    summary = summarise(data)
    found = None
    if summary.strict:
        problem = Problem.of(data.pairs, data.n_grades, weights=data.pair_weights)
        found = identify(problem)
    labels = data.scale.labels
    if json:
        print_json(
            {
                "file": prefs,
                "grades": list(labels),
                **summary.to_json(),
                "identifiability": found and found.to_json(labels),
            }
        )
        return
    typer.echo(what_is_in(prefs, summary, str(data.scale), scale is None))
    typer.echo("\n" + grade_table(labels, summary.grade_counts).text())
    if found is None:
        typer.echo("\nno strict preference: nothing can be learned from this file")
        return
    typer.echo("\n" + inspection(summary))
    typer.echo("\nWhat these judgments determine, before any fit (C = 1):")
    typer.echo(undetermined(found.statements(labels)))
    typer.echo(
        f"  - data share of one constant added to all discounts: at most {found.offset_share:.2f}; "
        f"of the least determined discount {found.discount_share.min():.2f}, gain "
        f"{found.gain_share.min():.2f} (1: the data alone decide; 0: the ridge w'w alone)"
    )


def fit(
    prefs: Judgments,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    solver: SolverOption = "auto",
    encoding: Annotated[
        str,
        typer.Option(
            "--encoding",
            metavar="grades|documents",
            help="Whether lists hold grades, or K documents without grades.",
        ),
    ] = "grades",
    use: UseOption = "dcg",
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="JSON", help="Write the measure here.")
    ] = None,
    seed: SeedOption = 0,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Learn gains and discounts from judgments."""
    import numpy as np

    from dcglearn.learning.learned import learned_measure
    from dcglearn.measures.files import write_measure

    value, part = parse_C(C), parse_use(use)
    if out is not None:
        if Path(out).suffix.lower() != ".json":
            raise InputError(f"ends in {Path(out).suffix!r}", "name it .json", out)
        check_place(out)
    data = read(prefs, scale, n_ranks, lenient, documents=encoding == "documents")
    data.check_strict()
    learner = _learner(data, value, margin, solver, encoding)
    choice = None
    if value is None:
        choice = _choose(learner, data, np.random.default_rng(seed))
        learner.set_params(C=choice.C)
    with reporting(f"solving for {len(data.pairs):,} pairs"):
        learner.fit(data.pairs, sample_weight=data.pair_weights)
    content = learned_measure(learner, data, Path(prefs).name, part)
    if out is not None:
        write_measure(out, content)
    if json:
        print_json(_fit_json(content, choice))
        return
    _print_fit(prefs, data, content, choice, scale is None)
    if out is not None:
        typer.echo(f"\nwrote {out}; commands that are given it use its {part}")


def agree(
    prefs: Judgments,
    measure: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MEASURE...",
            help="Presets (zipf, rbp:0.8), files (learned.json, learned.json:utility) or "
            "measures in full; every preset if none is named.",
        ),
    ] = None,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Say how often measures agree with judgments."""
    from dcglearn.measures.agreement import agreement, outcomes
    from dcglearn.measures.naming import measure_for
    from dcglearn.measures.presets import usual_presets
    from dcglearn.report.tables import Table

    data = read(prefs, scale, n_ranks, lenient)
    names = measure or list(usual_presets(data.scale, data.n_ranks))
    found = [measure_for(name, data.scale, data.n_ranks) for name in names]
    if not data.strict.any():
        data.check_strict()
    rows = []
    for one in found:
        result = outcomes(one.measure, data.pairs)
        right, wrong = int((result == 1).sum()), int((result == 0).sum())
        share = agreement(one.measure, data.pairs, data.pair_weights)
        rows.append((one.name, share, right, len(result) - right - wrong, wrong, str(one.measure)))
    columns = ("measure", "agreement", "right", "tied", "wrong", "in full")
    if json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    caption = f"{len(data.pairs):,} strict judgments; a tie of the measure counts 1/2"
    short = [(*row[:5], _short(row[5])) for row in rows]
    typer.echo(Table(columns, short, caption).text())


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
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Compare the learned measure, cross-validated by query, with the usual ones."""
    import numpy as np

    from dcglearn.measures.naming import measure_for
    from dcglearn.measures.presets import usual_presets
    from dcglearn.report.words import comparison_table
    from dcglearn.study import compare as study

    value, part = parse_C(C), parse_use(use)
    for path in out or []:
        _check_out(path)
    data = read(prefs, scale, n_ranks, lenient)
    others = {
        name: measure_for(name, data.scale, data.n_ranks).measure
        for name in (measure or usual_presets(data.scale, data.n_ranks))
    }
    with reporting("comparing, by folds") as advance:
        found = study.compare(
            data,
            others,
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
    typer.echo(comparison_table(found).text())
    for path in out or []:
        typer.echo(f"wrote {path}")


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


def _choose(learner: DCGLearner, data: Preferences, rng: np.random.Generator) -> Choice:
    from dcglearn.learning.choose import choose_C

    with reporting("choosing C, by fits") as advance:
        return choose_C(
            learner, data.pairs, data.pair_groups, data.pair_weights, rng, advance=advance
        )


def _fit_json(content: MeasureFile, choice: Choice | None) -> dict[str, Any]:
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


def _print_fit(
    prefs: str, data: Preferences, content: MeasureFile, choice: Choice | None, inferred: bool
) -> None:
    from dcglearn.data.summary import summarise
    from dcglearn.report.words import choice_table, learned_text, what_is_in

    typer.echo(what_is_in(prefs, summarise(data), str(data.scale), inferred))
    if choice is not None:
        typer.echo("\n" + choice_table(choice).text())
    typer.echo("\n" + learned_text(content))


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _check_out(path: str) -> None:
    from dcglearn.report.figures import FORMATS
    from dcglearn.report.tables import FORMS

    known = (*FORMS, ".json", *FORMATS)
    if Path(path).suffix.lower() not in known:
        raise InputError(f"ends in {Path(path).suffix!r}", f"name it {', '.join(known)}", path)
    check_place(path)


def _write_comparison(found: Comparison, path: str, name: str) -> None:
    import json as codec

    from dcglearn.base.files import write_text
    from dcglearn.report.figures import FORMATS, draw_comparison, save
    from dcglearn.report.words import comparison_table

    suffix = Path(path).suffix.lower()
    if suffix in FORMATS:
        save(draw_comparison(found, f"Learned against ad hoc on {name}"), path)
    elif suffix == ".json":
        write_text(path, codec.dumps(found.to_json(), indent=2) + "\n")
    else:
        comparison_table(found).write(path)
