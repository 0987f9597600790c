"""Commands that choose which pairs to judge next, and ask judges: plan, judge."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_outputs, checked_suffix, read_text, write_text
from dcglearn.base.json_text import json_document
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.inputs import naming, refuse_together
from dcglearn.cli.options import ScaleOption, SeedOption, file_option, number_option, ranks_option
from dcglearn.cli.output import print_text

share_option = partial(Option, min=0.0, max=1.0, metavar="SHARE")


@command("Write the questions (.jsonl), or the widths as a figure (.png, .svg, .pdf).")
def plan(
    qrels: Annotated[
        str | None, Argument(metavar="QRELS", help="The grades of documents, as for evaluate.")
    ] = None,
    runs: Annotated[
        list[str] | None,
        Argument(
            metavar="RUN",
            help="Two or more runs: what they rank first is compared. Without runs, lists are "
            "made of the judged documents of each query.",
        ),
    ] = None,
    lists: Annotated[
        str | None,
        Option(
            metavar="QUESTIONS",
            help="Choose from pairs of lists in a .jsonl file: question, query, a, b, of any "
            "length.",
        ),
    ] = None,
    n_ranks: Annotated[
        int | None, ranks_option(max=100, help="The length of the lists, 5 by default.")
    ] = None,
    ask: Annotated[
        str,
        Option(
            metavar="WHAT",
            help="everything, order (of lists), gains, discounts, 'gain 1', 'discount 3', or two "
            "measures to decide between: linear-log2:exponential-log2.",
        ),
    ] = "everything",
    judged: Annotated[
        list[str] | None, Option(metavar="JUDGMENTS", help="Answers so far. May be repeated.")
    ] = None,
    asked: Annotated[
        list[str] | None,
        Option(
            metavar="QUESTIONS",
            help="The questions so far: answers that do not belong to them, or whose lists were "
            "edited, are counted and left out. May be repeated.",
        ),
    ] = None,
    questions: Annotated[
        int, number_option("--questions", "-n", min=1, max=10_000, help="The number of questions.")
    ] = 100,
    most_per_query: Annotated[
        int,
        number_option(
            help="Ask at most N questions about one query, whose answers are alike (0: no limit)."
        ),
    ] = 3,
    repeat: Annotated[
        float,
        share_option(
            help="Ask this share of the questions once more, to see who contradicts themselves.",
        ),
    ] = 0.0,
    to_within: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=HALF",
            help="Say how many answers make an interval so narrow: gains=.05 is +-.05 for each "
            "gain. May be repeated.",
        ),
    ] = None,
    scale: ScaleOption = None,
    seed: SeedOption = 0,
) -> Answer:
    """Choose the pairs whose answers say most."""
    import numpy as np

    from dcglearn.asking import candidates as pools
    from dcglearn.asking.plan import plan as choose
    from dcglearn.asking.questions import read_answers, read_questions, write_questions
    from dcglearn.report.plans import draw_plan, plan_json, plan_text

    rng = np.random.default_rng(seed)
    with naming(lists or qrels or "plan"), reporting("reading or making pairs of lists"):
        if lists is not None and n_ranks is not None:
            raise InputError("--K with --lists", "leave it out: lists of a file have a length")
        if lists is not None and qrels is None:
            candidates = pools.candidates_of_questions(read_questions(lists), scale)
        elif lists is not None or qrels is None:
            raise InputError("neither or both of QRELS and --lists", "give one of them")
        elif runs:
            candidates = pools.candidates_of_runs(qrels, runs, n_ranks or 5, scale)
        else:
            n_made = max(20 * questions, 5_000)
            candidates = pools.made_candidates(qrels, n_ranks or 5, n_made, rng, scale)
    with reporting("reading answers"):
        answers = read_answers(judged or [], asked or [], candidates.scale)
    with reporting("choosing questions"):
        found = choose(
            candidates, questions, rng, ask=ask, judged=answers, most_per_query=most_per_query
        )
    widths, chosen = found.widths_named(to_within or []), found.questions(rng, repeat)
    return Answer(
        lambda: plan_json(found, widths),
        lambda: plan_text(found, widths),
        lambda path: write_questions(path, chosen),
        draw=lambda: draw_plan(found),
    )


@command(json=False)
def judge(
    questions: Annotated[
        str, Argument(metavar="QUESTIONS", help="The .jsonl file that dcglearn plan wrote.")
    ],
    out: Annotated[
        str,
        file_option(
            "--out",
            "-o",
            help="The .html page to write, or the .json file of tasks for Label Studio.",
        ),
    ],
    documents: Annotated[
        str | None,
        file_option(
            help="What is shown of documents: the columns id, title, text (or snippet) and url; "
            "by default their ids."
        ),
    ] = None,
    queries: Annotated[
        str | None,
        file_option(help="The text of queries: the columns id and text; by default their ids."),
    ] = None,
    instruction: Annotated[
        str | None, file_option(help="What judges are asked, in Markdown.")
    ] = None,
    judges: Annotated[
        str | None,
        Option(
            metavar="NAME,...",
            help="Write a page for each judge: page-ann.html. By default one page asks for the "
            "name.",
        ),
    ] = None,
    overlap: Annotated[
        float | None,
        share_option(
            help="The share of the questions that all of the judges get, 0.1 by default; the "
            "others are for one judge each.",
        ),
    ] = None,
    to: Annotated[
        Literal["page", "label-studio"],
        Option(metavar="TARGET", help="One of page or label-studio."),
    ] = "page",
    seed: SeedOption = 0,
) -> None:
    """Write the page on which judges answer questions."""
    from dcglearn.asking import questions as page

    tasks = to == "label-studio"
    refuse_together(
        {"--to label-studio": tasks}, {"--judges": judges, "--instruction": instruction}
    )
    if overlap is not None and judges is None:
        raise InputError("--overlap without --judges", "name the judges")
    pages = page.files_of_judges(out, judges)
    labelling = str(Path(out).with_suffix(".xml"))
    checked_suffix(out, [".json" if tasks else ".html"])
    read = [one for one in (questions, documents, queries, instruction) if one is not None]
    check_outputs(
        [out, labelling] if tasks else [*pages.values()], read, (".html", ".json", ".xml")
    )
    asked = page.read_questions(questions)
    shown, batch = page.shown_questions(asked, documents, queries), page.batch_name(asked)
    if tasks:
        write_text(out, json_document(page.label_studio_tasks(shown, seed)) + "\n")
        write_text(labelling, page.template("label_studio.xml"))
        print_text(f"wrote {out}: {counted(len(shown), 'task')} of batch {batch}")
        print_text(f"wrote {labelling}: the labelling configuration of the project")
        return
    text = page.template("instruction.md") if instruction is None else read_text(instruction)
    parts = page.questions_of_judges(shown, [*pages], 0.1 if overlap is None else overlap, seed)
    for name, path in pages.items():
        write_text(path, page.judge_page(parts[name], batch, text, name, seed))
        print_text(f"wrote {path}: {counted(len(parts[name]), 'question')} of batch {batch}")
