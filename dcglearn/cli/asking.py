"""Commands that choose which pairs to judge next, and ask judges: plan, judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import checked_suffix, read_text, write_text
from dcglearn.base.json_text import json_document
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.progress import reporting
from dcglearn.cli.choices import JudgeTarget
from dcglearn.cli.inputs import check_files, naming, refuse_together
from dcglearn.cli.options import JsonOption, ScaleOption, SeedOption
from dcglearn.cli.output import print_json, print_text

if TYPE_CHECKING:
    import numpy as np

    from dcglearn.asking.candidates import Candidates
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.measures.scale import Scale


def plan(
    qrels: Annotated[
        str | None,
        typer.Argument(metavar="QRELS", help="The grades of documents, as for evaluate."),
    ] = None,
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Two or more runs, whose first documents are compared."),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option("--lists", metavar="QUESTIONS", help="Choose from pairs in a .jsonl file."),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option("--K", min=1, max=100, metavar="K", help="Length of the lists, by default 5."),
    ] = None,
    ask: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="everything, gains, discounts, 'gain 1', 'discount 3', or two measures to decide "
            "between: linear-log2:exponential-log2.",
        ),
    ] = "everything",
    judged: Annotated[
        list[str] | None,
        typer.Option(metavar="JUDGMENTS", help="Answers so far. May be repeated."),
    ] = None,
    asked: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTIONS",
            help="The questions so far: other answers, and answers whose lists were edited, are "
            "left out. May be repeated.",
        ),
    ] = None,
    n: Annotated[
        int,
        typer.Option("--questions", "-n", min=1, max=10_000, metavar="N", help="How many to ask."),
    ] = 100,
    most_per_query: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="At most N questions about one query; 0: no limit."),
    ] = 3,
    repeat: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, metavar="SHARE", help="Ask this share once more."),
    ] = 0.0,
    to_within: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=HALF",
            help="Say how many answers make an interval so narrow: gains=.05 is +-.05 for each "
            "gain. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the questions to a .jsonl file."),
    ] = None,
    scale: ScaleOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Choose the pairs whose answers say most: of runs, of a file, or made of judged documents."""
    import numpy as np

    from dcglearn.asking.plan import plan as choose
    from dcglearn.asking.questions import write_questions
    from dcglearn.report.plans import plan_json, plan_text

    check_files(out, (".jsonl",), qrels, runs, pool, judged, asked)
    rng = np.random.default_rng(seed)
    if pool is None:
        candidates = _candidates(qrels, runs or [], ranks or 5, scale, n, rng)
    else:
        refuse_together({"QRELS": qrels, "--K": ranks}, {"--lists": pool})
        candidates = _candidates_of_file(pool, scale)
    answers = _answers(judged or [], asked or [], candidates.scale)
    with reporting("choosing questions"):
        found = choose(candidates, n, rng, ask=ask, judged=answers, most_per_query=most_per_query)
    widths = _widths(to_within or [], found.numbers)
    if out is not None:
        write_questions(out, found.questions(rng, repeat))
    if json:
        print_json(plan_json(found, widths))
        return
    print_text(plan_text(found, widths))
    if out is not None:
        print_text(f"wrote {out}")


def _candidates(
    qrels: str | None,
    runs: list[str],
    n_ranks: int,
    scale: str | None,
    n: int,
    rng: np.random.Generator,
) -> Candidates:
    """Return pairs of what runs rank first, or made ones."""
    from dcglearn.asking.candidates import candidates_of_runs, made_candidates
    from dcglearn.systems.inputs import open_qrels

    if qrels is None:
        raise InputError("neither QRELS nor --lists", "give one of them")
    with naming(qrels):
        if runs:
            with reporting("reading qrels and runs"):
                return candidates_of_runs(qrels, runs, n_ranks, scale)
        with reporting("reading qrels"):
            indexed = open_qrels(qrels, scale)
        with reporting("making pairs of lists"):
            return made_candidates(indexed, n_ranks, max(20 * n, 5_000), rng)


def _candidates_of_file(path: str, scale: str | None) -> Candidates:
    from dcglearn.asking.candidates import candidates_of_questions
    from dcglearn.asking.questions import read_questions

    with naming(path):
        return candidates_of_questions(read_questions(path), scale)


def _answers(judged: list[str], asked: list[str], scale: Scale) -> Preferences | None:
    """Return the answers so far; of those to other questions than were asked, none."""
    from dcglearn.asking.questions import match_answers, read_questions
    from dcglearn.judgments.options import ReadOptions
    from dcglearn.judgments.read import JudgmentTable, read_preferences

    if not judged:
        if asked:
            raise InputError("--asked without --judged", "name the answers, too")
        return None
    questions = [one for path in asked for one in read_questions(path)]
    with reporting("reading answers"):
        if not asked:
            return read_preferences(judged, scale=scale)
        table = JudgmentTable(judged, ReadOptions(scale, keep=("question",)))
        return match_answers(questions, table.preferences(), table.kept("question"))


def _widths(texts: list[str], numbers: Sequence[str]) -> dict[str, float]:
    """Return the half width that is asked for, by number; gains and discounts are all of them."""
    widths: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        names = [one for one in numbers if name in (one, one.split()[0] + "s")]
        half = parse_number(number)
        if not names or not half > 0:
            remedy = f"write NAME=HALF; names: gains, discounts, {', '.join(numbers)}"
            raise InputError(f"--to-within {text}", remedy)
        widths.update(dict.fromkeys(names, half))
    return widths


def judge(
    questions: Annotated[
        str, typer.Argument(metavar="QUESTIONS", help="The .jsonl file that dcglearn plan wrote.")
    ],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="The .html page, or the .json of tasks."),
    ],
    documents: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What is shown of documents: the columns id, title, text (or snippet) and url; "
            "by default their ids.",
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What is shown of queries: the columns id and text."),
    ] = None,
    instruction: Annotated[
        str | None, typer.Option(metavar="FILE", help="What judges are asked, in Markdown.")
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Write a page for each: page-ann.html. By default one page asks for the name.",
        ),
    ] = None,
    overlap: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="The share of the questions that all judges get, by default 0.1; the others are "
            "for one judge each.",
        ),
    ] = None,
    to: Annotated[
        JudgeTarget, typer.Option(metavar="TARGET", help="One of page or label-studio.")
    ] = "page",
    seed: SeedOption = 0,
) -> None:
    """Write the page on which judges answer questions."""
    from dcglearn.asking.page import (
        default_instruction,
        judge_page,
        label_studio_tasks,
        labelling,
        questions_of_judges,
    )
    from dcglearn.asking.questions import batch_name, read_questions
    from dcglearn.asking.texts import shown_questions

    tasks = to == "label-studio"
    refuse_together(
        {"--to label-studio": tasks}, {"--judges": judges, "--instruction": instruction}
    )
    if overlap is not None and judges is None:
        raise InputError("--overlap without --judges", "name the judges")
    checked_suffix(out, (".json" if tasks else ".html",))
    pages = {"": out} if judges is None else _pages(out, judges)
    configuration = str(Path(out).with_suffix(".xml"))
    paths = [out, configuration] if tasks else [*pages.values()]
    check_files(paths, None, questions, documents, queries, instruction)
    asked = read_questions(questions)
    batch, shown = batch_name(asked), shown_questions(asked, documents, queries)
    if tasks:
        found = json_document(label_studio_tasks(shown, seed)) + "\n"
        written = [
            (out, found, f"{counted(len(shown), 'task')} of batch {batch}"),
            (configuration, labelling(), "the labelling configuration of the project"),
        ]
    else:
        text = default_instruction() if instruction is None else read_text(instruction)
        each = {"": shown}
        if judges is not None:
            each = questions_of_judges(shown, [*pages], 0.1 if overlap is None else overlap, seed)
        written = [
            (
                path,
                judge_page(each[name], batch, text, name, seed),
                f"{counted(len(each[name]), 'question')} of batch {batch}",
            )
            for name, path in pages.items()
        ]
    for path, content, words in written:
        write_text(path, content)
        print_text(f"wrote {path}: {words}")


def _pages(out: str, judges: str) -> dict[str, str]:
    """Return the file of each judge, with the name before the suffix."""
    names, path = [one.strip() for one in judges.split(",")], Path(out)
    if "" in names or len({*names}) < len(names):
        problem = f"--judges {judges}: is not a list of names"
        raise InputError(problem, "name each judge once, with commas between them")
    files = {name: re.sub(r"[^\w.-]+", "-", name)[:50] for name in names}
    return {
        name: str(path.with_name(f"{path.stem}-{file}{path.suffix}"))
        for name, file in files.items()
    }
