"""Discounted cumulated gain as a frozen value.

    DCG(pi) = sum_{k <= cutoff} c_k g[pi_k]

c are the discounts by rank, g the gains by grade: Case 1, W = c g', of Zhou, Zha,
Xue & Yu (arXiv 1212.5650, eq. 2). Gains may be fractional, negative and in any
order. What is ideal follows from the numbers, never from the labels: by the
rearrangement inequality the best ordering gives the largest gain to the largest
discount. The normalised forms are

    nDCG = DCG / ideal        minmaxDCG = (DCG - worst) / (ideal - worst)

over all orderings of the same pool; both leave the order of DCG within one pool (nDCG
where the ideal is above 0; it is refused where it is below) and do not change when the
gains are multiplied by a positive number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.discounts import canonical_rule, format_number, rule_discounts
from dcglearn.measures.ideal import check_pools, ideal_dcg, leaves_rank_empty, map_distinct_pools
from dcglearn.measures.scale import Label, checked_grades
from dcglearn.measures.utility import LinearUtility, checked_grade_names, sum_over_ranks

Normalisation = Literal["ideal", "minmax"]

DCG_FORMS: dict[str, Normalisation | None] = {"DCG": None, "nDCG": "ideal", "minmaxDCG": "minmax"}
"""How each normalisation is written."""


@dataclass(frozen=True)
class DCG:
    """DCG with any gains, any discounts, a cutoff and a stated normalisation.

    Parameters
    ----------
    gains : sequence of float, or mapping from grade to float
        One gain a grade, best grade first. A mapping names the grades too.
    discounts : str or sequence of float, default "log2"
        A rule (see :mod:`dcglearn.measures.discounts`) or c_1, c_2, ...
    cutoff : int, optional
        Ranks below it do not count. A vector cannot be cut beyond its length.
    normalise : {None, "ideal", "minmax"}, default None
        Plain DCG, DCG / ideal, or (DCG - worst) / (ideal - worst).
    grades : sequence of labels, optional
        The name of each grade, best first.

    Raises
    ------
    InputError
        If a number is not finite, the rule is unknown, or the cutoff does not fit.

    Examples
    --------
    >>> measure = DCG([3, 2, 1, 0], "jk(2)")
    >>> float(measure.score([0, 1, 0, 3, 2, 1]).round(7))
    8.0971714
    >>> measure @ 10
    DCG([3, 2, 1, 0], jk(2)) @ 10
    >>> DCG.parse("nDCG({'good': 1, 'bad': 0}, [1, 0.5]) @ 2").grades
    ('good', 'bad')
    """

    gains: tuple[float, ...]
    discounts: str | tuple[float, ...] = "log2"
    cutoff: int | None = None
    normalise: Normalisation | None = None
    grades: tuple[Label, ...] | None = None

    def __init__(
        self,
        gains: Sequence[float] | Floats | Mapping[Label, float],
        discounts: str | Sequence[float] | Floats = "log2",
        cutoff: int | None = None,
        normalise: Normalisation | None = None,
        grades: Sequence[Label] | None = None,
    ) -> None:
        if isinstance(gains, Mapping):
            grades = tuple(gains) if grades is None else grades
            gains = tuple(gains.values())
        numbers = _finite_numbers(gains, "gains")
        if isinstance(discounts, str):
            checked: str | tuple[float, ...] = canonical_rule(discounts)
        else:
            checked = _finite_numbers(discounts, "discounts")
        if normalise not in DCG_FORMS.values():
            raise unknown_name("normalisation", normalise, ["ideal", "minmax", "None"])
        set_ = object.__setattr__
        set_(self, "gains", numbers)
        set_(self, "discounts", checked)
        set_(self, "cutoff", _checked_cutoff(cutoff, checked))
        set_(self, "normalise", normalise)
        set_(self, "grades", checked_grade_names(grades, len(numbers)))

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return len(self.gains)

    @property
    def n_ranks(self) -> int | None:
        """K, the number of ranks that can count, or None where a rule goes on for ever."""
        if self.cutoff is not None:
            return self.cutoff
        return None if isinstance(self.discounts, str) else len(self.discounts)

    def __matmul__(self, cutoff: int) -> DCG:
        """Return the same measure cut at `cutoff`: ``DCG([1, 0]) @ 10``."""
        return replace(self, cutoff=cutoff)

    def plain(self) -> DCG:
        """Return the measure without its normalisation."""
        return replace(self, normalise=None)

    def discounts_for(self, n_ranks: int) -> Floats:
        """Return the discounts of lists of `n_ranks` ranks, 0 below the cutoff.

        Parameters
        ----------
        n_ranks : int
            The width of the rankings.

        Returns
        -------
        ndarray of float, shape (n_ranks,)

        Raises
        ------
        InputError
            If a vector of discounts, not cut, is shorter than the rankings.
        """
        counted = n_ranks if self.cutoff is None else min(n_ranks, self.cutoff)
        discounts = np.zeros(n_ranks)
        if isinstance(self.discounts, str):
            discounts[:counted] = rule_discounts(self.discounts, counted)
        elif counted > len(self.discounts):
            raise InputError(
                f"rankings of {n_ranks} ranks, discounts for {len(self.discounts)}",
                f"cut the measure: @ {len(self.discounts)}",
            )
        else:
            discounts[:counted] = self.discounts[:counted]
        return discounts

    def matrix_for(self, n_ranks: int) -> Floats:
        """Return W = c g' for lists of `n_ranks` ranks.

        Parameters
        ----------
        n_ranks : int
            K.

        Returns
        -------
        ndarray of float, shape (n_ranks, L)
        """
        return np.outer(self.discounts_for(n_ranks), self.gains)

    def utility(self, n_ranks: int) -> LinearUtility:
        """Return the plain DCG as a :class:`LinearUtility` of `n_ranks` ranks."""
        return LinearUtility(self.matrix_for(n_ranks), self.grades)

    def score(self, rankings: ArrayLike, pools: ArrayLike | None = None) -> Floats:
        """Return the value of each ranking.

        Parameters
        ----------
        rankings : array-like of int, shape (n, K) or (K,)
            Grade indices, -1 for no document (which adds nothing).
        pools : array-like of int, shape (n, N) or (N,), optional
            For the normalised forms: the grades of all documents of each query.
            By default each ranking, before the cutoff, is its own pool.

        Returns
        -------
        ndarray of float, shape (n,) or ()
            A normalised value is 0 where ideal (or ideal - worst) is 0: no
            ordering of that pool is worth anything. A ranking that leaves a rank
            empty which a document of its pool could fill is measured against
            rankings that may do so too.

        Raises
        ------
        InputError
            If a grade is outside the scale, a ranking holds what its pool does not,
            pools come with a plain DCG, or an ideal is below 0, where nDCG has no
            meaning (naming the row).

        Examples
        --------
        Two good documents are missing from this list of five:

        >>> pool = [0, 0, 0, 0, 0, 1, 1]
        >>> float(DCG([1, 0], "jk(2)", 5, "ideal").score([0, 0, 0, 1, 1], pool).round(7))
        0.7386919
        """
        rows = checked_grades(rankings, self.n_grades)
        value = sum_over_ranks(self.matrix_for(rows.shape[-1]), rows)
        if self.normalise is None:
            if pools is not None:
                raise InputError("pools given to a plain DCG", "use nDCG or minmaxDCG")
            return value
        pool = rows if pools is None else checked_grades(pools, self.n_grades, "pools")
        if pool.shape[:-1] != rows.shape[:-1]:
            raise InputError(
                f"{pool.shape[:-1]} pools for {rows.shape[:-1]} rankings", "give one pool a ranking"
            )
        check_pools(rows, pool, self.n_grades)
        width = self.n_ranks or max(rows.shape[-1], pool.shape[-1])
        return self._normalised(value, pool, leaves_rank_empty(rows, pool, self.n_ranks), width)

    def _normalised(
        self, value: Floats, pool: Grades, empty: NDArray[np.bool_], width: int
    ) -> Floats:
        def extreme(best: bool) -> Floats:
            free = self._extreme(pool, best, width) if empty.any() else np.zeros(empty.shape)
            return np.where(empty, free, self._extreme(pool, best))

        best = extreme(True)
        if self.normalise == "ideal":
            wrong = (best < 0) | ((best == 0) & (value < 0))
            if wrong.any():
                raise InputError(
                    f"the ideal is {best[wrong].ravel()[0]:g}: dividing by it reverses the order",
                    "use minmaxDCG, or gains of 0 or more",
                    f"row {int(np.argmax(wrong))}",
                )
            floor = np.zeros_like(best)
        else:
            floor = extreme(False)
        span = best - floor
        found: Floats = np.zeros_like(value)
        np.divide(value - floor, span, out=found, where=span > 0)
        return found

    def ideal(self, pools: ArrayLike) -> Floats:
        """Return the largest plain DCG that any ordering of each pool reaches.

        Parameters
        ----------
        pools : array-like of int, shape (n, N) or (N,)
            The grades of all documents of a query, in any order, -1 for none. A
            ranking fills the first min(K, N) ranks, worthless documents included.

        Returns
        -------
        ndarray of float, shape (n,) or ()
        """
        return self._extreme(checked_grades(pools, self.n_grades, "pools"), True)

    def worst(self, pools: ArrayLike) -> Floats:
        """Return the smallest plain DCG that any ordering of each pool reaches."""
        return self._extreme(checked_grades(pools, self.n_grades, "pools"), False)

    def _extreme(self, pools: Grades, best: bool, free_ranks: int = 0) -> Floats:
        """Return the best or worst value of each pool.

        With `free_ranks`, of rankings that use any of so many ranks and leave any empty.
        """
        width = free_ranks or min(pools.shape[-1], self.n_ranks or pools.shape[-1])
        discounts = self.discounts_for(width)
        sign = 1.0 if best else -1.0
        gains = sign * np.array(self.gains)

        def rearranged(pool: Grades) -> float:
            if not free_ranks:
                return sign * ideal_dcg(discounts[: len(pool)], gains[pool])
            nothing = np.zeros(width)  # what an empty rank gains
            return sign * ideal_dcg(discounts, np.concatenate([gains[pool], nothing]))

        return map_distinct_pools(pools, rearranged).reshape(pools.shape[:-1])

    def to_json(self) -> dict[str, object]:
        """Return the measure as a JSON-able dict (see :mod:`dcglearn.measures.files`)."""
        return {
            "gains": list(self.gains),
            "discounts": self.discounts
            if isinstance(self.discounts, str)
            else list(self.discounts),
            "cutoff": self.cutoff,
            "normalise": self.normalise,
            "grades": None if self.grades is None else list(self.grades),
        }

    @classmethod
    def parse(cls, text: str) -> DCG:
        """Read a measure from its name in full, as ``str`` writes it.

        Parameters
        ----------
        text : str
            ``DCG(gains, discounts)``, ``nDCG(...)`` or ``minmaxDCG(...)``, then
            ``@ cutoff`` or nothing. Gains are a list or a dict by grade.

        Returns
        -------
        DCG

        Raises
        ------
        InputError
            If the text has another form.

        Examples
        --------
        >>> DCG.parse("DCG([3, 1, 0], rbp(0.8)) @ 5").discounts
        'rbp(0.8)'
        """
        remedy = "write it like nDCG([3, 1, 0], log2) @ 10"
        try:
            node = ast.parse(text.strip(), mode="eval").body
            cutoff = None
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                cutoff, node = ast.literal_eval(node.right), node.left
            if not (isinstance(node, ast.Call) and not node.keywords and len(node.args) == 2):
                raise ValueError
            head, (gains, discounts) = ast.unparse(node.func), node.args
            if head not in DCG_FORMS:
                raise unknown_name("measure", head, DCG_FORMS)
            if isinstance(gains, ast.Dict) and len(ast.literal_eval(gains)) < len(gains.keys):
                raise InputError(f"a grade stands twice in {text!r}", "name each once")
            rule = isinstance(discounts, ast.Name | ast.Call)
            return cls(
                ast.literal_eval(gains),
                ast.unparse(discounts) if rule else ast.literal_eval(discounts),
                cutoff,
                DCG_FORMS[head],
            )
        except InputError:
            raise
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise InputError(f"cannot read the measure {text!r}", remedy) from error

    def __str__(self) -> str:
        head = next(name for name, normalise in DCG_FORMS.items() if normalise == self.normalise)
        numbers = [format_number(gain) for gain in self.gains]
        if self.grades is None:
            gains = f"[{', '.join(numbers)}]"
        else:
            named = zip(self.grades, numbers, strict=True)
            gains = f"{{{', '.join(f'{grade!r}: {number}' for grade, number in named)}}}"
        rule = self.discounts
        if not isinstance(rule, str):
            rule = f"[{', '.join(map(format_number, rule))}]"
        cut = "" if self.cutoff is None else f" @ {self.cutoff}"
        return f"{head}({gains}, {rule}){cut}"

    __repr__ = __str__


def _finite_numbers(values: Iterable[float], name: str) -> tuple[float, ...]:
    remedy = "give a list of finite numbers, at least one"
    if isinstance(values, str | bytes | Set | Mapping):  # without an order, or not numbers
        raise InputError(f"{name} {values!r:.60} are not a list of numbers", remedy)
    try:
        given = tuple(values)
    except TypeError as error:
        raise InputError(f"{name} {values!r:.60} are not a list of numbers", remedy) from error
    if not given or any(isinstance(value, bool | np.bool_) for value in given):
        raise InputError(f"{name} {list(given)!r:.60}", remedy)
    return tuple(finite_array(given, name, (None,), remedy).tolist())


def _checked_cutoff(cutoff: object, discounts: str | tuple[float, ...]) -> int | None:
    if cutoff is None:
        return None
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
        raise InputError(f"a cutoff of {cutoff!r}", "give a whole number of ranks, 1 or more")
    if not isinstance(discounts, str) and cutoff > len(discounts):
        raise InputError(
            f"a cutoff of {cutoff} with {len(discounts)} discounts",
            f"cut at {len(discounts)} or less, or give more discounts",
        )
    return int(cutoff)
