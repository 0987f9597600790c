"""How evenly judgments are spread over queries.

Judgments of one query are not independent, so a set in which few queries hold most judgments is
worth less than its size. With n_q judgments of query q, it is worth as many evenly judged queries
as

    (sum over q of n_q)^2 / sum over q of n_q^2

(Kish, Survey Sampling, 1965, of weights).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.judgments.inspection.dense_codes import id_codes
from dcglearn.judgments.preferences import Preferences

DOMINANT = 0.05
"""A query dominates if it holds at least this share of the strict judgments, and at least twice an
even share, or three quarters if there are few queries."""


@dataclass(frozen=True)
class QueryShare:
    """The strict judgments of one query.

    Attributes
    ----------
    query : str
    judgments : int
    share, share_of_weight : float
        Of all strict judgments, and of their weight (nan if they have none).
    """

    query: str
    judgments: int
    share: float
    share_of_weight: float


@dataclass(frozen=True)
class QueryShares:
    """How evenly strict judgments are spread over queries.

    Attributes
    ----------
    queries : int
        The number of queries with a strict judgment; one without an id is a query of its own.
    effective, effective_by_weight : float
        The number of evenly judged queries that the judgments, and their weights, are worth.
    largest : QueryShare
        The query with the most strict judgments.
    dominant : tuple of QueryShare
        Those that dominate, by number or by weight, the largest first.
    """

    queries: int
    effective: float
    effective_by_weight: float
    largest: QueryShare
    dominant: tuple[QueryShare, ...]


def query_shares(preferences: Preferences) -> QueryShares | None:
    """Count the strict judgments of each query.

    Parameters
    ----------
    preferences : Preferences

    Returns
    -------
    QueryShares or None
        None if no strict judgment has a query id.

    Examples
    --------
    >>> lists = [[[0, 1], [1, 1]]] * 4
    >>> from dcglearn.measures.scale import Scale
    >>> data = Preferences.of(lists, ["a"] * 4, Scale((1, 0)), queries=["q", "q", "q", "p"])
    >>> found = query_shares(data)
    >>> found.queries, found.effective, found.largest.judgments
    (2, 1.6, 3)
    """
    codes, names = id_codes(preferences.queries[preferences.strict])
    if not names:
        return None
    unknown = codes < 0
    codes[unknown] = np.arange(len(names), len(names) + unknown.sum())
    counts = np.bincount(codes)
    weights = np.bincount(codes, preferences.pair_weights)
    by_count, by_weight = (_shares(totals.astype(float)) for totals in (counts, weights))
    limit = max(DOMINANT, min(2 / len(counts), 0.75))
    named = slice(len(names))
    order = np.argsort(-counts[named], kind="stable")
    large = (by_count[named] >= limit) | (by_weight[named] >= limit)
    kept = [order[0], *order[large[order]]]
    shares = [
        QueryShare(names[at], int(counts[at]), float(by_count[at]), float(by_weight[at]))
        for at in kept
    ]
    return QueryShares(
        len(counts), _effective(by_count), _effective(by_weight), shares[0], tuple(shares[1:])
    )


def _shares(totals: Floats) -> Floats:
    """Return shares of the sum, nan if it is 0; large totals do not overflow."""
    total = totals.sum()
    return totals / total if total > 0 else np.full(len(totals), np.nan)


def _effective(shares: Floats) -> float:
    return float(1 / (shares**2).sum())
