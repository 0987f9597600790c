"""Commands that say what judgments prove: study, test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.base.progress import reporting
from dcglearn.terminal.inputs import measures_for_judgments, naming, parse_family
from dcglearn.terminal.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.terminal.options import (
    JUDGMENTS_HELP,
    JsonOption,
    JudgmentFilesArgument,
    SeedOption,
)
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcglearn.inference.estimate import JudgmentModel
    from dcglearn.inference.evidence import Evidence
    from dcglearn.inference.families import FamilyLike
    from dcglearn.inference.questions import Question
    from dcglearn.judgments.preferences import Preferences

MAX_MODELLED = 1_000_000
"""More packed judgments are tested without reading them into memory."""

MODEL_BYTES = 2200
"""Memory per judgment that the model of judgments takes."""


@reads_judgments(without=["documents"])
def study(
    files: JudgmentFilesArgument,
    measure: Annotated[
        str | None,
        typer.Option("--measure", "-m", metavar="MEASURE", help="The measure in use."),
    ] = None,
    judgments: JudgmentOptions = AS_USUAL,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the page (.html, .md, .txt) or its numbers (.json). May be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Say on one page what judgments prove."""
    import numpy as np

    from dcglearn.study.facts import study_judgments
    from dcglearn.study.page import STUDY_FORMATS, study_json, study_text, write_study

    for path in out or []:
        checked_suffix(path, STUDY_FORMATS)
        check_writable(path)
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
    for path in out or []:
        write_study(found, path, np.random.default_rng(seed))
    if json:
        print_json(study_json(found))
        return
    print_text(study_text(found))
    for path in out or []:
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
            "--by", metavar="FIELD", help="Compare the groups of judgments that this field names."
        ),
    ] = None,
    judgments: JudgmentOptions = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Test a measure, or compare groups of judgments."""
    from dcglearn.inference.estimate import JudgmentModel
    from dcglearn.inference.segments import compare_segments
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.report.questions import (
        question_json,
        questions_text,
        segments_json,
        segments_text,
    )

    if measure and (gains or discounts):
        raise InputError("--measure with --gains or --discounts", "test one at a time")
    if by and len(prefs) > 1:
        raise InputError(
            "--by with several files", "give one file, a folder or a pattern in quotes"
        )
    if positions and (larger_gains or larger_discounts):
        raise InputError(
            "--larger-positions with --larger-gains or --larger-discounts", "use one of them"
        )
    if (larger_gains or larger_discounts) and not (
        gains or discounts or measure or by or len(prefs) > 1
    ):
        raise InputError(
            "--larger-gains or --larger-discounts without --gains or --discounts",
            "name what is tested",
        )
    larger = JudgmentModel(
        gains=parse_family("--larger-gains", larger_gains) or "free",
        discounts=parse_family("--larger-discounts", larger_discounts) or "free",
        position_dependent=positions,
    )
    if by or len(prefs) > 1:
        if measure or gains or discounts:
            raise InputError("groups are compared, and a measure tested", "do one at a time")
        data, groups = _grouped(prefs, by, judgments)
        with naming(prefs[0]), reporting("comparing groups"):
            segments = compare_segments(data, groups, larger)
        if json:
            print_json(segments_json(segments))
        else:
            print_text(segments_text(segments))
        return
    opened = _opened(prefs[0], judgments)
    families = parse_family("--gains", gains), parse_family("--discounts", discounts)
    with naming(prefs[0]), reporting("testing (judgments read)") as advance:
        if not isinstance(opened, Preferences):
            opened = opened.with_progress(advance)
        found = _asked(opened, prefs[0], measure, families, larger)
    if json:
        print_json([question_json(one) for one in found])
    else:
        print_text(questions_text(found))


def _opened(path: str, judgments: JudgmentOptions) -> Preferences | Evidence:
    """Read judgments; packed ones that do not fit are read again at every pass."""
    pairs = judgments.open_packed(path)
    if pairs is not None and pairs.n_pairs > MAX_MODELLED:
        from dcglearn.inference.evidence import Evidence

        with naming(path), reporting(f"reading {path} (parts)") as advance:
            return Evidence.of(pairs, advance=advance)
    return judgments.load(path)


def _asked(
    data: Preferences | Evidence,
    path: str,
    measure: str | None,
    families: tuple[FamilyLike | None, FamilyLike | None],
    larger: JudgmentModel,
) -> Sequence[Question]:
    """Test a measure, or families that are not wider than those of the larger model."""
    from dcglearn.inference.estimate import JudgmentModel
    from dcglearn.inference.questions import ask, usual_questions

    if measure:
        (named,) = measures_for_judgments([measure], data, path)
        return [ask(data, JudgmentModel(measure=named.measure), larger, named.name)]
    gains, discounts = families
    if gains is None and discounts is None and not larger.position_dependent:
        return usual_questions(data, larger)
    smaller = JudgmentModel(gains=gains or larger.gains, discounts=discounts or larger.discounts)
    name = _named(gains, discounts) or "the same gains at every rank"
    within = _named(*(None if one == "free" else one for one in (larger.gains, larger.discounts)))
    return [ask(data, smaller, larger, name + (f", within {within}" if within else ""))]


def _named(gains: FamilyLike | None, discounts: FamilyLike | None) -> str:
    """Name families, those that are there."""
    return ", ".join(
        f"{kind} {one if isinstance(one, str) else ','.join(f'{number:g}' for number in one)}"
        for kind, one in (("gains", gains), ("discounts", discounts))
        if one is not None
    )


def _grouped(
    paths: Sequence[str], by: str | None, judgments: JudgmentOptions
) -> tuple[Preferences, list[str | None]]:
    """Read judgments, and the group of each; judges are dropped from all files together."""
    data, groups = _everyone_grouped(paths, by, replace(judgments, drop_judge=None))
    if not judgments.drop_judge:
        return data, groups
    kept = judgments.kept(data)
    return data[kept], [group for group, stays in zip(groups, kept.tolist(), strict=True) if stays]


def _everyone_grouped(
    paths: Sequence[str], by: str | None, judgments: JudgmentOptions
) -> tuple[Preferences, list[str | None]]:
    """Read judgments, and the group of each: a field, or the file it is from."""
    from dcglearn.base.errors import unknown_name
    from dcglearn.judgments.preferences import concatenated

    if by is not None:
        packed = judgments.open_packed(paths[0]) is not None
        if not packed and by not in ("query", "judge"):
            table = judgments.gather(paths[0], (by,))
            return judgments.in_memory(table), table.kept(by).tolist()
        data = judgments.load(paths[0], bytes_each=MODEL_BYTES)
        ids = {"query": data.queries, "judge": data.judges}
        if by not in ids:
            raise unknown_name("field", by, ids).at(paths[0])
        groups: list[str | None] = ids[by].tolist()
        return data, groups
    parts = [judgments.load(path, bytes_each=MODEL_BYTES) for path in paths]
    names = [Path(paths[0]).name, "the other files" if len(paths) > 2 else Path(paths[1]).name]
    if names[0] == names[1]:
        names = [paths[0], paths[1]]
    groups = []
    for place, part in enumerate(parts):
        groups += [names[min(place, 1)]] * len(part)
    return concatenated(parts), groups
