"""What each judge answered: sides, and agreement with the other judges and with oneself.

Two judgments are of the same lists if their lists hold the same grades, in either order, and, where
queries are known, belong to one query. An answer is compared with the majority of the strict
answers that all other judges gave to the same lists, unless half of them are on each side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Integers
from dcglearn.correlation.agreement import outcomes
from dcglearn.judgments.inspection.dense_codes import id_codes, joint_codes
from dcglearn.judgments.inspection.list_pairs import ListPairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.naming.presets import preset


@dataclass(frozen=True, eq=False)
class JudgeAnswers:
    """Counts of judgments, whatever their weight, with one entry per judge.

    Attributes
    ----------
    names : list of str
        The J judges, in the order in which they first occur.
    judgments, strict, weightless, a_wins : ndarray of int, shape (J,)
        All judgments, the strict ones, all of weight 0, the strict ones that prefer side a.
    with_others, agree_with_others : ndarray of int, shape (J,)
        Strict judgments of lists on which the other judges have a majority, and those that agree
        with it.
    with_measure, agree_with_measure : ndarray of int, shape (J,)
        Strict judgments of lists that differ under linear gains and discounts 1/log2(i+1), and
        those that agree with it; 0 for documents without grades.
    repeated, contradict_self : ndarray of int, shape (J,)
        Pairs of lists that the judge judged strictly more than once, and those of them judged
        both ways.
    contradicted : ndarray of int, shape (J,)
        Strict judgments of lists on which another judge gave the opposite answer.
    shared_pairs, contradicted_pairs : int
        Pairs of lists judged strictly by more than one judge, and those of them judged both ways.
    without_judge : int
        Judgments without a judge.
    """

    names: list[str]
    judgments: Integers
    strict: Integers
    weightless: Integers
    a_wins: Integers
    with_others: Integers
    agree_with_others: Integers
    with_measure: Integers
    agree_with_measure: Integers
    repeated: Integers
    contradict_self: Integers
    contradicted: Integers
    shared_pairs: int
    contradicted_pairs: int
    without_judge: int


def judge_answers(
    preferences: Preferences, found: ListPairs, documents: bool = False
) -> JudgeAnswers | None:
    """Count the answers of each judge.

    Parameters
    ----------
    preferences : Preferences
    found : ListPairs
        Which of them are of the same lists.
    documents : bool, default False
        Whether lists hold documents without grades, which no usual measure orders.

    Returns
    -------
    JudgeAnswers or None
        None if no judge is known.
    """
    everyone, names = id_codes(preferences.judges)
    if not names:
        return None
    n, strict = len(names), preferences.strict
    judges = everyone[strict]
    known = judges >= 0
    a_wins = preferences.answers[strict] == 0

    def per_judge(of: Integers, rows: NDArray[np.bool_]) -> Integers:
        return np.bincount(of[rows], minlength=n)

    right = np.full(len(judges), 0.5)
    if not documents and preferences.n_grades > 1:
        measure = preset("linear-log2", preferences.scale, preferences.n_ranks)
        right = outcomes(measure, preferences.pairs)
    return JudgeAnswers(
        names,
        per_judge(everyone, everyone >= 0),
        per_judge(judges, known),
        per_judge(everyone, (everyone >= 0) & (preferences.weights == 0)),
        per_judge(judges, known & a_wins),
        with_measure=per_judge(judges, known & (right != 0.5)),
        agree_with_measure=per_judge(judges, known & (right == 1)),
        **_on_same_lists(found[strict], judges, n),
        without_judge=int((everyone < 0).sum()),
    )


def _on_same_lists(found: ListPairs, judges: Integers, n: int) -> dict[str, Any]:
    """Compare the answers of known judges to the same lists, with one entry per judge."""
    rows = np.flatnonzero((judges >= 0) & ~found.same)
    judge, lists, forward = judges[rows], found.within_query[rows], found.forward[rows]
    own = joint_codes(lists, judge)
    first = np.zeros(int(own.max(initial=-1)) + 1, np.int64)
    first[own] = np.arange(len(own))
    owner = judge[first]

    size = int(lists.max(initial=-1)) + 1
    everyones, ones = (
        np.stack([np.bincount(of[way], minlength=many) for way in (forward, ~forward)])
        for of, many in ((lists, size), (own, len(first)))
    )
    others = everyones[:, lists] - ones[:, own]
    same, opposite = np.where(forward, others, others[::-1])
    several = np.bincount(lists[first], minlength=size) > 1
    both = (everyones > 0).all(axis=0)
    return {
        "with_others": np.bincount(judge[same != opposite], minlength=n),
        "agree_with_others": np.bincount(judge[same > opposite], minlength=n),
        "repeated": np.bincount(owner[ones.sum(axis=0) > 1], minlength=n),
        "contradict_self": np.bincount(owner[(ones > 0).all(axis=0)], minlength=n),
        "contradicted": np.bincount(judge[opposite > 0], minlength=n),
        "shared_pairs": int(several.sum()),
        "contradicted_pairs": int((several & both).sum()),
    }
