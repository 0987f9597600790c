"""The command that learns a threshold from scored documents: threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from dcglearn.base.errors import InputError
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.inputs import name_files, naming, refuse_together
from dcglearn.cli.options import FORMATS_HELP, SEVERAL_HELP, columns_option
from dcglearn.cli.output import print_note
from dcglearn.cli.reading import AS_USUAL, JudgmentOptions

if TYPE_CHECKING:
    from dcglearn.measures.scale import Label
    from dcglearn.systems.beta_gamma import Scored

_NOT_OF_DOCUMENTS = [
    *("scale", "n_ranks", "documents", "qrels", "run", "answers", "unjudged", "null_values"),
    "drop_judge",
]


@command(
    without=_NOT_OF_DOCUMENTS,
    columns=Annotated[
        str | None,
        columns_option(
            help="The columns that hold the fields score, grade and id, where they have other "
            "names: score=bm25,grade=label."
        ),
    ],
)
def threshold(
    files: Annotated[
        list[str],
        Argument(
            metavar="DOCUMENTS",
            help=f"{FORMATS_HELP} Columns: score, grade (empty if not judged) and, where known, "
            f"id. {SEVERAL_HELP}",
        ),
    ],
    judgments: JudgmentOptions = AS_USUAL,
    credit: Annotated[
        float | None,
        Option(min=0, metavar="X", help="Worth of a relevant document; by default 3."),
    ] = None,
    debit: Annotated[
        float | None,
        Option(min=0, metavar="X", help="Cost of any other document; by default 2."),
    ] = None,
    relevant: Annotated[
        str | None,
        Option(metavar="GRADE,...", help="Relevant grades; by default numbers above 0."),
    ] = None,
    gains: Annotated[
        str | None,
        Option(metavar="GRADE=GAIN,...", help="Worth of each grade, such as 2=1,1=.4,0=-0.5."),
    ] = None,
    measure: Annotated[
        str | None,
        Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="Worth of each grade: the gains of a measure file, or of a DCG in full that names "
            "its grades.",
        ),
    ] = None,
    cost: Annotated[
        float | None,
        Option(
            metavar="X",
            help="Cost of reading a document, in units of gain; required with --measure.",
        ),
    ] = None,
    beta: Annotated[
        float, Option(metavar="X", help="Limit of alpha after many judgments, 0 to 1.")
    ] = 0.1,
    gamma: Annotated[
        float, Option(metavar="X", help="Rate at which judgments lower alpha.")
    ] = 0.05,
) -> Answer:
    """Learn which score a document must reach to be delivered.

    The threshold follows the Beta-Gamma regulation.
    """
    from dcglearn.report.threshold import threshold_json, threshold_text
    from dcglearn.systems.beta_gamma import beta_gamma_threshold, read_scored

    by_relevance = {"--credit": credit, "--debit": debit, "--relevant": relevant}
    refuse_together(by_relevance, {"--gains": gains}, {"--measure": measure})
    if cost is not None and gains is None and measure is None:
        raise InputError("--cost without --gains or --measure", "add one, or use --debit")
    if cost is None and measure is not None:
        raise InputError("--measure without --cost", "add the cost of a document, such as .3")
    worth = _net_gains(gains, measure, cost or 0.0)
    file = name_files(files)
    with reporting(f"reading {file}") as advance:
        documents = read_scored(files, advance, judgments.read_options())
    unjudged = min(worth.values(), default=-2.0 if debit is None else -debit)
    if not worth:
        credit = 3.0 if credit is None else credit
        worth = _by_relevance(documents, relevant, credit, unjudged)
    for grade, row in _first_rows(documents).items():
        if grade not in worth:
            known = ", ".join(map(str, worth))
            raise InputError(
                f"the grade {grade} has no gain", f"give one, as {known} have", documents.place(row)
            )
    utilities = [unjudged if grade is None else worth[grade] for grade in documents.grades]
    judged = [grade is not None for grade in documents.grades]
    with naming(file):
        found = beta_gamma_threshold(documents.scores, utilities, judged, beta, gamma)
    about: dict[str, Any] = {"worth": worth, "unjudged": unjudged, "beta": beta, "gamma": gamma}
    return Answer(
        lambda: threshold_json(found, file, len(judged), **about),
        lambda: threshold_text(found, file, len(judged), **about),
    )


def _first_rows(documents: Scored) -> dict[Label, int]:
    """Return the grades that occur, each with its first row."""
    found: dict[Label, int] = {}
    for row, grade in enumerate(documents.grades):
        if grade is not None:
            found.setdefault(grade, row)
    return found


def _by_relevance(
    documents: Scored, relevant: str | None, credit: float, other: float
) -> dict[Label, float]:
    """Return the worth of relevant grades, by default numbers above 0, and of others."""
    from dcglearn.measures.scale import Scale

    grades = _first_rows(documents)
    if relevant is None:
        for grade, row in grades.items():
            if isinstance(grade, str):
                remedy = "name the relevant grades, such as --relevant perfect,good"
                raise InputError(f"the grade {grade!r} is a name", remedy, documents.place(row))
        labels = tuple(grade for grade in grades if float(grade) > 0)
    else:
        with naming("--relevant"):
            labels = Scale.parse(relevant).labels
        if not grades.keys() & {*labels}:
            names = ", ".join(map(str, grades))
            print_note(f"no document has the grade {relevant}; they have {names}")
    return {grade: credit if grade in labels else other for grade in grades}


def _net_gains(gains: str | None, measure: str | None, cost: float) -> dict[Label, float]:
    """Return the gain of each grade minus the cost; nothing where neither is given."""
    from dcglearn.measures.dcg import DCG
    from dcglearn.measures.names import parse_measure
    from dcglearn.measures.scale import Scale

    if gains is not None:
        with naming("--gains"):
            scale = Scale.parse(gains)
        labels, values = scale.labels, scale.values
    elif measure is not None:
        found = parse_measure(measure).measure
        if not isinstance(found, DCG):
            remedy = f"name a DCG, such as {measure.removesuffix(':utility')}:dcg"
            problem = "its weights differ by rank, and a grade has no single gain"
            raise InputError(problem, remedy, measure)
        if found.grades is None:
            remedy = "write its gains as {2: 1, 1: .4, 0: 0}"
            raise InputError("its grades have no names", remedy, measure)
        labels, values = found.grades, found.gains
    else:
        return {}
    return {label: gain - cost for label, gain in zip(labels, values, strict=True)}
