"""What a set of judgments holds, against plain counts; who is named, and how often wrongly."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest, norm

from dcglearn import Preferences, Scale, inspect_judgments, preset
from dcglearn.report.judgments import findings_text

SCALE = Scale((2, 1, 0))
LISTS = [[0, 1], [1, 0], [2, -1], [0, 0]]

judged = st.tuples(
    st.sampled_from(LISTS),
    st.sampled_from(LISTS),
    st.sampled_from(["a", "b", "a", "b", "tie"]),
    st.sampled_from([None, "p", "q"]),
    st.sampled_from([None, "x", "y", "z"]),
    st.sampled_from([0.0, 1.0, 1.0, 2.5]),
)


def preferences_of(rows: list[tuple[Any, ...]]) -> Preferences:
    a, b, answers, queries, judges, weights = zip(*rows, strict=True)
    lists = np.stack([a, b], axis=1)
    return Preferences.of(lists, answers, SCALE, weights, queries, judges)


def slow_counts(rows: list[tuple[Any, ...]]) -> dict[str, Counter[str]]:
    """What each judge answered, by comparing every judgment with every other one."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    some_query = any(row[3] is not None for row in rows)
    strict = []
    for number, (a, b, answer, query, judge, _) in enumerate(rows):
        if answer != "tie" and judge is not None and a != b:
            best, worst = (a, b) if answer == "a" else (b, a)
            place = (number if some_query and query is None else query) if some_query else "all"
            strict.append((judge, tuple(best), tuple(worst), place))
    seen: dict[Any, list[str]] = defaultdict(list)
    for judge, best, worst, place in strict:
        same = [s for s in strict if s[0] != judge and s[1:] == (best, worst, place)]
        opposite = [s for s in strict if s[0] != judge and s[1:] == (worst, best, place)]
        found["with_others"][judge] += len(same) != len(opposite)
        found["agree_with_others"][judge] += len(same) > len(opposite)
        found["contradicted"][judge] += bool(opposite)
        seen[judge, frozenset((best, worst)), place].append(str(best))
    for (judge, _, _), answers in seen.items():
        found["repeated"][judge] += len(answers) > 1
        found["contradict_self"][judge] += len(set(answers)) > 1
    shared: dict[Any, set[str]] = defaultdict(set)
    ways: dict[Any, set[str]] = defaultdict(set)
    for (judge, lists, place), answers in seen.items():
        shared[lists, place].add(judge)
        ways[lists, place].update(answers)
    found["total"]["shared_pairs"] = sum(len(who) > 1 for who in shared.values())
    found["total"]["contradicted_pairs"] = sum(
        len(who) > 1 and len(ways[key]) > 1 for key, who in shared.items()
    )
    return found


often_shared = st.tuples(
    st.sampled_from(LISTS[:2]),
    st.sampled_from(LISTS[:3]),
    st.sampled_from(["a", "b"]),
    st.just("p"),
    st.sampled_from(["x", "y"]),
    st.just(1.0),
)


@settings(max_examples=100)
@given(st.lists(judged, min_size=1, max_size=30) | st.lists(often_shared, min_size=1, max_size=30))
def test_judges_are_counted_as_by_comparing_all_judgments(rows: list[tuple[Any, ...]]) -> None:
    data = preferences_of(rows)
    tests = inspect_judgments(data).judges
    if tests is None:
        assert not data.judges.any()
        return
    slow = slow_counts(rows)
    assert tests.shared_pairs == slow["total"]["shared_pairs"]
    assert tests.contradicted_pairs == slow["total"]["contradicted_pairs"]
    assert tests.without_judge == sum(row[4] is None for row in rows)
    strict = data[data.strict & (data.judges != np.array(None))]
    measure = preset("linear-log2", SCALE, 2)
    scores = measure.score(strict.pairs[:, 0]) - measure.score(strict.pairs[:, 1])
    others = slow["with_others"].total()
    if others and (2 * others >= len(strict) or not scores.any()):
        assert tests.basis == "other judges"
    else:
        assert tests.basis == ("linear-log2" if scores.any() else None)
    for one in tests.judges:
        own = [row for row in rows if row[4] == one.judge]
        assert (one.judgments, one.weightless) == (len(own), sum(row[5] == 0 for row in own))
        assert one.strict == sum(row[2] != "tie" for row in own)
        for name in ("contradicted", "repeated", "contradict_self"):
            assert getattr(one, name) == slow[name][one.judge], name
        compared, agree = (slow[name][one.judge] for name in ("with_others", "agree_with_others"))
        if tests.basis != "other judges":
            of_judge = scores[strict.judges == one.judge]
            compared, agree = (of_judge != 0).sum(), (of_judge > 0).sum()
        assert one.compared == compared
        assert one.agreement == agree / compared if compared else np.isnan(one.agreement)


@settings(max_examples=50)
@given(st.lists(judged, min_size=1, max_size=30))
def test_queries_are_counted_exactly(rows: list[tuple[Any, ...]]) -> None:
    found = inspect_judgments(preferences_of(rows)).queries
    strict = [row for row in rows if row[2] != "tie"]
    if found is None:
        assert all(row[3] is None for row in strict)
        return
    counts = Counter(row[3] or number for number, row in enumerate(strict))
    exact = Fraction(len(strict) ** 2, sum(n * n for n in counts.values()))
    assert found.effective == pytest.approx(float(exact))
    assert found.queries == len(counts)
    assert found.largest.judgments == max(n for q, n in counts.items() if isinstance(q, str))
    weights = Counter[object]()
    for number, row in enumerate(strict):
        weights[row[3] or number] += Fraction(row[5])
    total = sum(weights.values())
    if total:
        exact = total**2 / sum(w * w for w in weights.values())
        assert found.effective_by_weight == pytest.approx(float(exact))
    else:
        assert np.isnan(found.effective_by_weight)


@settings(max_examples=50)
@given(st.lists(judged, min_size=1, max_size=25))
def test_shares_of_weight_are_those_of_repeated_judgments(rows: list[tuple[Any, ...]]) -> None:
    """With whole weights, every share of weight is the share of judgments once repeated."""
    whole = [(*row[:5], round(2 * row[5])) for row in rows]
    repeated = [(*row[:5], 1.0) for row in whole for _ in range(row[5])]
    found = inspect_judgments(preferences_of(whole)).summary
    if not any(row[2] != "tie" for row in repeated):
        assert np.isnan([found.ceiling, found.a_share_of_weight]).all()
        return
    other = inspect_judgments(preferences_of(repeated)).summary
    assert not other.weighted
    assert other.ceiling == other.unweighted_ceiling
    for one, same in (
        (found.ceiling, other.unweighted_ceiling),
        (found.a_share_of_weight, other.a_share),
    ):
        assert one == pytest.approx(same)


@settings(max_examples=50)
@given(st.lists(judged, min_size=1, max_size=30))
def test_repeated_rows_are_those_of_equal_records(rows: list[tuple[Any, ...]]) -> None:
    found = inspect_judgments(preferences_of(rows)).summary.repeated_rows
    assert found == len(rows) - len({json.dumps(row) for row in rows})


def crowd(rng: np.random.Generator, kinds: list[str], each: int, skill: float) -> Preferences:
    """Simulate judges of 40 pairs of lists: usual ones, random ones, one-sided, reversed."""
    lists = rng.integers(0, 3, (40, 2, 3))
    lists[:, 1, 0] = (lists[:, 0, 0] + 1) % 3
    lead = np.sign((lists[:, 1] - lists[:, 0]) @ [1.0, 0.63, 0.5])
    at = rng.integers(40, size=(len(kinds), each))
    usual = rng.random(at.shape) < np.where(lead[at] > 0, skill, 1 - skill)
    wins = {
        "usual": usual,
        "random": rng.random(at.shape) < 0.5,
        "a": rng.random(at.shape) < 0.95,
        "reversed": ~usual,
    }
    a = np.stack([wins[kind][number] for number, kind in enumerate(kinds)])
    judges = np.repeat([f"{kind}{number}" for number, kind in enumerate(kinds)], each)
    queries = [f"q{pair}" for pair in at.ravel()]
    answers = np.where(a.ravel(), "a", "b")
    return Preferences.of(lists[at.ravel()], answers, SCALE, queries=queries, judges=judges)


def test_honest_judges_are_rarely_named() -> None:
    rng = np.random.default_rng(3)
    skills = rng.uniform(0.75, 0.95, 60)
    named = [
        inspect_judgments(crowd(rng, ["usual"] * 15, 60, skill)).judges.outstanding  # type: ignore[union-attr]  # judges are known
        for skill in skills
    ]
    assert sum(map(bool, named)) <= 0.05 * len(skills)


def test_those_who_do_not_read_the_lists_are_named() -> None:
    kinds = ["usual"] * 12 + ["random", "random", "a", "reversed"]
    data = crowd(np.random.default_rng(4), kinds, 200, 0.88)
    found = inspect_judgments(data)
    assert found.judges is not None
    assert found.judges.basis == "other judges"
    verdicts = {one.judge: (one.one_sided, one.random) for one in found.judges.outstanding}
    assert verdicts == {
        "random12": (False, "chance"),
        "random13": (False, "chance"),
        "a14": (True, ""),
        "reversed15": (False, "reversed"),
    }
    text = findings_text(found)
    assert "judge 'a14' prefers side a in 0.9" in text
    assert "no judge" not in text
    alone = data[(data.judges == "usual0") | (data.judges == "random12")]
    said = inspect_judgments(alone).judges
    assert said is not None
    assert not said.outstanding, "of two judges who differ, neither is the wrong one"


def test_p_values_by_hand() -> None:
    """Of two judges, each is the other's measure; Holm multiplies the four p-values.

    Shares of a are means of two Beta distributions: where a is the better list, and where b is.
    """
    lists = np.array([[[0, 0], [1, 1]], [[1, 1], [0, 0]]])
    at = np.tile([0, 1], 50)
    one = np.where(at == 0, "a", "b")
    one[:40:4] = "b"  # 10 of 50 lists a answered wrongly
    other = np.where(np.arange(100) < 72, "a", "b")
    data = Preferences.of(
        lists[np.concatenate([at, at])],
        [*one, *other],
        SCALE,
        queries=[f"q{i}" for i in range(200)],
        judges=["one"] * 100 + ["other"] * 100,
    )
    found = inspect_judgments(data).judges
    assert found is not None
    assert found.basis == "linear-log2", "no lists are shared"
    tests = {judge.judge: judge for judge in found.judges}
    right = {"one": 90, "other": int((other == np.where(at == 0, "a", "b")).sum())}
    assert {name: judge.a_share for name, judge in tests.items()} == {"one": 0.4, "other": 0.72}
    wins = {"one": (40, 0), "other": ((other[at == 0] == "a").sum(), (other[at == 1] == "a").sum())}
    p = {}
    for name, opposite in (("one", "other"), ("other", "one")):
        shares = {judge: [beta(a + 1, 50 - a + 1) for a in wins[judge]] for judge in wins}
        mean = {judge: np.mean([one.mean() for one in both]) for judge, both in shares.items()}
        sd = np.sqrt(sum(one.var() for one in shares[name])) / 2
        above = norm.sf(mean[name], max(mean[opposite], 0.5) + 0.1, sd)
        below = norm.cdf(mean[name], min(mean[opposite], 0.5) - 0.1, sd)
        p["side", name] = min(1.0, 2 * min(above, below))
        share = right[opposite] / 100
        halfway = binomtest(right[name], 100, (share + 0.5) / 2, "less").pvalue
        p["random", name] = halfway if share > 0.5 else 1.0
    left, largest = len(p), 0.0
    for key, value in sorted(p.items(), key=lambda item: item[1]):
        largest = max(largest, min(1.0, left * value))
        kind, name = key
        said = tests[name].p_one_sided if kind == "side" else tests[name].p_random
        assert said == pytest.approx(largest), key
        left -= 1
    assert [judge.judge for judge in found.outstanding] == ["other"]
