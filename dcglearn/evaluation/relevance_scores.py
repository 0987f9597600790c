"""P, AP, RR, R, Bpref and their like, computed by ir_measures.

They depend on the order of the relevant, the other and the unjudged documents of a
query, and on how many of each are judged. ir_measures is therefore given an id and a score for
each rank in place of those of the run, and the grade 1 for every relevant document, which also
serves grades that are names or fractions. Grades below 0 stay as they are: Bpref and infAP take
documents with such grades as not judged.

Documents with equal scores have the order that ir_measures' provider of the measure gives them: by
id, the largest first, with scores in single precision, as in trec_eval; and for RR with a cutoff by
id, the smallest first, as in the script of MS MARCO.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.evaluation.ranked import Ranked
from dcglearn.measures.relevance_measure import RelevanceMeasure

EVALUATORS_REMEDY = "install it: pip install 'dcglearn[evaluators]'"


def score_relevance(measures: Sequence[RelevanceMeasure], ranked: Ranked) -> Floats:
    """Return the values of measures for each query, by ir_measures.

    Parameters
    ----------
    measures : sequence of RelevanceMeasure
    ranked : Ranked
        In the order of documents that counts; ties in it are not looked at.

    Returns
    -------
    ndarray of float, shape (measures, Q)
        0 for a query without documents.

    Raises
    ------
    InputError
        If ir_measures is not installed, or cannot compute a measure.

    Examples
    --------
    >>> ranked = Ranked(np.array([0, 3]), np.array([0, 2, 0]), np.array([[2, 4]]))
    >>> score_relevance([RelevanceMeasure("AP", levels=(1, 0))], ranked).round(4)
    array([[0.8333]])
    """
    values = np.zeros((len(measures), len(ranked.lengths)))
    by_levels: dict[tuple[int, ...], list[int]] = {}
    for row, measure in enumerate(measures):
        by_levels.setdefault(measure.levels, []).append(row)
    for levels, rows in by_levels.items():
        values[rows] = _scored([measures[row] for row in rows], ranked, levels)
    return values


def _scored(
    measures: Sequence[RelevanceMeasure], ranked: Ranked, levels: tuple[int, ...]
) -> Floats:
    tool = ir_measures_module()
    theirs = [_theirs(one, tool) for one in measures]
    row_of = {str(one): row for row, one in enumerate(theirs)}
    queries = np.flatnonzero(ranked.lengths)
    values = np.zeros((len(measures), len(ranked.lengths)))
    if not len(queries):
        return values
    depths = [one.n_ranks if one.name == "RR" else None for one in measures]
    depth = None if None in depths else max(one for one in depths if one is not None)
    qrels, run = _for_ir_measures(ranked, queries, levels, depth)
    try:
        for found in tool.iter_calc(list(dict.fromkeys(theirs)), qrels, run):
            values[row_of[str(found.measure)], int(found.query_id)] = found.value
    except (ValueError, RuntimeError, AssertionError, TypeError) as error:
        names = ", ".join(map(str, measures))
        raise InputError(
            f"ir_measures cannot compute {names}: {error!s:.200}", "leave it out"
        ) from error
    for row, one in enumerate(theirs):  # a measure that is asked for twice
        values[row] = values[row_of[str(one)]]
    return values


def _for_ir_measures(
    ranked: Ranked, queries: Any, levels: tuple[int, ...], depth: int | None
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return qrels and run with the rank of a document as its id.

    With a depth, only what the reciprocal rank within it needs: the documents of these ranks.
    """
    longest = int(ranked.lengths.max())
    ids = [str(rank) for rank in range(longest)]
    scores = [float(longest - rank) for rank in range(longest)]
    not_ranked = [
        [f"{grade}/{i}" for i in range(most)]
        for grade, most in enumerate(ranked.pools.max(axis=0).tolist())
    ]
    by_length: dict[int, dict[str, float]] = {}
    by_grade = np.array(levels)
    judged = ranked.grades < ranked.n_grades
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for q in queries.tolist():
        start, end = int(ranked.starts[q]), int(ranked.starts[q + 1])
        end = end if depth is None else min(end, start + depth)
        if end - start not in by_length:
            by_length[end - start] = dict(zip(ids, scores[: end - start], strict=False))
        run[str(q)] = by_length[end - start]
        ranks = np.flatnonzero(judged[start:end])
        grades = ranked.grades[start:end][ranks]
        one = {ids[r]: g for r, g in zip(ranks.tolist(), by_grade[grades].tolist(), strict=True)}
        qrels[str(q)] = one
        if depth is not None:
            continue
        left = ranked.pools[q] - np.bincount(grades, minlength=len(levels))
        for level, more, names in zip(levels, left.tolist(), not_ranked, strict=True):
            one.update(dict.fromkeys(names[:more], level))
    return qrels, run


def ir_measures_module() -> Any:
    """Return the module ir_measures.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import ir_measures
    except ImportError as error:
        raise InputError("ir_measures is not installed", EVALUATORS_REMEDY) from error
    return ir_measures


def _theirs(measure: RelevanceMeasure, tool: Any) -> Any:
    """Return the measure as an object of ir_measures, for documents of level 1."""
    made = tool.measures.registry[measure.name](**measure.options)
    if measure.cutoff is not None:
        made = made @ measure.cutoff
    try:
        made.validate_params()
    except AssertionError as error:
        raise InputError(
            f"ir_measures takes no {measure}: {error}", "see its documentation", str(measure)
        ) from error
    return made
