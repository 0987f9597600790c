"""The command that compares measures on judgments: compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.files import check_writable, checked_suffix, write_text
from dcglearn.base.json_text import json_document
from dcglearn.base.progress import reporting
from dcglearn.terminal.inputs import (
    check_distinct,
    measures_for_judgments,
    naming,
    parse_C,
    split_measures,
)
from dcglearn.terminal.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.terminal.options import (
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
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    from dcglearn.inference.compare import MeasureComparison


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
    from dcglearn.learning.parameters import Parameters
    from dcglearn.learning.record import LearnedRecord
    from dcglearn.report.comparisons import comparison_table
    from dcglearn.report.tables import FIGURE_FORMATS, TABLE_FORMATS

    parameters = Parameters(margin=margin, C=parse_C(C), solver=solver)
    for path in out or []:
        checked_suffix(path, (*TABLE_FORMATS, ".json", *FIGURE_FORMATS))
        check_writable(path)
    files, names = split_measures(arguments)
    prefs = name_files(files)
    check_distinct(names)
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
    for path in out or []:
        _write(found, path, prefs)
    if json:
        print_json({"file": prefs, **found.to_json()})
        return
    print_text(comparison_table(found).text())
    for one in named:
        record = LearnedRecord.read(one.file) if one.file else None
        if record and record.learned_from.file in (Path(name).name for name in (prefs, *files)):
            print_text(
                f"{one.name} was itself learned from {record.learned_from.file}: its agreement is "
                "too high"
            )
    for path in out or []:
        print_text(f"wrote {path}")


def _write(found: MeasureComparison, path: str, prefs: str) -> None:
    from dcglearn.figures.measure_figures import draw_comparison
    from dcglearn.figures.style import save
    from dcglearn.report.comparisons import comparison_table
    from dcglearn.report.tables import TABLE_FORMATS

    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        write_text(path, json_document({"file": prefs, **found.to_json()}) + "\n")
    elif suffix in TABLE_FORMATS:
        comparison_table(found).write(path)
    else:
        save(draw_comparison(found, f"Measures compared on {Path(prefs).name}"), path)
