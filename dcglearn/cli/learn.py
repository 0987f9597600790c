"""Commands that learn from judgments, and say what they prove: fit, study, test, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import dcglearn
from dcglearn.base.errors import InputError
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.inputs import (
    check_distinct,
    measures_for_judgments,
    name_files,
    naming,
    parse_C,
    refuse_together,
    split_measures,
)
from dcglearn.cli.options import (
    JUDGMENTS_HELP,
    COption,
    JudgmentFilesArgument,
    JudgmentsAndMeasuresArgument,
    MarginOption,
    SeedOption,
    SolverOption,
    UseOption,
    measure_option,
    number_option,
)
from dcglearn.cli.reading import AS_USUAL, JudgmentOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_MODELLED = 1_000_000
"""More packed judgments are tested without reading them into memory."""

family_option = partial(Option, metavar="FAMILY")


@command("Write the measure to a .json file.")
def fit(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions = AS_USUAL,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    prior: Annotated[
        str,
        Option(
            metavar="usual|MEASURE|none",
            help="What learning starts from, and departs from on evidence: the usual measures, one "
            "measure (a preset, a file), or none, which gives the DCG nearest to the learned "
            "weights.",
        ),
    ] = "usual",
    solver: SolverOption = "auto",
    use: UseOption = "dcg",
    intervals: Annotated[
        int,
        number_option(
            help="Add the range of gains and discounts in 95% of N fits to resampled queries."
        ),
    ] = 0,
    draws: Annotated[
        int,
        Option(
            min=0,
            max=100_000,
            metavar="N",
            help="Add N measures that the judgments allow, each as often as it is probable, for "
            "evaluate --supported (1,000 are plenty).",
        ),
    ] = 0,
    seed: SeedOption = 0,
    workers: Annotated[
        str,
        Option(
            metavar="N|tcp://HOST:PORT",
            help="Processes that read packed pairs (1: threads of this one), or the address of a "
            "Dask scheduler.",
        ),
    ] = "1",
) -> Answer:
    """Learn gains and discounts from judgments or packed pairs."""
    from dcglearn.measures.measure_files import measure_document
    from dcglearn.report.judgments import held_text, scale_text
    from dcglearn.report.measures import learned_text

    prefs, value = name_files(files), parse_C(C)
    held = judgments.hold(files)
    with naming(prefs):
        content = dcglearn.fit_file(
            held,
            C=value,
            margin=margin,
            prior=prior,
            solver=solver,
            use=use,
            intervals=intervals,
            draws=draws,
            seed=seed,
            workers=workers,
            documents=judgments.documents,
            source=Path(prefs).name,
            progress=True,
        )
    strict = content.about["learned_from"]["strict"]
    scale = scale_text(held.scale, judgments.scale is not None, judgments.documents)
    return Answer(
        lambda: measure_document(content),
        lambda: learned_text(content, held_text(prefs, held, strict, scale)),
        lambda path: dcglearn.write_measure(content, path),
        remark=f"; commands given this file use its {'DCG' if use == 'dcg' else 'W'}",
    )


@command(
    "Write the page (.html, .md, .txt), or the recommended measure with all numbers (.json).",
    without=["documents"],
)
def study(
    files: JudgmentFilesArgument,
    measure: Annotated[
        str | None,
        measure_option(help="The measure in use now; by default (2^g - 1) / log2(rank + 1)."),
    ] = None,
    judgments: JudgmentOptions = AS_USUAL,
    on_qrels: Annotated[
        str | None, Option(metavar="QRELS", help="Grades of documents, for --on-run.")
    ] = None,
    on_run: Annotated[
        list[str] | None,
        Option(
            metavar="RUN",
            help="A run, of two or more: say how many of their comparisons end otherwise with the "
            "recommended measure.",
        ),
    ] = None,
    seed: SeedOption = 0,
) -> Answer:
    """Say on one page what judgments prove."""
    import numpy as np

    from dcglearn.judgments.groups import MODEL_BYTES
    from dcglearn.report.study.facts import changed_comparisons
    from dcglearn.report.study.page import study_json, study_page

    runs = on_run or []
    if bool(on_qrels) != (len(runs) > 1):
        raise InputError("--on-qrels and two --on-run belong together", "give both, or neither")
    prefs = name_files(files)
    data = judgments.load(files, MODEL_BYTES)
    named = measures_for_judgments([measure], data, prefs) if measure else []
    in_use = {one.name: one.measure for one in named}
    with naming(prefs), reporting("studying (steps)") as advance:
        rng = np.random.default_rng(seed)
        found = dcglearn.study_judgments(data, Path(prefs).name, rng, in_use, advance)
    if on_qrels:
        with naming(on_qrels), reporting("comparing runs"):
            found = replace(found, changed=changed_comparisons(found, on_qrels, runs))
    return Answer(
        lambda: study_json(found),
        lambda: study_page(found, "txt"),
        lambda path: dcglearn.write_study(found, path, np.random.default_rng(seed)),
    )


@command(without=["documents"])
def test(
    files: Annotated[
        list[str],
        Argument(
            metavar="JUDGMENTS",
            help=f"{JUDGMENTS_HELP} Of several files, the first and the rest are compared.",
        ),
    ],
    gains: Annotated[
        str | None, family_option(help="Test these gains: linear, exponential, power:free ...")
    ] = None,
    discounts: Annotated[
        str | None, family_option(help="Test these discounts: log2, zipf, rbp:free ...")
    ] = None,
    measure: Annotated[str | None, measure_option(help="Test this measure.")] = None,
    larger_gains: Annotated[
        str | None,
        family_option(
            help="Family of the gains of the larger model that is tested against; free by default."
        ),
    ] = None,
    larger_discounts: Annotated[
        str | None,
        family_option(help="Family of the discounts of the larger model; free by default."),
    ] = None,
    larger_positions: Annotated[
        bool,
        Option("--larger-positions", help="The larger model has gains of its own at every rank."),
    ] = False,
    by: Annotated[
        str | None,
        Option(metavar="FIELD", help="Compare the groups that this field or column names."),
    ] = None,
    judgments: JudgmentOptions = AS_USUAL,
) -> Answer:
    """Test a measure, or compare groups of judgments."""
    from dcglearn.inference.families import families_in_words, parse_families
    from dcglearn.report.questions import (
        question_json,
        questions_text,
        segments_json,
        segments_text,
    )

    several, file = len(files) > 1, files[0]
    families = {"--gains": gains, "--discounts": discounts}
    larger_families = {"--larger-gains": larger_gains, "--larger-discounts": larger_discounts}
    refuse_together({"--measure": measure}, families, {"--by": by}, {"several files": several})
    refuse_together({"--larger-positions": larger_positions}, larger_families)
    if any(larger_families.values()) and not (gains or discounts or measure or by or several):
        raise InputError(
            "--larger-gains or --larger-discounts without --gains or --discounts",
            "name what is tested",
        )
    larger = dcglearn.JudgmentModel(
        **parse_families(larger_families), position_dependent=larger_positions
    )
    if by or several:
        with naming(file), reporting(f"reading {name_files(files)} (judgments)") as advance:
            everyone, groups = dcglearn.read_groups(files, by, advance, **judgments.reading())
        kept = judgments.kept(everyone)  # judges are dropped from all files together
        with naming(file), reporting("comparing groups"):
            segments = dcglearn.compare_segments(everyone[kept], groups[kept].tolist(), larger)
        return Answer(lambda: segments_json(segments), lambda: segments_text(segments))

    given = parse_families(families)
    data = judgments.hold(files)
    if isinstance(data, dcglearn.PackedPairs) and len(data) <= MAX_MODELLED:
        data = judgments.in_memory(data)
    with naming(file), reporting("testing (judgments read)"):
        found: Sequence[dcglearn.Question]
        if measure:
            with naming("--measure"):
                (one,) = measures_for_judgments([measure], data, file)
            tested = dcglearn.JudgmentModel(measure=one.measure)
            found = [dcglearn.ask(data, tested, larger, one.name)]
        elif given or larger_positions:
            tested = replace(larger, position_dependent=False, **given)
            name = families_in_words(families, larger_families)
            found = [dcglearn.ask(data, tested, larger, name)]
        else:
            found = dcglearn.usual_questions(data, larger)
    return Answer(lambda: [question_json(one) for one in found], lambda: questions_text(found))


@command(
    "Write the table (.md, .tex, .csv, .txt, .json) or the figure (.png, .svg, .pdf).",
    without=["documents"],
)
def compare(
    arguments: JudgmentsAndMeasuresArgument,
    judgments: JudgmentOptions = AS_USUAL,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    solver: SolverOption = "auto",
    use: UseOption = "dcg",
    folds: Annotated[int, Option(min=2, metavar="N", help="Folds, by query.")] = 10,
    repeats: Annotated[int, number_option(min=1, help="Divisions into folds, averaged.")] = 10,
    against: Annotated[
        str | None,
        Option(
            metavar="MEASURE",
            help="The measure that all are compared with; by default the learned one.",
        ),
    ] = None,
    seed: SeedOption = 0,
) -> Answer:
    """Compare learned measures with others, by cross-validation."""
    import numpy as np

    from dcglearn.learning.record import LearnedRecord
    from dcglearn.report.comparisons import comparison_table
    from dcglearn.report.results import write_result

    parameters = dcglearn.Parameters(margin=margin, C=parse_C(C), solver=solver)
    files, names = split_measures(arguments)
    check_distinct(names)
    prefs = name_files(files)
    data = judgments.load(files)
    named = measures_for_judgments(names, data, prefs)
    if against is not None:
        (other,) = measures_for_judgments([against], data, prefs)
        against = other.name
        named += [other] if against not in [one.name for one in named] else []
    with naming(prefs), reporting("comparing (folds)") as advance:
        found = dcglearn.compare(
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

    table = comparison_table(found)
    lines = [table.text()]
    if (data.weights != data.weights[:1]).any():
        lines.append("Agreement is weighted; the counts of CSV and JSON are not.")
    for one in named:
        record = LearnedRecord.read(one.file) if one.file else None
        if record and record.learned_from.file in (Path(name).name for name in (prefs, *files)):
            lines.append(
                f"{one.name} was itself learned from {record.learned_from.file}: its agreement is "
                "too high"
            )
    content = {"file": prefs, **found.to_json()}
    return Answer(
        lambda: content,
        lambda: "\n".join(lines),
        lambda path: write_result(path, table, content, draw),
    )
