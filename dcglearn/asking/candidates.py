"""Pairs of lists that could be judged: of runs, in a file, or made of judged documents.

A swap of ranks k and m isolates (c_k - c_m)(g_x - g_y); one better document high against two worse
ones below isolates a gain. So pairs are made that differ in a few ranks: by another order of their
documents, and by other documents of the same query. Nothing without a grade is put into a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.asking.questions import Grades, PairQuestion, read_questions
from dcglearn.base.errors import InputError
from dcglearn.base.files import PathLike
from dcglearn.base.progress import reporting
from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Booleans, Integers, Pairs
from dcglearn.collections.join import IndexedQrels, rank_documents
from dcglearn.collections.runs import Run
from dcglearn.judgments.folds import group_numbers
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT, Scale, ScaleLike, needed_scale
from dcglearn.systems.inputs import QrelsLike, RunLike, open_qrels, open_qrels_and_runs


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(ShortRepr):
    """Pairs of lists that could be judged.

    Attributes
    ----------
    lists : ndarray of int8, shape (n, 2, K)
        Indices of grades, the best first; -1 where there is no document.
    scale : Scale
    queries : ndarray of str, shape (n,)
        Empty where no query is named.
    documents : ndarray of str, shape (n, 2, K), or None
    left_out : mapping from str to int
        How many pairs are not candidates, by why.
    """

    lists: Pairs
    scale: Scale
    queries: NDArray[np.str_]
    documents: NDArray[np.object_] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lists)

    @property
    def query_numbers(self) -> Integers:
        """The number of each pair's query; one without a query has its own, shape (n,)."""
        return group_numbers(np.array([one or None for one in self.queries.tolist()], object))

    def question(self, i: int, name: str, swapped: bool) -> PairQuestion:
        """Return a candidate as a question, its lists in the other order if swapped."""
        (a, of_a), (b, of_b) = (self._side(i, side) for side in ((1, 0) if swapped else (0, 1)))
        ids = (of_a, of_b) if any((*of_a, *of_b)) else ((), ())
        return PairQuestion(name, str(self.queries[i]) or None, a, b, *ids)

    def _side(self, i: int, side: int) -> tuple[Grades, tuple[str, ...]]:
        """Return the grades and the documents of a list."""
        filled = self.lists[i, side] != NO_DOCUMENT
        grades = [self.scale.labels[code] for code in self.lists[i, side][filled].tolist()]
        ids = () if self.documents is None else self.documents[i, side][filled]
        return tuple(grades), tuple(map(str, ids))

    def unasked(self, judged: Preferences) -> NDArray[np.intp]:
        """Return those whose query and grades are not among the judgments, on either side."""
        named = [one or None for one in (*self.queries.tolist(), *judged.queries.tolist())]
        numbers = group_numbers(np.array(named, object))
        keys = _keys(numbers, np.concatenate([self.lists, judged.lists]))
        return np.flatnonzero(~np.isin(keys[: len(self)], keys[len(self) :]))

    def take(self, rows: Integers | Booleans, left_out: Mapping[str, int]) -> Candidates:
        """Return some of them, and count why others are left out."""
        counts = {**self.left_out, **left_out}
        return Candidates(
            self.lists[rows],
            self.scale,
            self.queries[rows],
            None if self.documents is None else self.documents[rows],
            {why: count for why, count in counts.items() if count},
        )


def _keys(queries: Integers, lists: Pairs) -> NDArray[np.void]:
    """Return what is asked about each query, whichever list is a, as comparable bytes (n,)."""
    sides = np.ascontiguousarray(lists, np.int8).view(f"V{lists.shape[2]}")[..., 0]
    numbers = queries.astype(np.int32)[:, None].view(np.int8)
    keys = np.hstack([numbers, np.sort(sides, axis=1).view(np.int8)])
    return keys.view(f"V{keys.shape[1]}")[:, 0]


def _worth_asking(found: Candidates) -> Candidates:
    """Leave out documents without a grade (L), equal lists, and all but one of equal pairs."""
    graded = found.lists.max(axis=(1, 2), initial=NO_DOCUMENT) < len(found.scale)
    found = found.take(graded, {"with a document that has no grade": int((~graded).sum())})
    first = np.zeros(len(found), bool)
    first[np.unique(_keys(found.query_numbers, found.lists), return_index=True)[1]] = True
    differ = (found.lists[:, 0] != found.lists[:, 1]).any(axis=1)
    left_out = {
        "whose lists have the same grades": int((~differ).sum()),
        "that repeat another one of the query": int((differ & ~first).sum()),
    }
    return found.take(first & differ, left_out)


def find_candidates(
    qrels: QrelsLike | None,
    runs: Sequence[RunLike],
    lists: PathLike | None,
    n_ranks: int | None,
    scale: ScaleLike | None,
    n: int,
    rng: np.random.Generator,
) -> Candidates:
    """Return the pairs of a file of questions, of runs, or enough for n that are made of qrels."""
    if lists is not None and qrels is None:
        if n_ranks is not None:
            remedy = "leave it out: lists of a file have a length"
            raise InputError("`n_ranks` with `lists`", remedy)
        return candidates_of_questions(read_questions(lists), scale)
    if lists is not None or qrels is None:
        raise InputError("neither or both of QRELS and `lists`", "give one of them")
    if runs:
        with reporting("reading qrels and runs"):
            return candidates_of_runs(qrels, runs, n_ranks or 5, scale)
    with reporting("reading qrels"):
        indexed = open_qrels(qrels, scale)
    with reporting("making pairs of lists"):
        return made_candidates(indexed, n_ranks or 5, max(20 * n, 5_000), rng)


def candidates_of_runs(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    n_ranks: int,
    scale: ScaleLike | None = None,
) -> Candidates:
    """Return the pairs of what runs rank first, for each query, where all of it is judged.

    Parameters
    ----------
    qrels, runs : as for :func:`dcglearn.evaluate`
        Two runs or more.
    n_ranks : int
        K, the length of the lists.
    scale : Scale, str or sequence of labels, optional

    Returns
    -------
    Candidates

    Raises
    ------
    InputError
        If something cannot be read, or there are fewer than two runs.
    """
    opened = open_qrels_and_runs(qrels, runs, scale)
    if len(opened.runs) < 2:
        raise InputError("one run", "give two or more")
    indexed = opened.qrels
    tops = [_top(run.read(set(indexed.queries)), indexed, n_ranks) for run in opened.runs]
    a, b = np.array(list(combinations(range(len(tops)), 2))).T
    lists, documents = (
        np.stack([of_runs[a], of_runs[b]], axis=2).reshape(-1, 2, n_ranks)
        for of_runs in map(np.stack, zip(*tops, strict=True))  # (runs, Q, K)
    )
    queries = np.tile(np.array(indexed.queries, dtype=str), len(a))
    full = (lists != NO_DOCUMENT).all(axis=(1, 2))
    left_out = {f"with fewer than {n_ranks} documents": int((~full).sum())}
    found = Candidates(lists, indexed.scale, queries, documents)
    return _worth_asking(found.take(full, left_out))


def _top(run: Run, indexed: IndexedQrels, n_ranks: int) -> tuple[Pairs, NDArray[np.object_]]:
    """Return grades (Q, K) and documents (Q, K) of what a run ranks first."""
    query = indexed.number_queries(run.queries)[run.query]
    rows, _ = rank_documents(query, run.number, lambda rows: run.documents.take(rows))
    query = query[rows]
    starts = np.searchsorted(query, np.arange(len(indexed.queries)))
    rank = np.arange(len(rows)) - starts[query]
    near = rank < n_ranks
    at = query[near], rank[near]
    grades = np.full((len(indexed.queries), n_ranks), NO_DOCUMENT, np.int8)
    documents = np.full(grades.shape, "", object)
    ids = run.documents.take(rows[near])
    grades[at], documents[at] = indexed.find_grades_of_ids(query[near], ids), ids.to_pylist()
    return grades, documents


def made_candidates(
    qrels: QrelsLike,
    n_ranks: int,
    n: int,
    rng: np.random.Generator,
    scale: ScaleLike | None = None,
) -> Candidates:
    """Make pairs of lists of each query's judged documents that differ in a few ranks.

    Parameters
    ----------
    qrels : as for :func:`dcglearn.evaluate`
    n_ranks : int
        K, the length of the lists.
    n : int
        About so many pairs, evenly over queries.
    rng : numpy.random.Generator
    scale : Scale, str or sequence of labels, optional

    Returns
    -------
    Candidates

    Raises
    ------
    InputError
        If no query has enough judged documents of different grades.
    """
    indexed = open_qrels(qrels, scale)
    query, number = np.divmod(indexed.keys, len(indexed.documents))
    bounds = np.searchsorted(query, np.arange(len(indexed.queries) + 1)).tolist()
    grades = indexed.grades
    pools = [
        (begin, end)
        for begin, end in pairwise(bounds)
        if end - begin > n_ranks and np.ptp(grades[begin:end])
    ]
    if not pools:
        raise InputError(
            f"no query has more than {n_ranks} judged documents of different grades",
            "give shorter lists, or more judgments of documents",
        )
    rows = np.array(
        [
            begin + _pair(grades[begin:end], n_ranks, rng)
            for begin, end in pools
            for _ in range(-(-n // len(pools)))
        ]
    )
    documents = np.array(indexed.documents.to_pylist(), object)[number[rows]]
    queries = np.array(indexed.queries, dtype=str)[query[rows[:, 0, 0]]]
    return _worth_asking(Candidates(grades[rows], indexed.scale, queries, documents))


def _pair(grades: NDArray[np.int8], n_ranks: int, rng: np.random.Generator) -> Integers:
    """Return the documents of two lists (2, K): rare grades as often as common ones."""
    weights = 1 / np.bincount(grades)[grades]
    drawn = rng.choice(len(grades), min(len(grades), n_ranks + 3), False, weights / weights.sum())
    first, others = drawn[:n_ranks], drawn[n_ranks:]
    second = first.copy()
    moved = rng.choice(n_ranks, min(n_ranks, int(rng.integers(2, 5))), replace=False)
    second[moved] = rng.permutation(second[moved])
    new = int(rng.integers(0, min(len(others), n_ranks) + 1))
    second[rng.choice(n_ranks, new, replace=False)] = others[:new]
    return np.stack([first, second])


def candidates_of_questions(
    questions: Sequence[PairQuestion], scale: ScaleLike | None = None
) -> Candidates:
    """Return the lists of a question file as candidates; all of their documents have grades.

    Parameters
    ----------
    questions : sequence of PairQuestion
    scale : Scale, str or sequence of labels, optional
        By default the grades that occur, the highest first.

    Returns
    -------
    Candidates
    """
    sides = [side for one in questions for side in (one.a, one.b)]
    found: set[Any] = {label for side in sides for label in side if label is not None}
    if scale is None and any(isinstance(label, str) for label in found):
        raise InputError("its grades are names", "order them, best first: `scale`")
    known = needed_scale(sorted(found, reverse=True) if scale is None else scale)
    K = max(map(len, sides), default=0)
    codes = {label: known.index(label) for label in found} | {None: len(known)}
    lists = [[*map(codes.get, side), *[NO_DOCUMENT] * (K - len(side))] for side in sides]
    ids = [side for one in questions for side in (one.a_documents, one.b_documents)]
    documents = [[*side, *[""] * (K - len(side))] for side in ids]
    return _worth_asking(
        Candidates(
            np.array(lists, np.int8).reshape(-1, 2, K),
            known,
            np.array([one.query or "" for one in questions], dtype=str),
            np.array(documents, object).reshape(-1, 2, K),
        )
    )
