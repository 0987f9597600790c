"""The command that learns a threshold from scored documents: threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.inputs import naming
from dcglearn.cli.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.cli.options import JsonOption, ScoredArgument, ScoredColumnsOption
from dcglearn.cli.output import print_json, print_note, print_text

if TYPE_CHECKING:
    from dcglearn.measures.scale import Label
    from dcglearn.systems.beta_gamma import Scored

_NOT_OF_DOCUMENTS = [
    "scale",
    "n_ranks",
    "documents",
    "qrels",
    "run",
    "answers",
    "unjudged",
    "null_values",
    "drop_judge",
]


@reads_judgments(without=_NOT_OF_DOCUMENTS, columns=ScoredColumnsOption)
def threshold(
    files: ScoredArgument,
    judgments: JudgmentOptions = AS_USUAL,
    credit: Annotated[
        float | None,
        typer.Option(min=0, metavar="X", help="Worth of a relevant document; by default 3."),
    ] = None,
    debit: Annotated[
        float | None,
        typer.Option(min=0, metavar="X", help="Cost of any other document; by default 2."),
    ] = None,
    relevant: Annotated[
        str | None,
        typer.Option(
            "--relevant", metavar="GRADE,...", help="Relevant grades; by default numbers above 0."
        ),
    ] = None,
    gains: Annotated[
        str | None,
        typer.Option(
            "--gains",
            metavar="GRADE=GAIN,...",
            help="Worth of each grade, such as 2=1,1=.4,0=-0.5.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="Worth of each grade: the gains of a measure file, or of a DCG in full that names "
            "its grades.",
        ),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(
            "--cost",
            metavar="X",
            help="Cost of reading a document, in units of gain; required with --measure.",
        ),
    ] = None,
    beta: Annotated[
        float,
        typer.Option("--beta", metavar="X", help="Limit of alpha after many judgments, 0 to 1."),
    ] = 0.1,
    gamma: Annotated[
        float, typer.Option("--gamma", metavar="X", help="Rate at which judgments lower alpha.")
    ] = 0.05,
    json: JsonOption = False,
) -> None:
    """Learn which score a document must reach to be delivered.

    The threshold follows the Beta-Gamma regulation.
    """
    from dcglearn.measures.discounts import format_number
    from dcglearn.report.tables import Table
    from dcglearn.systems.beta_gamma import beta_gamma_threshold, read_scored

    options = {"credit": credit, "debit": debit, "relevant": relevant}
    by_grade = _net_gains(gains, measure, cost, options)
    file = name_files(files)
    with reporting(f"reading {file}") as advance:
        documents = read_scored(files, advance, judgments.read_options())
    if by_grade is None:
        credit, debit = 3.0 if credit is None else credit, 2.0 if debit is None else debit
        by_grade = {
            grade: credit if is_relevant else -debit
            for grade, is_relevant in _relevance(documents, relevant).items()
        }
    else:
        debit = -min(by_grade.values())
    utilities = []
    for row, grade in enumerate(documents.grades):
        if grade is not None and grade not in by_grade:
            known = ", ".join(map(str, by_grade))
            raise InputError(
                f"the grade {grade} has no gain", f"give one, as {known} have", documents.place(row)
            )
        utilities.append(-debit if grade is None else by_grade[grade])
    judged = [grade is not None for grade in documents.grades]
    with naming(file):
        found = beta_gamma_threshold(documents.scores, utilities, judged, beta, gamma)
    names = "theta_opt", "theta_zero", "theta"
    thetas = dict(zip(names, (found.theta_optimal, found.theta_zero, found.theta), strict=True))
    cuts = {
        name: {"score": theta, **found.passing(theta)._asdict()} for name, theta in thetas.items()
    }
    pays = cuts["theta_opt"]["documents"] > 0
    if json:
        about = {"file": file, "documents": len(judged), "judged": found.n_judged}
        worth = {str(grade): value for grade, value in by_grade.items()}
        choices = {"worth": worth, "unjudged": -debit, "beta": beta, "gamma": gamma}
        print_json({**about, **choices, "alpha": found.alpha, "pays": pays, **cuts})
        return
    rows = [
        (name, format_number(cut["score"]), int(cut["documents"]), f"{cut['utility']:.10g}")
        for name, cut in cuts.items()
    ]
    listed = ", ".join(f"{grade}: {format_number(worth)}" for grade, worth in by_grade.items())
    print_text(
        f"{file}: {counted(len(judged), 'document')}, {found.n_judged:,} judged\n"
        f"worth of a document by its grade: {listed}; not judged: {format_number(-debit)}\n"
        f"alpha = {beta:g} + {1 - beta:g} exp(-{gamma:g} N) = {found.alpha:.6f}, "
        f"N = {found.n_judged:,}\n"
    )
    print_text(Table(("threshold", "score", "documents pass", "utility"), rows).text())
    if not pays:
        print_text("no cut brings utility above 0: theta_opt is just above the highest score")


def _relevance(documents: Scored, relevant: str | None) -> dict[Label, bool]:
    """Return whether each grade that occurs is relevant; by default numbers above 0 are."""
    from dcglearn.measures.scale import Scale

    places = {grade: row for row, grade in enumerate(documents.grades) if grade is not None}
    if relevant is not None:
        with naming("--relevant"):
            labels = Scale.parse(relevant).labels
        if not places.keys() & {*labels}:
            names = ", ".join(map(str, places))
            print_note(f"no document has the grade {relevant}; they have {names}")
        return {grade: grade in labels for grade in places}
    for grade, row in places.items():
        if isinstance(grade, str):
            remedy = "name the relevant grades, such as --relevant perfect,good"
            raise InputError(f"the grade {grade!r} is a name", remedy, documents.place(row))
    return {grade: float(grade) > 0 for grade in places}


def _net_gains(
    gains: str | None, measure: str | None, cost: float | None, linear: Mapping[str, object]
) -> dict[Label, float] | None:
    """Return the gain of each grade minus the cost; None for a credit and a debit."""
    from dcglearn.measures.scale import Scale

    ways = {"gains": gains, "measure": measure, **linear}
    given = [f"--{name}" for name, value in ways.items() if value is not None]
    if cost is not None and gains is None and measure is None:
        raise InputError("--cost without --gains or --measure", "add one, or use --debit")
    if gains is None and measure is None:
        return None
    if len(given) > 1:
        one_way = "use one way to say what a document is worth"
        raise InputError(f"{given[1]} with {given[0]}", one_way)
    if measure is not None:
        if cost is None:
            raise InputError("--measure without --cost", "add the cost of a document, such as .3")
        found = _gains_of(measure)
    else:
        with naming("--gains"):
            scale = Scale.parse(gains or "")
        found = dict(zip(scale.labels, scale.values, strict=True))
    return {label: gain - (cost or 0.0) for label, gain in found.items()}


def _gains_of(name: str) -> dict[Label, float]:
    """Return the gains of a measure by the names of its grades; its discounts have no effect."""
    from dcglearn.measures.dcg import DCG
    from dcglearn.measures.names import parse_measure

    measure = parse_measure(name).measure
    if not isinstance(measure, DCG):
        remedy = f"name a DCG, such as {name.removesuffix(':utility')}:dcg"
        raise InputError("its weights differ by rank, and a grade has no single gain", remedy, name)
    if measure.grades is None:
        raise InputError("its grades have no names", "write its gains as {2: 1, 1: .4, 0: 0}", name)
    return dict(zip(measure.grades, measure.gains, strict=True))
