"""The command that asks judges: judge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_outputs, checked_suffix, read_text, write_text
from dcglearn.base.json_text import json_document
from dcglearn.base.numbers import counted
from dcglearn.terminal.choices import JudgeTarget
from dcglearn.terminal.options import SeedOption
from dcglearn.terminal.output import print_text


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
            help="The words of queries: the columns id and text; by default their ids.",
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
    checked_suffix(out, (".json" if tasks else ".html",))
    if tasks and (judges or instruction):
        option = "--judges" if judges else "--instruction"
        raise InputError(f"{option} with --to label-studio", "set it in the project there")
    pages = {"": out} if judges is None else _pages(out, judges)
    if overlap is not None and judges is None:
        raise InputError("--overlap without --judges", "name the judges")
    paths = [out, str(Path(out).with_suffix(".xml"))] if tasks else list(pages.values())
    inputs = [one for one in (questions, documents, queries, instruction) if one is not None]
    check_outputs(paths, inputs, (".json", ".xml") if tasks else (".html",))
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
