"""Policies: which of a pool of pairs are judged next, given what was judged so far.

The pairs that say most are those of :mod:`dcglearn.asking.information`. Largest and smallest
differences by the measure that is learned so far are what people try first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcglearn.asking.information import Design
from dcglearn.asking.plan import known_so_far
from dcglearn.base.types import Pairs
from dcglearn.inference.usual import learn_dcg
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.presets import preset
from dcglearn.measures.scale import Scale

POLICIES = {
    "everything": "the pairs that say most about gains and discounts together",
    "gains": "the pairs that say most about the gains",
    "largest": "the pairs that differ most by the measure learned so far",
    "smallest": "the pairs that differ least by it",
    "order": "the pairs that say most about everything and the order of lists",
}


def choose_pairs(
    policy: str,
    lists: Pairs,
    judged: Pairs,
    n: int,
    scale: Scale,
    rng: np.random.Generator,
    prior: str | DCG = "usual",
) -> NDArray[np.intp]:
    """Return the rows of lists (N, 2, K) to judge next, after judged ones (m, 2, K), best first."""
    known = as_preferences(judged, scale)
    if policy in ("largest", "smallest"):
        usual = preset("linear-log2", scale, lists.shape[2])
        measure = usual if known is None else learn_dcg(known).dcg
        size = np.abs(score_differences(measure, lists))
        if policy == "smallest":
            size = np.where(size > 0, -size, -np.inf)  # equal lists are no question
        return np.argsort(-size, kind="stable")[:n]
    posterior, ties = known_so_far(known, scale, lists, prior)
    L = len(scale)
    asked = np.eye(L + lists.shape[2])[1 : L - 1 if policy == "gains" else 1]
    design = Design(posterior, lists, asked, rng, ties, order=policy == "order")
    return np.array(design.choose(n, exchanged=0), np.intp)


def as_preferences(judged: Pairs, scale: Scale) -> Preferences | None:
    """Return judged pairs, the preferred list first, as answers on both sides in turn."""
    if not len(judged):
        return None
    second = np.arange(len(judged)) % 2 == 1
    lists = np.where(second[:, None, None], judged[:, ::-1], judged)
    return Preferences.of(lists, np.where(second, "b", "a"), scale)
