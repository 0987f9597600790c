"""What a fit says, as values: the parts of the ``about`` of a measure file that a fit wrote.

Pydantic writes them to JSON and checks what is read, so that reading a file needs no solver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import PlainSerializer, PlainValidator, TypeAdapter, ValidationError

from dcglearn.base.numbers import counted, in_ranges
from dcglearn.base.types import Floats
from dcglearn.measures.measure import MeasureFile
from dcglearn.measures.scale import Label

Gauge = Literal["worst", "absolute", "worst order", "absolute order"]
"""What is fixed by convention; see :mod:`dcglearn.learning.factorise`."""

Determined = Literal["data", "ridge", "none"]

TOLERANCE = 1e-6
"""An answer is accepted if its distance to w*, whatever was rounded, is at most TOLERANCE |w|."""

MOST_LISTED = 5
"""The number of ranks whose separate components are listed."""

FEW_QUERIES = 80
"""With fewer queries standard errors are wide, and the C that agreed best is chosen."""


def is_affine(gauge: str) -> bool:
    """Whether a gauge gives discounts only up to an affine map."""
    return gauge.endswith("order")


def _array(value: Any) -> Floats:
    return np.array(value, float)  # None becomes nan


def _finite(numbers: Floats | float) -> Any:
    return np.where(np.isfinite(numbers), numbers, np.array(None)).tolist()


Array = Annotated[Floats, PlainValidator(_array), PlainSerializer(_finite)]
Number = Annotated[float, PlainValidator(lambda one: float(_array(one))), PlainSerializer(_finite)]
"""An array of numbers, and a number; what is not finite is null in JSON, and read as nan."""


def round_up(bound: float) -> float:
    """Round an upper bound so that it is still one when it is printed with two digits."""
    return float(Context(2, ROUND_CEILING).create_decimal_from_float(bound))


@dataclass(frozen=True)
class Certificate:
    """What follows about an answer from the problem and the answer alone.

    Attributes
    ----------
    objective, size : float
        The objective at W, and |W|.
    gap, distance : float
        Upper bounds on objective - optimum and on |W - W*|, whatever was rounded.
    residual : float
        The largest entry of |W - P(q)|, 0 at the optimum.
    residual_sum : float
        C sum_i v_i r_i, which bounds the entries of q.
    active_pairs, tied_grades : int
        Pairs that do not reach their margin, and neighbouring grades with the same weight.
    computed_gap : float
        The duality gap without a bound on its rounding error.
    """

    objective: float
    gap: float
    distance: float
    size: float
    residual: float
    residual_sum: float
    active_pairs: int
    tied_grades: int
    computed_gap: float

    @property
    def confirmed(self) -> bool:
        """Whether the answer is the optimum to within the tolerance, whatever was rounded."""
        return self.distance <= TOLERANCE * self.size

    def __str__(self) -> str:
        return (
            f"objective {self.objective:.10g}, duality gap <= {round_up(self.gap):.2g}, "
            f"|W - W*| <= {round_up(self.distance):.2g} with |W| = {self.size:.4g}, "
            f"fixed-point residual {self.residual:.2g}, "
            f"{counted(self.active_pairs, 'active pair')}, "
            f"{counted(self.tied_grades, 'tied grade')}"
        )


@dataclass(frozen=True)
class SolverRun:
    """Which solver found W, how it ended in its own words, and what it took."""

    solver: str
    status: str
    iterations: int
    passes: int
    polished: bool


@dataclass(frozen=True)
class Factors:
    """Discounts (K,) and gains (L,) of a W in a gauge, of which sign and scale fix some (from 0).

    The singular values are those of W in its gauge, descending.
    """

    gauge: Gauge
    fixed_discounts: tuple[int, ...]
    fixed_gains: tuple[int, ...]
    singular_values: Array
    discounts: Array
    gains: Array

    @property
    def rank_one_share(self) -> float:
        """The share of the rank-1 part in the sum of squares of W in its gauge."""
        # relative, because squares may underflow, such as those of W at a C of 1e-300
        return float(1 / ((self.singular_values / self.singular_values[0]) ** 2).sum())

    @property
    def second_ratio(self) -> float:
        """sigma_2 / sigma_1; 0 where W has rank 1."""
        values = self.singular_values
        return float(values[1] / values[0]) if len(values) > 1 else 0.0


@dataclass(frozen=True)
class NullSpace:
    """What follows from which grades are compared at which rank.

    Attributes
    ----------
    n_pairs, rank, n_directions : int
        Pairs of positive weight, the rank of X, and K L.
    free_ranks : tuple of int
        Those (from 1) with an undetermined offset although all varying grades are compared.
    empty_ranks : tuple of int
        Those at which a grade is compared with an empty rank.
    same_content : bool
        Whether both lists of every pair hold the same grades.
    constant_ranks, constant_grades : tuple of int
        Those in which no pair differs; the other grades vary.
    components : tuple of (int, tuple of tuples of int)
        Ranks with several connected components of varying grades.
    n_unnamed : int
        Further dimensions of the null space.
    """

    n_pairs: int
    rank: int
    n_directions: int
    free_ranks: tuple[int, ...]
    empty_ranks: tuple[int, ...]
    same_content: bool
    constant_ranks: tuple[int, ...]
    constant_grades: tuple[int, ...]
    components: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]
    n_unnamed: int


@dataclass(frozen=True)
class Identifiability(NullSpace):
    """What a set of pairs determines.

    The attributes of its base, and

    Attributes
    ----------
    gauge : {"worst", "absolute", "worst order", "absolute order"}
        In which W is factorised (see :mod:`dcglearn.learning.factorise`).
    determined_offsets : tuple of bool, length K
        Ranks whose offset the data determine, as lists are empty there.
    offset_share : float
        Data share of a constant added to all discounts.
    discount_share : ndarray of float, shape (K,)
    gain_share : ndarray of float, shape (L,)
        Data share of each discount and gain; at most that of the one that it is relative to.
    discount_null : ndarray of float, shape (K,)
    gain_null : ndarray of float, shape (L,)
        The part of each one's direction that lies in the null space of X, from 0 to 1.
    discounts_determined_by, gains_determined_by : tuple of {"data", "ridge", "none"}
        The data, partly the penalty, or nothing.
    change_on_doubling_c : float or None
        The largest change of a discount or gain if C doubles, to first order, with the ties of
        W. None before a fit.
    """

    gauge: Gauge
    determined_offsets: tuple[bool, ...]
    offset_share: float
    discount_share: Array
    gain_share: Array
    discount_null: Array
    gain_null: Array
    discounts_determined_by: tuple[Determined, ...]
    gains_determined_by: tuple[Determined, ...]
    change_on_doubling_c: float | None = None

    def undetermined(self, labels: Sequence[Label] | None = None, noun: str = "grade") -> list[str]:
        """Say what the pairs do not determine, one sentence each.

        Parameters
        ----------
        labels : sequence of labels, optional
            Of the grades, best first; by default they are numbered.
        noun : {"grade", "document"}, default "grade"

        Returns
        -------
        list of str
        """
        names = [str(one) for one in (range(len(self.gain_share)) if labels is None else labels)]
        counts = (
            f"the differences of the pairs ({self.n_pairs:,}) have rank {self.rank} of "
            f"{self.n_directions}"
        )
        if not self.rank:
            return [counts, "no pair differs anywhere: nothing is determined"]
        rare = [k for k in self.empty_ranks if not self.determined_offsets[k - 1]]
        affine = is_affine(self.gauge)
        only = "discounts are determined only up to an affine map"
        never = ", ".join(names[grade] for grade in self.constant_grades)
        value = "gain" if noun == "grade" else "relevance"
        more = len(self.components) - MOST_LISTED
        apart = [
            (rank, " and ".join("{" + ", ".join(names[g] for g in group) + "}" for group in groups))
            for rank, groups in self.components[:MOST_LISTED]
        ]
        facts: list[tuple[Any, str]] = [
            (
                self.free_ranks,
                f"every {noun} at {_ranks(self.free_ranks)} could gain the same constant",
            ),
            (
                rare,
                f"too few pairs have a list that is empty at {_ranks(rare)}: what the worst grade "
                "is worth there, compared with no document, is undetermined",
            ),
            (affine and self.same_content, f"{only}: all pairs reorder one list"),
            (
                affine and not self.same_content,
                f"{only}: too few pairs hold lists of different content (data share of a common "
                f"offset {self.offset_share:.2f})",
            ),
            (
                self.constant_ranks,
                f"no pair differs at {_ranks(self.constant_ranks)}: the discount there is "
                "undetermined",
            ),
            (never, f"no pair differs in {noun} {never}: its {value} is undetermined"),
            *(
                (True, f"at rank {rank} the {noun}s {sets} are never compared with each other")
                for rank, sets in apart
            ),
            (more > 0, f"and the same holds at {counted(more, 'more rank')}"),
            (
                self.n_unnamed,
                f"{self.n_unnamed} more directions of W are undetermined, because there are too "
                "few pairs",
            ),
        ]
        return [counts, *(sentence for holds, sentence in facts if holds)]


@dataclass(frozen=True)
class ParameterIntervals:
    """How far the gains and discounts of a learned DCG move with other queries.

    Attributes
    ----------
    gains : ndarray of float, shape (L, 2)
    discounts : ndarray of float, shape (K, 2)
        What the middle of the resamples lies between; nan where the penalty decides a number.
    level : float
        The share of resamples in the middle.
    resamples, left_out : int
        The number drawn, and of those from which nothing could be learned, or whose optimum was not
        confirmed.
    C : (float, float)
        The smallest and the largest C of a resample.
    by_query : bool
        Whether queries were resampled, or judgments, where no query is known.
    """

    gains: Array
    discounts: Array
    level: float
    resamples: int
    left_out: int
    C: tuple[float, float]
    by_query: bool = True


@dataclass(frozen=True)
class ChosenC:
    """The C that cross-validation chose, and the agreement of every candidate.

    Attributes
    ----------
    C : float
    grid : tuple of float
        The candidates.
    agreement : tuple of float
        Agreement with held-out queries, one per candidate.
    error : tuple of float
        The standard error of the difference from the best agreement; 0 for the best.
    by_query : bool
        Whether some pairs share a query; otherwise each pair was held out on its own.
    queries : int
    """

    C: float
    grid: tuple[float, ...]
    agreement: tuple[float, ...]
    error: tuple[float, ...]
    by_query: bool
    queries: int

    @property
    def remark(self) -> str:
        """What it means that C is at an end of the grid; empty if it is not."""
        ends = {
            min(self.grid): "smallest tried: any weaker penalty agrees clearly worse, and the "
            "penalty decides much of the result",
            max(self.grid): "largest tried: no stronger penalty agrees clearly better, and the "
            "data decide almost alone",
        }
        return f"C = {self.C:g} is the {ends[self.C]}" if self.C in ends and len(ends) > 1 else ""


@dataclass(frozen=True)
class JudgmentsRecord:
    """The file of judgments, and the number of all and of strict judgments in it."""

    file: str
    judgments: int
    strict: int


@dataclass(frozen=True)
class ParametersRecord:
    """The parameters of a fit."""

    encoding: str
    margin: str
    C: float

    @property
    def noun(self) -> str:
        """What the columns of W are: ``grade`` or ``document``."""
        return self.encoding.removesuffix("s")


@dataclass(frozen=True)
class AgreementRecord:
    """Agreement with the judgments that were learned from; `factors` means the DCG of W."""

    utility: float
    rank_one: float
    factors: float
    dcg: float


@dataclass(frozen=True)
class PriorRecord:
    """What the DCG of the file started from (see ``usual.LearnedDCG``); nan: not learned."""

    name: str
    centres: dict[str, float]
    judgments: int
    gains_from_data: Array
    discounts_from_data: Array
    lapses: float
    side: float
    scale: float


@dataclass(frozen=True)
class DrawsRecord:
    """Measures as probable as the judgments make them (see ``posterior.Draws``).

    Gains, (n, L), and discounts, (n, K), have six digits. Judgments counted as `design_effect`
    times fewer, as those of a query are alike.
    """

    design_effect: float
    gains: Array
    discounts: Array


@dataclass(frozen=True)
class Estimated:
    """One number of a model of the judgment, with its interval.

    Attributes
    ----------
    name : str
        Such as ``gain 1`` or ``discount 3``.
    estimate, low, high : float
        Bounds may be infinite.
    df : float
        Degrees of freedom of the variance; inf for a number that is given.
    given : bool
        Whether the family gives the number.
    determined : bool
        Whether the data, and not the prior, decide.
    """

    name: str
    estimate: Number
    low: Number
    high: Number
    df: Number = math.inf
    given: bool = False
    determined: bool = True


@dataclass(frozen=True)
class HypothesisRecord:
    """Whether a family of gains fits (see ``questions.Question``)."""

    hypothesis: str
    verdict: str
    corrected: float
    gains: tuple[float, ...]
    reversed_judged: float


@dataclass(frozen=True)
class CertaintyRecord:
    """What a model of the judgment says beside a fit, or the `reason` why it does not.

    `empty_ranks`: whether the worst grade was taken to be worth as little as an empty rank.
    """

    reason: str = ""
    judgments: int = 0
    level: float = 0.95
    clusters: tuple[str, ...] = ()
    empty_ranks: bool = False
    gains: tuple[Estimated, ...] = ()
    discounts: tuple[Estimated, ...] = ()
    hypotheses: tuple[HypothesisRecord, ...] = ()


@dataclass(frozen=True)
class LearnedRecord:
    """How a measure was learned: what a fit writes in its file besides the measure."""

    learned_from: JudgmentsRecord
    parameters: ParametersRecord
    solution: SolverRun
    certificate: Certificate
    factors: Factors
    identifiability: Identifiability
    undetermined: tuple[str, ...]
    agreement: AgreementRecord
    intervals: ParameterIntervals | None = None
    choice: ChosenC | None = None
    certainty: CertaintyRecord | None = None
    prior: PriorRecord | None = None
    draws: DrawsRecord | None = None

    @classmethod
    def read(cls, content: MeasureFile) -> LearnedRecord | None:
        """Return the record of a file; None if a fit did not write it, or of another DCG."""
        try:
            record = TypeAdapter(cls).validate_python(content.about)
        except (ValidationError, TypeError):
            return None
        learned = record.factors
        dcg = content.dcg
        if dcg is None or isinstance(dcg.discounts, str):
            return None
        shape = len(learned.gains), len(learned.discounts)
        return record if shape == (dcg.n_grades, len(dcg.discounts)) else None


def as_json(value: Any) -> dict[str, Any]:
    """Return one of these dataclasses as a JSON-able dict, without what is None."""
    adapter = TypeAdapter(type(value))
    return dict(adapter.dump_python(value, mode="json", exclude_none=True))


def _ranks(ranks: Sequence[int]) -> str:
    """Write ranks as intervals.

    >>> _ranks([1, 2, 3, 7]), _ranks([4])
    ('ranks 1-3, 7', 'rank 4')
    """
    return f"rank{'s' if len(ranks) > 1 else ''} {in_ranges(ranks).replace(',', ', ')}"
