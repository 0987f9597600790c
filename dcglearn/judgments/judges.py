"""Which judges answer nearly at random, as if swapped, or nearly always one side.

An answer is compared with the majority of the other judges' strict answers to the same two lists
(and query, where known); where fewer than half can be compared so, with linear gains and discounts
1/log2(i+1). With r the typical share of all others,

    one side:   the share of a is above max(r, 1/2) + 0.1, or below min(r, 1/2) - 0.1
    at random:  agreement is below (r + 1/2) / 2, closer to chance than to the others

are tested with the opposite as the null, by Holm's correction. The share of a is the mean of two
shares, where a is the better list and where b is, so that neither a judge to whom better lists were
often shown on one side nor one who swaps answers is taken for a judge of one side. r is the median
over judgments of their judges' shares, which a few bad judges do not move; judges with few
judgments are one judge there and are not tested.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.statistics import holm
from dcglearn.base.tables.columns import column_of, distinct_rows
from dcglearn.base.types import Booleans, Floats, Integers
from dcglearn.judgments.preferences import Preferences, count_true, group_numbers
from dcglearn.measures.agreement import outcomes
from dcglearn.measures.presets import preset

FEWEST_JUDGMENTS = 20
"""A judge with fewer judgments is not tested."""

LEVEL = 0.05
"""The chance that any judge is named without reason."""

LEAD = 0.1

FEWEST_OF_A_SIDE = 5
"""From so many judgments on, where the better list was a and where it was b, both count alike."""


Basis: TypeAlias = Literal["other judges", "linear-log2"] | None
"""What answers are compared with."""


class ListPairs(NamedTuple):
    """Numbers of the unordered pairs of lists of n judgments, and which of the two lists won.

    `within_query` keeps queries apart. `winner` is 1 for the lexically first list, -1 for the
    other, 0 if both are the same; ties count as if for b.
    """

    lists: Integers
    within_query: Integers
    winner: Integers


def list_pairs(preferences: Preferences) -> ListPairs:
    """Find judgments of the same two lists, on whichever side each was shown."""
    n, _, n_ranks = preferences.lists.shape
    _, numbers = distinct_rows(preferences.lists.reshape(2 * n, n_ranks).T)
    a, b = numbers.reshape(n, 2).T
    _, lists = distinct_rows((np.minimum(a, b), np.maximum(a, b)))
    queries = preferences.queries
    within = distinct_rows((lists, group_numbers(queries)))[1] if queries.any() else lists
    return ListPairs(lists, within, np.sign(np.where(preferences.answers == 0, b - a, a - b)))


def votes(lists: Integers, winner: Integers, weights: Floats | float = 1.0) -> Floats:
    """Return how often, or by what weight, each pair was judged each way, shape (2, pairs)."""
    return np.stack([np.bincount(lists, weights * (winner == way)) for way in (1, -1)])


@dataclass(frozen=True)
class JudgeTest:
    """One judge: numbers of judgments, whatever their weight, and p-values, nan if not tested.

    Of `compared` strict judgments the share `agreement` agrees; another judge answered
    `contradicted` the opposite way. `repeated` pairs of lists were judged more than once,
    `contradict_self` both ways.
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
    random: Literal["", "chance", "reversed"]  # worse than chance


@dataclass(frozen=True)
class JudgeTests:
    """All judges, those that stand out first, then by number of judgments.

    Of `shared_pairs` of lists, which several judged, `contradicted_pairs` were judged both ways.
    """

    judges: tuple[JudgeTest, ...]
    basis: Basis
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


def judge_tests(preferences: Preferences, pairs: ListPairs, documents: bool) -> JudgeTests | None:
    """Test each judge; None if none is known. No measure orders `documents` without grades."""
    column = column_of(preferences.judges)
    judges, names = column.codes, column.values
    if not names:
        return None
    known = judges >= 0
    used = known & preferences.strict
    judge, a_wins = judges[used], preferences.answers[used] == 0
    lists, winner = pairs.within_query[used], pairs.winner[used]
    first, own = distinct_rows((lists, judge))  # what one judge said about one pair of lists
    everyones, ones = votes(lists, winner), votes(own, winner)
    others = everyones[:, lists] - ones[:, own]
    same, opposite = np.where(winner == 1, others, others[::-1])
    shared = (np.bincount(lists[first]) > 1) & everyones.any(axis=0)

    basis: Basis = "other judges"
    agrees = same - opposite  # 0 where an answer cannot be compared
    if 2 * count_true(agrees != 0) < len(agrees) and not documents and preferences.n_grades > 1:
        measure = preset("linear-log2", preferences.scale, preferences.n_ranks)
        with_measure = outcomes(measure, preferences[used].pairs) - 0.5
        if with_measure.any():
            agrees, basis = with_measure, "linear-log2"

    def count(of: NDArray[np.integer]) -> Integers:
        return np.bincount(of, minlength=len(names))

    judgments = count(judges[known])
    compared, agree = count(judge[agrees != 0]), count(judge[agrees > 0])
    better = np.sign(agrees) * np.where(a_wins, 1, -1)  # the side of the better list
    better_or_any = (better == 1, better == -1, np.isfinite(better))
    shown = np.stack([count(judge[one]) for one in better_or_any])
    sided = np.stack([count(judge[one & a_wins]) for one in better_or_any])
    share, error = _shares_of_a(sided, shown)
    strict = shown[2]
    p, typical = _p_values(share, error, strict, agree, compared)
    one_sided, random = p < LEVEL
    reversed_ = random & (scipy.special.bdtr(agree, compared, 0.5) < LEVEL)
    columns = (
        judgments,
        strict,
        count(judges[known & (preferences.weights == 0)]),
        ratio(sided[2], strict),
        compared,
        ratio(agree, compared),
        count(judge[first][ones.sum(axis=0) > 1]),
        count(judge[first][ones.all(axis=0)]),
        count(judge[opposite > 0]),
        *p,
        one_sided,
        np.select([reversed_, random], ["reversed", "chance"], ""),
    )
    tests = [JudgeTest(*row) for row in zip(names, *(one.tolist() for one in columns), strict=True)]
    return JudgeTests(
        tuple(tests[j] for j in np.lexsort((-judgments, ~(one_sided | random)))),
        basis if agrees.any() else None,
        float(ratio(agree.sum(), compared.sum())),
        typical,
        count_true(strict >= FEWEST_JUDGMENTS),
        count_true(shared),
        count_true(shared & everyones.all(axis=0)),
        count_true(~known),
    )


def _shares_of_a(a_wins: Integers, shown: Integers) -> tuple[Floats, Floats]:
    """Return each judge's share of a, and its standard error, (J,), of Beta posteriors.

    It is the mean of the shares where a and where b is better, or that of all, (3, J), if there
    are few of either.
    """
    share = (a_wins + 1) / (shown + 2)
    variance = share * (1 - share) / (shown + 3)
    both = shown[:2].min(axis=0) >= FEWEST_OF_A_SIDE
    error = np.sqrt(np.where(both, variance[:2].sum(axis=0) / 4, variance[2]))
    return np.where(both, share[:2].mean(axis=0), share[2]), error


def of_judges(preferences: Preferences, names: Sequence[str]) -> Booleans:
    """Return which judgments are of these judges; a name that no judge has is refused."""
    known = {*preferences.judges.tolist()} - {None}
    if names and not known:
        raise InputError("no judgment names its judge", "leave the names of judges out")
    for name in {*names} - known:
        raise unknown_name("judge", name, known)
    return np.isin(preferences.judges.astype(str), names)


def _p_values(
    share: Floats, error: Floats, strict: Integers, agree: Integers, compared: Integers
) -> tuple[Floats, float]:
    """Return the corrected p-values of both tests, (2, J), and the typical agreement."""
    usual, _ = _typical_shares(share * strict, strict)
    above = (share - usual.clip(0.5, 1 - LEAD) - LEAD) / error
    below = (usual.clip(LEAD, 0.5) - LEAD - share) / error
    one_sided = 2 * scipy.special.ndtr(-np.maximum(above, below)).clip(0, 0.5)
    agreement, typical = _typical_shares(agree, compared)
    closer = scipy.special.bdtr(agree, compared, (agreement + 0.5) / 2)
    p = np.stack([one_sided, closer])
    p[1, agreement <= 0.5] = 1
    tested = np.stack([strict, np.minimum(compared, compared.sum() - compared)]) >= FEWEST_JUDGMENTS
    p[tested], p[~tested] = holm(p[tested]), np.nan
    return p, typical


def _typical_shares(part: Integers | Floats, whole: Integers) -> tuple[Floats, float]:
    """Return the median share of the others for each judge, 1/2 if not tested, and of all."""
    enough = whole >= FEWEST_JUDGMENTS
    parts, weights = (np.append(of[enough], of[~enough].sum()) for of in (part, whole))
    shares = np.nan_to_num(ratio(parts, weights), nan=0.5)
    order = np.argsort(shares, kind="stable")
    typical, *of_others = (
        _weighted_median(shares[order], np.where(order == left_out, 0, weights[order]))
        for left_out in range(-1, enough.sum())  # -1: nobody
    )
    found = np.full(len(part), 0.5)
    found[enough] = of_others
    return found, typical


def _weighted_median(ascending: Floats, weights: Integers) -> float:
    total = weights.cumsum()
    return float(ascending[np.searchsorted(total, total[-1] / 2)]) if total[-1] else 0.5


def ratio(part: Any, whole: Any) -> Any:
    """Return part / whole, nan where there is no whole."""
    return part / np.where(whole > 0, whole, np.nan)
