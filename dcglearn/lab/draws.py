"""What a cell draws: the truth, lists, their judgments, exact pairs.

Each comes from a generator of its own (:data:`dcglearn.lab.config.AXES`). Lists are drawn and
judged in blocks of a fixed size until enough pairs are strict, so the first n do not depend on how
many follow.

Where a setting names a function of one's own, it is called: what may go wrong is one error with a
line. Arrays are passed read-only, results checked. During a call, standard output goes to standard
error, and the global generators of Python and NumPy are seeded by what the function is given, so
that its result does not depend on what ran before.
"""

from __future__ import annotations

import json
import random
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.random import Generator

from dcglearn.asking.policies import choose_pairs
from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.judgments.preferences import swap_lists
from dcglearn.lab.config import AXES, Cell, hash_of
from dcglearn.lab.registry import (
    RANDOM,
    SHIPPED,
    ExperimentCode,
    executed,
    imported_source,
    own_code,
)
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.judges import (
    drawn_lists,
    judged_pairs,
    noise_scale,
    permuted_lists,
    sorted_against_another,
    sorted_against_shuffled,
    true_pairs,
)
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.learning.problem import margins_of
from dcglearn.measures.agreement import agreement, checked_pairs, score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import preset
from dcglearn.measures.utility import LinearUtility

ROUNDS = ((20, 5), (60, 10), (200, 20), (np.inf, 50))
"""Up to so many answers, questions are chosen so many at once."""

PAIRS_PER_BLOCK = 500
MAX_EMPTY_BLOCKS = 100
"""Consecutive blocks without a strict pair after which drawing is given up."""

RETURNED = "returned values"

_OF_LISTS = {*AXES["test"], "options"}
"""What a generator of lists is told of a setting: what seeds it, and its options."""

_ALONE = threading.RLock()
"""Standard output and global generators belong to the process: threads call one function each."""


@dataclass(frozen=True)
class Draws:
    """What a cell draws, with the functions of one's own that it names.

    One that draws exact pairs alone has the `name` of these: test or validation.
    """

    cell: Cell
    own: ExperimentCode = SHIPPED
    name: str = ""

    @cached_property
    def setting(self) -> Setting:
        """The setting of the cell."""
        keys = Setting.model_fields
        return Setting(**{key: value for key, value in self.cell.items() if key in keys})

    def rng(self, name: str) -> Generator:
        """Return the generator of one of the things that are drawn, from its beginning."""
        cell = self.cell
        axes = {axis: cell[axis] for axis in AXES[name] if axis in cell}
        seed = hash_of([name, cell["seed"], cell["repetition"], axes])
        return np.random.default_rng(int(seed, 16))

    def own_result(self, axis: str, *arguments: Any, name: str = "") -> Any:
        """Return what the function of an axis returns; None if it is one of this package."""
        setting = self.setting
        code = self.own.function(axis, name or getattr(setting, axis))
        if code is None:
            return None
        given = [_protected(one, axis) for one in arguments]
        options = {key: value for key, value in setting.options.items() if key in code.options}
        with (
            _seeded(arguments),
            TemporaryDirectory(prefix="dcglearn-reads-") as folder,
            own_code(code.file, "{}", place=f"{code.place}, in {code.function}"),
        ):
            for option, content in code.contents.items():
                options[option] = Path(folder, f"{option}-{Path(code.reads[option]).name}")
                options[option].write_bytes(content)
            module = executed(code.text, code.file)
            function = vars(module)[code.function]
            if imported_source(function, module.__name__) != code.imported:
                raise InputError("the module that it is imported from is another one here")
            return _checked(axis, function(*given, **options), setting, arguments)

    @cached_property
    def truth(self) -> Measure:
        """The true measure."""
        s, rng = self.setting, self.rng("truth")
        truth: Measure = self.own_result("truth", s.n_ranks, s.grades, rng) or s.true_measure(rng)
        if not s.documents:
            return truth
        grades = s.grades - np.array(s.base)  # each document is worth what its grade is
        if isinstance(truth, DCG):
            return DCG(np.array(truth.gains)[grades], truth.discounts, truth.cutoff)
        return LinearUtility(truth.matrix_for(s.n_ranks)[:, grades])

    def draw_lists(self, name: str, n: int, rng: Generator) -> Pairs:
        """Draw pairs of lists by the generator of a name."""
        s = self.setting
        own: Pairs | None = self.own_result("lists", s, n, rng, name=name)
        if own is not None:
            return own
        K, L = s.n_ranks, s.grades
        if name == "drawn":
            return drawn_lists(n, K, s.probabilities or [1 / L] * L, rng)
        if name == "sorted-against-another":
            return sorted_against_another(n, K, L, rng)
        base = np.arange(K) if name == "documents" else L - np.array(s.base)
        draw = sorted_against_shuffled if name == "sorted-against-shuffled" else permuted_lists
        return draw(n, rng, base)[:, :, :K]

    @cached_property
    def noise_and_bias(self) -> tuple[float, float]:
        """Those of a judge as reliable as the setting says, in units of the true utility."""
        s = self.setting
        if s.reliability == 1 and not s.bias:
            return 0.0, 0.0
        lists = self.draw_lists(s.lists, 10 * PAIRS_PER_BLOCK, self.rng("calibration"))
        differences = score_differences(self.truth, lists)
        return noise_scale(differences, s.reliability), s.bias * float(differences.std())

    def training_pairs(self) -> Pairs:
        """Return the pairs to learn from, as the judge orders them."""
        s = self.setting
        if s.policy != RANDOM:
            return self._chosen_pairs()
        judged = partial(self._judged, rng=self.rng("judge"))
        return self.first_pairs(s.lists, s.pairs, self.rng("training"), judged)

    def _judged(self, lists: Pairs, rng: Generator) -> Pairs:
        """Judge lists, of which either is shown first: some generators put the better one first."""
        s, shown = self.setting, lists.copy()
        swap_lists(shown, rng.random(len(lists)) < 0.5)
        own: Pairs | None = self.own_result("judge", self.truth, shown, s, rng)
        return judged_pairs(self.truth, shown, rng, *self.noise_and_bias) if own is None else own

    def first_pairs(
        self,
        lists: str,
        n: int,
        rng: Generator,
        judged: Callable[[Pairs], Pairs] = lambda pairs: pairs,
    ) -> Pairs:
        """Draw blocks of lists, and judge them, until there are n pairs."""
        kept: list[Pairs] = []
        while sum(map(len, kept)) < n:
            kept.append(judged(self.draw_lists(lists, PAIRS_PER_BLOCK, rng)))
            if len(kept) >= MAX_EMPTY_BLOCKS and not any(map(len, kept[-MAX_EMPTY_BLOCKS:])):
                s = self.setting
                raise InputError(
                    f"the truth {s.truth} and the judge {s.judge} prefer none of "
                    f"{MAX_EMPTY_BLOCKS * PAIRS_PER_BLOCK:,} pairs of {lists} lists in a row",
                    "choose another truth or judge, or other lists",
                    "truth",
                )
        return np.concatenate(kept)[:n]

    def _chosen_pairs(self) -> Pairs:
        """Return what a policy brings: pairs of a pool, chosen and judged in whole rounds."""
        s, rng, judge_rng = self.setting, self.rng("policy"), self.rng("judge")
        left = self.first_pairs(s.lists, s.pool, self.rng("training"))
        so_far, n_asked = left[:0], 0
        while n_asked < s.pairs:
            size = min(next(size for until, size in ROUNDS if n_asked < until), len(left))
            rows = self.own_result("policy", left, so_far, size, s, rng)
            if rows is None:
                rows = choose_pairs(s.policy, left, so_far, size, grade_scale(s.grades), rng)
            so_far = np.concatenate([so_far, self._judged(left[rows], judge_rng)])
            left, n_asked = np.delete(left, rows, axis=0), n_asked + size
        if not len(so_far):
            raise InputError("no pair that was chosen has an answer", "choose others", "policy")
        return so_far[: s.pairs]

    def part(self, name: str) -> Draws:
        """Return what draws exact pairs alone; neighbouring cells of a grid share it."""
        keys = {"seed", "repetition", "options", "truth", "margin", "against", f"{name}_pairs"}
        keys.update(AXES[name], AXES["truth"])
        part = {key: self.cell[key] for key in sorted(keys & self.cell.keys())}
        return _shared_draws(json.dumps(part), self.own, name)

    @cached_property
    def exact_pairs(self) -> Pairs:
        """The pairs without errors of a part: a cell is tested on them, or C is chosen on them."""
        s, n = self.setting, getattr(self.setting, f"{self.name}_pairs")
        lists = s.test_lists or s.lists  # a part for validation has no test_lists
        pairs = self.first_pairs(lists, n, self.rng(self.name), partial(true_pairs, self.truth))
        pairs.flags.writeable = False
        return pairs

    @cached_property
    def agreements(self) -> dict[str, float]:
        """The agreement of each preset of `against` with the exact pairs."""
        s, scale = self.setting, grade_scale(self.setting.grades)
        return {
            name: agreement(preset(name, scale, s.n_ranks), self.exact_pairs) for name in s.against
        }

    @cached_property
    def margin_correlation(self) -> float | None:
        """How the margin of the exact pairs goes with their true difference, if it varies."""
        margins = self.margins(self.exact_pairs)
        if margins is None or margins.min() == margins.max():
            return None
        differences = score_differences(self.truth, self.exact_pairs)
        return float(np.corrcoef(margins, differences)[0, 1])

    def margins(self, pairs: Pairs) -> Floats | None:
        """Return the margin of each pair, (n,); None where all are 1."""
        own: Floats | None = self.own_result("margin", pairs)
        return margins_of(self.setting.margin)(pairs) if own is None else own


@lru_cache(32)
def _shared_draws(part: str, own: ExperimentCode, name: str) -> Draws:
    return Draws(json.loads(part), own, name)


def _checked(axis: str, returned: Any, setting: Setting, arguments: Sequence[Any]) -> Any:
    K, L = setting.n_ranks, setting.n_columns
    match axis:
        case "truth" | "learner":
            L = setting.grades if axis == "truth" else L
            wanted = f"return a DCG, a LinearUtility, or weights of shape {K, L}"
            measure = isinstance(returned, DCG | LinearUtility)
            weights = returned.matrix_for(K) if measure else returned
            weights = finite_array(weights, RETURNED, (K, L), wanted)
            return returned if measure else LinearUtility(weights)
        case "lists" | "judge":
            shape = (arguments[1] if axis == "lists" else None, 2, K)
            return checked_pairs(finite_array(returned, RETURNED, shape), L).astype(np.int8)
        case "policy":
            n, of = arguments[2], len(arguments[0])
            wanted = f"return {n} different rows, from 0 to {of - 1}"
            rows = finite_array(returned, RETURNED, (n,), wanted)
            if len({*rows.tolist()} & {*range(of)}) < n:
                raise InputError(f"{RETURNED} are {returned!r:.60}", wanted)
            return rows.astype(np.intp)
        case "margin":
            return finite_array(returned, RETURNED, (len(arguments[0]),))
        case _:
            wanted = "return a finite number, or a sequence of them"
            return finite_array(returned, RETURNED, (None,)[: np.ndim(returned)], wanted)


@contextmanager
def _seeded(arguments: Sequence[Any]) -> Iterator[None]:
    """Seed the global generators by one among arguments."""
    states = [str(one.bit_generator.state) for one in arguments if isinstance(one, Generator)]
    seed = zlib.crc32("".join(states).encode())
    with _ALONE:
        before = random.getstate(), np.random.get_state()  # noqa: NPY002 - to be restored
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - for functions that draw from it
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002 - the global one, which functions may use


def _protected(argument: Any, axis: str) -> Any:
    """Return an argument as a function may be given it: arrays cannot be changed."""
    if isinstance(argument, np.ndarray):
        argument = argument.view()
        argument.flags.writeable = False
    if axis == "lists" and isinstance(argument, Setting):
        return Setting.model_construct(**argument.model_dump(include=_OF_LISTS))
    return argument
