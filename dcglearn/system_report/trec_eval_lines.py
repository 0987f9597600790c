"""Values as ``trec_eval -q`` prints them: lines of measure, query and value, between tabs.

Other programs read these lines one run at a time, so each system has a file of its own. A measure
that trec_eval has is called as there (``ndcg_cut_10``); others have their own names without blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.evaluation.rules import LIKE, Rules
from dcglearn.naming.grammar import resolve_alias

_THEIRS = (
    (r"nDCG\(linear-log2\)", "ndcg"),
    (r"nDCG\(linear-log2\) @ (\d+)", r"ndcg_cut_\1"),
    (r"AP", "map"),
    (r"AP@(\d+)", r"map_cut_\1"),
    (r"P@(\d+)", r"P_\1"),
    (r"R@(\d+)", r"recall_\1"),
    (r"RR", "recip_rank"),
    (r"Rprec", "Rprec"),
    (r"Bpref", "bpref"),
    (r"infAP", "infAP"),
    (r"Success@(\d+)", r"success_\1"),
)
"""Measures, as named here -> as trec_eval names them."""


def trec_eval_name(name: str) -> str:
    """Return the name of a measure in trec_eval, or the name without blanks.

    >>> [trec_eval_name(name) for name in ("nDCG@10", "ndcg", "nDCG(zipf) @ 5", "P@5", "mine")]
    ['ndcg_cut_10', 'ndcg', 'nDCG(zipf)@5', 'P_5', 'mine']
    """
    known = resolve_alias(name) or name
    for ours, theirs in _THEIRS:
        if match := re.fullmatch(ours, known):
            return match.expand(theirs)
    return "".join(name.split())


def check_single_values(rules: Rules) -> None:
    """Refuse rules under which a query has two values."""
    if rules.unjudged == "bounds":
        raise InputError(
            "trec_eval's lines hold one value per query, not two bounds",
            "write .csv or .parquet, or use another value of `unjudged`",
        )


def check_trec_eval_lines(evaluation: Evaluation) -> None:
    """Refuse what the lines cannot hold: bounds, and names that blanks would break."""
    check_single_values(evaluation.rules)
    for query in evaluation.queries:
        if query.split() != [query]:
            raise InputError(
                f"the query {query!r:.60} has blanks, which end a field in trec_eval's lines",
                "write .csv or .parquet",
            )
    names = _measure_names(evaluation)
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two measures are called {name} without blanks", "rename one")


def trec_eval_caution(evaluation: Evaluation) -> str | None:
    """Return what to know about lines with trec_eval's names but not its rules, if so."""
    names = [one.name for one in evaluation.measures]
    theirs = [found for name in names if (found := trec_eval_name(name)) != "".join(name.split())]
    if not theirs or evaluation.rules == LIKE["trec_eval"]:
        return None
    return f"{', '.join(theirs)}: values by other rules than trec_eval's; see `like='trec_eval'`"


def trec_eval_lines(evaluation: Evaluation, s: int) -> Iterator[str]:
    """Yield the lines of one system: those of each query, then the means.

    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> found = evaluate({"7": {"d": 1}}, {"bm25": {"7": {"d": 2}}}, "nDCG@10")
    >>> for line in trec_eval_lines(found, 0):
    ...     print(line.expandtabs(), end="")
    ndcg_cut_10             7       1.0000
    runid                   all     bm25
    num_q                   all     1
    ndcg_cut_10             all     1.0000
    """
    names = _measure_names(evaluation)
    values = evaluation.values[s]
    for q, query in enumerate(evaluation.queries):
        for name, value in zip(names, values[:, q].tolist(), strict=True):
            if not np.isnan(value):
                yield _line(name, query, f"{value:.4f}")
    yield _line("runid", "all", "".join(evaluation.systems[s].split()))
    yield _line("num_q", "all", str(int(np.isfinite(values).any(axis=0).sum())))
    for name, mean in zip(names, evaluation.means()[s].tolist(), strict=True):
        if not np.isnan(mean):
            yield _line(name, "all", f"{mean:.4f}")


def paths_of_systems(path: Path, systems: Sequence[str]) -> list[Path]:
    """Return the file of each system: the path itself for one, NAME.SYSTEM.eval for several.

    >>> [one.name for one in paths_of_systems(Path("x.eval"), ["bm25", "my/run", "my run"])]
    ['x.bm25.eval', 'x.my_run.eval', 'x.my_run-3.eval']
    """
    if len(systems) == 1:
        return [path]
    found: list[str] = []
    for number, system in enumerate(systems, start=1):
        safe = re.sub(r"[^\w.+-]", "_", system)[:100]
        taken = {name.lower() for name in found}  # many file systems ignore capitals
        candidates = chain([safe], (f"{safe}-{other}" for other in count(number)))
        found.append(next(name for name in candidates if name.lower() not in taken))
    return [path.with_name(f"{path.stem}.{name}{path.suffix}") for name in found]


def _measure_names(evaluation: Evaluation) -> list[str]:
    """Return trec_eval's names; of two measures with one name, the second keeps its own."""
    found: list[str] = []
    for one in evaluation.measures:
        name = trec_eval_name(one.name)
        found.append("".join(one.name.split()) if name in found else name)
    return found


def _line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"
