"""Which pairs are chosen, and what is expected of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcglearn import InputError, Preferences, Scale, learn_dcg, read_preferences
from dcglearn.asking.candidates import (
    Candidates,
    candidates_of_questions,
    candidates_of_runs,
    made_candidates,
)
from dcglearn.asking.information import Asked, Design, strict_share, tie_strength
from dcglearn.asking.plan import UNKNOWN, plan
from dcglearn.inference.centres import Posterior
from helpers.commands import run_commands

SCALE = Scale((2, 1, 0))
SHARED = Path(__file__).parents[3] / "shared"


def pool(n: int, seed: int = 0, n_ranks: int = 3) -> Candidates:
    lists = np.random.default_rng(seed).integers(0, 3, (n, 2, n_ranks)).astype(np.int8)
    return Candidates(lists, SCALE, np.array([f"q{i // 4}" for i in range(n)]))


def judged(n: int, seed: int = 1) -> Preferences:
    """Answers by linear gains and log2, with errors."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, (n, 2, 3))
    worth = (np.array([1, 0.5, 0])[lists] / np.log2(np.arange(2, 5))).sum(axis=2)
    p = 1 / (1 + np.exp(-4 * (worth[:, 0] - worth[:, 1])))
    return Preferences.of(lists, np.where(rng.random(n) < p, "a", "b"), SCALE)


@pytest.fixture(scope="module")
def known() -> Posterior:
    return learn_dcg(judged(60)).posterior


def design(known: Posterior, asked: Asked, seed: int = 0) -> Design:
    return Design(known, pool(40).lists, asked, np.random.default_rng(seed), 0.3, n_draws=5)


EVERYTHING = Asked(np.zeros((0, 3)), np.zeros((0, 3)))
MIDDLE = Asked(np.array([[0.0, 1.0, 0.0]]), np.zeros((1, 3)))


def test_a_large_pool_with_few_questions_per_query(
    known: Posterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queries of pairs that were not looked at closely keep their numbers."""
    monkeypatch.setattr("dcglearn.asking.information.MOST_GREEDY", 40)
    lists, rng = pool(400).lists, np.random.default_rng(0)
    queries = np.arange(400) // 4
    found = Design(known, lists, MIDDLE, rng).choose(30, queries, np.full(100, 1))
    assert len(found) == len(set(found)) == len(set(queries[found])) <= 30
    assert len(found) >= 20


@pytest.mark.parametrize("asked", [EVERYTHING, MIDDLE])
def test_updates_are_those_of_the_definition(known: Posterior, asked: Asked) -> None:
    """After some answers and one taken back: the inverse of the summed information."""
    found = design(known, asked)
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
    """The slopes of a gain and a discount, by differences."""
    asked = Asked(np.array([[0, 1.0, 0], [0, 0, 0]]), np.array([[0, 0, 0], [0, 0, 1.0]]))
    members, theta = known.members, known.theta[[5]]
    some = np.array([5])

    def numbers(theta: np.ndarray) -> np.ndarray:
        W = members.weights(theta, some)[0]
        gains, discounts = W[0] - W[0, -1], W[:, 0] - W[:, -1]
        return np.array([gains[1] / gains[0], discounts[2] / discounts[0]])

    found = asked.slopes(members, theta, some)[0]
    for p in range(theta.shape[1]):
        step = np.eye(theta.shape[1])[[p]] * 1e-6
        twin = (numbers(theta + step) - numbers(theta - step)) / 2e-6
        np.testing.assert_allclose(found[:, p], twin, atol=1e-7)


def test_at_most_so_many_of_a_query_and_none_twice(known: Posterior) -> None:
    candidates = pool(40)
    chosen = design(known, EVERYTHING).choose(30, candidates.query_numbers, 2)
    assert len(set(chosen)) == len(chosen) == 20
    assert max(np.unique(candidates.queries[chosen], return_counts=True)[1]) == 2


def test_ties_are_expected_as_often_as_they_were() -> None:
    v = np.linspace(-3, 3, 101)
    nu = tie_strength(v, np.arange(101) < 40)
    assert 1 - strict_share(v, nu).mean() == pytest.approx(40 / 101)
    assert tie_strength(v, np.zeros(101, bool)) == 0


def test_a_batch_says_more_than_one_at_random() -> None:
    found = plan(pool(400), 50, np.random.default_rng(0), judged=judged(100), counts=[50])
    assert (found.after[0] < found.after_random[0]).all()
    assert (found.at_most <= found.after_random[0]).all()
    questions = found.questions(np.random.default_rng(1), 0.1)
    assert len(questions) == 55
    assert len({one.id for one in questions}) == 55


def judged_of(queries: list[str]) -> Preferences:
    """One answer about other lists of each query."""
    lists = np.tile([[[0, 0, 0], [2, 2, 2]]], (len(queries), 1, 1))
    answers = np.array(["a", "b"])[np.arange(len(queries)) % 2]
    return Preferences.of(lists, answers, SCALE, queries=queries)


def test_what_was_judged_is_not_asked_again() -> None:
    candidates, answers = pool(40), np.array(["a", "b"] * 20)
    rows = np.arange(10, 20)
    queries = list(candidates.queries[rows])
    swapped = candidates.lists[rows][:, ::-1]
    differ = (swapped[:, 0] != swapped[:, 1]).any(axis=1)
    said = Preferences.of(swapped, answers[rows], SCALE, queries=queries)
    found = plan(candidates, 30, judged=said, most_per_query=4, counts=[])
    assert not set(found.chosen) & set(rows[differ].tolist())
    assert found.candidates.left_out["that were judged"] == 10
    numbers = candidates.query_numbers
    asked = np.bincount(numbers[found.chosen], minlength=10) + np.bincount(
        numbers[rows], minlength=10
    )
    assert asked.max() <= 4
    with pytest.raises(InputError, match="has 1 question already"):
        plan(candidates.take(rows, {}), 5, judged=judged_of(queries), most_per_query=1)


def test_what_no_pair_can_tell() -> None:
    """Lists of the best and the worst grade say nothing of the middle one."""
    candidates = pool(200)
    binary = replace(candidates, lists=np.where(candidates.lists == 1, 0, candidates.lists))
    found = plan(binary, 10, counts=[10])
    assert found.undetermined == ("gain 1",)
    assert found.answers_for({"gain 1": 0.1}) is None
    with pytest.raises(InputError, match="depends on gain 1"):
        plan(binary, 10, ask="gain 1")
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
    assert found.left_out["with a document that is not judged"] > 0
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
    again = [found.question(i, f"{i}", False) for i in range(len(found))]
    back = candidates_of_questions(again)
    np.testing.assert_array_equal(back.lists, found.lists)
    with pytest.raises(InputError, match="no query has more than 8"):
        made_candidates(QRELS, 8, 200, np.random.default_rng(0))


@pytest.mark.skipif(not SHARED.exists(), reason="no shared data")
def test_two_hundred_chosen_answers_of_real_people() -> None:
    """The middle gain to within .1 of what all 4,007 answers say, ties spent, in one try."""
    data = read_preferences(SHARED / "data" / "side-by-side" / "ecir2015.jsonl")
    data = data[(data.lists[:, 0] != data.lists[:, 1]).any(axis=1)]
    everyone, rng = learn_dcg(data).dcg.gains[1], np.random.default_rng(0)
    left, asked = rng.permutation(len(data)), np.zeros(0, np.int64)
    while len(asked) < 200:
        candidates = Candidates(data.lists[left], data.scale, data.queries[left].astype(str))
        so_far = data[asked] if len(asked) else None
        found = plan(candidates, 50, rng, ask="gain 1", judged=so_far, counts=[])
        asked = np.append(asked, left[found.chosen])
        left = np.setdiff1d(left, asked)
    assert abs(learn_dcg(data[asked]).dcg.gains[1] - everyone) < 0.1


def test_the_command(tmp_path: Path) -> None:
    """A round from qrels to answers to the next round."""
    rows = [f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(rows))
    (tmp_path / "one.jsonl").write_text(
        '{"question": "x-1", "query": "q", "a": [2, 0], "b": [1, 2]}\n'
        '{"question": "x-2", "query": "q", "a": [2, 1], "b": [0, 2]}\n'
    )
    written, wrong, none, unknown, same = run_commands(
        [
            ["plan", "qrels.txt", "--K", "4", "-n", "12", "-o", "q.jsonl", "-o", "w.svg"],
            ["plan", "--lists", "q.jsonl", "--to-within", "gains=x"],
            ["plan"],
            ["plan", "qrels.txt", "--ask", "gain 7"],
            ["plan", "--lists", "one.jsonl", "-n", "9", "--json"],
        ],
        tmp_path,
    )
    assert "12 questions chosen" in written.stdout
    assert (tmp_path / "w.svg").exists()
    for one, word in ((wrong, "--to-within gains=x"), (none, "--lists"), (unknown, "gain 7")):
        assert one.returncode == 2
        assert word in one.stderr
    assert len(json.loads(same.stdout)["chosen"]) == 2
    lines = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    answers = [
        {**line, "answer": "a" if sum(line["a"]) > sum(line["b"]) else "b", "judge": "ann"}
        for line in lines
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    (after,) = run_commands(
        [["plan", "qrels.txt", "--K", "4", "-n", "5", "--judged", "answers.jsonl"]], tmp_path
    )
    assert "12 judgments so far" in after.stdout
    assert after.returncode == 0


def questions_of(path: Path, lists: list[list[list[int | None]]], query: str = "q{}") -> None:
    lines = (
        {"question": f"x-{i}", "query": query.format(i), "a": a, "b": b}
        for i, (a, b) in enumerate(lists)
    )
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))


def test_pools_that_cannot_answer(tmp_path: Path) -> None:
    """What is wrong with a pool is said before anybody judges."""
    drawn = np.random.default_rng(0).integers(0, 3, (40, 2, 3))
    questions_of(tmp_path / "good.jsonl", drawn.tolist())
    questions_of(tmp_path / "binary.jsonl", np.where(drawn == 1, 2, drawn).tolist())
    questions_of(tmp_path / "alike.jsonl", [[[2, 1], [2, 1]]] * 3)
    questions_of(tmp_path / "ungraded.jsonl", [[[None, 1], [2, None]]] * 3)
    questions_of(tmp_path / "one.jsonl", drawn.tolist(), "q")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 0\nq1 0 d2 0\nq2 0 d1 0\n")
    ties = [
        json.loads(line) | {"answer": "tie"}
        for line in (tmp_path / "good.jsonl").read_text().splitlines()[:9]
    ]
    (tmp_path / "ties.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ties))
    wrong = [
        (["--lists", "binary.jsonl", "--scale", "2,1,0", "--ask", "gain 1"], "lists that hold"),
        (["--lists", "alike.jsonl"], "3 whose lists have the same grades"),
        (["--lists", "ungraded.jsonl"], "3 with a document that has no grade"),
        (["qrels.txt"], "more judgments of documents"),
        (["--lists", "good.jsonl", "--K", "4"], "--K with --lists"),
        (["--lists", "good.jsonl", "--asked", "good.jsonl"], "--asked without --judged"),
    ]
    said = [
        (["--lists", "good.jsonl", "-n", "90"], "at most 3 about each query: fewer than 90"),
        (["--lists", "one.jsonl", "-n", "9", "--most-per-query", "0"], "show no interval"),
        (["--lists", "good.jsonl", "--to-within", "gains=.0001"], "never with these pairs"),
        (["--lists", "good.jsonl", "--judged", "ties.jsonl"], "all answers so far are ties"),
    ]
    commands = [["plan", *words] for words, _ in (*wrong, *said)]
    found = run_commands(commands, tmp_path)
    for (words, problem), done in zip((*wrong, *said), found, strict=True):
        expected = 2 if (words, problem) in wrong else 0
        assert (done.returncode, problem in done.stdout + done.stderr) == (expected, True), (
            words,
            done.stdout + done.stderr,
        )
