"""What a measure file says about how its measure was learned: written and read in one place.

:class:`LearnedRecord` is the ``about`` of a file that a fit wrote: parameters, certificate,
factors, what the pairs determine, agreement and intervals. Keys in files keep the names of
the first release (aliases below); fields that files of older releases lack are optional.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dcglearn.base.types import Floats
from dcglearn.learning.gauge import Determined, Gauge
from dcglearn.naming.measure_files import MeasureFile

if TYPE_CHECKING:  # the solver, which these import, is not needed to read a file
    from dcglearn.learning.certificate import Certificate
    from dcglearn.learning.factorise import Factors
    from dcglearn.learning.identify import Identifiability
    from dcglearn.learning.intervals import ParameterIntervals
    from dcglearn.learning.solve import Solution

Components = tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]
Interval = tuple[float, float]


class _Record(BaseModel):
    """A frozen part of a learned file; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """Return what was set, as a JSON-able dict with the keys of files."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class SourceRecord(_Record):
    """The file of judgments, and the number of all and of strict judgments in it."""

    file: str
    judgments: int
    strict: int


class ParametersRecord(_Record):
    """The parameters of the learner."""

    encoding: str
    margin: str
    C: float
    solver: str

    @property
    def noun(self) -> str:
        """What the columns of W are: ``grade`` or ``document``."""
        return self.encoding.removesuffix("s")


class SolutionRecord(_Record):
    """Which solver found W, and how."""

    solver: str
    status: str = ""
    iterations: int | None = None
    passes: int | None = None
    polished: bool

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """Return the record of a solution."""
        return cls(
            solver=solution.solver,
            status=solution.status,
            iterations=solution.iterations,
            passes=solution.passes,
            polished=solution.polished,
        )


class CertificateRecord(_Record):
    """The certificate of W (see :class:`dcglearn.learning.certificate.Certificate`)."""

    objective: float | None = None
    gap: float
    distance: float
    size: float
    residual: float | None = None
    pull: float | None = None
    active_pairs: int
    tied_grades: int
    confirmed: bool = True

    @classmethod
    def of(cls, certificate: Certificate) -> Self:
        """Return the record of a certificate."""
        return cls.model_validate(certificate.to_json())


class FactorsRecord(_Record):
    """The DCG of W, its gauge, and how near to rank 1 W is (see ``factorise.Factors``)."""

    gains: tuple[float, ...]
    discounts: tuple[float, ...]

    gauge: Gauge
    fixed_gains: tuple[int, ...]
    fixed_discounts: tuple[int, ...]
    singular_values: tuple[float, ...] = ()
    second_ratio: float
    rank_one_share: float = Field(alias="first_share")

    @classmethod
    def of(cls, factors: Factors) -> Self:
        """Return the record of factors."""
        return cls.model_validate(
            {
                "gains": factors.gains.tolist(),
                "discounts": factors.discounts.tolist(),
                "gauge": factors.gauge,
                "fixed_gains": factors.fixed_gains,
                "fixed_discounts": factors.fixed_discounts,
                "singular_values": factors.singular_values.tolist(),
                "second_ratio": factors.second_ratio,
                "rank_one_share": factors.rank_one_share,
            }
        )


class IdentifiabilityRecord(_Record):
    """What the pairs determine (see :class:`dcglearn.learning.identify.Identifiability`)."""

    n_pairs: int | None = None
    rank: int | None = None
    n_directions: int | None = None
    free_ranks: tuple[int, ...] = ()
    empty_ranks: tuple[int, ...] = ()
    same_content: bool | None = None
    constant_ranks: tuple[int, ...] = Field(default=(), alias="still_ranks")
    constant_grades: tuple[int, ...] = Field(default=(), alias="still_grades")
    components: Components = Field(default=(), alias="separate")
    n_unnamed: int | None = Field(default=None, alias="unnamed")
    gauge: Gauge
    determined_offsets: tuple[bool, ...] = Field(default=(), alias="seen_offsets")
    offset_share: float | None = None
    discount_share: tuple[float, ...]
    gain_share: tuple[float, ...]
    discount_null: tuple[float, ...] = Field(default=(), alias="discount_unseen")
    gain_null: tuple[float, ...] = Field(default=(), alias="gain_unseen")
    change_on_doubling_c: float | None = Field(alias="move")
    gains_determined_by: tuple[Determined, ...]
    discounts_determined_by: tuple[Determined, ...]
    statements: tuple[str, ...]

    @classmethod
    def of(cls, known: Identifiability, statements: Sequence[str]) -> Self:
        """Return the record of what pairs determine.

        Parameters
        ----------
        known : Identifiability
        statements : sequence of str
            What the pairs do not determine, in sentences for people.
        """
        plain = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in vars(known).items()}
        return cls.model_validate(
            plain
            | {
                "gains_determined_by": known.gains_determined_by,
                "discounts_determined_by": known.discounts_determined_by,
                "statements": statements,
            }
        )


class AgreementRecord(_Record):
    """Agreement of measures with the judgments that were learned from.

    `factors` is that of the DCG of W, `dcg` that of the DCG of the file.
    """

    utility: float
    rank_one: float
    factors: float
    dcg: float


class PriorRecord(_Record):
    """What the DCG of the file started from (see ``usual.LearnedDCG``); None: not learned."""

    name: str
    centres: dict[str, float]
    judgments: int
    gains_from_data: tuple[float | None, ...]
    discounts_from_data: tuple[float | None, ...]
    lapses: float
    side: float
    scale: float


class IntervalsRecord(_Record):
    """How gains and discounts move with other queries (see ``intervals.ParameterIntervals``).

    None where the penalty decides a number; `C` is that of resamples, from and to, if it was
    chosen in each. `by_query` unless no query is known; `unsolved` of those left out were not
    solved.
    """

    gains: tuple[Interval | None, ...]
    discounts: tuple[Interval | None, ...]
    level: float
    resamples: int
    left_out: int
    C: Interval | None = None
    by_query: bool = True
    unsolved: int = 0

    @classmethod
    def of(cls, intervals: ParameterIntervals) -> Self:
        """Return the record of intervals."""
        return cls.model_validate(
            {
                "gains": _or_none(intervals.gains),
                "discounts": _or_none(intervals.discounts),
                "level": intervals.level,
                "resamples": intervals.resamples,
                "left_out": intervals.left_out,
            }
            | ({"C": intervals.C} if intervals.C[0] < intervals.C[1] else {})
            | ({} if intervals.by_query else {"by_query": False})
            | ({"unsolved": intervals.unsolved} if intervals.unsolved else {})
        )


def _or_none(bounds: Floats) -> list[list[float] | None]:
    return [None if np.isnan(pair).any() else pair.tolist() for pair in bounds]


class NumberRecord(_Record):
    """A gain or discount by a model of the judgment (see ``ratios.Estimated``)."""

    estimate: float | None
    low: float | None
    high: float | None
    determined: bool
    given: bool


class HypothesisRecord(_Record):
    """Whether a family of gains fits (see ``questions.Question``)."""

    hypothesis: str
    verdict: str
    p: float
    gains: tuple[float, ...]
    reversed_judged: float
    reversed_all: float


class CertaintyRecord(_Record):
    """What a model of the judgment says beside a fit (see ``certainty.Certainty``).

    `reason` says why it says nothing, `untested` why there are no hypotheses; `clusters`, which
    judgments are not taken as independent; `empty_ranks`, whether the worst grade was taken to be
    worth as little as an empty rank.
    """

    reason: str = ""
    untested: str = ""
    judgments: int = 0
    level: float = 0.95
    clusters: tuple[str, ...] = ()
    empty_ranks: bool = False
    gains: tuple[NumberRecord, ...] = ()
    discounts: tuple[NumberRecord, ...] = ()
    hypotheses: tuple[HypothesisRecord, ...] = ()


class ChoiceRecord(_Record):
    """How C was chosen (see ``choose_c.ChosenC``)."""

    C: float
    grid: tuple[float, ...]
    agreement: tuple[float, ...]
    error: tuple[float, ...]
    remark: str
    by_query: bool = True


class LearnedRecord(_Record):
    """How a measure was learned: what a fit writes in its file besides the measure."""

    learned_from: SourceRecord
    parameters: ParametersRecord
    solution: SolutionRecord
    certificate: CertificateRecord
    factors: FactorsRecord
    identifiability: IdentifiabilityRecord
    agreement: AgreementRecord
    intervals: IntervalsRecord | None = None
    choice: ChoiceRecord | None = Field(default=None, alias="choice_of_C")
    certainty: CertaintyRecord | None = None
    prior: PriorRecord | None = None

    @classmethod
    def read(cls, content: MeasureFile) -> Self | None:
        """Return the record of a measure file, or None if a fit did not write it.

        Parameters
        ----------
        content : MeasureFile

        Returns
        -------
        LearnedRecord or None
            None also if the record does not fit the DCG of the file.

        Examples
        --------
        >>> from dcglearn.measures.dcg import DCG
        >>> LearnedRecord.read(MeasureFile(DCG([1, 0]))) is None
        True
        """
        try:
            record = cls.model_validate(content.about)
        except ValidationError:
            return None
        dcg = content.dcg
        if dcg is None or isinstance(dcg.discounts, str):
            return None
        sizes = {(dcg.n_grades, len(dcg.discounts))}
        return record if record._sizes() == sizes else None

    def _sizes(self) -> set[tuple[int, int]]:
        """Return the numbers of gains and of discounts that the record describes."""
        known, bounds = self.identifiability, self.intervals
        sizes = {
            (len(known.gain_share), len(known.discount_share)),
            (len(known.gains_determined_by), len(known.discounts_determined_by)),
        }
        sizes.add((len(self.factors.gains), len(self.factors.discounts)))
        if self.prior is not None:
            sizes.add((len(self.prior.gains_from_data), len(self.prior.discounts_from_data)))
        if bounds is not None:
            sizes.add((len(bounds.gains), len(bounds.discounts)))
        if self.certainty is not None and not self.certainty.reason:
            sizes.add((len(self.certainty.gains), len(self.certainty.discounts)))
            sizes |= {
                (len(one.gains), len(known.discount_share)) for one in self.certainty.hypotheses
            }
        return sizes
