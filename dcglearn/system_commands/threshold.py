"""The command that learns a threshold from scored documents: threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError, did_you_mean
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.progress import reporting
from dcglearn.terminal.inputs import naming
from dcglearn.terminal.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.terminal.options import JsonOption, ScoredArgument, ScoredColumnsOption
from dcglearn.terminal.output import print_json, print_note, print_text

if TYPE_CHECKING:
    from dcglearn.base.types import Floats
    from dcglearn.filtering.beta_gamma import Scored, Threshold
    from dcglearn.measures.scale import Label

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
        typer.Option("--credit", metavar="X", help="Worth of a relevant document; by default 3."),
    ] = None,
    debit: Annotated[
        float | None,
        typer.Option("--debit", metavar="X", help="Cost of any other document; by default 2."),
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
    import numpy as np

    from dcglearn.base.checks import checked_number
    from dcglearn.filtering.beta_gamma import beta_gamma_alpha, beta_gamma_threshold, read_scored
    from dcglearn.measures.discounts import format_number
    from dcglearn.report.tables import Table

    beta_gamma_alpha(0, beta, gamma)
    by_grade = _gains_by_grade(gains, measure, cost, [credit, debit, relevant])
    credit, debit = 3.0 if credit is None else credit, 2.0 if debit is None else debit
    checked_number(credit, "`credit`", 0.0, above=True)
    checked_number(debit, "`debit`", 0.0)
    labels = None if relevant is None else _labels(relevant, "--relevant")
    file = name_files(files)
    with reporting(f"reading {file}") as advance:
        documents = read_scored(files, advance, judgments.read_options())
    if by_grade is None:
        is_relevant = _relevant(documents, labels)
        which = "above 0" if labels is None else ", ".join(map(str, labels))
        utilities = np.where(is_relevant, credit, -debit)
        worth: dict[str, object] = {"credit": credit, "debit": debit}
        worth["relevant"] = which if labels is None else list(labels)
        words = (
            f"relevant (grade {which}): {sum(is_relevant):,}, worth "
            f"{format_number(credit)} each; all others, unjudged ones included, "
            f"{format_number(-debit)}"
        )
    else:
        utilities = _net_gains(documents, by_grade, cost or 0.0)
        worth = {"gains": {str(k): v for k, v in by_grade.items()}, "cost": cost or 0.0}
        listed = ", ".join(f"{label} {format_number(gain)}" for label, gain in by_grade.items())
        words = f"gains by grade: {listed}; cost of a document {format_number(cost or 0.0)}"
        if None in documents.grades:
            words += f"; unjudged documents count as {min(by_grade, key=by_grade.__getitem__)}"
    judged = [grade is not None for grade in documents.grades]
    with naming(file):
        found = beta_gamma_threshold(documents.scores, utilities, judged, beta, gamma)
    pays = found.passing(found.theta_optimal).documents > 0
    if json:
        passing = {
            name: {"score": theta, **found.passing(theta)._asdict()}
            for name, theta in _named(found).items()
        }
        about = {"file": file, "documents": len(judged), "judged": found.n_judged, "worth": worth}
        regulation = {"beta": beta, "gamma": gamma, "alpha": found.alpha, "pays": pays}
        print_json({**about, **regulation, **passing})
        return
    rows = [
        (name, format_number(theta), documents, f"{utility:.10g}")
        for name, theta in _named(found).items()
        for documents, utility in [found.passing(theta)]
    ]
    print_text(
        f"{file}: {counted(len(judged), 'document')}, {found.n_judged:,} judged\n{words}\n"
        f"alpha = {beta:g} + {1 - beta:g} exp(-{gamma:g} N) = {found.alpha:.6f}, "
        f"N = {found.n_judged:,}\n"
    )
    print_text(Table(("threshold", "score", "documents pass", "utility"), rows).text())
    if not pays:
        print_text("no cut brings utility above 0: theta_opt is just above the highest score")


def _named(found: Threshold) -> dict[str, float]:
    return {
        "theta_opt": found.theta_optimal,
        "theta_zero": found.theta_zero,
        "theta": found.theta,
    }


def _relevant(documents: Scored, labels: tuple[Label, ...] | None) -> list[bool]:
    """Return which documents have one of the grades; by default a number above 0."""
    held = {grade for grade in documents.grades if grade is not None}
    if labels is None:
        for row, grade in enumerate(documents.grades):
            if isinstance(grade, str):
                raise InputError(
                    f"the grade {grade!r} is a name",
                    "name the relevant grades, such as --relevant perfect,good",
                    documents.place(row),
                )
        return [grade is not None and float(grade) > 0 for grade in documents.grades]
    if held and not held & {*labels}:
        problem = f"no document has the grade {', '.join(map(str, labels))}"
        remedy = f"they have {', '.join(sorted(map(str, held)))}"
        names = [grade for grade in held if isinstance(grade, str)]
        near = "".join(did_you_mean(one, names) for one in labels if isinstance(one, str))
        one_kind = {isinstance(one, str) for one in labels} & {isinstance(x, str) for x in held}
        if near or not one_kind:
            raise InputError(problem, near + remedy)
        print_note(f"{problem}; {remedy}")  # an ordinary day
    return [grade in labels for grade in documents.grades]


def _net_gains(documents: Scored, gains: dict[Label, float], cost: float) -> Floats:
    """Return the gain of each document minus its cost; unjudged ones have the smallest gain."""
    import numpy as np

    from dcglearn.measures.scale import Scale

    scale = Scale(tuple(gains))
    values = np.array(list(gains.values())) - cost
    least = int(np.argmin(values))
    found = np.full(len(documents.grades), values[least])
    for row, grade in enumerate(documents.grades):
        with naming(documents.place(row)):
            if grade is not None:
                found[row] = values[scale.index(grade)]
            elif values[least] > 0:
                raise InputError(
                    f"this document is not judged, and even with the grade {list(gains)[least]} "
                    f"it would be worth {values[least]:g}",
                    "give the grade of documents that are not relevant a gain of 0 or less, or "
                    "raise --cost",
                )
    return found


def _gains_by_grade(
    gains: str | None, measure: str | None, cost: float | None, linear: list[object]
) -> dict[Label, float] | None:
    """Return the gain of each grade, None for a credit and a debit; refuse both."""
    graded = [name for name, x in (("--gains", gains), ("--measure", measure)) if x is not None]
    names = zip(("--credit", "--debit", "--relevant"), linear, strict=True)
    given = [*graded, *(name for name, value in names if value is not None)]
    if graded and len(given) > 1:
        raise InputError(
            f"{given[1]} with {given[0]}", "use one way to say what a document is worth"
        )
    if not graded and cost is not None:
        raise InputError("--cost without --gains or --measure", "add one of them, or use --debit")
    if measure is not None and cost is None:
        raise InputError(
            "--measure without --cost", "add the cost of reading a document, such as .3"
        )
    if gains is not None:
        return _gains(gains)
    return None if measure is None else _gains_of(measure)


def _labels(text: str, option: str) -> tuple[Label, ...]:
    from dcglearn.measures.scale import Scale

    with naming(option):
        return Scale(tuple(part.strip() for part in text.split(","))).labels


def _gains(text: str) -> dict[Label, float]:
    parts = [part.partition("=") for part in text.split(",")]
    labels = _labels(",".join(name for name, _, _ in parts), "--gains")
    gains = [parse_number(part[2]) for part in parts]
    if any(map(math.isnan, gains)):
        raise InputError(f"--gains is {text!r:.80}", "write it as 2=1,1=.4,0=-0.5")
    return dict(zip(labels, gains, strict=True))


def _gains_of(name: str) -> dict[Label, float]:
    """Return the gains of a measure by the names of its grades; its discounts have no effect."""
    from dcglearn.measures.dcg import DCG
    from dcglearn.naming.names import parse_measure

    result = parse_measure(name)
    if not isinstance(result.measure, DCG):
        has_dcg = result.file is not None and result.file.dcg is not None
        remedy = f"name its DCG: {name.removesuffix(':utility')}:dcg" if has_dcg else "name a DCG"
        raise InputError("its weights differ by rank, and a grade has no single gain", remedy, name)
    if result.measure.grades is None:
        raise InputError("its grades have no names", "write its gains as {2: 1, 1: .4, 0: 0}", name)
    return dict(zip(result.measure.grades, result.measure.gains, strict=True))
