"""What the command evaluate prints and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcglearn.base.errors import unknown_name
from dcglearn.base.numbers import counted
from dcglearn.system_commands.comparisons import tables_of_comparisons
from dcglearn.terminal.choices import PrintFormat
from dcglearn.terminal.output import (
    print_document,
    print_json,
    print_note,
    print_text,
    terminal_width,
)
from dcglearn.terminal.remedies import in_options

if TYPE_CHECKING:
    from dcglearn.evaluation.evaluate import Evaluation
    from dcglearn.systems.compare_systems import SystemComparison


def check_sort(sort: str | None, measures: Sequence[str]) -> None:
    """Refuse a value of ``--sort`` that is not the name of a measure, or the word given."""
    known = [*measures, "given"]
    if sort is not None and sort not in known:
        raise unknown_name("--sort", sort, known)


def print_evaluation(
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison],
    form: PrintFormat,
    per_query: bool,
    asked: bool,
    digits: int,
) -> None:
    """Print the means, or the values of queries, and in text the comparisons below them.

    CSV holds the comparisons instead, where they are asked for.
    """
    from dcglearn.system_report.evaluation_files import evaluation_text
    from dcglearn.system_report.system_comparisons import comparisons_table
    from dcglearn.system_report.systems import means_table, queries_table

    if form == "csv" and comparisons and asked:
        print_document(comparisons_table(comparisons).csv())
        return
    if form != "text":
        suffix = {"md": ".md", "latex": ".tex", "csv": ".csv"}[form]
        print_document(evaluation_text(evaluation, suffix, comparisons, per_query, digits))
        return
    table = queries_table(evaluation) if per_query else means_table(evaluation, brief=True)
    print_text(replace(table, digits=digits).text(terminal_width()))
    for differences in tables_of_comparisons(evaluation, comparisons):
        print_text("\n" + differences.text())


def print_evaluation_json(
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison],
    per_query: bool,
    topics: float | None,
) -> None:
    """Print everything as JSON, with the queries that a difference needs if it is given."""
    from dcglearn.system_report.systems import evaluation_to_json
    from dcglearn.system_report.topics import topics_to_json

    content = evaluation_to_json(evaluation, comparisons, per_query)
    if topics is not None:
        content["topics"] = topics_to_json(evaluation, topics)
    print_json(content)


def write_outputs(
    paths: Sequence[str],
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison],
    per_query: bool,
    digits: int,
) -> list[str]:
    """Write the files of ``-o``; return lines that name them."""
    from dcglearn.system_report.evaluation_files import write_evaluation
    from dcglearn.system_report.trec_eval_lines import trec_eval_caution

    lines = []
    for path in paths:
        written = write_evaluation(
            evaluation, path, comparisons, per_query=per_query, digits=digits
        )
        several = f", ..., {written[-1]}: {counted(len(written), 'file')}" * (len(written) > 1)
        lines.append(f"wrote {written[0]}{several}")
        if path.lower().endswith(".eval") and (caution := trec_eval_caution(evaluation)):
            print_note(in_options(caution))
    return lines
