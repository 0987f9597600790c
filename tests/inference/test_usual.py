"""The learner around usual measures: by a posterior written down plainly and SciPy; its draws."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from dcglearn import DCG, JudgmentModel, Preferences, Scale, agreement, learn_dcg
from dcglearn.base.errors import InputError
from dcglearn.inference import ascent, maximise
from dcglearn.inference.ascent import Answers, MembersAscent, OwnExpansions, estimate
from dcglearn.inference.centres import SPREADS, Members, before_judgments, usual_centres
from dcglearn.inference.usual import members_of

K, L = 4, 3
SCALE = Scale((2, 1, 0))
TRUTH = DCG([1, 0.7, 0], [1, 0.5, 0.4, 0.1])


def judged(
    n: int, seed: int = 0, truth: DCG = TRUTH, lapses: float = 0.0, short: bool = False
) -> Preferences:
    """Return judgments of lists of independent grades, with logistic noise and lapses."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, L, (n, 2, K))
    if short:
        lists[np.arange(K) >= rng.integers(1, K + 1, (n, 2, 1))] = -1
    first, second = truth.score(lists).T
    better = rng.random(n) < 1 / (1 + np.exp(-6 * (first - second) - 0.3))
    better ^= rng.random(n) < lapses / 2
    return Preferences.of(lists, np.where(better, "a", "b"), SCALE)


def plain_posterior(
    data: Preferences, gains: list[float], discounts: list[float], spread: float
) -> Callable[[np.ndarray], float]:
    """Return minus the log posterior at (z, y, log s, logit e, side, h), up to a constant."""
    has_empty = bool((data.lists < 0).any())
    d = [max(c - n, 0.05 / K) for c, n in pairwise([*discounts, 0.0])]
    e = [max(g - n, 0.05 / (L - 1)) for g, n in pairwise(gains)]

    def value(theta: np.ndarray) -> float:
        z, y = theta[:K], theta[K : K + L - 1]
        s, lapses, side = (
            np.exp(theta[K + L - 1]),
            1 / (1 + np.exp(-theta[K + L])),
            theta[K + L + 1],
        )
        h = theta[K + L + 2] if has_empty else 0.0
        c = [sum(d[j] * np.exp(z[j]) for j in range(k, K)) for k in range(K)]
        g = [sum(e[m] * np.exp(y[m]) for m in range(grade, L - 1)) + h for grade in range(L)]
        total = (z @ z + y @ y) / (2 * spread**2)
        total += (theta[K + L - 1] - 1) ** 2 / 4.5 + (theta[K + L] + 2.5) ** 2 / 4.5
        total += side**2 / 4.5 + (2 * h**2 if has_empty else 0.0)
        for (a, b), answer, weight in zip(data.lists, data.answers, data.weights, strict=True):
            u = [s * sum(c[k] * g[x] for k, x in enumerate(one) if x >= 0) for one in (a, b)]
            v = (u[0] - u[1] + side) * (1 if answer == 0 else -1)
            total -= weight * np.log(lapses / 2 + (1 - lapses) / (1 + np.exp(-v)))
        return float(total)

    return value


def members_and_answers(data: Preferences, centres: list) -> tuple[Members, Answers]:
    sides = np.where(data.answers == 0, 1.0, -1.0)
    members = Members(centres, 0.0, bool((data.lists < 0).any()))
    return members, Answers(data.pairs, data.pair_weights, sides)


def value(likelihood: OwnExpansions, theta: np.ndarray, some: np.ndarray) -> np.ndarray:
    return likelihood.expand(theta, some, False)[0]


@pytest.mark.parametrize("short", [False, True])
def test_each_member_is_at_the_maximum_that_scipy_finds(short: bool) -> None:
    data = judged(60, 3, short=short)
    centres = usual_centres(SCALE, K)
    members, answers = members_and_answers(data, centres)
    found, _ = estimate(members, answers)
    for at in (2, 13, 40):  # linear-log2 with a spread of 1, and others
        centre, spread = centres[at // len(SPREADS)], SPREADS[at % len(SPREADS)]
        value = plain_posterior(data, centre.gains.tolist(), centre.discounts.tolist(), spread)
        other = minimize(value, found.theta[at] + 0.05, method="BFGS", options={"gtol": 1e-7})
        assert value(found.theta[at]) == pytest.approx(found.value[at], abs=1e-9)
        assert value(found.theta[at]) <= other.fun + 1e-6
        np.testing.assert_allclose(found.theta[at], other.x, atol=2e-3)


def test_the_evidence_is_that_of_laplace() -> None:
    """Twin: the information as the sum of squared slopes of P, by differences."""
    data = judged(40, 5)
    members, answers = members_and_answers(data, usual_centres(SCALE, K)[:1])
    found, _ = estimate(members, answers)
    likelihood, step = OwnExpansions(members, answers), 1e-6
    for at, spread in enumerate(SPREADS):
        theta = found.theta[at]
        information = np.diag(members.precision[at])
        for row in range(len(answers.pairs)):
            part = Answers(answers.pairs[[row]], np.ones(1), answers.sides[[row]])
            one = OwnExpansions(members, part)

            def p(theta: np.ndarray, one: OwnExpansions = one, at: int = at) -> float:
                return float(np.exp(-value(one, theta[None], np.array([at]))[0]))

            slopes = np.array(
                [(p(theta + e) - p(theta - e)) / 2 for e in step * np.eye(len(theta))]
            )
            information += np.outer(slopes, slopes) / step**2 / (p(theta) * (1 - p(theta)))
        height = (
            -value(likelihood, theta[None], np.array([at]))[0]
            - members.prior(theta[None], np.array([at]))[0][0]
        )
        volume = np.linalg.slogdet(np.diag(members.precision[at]))[1]
        volume -= np.linalg.slogdet(information)[1]
        prior = np.log(7) - (np.log(spread / 0.35) / 1.2) ** 2 / 2
        assert found.evidence()[at] == pytest.approx(height + volume / 2 + prior, abs=1e-4)


def test_the_most_used_measures_have_half_of_the_prior() -> None:
    prior = before_judgments(members_of("usual", SCALE, np.zeros((1, 2, K), np.int8)))
    by_centre = prior.share.reshape(16, -1).sum(axis=1)
    shares = dict(zip(prior.members.names, by_centre, strict=True))
    assert shares.pop("linear-log2") == shares.pop("exponential-log2") == pytest.approx(1 / 4)
    assert list(shares.values()) == pytest.approx([1 / 28] * 14)


def test_parts_and_shared_expansions_find_what_all_answers_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = judged(3000, 2, lapses=0.1)
    members, answers = members_and_answers(data, usual_centres(SCALE, K))
    monkeypatch.setattr(ascent, "PARTS", (3000,))
    whole, _ = estimate(members, answers)
    monkeypatch.setattr(ascent, "PARTS", (300, 1000))
    shared, n = estimate(members, answers)
    assert isinstance(shared.likelihood, ascent.SharedExpansion)
    assert n == len(answers.pairs)
    share, other = (np.exp(one.evidence() - one.evidence().max()) for one in (whole, shared))
    np.testing.assert_allclose(share, other, atol=0.02)
    W, near = (
        np.tensordot(s / s.sum(), members.measures(one.theta).weights, 1)
        for s, one in ((share, whole), (other, shared))
    )
    np.testing.assert_allclose(near / near[0, 0], W / W[0, 0], atol=2e-3)


def test_many_answers_all_count_where_hardly_any_lapses() -> None:
    """In logit e the likelihood is flat, and an expansion would not hold."""
    rng = np.random.default_rng(0)
    lists = rng.integers(0, L, (200_000, 2, K), dtype=np.int8)
    better = TRUTH.score(lists)[:, 0] + rng.normal(0, 0.7, len(lists)) > TRUTH.score(lists)[:, 1]
    learned = learn_dcg(Preferences.of(lists, np.where(better, "a", "b"), SCALE))
    assert learned.judgments == (lists[:, 0] != lists[:, 1]).any(
        axis=1
    ).sum() or learned.judgments == len(lists)
    np.testing.assert_allclose(learned.dcg.gains, TRUTH.gains, atol=0.01)
    np.testing.assert_allclose(learned.dcg.discounts, TRUTH.discounts, atol=0.01)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), short=st.booleans())
def test_gains_and_discounts_fall_whatever_is_answered(seed: int, n: int, short: bool) -> None:
    rng = np.random.default_rng(seed)
    data = judged(n, seed, lapses=1.0, short=short)
    try:
        learned = learn_dcg(data)
    except InputError:  # no two lists differ
        return
    assert (np.diff(learned.dcg.gains) <= 1e-12).all()
    assert (np.diff(learned.dcg.discounts) <= 1e-12).all()
    assert learned.dcg.discounts[0] == pytest.approx(1)
    assert learned.dcg.gains[0] - learned.dcg.gains[-1] == pytest.approx(1)
    assert sum(learned.centres.values()) == pytest.approx(1)
    order = rng.permutation(n)
    again = learn_dcg(data[order])
    np.testing.assert_allclose(again.weights, learned.weights, atol=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_answers_without_errors_have_maxima(seed: int) -> None:
    """Their likelihood grows with the scale, and steps must not lead beyond what exp can hold."""
    rng = np.random.default_rng(seed)
    truth = DCG([1, 0.9, 0.8, 0.1, 0], [1.0] * 5 + [0.2] * 5)
    lists = rng.permuted(np.tile(np.repeat(np.arange(5), 2), (50, 2, 1)), axis=2)
    first, second = truth.score(lists).T
    data = Preferences.of(lists, np.where(first > second, "a", "b"), Scale((4, 3, 2, 1, 0)))
    learned = learn_dcg(data[first != second])
    assert np.isfinite(learned.weights).all()


def test_few_judgments_leave_the_centre_and_many_leave_it_behind() -> None:
    few, many = learn_dcg(judged(1), "linear-log2"), learn_dcg(judged(20000), "linear-log2")
    linear = 1 / np.log2(np.arange(2, K + 2))
    np.testing.assert_allclose(few.dcg.discounts, linear, atol=0.05)
    np.testing.assert_allclose(many.dcg.gains, TRUTH.gains, atol=0.03)
    np.testing.assert_allclose(many.dcg.discounts, TRUTH.discounts, atol=0.03)
    assert few.gains_from_data[1] < 0.1 < 0.9 < many.gains_from_data[1]
    assert many.lapses == pytest.approx(0, abs=0.02)
    assert many.scale == pytest.approx(6, abs=0.5)


def test_the_worth_of_an_empty_rank_is_learned() -> None:
    """Lists of different length: the worst grade is worth .2 more than an empty rank."""
    learned = learn_dcg(judged(20000, truth=DCG([1.2, 0.8, 0.2], "log2"), short=True))
    np.testing.assert_allclose(learned.dcg.gains, [1.2, 0.8, 0.2], atol=0.04)


def test_a_measure_is_a_prior() -> None:
    given = learn_dcg(judged(5), DCG([1, 0.9, 0], [1, 0.2, 0.1, 0.1]))
    np.testing.assert_allclose(given.dcg.gains, [1, 0.9, 0], atol=0.1)
    assert list(learn_dcg(judged(5), "zipf").centres) == ["zipf"]


@pytest.mark.parametrize(
    ("prior", "problem"),
    [(DCG([0, 1, 2], "log2"), "cannot be a prior"), ("linar-log2", "unknown preset")],
)
def test_a_prior_that_rises_or_is_unknown(prior: DCG | str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        learn_dcg(judged(5), prior)


def test_a_posterior_without_a_maximum_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    from dcglearn.base.errors import SolverError

    monkeypatch.setattr(maximise, "MAX_STEPS", 1)
    members, answers = members_and_answers(judged(50), usual_centres(SCALE, K))
    with pytest.raises(SolverError, match="without a maximum"):
        MembersAscent(
            members, OwnExpansions(members, answers), np.tile(members.mean, (64, 1)), np.arange(64)
        ).settle()


def test_answers_without_noise_have_expansions_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    lists = rng.integers(0, L, (900, 2, K))
    first, second = TRUTH.score(lists).T
    flipped = (first > second) ^ (rng.random(900) < 0.1)
    data = Preferences.of(lists, np.where(flipped, "a", "b"), SCALE)
    monkeypatch.setattr(ascent, "PARTS", (100, 300))
    monkeypatch.setattr(ascent, "MOST_ALONE", 450)
    learned = learn_dcg(data)
    assert learned.judgments in (450, 900)
    exact = data.pairs[TRUTH.score(data.pairs[:, 0]) > TRUTH.score(data.pairs[:, 1])]
    assert agreement(learned.dcg, exact) > 0.97


def test_gains_and_discounts_of_draws_fall(rng: np.random.Generator) -> None:
    drawn = learn_dcg(judged(40)).posterior.draw(200, rng)
    for numbers in (drawn.gains, drawn.discounts):
        assert (np.diff(numbers) < 0).all()
        assert numbers[:, 0] == pytest.approx(1)
    assert drawn.gains[:, -1] == pytest.approx(0, abs=1e-12)
    W = drawn.scale[:, None, None] * drawn.discounts[:, :, None] * drawn.gains[:, None, :]
    np.testing.assert_allclose(W, drawn.weights, rtol=1e-9, atol=1e-9)


def test_draws_spread_as_estimates_do(rng: np.random.Generator) -> None:
    """With much data the prior hardly matters: the intervals of the model without it."""
    data = judged(20_000)
    learned, (gain, *_) = learn_dcg(data), JudgmentModel().fit(data).gains()[1:]
    drawn = learned.posterior.draw(4_000, rng).gains[:, 1]
    assert drawn.mean() == pytest.approx(gain.estimate, abs=0.01)
    assert 2 * 1.96 * drawn.std() == pytest.approx(gain.high - gain.low, rel=0.15)
    fewer = learn_dcg(data, design_effect=4.0).posterior.draw(4_000, rng).gains[:, 1]
    assert fewer.std() == pytest.approx(2 * drawn.std(), rel=0.15)


def test_before_judgments_steps_are_those_of_the_prior(rng: np.random.Generator) -> None:
    members = members_of("linear-log2", SCALE, np.zeros((1, 2, 3), np.int8))
    prior = before_judgments(members)
    drawn = prior.draw(20_000, rng)
    steps = np.log((drawn.gains[:, 0] - drawn.gains[:, 1]) / drawn.gains[:, 1])
    variance = prior.share @ (2 * np.array(SPREADS) ** 2)
    assert steps.mean() == pytest.approx(0, abs=0.03)
    assert steps.var() == pytest.approx(variance, rel=0.05)
    assert np.log(drawn.scale).std() > 1.4
