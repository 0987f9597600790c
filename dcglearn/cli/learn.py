"""Commands that learn from judgments, and say what they prove: fit, study, test."""

from __future__ import annotations

import json as codec
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.inputs import (
    check_files,
    measures_for_judgments,
    naming,
    parse_C,
    parse_family,
    refuse_together,
)
from dcglearn.cli.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.cli.options import (
    JUDGMENTS_HELP,
    MAX_COUNT,
    COption,
    JsonOption,
    JudgmentFilesArgument,
    MarginOption,
    PriorOption,
    SeedOption,
    SolverOption,
    UseOption,
)
from dcglearn.cli.output import print_json, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcglearn.inference.estimate import JudgmentModel
    from dcglearn.inference.families import FamilyLike
    from dcglearn.inference.questions import Question
    from dcglearn.inference.segments import Segments
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.measures.measure_files import MeasureFile

MAX_MODELLED = 1_000_000
"""More packed judgments are tested without reading them into memory."""


@reads_judgments()
def fit(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions = AS_USUAL,
    C: COption = "1.0",
    margin: MarginOption = "unit",
    prior: PriorOption = "usual",
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
            help="Add the range of gains and discounts in 95% of N fits to resampled queries.",
        ),
    ] = 0,
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
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
    from dcglearn.inference.fit_file import fit_file
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.measures.measure_files import measure_to_json, write_measure
    from dcglearn.report.measures import learned_text

    prefs, value = name_files(files), parse_C(C)
    check_files(out, [".json"], files, judgments.files(), prior)
    opened = judgments.open(files)
    held = opened if isinstance(opened, PackedPairs) else judgments.in_memory(opened)
    with naming(prefs):
        content = fit_file(
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
    if out is not None:
        write_measure(content, out)
    if json:
        print_json(codec.loads(measure_to_json(content)))
        return
    print_text(learned_text(content, _about(prefs, held, judgments, content)))
    if out is not None:
        part = "DCG" if use == "dcg" else "W"
        print_text(f"\nwrote {out}; commands given this file use its {part}")


def _about(
    name: str, held: Preferences | PackedPairs, judgments: JudgmentOptions, content: MeasureFile
) -> str:
    """Return a line that describes the judgments."""
    from dcglearn.judgments.inspection import count_contents
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.report.judgments import contents_text, scale_text

    if isinstance(held, PackedPairs):
        files = counted(len({part.path for part in held.row_groups}), "file")
        strict = content.about["learned_from"]["strict"]
        packed = (
            f"{name}: {counted(held.n_pairs, 'packed judgment')}, {strict:,} strict, in {files}"
        )
        return f"{packed}; lists of {held.n_ranks}; grades {held.scale}"
    words = scale_text(held.scale, judgments.scale is not None, judgments.documents)
    with reporting("counting judgments"):
        return contents_text(name, count_contents(held), words)


@reads_judgments(without=["documents"])
def study(
    files: JudgmentFilesArgument,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="The measure in use now; by default (2^g - 1) / log2(rank + 1).",
        ),
    ] = None,
    judgments: JudgmentOptions = AS_USUAL,
    on_qrels: Annotated[
        str | None,
        typer.Option("--on-qrels", metavar="QRELS", help="Grades of documents, for --on-run."),
    ] = None,
    on_runs: Annotated[
        list[str] | None,
        typer.Option(
            "--on-run",
            metavar="RUN",
            help="A run, of two or more: say how many of their comparisons end otherwise with the "
            "recommended measure.",
        ),
    ] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the page (.html, .md, .txt), or the recommended measure with all numbers "
            "(.json). May be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Say on one page what judgments prove."""
    import numpy as np

    from dcglearn.judgments.groups import MODEL_BYTES
    from dcglearn.report.study.facts import changed_comparisons, study_judgments
    from dcglearn.report.study.page import STUDY_FORMATS, study_json, study_text, write_study

    outputs, runs = out or [], on_runs or []
    if bool(on_qrels) != (len(runs) > 1):
        raise InputError("--on-qrels and two --on-run belong together", "give both, or neither")
    check_files(outputs, STUDY_FORMATS, files, judgments.files(), measure, on_qrels, runs)
    prefs = name_files(files)
    data = judgments.load(files, bytes_each=MODEL_BYTES)
    named = measures_for_judgments([measure], data, prefs) if measure else []
    with naming(prefs), reporting("studying (steps)") as advance:
        found = study_judgments(
            data,
            Path(prefs).name,
            np.random.default_rng(seed),
            {one.name: one.measure for one in named},
            advance,
        )
    if on_qrels:
        with naming(on_qrels), reporting("comparing runs"):
            changed = changed_comparisons(found, on_qrels, runs)
        found = replace(found, changed=changed)
    for path in outputs:
        write_study(found, path, np.random.default_rng(seed))
    if json:
        print_json(study_json(found))
        return
    print_text(study_text(found))
    for path in outputs:
        print_text(f"wrote {path}")


@reads_judgments(without=["documents"])
def test(
    prefs: Annotated[
        list[str],
        typer.Argument(
            metavar="JUDGMENTS",
            help=f"{JUDGMENTS_HELP} Of several files, the first and the rest are compared.",
        ),
    ],
    gains: Annotated[
        str | None,
        typer.Option(
            "--gains",
            metavar="FAMILY",
            help="Test these gains: linear, exponential, power:free ...",
        ),
    ] = None,
    discounts: Annotated[
        str | None,
        typer.Option(
            "--discounts", metavar="FAMILY", help="Test these discounts: log2, zipf, rbp:free ..."
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option("--measure", "-m", metavar="MEASURE", help="Test this measure."),
    ] = None,
    larger_gains: Annotated[
        str | None,
        typer.Option(
            "--larger-gains",
            metavar="FAMILY",
            help="Family of the gains of the larger model that is tested against; free by default.",
        ),
    ] = None,
    larger_discounts: Annotated[
        str | None,
        typer.Option(
            "--larger-discounts",
            metavar="FAMILY",
            help="Family of the discounts of the larger model; free by default.",
        ),
    ] = None,
    positions: Annotated[
        bool,
        typer.Option(
            "--larger-positions", help="The larger model has gains of its own at every rank."
        ),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="FIELD", help="Compare the groups that this field or column names."
        ),
    ] = None,
    judgments: JudgmentOptions = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Test a measure, or compare groups of judgments."""
    from dcglearn.inference.estimate import JudgmentModel
    from dcglearn.report.questions import (
        question_json,
        questions_text,
        segments_json,
        segments_text,
    )

    larger_families = {"--larger-gains": larger_gains, "--larger-discounts": larger_discounts}
    several = len(prefs) > 1
    refuse_together(
        {"--measure": measure},
        {"--gains": gains, "--discounts": discounts},
        {"--by": by},
        {"several files": several},
    )
    refuse_together({"--larger-positions": positions}, larger_families)
    if any(larger_families.values()) and not (gains or discounts or measure or by or several):
        raise InputError(
            "--larger-gains or --larger-discounts without --gains or --discounts",
            "name what is tested",
        )
    larger = JudgmentModel(
        gains=parse_family(larger_gains, "--larger-gains") or "free",
        discounts=parse_family(larger_discounts, "--larger-discounts") or "free",
        position_dependent=positions,
    )
    document: Any
    if by or several:
        segments = _compared(prefs, by, judgments, larger)
        document, text = segments_json(segments), segments_text(segments)
    else:
        families = parse_family(gains, "--gains"), parse_family(discounts, "--discounts")
        found = _asked(prefs[0], judgments, measure, families, larger)
        document, text = [question_json(one) for one in found], questions_text(found)
    if json:
        print_json(document)
    else:
        print_text(text)


def _compared(
    files: list[str], by: str | None, judgments: JudgmentOptions, model: JudgmentModel
) -> Segments:
    """Compare groups of judgments; judges are dropped from all files together."""
    from dcglearn.inference.segments import compare_segments
    from dcglearn.judgments.groups import read_groups

    label = f"reading {name_files(files)} (judgments)"
    with naming(files[0]), reporting(label) as advance:
        data, groups = read_groups(files, by, advance, **judgments.reading())
    if judgments.drop_judge:
        kept = judgments.kept(data)
        data, groups = data[kept], groups[kept]
    with naming(files[0]), reporting("comparing groups"):
        return compare_segments(data, groups.tolist(), model)


def _asked(
    file: str,
    judgments: JudgmentOptions,
    measure: str | None,
    families: tuple[FamilyLike | None, FamilyLike | None],
    larger: JudgmentModel,
) -> Sequence[Question]:
    """Test a measure, or families that are not wider than those of the larger model."""
    from dcglearn.inference.estimate import JudgmentModel
    from dcglearn.inference.evidence import Evidence
    from dcglearn.inference.questions import ask, usual_questions
    from dcglearn.judgments.packed import PackedPairs

    opened = judgments.open(file)
    held: Preferences | PackedPairs
    if isinstance(opened, PackedPairs) and opened.n_pairs > MAX_MODELLED:
        held = opened
    else:
        held = judgments.in_memory(opened)
    with naming(file), reporting("testing (judgments read)") as advance:
        data = Evidence.of(held, advance=advance) if isinstance(held, PackedPairs) else held
        gains, discounts = families
        if measure:
            with naming("--measure"):
                (named,) = measures_for_judgments([measure], data, file)
            return [ask(data, JudgmentModel(measure=named.measure), larger, named.name)]
        if gains is None and discounts is None and not larger.position_dependent:
            return usual_questions(data, larger)
        smaller = JudgmentModel(
            gains=gains or larger.gains, discounts=discounts or larger.discounts
        )
        name = _named(gains, discounts) or "the same gains at every rank"
        within = _named(
            *(None if one == "free" else one for one in (larger.gains, larger.discounts))
        )
        return [ask(data, smaller, larger, name + (f", within {within}" if within else ""))]


def _named(gains: FamilyLike | None, discounts: FamilyLike | None) -> str:
    """Name families, those that are there."""
    return ", ".join(
        f"{kind} {one if isinstance(one, str) else ','.join(f'{number:g}' for number in one)}"
        for kind, one in (("gains", gains), ("discounts", discounts))
        if one is not None
    )
