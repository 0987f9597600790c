"""Mean nDCG with any gains, including gains of 0 for several of the worst grades.

:mod:`dcglearn.coherence.mean_ndcg` searches gains that are above 0 for every grade but the worst.
Where the gains of the grades from j on are exactly 0, queries without a better document count 0,
so the mean jumps there. These gains form a face of the set of all gains, of dimension j - 1: the
problem in which the grades from j on are merged into one that gains 0. The verdict on all gains
combines the verdict on the positive gains with the verdicts on the faces j = 1, ..., L - 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.coherence.advantage import Discounts, WorstGain
from dcglearn.coherence.mean_ndcg import MeanVerdict, MeanWinner, mean_verdicts
from dcglearn.measures.dcg import DCG


def mean_verdicts_with_faces(
    runs: ArrayLike,
    pools: ArrayLike,
    discounts: Discounts,
    n_grades: int,
    worst_gain: WorstGain = "zero",
    resolution: float = 1e-9,
    max_boxes: int = 4096,
    counted: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
) -> dict[tuple[int, int], MeanVerdict]:
    """Decide for pairs of runs which has the higher mean nDCG, gains of 0 included.

    Parameters
    ----------
    runs, pools, discounts, n_grades, worst_gain, resolution, max_boxes, counted, pairs
        As in :func:`dcglearn.coherence.mean_ndcg.mean_verdicts`. `max_boxes` applies to each
        face separately.

    Returns
    -------
    dict from (i, j) to MeanVerdict
        Run i is A, run j is B. Regions are those of positive gains.

    Raises
    ------
    InputError
        As in :func:`dcglearn.coherence.mean_ndcg.mean_verdicts`.

    Examples
    --------
    The second query has no best document. It counts, and B wins, unless the middle gain is 0.

    >>> runs = [[[0, 1], [2, 1]], [[1, 2], [1, 2]]]
    >>> pools = [[0, 1, 2], [1, 2, 2]]
    >>> mean_verdicts(runs, pools, "zipf", 3)[0, 1].bounds[1] < 0.5
    True
    >>> mean_verdicts_with_faces(runs, pools, "zipf", 3)[0, 1].bounds[1]
    0.5
    """
    limits = resolution, max_boxes, counted, pairs
    found = mean_verdicts(runs, pools, discounts, n_grades, worst_gain, *limits)
    rows, pool = np.asarray(runs), np.asarray(pools)
    for n_kept in range(1, n_grades - (worst_gain == "zero")):
        merged, merged_pool = np.minimum(rows, n_kept), np.minimum(pool, n_kept)
        face = mean_verdicts(merged, merged_pool, discounts, n_kept + 1, "zero", *limits)
        found = {pair: _combined(one, face[pair], n_grades) for pair, one in found.items()}
    return found


def _combined(one: MeanVerdict, face: MeanVerdict, n_grades: int) -> MeanVerdict:
    """Return the verdict on the gains of both; `one` has `n_grades` gains, the face fewer."""
    on_face = [
        None if measure is None else replace(measure, gains=_with_zeros(measure, n_grades))
        for measure in face.witnesses
    ]
    a, b = (x if x is not None else y for x, y in zip(one.witnesses, on_face, strict=True))
    for_a, for_b = (
        x if witness is not None else y
        for witness, x, y in zip(one.witnesses, one.differences, face.differences, strict=True)
    )
    winners = {one.winner, face.winner} - {"equal"}
    winner: MeanWinner = one.winner if one.winner != "equal" else face.winner
    if (a is not None and b is not None) or "depends" in winners or {"a", "b"} <= winners:
        winner = "depends"
    elif "undecided" in winners:
        winner = "undecided"
    return replace(
        one,
        winner=winner,
        witnesses=(a, b),
        differences=(for_a, for_b),
        bounds=(min(one.bounds[0], face.bounds[0]), max(one.bounds[1], face.bounds[1])),
        undecided_share=max(one.undecided_share, face.undecided_share),
        tolerance=max(one.tolerance, face.tolerance),
    )


def _with_zeros(measure: DCG, n_grades: int) -> tuple[float, ...]:
    """Return the gains of a face with 0 for the grades that it merges."""
    return (*measure.gains, *[0.0] * (n_grades - measure.n_grades))
