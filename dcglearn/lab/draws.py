"""What a cell draws: the truth, lists, their judgments, exact pairs.

Each comes from a generator of its own (:data:`dcglearn.lab.cells.AXES`). Lists are drawn and judged
in blocks of a fixed size until enough pairs are strict. The first n pairs therefore do not depend
on how many follow, and a learning curve is computed along one growing sample.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dcglearn.asking.policies import choose_pairs
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.lab.cells import AXES, Cell, rng_for, setting_of
from dcglearn.lab.own_functions import OwnCodeError, call_own
from dcglearn.lab.registry import RANDOM, SHIPPED, ExperimentCode
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.judges import judged_pairs, noise_scale, true_pairs
from dcglearn.lab.simulation.lists import (
    drawn_lists,
    lists_of_queries,
    permuted_lists,
    sorted_against_another,
    sorted_against_shuffled,
)
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.learning.problem import margins_of
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility

ROUNDS = ((20, 5), (60, 10), (200, 20), (np.inf, 50))
"""Up to so many answers, questions are chosen so many at once."""

PAIRS_PER_BLOCK = 500
MAX_EMPTY_BLOCKS = 100
"""Consecutive blocks without a strict pair after which drawing is given up."""


@dataclass(frozen=True)
class StrictPairs:
    """Judged pairs, the preferred list first; how many were left out, and how many drawn in all."""

    pairs: Pairs
    draws: int
    drawn: int


@dataclass(frozen=True)
class Draws:
    """What a cell draws, with the functions of one's own that it names."""

    cell: Cell
    own: ExperimentCode = SHIPPED

    @cached_property
    def setting(self) -> Setting:
        """The setting of the cell."""
        return setting_of(self.cell)

    def rng(self, name: str) -> np.random.Generator:
        """Return the generator of one of the things that are drawn, from its beginning."""
        return rng_for(self.cell, name)

    @cached_property
    def truth(self) -> Measure:
        """The true measure."""
        s, rng = self.setting, self.rng("truth")
        own: Measure | None = call_own(self.own, "truth", s.truth, s, s.n_ranks, s.grades, rng)
        truth = s.true_measure(rng) if own is None else own
        if not s.documents:
            return truth
        grades = base_list(s)  # each document is worth what its grade is
        if isinstance(truth, DCG):
            return DCG(np.array(truth.gains)[grades], truth.discounts, truth.cutoff)
        return LinearUtility(truth.matrix_for(s.n_ranks)[:, grades])

    def first_lists(self, n: int, rng: np.random.Generator) -> Pairs:
        """Draw the first pairs of lists to learn from, not yet judged."""
        blocks = islice(self._blocks(self.setting.lists, rng), -(-n // PAIRS_PER_BLOCK))
        return np.concatenate(list(blocks))[:n]

    def _blocks(self, lists: str, rng: np.random.Generator) -> Iterator[Pairs]:
        while True:
            yield draw_lists(self.setting, lists, PAIRS_PER_BLOCK, rng, self.own)

    @cached_property
    def noise_and_bias(self) -> tuple[float, float]:
        """Those of a judge as reliable as the setting says, in units of the true utility."""
        s = self.setting
        if s.reliability == 1 and not s.bias:
            return 0.0, 0.0
        lists = draw_lists(s, s.lists, 10 * PAIRS_PER_BLOCK, self.rng("calibration"), self.own)
        differences = score_differences(self.truth, lists)
        return noise_scale(differences, s.reliability), s.bias * float(differences.std())

    def training_pairs(self) -> StrictPairs:
        """Return the pairs to learn from, as the judge orders them."""
        s = self.setting
        if s.policy != RANDOM:
            return self._chosen_pairs()
        judged = partial(self._judged, rng=self.rng("judge"))
        return self.first_strict("training", s.lists, s.pairs, judged)

    def _judged(self, lists: Pairs, rng: np.random.Generator) -> Pairs:
        """Judge lists, of which either is shown first: some generators put the better one first."""
        swapped = rng.random(len(lists)) < 0.5
        shown = np.where(swapped[:, None, None], lists[:, ::-1], lists)
        s = self.setting
        own: Pairs | None = call_own(self.own, "judge", s.judge, s, self.truth, shown, s, rng)
        return judged_pairs(self.truth, shown, rng, *self.noise_and_bias) if own is None else own

    def first_strict(
        self, name: str, lists: str, n: int, judged: Callable[[Pairs], Pairs]
    ) -> StrictPairs:
        """Draw blocks of lists, and judge them, until n pairs are strict."""
        kept: list[Pairs] = []
        n_kept = empty_blocks = 0
        for pairs in map(judged, self._blocks(lists, self.rng(name))):
            kept.append(pairs)
            n_kept += len(pairs)
            empty_blocks = 0 if len(pairs) else empty_blocks + 1
            if n_kept >= n or empty_blocks == MAX_EMPTY_BLOCKS:
                break
        if n_kept >= n:
            drawn = PAIRS_PER_BLOCK * len(kept)
            return StrictPairs(np.concatenate(kept)[:n], drawn - n_kept, drawn)
        judge = self.own.function("judge", self.setting.judge)
        if judge is not None:
            remedy = "return those pairs that are judged, the preferred list first"
            shown = f"{empty_blocks * PAIRS_PER_BLOCK:,} pairs of {lists} lists in a row"
            raise OwnCodeError(f"leaves out {shown}", remedy, judge.called)
        problem = f"the truth {self.setting.truth} distinguishes too few {lists} lists"
        raise InputError(problem, "choose another truth or other lists", "truth")

    def _chosen_pairs(self) -> StrictPairs:
        """Return what the first questions of a policy brought, in whole rounds, ties among them."""
        part = self._part("training", "truth", "reliability", "bias", "judge", "policy", "pool")
        rounds, n = _rounds_kept(part, self.own), self.setting.pairs
        if sum(size for size, _ in rounds) < n:
            rounds[:] = self._rounds(n)
        asked = np.cumsum([size for size, _ in rounds])
        last = int(np.searchsorted(asked, n))
        pairs, n_asked = np.concatenate([one for _, one in rounds[: last + 1]]), int(asked[last])
        if not len(pairs):
            raise InputError("no pair that was chosen has an answer", "choose others", "policy")
        return StrictPairs(pairs[:n], n_asked - len(pairs), n_asked)

    def _rounds(self, n: int) -> Iterator[tuple[int, Pairs]]:
        """Choose n pairs or more in rounds; yield how many are judged, and those with answers."""
        s, rng, judge_rng = self.setting, self.rng("policy"), self.rng("judge")
        left = self.first_lists(s.pool, self.rng("training"))
        so_far, n_asked = left[:0], 0
        while n_asked < n:
            size = min(next(size for until, size in ROUNDS if n_asked < until), len(left))
            rows = call_own(self.own, "policy", s.policy, s, left, so_far, size, s, rng)
            if rows is None:
                scale = grade_scale(s.grades)
                rows = choose_pairs(s.policy, left, so_far, size, scale, rng)
            judged = self._judged(left[rows], judge_rng)
            yield size, judged
            so_far = np.concatenate([so_far, judged])
            left, n_asked = np.delete(left, rows, axis=0), n_asked + size

    def exact_pairs(self, name: str) -> Pairs:
        """Return the pairs without errors that a cell is tested on, or that C is chosen on."""
        return _exact_pairs(self._part(name, "truth", f"{name}_pairs"), self.own)

    def margins(self, pairs: Pairs) -> str | Floats:
        """Return the margin of each pair, (n,), or the name of one of this package."""
        s = self.setting
        own: Floats | None = call_own(self.own, "margin", s.margin, s, pairs)
        return s.margin if own is None else own

    def margin_correlation(self) -> float | None:
        """Return how the margin of the test pairs goes with their true difference."""
        pairs = self.exact_pairs("test")
        margin = self.margins(pairs)
        size = margins_of(margin)(pairs) if isinstance(margin, str) else margin
        if size is None or size.min() == size.max():
            return None
        return float(np.corrcoef(size, score_differences(self.truth, pairs))[0, 1])

    def _part(self, name: str, *more: str) -> str:
        """Return the part of a cell that a generator and some more keys depend on, as JSON."""
        kept = {"seed", "repetition", "options", *AXES[name], *AXES["truth"], *more}
        part = {key: self.cell[key] for key in sorted(kept & self.cell.keys())}
        return json.dumps([name, part])


@lru_cache(32)
def _exact_pairs(part: str, own: ExperimentCode) -> Pairs:
    """Draw exact pairs; neighbouring cells of a grid share them."""
    name, cell = json.loads(part)
    draws = Draws(cell, own)
    s = draws.setting
    lists = s.lists_to_test_on if name == "test" else s.lists
    n = s.test_pairs if name == "test" else s.validation_pairs
    pairs = draws.first_strict(name, lists, n, partial(true_pairs, draws.truth)).pairs
    pairs.flags.writeable = False
    return pairs


@lru_cache(4)
def _rounds_kept(part: str, own: ExperimentCode) -> list[tuple[int, Pairs]]:
    """Return a place for the longest rounds so far: with fewer pairs, they are its beginning."""
    return []


def draw_lists(
    setting: Setting, name: str, n: int, rng: np.random.Generator, own: ExperimentCode
) -> Pairs:
    """Draw pairs of lists."""
    found: Pairs | None = call_own(own, "lists", name, setting, setting, n, rng)
    if found is not None:
        return found
    K, L, base = setting.n_ranks, setting.grades, base_list(setting)
    match name:
        case "permutations":
            return permuted_lists(n, rng, base)[:, :, :K]
        case "sorted-against-shuffled":
            return sorted_against_shuffled(n, rng, base)[:, :, :K]
        case "sorted-against-another":
            return sorted_against_another(n, K, L, rng)
        case "documents":
            return permuted_lists(n, rng, np.arange(K))
        case "drawn":
            return drawn_lists(n, K, setting.probabilities or [1 / L] * L, rng)
    return lists_of_queries(n, K, cast(list[int], setting.queries), rng)


def base_list(setting: Setting) -> NDArray[np.int64]:
    """Return the base list of a setting as grade indices, 0 the best."""
    return setting.grades - np.array(setting.base, np.int64)
