"""Computing a cell: draw lists, judge them, learn from the judgments, test what was learned.

The result is a pure function of the cell (and of the code whose hashes it holds): the same in any
process and in any order.

Gains are identified up to an affine map; discounts up to scale, or an affine map where all pairs
compare lists of the same content. They are compared with the truth after the least-squares map of
that kind, if the truth is a DCG and the learned measure does not tie all lists.

Other cells measure what intervals, tests and conclusions are worth: how often they are right.
Judges answer as a known truth says, with noise and lapses; the intervals and tests of a model
(:func:`certainty`), or :func:`conclusions`, are compared with it. Means over repetitions are the
coverage of intervals, the size and power of tests at 5%, and the shares of studies that recommend a
measure or reject what is true.
"""

import traceback
from collections.abc import Sequence
from functools import cache

import numpy as np

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats, Pairs
from dcglearn.correlation.tau import kendall_tau
from dcglearn.inference.ascent import Answers
from dcglearn.inference.covariance import MIN_SHARE
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.questions import conclude
from dcglearn.inference.tests import likelihood_ratio, link_test, no_effect, verdict_of
from dcglearn.inference.usual import learn_from_answers
from dcglearn.judgments.preferences import Preferences, swap_lists
from dcglearn.lab.config import Cell
from dcglearn.lab.decorators import CellData
from dcglearn.lab.draws import Draws
from dcglearn.lab.registry import JUDGMENT_MODEL, STUDY, USUAL, Code, ExperimentCode
from dcglearn.lab.simulation.judges import (
    DESIGNS,
    flip_pairs,
    misgrade_pairs,
    simulated_answers,
    simulated_study,
)
from dcglearn.lab.simulation.truths import cosine, grade_scale, identifiable_similarity, similarity
from dcglearn.learning.factorise import factorise
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import Estimated, Factors, Gauge, is_affine
from dcglearn.learning.resample import choose_C
from dcglearn.learning.solve import Fit, fit, fit_path
from dcglearn.measures.agreement import agreement, outcomes, score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility

PAIRS_FOR_TAU = 1000
"""Test pairs whose lists are ordered."""

LISTS_OF_A_QUERY = 4
"""Different pairs of lists that each query shows, where judgments come in queries."""

UNEVENNESS = 0.75
"""The r-th largest query has a size of r to minus this power: of 100, the first has a tenth."""

POSITIONS = "positions"
"""The model with gains of each rank."""

LEVEL = 0.05


def run_cell(cell: Cell, codes: Sequence[Code] = ()) -> Cell:
    """Compute a cell without ever raising an error."""
    try:
        with one_blas_thread():  # the order of additions must not vary
            return {"result": compute_cell(cell, codes)}
    except (InputError, SolverError) as error:
        return {"error": str(error)}
    except Exception:
        return {"error": traceback.format_exc(limit=-8)}  # the innermost frames


def compute_cell(cell: Cell, codes: Sequence[Code] = ()) -> Cell:
    """Compute the result of a cell."""
    draws = Draws(cell, ExperimentCode(functions=tuple(codes)))
    kinds = {STUDY: conclusions, JUDGMENT_MODEL: certainty}
    return kinds.get(draws.setting.learner, _tested)(draws)


def _tested(draws: Draws) -> Cell:
    setting, truth = draws.setting, draws.truth
    training, learned, fitted = learn(draws)
    tests = draws.part("test")
    W = learned.matrix_for(setting.n_ranks) if fitted is None else fitted.weights
    true_W = truth.matrix_for(setting.n_ranks)
    result: Cell = {
        "precision": agreement(learned, tests.exact_pairs),
        "similarity": similarity(true_W, W),
        "identifiable": identifiable_similarity(true_W, W),
        "offset": cosine(true_W + 100.0, W + 100.0),
        "margin_correlation": tests.margin_correlation,
        "chosen_C": fitted.problem.C if fitted else None,
        **{f"precision:{name}": value for name, value in tests.agreements.items()},
    }
    data = CellData(setting, training, tests.exact_pairs, fitted)
    for name in draws.cell.get("columns", ()):
        own = draws.own_result("result", truth, learned, data, name=name)
        result[name] = result_named(name, truth, learned, data) if own is None else own.tolist()
    return {name: value for name, value in result.items() if value is not None}


def learn(draws: Draws) -> tuple[Pairs, Measure, Fit | None]:
    """Return the training pairs, what is learned, and its fit if it is of the program."""
    setting, pairs, rng = draws.setting, draws.training_pairs(), draws.rng("errors")
    if setting.flips:
        pairs = flip_pairs(pairs, setting.flips, rng)
    if setting.wrong_grades:
        pairs = misgrade_pairs(pairs, setting.wrong_grades, setting.grades, rng)
    pairs.flags.writeable = False
    measure = draws.own_result("learner", pairs, setting, draws.rng("learner"))
    if setting.learner == USUAL:
        answers = Answers(pairs, np.ones(len(pairs)), np.zeros(len(pairs)))
        measure = learn_from_answers(answers, grade_scale(setting.grades)).dcg
    if measure is not None:
        return pairs, measure, None
    margins = draws.margins(pairs)
    margin = "unit" if margins is None else margins
    problem = Problem.of(pairs, setting.n_columns, margin, monotone=not setting.documents)
    try:
        fitted = _solve(draws, problem)
    except InputError:  # the optimum is 0, which ties all lists
        return pairs, LinearUtility(np.zeros(problem.shape)), None
    return pairs, getattr(fitted, setting.used), fitted


def _solve(draws: Draws, problem: Problem) -> Fit:
    """Solve; C is given, chosen by cross-validation, or agrees best with exact pairs."""
    setting, C = draws.setting, draws.setting.C
    if C == "cv":  # each pair is a query of its own; they are divided into folds once
        folds, grid, groups = draws.rng("folds"), setting.C_grid, np.arange(problem.n_pairs)
        C = choose_C(problem, groups, folds, grid=grid, use=setting.used, n_repeats=1).C
    if not isinstance(C, str):
        return fit(problem.with_C(C))
    fits, held_out = fit_path(problem, setting.C_grid), draws.part("validation").exact_pairs
    return max(fits, key=lambda one: agreement(getattr(one, setting.used), held_out))


def result_named(
    name: str, truth: Measure, learned: Measure, data: CellData
) -> float | list[float] | None:
    """Return a result; None leaves it out of the cell."""
    if name == "regret":
        return regret(truth, learned, data)
    if name == "kendall_tau":
        return order_of_lists(truth, learned, data)
    factors = _factors(learned, data)
    if factors is None or not isinstance(truth, DCG):
        return None
    found, true, affine = factors.gains, np.array(truth.gains), True
    if name.startswith("discounts"):
        found, affine = factors.discounts, is_affine(factors.gauge)
        true = truth.discounts_for(len(found))
    if name.endswith("correlation"):
        return abs(cosine(found - found.mean(), true - true.mean()))  # the sign is part of the map
    columns = np.column_stack([found, np.ones(len(found))] if affine else [found])
    nearest = columns @ np.linalg.lstsq(columns, true)[0]
    return [*nearest.tolist()]


def _factors(learned: Measure, data: CellData) -> Factors | None:
    """Return learned gains and discounts; None if the measure ties all lists.

    Of a learner of one's own, only the measure is known, whose discounts pairs that reorder one
    list determine up to an affine map.
    """
    try:
        if data.fit is not None:
            return data.fit.factors
        setting, contents = data.setting, np.sort(data.training_pairs, axis=2)
        reordered = np.array_equal(contents[:, 0], contents[:, 1])
        gauge: Gauge = "worst order" if reordered else "worst"
        return factorise(learned.matrix_for(setting.n_ranks), gauge, ordered=not setting.documents)
    except InputError:
        return None


def regret(truth: Measure, learned: Measure, data: CellData) -> float:
    """Share of the true difference that is lost by trusting the order of the learned measure.

    With d_i > 0 the true difference of test pair i, and o_i = 1 where the learned measure prefers
    the better list, 1/2 where it ties them, 0 otherwise:

        regret = sum_i (1 - o_i) d_i / sum_i d_i

    0 if no preference is wrong, 1/2 by chance. Errors on lists that hardly differ cost little.
    """
    differences = score_differences(truth, data.test_pairs)
    wrong = 1 - outcomes(learned, data.test_pairs)
    return float(wrong @ differences / differences.sum())


def order_of_lists(truth: Measure, learned: Measure, data: CellData) -> float:
    """Kendall's tau-b between the true and the learned order of the lists of 1,000 test pairs."""
    pairs = data.test_pairs[:PAIRS_FOR_TAU]
    lists = pairs.reshape(-1, pairs.shape[2])
    scores = truth.score(lists), learned.score(lists)  # without differences by rounding
    rounded = (np.round(one / np.abs(one).max(initial=1e-300), 12) for one in scores)
    try:
        return kendall_tau(*rounded)
    except InputError:  # all lists are tied
        return 0.0


def certainty(draws: Draws) -> Cell:
    """Fit a model to simulated judgments and compare its intervals and tests with the truth."""
    setting, truth = draws.setting, draws.truth
    if not isinstance(truth, DCG) and not setting.hypotheses:
        raise InputError(
            f"{setting.truth} has no gains and discounts",
            "name a DCG, or `hypotheses` to test",
            "truth",
        )
    evidence = Evidence.of(simulated_judgments(draws), setting.ties)

    @cache
    def fitted(text: str) -> JudgmentFit:
        gains, _, discounts = text.partition("-")
        if text == POSITIONS:
            return JudgmentModel(ties=setting.ties, position_dependent=True).fit(evidence)
        return JudgmentModel(gains=gains, discounts=discounts, ties=setting.ties).fit(evidence)

    fit = fitted(f"{setting.gains}-{setting.discounts}")
    result = interval_record(fit, truth) if isinstance(truth, DCG) else {}
    result["lapse_share"] = fit.likelihood.value_of("lapses", fit.parameters).item()
    result["p:link"] = link_test(fit).p
    without = no_effect(fit) if setting.hypotheses else None
    for text in setting.hypotheses:
        smaller, word, larger = text.partition(" in ")
        if not word:
            raise InputError(
                f"{text!r} does not name two models", "write linear-free in free-free", "hypotheses"
            )
        result[f"p:{text}"] = likelihood_ratio(fitted(smaller), fitted(larger), without).p
    return result


def simulated_judgments(draws: Draws) -> Preferences:
    """Draw lists and judge them; in clusters, a few pairs of lists of queries of uneven size."""
    setting, n, rng = draws.setting, draws.setting.pairs, draws.rng("training")
    unseen, nobody = np.zeros(n), np.full(n, None, object)
    queries = nobody
    if setting.clusters:
        shown = draws.first_pairs(setting.lists, setting.clusters * LISTS_OF_A_QUERY, rng)
        worth = setting.unseen * rng.standard_normal(len(shown))
        sizes = np.arange(1.0, setting.clusters + 1) ** -UNEVENNESS
        which, pair, side = rng.random((n, 3)).T
        ends = np.cumsum(sizes) / sizes.sum()
        numbers = np.searchsorted(ends, which).clip(max=setting.clusters - 1)
        queries = np.array([f"q{number}" for number in numbers.tolist()], object)
        rows = numbers * LISTS_OF_A_QUERY + (pair * LISTS_OF_A_QUERY).astype(int)
        lists, swapped = shown[rows].copy(), side < 0.5
        swap_lists(lists, swapped)
        unseen = np.where(swapped, -worth[rows], worth[rows])
    else:
        lists = draws.first_pairs(setting.lists, n, rng)
    W, ties = draws.truth.matrix_for(setting.n_ranks), setting.ties != "strict"
    differences = score_differences(draws.truth, lists)
    v = setting.sensitivity * differences / (W[0, 0] - W[0, -1]) + unseen
    answers = simulated_answers(v, draws.rng("judge"), setting.noise, setting.lapses, ties)
    return Preferences(lists, answers, grade_scale(setting.grades), np.ones(n), queries, nobody)


def interval_record(fit: JudgmentFit, truth: DCG) -> Cell:
    """Compare the intervals of a fit with the truth, of all numbers that are not given."""
    W = truth.matrix_for(len(fit.weights))
    true_gains, true_discounts = (W - W[:, -1:]).mean(axis=0), W[:, 0] - W[:, -1]
    gains = _compared(fit, fit.gains(), fit.gain_slopes, true_gains)
    discounts = _compared(fit, fit.discounts(), fit.discount_slopes, true_discounts)
    determined, covered, bounded, width, _ = np.concatenate([gains, discounts]).T
    values = {
        "determined": determined,
        "coverage": covered,
        "bounded": bounded,
        "width": width,
        "coverage:gains": gains[:, 1],
        "coverage:discounts": discounts[:, 1],
        "middle_gain": gains[len(gains) // 2 :, 4][:1],
    }
    known = {key: some[~np.isnan(some)] for key, some in values.items()}
    return {key: float(some.mean()) for key, some in known.items() if len(some)}


def _compared(
    fit: JudgmentFit, numbers: tuple[Estimated, ...], slopes: Floats, truth: Floats
) -> Floats:
    """Return a row for each number that is not given, NaN where it makes no sense.

    Whether it is determined, whether the interval contains the truth and is bounded, its width,
    and the error of the estimate, in units of the first number.
    """
    rows = []
    for number, slope, true in zip(numbers, slopes, truth / truth[0], strict=True):
        width, error = number.high - number.low, number.estimate - true
        if fit.covariance.share_of_data(slope) < MIN_SHARE or np.isnan(error):
            row = [0.0, *[np.nan] * 4]
        else:
            bounded = np.isfinite(width)
            covered = number.low <= true <= number.high
            row = [1.0, covered, bounded, width if bounded else np.nan, error]
        if not number.given:
            rows.append(row)
    return np.array(rows, float).reshape(-1, 5)


def conclusions(draws: Draws) -> Cell:
    """Draw judgments of a design, and compare what is concluded with what is true.

    :data:`dcglearn.lab.setting.STUDY_COLUMNS` says what each 1 or 0 is.
    """
    design = DESIGNS[draws.setting.design]
    judged = simulated_study(design, draws.setting.pairs, draws.rng("judge"))
    found, truth = conclude(judged), design.middle_gain
    gains, other = ("exponential", "linear") if truth == 1 / 3 else ("linear", "exponential")
    true = {
        "gains": gains,
        "discounts": "log2",
        "measure": f"{gains}-log2",
        "positions": "the same gains at every rank",
        "additivity": "documents add up",
    }
    dcg = design.worth == "dcg"
    low = {(one.about, one.hypothesis): one.test.p < LEVEL for one in found.questions}
    result: Cell = {f"size:{about}": low[about, name] for about, name in true.items() if dcg}
    if dcg and not design.coin:
        result["power:gains"] = low["gains", other]
        result["power:discounts"] = low["discounts", "constant"]
    if not design.side:
        result["size:side"] = low["side", "no side bias"]
    supported = found.support == "supported"
    result["recommended"] = supported
    if truth is not None:
        middle = found.free_gains.gains()[1]
        result["determined"] = middle.determined
        if middle.determined:
            result["coverage"] = middle.low <= truth <= middle.high
        if supported:
            result["right"] = found.answer[1:] == (gains, "log2")
    rejected = [one for one in found.questions if one.verdict == "rejected"]
    if dcg:  # where a coin decides, all hypotheses on what to use are true
        result["false_stop"] = any(
            design.coin or one.hypothesis == true[one.about]
            for one in rejected
            if one.about in ("gains", "discounts")
        )
    result["no_dcg"] = any(one.about == "additivity" for one in rejected)
    result["link"] = verdict_of(link_test(found.recommended).p) == "rejected"
    return {key: float(value) for key, value in result.items()}
