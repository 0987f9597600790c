"""Which judges answer nearly at random, or nearly always one side.

Two judgments are of the same lists if their lists hold the same grades, in either order, and, where
queries are known, belong to one query. An answer is compared with the majority of the strict
answers that all other judges gave to the same lists, unless half of them are on each side; where
fewer than half of the judgments can be compared so, with linear gains and discounts 1/log2(i+1).

Both tests ask for more than a difference that chance does not explain, because with many judgments
every judge differs from the others. With r the typical share of all other judges,

    one side:   the share of a is above max(r, 1/2) + 0.1, or below min(r, 1/2) - 0.1
    at random:  agreement is below (r + 1/2) / 2, closer to chance than to the others

are tested as hypotheses, by exact binomial tests whose null is the opposite. r is the median over
judgments of their judges' shares, which a few bad judges do not move, and is taken as known; judges
with few judgments are one judge there and are not tested. The p-values of both tests and all judges
are corrected together by Holm's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy  # which loads its parts when they are first used

from dcglearn.base.types import Floats, Integers
from dcglearn.correlation.agreement import outcomes
from dcglearn.judgments.list_pairs import ListPairs, votes
from dcglearn.judgments.numbering import id_numbers, row_numbers
from dcglearn.judgments.preferences import Preferences
from dcglearn.naming.presets import preset
from dcglearn.statistics.significance import holm

FEWEST_JUDGMENTS = 20
"""A judge with fewer strict judgments, or fewer that can be compared, is not tested."""

LEVEL = 0.05
"""The largest chance that any judge of a set without such judges is named."""

LEAD = 0.1


@dataclass(frozen=True)
class JudgeTest:
    """One judge: the numbers of judgments, whatever their weight, and what the tests say.

    Of the strict judgments, `a_share` prefer side a, `compared` can be compared, of which the share
    `agreement` agrees, and `contradicted` have an opposite answer of another judge. `repeated` and
    `contradict_self` are pairs of lists judged strictly more than once, and both ways. The p-values
    are corrected, nan where the judge is not tested.
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
    """All judges: those that stand out first, then by number of judgments.

    `agreement` is that of all together, `typical_agreement` the median over judgments of their
    judges'; both are nan without a basis. `shared_pairs` of lists were judged strictly by several
    judges, `contradicted_pairs` of these both ways.
    """

    judges: tuple[JudgeTest, ...]
    basis: Literal["other judges", "linear-log2"] | None
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


def judge_tests(
    preferences: Preferences, pairs: ListPairs, documents: bool = False
) -> JudgeTests | None:
    """Test each judge against the others; None if no judge is known.

    No measure orders `documents` without grades.
    """
    judges, names = id_numbers(preferences.judges)
    if not names:
        return None
    counts = judge_counts(preferences, judges, len(names), pairs, documents)
    strict, a_wins = counts["strict"], counts["a_wins"]
    shared, contradicted = counts["shared"].tolist()
    others, measure = counts["with_others"].sum(), counts["with_measure"].sum()
    by_others = others and (2 * others >= strict.sum() or not measure)
    by = "others" if by_others else "measure"
    compared, agree = counts["with_" + by], counts["agree_with_" + by]

    p, typical = _p_values(a_wins, strict, agree, compared)
    one_sided, random = p < LEVEL
    reversed_ = random & (scipy.special.bdtr(agree, compared, 0.5) < LEVEL)
    columns = (
        counts["judgments"],
        strict,
        counts["weightless"],
        _ratio(a_wins, strict),
        compared,
        _ratio(agree, compared),
        counts["repeated"],
        counts["contradict_self"],
        counts["contradicted"],
        *p,
        one_sided,
        np.select([reversed_, random], ["reversed", "chance"], ""),
    )
    tests = [
        JudgeTest(*row) for row in zip(names, *(column.tolist() for column in columns), strict=True)
    ]
    order = np.lexsort((-counts["judgments"], ~(one_sided | random)))
    return JudgeTests(
        tuple(tests[j] for j in order),
        "other judges" if by_others else "linear-log2" if measure else None,
        float(_ratio(agree.sum(), compared.sum())),
        typical,
        int((strict >= FEWEST_JUDGMENTS).sum()),
        shared,
        contradicted,
        len(preferences) - int(counts["judgments"].sum()),
    )


def judge_counts(
    preferences: Preferences, judges: Integers, n: int, pairs: ListPairs, documents: bool
) -> dict[str, Integers]:
    """Count the answers of each of n judges; one who is unknown has a number of n or more.

    `shared` are two totals: pairs of lists that several judges saw, and those judged both ways.
    """
    strict = preferences.strict
    judge, a_wins = judges[strict], preferences.answers[strict] == 0
    right = np.full(len(judge), 0.5)
    if not documents and preferences.n_grades > 1:
        measure = preset("linear-log2", preferences.scale, preferences.n_ranks)
        right = outcomes(measure, preferences.pairs)
    lists, winner = pairs.within_query[strict], pairs.winner[strict]
    used = (judge < n) & (winner != 0)
    on_same_lists, shared = _on_same_lists(lists[used], judge[used], winner[used])
    rows = {
        "judgments": judges,
        "strict": judge,
        "weightless": judges[preferences.weights == 0],
        "a_wins": judge[a_wins],
        "with_measure": judge[right != 0.5],
        "agree_with_measure": judge[right == 1],
        **on_same_lists,
    }
    counts = {name: np.bincount(of, minlength=n)[:n] for name, of in rows.items()}
    return counts | {"shared": shared}


def _on_same_lists(
    lists: Integers, judge: Integers, winner: Integers
) -> tuple[dict[str, Integers], Integers]:
    """Compare answers to the same lists: return the judges to count, and the two totals."""
    own = row_numbers((lists, judge))  # what one judge said about one pair of lists
    first = np.unique(own, return_index=True)[1]
    everyones, ones = votes(lists, winner), votes(own, winner)
    others = everyones[:, lists] - ones[:, own]
    same, opposite = np.where(winner == 1, others, others[::-1])
    several = np.bincount(lists[first], minlength=everyones.shape[1]) > 1
    return {
        "with_others": judge[same != opposite],
        "agree_with_others": judge[same > opposite],
        "repeated": judge[first][ones.sum(axis=0) > 1],
        "contradict_self": judge[first][ones.all(axis=0)],
        "contradicted": judge[opposite > 0],
    }, np.array([several.sum(), (several & everyones.all(axis=0)).sum()])


def _p_values(
    a_wins: Integers, strict: Integers, agree: Integers, compared: Integers
) -> tuple[Floats, float]:
    """Return the corrected p-values of both tests, (2, J), and the typical agreement."""
    side = _typical_shares(a_wins, strict)[0]
    above = scipy.special.bdtrc(a_wins - 1, strict, side.clip(0.5, 1 - LEAD) + LEAD)
    below = scipy.special.bdtr(a_wins, strict, side.clip(LEAD, 0.5) - LEAD)
    agreement, typical = _typical_shares(agree, compared)
    closer = scipy.special.bdtr(agree, compared, (agreement + 0.5) / 2)
    p = np.stack(
        [np.minimum(1, 2 * np.minimum(above, below)), np.where(agreement > 0.5, closer, 1)]
    )
    enough, of_each, of_others = (
        of >= FEWEST_JUDGMENTS for of in (strict, compared, compared.sum() - compared)
    )
    tested = np.stack([enough, enough & of_each & of_others])
    p[tested], p[~tested] = holm(p[tested]), np.nan
    return p, typical


def _typical_shares(part: Integers, whole: Integers) -> tuple[Floats, float]:
    """Return the median share of the others for each judge with enough judgments, and of all.

    It is 1/2 where there are no others, and for judges who are not tested.
    """
    enough = whole >= FEWEST_JUDGMENTS
    parts, weights = (np.append(of[enough], of[~enough].sum()) for of in (part, whole))
    shares = np.nan_to_num(_ratio(parts, weights), nan=0.5)
    order = np.argsort(shares, kind="stable")
    shares, weights = shares[order], weights[order]
    total = weights.cumsum()
    half = (total[-1] - weights) / 2
    others = np.empty(len(order))
    others[order] = shares[np.searchsorted(total, half + weights * (half > total - weights))]
    others[order[half == 0]] = 0.5
    found = np.full(len(part), 0.5)
    found[enough] = others[:-1]
    return found, float(shares[np.searchsorted(total, total[-1] / 2)])


def _ratio(part: Any, whole: Any) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
