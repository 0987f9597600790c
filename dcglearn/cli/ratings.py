"""The command on ratings of single lists: pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.progress import reporting
from dcglearn.terminal.choices import WithinChoice
from dcglearn.terminal.inputs import naming
from dcglearn.terminal.judgment_options import JudgmentOptions, name_files, reads_judgments
from dcglearn.terminal.options import (
    MAX_COUNT,
    JsonOption,
    RatingColumnsOption,
    RatingsArgument,
)
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    from dcglearn.judgments.ratings import RatingPairs


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
    from dcglearn.base.files import check_writable
    from dcglearn.judgments.ratings import pairs_from_ratings, read_ratings
    from dcglearn.judgments.writing import check_judgment_format, write_preferences
    from dcglearn.report.rating_pairs import rating_pairs_document, rating_pairs_text

    check_judgment_format(out)
    check_writable(out)
    name = name_files(files)
    with reporting(f"reading {name}") as advance:
        rated = read_ratings(
            files,
            rating,
            judgments.declared_scale(),
            judgments.n_ranks,
            advance,
            columns=judgments.columns,
            unjudged=judgments.unjudged,
            null_values=judgments.null_marks(),
            strict=judgments.strict,
            encoding=judgments.encoding,
        )
    with naming(name):
        found: RatingPairs = pairs_from_ratings(
            rated, within, min_difference, not no_ties, equal_weights, at_most, seed
        )
    write_preferences(found.preferences, out)
    if json:
        print_json({"file": out, **rating_pairs_document(found)})
        return
    print_text(rating_pairs_text(found, out, within, equal_weights, seed is not None))
