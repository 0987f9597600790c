"""What the commands on qrels and runs share: evaluate and coherence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.terminal.choices import (
    LikeChoice,
    MissingChoice,
    PoolChoice,
    TiesChoice,
    UnjudgedChoice,
    WorthlessChoice,
)
from dcglearn.terminal.inputs import check_distinct
from dcglearn.terminal.output import print_note

if TYPE_CHECKING:
    from dcglearn.evaluation.evaluate import Evaluation
    from dcglearn.evaluation.rules import Rules

_FEW_SYSTEMS = 5
"""So many systems that lack queries are named one by one."""


def rules_of(
    like: LikeChoice | None,
    ties: TiesChoice | None,
    unjudged: UnjudgedChoice | None,
    worthless: WorthlessChoice | None,
    missing: MissingChoice | None,
    pool: PoolChoice | None = None,
) -> Rules:
    """Return the rules of the options; those that are not given are those of `like`."""
    from dcglearn.evaluation.rules import LIKE, Rules

    rules = Rules(ties or "docid") if like is None else LIKE[like]
    theirs = rules
    if ties is not None:
        rules = replace(rules, ties=ties)
    if unjudged is not None:
        rules = replace(rules, unjudged=unjudged)
    if worthless is not None:
        rules = replace(rules, worthless=None if worthless == "out" else float(worthless))
    if missing is not None:
        rules = replace(rules, missing=None if missing == "out" else float(missing))
    if pool is not None:
        rules = replace(rules, pool=pool)
    other = [name for name, value in vars(rules).items() if value != getattr(theirs, name)]
    if like is not None and other:
        options = " and ".join(f"--{name}" for name in other)
        print_note(f"{options} instead of what {like} does; all else is as there")
    return rules


def measures_of_names(names: list[str] | tuple[str, ...]) -> dict[str, str]:
    """Return the measures of options by name; ``NAME=MEASURE`` names one."""
    given = [given_name_and_measure(name) for name in names]
    check_distinct([own or text for own, text in given])
    return {own or text: text for own, text in given}


def given_name_and_measure(text: str) -> tuple[str | None, str]:
    """Split ``NAME=MEASURE``, which is not split where it is the path of a file."""
    from dcglearn.naming.grammar import split_given_name

    # Path.is_file raises if a name is too long
    # Path.is_file raises for names that are too long for a path.
    return (None, text) if os.path.isfile(text) else split_given_name(text)  # noqa: PTH113


def files_of_measures(texts: Iterable[str]) -> list[str]:
    """Return the measure files that texts name."""
    return [name for text in texts for name in re.findall(r"[^\s()]+\.json", text)]


def evaluate_runs(
    qrels: str,
    runs: list[str],
    measures: dict[str, str],
    rules: Rules,
    scale: str | None,
) -> Evaluation:
    """Read qrels and evaluate runs; report on standard error what was left out."""
    from dcglearn.collections.runs import check_distinct_paths
    from dcglearn.evaluation.evaluate import evaluate_opened
    from dcglearn.evaluation.inputs import open_qrels_and_runs

    if Path(qrels).resolve() in check_distinct_paths(runs):
        raise InputError("is given as qrels and as a run", "give the qrels first, then runs", qrels)
    with reporting("reading qrels"):
        opened = open_qrels_and_runs(qrels, runs, scale)
    with reporting("evaluating runs") as advance:
        evaluation = evaluate_opened(opened, measures, rules, advance)
    _warn_of_costs(evaluation, rules)
    _warn_of_relevance(evaluation)
    _report_missing(evaluation, rules)
    _report_extra(evaluation)
    return evaluation


def _report_missing(evaluation: Evaluation, rules: Rules) -> None:
    """Report which runs lack queries of the qrels, in one line if they are many."""
    missing = dict(zip(evaluation.systems, evaluation.missing.sum(axis=1).tolist(), strict=True))
    lacking = {system: n for system, n in missing.items() if n}
    of = counted(len(evaluation.queries), "query", "queries")
    if len(lacking) > _FEW_SYSTEMS:
        fewest, most = min(lacking.values()), max(lacking.values())
        value = "left out" if rules.missing is None else f"count {rules.missing:g}"
        span = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        runs = f"{len(lacking):,} of {counted(len(missing), 'run')}"
        print_note(f"{runs}: {span} of {of} are missing and {value}")
        lacking = {}
    for system, n in lacking.items():
        verbs = ("is", "counts") if n == 1 else ("are", "count")
        value = "left out" if rules.missing is None else f"{verbs[1]} {rules.missing:g}"
        print_note(f"{system}: {n:,} of {of} {verbs[0]} missing and {value}")


def _report_extra(evaluation: Evaluation) -> None:
    """Report how many queries of the runs are not in the qrels."""
    extra = len({query for queries in evaluation.extra for query in queries})
    if extra:
        some = "of the run" if len(evaluation.runs) == 1 else "of the runs"
        count = counted(extra, "query", "queries")
        print_note(f"left out: {count} {some}, not in the qrels")


def _warn_of_costs(evaluation: Evaluation, rules: Rules) -> None:
    """Warn that documents without a judgment count as a grade with a negative gain."""
    import numpy as np

    from dcglearn.measures.dcg import DCG

    costly = [
        one.name
        for one in evaluation.measures
        if isinstance(one.measure, DCG) and one.measure.gains[-1] < 0
    ]
    if rules.unjudged == "worst" and costly and np.nanmin(evaluation.judged, initial=1.0) < 1:
        print_note(
            f"{', '.join(costly)}: unjudged documents count as the worst grade, whose gain is "
            "below 0; with --unjudged nothing they gain 0"
        )


def _warn_of_relevance(evaluation: Evaluation) -> None:
    """Warn that no document of the qrels is relevant to a measure, so that it is 0 everywhere."""
    from dcglearn.measures.binary import BinaryMeasure

    for one in evaluation.measures:
        if isinstance(one.measure, BinaryMeasure) and max(one.measure.levels, default=1) < 1:
            print_note(
                f"{one.name}: no grade of the qrels is {one.measure.rel} or more, so no document "
                "is relevant"
            )
