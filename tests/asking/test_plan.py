"""Which pairs are chosen, and what is expected of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dcglearn import InputError, Preferences, Scale, learn_dcg
from dcglearn.asking.candidates import (
    Candidates,
    candidates_of_questions,
    candidates_of_runs,
    made_candidates,
)
from dcglearn.asking.information import Design, denominator_slopes, strict_share, tie_strength
from dcglearn.asking.plan import UNKNOWN, Plan, plan
from dcglearn.inference.centres import Posterior
from helpers.simulated import logistic_judgments

SCALE = Scale((2, 1, 0))


def pool(n: int, seed: int = 0, n_ranks: int = 3) -> Candidates:
    lists = np.random.default_rng(seed).integers(0, 3, (n, 2, n_ranks)).astype(np.int8)
    return Candidates(lists, SCALE, np.array([f"q{i // 4}" for i in range(n)]))


def judged(n: int, seed: int = 1) -> Preferences:
    """Answers by linear gains and log2, with errors."""
    W = 4 * np.outer(1 / np.log2(np.arange(2, 5)), [1, 0.5, 0])
    return logistic_judgments(W, n, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def known() -> Posterior:
    return learn_dcg(judged(60)).posterior


def design(known: Posterior, asked: np.ndarray, candidates: Candidates) -> Design:
    return Design(known, candidates.lists, asked, np.random.default_rng(0), 0.3, n_draws=5)


MIDDLE = np.eye(6)[[1]]
EVERYTHING = MIDDLE[:0]


@pytest.mark.parametrize("asked", [EVERYTHING, MIDDLE])
def test_updates_are_those_of_the_definition(known: Posterior, asked: np.ndarray) -> None:
    """After some answers and one taken back: the inverse of the summed information."""
    (found,) = design(known, asked, pool(40)).known
    prior = np.linalg.inv(found.covariances)
    before = found.worth().copy()
    for i in (3, 8, 3):
        found.update(i)
    found.update(8, -1.0)
    s, w = found.slopes[:, 3], found.weights[:, 3]
    information = prior + 2 * w[:, None, None] * s[:, :, None] * s[:, None, :]
    twin = np.linalg.inv(information)
    np.testing.assert_allclose(found.covariances, twin, rtol=1e-7, atol=1e-12)
    after = []
    for i in range(40):
        s, w = found.slopes[:, i], found.weights[:, i]
        more = information + w[:, None, None] * s[:, :, None] * s[:, None, :]
        if len(asked):
            a = found.asked[:, 0]
            left = [
                np.log(x @ np.linalg.inv(H) @ x / (x @ np.linalg.inv(G) @ x))
                for x, H, G in zip(a, information, more, strict=True)
            ]
        else:
            left = np.linalg.slogdet(more)[1] - np.linalg.slogdet(information)[1]
        after.append(np.mean(left))
    np.testing.assert_allclose(found.worth(), after, rtol=1e-6, atol=1e-10)
    if not len(asked):
        assert (found.worth() <= before + 1e-9).all()


def test_what_is_asked_is_differentiated(known: Posterior) -> None:
    """The slopes of all gains and discounts, and of what they are relative to, by differences."""
    members, theta = known.members, known.theta[[5]]
    some = np.array([5])

    def numbers(theta: np.ndarray) -> np.ndarray:
        W = members.measures(theta, some).weights[0]
        gains, discounts = W[0] - W[0, -1], W[:, 0] - W[:, -1]
        relative_to = np.log([(W[:, 0] - W[:, -1]).sum(), gains[0]])
        return np.concatenate([gains / gains[0], discounts / discounts[0], relative_to])

    numbers_alone = members.number_slopes(theta, some)[0]
    found = np.concatenate([numbers_alone, denominator_slopes(members, theta, some)[0]])
    for p in range(theta.shape[1]):
        step = np.eye(theta.shape[1])[[p]] * 1e-6
        twin = (numbers(theta + step) - numbers(theta - step)) / 2e-6
        np.testing.assert_allclose(found[:, p], twin, atol=1e-7)


@pytest.mark.parametrize(("n", "most"), [(40, 2), (400, 1)])
def test_at_most_so_many_of_a_query_and_none_twice(
    known: Posterior, monkeypatch: pytest.MonkeyPatch, n: int, most: int
) -> None:
    """Also where most pairs of a large pool are not looked at closely."""
    monkeypatch.setattr("dcglearn.asking.information.MOST_GREEDY", 40)
    candidates = pool(n)
    chosen = design(known, MIDDLE, candidates).choose(30, candidates.query_numbers, most, 30)
    assert 20 <= len(chosen) == len({*chosen}) <= 30
    assert max(np.unique(candidates.queries[chosen], return_counts=True)[1]) == most


def test_of_pairs_that_say_the_same_but_for_rounding_the_first_is_chosen(known: Posterior) -> None:
    """Another machine adds in another order."""
    candidates = pool(60)
    twice = np.concatenate([candidates.lists, candidates.lists])
    found = Design(known, twice, EVERYTHING, np.random.default_rng(0))
    for one in found.known:  # so that only rounding tells a pair from its copy
        one.slopes[:, 60:], one.weights[:, 60:] = one.slopes[:, :60], one.weights[:, :60]
        one.variances[:, 60:] = one.variances[:, :60] * (1 + 1e-13)
    assert found.choose(1)[0] < 60


def test_ties_are_expected_as_often_as_they_were() -> None:
    v = np.linspace(-3, 3, 101)
    nu = tie_strength(v, np.arange(101) < 40)
    assert 1 - strict_share(v, nu).mean() == pytest.approx(40 / 101)
    assert tie_strength(v, np.zeros(101, bool)) == 0


@pytest.mark.parametrize("most", [0, 3])
@pytest.mark.parametrize("answers", [None, judged(100)], ids=["before", "after"])
def test_a_batch_says_more_than_one_at_random_and_all_say_most(
    answers: Preferences | None, most: int
) -> None:
    candidates = pool(600)
    options: dict[str, Any] = {"judged": answers, "most_per_query": most, "counts": [50, 150]}
    found = plan(candidates, 50, np.random.default_rng(0), **options)
    other = plan(candidates, 50, np.random.default_rng(0), ask="order", **options)
    assert {*other.chosen} != {*found.chosen}
    assert (other.numbers, len({*other.chosen})) == (found.asked, 50)
    assert found.rough == (answers is None)
    assert (found.after[0] <= found.after_random[0]).all()
    assert (np.diff([found.now, *found.after, found.at_most], axis=0) <= 0).all()
    possible = np.unique(candidates.queries, return_counts=True)[1]
    assert found.possible == (possible.clip(max=3).sum() if most else 600) - left_out(found)
    questions = found.questions(np.random.default_rng(1), 0.1)
    assert len(questions) == len({one.id for one in questions}) == 55


def left_out(found: Plan) -> int:
    return sum(found.candidates.left_out.values())


def test_what_was_judged_is_not_asked_again() -> None:
    candidates, rows = pool(40), np.arange(10, 20)
    queries, swapped = candidates.queries[rows].tolist(), candidates.lists[rows][:, ::-1]
    differ = (swapped[:, 0] != swapped[:, 1]).any(axis=1)
    said = Preferences.of(swapped, ["a", "b"] * 5, SCALE, queries=queries)
    found = plan(candidates, 30, judged=said, most_per_query=4, counts=[])
    assert not {*found.chosen} & {*rows[differ].tolist()}
    assert found.candidates.left_out["that were judged"] == 10
    asked = candidates.query_numbers[[*found.chosen, *rows]]
    assert np.bincount(asked).max() <= 4
    others = np.tile([[[0, 0, 0], [2, 2, 2]]], (10, 1, 1))
    said = Preferences.of(others, ["a", "b"] * 5, SCALE, queries=queries)
    with pytest.raises(InputError, match="has 1 question already"):
        plan(
            candidates.without(~np.isin(np.arange(40), rows), "of others"),
            5,
            judged=said,
            most_per_query=1,
        )


def test_what_no_pair_can_tell() -> None:
    """Lists of the best and the worst grade say nothing of the middle one."""
    candidates = pool(200)
    binary = replace(candidates, lists=np.where(candidates.lists == 1, 0, candidates.lists))
    found = plan(binary, 10, counts=[10])
    assert found.undetermined == ("gain 1",)
    assert found.answers_for({"gain 1": 0.1}) is None
    assert found.at_most[0] == UNKNOWN


QRELS = {f"q{q}": {f"d{i}": i % 3 for i in range(8)} for q in range(6)}


def test_pairs_of_runs_are_judged_and_differ() -> None:
    rng = np.random.default_rng(0)
    runs = {
        name: {q: {f"d{i}": float(rng.random()) for i in range(9)} for q in QRELS}
        for name in ("one", "two", "three")
    }
    found = candidates_of_runs(QRELS, runs, 4)
    assert found.documents is not None
    for i in range(len(found)):
        grades = [[QRELS[found.queries[i]][d] for d in side] for side in found.documents[i]]
        labels = np.array(found.scale.labels)[found.lists[i]].tolist()
        assert grades == labels
        assert labels[0] != labels[1]
    assert found.left_out["with a document that has no grade"] > 0
    assert len(found) + sum(found.left_out.values()) == 18


def test_made_pairs_are_of_judged_documents_and_there_is_no_mirror() -> None:
    found = made_candidates(QRELS, 4, 200, np.random.default_rng(0))
    assert found.documents is not None
    assert all(len(set(side)) == 4 for pair in found.documents.tolist() for side in pair)
    keys = {
        (q, *sorted(map(tuple, pair)))
        for q, pair in zip(found.queries, found.lists.tolist(), strict=True)
    }
    assert len(keys) == len(found)
    again = [found.question(i, False) for i in range(len(found))]
    back = candidates_of_questions(again)
    np.testing.assert_array_equal(back.lists, found.lists)
    with pytest.raises(InputError, match="no query has more than 8"):
        made_candidates(QRELS, 8, 200, np.random.default_rng(0))


def test_two_hundred_chosen_answers_of_real_people(ecir: Preferences) -> None:
    """The middle gain to within .1 of what all 4,007 answers say, ties spent, in one try."""
    data = ecir[(ecir.lists[:, 0] != ecir.lists[:, 1]).any(axis=1)]
    everyone, rng = learn_dcg(data).dcg.gains[1], np.random.default_rng(0)
    left, asked = rng.permutation(len(data)), np.zeros(0, np.int64)
    while len(asked) < 200:
        candidates = Candidates(data.lists[left], data.scale, data.queries[left].astype(str))
        so_far = data[asked] if len(asked) else None
        found = plan(candidates, 50, rng, ask="gain 1", judged=so_far, counts=[])
        asked = np.append(asked, left[found.chosen])
        left = np.setdiff1d(left, asked)
    assert abs(learn_dcg(data[asked]).dcg.gains[1] - everyone) < 0.1
