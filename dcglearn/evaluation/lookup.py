"""Qrels and runs joined: the grade of each ranked document, as measures need them.

Ids are looked up once for all measures: qrels become sorted numbers of query and document with
the grade beside, a run becomes :class:`dcglearn.evaluation.ranked.Ranked`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Hashes, Integers
from dcglearn.data.qrels_runs import Qrels, Run, scale_of_qrels
from dcglearn.evaluation.ranked import Ranked
from dcglearn.evaluation.rules import Ties
from dcglearn.measures.scale import Scale, plain_label


@dataclass(frozen=True)
class IndexedQrels:
    """Qrels, ready for runs to be looked up.

    Attributes
    ----------
    scale : Scale
    queries : tuple of str
        Q of them, in the order of the qrels.
    pools : ndarray of int, shape (Q, L)
        How many documents of each grade each query has.
    keys : ndarray of uint64, shape (n,)
        The number of the query before a part of one hash of the document, ascending.
    checks : ndarray of uint64, shape (n,)
        The other hash.
    grades : ndarray of int, shape (n,)
    keyed : {0, 1}
        Which of the hashes the keys hold.
    """

    scale: Scale
    queries: tuple[str, ...]
    pools: Integers
    keys: Hashes
    checks: Hashes
    grades: NDArray[np.int8]
    keyed: int


@dataclass(frozen=True)
class LookedUpRun:
    """A run that was looked up in qrels.

    Attributes
    ----------
    name : str
    ranked : Ranked
    missing : ndarray of bool, shape (Q,)
        Queries of the qrels that the run does not hold.
    extra : tuple of str
        Queries of the run that the qrels do not hold; they are left out.
    """

    name: str
    ranked: Ranked
    missing: NDArray[np.bool_]
    extra: tuple[str, ...]


def index_qrels(qrels: Qrels, scale: Scale | None = None) -> IndexedQrels:
    """Make qrels ready for runs to be looked up.

    Parameters
    ----------
    qrels : Qrels
    scale : Scale, optional
        The grades, best first; by default :func:`scale_of_qrels`.

    Returns
    -------
    IndexedQrels

    Raises
    ------
    InputError
        If a grade of the qrels is off the scale.
    """
    scale = scale_of_qrels(qrels) if scale is None else scale
    numbers, which = np.unique(qrels.number, return_inverse=True)
    try:
        indices = [scale.index(plain_label(float(number))) for number in numbers]
    except InputError as error:
        raise error.at(qrels.name) from error
    grades = np.array(indices, np.int8)[which]
    cells = qrels.query * len(scale) + grades
    pools = np.bincount(cells, minlength=len(qrels.queries) * len(scale))
    for keyed in (0, 1):
        keys = _keys(qrels.query, qrels.hashes[keyed], len(qrels.queries))
        order = np.argsort(keys)
        keys = keys[order]
        if (keys[1:] > keys[:-1]).all():
            break
    else:
        raise InputError("ids cannot be told apart", "rename some documents", qrels.name)
    checks = qrels.hashes[1 - keyed][order]
    pools = pools.reshape(-1, len(scale))
    return IndexedQrels(scale, qrels.queries, pools, keys, checks, grades[order], keyed)


def look_up(
    run: Run, known: IndexedQrels, ties: Ties = "mean", single: bool = False
) -> LookedUpRun:
    """Find the grade of each document of a run, best score first.

    Parameters
    ----------
    run : Run
    known : IndexedQrels
    ties : {"mean", "input", "docid"}, default "mean"
        See :data:`TIES`.
    single : bool, default False
        Whether scores are compared in single precision, as trec_eval holds them.

    Returns
    -------
    LookedUpRun

    Examples
    --------
    >>> from dcglearn.data.qrels_runs import qrels_of, run_of
    >>> known = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
    >>> look_up(run_of({"q": {"d2": 0.5, "d1": 2.5, "d3": 1.5}}), known).ranked.grades.tolist()
    [0, 2, 1]
    """
    numbers = {query: number for number, query in enumerate(known.queries)}
    query = np.array([numbers.get(name, -1) for name in run.queries])[run.query]
    with np.errstate(over="ignore"):  # what is beyond single precision is tied there
        score = run.number.astype(np.float32) if single else run.number
    order = _order(query, score)
    query, score = query[order], score[order]
    group = _groups(query, score)
    rows = np.arange(len(run))[order]
    if group is not None and ties == "docid":
        rows = rows[_by_id(group, rows, run.documents)]
    first, check = run.hashes[known.keyed][rows], run.hashes[1 - known.keyed][rows]
    keys = _keys(query, first, len(known.queries))
    places = np.minimum(np.searchsorted(known.keys, keys), len(known.keys) - 1)
    judged = (known.keys[places] == keys) & (known.checks[places] == check)
    grades = np.where(judged, known.grades[places], len(known.scale))
    lengths = np.bincount(query, minlength=len(known.queries))
    extra = tuple(name for name in run.queries if name not in numbers)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ranked = Ranked(starts, grades, known.pools, group if ties == "mean" else None)
    return LookedUpRun(run.name, ranked, lengths == 0, extra)


def _keys(query: Integers, hashes: Hashes, n_queries: int) -> Hashes:
    """Return numbers that sort by query: its number, then as many bits of a hash as fit."""
    bits = np.uint64(n_queries.bit_length())
    return (query.astype(np.uint64) << (np.uint64(64) - bits)) | (hashes >> bits)


def _order(query: Integers, score: NDArray[np.floating]) -> NDArray[np.intp] | slice:
    """Return the order by query and falling score; queries that are not in the qrels are left out.

    Mostly runs have that order already: then it is all of them.
    """
    same = query[1:] == query[:-1]
    if query[0] >= 0 and ((query[1:] > query[:-1]) | (same & (score[1:] <= score[:-1]))).all():
        return slice(None)
    order = np.lexsort((-score, query))
    return order[np.count_nonzero(query < 0) :]


def _groups(query: Integers, score: NDArray[np.floating]) -> Integers | None:
    """Return the number of each document's group of equal scores; None where all differ."""
    new = np.ones(len(query), bool)
    new[1:] = (query[1:] != query[:-1]) | (score[1:] != score[:-1])
    return None if new.all() else np.cumsum(new) - 1


def _by_id(group: Integers, rows: Integers, documents: Any) -> NDArray[np.intp]:
    """Return the order in which documents of one group stand by id, the larger first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    shared = np.flatnonzero(np.bincount(group)[group] > 1)
    alphabetical = pc.sort_indices(documents.take(pa.array(rows[shared]))).to_numpy()  # by bytes
    key = np.zeros(len(rows), np.int64)
    key[shared[alphabetical]] = -np.arange(len(shared))
    return np.lexsort((key, group))
