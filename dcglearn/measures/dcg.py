"""Discounted cumulated gain (DCG) as a frozen value.

    DCG(pi) = sum_{k <= cutoff} c_k g[pi_k]
    nDCG = DCG / ideal

c are the discounts by rank and g the gains by grade: Case 1, W = c g', of Zhou, Zha, Xue & Yu
(arXiv 1212.5650, eq. 2). Gains may be fractional, negative and in any order. The ideal depends on
the gains and not on the labels; that of nDCG leaves out documents that gain less than 0. It is that
of a pool, which holds the grades of all documents of a query, -1 for no document. By the
rearrangement inequality the best ranking gives the largest gain to the largest discount.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count, finite_tuple, refuse_large
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Floats, Grades, Integers
from dcglearn.measures.discounts import canonical_rule, format_number, rule_discounts
from dcglearn.measures.grammar import parse_full_name
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale, checked_grades, picked
from dcglearn.measures.utility import LinearUtility, checked_labels, sum_over_ranks

Normalisation = Literal["ideal"]

Numbers = Sequence[float] | NDArray[np.floating[Any]] | NDArray[np.integer[Any]]
"""A vector of discounts, or of gains, best grade first."""

Gains = Numbers | Mapping[Any, float]
"""One gain per grade, best grade first; a mapping has the labels of the grades as keys."""

NO_IDEAL = ("no gain above 0: the ideal is 0", "correct the grades or the gains")

DCG_FORMS: dict[str, Normalisation | None] = {"DCG": None, "nDCG": "ideal"}


class Cut:
    """A measure in which ranks below a cutoff do not count."""

    cutoff: int | float | None

    @property
    def n_ranks(self) -> int | None:
        """The number of ranks that count; None for all."""
        return self.cutoff if isinstance(self.cutoff, int) else None

    def __matmul__(self, cutoff: int) -> Self:
        """Return the same measure with another cutoff: ``DCG([1, 0]) @ 10``."""
        return replace(self, cutoff=cutoff)  # type: ignore[type-var]  # all are dataclasses


@dataclass(frozen=True)
class DCG(Cut):
    """DCG with any gains, any discounts, a cutoff and a normalisation.

    Parameters
    ----------
    gains : sequence of float, or mapping from grade to float
        One gain per grade, best grade first. The keys of a mapping are the labels.
    discounts : str or sequence of float, default "log2"
        A rule (see :mod:`dcglearn.measures.discounts`), or the vector c_1, c_2, ...
    cutoff : int, optional
        Lower ranks do not count. At most the length of a vector of discounts.
    normalise : {None, "ideal"}, default None
        Plain DCG, or DCG / ideal.
    grades : sequence of labels, optional
        The label of each grade, best first.

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
        gains: Gains,
        discounts: str | Numbers = "log2",
        cutoff: int | None = None,
        normalise: Normalisation | None = None,
        grades: Sequence[Label] | None = None,
    ) -> None:
        numbers, labels = gains_by_grade(gains, "gains", grades)
        if isinstance(discounts, str):
            discounts = canonical_rule(discounts)
        else:
            discounts = finite_tuple(discounts, "discounts")
            refuse_large(discounts, "discounts")
        check_name(normalise, "normalisation", DCG_FORMS.values())
        if cutoff is not None:
            cutoff = checked_count(cutoff, "`cutoff`")
            if not isinstance(discounts, str) and cutoff > len(discounts):
                problem = f"a cutoff of {cutoff} with {len(discounts)} discounts"
                remedy = f"cut at {len(discounts)} or less, or give more discounts"
                raise InputError(problem, remedy)
        vars(self).update(
            gains=numbers,
            discounts=discounts,
            cutoff=cutoff,
            normalise=normalise,
            grades=labels,
        )

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return len(self.gains)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of the grades, best first; by default L - 1, ..., 0."""
        return self.grades or tuple(range(self.n_grades))[::-1]

    @property
    def n_ranks(self) -> int | None:
        """K, the number of ranks that count, or None for a rule without a cutoff."""
        if self.cutoff is not None:
            return self.cutoff
        return None if isinstance(self.discounts, str) else len(self.discounts)

    @property
    def form(self) -> str:
        """DCG or nDCG."""
        return "DCG" if self.normalise is None else "nDCG"

    def normalised(self) -> DCG:
        """Return the measure divided by its ideal.

        >>> DCG([1, 0]).normalised() @ 10
        nDCG([1, 0], log2) @ 10
        """
        return replace(self, normalise="ideal")

    def plain(self) -> DCG:
        """Return the measure without its normalisation."""
        return replace(self, normalise=None)

    def on_scale(self, scale: Scale) -> DCG:
        """Return the measure with one gain for each grade of a scale."""
        return replace(self, gains=picked(self.gains, self.grades, scale), grades=scale.labels)

    def discounts_for(self, n_ranks: int) -> Floats:
        """Return the discounts (n_ranks,), 0 below the cutoff."""
        counted = min(n_ranks, self.cutoff or n_ranks)
        if isinstance(self.discounts, str):
            found = rule_discounts(self.discounts, counted)
        else:
            found = np.array(self.discounts[:counted])
        if len(found) < counted:
            raise InputError(
                f"rankings of {n_ranks} ranks, discounts for {len(found)}",
                f"cut the measure: @ {len(found)}",
            )
        return np.append(found, np.zeros(n_ranks - counted))

    def matrix_for(self, n_ranks: int) -> Floats:
        """Return W = c g', shape (n_ranks, L)."""
        return np.outer(self.discounts_for(n_ranks), self.gains)

    def utility(self, n_ranks: int) -> LinearUtility:
        """Return the plain DCG of `n_ranks` ranks as a :class:`LinearUtility`.

        >>> DCG([2, 0], [1, 0.5]).utility(2)
        LinearUtility([[2, 0], [1, 0]])
        """
        return LinearUtility(self.matrix_for(n_ranks), self.grades)

    def score(self, rankings: ArrayLike, pools: ArrayLike | None = None) -> Floats:
        """Return the value of each ranking, shape (n,) or ().

        Parameters
        ----------
        rankings : array-like of int, shape (n, K) or (K,)
            Grade indices, -1 for no document (which adds nothing).
        pools : array-like of int, shape (n, N) or (N,), optional
            For nDCG: the grades of all documents of each query, by default those of the ranking.

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
                raise InputError("pools given to a plain DCG", "use nDCG")
            return value
        pool = rows if pools is None else checked_grades(pools, self.n_grades, "pools")
        check_pools(rows, pool, self.n_grades)
        return self.normalise_values(value, pool)

    def normalise_values(self, values: Floats, pools: Grades) -> Floats:
        """Return plain values of rankings from pools, by grade indices, in the normalised form."""
        best = self.best(pools)
        reverses = (best <= 0) & (values < 0)
        if reverses.any():
            problem = "the ideal is 0: dividing by it reverses the order"
            raise InputError(problem, "use gains of 0 or more", f"row {int(np.argmax(reverses))}")
        return ratio(values, best)

    def best(self, pools: Grades) -> Floats:
        """Return the largest plain value of runs, which may leave out documents of a pool."""
        discounts = self.discounts_for(self.n_ranks or pools.shape[-1])
        return best_run(discounts, np.array(self.gains), counts_by_grade(pools, self.n_grades))

    def ideal(self, pools: ArrayLike) -> Floats:
        """Return the largest plain DCG of any ranking of each pool, (n, N) or (N,), -1 for none.

        A ranking fills the first min(K, N) ranks, even with documents of negative gain.

        >>> float(DCG([2, 0], [1, 0.5]).ideal([1, 0, 0]))
        3.0
        """
        rows = checked_grades(pools, self.n_grades, "pools")
        N = rows.shape[-1]
        discounts = self.discounts_for(min(N, self.n_ranks or N))

        def best(pool: Grades) -> float:
            ranked = np.sort(np.take(self.gains, pool[pool != NO_DOCUMENT]))
            slots = np.zeros(len(ranked))  # of more documents than ranks, some are left out
            slots[: len(discounts)] = discounts[: len(ranked)]
            return float(np.sort(slots) @ ranked)

        return np.apply_along_axis(best, -1, rows)

    @classmethod
    def parse(cls, text: str) -> DCG:
        """Parse a measure from its full name, as ``str`` writes it.

        >>> DCG.parse("DCG([3, 1, 0], rbp(0.8)) @ 5").discounts
        'rbp(0.8)'
        """
        example = "nDCG([3, 1, 0], log2) @ 10"
        head, (gains, discounts), options, cutoff = parse_full_name(text, 2, example)
        check_name(head, "measure", DCG_FORMS)
        if options:
            raise InputError(f"{text!r:.60} has keyword arguments", "write gains and discounts")
        return cls(gains, discounts, cutoff, DCG_FORMS[head])

    def __str__(self) -> str:
        rule = self.discounts
        if not isinstance(rule, str):
            rule = f"[{', '.join(map(format_number, rule))}]"
        return f"{self.form}({gains_text(self.gains, self.grades)}, {rule}){cut_text(self.cutoff)}"

    __repr__ = __str__


def gains_by_grade(
    gains: Gains, name: str, grades: Sequence[Label] | None
) -> tuple[tuple[float, ...], tuple[Label, ...] | None]:
    """Return numbers per grade, best grade first, and the labels of the grades, if any."""
    if isinstance(gains, Mapping):
        grades = tuple(gains) if grades is None else grades
        gains = tuple(gains.values())
    numbers = finite_tuple(gains, name)
    refuse_large(numbers, name)
    return numbers, checked_labels(grades, len(numbers))


def gains_text(gains: Sequence[float], grades: Sequence[Label] | None) -> str:
    """Return numbers per grade as text that parses back."""
    numbers = list(map(format_number, gains))
    if grades is None:
        return f"[{', '.join(numbers)}]"
    named = zip(grades, numbers, strict=True)
    return f"{{{', '.join(f'{grade!r}: {number}' for grade, number in named)}}}"


def cut_text(cutoff: float | None, mark: str = " @ ") -> str:
    """Return a cutoff as the end of a name, nothing if there is none."""
    return "" if cutoff is None else f"{mark}{cutoff}"


def best_run(discounts: Floats, gains: Floats, counts: Integers) -> Floats:
    """Return the largest DCG of runs, which may leave out documents; counts (..., L) by gain."""
    size = counts.sum(axis=-1, keepdims=True)
    most = int(size.max(initial=0))
    # A rank that is left empty holds a document without a gain.
    filled = np.concatenate([counts, most - size + len(discounts)], axis=-1)
    order = np.argsort(-np.append(gains, 0.0), kind="stable")
    slots = np.sort(np.append(discounts, np.zeros(most)))[::-1]
    total = np.append(0.0, np.cumsum(slots))[np.cumsum(filled[..., order], axis=-1)]
    value: Floats = np.diff(total, prepend=0.0) @ np.append(gains, 0.0)[order]
    return value


def counts_by_grade(pools: Grades, n_grades: int) -> Integers:
    """Count the documents of each grade of pools (..., N): shape (..., L)."""
    return np.stack([(pools == grade).sum(axis=-1) for grade in range(n_grades)], axis=-1)


def check_pools(rankings: Grades, pools: Grades, n_grades: int) -> None:
    """Refuse other than one pool (..., N) per ranking (..., K), or a ranking of other documents."""
    if pools.shape[:-1] != rankings.shape[:-1]:
        problem = f"{pools.shape[:-1]} pools for {rankings.shape[:-1]} rankings"
        raise InputError(problem, "give one pool per ranking")
    found = counts_by_grade(rankings, n_grades) > counts_by_grade(pools, n_grades)
    more = found.any(axis=-1)
    if more.any():
        raise InputError(
            "a ranking holds documents that its pool does not hold",
            "give the grades of all documents of the query",
            f"row {int(np.argmax(more))}",
        )


def ratio(numerator: Floats, denominator: Floats, otherwise: float = 0.0) -> Floats:
    """Divide where the denominator is above 0; elsewhere the ratio is `otherwise`."""
    quotient = np.full(np.shape(numerator), otherwise)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient
