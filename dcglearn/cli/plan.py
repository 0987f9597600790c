"""The command that says which pairs to judge next: plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_outputs
from dcglearn.base.progress import reporting
from dcglearn.terminal.inputs import naming
from dcglearn.terminal.options import MAX_COUNT, JsonOption, SeedOption
from dcglearn.terminal.output import print_json, print_text
from dcglearn.terminal.system_options import GradesOption

if TYPE_CHECKING:
    import numpy as np

    from dcglearn.asking.candidates import Candidates
    from dcglearn.asking.plan import Plan
    from dcglearn.judgments.preferences import Preferences


def plan(
    qrels: Annotated[
        str | None,
        typer.Argument(metavar="QRELS", help="The grades of documents, as for evaluate."),
    ] = None,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Two or more runs: what they rank first is compared. Without runs, lists are "
            "made of the judged documents of each query.",
        ),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            "--lists",
            metavar="QUESTIONS",
            help="Choose from pairs of lists in a .jsonl file: question, query, a, b.",
        ),
    ] = None,
    ranks: Annotated[
        int,
        typer.Option("--K", min=1, max=100, metavar="K", help="The length of the lists."),
    ] = 5,
    ask: Annotated[
        str,
        typer.Option(
            "--ask",
            metavar="WHAT",
            help="everything, gains, discounts, 'gain 1', 'discount 3', or two measures to decide "
            "between: linear-log2:exponential-log2.",
        ),
    ] = "everything",
    judged: Annotated[
        list[str] | None,
        typer.Option("--judged", metavar="JUDGMENTS", help="Answers so far. May be repeated."),
    ] = None,
    n: Annotated[
        int,
        typer.Option(
            "--questions", "-n", min=1, max=10_000, metavar="N", help="The number of questions."
        ),
    ] = 100,
    per_query: Annotated[
        int,
        typer.Option(
            "--most-per-query",
            min=0,
            max=MAX_COUNT,
            metavar="N",
            help="At most so many questions about one query, whose answers are alike (0: any).",
        ),
    ] = 3,
    repeat: Annotated[
        float,
        typer.Option(
            "--repeat",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Ask this share of the questions once more, to see who contradicts themselves.",
        ),
    ] = 0.0,
    width: Annotated[
        list[str] | None,
        typer.Option(
            "--to-within",
            metavar="NAME=HALF",
            help="What is to be known how well: gains=.05 is +-.05 for each gain. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the questions (.jsonl), or the widths as a figure (.png, .svg, .pdf). May "
            "be repeated.",
        ),
    ] = None,
    scale: GradesOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Choose the pairs whose answers say most."""
    import numpy as np

    from dcglearn.asking.plan import plan as choose
    from dcglearn.asking.questions import write_questions
    from dcglearn.report.plans import plan_json, plan_text

    outputs = out or []
    inputs = [one for one in (qrels, pool, *(runs or []), *(judged or [])) if one]
    check_outputs(outputs, inputs, (".jsonl", ".png", ".svg", ".pdf"))
    rng = np.random.default_rng(seed)
    candidates = _candidates(qrels, runs or [], pool, ranks, scale, n, rng)
    answers = _answers(judged or [], candidates)
    with reporting("choosing questions"):
        found = choose(
            candidates,
            n,
            rng,
            ask=ask,
            judged=answers,
            most_per_query=per_query,
        )
    widths = _widths(width or [], found)
    for path in sorted(outputs, key=lambda one: one.lower().endswith(".jsonl")):
        if path.lower().endswith(".jsonl"):
            write_questions(path, found.questions(rng, repeat))
        else:
            from dcglearn.figures.plan_figure import draw_plan
            from dcglearn.figures.style import save

            save(draw_plan(found), path)
    if json:
        print_json(plan_json(found, widths))
        return
    print_text(plan_text(found, widths))
    for path in outputs:
        print_text(f"wrote {path}")


def _candidates(
    qrels: str | None,
    runs: list[str],
    pool: str | None,
    ranks: int,
    scale: str | None,
    n: int,
    rng: np.random.Generator,
) -> Candidates:
    from dcglearn.asking.candidates import (
        candidates_of_questions,
        candidates_of_runs,
        made_candidates,
    )
    from dcglearn.asking.questions import read_questions

    if pool is not None and qrels is None:
        with naming(pool):
            return candidates_of_questions(read_questions(pool), scale)
    if pool is not None or qrels is None:
        raise InputError("neither or both of QRELS and --lists", "give one of them")
    with naming(qrels), reporting("reading qrels and runs"):
        if runs:
            return candidates_of_runs(qrels, runs, ranks, scale)
        return made_candidates(qrels, ranks, max(20 * n, 5_000), rng, scale)


def _answers(judged: list[str], candidates: Candidates) -> Preferences | None:
    from dcglearn.judgments.read import read_preferences

    if not judged:
        return None
    with reporting("reading answers"):
        return read_preferences(judged if len(judged) > 1 else judged[0], scale=candidates.scale)


def _widths(texts: list[str], found: Plan) -> dict[str, float]:
    """Return the half width that is asked for, by number; gains and discounts are all of them."""
    widths: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        names = [one for one in found.numbers if name in (one, one.split()[0] + "s")]
        try:
            half = float(number)
        except ValueError:
            half = -1.0
        if not names or not half > 0:
            raise InputError(
                f"--to-within {text}",
                f"write NAME=HALF; names: gains, discounts, {', '.join(found.numbers)}",
            )
        widths.update(dict.fromkeys(names, half))
    return widths
