"""The command that compares measures on judgments: compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.progress import reporting
from dcglearn.cli.inputs import (
    check_distinct,
    check_files,
    measures_for_judgments,
    naming,
    parse_C,
    split_measures,
)
from dcglearn.cli.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.cli.options import (
    AgainstOption,
    COption,
    FoldsOption,
    JsonOption,
    JudgmentsAndMeasuresArgument,
    MarginOption,
    RepeatsOption,
    SeedOption,
    SolverOption,
    UseOption,
)
from dcglearn.cli.systems import deliver

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@reads_judgments(without=["documents"])
def compare(
    arguments: JudgmentsAndMeasuresArgument,
    judgments: JudgmentOptions = AS_USUAL,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    solver: SolverOption = "auto",
    use: UseOption = "dcg",
    folds: FoldsOption = 10,
    repeats: RepeatsOption = 10,
    against: AgainstOption = None,
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
    json: JsonOption = False,
) -> None:
    """Compare learned measures with others, by cross-validation."""
    import numpy as np

    from dcglearn.inference import compare as comparison
    from dcglearn.learning.problem import Parameters
    from dcglearn.learning.record import LearnedRecord
    from dcglearn.report.comparisons import comparison_table
    from dcglearn.report.results import RESULT_FORMATS, Result

    parameters = Parameters(margin=margin, C=parse_C(C), solver=solver)
    files, names = split_measures(arguments)
    check_files(out, RESULT_FORMATS, files, judgments.files(), names, against)
    check_distinct(names)
    prefs = name_files(files)
    data = judgments.load(files)
    named = measures_for_judgments(names, data, prefs)
    if against is not None:
        (other,) = measures_for_judgments([against], data, prefs)
        against = other.name
        named += [other] if against not in [one.name for one in named] else []
    with naming(prefs), reporting("comparing (folds)") as advance:
        found = comparison.compare(
            data,
            {one.name: one.measure for one in named},
            parameters,
            np.random.default_rng(seed),
            use,
            folds,
            against=against,
            n_repeats=repeats,
            advance=advance,
        )

    def draw() -> Figure:
        from dcglearn.report.figures.measure_figures import draw_comparison

        return draw_comparison(found, f"Measures compared on {Path(prefs).name}")

    table, lines = comparison_table(found), []
    for one in named:
        record = LearnedRecord.read(one.file) if one.file else None
        if record and record.learned_from.file in (Path(name).name for name in (prefs, *files)):
            lines.append(
                f"{one.name} was itself learned from {record.learned_from.file}: its agreement is "
                "too high"
            )
    content = {"file": prefs, **found.to_json()}
    deliver(Result(table, content, draw), "\n".join([table.text(), *lines]), out or [], json)
