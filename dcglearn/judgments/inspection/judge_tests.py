"""Which judges answer nearly at random, or nearly always one side.

Both tests ask for more than a difference that chance does not explain, because with many judgments
every judge differs from the others. With r the typical share of all other judges,

    one side:   the share of a is above max(r, 1/2) + 0.1, or below min(r, 1/2) - 0.1
    at random:  agreement is below (r + 1/2) / 2, closer to chance than to the others

are tested as hypotheses, by exact binomial tests whose null is the opposite. r is the median over
judgments of their judges' shares, which a few bad judges do not move, and is taken as known; judges
with few judgments are one judge there and are not tested. Agreement is with the other judges on the
same lists where at least half of the judgments can be compared so, otherwise with linear gains and
discounts 1/log2(i+1). The p-values of both tests and all judges are corrected together by Holm's
method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dcglearn.base.types import Floats, Integers
from dcglearn.judgments.inspection.judge_answers import JudgeAnswers
from dcglearn.statistics.significance import holm

FEWEST_JUDGMENTS = 20
"""A judge with fewer strict judgments, or fewer that can be compared, is not tested."""

LEVEL = 0.05
"""The largest chance that any judge of a set without such judges is named."""

_SIDE_LEAD = 0.1

Basis = Literal["other judges", "linear-log2"]


@dataclass(frozen=True)
class JudgeTest:
    """One judge: the numbers of judgments, and what the tests say.

    Attributes
    ----------
    judge : str
    judgments, strict, weightless : int
        All judgments, the strict ones, and all of weight 0.
    a_share : float
        The share of strict judgments that prefer side a.
    compared : int
        The number of strict judgments that can be compared.
    agreement : float
        The share of those that agree.
    repeated, contradict_self : int
        Pairs of lists judged strictly more than once, and those of them judged both ways.
    contradicted : int
        Strict judgments that another judge contradicts on the same lists.
    p_one_sided, p_random : float
        Corrected p-values; nan where the judge is not tested.
    one_sided : bool
        Whether side a is preferred, or refused, far more often than by the others.
    random : {"", "chance", "reversed"}
        Whether the answers are closer to chance than to the others, and whether they are worse
        than chance.
    """

    judge: str
    judgments: int
    strict: int
    weightless: int
    a_share: float
    compared: int
    agreement: float
    repeated: int
    contradict_self: int
    contradicted: int
    p_one_sided: float
    p_random: float
    one_sided: bool
    random: Literal["", "chance", "reversed"]


@dataclass(frozen=True)
class JudgeTests:
    """All judges of a set.

    Attributes
    ----------
    judges : tuple of JudgeTest
        Those that stand out first, then by number of judgments.
    basis : {"other judges", "linear-log2"} or None
        What answers are compared with; None if nothing compares them.
    agreement, typical_agreement : float
        Of all judges together, and the median over judgments of their judges' agreement; nan
        without a basis.
    tested : int
        The number of judges with enough strict judgments to be tested.
    shared_pairs, contradicted_pairs : int
        Pairs of lists judged strictly by more than one judge, and those of them judged both ways.
    without_judge : int
        Judgments without a judge.
    """

    judges: tuple[JudgeTest, ...]
    basis: Basis | None
    agreement: float
    typical_agreement: float
    tested: int
    shared_pairs: int
    contradicted_pairs: int
    without_judge: int

    @property
    def outstanding(self) -> tuple[JudgeTest, ...]:
        """The judges that stand out."""
        return tuple(one for one in self.judges if one.one_sided or one.random)


def judge_tests(answers: JudgeAnswers) -> JudgeTests:
    """Test each judge against the others.

    Parameters
    ----------
    answers : JudgeAnswers

    Returns
    -------
    JudgeTests
    """
    basis, compared, agree = _basis(answers)
    enough = answers.strict >= FEWEST_JUDGMENTS
    p_side = _p_one_sided(answers.a_wins, answers.strict)
    p_random = _p_random(agree, compared)
    p_side[~enough] = np.nan
    p_random[~enough] = np.nan
    p_side, p_random = _corrected(p_side, p_random)
    one_sided = np.nan_to_num(p_side, nan=1.0) < LEVEL
    random = np.nan_to_num(p_random, nan=1.0) < LEVEL
    reversed_ = random & (_binomial_tail(agree, compared, 0.5) < LEVEL)
    order = np.lexsort((-answers.judgments, ~(one_sided | random)))
    a_share, agreement = (
        _ratio(*pair) for pair in ((answers.a_wins, answers.strict), (agree, compared))
    )
    judges = tuple(
        JudgeTest(
            answers.names[j],
            int(answers.judgments[j]),
            int(answers.strict[j]),
            int(answers.weightless[j]),
            float(a_share[j]),
            int(compared[j]),
            float(agreement[j]),
            int(answers.repeated[j]),
            int(answers.contradict_self[j]),
            int(answers.contradicted[j]),
            float(p_side[j]),
            float(p_random[j]),
            bool(one_sided[j]),
            "" if not random[j] else "reversed" if reversed_[j] else "chance",
        )
        for j in order.tolist()
    )
    return JudgeTests(
        judges,
        basis,
        float(_ratio(agree.sum(keepdims=True), compared.sum(keepdims=True))[0]),
        _typical_shares(agree, compared)[1],
        int(enough.sum()),
        answers.shared_pairs,
        answers.contradicted_pairs,
        answers.without_judge,
    )


def _basis(answers: JudgeAnswers) -> tuple[Basis | None, Integers, Integers]:
    """Choose what answers are compared with; return it, and how many can be and how many agree."""
    with_others, with_measure = answers.with_others, answers.with_measure
    if with_others.any() and (
        2 * with_others.sum() >= answers.strict.sum() or not with_measure.any()
    ):
        return "other judges", with_others, answers.agree_with_others
    return "linear-log2" if with_measure.any() else None, with_measure, answers.agree_with_measure


def _p_one_sided(a_wins: Integers, strict: Integers) -> Floats:
    from scipy.special import bdtr, bdtrc  # slow to load

    share = _typical_shares(a_wins, strict)[0]
    high = np.minimum(np.maximum(share, 0.5) + _SIDE_LEAD, 1.0)
    low = np.maximum(np.minimum(share, 0.5) - _SIDE_LEAD, 0.0)
    above, below = bdtrc(a_wins - 1, strict, high), bdtr(a_wins, strict, low)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(above, below)))


def _p_random(agree: Integers, compared: Integers) -> Floats:
    """Return nan where the judge, or all others, have too few judgments that can be compared."""
    others = compared.sum() - compared
    share = _typical_shares(agree, compared)[0]
    p = np.where(share > 0.5, _binomial_tail(agree, compared, (share + 0.5) / 2), 1.0)
    return np.where(np.minimum(compared, others) >= FEWEST_JUDGMENTS, p, np.nan)


def _typical_shares(part: Integers, whole: Integers) -> tuple[Floats, float]:
    """Return the median share of the others for each judge with enough judgments, and of all.

    The others' share is 1/2 where there are none, and for judges with few judgments, who are not
    tested.
    """
    enough = whole >= FEWEST_JUDGMENTS
    few = np.array([[part[~enough].sum()], [whole[~enough].sum()]])
    parts, wholes = np.hstack([np.stack([part, whole])[:, enough], few])
    shares = _ratio(parts, wholes, without=0.5)
    order = np.argsort(shares, kind="stable")
    total = np.cumsum(wholes[order])
    position, n = np.argsort(order), len(order)
    half = (total[-1] - wholes) / 2
    at = np.searchsorted(total, half)  # if the judge comes later; otherwise without the judge's own
    after = np.minimum(np.searchsorted(total, half + wholes), n - 1)
    others = shares[order[np.where(at < position, at, after)]]
    found = np.full(len(part), 0.5)
    found[enough] = np.where(half > 0, others, 0.5)[:-1]
    return found, float(shares[order[np.searchsorted(total, total[-1] / 2)]])


def _binomial_tail(successes: Integers, n: Integers, share: Floats | float) -> Floats:
    from scipy.special import bdtr  # slow to load

    return np.asarray(bdtr(successes, n, share), float)


def _corrected(*columns: Floats) -> list[Floats]:
    """Correct the p-values of several tests together; nan are left out."""
    p = np.concatenate(columns)
    given = ~np.isnan(p)
    if given.any():
        p[given] = holm(p[given])
    return np.split(p, len(columns))


def _ratio(part: Integers, whole: Integers, without: float = np.nan) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), without)
