"""Commands on judgments that learn nothing: inspect, agree, pack, pairs, simulate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

import dcglearn
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.inputs import (
    measures_for_judgments,
    name_files,
    naming,
    refuse_together,
    split_measures,
)
from dcglearn.cli.options import (
    FORMATS_HELP,
    SEVERAL_HELP,
    JudgmentFilesArgument,
    JudgmentsAndMeasuresArgument,
    ScaleOption,
    SeedOption,
    columns_option,
    file_option,
    number_option,
    ranks_option,
    real_option,
)
from dcglearn.cli.output import print_text
from dcglearn.cli.reading import AS_USUAL, JudgmentOptions


@command(json=False)
def simulate(
    out: Annotated[
        str, Argument(metavar="OUT", help="The file to write: JSON lines, CSV or Parquet.")
    ],
    n: Annotated[int, number_option("--judgments", "-n", min=1, help="Number of judgments.")] = 500,
    truth: Annotated[
        str,
        Option(
            metavar="MEASURE",
            help="The measure that the judge follows: a preset, or a measure in full.",
        ),
    ] = "linear-log2",
    scale: ScaleOption = "2,1,0",
    n_ranks: Annotated[int, ranks_option(help="Length of the lists.")] = 5,
    shortest: Annotated[
        int | None, Option(min=1, metavar="N", help="Draw lists of N to K documents.")
    ] = None,
    permute: Annotated[
        bool, Option("--permute", help="Both lists of a pair hold the same grades, permuted.")
    ] = False,
    reliability: Annotated[
        float, real_option(help="How seldom the judge errs: 1 / scale of the noise.")
    ] = 4.0,
    indifference: Annotated[float, real_option(help="Smaller differences are called ties.")] = 0.5,
    bias: Annotated[float, real_option(help="Advantage of the list shown as a.")] = 0.0,
    seed: SeedOption = 0,
) -> None:
    """Write simulated side-by-side judgments to try things on."""
    import numpy as np

    refuse_together({"--permute": permute}, {"--shortest": shortest})
    grades = dcglearn.Scale.parse(scale or "2,1,0")
    rng = np.random.default_rng(seed)
    if len(grades) < 2:
        raise InputError(f"--scale {grades} holds one grade", "name at least two")
    lists = dcglearn.drawn_lists(n, n_ranks, [1 / len(grades)] * len(grades), rng, shortest)
    if permute:
        lists[:, 1] = rng.permuted(lists[:, 0], axis=1)
    measure = dcglearn.measure_for(truth, grades, n_ranks).measure
    preferences = dcglearn.side_by_side(
        measure, lists, grades, rng, reliability, indifference, bias
    )
    dcglearn.write_preferences(preferences, out)
    print_text(
        f"wrote {out}: {counted(len(preferences), 'judgment')} by a simulated judge who follows "
        f"{truth}, {int(preferences.strict.sum()):,} strict"
    )


@command()
def inspect(files: JudgmentFilesArgument, judgments: JudgmentOptions = AS_USUAL) -> Answer:
    """Describe a file of judgments and what it can determine."""
    from dcglearn.learning.record import as_json
    from dcglearn.report.judgments import inspection_page, scale_text

    opened, documents = judgments.open(files), judgments.documents
    noun = "document" if documents else "grade"
    data, known = judgments.in_memory(opened), None
    with reporting(f"inspecting {counted(len(data), 'judgment')}"):
        found = dcglearn.inspect_judgments(data, documents)
        if found.summary.strict:
            problem = dcglearn.Problem.of(
                data.pairs, data.n_grades, weights=data.pair_weights, monotone=not documents
            )
            found_out = dcglearn.identify(problem)
            statements = found_out.undetermined(data.scale.labels, noun)
            known = as_json(found_out) | {"statements": statements}
    content = {
        "file": name_files(files),
        f"{noun}s": data.scale.labels,
        **found.to_json(),
        "reading": opened.counts(),
        "identifiability": known,
    }
    scale = scale_text(data.scale, judgments.scale is not None, documents)
    return Answer(lambda: content, lambda: inspection_page(content, found, scale))


@command()
def agree(arguments: JudgmentsAndMeasuresArgument, judgments: JudgmentOptions = AS_USUAL) -> Answer:
    """Count how often measures agree with judgments."""
    from dcglearn.judgments.folds import query_counts
    from dcglearn.learning.agreement import judged_agreement
    from dcglearn.report.comparisons import agreement_table
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
    strict, weighted = len(data.pairs), bool((data.weights != data.weights[0]).any())
    n_queries, alone = query_counts(data.queries[data.strict])
    content = {
        "file": prefs,
        "judgments": len(data),
        "strict": strict,
        "ties": len(data) - strict,
        "queries": n_queries,
        "without_query": alone,
        "rows": [
            {
                "measure": one.name,
                **vars(judged_agreement(one.measure, data)),
                "in full": in_full(one.measure, one.file),
            }
            for one in named
        ],
    }
    return Answer(lambda: content, lambda: agreement_table(content, weighted).text())


@command(without=["documents", "drop_judge"], json=False)
def pack(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions,
    out: Annotated[str, Argument(metavar="OUT", help="The .parquet file to write.")],
) -> None:
    """Pack judgments into a file that is read in parts."""
    from dcglearn.judgments.packed import is_packed

    if len(files) > 1 and Path(out).exists() and not is_packed(out):
        remedy = "name the file to write last; one that is not there yet, or of packed pairs"
        raise InputError("is there, and holds no packed pairs", remedy, out)
    opened = judgments.open(files)
    done = ties = 0
    with (
        reporting(f"packing {counted(len(opened), 'judgment')}") as advance,
        dcglearn.packed_writer(out, opened.scale) as write,
    ):
        for part in opened.batches():
            write(part)
            done, ties = done + len(part), ties + int((~part.strict).sum())
            advance(done, len(opened))
    left = f", {ties:,} of them without a preference" if ties else ""
    print_text(f"wrote {out}: {counted(done, 'judgment')}{left}")


@command(
    without=["documents", "qrels", "run", "answers", "drop_judge"],
    columns=Annotated[
        str | None,
        columns_option(
            help="The columns that hold the fields grades, rating, query, judge and weight, where "
            "they have other names: grades=labels,rating=stars."
        ),
    ],
)
def pairs(
    files: Annotated[
        list[str],
        Argument(
            metavar="RATINGS",
            help=f"{FORMATS_HELP} Columns: grades (of a list, from the first rank) and rating, "
            f"score or satisfaction; where known, query, judge and weight. {SEVERAL_HELP}",
        ),
    ],
    judgments: JudgmentOptions,
    out: Annotated[
        str, file_option("--out", "-o", help="The file to write: JSON lines, CSV or Parquet.")
    ],
    rating: Annotated[
        str | None,
        Option(
            metavar="FIELD",
            help="The column of the rating; by default rating, score or satisfaction.",
        ),
    ] = None,
    within: Annotated[
        Literal["query", "judge", "all"],
        Option(help="Pair lists of one query, of one query and judge, or all lists."),
    ] = "query",
    min_difference: Annotated[
        float,
        real_option(
            min=0.0, help="Leave out pairs whose ratings differ by less; equal ones are ties."
        ),
    ] = 0.0,
    no_ties: Annotated[bool, Option("--no-ties", help="Leave out pairs of equal ratings.")] = False,
    equal_weights: Annotated[
        bool,
        Option(
            "--equal-weights", help="Give every pair the weight 1, not 2/n in a query with n lists."
        ),
    ] = False,
    at_most: Annotated[
        int | None,
        number_option(
            min=1, help="Draw N of the pairs if there are more; they get all of the weight."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        Option(
            min=0,
            metavar="N",
            help="Draw which list is shown as a; by default a and b win in turn.",
        ),
    ] = None,
) -> Answer:
    """Make judgments of pairs of lists that were rated one by one."""
    from dcglearn.judgments.writing import check_judgment_format
    from dcglearn.report.judgments import rating_pairs_text

    check_judgment_format(out)
    name = name_files(files)
    with reporting(f"reading {name}") as advance:
        rated = dcglearn.read_ratings(files, rating, advance=advance, **judgments.reading())
    with naming(name):
        found = dcglearn.pairs_from_ratings(
            rated, within, min_difference, not no_ties, equal_weights, at_most, seed
        )
    made = found.preferences
    dcglearn.write_preferences(made, out)
    strict = int(made.strict.sum())
    content = {
        "file": out,
        "judgments": len(made),
        "strict": strict,
        "ties": len(made) - strict,
        "weight": float(made.weights.sum()),
        "identical": int((made.lists[:, 0] == made.lists[:, 1]).all(axis=1).sum()),
        "lists": found.lists,
        "groups": found.groups,
        "possible": found.possible,
        "left_out": {
            "lists_without_id": found.without_id,
            "lists_alone": found.alone,
            "equal": found.equal,
            "small": found.small,
            "not_drawn": found.not_drawn,
        },
    }
    a_wins = f"a wins {int((made.answers == 0).sum()):,}"
    sides = f"{'in turn' if seed is None else 'drawn'}; {a_wins}"
    return Answer(lambda: content, lambda: rating_pairs_text(content, within, equal_weights, sides))
