"""What the commands on qrels and runs share: evaluate and coherence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.inputs import check_distinct
from dcglearn.cli.output import print_json, print_note, print_text

if TYPE_CHECKING:
    from dcglearn.report.results import Result
    from dcglearn.systems.evaluate import Evaluation
    from dcglearn.systems.rules import Rules

_FEW_SYSTEMS = 5
"""So many systems that lack queries are named."""


def rules_of(like: str | None, **options: str | None) -> Rules:
    """Return the rules of the options; those that are not given are those of `like`."""
    from dcglearn.systems.rules import LIKE, Rules

    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in given.keys() & {"worthless", "missing"}:
        given[name] = None if given[name] == "out" else float(given[name])
    if like is None:
        return Rules(**given)
    rules = LIKE[like]
    other = [f"--{name}" for name, value in given.items() if value != getattr(rules, name)]
    if other:
        print_note(f"{' and '.join(other)} instead of what {like} does; all else is as there")
    return replace(rules, **given)


def measures_of_names(names: Sequence[str]) -> dict[str, str]:
    """Return the measures of options by name; ``NAME=MEASURE`` names one."""
    from dcglearn.measures.grammar import split_given_name

    given = [split_given_name(text) for text in names]
    check_distinct([own or text for own, text in given])
    return {own or text: text for own, text in given}


def evaluate_runs(
    qrels: str, runs: list[str], measures: dict[str, str], rules: Rules, scale: str | None
) -> Evaluation:
    """Read qrels and evaluate runs; report on standard error what was left out."""
    from dcglearn.collections.runs import check_distinct_paths
    from dcglearn.systems.evaluate import evaluate_opened
    from dcglearn.systems.inputs import open_qrels_and_runs

    if Path(qrels).resolve() in check_distinct_paths(runs):
        raise InputError("is given as qrels and as a run", "give the qrels first, then runs", qrels)
    with reporting("reading qrels"):
        opened = open_qrels_and_runs(qrels, runs, scale)
    with reporting("evaluating runs") as advance:
        evaluation = evaluate_opened(opened, measures, rules, advance)
    for note in (*_of_measures(evaluation), *_of_queries(evaluation)):
        print_note(note)
    return evaluation


def _of_measures(evaluation: Evaluation) -> list[str]:
    """Return for which measures no document is relevant."""
    from dcglearn.measures.other_measures import BinaryMeasure

    return [
        f"{one.name}: no grade of the qrels is {one.measure.rel} or more: nothing is relevant"
        for one in evaluation.measures
        if isinstance(one.measure, BinaryMeasure) and max(one.measure.levels, default=1) < 1
    ]


def _of_queries(evaluation: Evaluation) -> list[str]:
    """Return which runs lack queries of the qrels, and how many have others."""
    notes = []
    missing = evaluation.missing.sum(axis=1).tolist()
    of = f"of {len(evaluation.queries):,}"
    lacking = [
        f"{name} ({n:,} {of})" for name, n in zip(evaluation.systems, missing, strict=True) if n
    ]
    if lacking:
        value = evaluation.rules.missing
        counts = "are left out" if value is None else f"count {value:g}"
        more = len(lacking) - _FEW_SYSTEMS
        others = f" and {counted(more, 'more run')}" if more > 0 else ""
        named = ", ".join(lacking[:_FEW_SYSTEMS]) + others
        notes.append(f"queries missing from a run {counts}: {named}")
    extra = len({query for queries in evaluation.extra for query in queries})
    if extra:
        count = counted(extra, "query", "queries")
        notes.append(f"left out: {count} of the runs, not in the qrels")
    return notes


def deliver(result: Result, text: str, files: Sequence[str], json: bool) -> None:
    """Write a result to files, and print it."""
    for path in files:
        result.write(path)
    if json:
        print_json(result.document)
    else:
        print_text(text)
    print_written(files, json)


def print_written(files: Sequence[object], json: bool) -> None:
    """Name the files that were written; on standard error beside JSON."""
    for path in files:
        (print_note if json else print_text)(f"wrote {path}")
