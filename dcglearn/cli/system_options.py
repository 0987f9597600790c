"""Options that the commands on qrels and runs share, each under a heading of their help."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from dcglearn.cli.choices import LikeChoice, MissingChoice, TiesChoice, UnjudgedChoice
from dcglearn.cli.options import SCALE_HELP

of_measures = partial(typer.Option, rich_help_panel="Measures")
of_rules = partial(typer.Option, rich_help_panel="Rules")
of_comparisons = partial(typer.Option, rich_help_panel="Comparisons")
of_output = partial(typer.Option, rich_help_panel="Output")

GradesOption = Annotated[
    str | None, of_measures("--scale", metavar="BEST,...,WORST", help=SCALE_HELP)
]
LikeOption = Annotated[
    LikeChoice | None,
    of_rules(
        metavar="TOOL",
        help="Treat ties, unjudged documents and missing queries as trec_eval, ir_measures, "
        "ranx, sklearn or gdeval does. An option below replaces that one rule.",
    ),
]
TiesOption = Annotated[
    TiesChoice | None,
    of_rules(
        help="Order of documents with equal scores: by document id, the largest first, as in "
        "trec_eval; the mean value over all their orders; or that of the run's lines. By "
        "default docid."
    ),
]
UnjudgedOption = Annotated[
    UnjudgedChoice | None,
    of_rules(
        help="Retrieved documents that the qrels do not grade: they keep their rank but gain "
        "nothing, as in trec_eval; count as the worst grade; are removed from the run; or may "
        "have any grade, which gives the least and the largest possible value (bounds). By "
        "default nothing."
    ),
]
MissingOption = Annotated[
    MissingChoice | None,
    of_rules(
        help="Value of a query that a run does not answer: 0, or out to leave it out of the "
        "run's mean. By default 0."
    ),
]
ComparisonsSeedOption = Annotated[
    int,
    of_comparisons(
        min=0,
        metavar="N",
        help="Seed of the random draws: the same seed gives the same numbers.",
    ),
]
ResultsJsonOption = Annotated[bool, of_output("--json", help="Print everything as JSON.")]
