"""Commands on judgments that learn nothing: inspect, agree, pack, pairs, simulate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.choices import WithinChoice
from dcglearn.cli.inputs import (
    check_files,
    measures_for_judgments,
    naming,
    refuse_together,
    split_measures,
)
from dcglearn.cli.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.cli.options import (
    MAX_COUNT,
    MAX_RANKS,
    JsonOption,
    JudgmentFilesArgument,
    JudgmentsAndMeasuresArgument,
    RatingColumnsOption,
    RatingsArgument,
    ScaleOption,
    SeedOption,
)
from dcglearn.cli.output import print_json, print_text

NOTHING_LEFT_OUT: dict[str, Any] = {
    "judgments_left_out": 0,
    "documents_without_grade": 0,
    "counted_as": None,
    "looked_up": None,
    "ignored_columns": [],
}
"""What is reported of packed judgments, which are read as they were written."""


def simulate(
    out: Annotated[
        str, typer.Argument(metavar="OUT", help="The .jsonl, .csv or .parquet file to write.")
    ],
    judgments: Annotated[
        int,
        typer.Option(
            "--judgments", "-n", min=1, max=MAX_COUNT, metavar="N", help="Number of judgments."
        ),
    ] = 500,
    truth: Annotated[
        str,
        typer.Option(
            "--truth",
            metavar="MEASURE",
            help="The measure that the judge follows: a preset, or a measure in full.",
        ),
    ] = "linear-log2",
    scale: ScaleOption = "2,1,0",
    n_ranks: Annotated[
        int, typer.Option("--K", min=1, max=MAX_RANKS, metavar="K", help="Length of the lists.")
    ] = 5,
    shortest: Annotated[
        int | None,
        typer.Option("--shortest", min=1, metavar="N", help="Draw lists of N to K documents."),
    ] = None,
    permute: Annotated[
        bool, typer.Option("--permute", help="Both lists of a pair hold the same grades, permuted.")
    ] = False,
    reliability: Annotated[
        float,
        typer.Option(
            "--reliability", metavar="X", help="How seldom the judge errs: 1 / scale of the noise."
        ),
    ] = 4.0,
    indifference: Annotated[
        float,
        typer.Option("--indifference", metavar="X", help="Smaller differences are called ties."),
    ] = 0.5,
    bias: Annotated[
        float, typer.Option("--bias", metavar="X", help="Advantage of the list shown as a.")
    ] = 0.0,
    seed: SeedOption = 0,
) -> None:
    """Write simulated side-by-side judgments to try things on."""
    import numpy as np

    from dcglearn.judgments.writing import write_preferences
    from dcglearn.lab.simulation.judges import side_by_side
    from dcglearn.lab.simulation.lists import drawn_lists
    from dcglearn.measures.names import measure_for
    from dcglearn.measures.scale import Scale

    check_files(out, None, truth)
    refuse_together({"--permute": permute}, {"--shortest": shortest})
    grades = Scale.parse(scale or "2,1,0")
    rng = np.random.default_rng(seed)
    if len(grades) < 2:
        raise InputError(f"--scale {grades} holds one grade", "name at least two")
    lists = drawn_lists(judgments, n_ranks, [1 / len(grades)] * len(grades), rng, shortest)
    if permute:
        lists[:, 1] = rng.permuted(lists[:, 0], axis=1)
    preferences = side_by_side(
        measure_for(truth, grades, n_ranks).measure,
        lists,
        grades,
        rng,
        reliability,
        indifference,
        bias,
    )
    write_preferences(preferences, out)
    print_text(
        f"wrote {out}: {counted(len(preferences), 'judgment')} by a simulated judge who follows "
        f"{truth}, {int(preferences.strict.sum()):,} strict"
    )


@reads_judgments()
def inspect(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Describe a file of judgments and what it can determine."""
    from dcglearn.judgments.inspection import inspect_judgments
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.learning.identify import identify
    from dcglearn.learning.problem import Problem
    from dcglearn.learning.record import as_json
    from dcglearn.learning.undetermined import undetermined_statements
    from dcglearn.report.judgments import (
        contents_text,
        findings_text,
        grade_table,
        identifiability_text,
        inspection_text,
        scale_text,
    )
    from dcglearn.report.words import wrap_lines

    documents = judgments.documents
    prefs = name_files(files)
    opened = judgments.open(files)
    data = judgments.in_memory(opened)
    if isinstance(opened, PackedPairs):
        reading = {**NOTHING_LEFT_OUT, "digest": opened.digest}
    else:
        reading = opened.counts()
    labels, noun = data.scale.labels, "document" if documents else "grade"
    identified = None
    with reporting(f"inspecting {counted(len(data), 'judgment')}"):
        found = inspect_judgments(data, documents)
        if found.summary.strict:
            problem = Problem.of(
                data.pairs, data.n_grades, weights=data.pair_weights, monotone=not documents
            )
            identified = identify(problem)
    if json:
        record = None
        if identified is not None:
            statements = undetermined_statements(identified, labels, noun)
            record = as_json(identified) | {"statements": statements}
        print_json(
            {
                "file": prefs,
                f"{noun}s": list(labels),
                **found.to_json(),
                "reading": reading,
                "identifiability": record,
            }
        )
        return
    words = scale_text(data.scale, judgments.scale is not None, documents)
    parts = [contents_text(prefs, found.summary, words)]
    if "digest" in reading:
        parts.append(f"SHA-256 of the content: {reading['digest']}")
    if identified is None:
        parts.append("no strict preference: nothing can be learned from this file")
    else:
        parts.append(findings_text(found))
    if not documents:
        parts.append(grade_table(labels, found.summary.grade_counts).text())
    if identified is not None:
        parts += [inspection_text(found), identifiability_text(identified, labels, noun)]
    print_text(wrap_lines("\n\n".join(parts)))


@reads_judgments()
def agree(
    arguments: JudgmentsAndMeasuresArgument,
    judgments: JudgmentOptions = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Count how often measures agree with judgments."""
    from dcglearn.learning.agreement import judged_agreement
    from dcglearn.report.comparisons import agreement_json, agreement_table
    from dcglearn.report.measures import in_full

    files, names = split_measures(arguments)
    prefs = name_files(files)
    if judgments.documents and not names:
        raise InputError("presets need grades, and documents have none", "name a learned measure")
    data = judgments.load(files)
    named = measures_for_judgments(names, data, prefs)
    data = data[data.weights > 0]
    if not data.strict.any():
        raise InputError("no strict preference has a weight above 0", "add an answer a or b", prefs)
    rows = [
        (one.name, judged_agreement(one.measure, data), in_full(one.measure, one.file))
        for one in named
    ]
    if json:
        print_json(agreement_json(prefs, rows, data))
        return
    short = [(name, row, _short(full)) for name, row, full in rows]
    print_text(agreement_table(short, data).text())


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


@reads_judgments(without=["documents", "drop_judge"])
def pack(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions,
    out: Annotated[str, typer.Argument(metavar="OUT", help="The .parquet file to write.")],
) -> None:
    """Pack judgments into a file that is read in parts."""
    from dcglearn.judgments.packed import PackedPairs, is_packed, packed_writer

    check_files(out, [".parquet"], files, judgments.files())
    if len(files) > 1 and Path(out).exists() and not is_packed(out):
        remedy = "name the file to write last; one that is not there yet, or of packed pairs"
        raise InputError("is there, and holds no packed pairs", remedy, out)
    opened = judgments.open(files)
    n = opened.n_pairs if isinstance(opened, PackedPairs) else len(opened)
    done = ties = 0
    with (
        reporting(f"packing {counted(n, 'judgment')}") as advance,
        packed_writer(out, opened.scale) as write,
    ):
        for part in opened.batches():
            write(part)
            done, ties = done + len(part), ties + int((~part.strict).sum())
            advance(done, n)
    left = f", {ties:,} of them without a preference" if ties else ""
    print_text(f"wrote {out}: {counted(done, 'judgment')}{left}")


@reads_judgments(
    without=["documents", "qrels", "run", "answers", "drop_judge"], columns=RatingColumnsOption
)
def pairs(
    files: RatingsArgument,
    judgments: JudgmentOptions,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The .jsonl, .csv or .parquet file to write."
        ),
    ],
    rating: Annotated[
        str | None,
        typer.Option(
            "--rating",
            metavar="FIELD",
            help="The column of the rating; by default rating, score or satisfaction.",
        ),
    ] = None,
    within: Annotated[
        WithinChoice,
        typer.Option(
            "--within", help="Pair lists of one query, of one query and judge, or all lists."
        ),
    ] = "query",
    min_difference: Annotated[
        float,
        typer.Option(
            "--min-difference",
            min=0.0,
            metavar="X",
            help="Leave out pairs whose ratings differ by less; equal ones are ties.",
        ),
    ] = 0.0,
    no_ties: Annotated[
        bool, typer.Option("--no-ties", help="Leave out pairs of equal ratings.")
    ] = False,
    equal_weights: Annotated[
        bool,
        typer.Option(
            "--equal-weights",
            help="Give every pair the weight 1, not 2/n in a query with n lists.",
        ),
    ] = False,
    at_most: Annotated[
        int | None,
        typer.Option(
            "--at-most",
            min=1,
            max=MAX_COUNT,
            metavar="N",
            help="Draw N of the pairs if there are more; they get all of the weight.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            metavar="N",
            help="Draw which list is shown as a; by default a and b win in turn.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make judgments of pairs of lists that were rated one by one."""
    from dcglearn.judgments.ratings import pairs_from_ratings, read_ratings
    from dcglearn.judgments.writing import check_judgment_format, write_preferences
    from dcglearn.report.judgments import rating_pairs_document, rating_pairs_text

    check_judgment_format(out)
    check_files(out, None, files)
    name = name_files(files)
    with reporting(f"reading {name}") as advance:
        rated = read_ratings(files, rating, advance=advance, **judgments.reading())
    with naming(name):
        found = pairs_from_ratings(
            rated, within, min_difference, not no_ties, equal_weights, at_most, seed
        )
    write_preferences(found.preferences, out)
    if json:
        print_json({"file": out, **rating_pairs_document(found)})
        return
    print_text(rating_pairs_text(found, out, within, equal_weights, seed is not None))
