"""Values as ``trec_eval -q`` prints them: lines of measure, query and value, between tabs.

Other programs read these lines one run at a time, so each system has a file of its own. A measure
that trec_eval has is called as there (``ndcg_cut_10``); others have their own names without blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import write_text_blocks
from dcglearn.base.types import Floats
from dcglearn.measures.grammar import resolve_alias
from dcglearn.measures.names import repeated_name
from dcglearn.systems.evaluate import Evaluation

_THEIRS = {
    "nDCG(linear-log2)": ("ndcg", "ndcg_cut"),
    "AP": ("map", "map_cut"),
    "P": ("", "P"),
    "R": ("", "recall"),
    "Success": ("", "success"),
    "RR": ("recip_rank", ""),
    "Rprec": ("Rprec", ""),
    "Bpref": ("bpref", ""),
    "infAP": ("infAP", ""),
}
"""Measures here -> in trec_eval, without and with a cutoff; empty where it has no such measure."""


def trec_eval_name(name: str) -> str:
    """Return the name of a measure in trec_eval, or the name without blanks.

    >>> [trec_eval_name(name) for name in ("nDCG@10", "ndcg", "nDCG(zipf) @ 5", "P@5", "mine")]
    ['ndcg_cut_10', 'ndcg', 'nDCG(zipf)@5', 'P_5', 'mine']
    """
    called, _, cutoff = (resolve_alias(name) or name).partition("@")
    theirs = _THEIRS.get(called.strip(), ("", ""))[cutoff != ""]
    if not theirs:
        return _without_blanks(name)
    return f"{theirs}_{cutoff.strip()}" if cutoff else theirs


def write_trec_eval(evaluation: Evaluation, path: Path) -> list[Path]:
    """Write the lines of each system; return the files."""
    if evaluation.high is not None:
        raise InputError(
            "trec_eval's lines hold one value per query, not two bounds",
            "write .csv or .parquet, or use another value of `unjudged`",
        )
    for query in evaluation.queries:
        if query.split() != [query]:
            raise InputError(
                f"the query {query!r:.60} has blanks, which end a field in trec_eval's lines",
                "write .csv or .parquet",
            )
    if repeated := repeated_name([trec_eval_name(one.name) for one in evaluation.measures]):
        raise InputError(f"two measures are called {repeated} in these lines", "rename one")
    paths = paths_of_systems(path, evaluation.systems)
    for s, one in enumerate(paths):
        write_text_blocks(one, trec_eval_lines(evaluation, s))
    return paths


def trec_eval_lines(evaluation: Evaluation, s: int) -> Iterator[str]:
    """Yield the lines of one system: those of each query, then the means.

    >>> from dcglearn.systems.evaluate import evaluate
    >>> found = evaluate({"7": {"d": 1}}, {"bm25": {"7": {"d": 2}}}, "nDCG@10")
    >>> for line in trec_eval_lines(found, 0):
    ...     print(line.expandtabs(), end="")
    ndcg_cut_10             7       1.0000
    runid                   all     bm25
    num_q                   all     1
    ndcg_cut_10             all     1.0000
    """
    names = [trec_eval_name(one.name) for one in evaluation.measures]
    values = evaluation.values[s]

    def lines(query: str, column: Floats) -> Iterator[str]:
        for name, value in zip(names, column, strict=True):
            if not np.isnan(value):
                yield f"{name:<22}\t{query}\t{value:.4f}\n"

    for query, column in zip(evaluation.queries, values.T, strict=True):
        yield from lines(query, column)
    yield f"{'runid':<22}\tall\t{_without_blanks(evaluation.systems[s])}\n"
    yield f"{'num_q':<22}\tall\t{np.isfinite(values).any(axis=0).sum()}\n"
    yield from lines("all", evaluation.means()[s])


def paths_of_systems(path: Path, systems: Sequence[str]) -> list[Path]:
    """Return the file of each system: the path itself for one, NAME.SYSTEM.eval for several.

    >>> [one.name for one in paths_of_systems(Path("x.eval"), ["bm25", "my/run"])]
    ['x.bm25.eval', 'x.my_run.eval']
    """
    if len(systems) == 1:
        return [path]
    names = [re.sub(r"[^\w.+-]", "_", system)[:100] for system in systems]
    if repeated := repeated_name([name.lower() for name in names]):  # as file systems compare them
        raise InputError(f"two systems would have the file {path.stem}.{repeated}", "rename one")
    return [path.with_name(f"{path.stem}.{name}{path.suffix}") for name in names]


def _without_blanks(name: str) -> str:
    return "".join(name.split())
