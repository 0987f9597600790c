"""The command that learns a threshold from scored documents: threshold."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

import dcglearn
from dcglearn.base.errors import InputError
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.inputs import name_files, naming, refuse_together
from dcglearn.cli.options import (
    FORMATS_HELP,
    SEVERAL_HELP,
    columns_option,
    measure_option,
    real_option,
)
from dcglearn.cli.reading import AS_USUAL, JudgmentOptions

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
        float | None, real_option(min=0, help="Worth of a relevant document; by default 3.")
    ] = None,
    debit: Annotated[
        float | None, real_option(min=0, help="Cost of any other document; by default 2.")
    ] = None,
    relevant: Annotated[
        str | None, Option(metavar="GRADE,...", help="Relevant grades; by default numbers above 0.")
    ] = None,
    gains: Annotated[
        str | None,
        Option(metavar="GRADE=GAIN,...", help="Worth of each grade, such as 2=1,1=.4,0=-0.5."),
    ] = None,
    measure: Annotated[
        str | None,
        measure_option(
            help="Worth of each grade: the gains of a measure file, or of a DCG in full that names "
            "its grades."
        ),
    ] = None,
    cost: Annotated[
        float | None,
        real_option(help="Cost of reading a document, in units of gain; required with --measure."),
    ] = None,
    beta: Annotated[float, real_option(help="Limit of alpha after many judgments, 0 to 1.")] = 0.1,
    gamma: Annotated[float, real_option(help="Rate at which judgments lower alpha.")] = 0.05,
) -> Answer:
    """Learn which score a document must reach to be delivered.

    The threshold follows the Beta-Gamma regulation.
    """
    from dcglearn.report.judgments import threshold_text
    from dcglearn.systems.beta_gamma import by_relevance, net_gains, read_scored, utilities_of

    linear = {"--credit": credit, "--debit": debit, "--relevant": relevant}
    refuse_together(linear, {"--gains": gains}, {"--measure": measure})
    if cost is not None and gains is None and measure is None:
        raise InputError("--cost without --gains or --measure", "add one, or use --debit")
    if cost is None and measure is not None:
        raise InputError("--measure without --cost", "add the cost of a document, such as .3")
    with naming("--gains" if measure is None else "--measure"):
        worth = net_gains(gains, measure, cost or 0.0)
    file = name_files(files)
    with reporting(f"reading {file}") as advance:
        documents = read_scored(files, advance, judgments.read_options())
    unjudged = min(worth.values(), default=-2.0 if debit is None else -debit)
    if not worth:
        with naming("--relevant"):
            worth = by_relevance(documents, relevant, 3.0 if credit is None else credit, unjudged)
    judged = [grade is not None for grade in documents.grades]
    with naming(file):
        utilities = utilities_of(documents, worth, unjudged)
        found = dcglearn.beta_gamma_threshold(documents.scores, utilities, judged, beta, gamma)
    cuts = {
        name: {"score": theta, **found.passing(theta)._asdict()}
        for name, theta in (
            ("theta_opt", found.theta_optimal),
            ("theta_zero", found.theta_zero),
            ("theta", found.theta),
        )
    }
    content = {
        "file": file,
        "documents": len(judged),
        "judged": found.n_judged,
        "worth": worth,
        "unjudged": unjudged,
        "beta": beta,
        "gamma": gamma,
        "alpha": found.alpha,
        "pays": cuts["theta_opt"]["documents"] > 0,
        **cuts,
    }
    return Answer(lambda: content, lambda: threshold_text(content))
