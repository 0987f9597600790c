"""Policies: which of a pool of pairs say most (:mod:`dcglearn.asking.information`) and are next."""

from __future__ import annotations

import numpy as np

from dcglearn.asking.information import Design
from dcglearn.asking.plan import known_so_far
from dcglearn.base.types import Integers, Pairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale

POLICIES = {
    "everything": "the pairs that say most about gains and discounts together",
    "gains": "the pairs that say most about the gains",
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
) -> Integers:
    """Return the rows of lists (N, 2, K) to judge next, after judged ones (m, 2, K), best first."""
    posterior, ties = known_so_far(as_preferences(judged, scale), scale, lists, prior)
    L = len(scale)
    asked = np.eye(L + lists.shape[2])[1 : L - 1 if policy == "gains" else 1]
    design = Design(posterior, lists, asked, rng, ties, order=policy == "order")
    return design.choose(n)


def as_preferences(judged: Pairs, scale: Scale) -> Preferences | None:
    """Return judged pairs, the preferred list first, as answers on both sides in turn."""
    if not len(judged):
        return None
    second = np.arange(len(judged)) % 2 == 1
    lists = np.where(second[:, None, None], judged[:, ::-1], judged)
    return Preferences.of(lists, np.where(second, "b", "a"), scale)
