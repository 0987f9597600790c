"""Pairs of lists that could be judged: of runs, in a file, or made of judged documents.

A swap of ranks k and m isolates (c_k - c_m)(g_x - g_y); one better document high against two worse
ones below isolates a gain. So pairs are made that differ in a few ranks: by another order of their
documents, and by other documents of the same query. Nothing without a grade is put into a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.asking.questions import PairQuestion
from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import distinct_rows, take_rows
from dcglearn.base.types import Booleans, Grades, Ids, Integers, Pairs, ShortRepr
from dcglearn.collections.runs import IndexedQrels, Run, grade_run
from dcglearn.judgments.preferences import Preferences, group_numbers
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
    documents: Ids | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lists)

    @property
    def query_numbers(self) -> Integers:
        """The number of each pair's query; one without a query has its own, shape (n,)."""
        return group_numbers(np.array([one or None for one in self.queries.tolist()], object))

    def question(self, i: int, swapped: bool) -> PairQuestion:
        """Return a candidate as a question without an id, its lists the other way if swapped."""
        sides, labels = [1, 0] if swapped else [0, 1], self.scale.labels
        shown = self.lists[i, sides].tolist()
        grades = (tuple(labels[code] for code in one if code != NO_DOCUMENT) for one in shown)
        ids = [] if self.documents is None else self.documents[i, sides].tolist()
        documents = (tuple(filter(None, one)) for one in ids)
        return PairQuestion("", str(self.queries[i]) or None, *grades, *documents)

    def distinct(self) -> tuple[Integers, Integers]:
        """Return the first of each query's pairs that are alike on either side; a pair's number."""
        _, numbers = distinct_rows(self.lists.reshape(-1, self.lists.shape[2]).T)
        return distinct_rows([self.query_numbers, *np.sort(numbers.reshape(-1, 2)).T])

    def answered(self, judged: Preferences) -> Booleans:
        """Return of which the query and the grades are among the judgments, on either side."""
        lists, n = np.concatenate([self.lists, judged.lists]), len(self)
        both = Candidates(lists, self.scale, np.append(self.queries, judged.queries))
        _, asked = both.distinct()
        return np.isin(asked[:n], asked[n:])

    def without(self, some: Booleans, why: str) -> Candidates:
        """Leave out some, and count them."""
        if not some.any():
            return self
        documents = None if self.documents is None else self.documents[~some]
        left_out = {**self.left_out, why: int(some.sum())}
        return Candidates(self.lists[~some], self.scale, self.queries[~some], documents, left_out)


def _worth_asking(found: Candidates) -> Candidates:
    """Leave out documents without a grade (L), equal lists, and all but one of equal pairs."""
    grades = found.lists.max(axis=(1, 2), initial=NO_DOCUMENT)
    found = found.without(grades == len(found.scale), "with a document that has no grade")
    equal = (found.lists[:, 0] == found.lists[:, 1]).all(axis=1)
    found = found.without(equal, "whose lists have the same grades")
    again = ~np.isin(np.arange(len(found)), found.distinct()[0])
    return found.without(again, "that repeat another one of the query")


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
    indexed, sources = open_qrels_and_runs(qrels, runs, scale)
    if len(sources) < 2:
        raise InputError("one run", "give two or more")
    tops = (_top_documents(run.read(set(indexed.queries)), indexed, n_ranks) for run in sources)
    pairs = np.column_stack(np.triu_indices(len(sources), 1))
    lists, documents = (
        np.stack(of_runs)[pairs].swapaxes(1, 2).reshape(-1, 2, n_ranks)  # of (pairs, 2, Q, K)
        for of_runs in zip(*tops, strict=True)
    )
    queries = np.tile(np.array(indexed.queries, dtype=str), len(pairs))
    short = (lists == NO_DOCUMENT).any(axis=(1, 2))
    found = Candidates(lists, indexed.scale, queries, documents)
    return _worth_asking(found.without(short, f"with fewer than {n_ranks} documents"))


def _top_documents(run: Run, indexed: IndexedQrels, n_ranks: int) -> tuple[Grades, Ids]:
    """Return grades (Q, K), L without a judgment and -1 below its end, and ids (Q, K).

    Of equal scores, the larger id is first.
    """
    graded = grade_run(run, indexed, by_id=True)
    at = graded.starts[:-1, None] + np.arange(n_ranks)
    near = at < graded.starts[1:, None]
    grades = np.full(near.shape, NO_DOCUMENT, np.int8)
    documents = np.full(near.shape, "", object)
    grades[near] = graded.grades[at[near]]
    documents[near] = take_rows(run.documents, graded.rows[at[near]]).to_pylist()
    return grades, documents


def made_candidates(
    qrels: QrelsLike, n_ranks: int, n: int, rng: np.random.Generator, scale: ScaleLike | None = None
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
    sizes, n_different = indexed.pools.sum(axis=1), np.count_nonzero(indexed.pools, axis=1)
    usable = np.flatnonzero((sizes > n_ranks) & (n_different > 1))
    if not len(usable):
        raise InputError(
            f"no query has more than {n_ranks} judged documents of different grades",
            "give shorter lists, or more judgments of documents",
        )
    query, ends = np.repeat(usable, -(-n // len(usable))), sizes.cumsum()
    grades = np.split(indexed.grades, ends)
    rows = np.array([ends[q] - sizes[q] + _pair(grades[q], n_ranks, rng) for q in query])
    number = indexed.keys[rows] % len(indexed.documents)
    documents = np.array(indexed.documents.to_pylist(), object)[number]
    queries = np.array(indexed.queries, dtype=str)[query]
    return _worth_asking(Candidates(indexed.grades[rows], indexed.scale, queries, documents))


def _pair(grades: Grades, n_ranks: int, rng: np.random.Generator) -> Integers:
    """Return the documents of two lists (2, K): rare grades as often as common ones."""
    weights = 1 / np.bincount(grades)[grades]
    drawn = rng.choice(len(grades), min(len(grades), n_ranks + 3), False, weights / weights.sum())
    first, others = drawn[:n_ranks], drawn[n_ranks:]
    second = first.copy()
    moved = rng.choice(n_ranks, min(n_ranks, int(rng.integers(2, 5))), replace=False)
    second[moved] = rng.permutation(second[moved])
    new = rng.integers(min(len(others), n_ranks) + 1)
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
    if not questions:
        raise InputError("no question", "give some")
    sides = [side for one in questions for side in (one.a, one.b)]
    found: set[Any] = {*chain(*sides)} - {None}
    if scale is None and any(isinstance(label, str) for label in found):
        raise InputError("its grades are names", "order them, best first: `scale`")
    known = needed_scale(sorted(found, reverse=True) if scale is None else scale)
    codes = {label: known.index(label) for label in found} | {None: len(known)}
    ids = [side for one in questions for side in (one.a_documents, one.b_documents)]
    queries = np.array([one.query or "" for one in questions], dtype=str)
    lists = np.full((len(questions), 2, max(map(len, sides))), NO_DOCUMENT, np.int8)
    documents = np.full(lists.shape, "", object)
    for i, (side, names) in enumerate(zip(sides, ids, strict=True)):
        lists[i // 2, i % 2, : len(side)] = [codes[label] for label in side]
        documents[i // 2, i % 2, : len(names)] = names
    return _worth_asking(Candidates(lists, known, queries, documents))
