"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dcglearn.cli.choices import MarginChoice, SolverChoice, UseChoice

MAX_RANKS, MAX_COUNT = 100_000, 100_000_000
"""Largest numbers of ranks, and of judgments or fits, that commands take."""

FORMATS_HELP = (
    "JSON (.jsonl, .ndjson, .json), delimited text (.csv, .tsv, .txt), Parquet, Arrow or Excel "
    "(.xlsx), each also compressed (.gz, .zst, .bz2, .xz); a folder of parts, a pattern in "
    "quotes, or - for standard input."
)
JUDGMENTS_HELP = (
    f"{FORMATS_HELP} Columns: a and b (the grades of two lists, from the first rank) and answer "
    "(a, b, tie, good or bad); where known, query, judge and weight."
)
"""What a file of judgments is, for commands that take several, too."""

_SEVERAL = "Several files are read as one."

JudgmentFilesArgument = Annotated[
    list[str],
    typer.Argument(metavar="JUDGMENTS", help=f"{JUDGMENTS_HELP} {_SEVERAL}"),
]
JudgmentsAndMeasuresArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="JUDGMENTS|MEASURE",
        help=f"{JUDGMENTS_HELP} {_SEVERAL} Then measures: presets (zipf, rbp:0.8), measure files "
        "(learned.json, learned.json:utility) or measures in full; by default every preset.",
    ),
]
"""What :func:`dcglearn.cli.inputs.split_measures` divides."""

RatingsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RATINGS",
        help=f"{FORMATS_HELP} Columns: grades (of a list, from the first rank) and rating, score "
        f"or satisfaction; where known, query, judge and weight. {_SEVERAL}",
    ),
]
ScoredArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="DOCUMENTS",
        help=f"{FORMATS_HELP} Columns: score, grade (empty if not judged) and, where known, id. "
        f"{_SEVERAL}",
    ),
]
_OF_DOCUMENTS = (
    "TREC text, .csv, .json, .jsonl, .parquet or .arrow (each also .gz, .zst, .bz2, .xz)"
)

QrelsArgument = Annotated[
    str,
    typer.Argument(
        metavar="QRELS",
        help=f"{_OF_DOCUMENTS}, LETOR lists, or ir_datasets:ID.",
    ),
]
RunsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN",
        help=f"{_OF_DOCUMENTS}; with LETOR lists, one score per line.",
    ),
]
SCALE_HELP = (
    "The grades, best first: 2,1,0 or perfect,good,bad or perfect=3,good=1,bad=0. Not needed where "
    "the grades in the file are numbers."
)

ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="BEST,...,WORST",
        help=SCALE_HELP,
    ),
]
RanksOption = Annotated[
    int | None,
    typer.Option(
        "--K",
        min=1,
        max=MAX_RANKS,
        metavar="K",
        help="Length of the lists; longer lists are refused.",
    ),
]
QrelsOption = Annotated[
    str | None,
    typer.Option(
        "--qrels", metavar="FILE", help="Grades of documents, where the lists hold document ids."
    ),
]
RunOption = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="FILE",
        help="A run that the judgments name (run_a, run_b); its first K documents are used. "
        "May be repeated.",
    ),
]


def _columns_option(fields: str, example: str) -> Any:
    words = f"The columns that hold the fields {fields}, where they have other names: {example}."
    return typer.Option("--columns", metavar="FIELD=COLUMN,...", help=words)


ColumnsOption = Annotated[
    str | None,
    _columns_option(
        "a, b, answer, query, judge and weight",
        "a=left,b=right,answer=verdict; answers of several raters: answer=ann+bob; where sides "
        "were shuffled: a_shown_on=COLUMN; ignore=COLUMN leaves one out",
    ),
]
RatingColumnsOption = Annotated[
    str | None,
    _columns_option("grades, rating, query, judge and weight", "grades=labels,rating=stars"),
]
ScoredColumnsOption = Annotated[
    str | None, _columns_option("score, grade and id", "score=bm25,grade=label")
]
AnswersOption = Annotated[
    str | None,
    typer.Option(
        "--answers",
        metavar="VALUE=ANSWER,...",
        help="What answers mean: left=a,right=b,same=tie; out leaves judgments out, =tie makes "
        "empty answers ties. Not needed for words and signs that can mean only one thing.",
    ),
]
UnjudgedOption = Annotated[
    str,
    typer.Option(
        "--unjudged",
        metavar="worst|drop|GRADE",
        help="Grade of listed documents that have none: the worst one, or another; drop takes them "
        "out of the lists.",
    ),
]
DropJudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop-judge", metavar="NAME", help="Leave out what this judge said. May be repeated."
    ),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Refuse columns that are not fields.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
COption = Annotated[
    str,
    typer.Option(
        "--C",
        metavar="C|cv",
        help="Cost of a missed margin; cv chooses it by cross-validation over queries.",
    ),
]
MarginOption = Annotated[
    MarginChoice,
    typer.Option(
        "--margin",
        help="Margin by which the better list should win: 1, or the number of ranks at which the "
        "lists differ.",
    ),
]
PriorOption = Annotated[
    str,
    typer.Option(
        "--prior",
        metavar="usual|MEASURE|none",
        help="What learning starts from, and departs from on evidence: the usual measures, one "
        "measure (a preset, a file), or none, which gives the DCG nearest to the learned weights.",
    ),
]
DocumentsOption = Annotated[
    bool,
    typer.Option("--documents", help="Lists rank K documents that have no grades."),
]
EncodingOption = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text, such as latin-1; UTF-16 is recognised by its byte order mark.",
    ),
]
NullValuesOption = Annotated[
    str | None,
    typer.Option(
        "--null-values",
        metavar="VALUE,...",
        help="What lists hold where a document has no grade, such as -1, besides null.",
    ),
]
SolverOption = Annotated[
    SolverChoice, typer.Option("--solver", help="Solver of the quadratic program.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="Seed of the random numbers.")
]
UseOption = Annotated[
    UseChoice,
    typer.Option(
        "--use",
        help="The learned measure to use: gains and discounts (dcg), or one weight per grade "
        "and rank (utility).",
    ),
]
FigureOption = Annotated[
    str | None,
    typer.Option("--figure", "-o", metavar="FILE", help="Draw it to a .png, .svg or .pdf file."),
]

FoldsOption = Annotated[int, typer.Option("--folds", min=2, metavar="N", help="Folds, by query.")]

RepeatsOption = Annotated[
    int,
    typer.Option(
        "--repeats", min=1, max=MAX_COUNT, metavar="N", help="Divisions into folds, averaged."
    ),
]

AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="MEASURE",
        help="The measure that all are compared with; by default the learned one.",
    ),
]
