"""What the commands on qrels and runs share: evaluate and coherence."""

from __future__ import annotations

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
from dcglearn.terminal.inputs import check_distinct, naming, report_ignored
from dcglearn.terminal.output import print_note

if TYPE_CHECKING:
    from dcglearn.base.ignored import IgnoredInput
    from dcglearn.collection.qrels_index import IndexedQrels
    from dcglearn.collection.qrels_runs import Run
    from dcglearn.evaluation.evaluate import Evaluation
    from dcglearn.evaluation.rules import Rules
    from dcglearn.naming.names import NamedMeasure


def rules_of(
    like: LikeChoice | None,
    ties: TiesChoice | None,
    unjudged: UnjudgedChoice | None,
    worthless: WorthlessChoice | None,
    missing: MissingChoice | None,
    pool: PoolChoice | None = None,
) -> Rules:
    """Return the rules of the options; those that are not given are those of `like`."""
    from dataclasses import replace

    from dcglearn.evaluation.rules import LIKE, Rules

    rules = Rules() if like is None else LIKE[like]
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


def load_qrels_and_runs(
    qrels: str, runs: list[str], scale: str | None, lenient: bool
) -> tuple[IndexedQrels, list[Run]]:
    """Read qrels and runs; report on standard error what was ignored."""
    from dcglearn.base.ignored import IgnoredInput
    from dcglearn.collection.letor import looks_like_letor, read_graded_lists, read_predictions
    from dcglearn.collection.qrels_index import index_qrels
    from dcglearn.collection.qrels_runs import (
        check_distinct_paths,
        distinct_names,
        read_qrels,
        read_run,
    )
    from dcglearn.measures.scale import Scale

    ignored: IgnoredInput | None = IgnoredInput() if lenient else None
    declared = None if scale is None else Scale.parse(scale)
    if Path(qrels).resolve() in check_distinct_paths(runs):
        raise InputError("is given as qrels and as a run", "give the qrels first, then runs", qrels)
    with reporting("reading qrels and runs") as advance:
        letor = looks_like_letor(qrels)
        lists = read_graded_lists(qrels) if letor else read_qrels(qrels, ignored)
        indexed = index_qrels(lists, declared)
        systems = []
        for number, path in enumerate(runs, start=1):
            systems.append(read_predictions(path, lists) if letor else read_run(path, ignored))
            advance(number, len(runs))
    report_ignored(ignored)
    return indexed, distinct_names(systems, runs)


def measures_of_names(
    names: list[str] | tuple[str, ...], qrels: IndexedQrels, runs: list[Run]
) -> list[NamedMeasure]:
    """Return the named measures, on the scale of the qrels."""
    from dataclasses import replace

    from dcglearn.naming.aliases import split_given_name
    from dcglearn.naming.names import measure_for_documents

    given = [(None, name) if Path(name).exists() else split_given_name(name) for name in names]
    check_distinct([own or text for own, text in given])
    longest = max(run.longest for run in runs)
    measures = []
    for own, text in given:
        with naming(own or text):
            measure = measure_for_documents(text, qrels.scale, longest)
            measures.append(measure if own is None else replace(measure, name=own))
    return measures


def evaluate_runs(
    qrels: IndexedQrels,
    runs: list[Run],
    paths: list[str],
    measures: list[NamedMeasure],
    rules: Rules,
) -> Evaluation:
    """Evaluate runs, and report queries that only the runs or only the qrels hold."""
    from dcglearn.evaluation.evaluate import evaluate as evaluate_all

    held = set(qrels.queries)
    for run, path in zip(runs, paths, strict=True):
        if held.isdisjoint(run.queries):
            raise InputError(
                "none of its queries is in the qrels", "give the qrels that belong to the run", path
            )
    with reporting("evaluating"):
        evaluation = evaluate_all(qrels, runs, measures, rules=rules)
    _warn_of_costs(evaluation, rules)
    for s, system in enumerate(evaluation.systems):
        missing = int(evaluation.missing[s].sum())
        if missing:
            verbs = ("is", "counts") if missing == 1 else ("are", "count")
            value = "left out" if rules.missing is None else f"{verbs[1]} {rules.missing:g}"
            of = counted(len(qrels.queries), "query", "queries")
            text = f"{missing:,} of {of} {verbs[0]} missing and {value}"
            print_note(f"{system}: {text}")
    extra = len({query for queries in evaluation.extra for query in queries})
    if extra:
        some = "of the run" if len(runs) == 1 else "of the runs"
        count = counted(extra, "query", "queries")
        print_note(f"left out: {count} {some}, not in the qrels")
    return evaluation


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
