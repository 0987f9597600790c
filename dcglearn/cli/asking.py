"""Commands that choose which pairs to judge next, and ask judges: plan, judge."""

from __future__ import annotations

import re
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
from dcglearn.cli.options import MAX_COUNT, JsonOption, ScaleOption, SeedOption
from dcglearn.cli.output import print_json, print_text

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
            help="Choose from pairs of lists in a .jsonl file: question, query, a, b, of any "
            "length.",
        ),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--K", min=1, max=100, metavar="K", help="The length of the lists, 5 by default."
        ),
    ] = None,
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
    asked: Annotated[
        list[str] | None,
        typer.Option(
            "--asked",
            metavar="QUESTIONS",
            help="The questions so far: answers that do not belong to them, or whose lists were "
            "edited, are counted and left out. May be repeated.",
        ),
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
            help="Ask at most N questions about one query, whose answers are alike (0: no limit).",
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
            help="Say how many answers make an interval so narrow: gains=.05 is +-.05 for each "
            "gain. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the questions (.jsonl). May be repeated.",
        ),
    ] = None,
    scale: ScaleOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Choose the pairs whose answers say most."""
    import numpy as np

    from dcglearn.asking.plan import plan as choose
    from dcglearn.asking.questions import write_questions
    from dcglearn.report.plans import plan_json, plan_text

    outputs = out or []
    check_files(outputs, [".jsonl"], qrels, runs, pool, judged, asked)
    rng = np.random.default_rng(seed)
    candidates = _candidates(qrels, runs or [], pool, ranks, scale, n, rng)
    answers = _answers(judged or [], asked or [], candidates)
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
    questions = found.questions(rng, repeat)
    for path in outputs:
        write_questions(path, questions)
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
    ranks: int | None,
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
        if ranks is not None:
            raise InputError("--K with --lists", "leave it out: lists of a file have a length")
        with naming(pool):
            return candidates_of_questions(read_questions(pool), scale)
    if pool is not None or qrels is None:
        raise InputError("neither or both of QRELS and --lists", "give one of them")
    with naming(qrels), reporting("reading qrels and runs"):
        if runs:
            return candidates_of_runs(qrels, runs, ranks or 5, scale)
        return made_candidates(qrels, ranks or 5, max(20 * n, 5_000), rng, scale)


def _answers(judged: list[str], asked: list[str], candidates: Candidates) -> Preferences | None:
    from dcglearn.asking.questions import match_answers, read_questions
    from dcglearn.judgments.options import ReadOptions
    from dcglearn.judgments.read import JudgmentTable, read_preferences

    if not judged:
        if asked:
            raise InputError("--asked without --judged", "name the answers, too")
        return None
    if not asked:
        with reporting("reading answers"):
            return read_preferences(judged, scale=candidates.scale)
    questions = [one for path in asked for one in read_questions(path)]
    with reporting("reading answers"):
        table = JudgmentTable(judged, ReadOptions(candidates.scale, keep=("question",)))
        return match_answers(questions, table.preferences(), table.kept("question"))


def _widths(texts: list[str], found: Plan) -> dict[str, float]:
    """Return the half width that is asked for, by number; gains and discounts are all of them."""
    widths: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        names = [one for one in found.numbers if name in (one, one.split()[0] + "s")]
        half = parse_number(number)
        if not names or not half > 0:
            raise InputError(
                f"--to-within {text}",
                f"write NAME=HALF; names: gains, discounts, {', '.join(found.numbers)}",
            )
        widths.update(dict.fromkeys(names, half))
    return widths


def judge(
    questions: Annotated[
        str, typer.Argument(metavar="QUESTIONS", help="The .jsonl file that dcglearn plan wrote.")
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The .html page to write, or the .json file of tasks for Label Studio.",
        ),
    ],
    documents: Annotated[
        str | None,
        typer.Option(
            "--documents",
            metavar="FILE",
            help="What is shown of documents: the columns id, title, text (or snippet) and url; "
            "by default their ids.",
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries",
            metavar="FILE",
            help="The text of queries: the columns id and text; by default their ids.",
        ),
    ] = None,
    instruction: Annotated[
        str | None,
        typer.Option("--instruction", metavar="FILE", help="What judges are asked, in Markdown."),
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(
            "--judges",
            metavar="NAME,...",
            help="Write a page for each judge: page-ann.html. By default one page asks for the "
            "name.",
        ),
    ] = None,
    overlap: Annotated[
        float | None,
        typer.Option(
            "--overlap",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="The share of the questions that all of the judges get, 0.1 by default; the "
            "others are for one judge each.",
        ),
    ] = None,
    to: Annotated[
        JudgeTarget, typer.Option("--to", metavar="TARGET", help="One of page or label-studio.")
    ] = "page",
    seed: SeedOption = 0,
) -> None:
    """Write the page on which judges answer questions."""
    from dcglearn.asking.label_studio import LABELLING, label_studio_tasks
    from dcglearn.asking.page import INSTRUCTION, judge_page, questions_of_judges
    from dcglearn.asking.questions import batch_name, read_questions
    from dcglearn.asking.texts import shown_questions

    tasks = to == "label-studio"
    refuse_together(
        {"--to label-studio": tasks}, {"--judges": judges, "--instruction": instruction}
    )
    checked_suffix(out, (".json" if tasks else ".html",))
    pages = {"": out} if judges is None else _pages(out, judges)
    if overlap is not None and judges is None:
        raise InputError("--overlap without --judges", "name the judges")
    paths = [out, str(Path(out).with_suffix(".xml"))] if tasks else list(pages.values())
    formats = (".json", ".xml") if tasks else (".html",)
    check_files(paths, formats, questions, documents, queries, instruction)
    asked = read_questions(questions)
    batch, shown = batch_name(asked), shown_questions(asked, documents, queries)
    if tasks:
        write_text(paths[0], json_document(label_studio_tasks(shown, seed)) + "\n")
        write_text(paths[1], LABELLING)
        print_text(f"wrote {paths[0]}: {counted(len(shown), 'task')} of batch {batch}")
        print_text(f"wrote {paths[1]}: the labelling configuration of the project")
        return
    text = INSTRUCTION if instruction is None else read_text(instruction)
    each = {"": shown}
    if judges is not None:
        each = questions_of_judges(shown, [*pages], 0.1 if overlap is None else overlap, seed)
    texts = {name: judge_page(each[name], batch, text, name, seed) for name in pages}
    for name, path in pages.items():
        write_text(path, texts[name])
        print_text(f"wrote {path}: {counted(len(each[name]), 'question')} of batch {batch}")


def _pages(out: str, judges: str) -> dict[str, str]:
    """Return the file of each judge, with the name before the suffix."""
    names = [one.strip() for one in judges.split(",")]
    path = Path(out)
    if "" in names or len({*names}) < len(names):
        problem = f"--judges {judges}: is not a list of names"
        raise InputError(problem, "name each judge once, with commas between them")
    files = [re.sub(r"[^\w.-]+", "-", name)[:50] for name in names]
    return {
        name: str(path.with_name(f"{path.stem}-{file}{path.suffix}"))
        for name, file in zip(names, files, strict=True)
    }
