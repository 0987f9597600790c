"""Options that several commands share, and how results are printed."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, reporting
from dcglearn.base.suggestions import unknown_name

if TYPE_CHECKING:
    from dcglearn.data.document_judgments import DocumentGrades
    from dcglearn.data.preferences import Preferences
    from dcglearn.data.record_formats import IgnoredInput
    from dcglearn.measures.scale import Scale

Judgments = Annotated[
    str, typer.Argument(metavar="PREFS", help="Judgments: .jsonl, .csv or .parquet.")
]
ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="BEST,...,WORST",
        help="The grades, best first: 2,1,0 or perfect,good,bad or perfect=3,good=1,bad=0. "
        "Numbers in the file need none.",
    ),
]
RanksOption = Annotated[
    int | None,
    typer.Option("--K", min=1, help="Length of the lists; longer ones are refused.", metavar="K"),
]
LenientOption = Annotated[
    bool, typer.Option("--lenient", help="Pass over unknown fields and count them.")
]
QrelsOption = Annotated[
    str | None,
    typer.Option(
        "--qrels", metavar="FILE", help="Lists hold document ids; these are their grades."
    ),
]
RunOption = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="FILE",
        help="Judgments name runs (run_a, run_b); their first K documents are meant. "
        "May be given again and again.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
COption = Annotated[
    str,
    typer.Option(
        "--C",
        metavar="C|cv",
        help="What a missed margin costs; cv chooses it by cross-validation by query.",
    ),
]
MarginOption = Annotated[
    str, typer.Option("--margin", metavar="unit|hamming", help="By how much the better list wins.")
]
EncodingOption = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="grades|documents",
        help="Whether lists hold grades, or rank K documents without grades.",
    ),
]
SolverOption = Annotated[
    str,
    typer.Option("--solver", metavar="auto|newton|osqp|clarabel", help="Who solves the problem."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of what is drawn.")]
UseOption = Annotated[
    str,
    typer.Option(
        "--use", metavar="dcg|utility", help="Which reading of what was learned is meant."
    ),
]


def read(
    path: str,
    scale: str | None,
    n_ranks: int | None,
    lenient: bool,
    documents: bool = False,
    qrels: str | None = None,
    runs: list[str] | None = None,
) -> Preferences:
    """Read judgments with progress, and say on standard error what was passed over."""
    from dcglearn.data.judgment_files import read_preferences
    from dcglearn.measures.scale import Scale

    known = None if scale is None else Scale.parse(scale)
    with reading(path, lenient) as (passed_over, advance):
        join = join_of(qrels, runs, n_ranks, passed_over, known, documents)
        found = read_preferences(path, known, n_ranks, passed_over, advance, documents, join)
    tell_unjudged(join)
    return found


def join_of(
    qrels: str | None,
    runs: list[str] | None,
    n_ranks: int | None,
    passed_over: IgnoredInput | None,
    scale: Scale | None = None,
    documents: bool = False,
) -> DocumentGrades | None:
    """Read the qrels and runs that judgments are to be joined with, if any."""
    if qrels is None:
        if runs:
            raise InputError("--run without --qrels", "give the grades of the documents")
        return None
    from dcglearn.data.document_judgments import DocumentGrades

    if documents:
        raise InputError("--qrels with --encoding documents", "leave one of them out")
    return DocumentGrades.read(qrels, runs or [], n_ranks, passed_over, scale)


def tell_unjudged(join: DocumentGrades | None) -> None:
    """Say on standard error how many documents of the judgments have no grade, or refuse all."""
    if join is None:
        return
    join.check_any_judged()
    if join.counts["unjudged"]:
        shares = f"{join.counts['unjudged']:,} of {join.counts['documents']:,} documents"
        print(
            f"{shares} have no judgment and count as the grade {join.scale.labels[-1]}",
            file=sys.stderr,
        )


@contextmanager
def reading(path: str, lenient: bool) -> Iterator[tuple[IgnoredInput | None, Advance]]:
    """Give what a reader counts into; say on standard error what it passed over."""
    from dcglearn.data.record_formats import IgnoredInput

    passed_over = IgnoredInput() if lenient else None
    with reporting(f"reading {path}") as advance:
        yield passed_over, advance
    for reason, times in sorted((passed_over.counts if passed_over else {}).items()):
        print(f"passed over: {reason}, {times} times", file=sys.stderr)


def parse_C(text: str) -> float | None:
    """Read the value of ``--C``: a positive number, or None for ``cv``."""
    if text == "cv":
        return None
    try:
        C = float(text)
    except ValueError:
        C = math.nan
    if not (math.isfinite(C) and C > 0):
        raise InputError(f"--C is {text!r}", "use a finite number above 0, or cv")
    return C


@contextmanager
def judgments_of(path: str) -> Iterator[None]:
    """Name the file in an error about what its judgments, as a whole, do not allow."""
    try:
        yield
    except InputError as error:
        raise (error if error.place else error.at(path)) from error


def check_names(margin: str, solver: str, encoding: str = "grades") -> None:
    """Refuse a margin, solver or encoding that is none, before anything is read."""
    from dcglearn.solver.margins import MARGINS
    from dcglearn.solver.solve import SOLVERS

    for option, value, known in (
        ("--margin", margin, MARGINS),
        ("--solver", solver, SOLVERS),
        ("--encoding", encoding, ("grades", "documents")),
    ):
        if value not in known:
            raise unknown_name(option, value, known)


def say(text: str) -> None:
    """Print to standard output; a reader that went away, as `head` does, is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parse_use(text: str) -> Any:
    """Read the value of ``--use``."""
    if text not in ("dcg", "utility"):
        raise InputError(f"--use is {text!r}", "use dcg or utility")
    return text


def print_json(document: Any) -> None:
    """Print a JSON document; what is not a number becomes null."""
    say(json.dumps(_finite(document), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
