"""Systems under all measures that judgments support.

    value(m, s, q) = <W_m, X_sq> / <W_m, I_q>

W_m = c g' are measures drawn around a learned one, X_sq holds the expected number of documents of
each grade that system s puts at each rank for query q, and I_q those of the ideal ranking.
"""

from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers, ShortRepr
from dcglearn.learning.record import LearnedRecord
from dcglearn.measures.dcg import DCG, ratio
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.scoring import rankings_to_score

_EQUAL = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Supported(ShortRepr):
    """Systems under measures that judgments support.

    Attributes
    ----------
    measure : str
        The learned measure.
    systems : tuple of str
    means : ndarray of float, shape (S,)
        Under the learned measure itself.
    ranks, ranks_resampled : ndarray of int, shape (S, 2)
        The band that holds 95% of a system's ranks, with all queries and with resampled ones.
    ahead, ahead_resampled : ndarray of float, shape (S, S)
        In what share of the measures (and of measures with resampled queries) the system of the
        row is ahead of that of the column; equal means count half.
    n_measures : int
    """

    measure: str
    systems: tuple[str, ...]
    means: Floats
    ranks: Integers
    ranks_resampled: Integers
    ahead: Floats
    ahead_resampled: Floats
    n_measures: int

    @property
    def order(self) -> Integers:
        """The systems, best first."""
        return np.argsort(-self.means, kind="stable")


def drawn_measures(evaluation: Evaluation) -> tuple[Floats, Floats]:
    """Return the gains and discounts that the file of the first measure holds as supported."""
    one = evaluation.measures[0]
    file = getattr(one, "file", None)
    record = LearnedRecord.read(file) if file and file.dcg else None
    if file is None or record is None or record.draws is None:
        problem = "holds no measures that the judgments support"
        raise InputError(problem, "fit it again with `draws=1000`", one.name)
    grades = evaluation.qrels.scale.labels
    known = file.dcg.grades or grades
    return record.draws.gains[:, [known.index(label) for label in grades]], record.draws.discounts


def supported_systems(
    evaluation: Evaluation, gains: Floats, discounts: Floats, rng: np.random.Generator
) -> Supported:
    """Compare systems under measures that were drawn around a learned one.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more. Its first measure is learned; drawn ones have its form and cutoff.
    gains : ndarray of float, shape (n, L)
        Of the drawn measures, for the grades of the qrels, the best first: falling.
    discounts : ndarray of float, shape (n, K)
        Falling; ``posterior.draw(1000, rng)`` of a :func:`dcglearn.learn_dcg` draws both.
    rng : numpy.random.Generator
        Draws the queries.

    Returns
    -------
    Supported

    Examples
    --------
    >>> qrels = {"q": {"d1": 2, "d2": 1, "d3": 0}}
    >>> runs = {"a": {"q": {"d1": 1.0}}, "b": {"q": {"d2": 2.0, "d1": 1.0}}}
    >>> from dcglearn import evaluate
    >>> found = evaluate(qrels, runs, "DCG({2: 1, 1: .4, 0: 0}, [1, .5])")
    >>> drawn = np.array([[1, 0.3, 0], [1, 0.6, 0]]), np.array([[1, 0.6], [1, 0.5]])
    >>> supported_systems(found, *drawn, np.random.default_rng(0)).ahead
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    learned = evaluation.measures[0]
    drawn = learned.measure
    if not isinstance(drawn, DCG):
        raise InputError("not a DCG", "name a learned DCG")
    if evaluation.high is not None:
        raise InputError("bounds for unjudged documents", "choose another rule for them")
    rules = evaluation.rules
    if rules.least is not None:
        gains = np.where(gains >= rules.least, gains, 0.0)
    if rules.unjudged == "worst" and gains[:, -1].any():
        remedy = "choose the rule that they gain nothing"
        raise InputError("unjudged documents gain what the worst grade does", remedy)
    discounts = discounts[:, : drawn.cutoff]
    K = discounts.shape[1]
    by_grade = np.pad(gains, ((0, 0), (0, 1)))  # a document without a judgment gains nothing
    W = (discounts[:, :, None] * by_grade[:, None]).reshape(len(gains), -1).T
    counted = ~np.isnan(evaluation.values[:, 0])
    n_queries = counted.shape[1]
    drawn_queries = rng.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=len(gains))
    weights = np.stack([np.ones_like(drawn_queries), drawn_queries])
    ideal = None
    if drawn.normalise is not None:
        ends = np.cumsum(evaluation.qrels.pools, axis=1)[:, None]
        best = np.eye(gains.shape[1] + 1)[(ends <= np.arange(K)[:, None]).sum(axis=2)]
        ideal = best.reshape(n_queries, -1) @ np.maximum(W, 0.0)
    means = np.empty((2, len(evaluation.runs), len(gains)))
    for s, run in enumerate(evaluation.runs):
        values = rankings_to_score(run, rules).grade_shares(K).reshape(n_queries, -1) @ W
        if ideal is not None:
            values = ratio(values, ideal, rules.worthless or 0.0)
        values[run.missing] = rules.missing or 0.0
        values[~counted[s]] = 0.0
        sums = np.einsum("qm,kmq->km", values, weights)
        means[:, s] = sums / np.maximum(weights @ counted[s], 1)
    (ranks, ahead), (ranks_resampled, ahead_resampled) = map(_standings, means)
    return Supported(
        learned.name,
        evaluation.systems,
        evaluation.means()[:, 0],
        ranks,
        ranks_resampled,
        ahead,
        ahead_resampled,
        len(gains),
    )


def _standings(means: Floats) -> tuple[Integers, Floats]:
    """Return bands of ranks (S, 2) and shares ahead (S, S), from means (S, n)."""
    ahead = np.empty((len(means), len(means)))
    ranks = np.empty(means.shape, np.int64)
    for s, own in enumerate(means):
        lead = own - means
        lead[np.abs(lead) <= _EQUAL] = 0.0
        ahead[s] = np.heaviside(lead, 0.5).mean(axis=1)
        ranks[s] = 1 + (lead < 0).sum(axis=0)
    np.fill_diagonal(ahead, 0.0)
    low, high = np.quantile(ranks, (0.025, 0.975), axis=1, method="inverted_cdf")
    return np.stack([low, high], axis=1), ahead
