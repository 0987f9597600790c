"""The command that learns a threshold from scored documents: threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number
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
    from dcglearn.filtering.scored import Scored
    from dcglearn.measures.scale import Label
    from dcglearn.system_report.threshold import GradedWorth, LinearWorth

DEFAULT_CREDIT, DEFAULT_DEBIT = 3.0, 2.0


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
    from dcglearn.filtering import beta_gamma as filtering
    from dcglearn.filtering.scored import read_scored
    from dcglearn.system_report.threshold import ThresholdReport

    filtering.beta_gamma_alpha(0, beta, gamma)
    worth = _worth(credit, debit, relevant, gains, measure, cost)
    file = name_files(files)
    with reporting(f"reading {file}") as advance:
        documents = read_scored(files, advance, judgments.read_options())
    utilities = _utilities(worth, documents)
    with naming(file):
        result = filtering.beta_gamma_threshold(
            documents.scores, utilities, documents.judged, beta, gamma
        )
    found = ThresholdReport(file, documents, worth, result, beta, gamma)
    if json:
        print_json(found.to_json())
    else:
        print_text(found.text())


def _utilities(worth: LinearWorth | GradedWorth, documents: Scored) -> Floats:
    """Return what each document is worth."""
    from dcglearn.filtering.beta_gamma import gain_utilities, relevance_utilities
    from dcglearn.system_report.threshold import LinearWorth

    if isinstance(worth, LinearWorth):
        if worth.relevant is not None and (none := documents.none_relevant(worth.relevant)):
            print_note(str(none))
        return relevance_utilities(documents.relevant(worth.relevant), worth.credit, worth.debit)
    import numpy as np

    from dcglearn.measures.scale import Scale

    values = np.array(list(worth.gains.values()))
    least = int(np.argmin(values))
    rows = documents.indices(Scale(tuple(worth.gains)), unjudged=least)
    if values[least] > worth.cost and not documents.judged.all():
        place = documents.place(int(np.argmin(documents.judged)))
        raise InputError(
            f"this document is not judged, and even with the grade {list(worth.gains)[least]} "
            f"it would be worth {values[least] - worth.cost:g}",
            "give the grade of documents that are not relevant a gain of 0 or less, or raise "
            "--cost",
            place,
        )
    return gain_utilities(rows, values, worth.cost)


def _worth(
    credit: float | None,
    debit: float | None,
    relevant: str | None,
    gains: str | None,
    measure: str | None,
    cost: float | None,
) -> LinearWorth | GradedWorth:
    """Return what a document is worth; refuse options that contradict each other."""
    from dcglearn.filtering.beta_gamma import gain_utilities, relevance_utilities
    from dcglearn.system_report.threshold import GradedWorth, LinearWorth

    linear = {"--credit": credit, "--debit": debit, "--relevant": relevant}
    graded = {"--gains": gains, "--measure": measure}
    given = [
        [name for name, value in side.items() if value is not None] for side in (linear, graded)
    ]
    if all(given) or len(given[1]) > 1:
        both = given[1] if len(given[1]) > 1 else [given[0][0], given[1][0]]
        raise InputError(f"{both[0]} with {both[1]}", "use one way to say what a document is worth")
    if not given[1]:
        if cost is not None:
            raise InputError(
                "--cost without --gains or --measure", "add one of them, or use --debit"
            )
        chosen = LinearWorth(
            DEFAULT_CREDIT if credit is None else credit,
            DEFAULT_DEBIT if debit is None else debit,
            None if relevant is None else _labels(relevant),
        )
        relevance_utilities([], chosen.credit, chosen.debit)
        return chosen
    if measure is not None and cost is None:
        raise InputError(
            "--measure without --cost", "add the cost of reading a document, such as .3"
        )
    by_grade = _gains_of(measure) if measure is not None else _gains(gains or "")
    gain_utilities([], list(by_grade.values()), cost or 0.0)
    return GradedWorth(by_grade, cost or 0.0)


def _labels(text: str) -> tuple[Label, ...]:
    from dcglearn.measures.scale import Scale

    with naming("--relevant"):
        return Scale(tuple(part.strip() for part in text.split(","))).labels


def _gains(text: str) -> dict[Label, float]:
    from dcglearn.measures.scale import Scale

    parts = [part.partition("=") for part in text.split(",")]
    with naming("--gains"):
        labels = Scale(tuple(name.strip() for name, _, _ in parts)).labels
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
