"""Commands that say what judgments prove: study, test."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.progress import reporting
from dcglearn.files.files import check_writable, checked_suffix
from dcglearn.terminal.inputs import measures_for_judgments, naming
from dcglearn.terminal.judgment_options import AS_USUAL, JudgmentOptions, reads_judgments
from dcglearn.terminal.options import (
    JsonOption,
    JudgmentsArgument,
    SeedOption,
)
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcglearn.data.preferences import Preferences
    from dcglearn.inference.questions import Question
    from dcglearn.inference.segments import Segments


@reads_judgments(without=["encoding"])
def study(
    prefs: JudgmentsArgument,
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
    data = judgments.load(prefs)
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


@reads_judgments(without=["encoding"])
def test(
    prefs: Annotated[
        list[str],
        typer.Argument(
            metavar="JUDGMENTS",
            help="A .jsonl, .csv or .parquet file; of several, the first and the rest.",
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
    from dcglearn.inference.questions import ask, usual_questions
    from dcglearn.inference.segments import compare_segments

    if measure and (gains or discounts):
        raise InputError("--measure with --gains or --discounts", "test one at a time")
    if by and len(prefs) > 1:
        raise InputError("--by with several files", "give one file, or leave --by out")
    if by or len(prefs) > 1:
        if measure or gains or discounts:
            raise InputError("groups are compared, and a measure tested", "do one at a time")
        data, groups = _grouped(prefs, by, judgments)
        with naming(prefs[0]), reporting("comparing groups"):
            segments = compare_segments(data, groups)
        if json:
            print_json(_segments_json(segments))
        else:
            print_text(_segments_text(segments))
        return
    data = judgments.load(prefs[0])
    model = JudgmentModel()
    with naming(prefs[0]), reporting("testing"):
        if measure:
            (named,) = measures_for_judgments([measure], data, prefs[0])
            hypothesis = JudgmentModel(measure=named.measure)
            found: Sequence[Question] = [ask(data, hypothesis, model, named.name)]
        elif gains or discounts:
            hypothesis = JudgmentModel(gains=gains or "free", discounts=discounts or "free")
            name = ", ".join(
                f"{kind} {family}"
                for kind, family in (("gains", gains), ("discounts", discounts))
                if family
            )
            found = [ask(data, hypothesis, model, name)]
        else:
            found = usual_questions(data, model)
    if json:
        print_json([_question_json(one) for one in found])
    else:
        print_text(_questions_text(found))


def _grouped(
    paths: Sequence[str], by: str | None, judgments: JudgmentOptions
) -> tuple[Preferences, list[str | None]]:
    """Read judgments, and the group of each: a field, or the file it is from."""
    from dcglearn.data.concatenated import concatenated
    from dcglearn.data.judgment_fields import JUDGMENT_FIELDS
    from dcglearn.reading.judgment_files import read_field

    if by is not None:
        groups = read_field(paths[0], by)
        other = () if by in JUDGMENT_FIELDS else (by,)
        data = judgments.load(paths[0], other)
        return data, groups
    parts = [judgments.load(path) for path in paths]
    names = [Path(paths[0]).name, "the other files" if len(paths) > 2 else Path(paths[1]).name]
    if names[0] == names[1]:
        names = [paths[0], paths[1]]
    groups = []
    for place, part in enumerate(parts):
        groups += [names[min(place, 1)]] * len(part)
    return concatenated(parts), groups


def _questions_text(questions: Sequence[Question]) -> str:
    from dcglearn.report.tables import Table
    from dcglearn.study.words import one_in, p_words, statement

    rows = [
        (
            statement(one),
            one.verdict,
            one_in(one.reversed_judged),
            p_words(one.corrected),
            round(one.test.statistic, 1),
            one.test.df,
        )
        for one in questions
    ]
    columns = ("statement", "verdict", "differs (judged pairs)", "p", "LR", "df")
    lines = [Table(columns, rows, digits=1).text(), ""]
    if len(questions) == 1:
        one = questions[0]
        lines += [_estimates_text(one)]
    lines.append("LR: likelihood ratio; p allows for judgments that share a query or a judge")
    if len(questions) > 1:
        lines[-1] += f", and for {len(questions)} questions"
    return "\n".join(lines)


def _estimates_text(one: Question) -> str:
    from dcglearn.report.tables import Table
    from dcglearn.study.words import interval_words, short

    pairs = [
        *zip(one.fit.gains(), one.restricted.gains(), strict=True),
        *zip(one.fit.discounts(), one.restricted.discounts(), strict=True),
    ]
    rows = [
        (free.name, short(free.estimate), interval_words(free), short(restricted.estimate))
        for free, restricted in pairs
        if not free.given
    ]
    return Table(("number", "estimate", "95% interval", "tested"), rows).text() + "\n"


def _segments_text(segments: Segments) -> str:
    from dcglearn.report.tables import Table
    from dcglearn.study.words import interval_words, one_in, p_words, short

    rows = [
        (
            one.name,
            one.judgments,
            one.other_judgments,
            "differ"
            if one.corrected < 0.02
            else "near the line"
            if one.corrected < 0.1
            else "alike",
            one_in(one.reversed_judged),
            p_words(one.corrected),
        )
        for one in segments.compared
    ]
    columns = ("group", "judgments", "others", "measures", "differ (judged pairs)", "p")
    lines = [Table(columns, rows).text()]
    if len(segments.compared) == 1:
        one = segments.compared[0]
        pairs = [
            *zip(one.fit.gains(), one.other.gains(), strict=True),
            *zip(one.fit.discounts(), one.other.discounts(), strict=True),
        ]
        numbers = [
            (a.name, short(a.estimate), interval_words(a), short(b.estimate), interval_words(b))
            for a, b in pairs
            if not a.given
        ]
        head = ("number", one.name, "95% interval", "others", "95% interval")
        lines += ["", Table(head, numbers).text()]
    if segments.too_small:
        lines += ["", f"left out, too few judgments: {', '.join(segments.too_small)}"]
    return "\n".join(lines)


def _question_json(one: Question) -> dict[str, Any]:
    return {
        "about": one.about,
        "hypothesis": one.hypothesis,
        "verdict": one.verdict,
        **asdict(one.test),
        "corrected_p": one.corrected,
        "reversed_judged": one.reversed_judged,
        "reversed_all": one.reversed_all,
    }


def _segments_json(segments: Segments) -> dict[str, Any]:
    compared = []
    for one in segments.compared:
        numbers = {key: value for key, value in vars(one).items() if key not in ("fit", "other")}
        estimates = {
            name: [asdict(number) for number in (*fit.gains(), *fit.discounts())]
            for name, fit in (("estimates", one.fit), ("other_estimates", one.other))
        }
        compared.append(numbers | estimates)
    return {"compared": compared, "too_small": list(segments.too_small)}
