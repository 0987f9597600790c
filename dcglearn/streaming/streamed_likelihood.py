"""The likelihood of judgments in packed files: its sums go over row groups.

Row groups are read by several threads, and their sums taken in order, so that estimates are the
same to the last bit on any number of threads; they are those of the same judgments in memory, to
rounding. If many judgments are equal, the distinct ones are counted once and kept in memory
(:mod:`dcglearn.inference.equal_judgments`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.threads import map_in_order
from dcglearn.base.types import Floats
from dcglearn.families.charts import anchor_of
from dcglearn.families.vectors import FREE_FAMILY, Anchor
from dcglearn.inference.covariance import Covariance
from dcglearn.inference.equal_judgments import distinct_judgments
from dcglearn.inference.estimate import ORDERED, JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.highest import highest_posterior
from dcglearn.inference.likelihood import Likelihood
from dcglearn.inference.maximise import Maximum
from dcglearn.inference.ratios import Estimated
from dcglearn.inference.reach import on_scale, reach_maximum
from dcglearn.streaming.packed_evidence import PackedEvidence
from dcglearn.streaming.streamed_covariance import StreamedClustering, streamed_covariance
from dcglearn.streaming.strict_likelihood import StrictLikelihood

_Sum = TypeVar("_Sum")


@dataclass(frozen=True, eq=False)
class StreamedLikelihood(Likelihood):
    """The log likelihood of judgments in packed files.

    Parameters
    ----------
    evidence : Evidence
        Some of the judgments, in memory.
    packed : PackedEvidence
        All of them.
    """

    packed: PackedEvidence = field(kw_only=True)

    def expansions(
        self, parameters: Floats, W: Floats, J: Floats
    ) -> list[tuple[float, Floats, Floats, Floats]]:
        """Return the sums of all chunks, as :meth:`Likelihood.expansions`."""
        return self._of_parts(lambda part: part.expansions(parameters, W, J))

    def log_likelihoods(self, parameters: Floats) -> list[float]:
        """Return the log likelihood of each chunk, as :meth:`Likelihood.log_likelihoods`."""
        return self._of_parts(lambda part: part.log_likelihoods(parameters))

    def part(self, group: int, with_ids: bool = False) -> Likelihood:
        """Return the likelihood of the judgments of a row group.

        Parameters
        ----------
        group : int
        with_ids : bool, default False
            As those of :meth:`PackedEvidence.read`.
        """
        return self.of_evidence(self.packed.read(group, with_ids))

    def of_evidence(self, evidence: Evidence) -> Likelihood:
        """Return the likelihood of some judgments in memory."""
        return StrictLikelihood(evidence, self.family, self.ties, self.side, self.lapses)

    @cached_property
    def distinct(self) -> Likelihood | None:
        """The same likelihood as a sum over distinct judgments in memory, if many are equal."""
        groups = range(len(self.packed.pairs.row_groups))
        found = distinct_judgments(map_in_order(self.packed.read, groups))
        return None if found is None else self.of_evidence(found)

    def _of_parts(self, sums: Callable[[Likelihood], list[_Sum]]) -> list[_Sum]:
        if self.distinct is not None:
            return sums(self.distinct)
        groups = range(len(self.packed.pairs.row_groups))
        return list(chain(*map_in_order(lambda group: sums(self.part(group)), groups)))


@dataclass(frozen=True, eq=False, repr=False)
class StreamedFit(JudgmentFit):
    """The estimate of a model from judgments in packed files."""

    likelihood: StreamedLikelihood

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the model does not make anew: families hold functions."""
        packed = self.likelihood.packed
        return _restored, (self.model, packed, self.anchor, self.maximum, self.free)

    @cached_property
    def covariance(self) -> Covariance:
        """The covariance of the parameters."""
        likelihood = self.likelihood
        return streamed_covariance(
            likelihood.packed, lambda group: likelihood.part(group, True), self.maximum
        )

    def gains(self, level: float = 0.95) -> tuple[Estimated, ...]:
        """Return the gain of each grade, as :meth:`JudgmentFit.gains`."""
        self._prepare()
        return super().gains(level)

    def discounts(self, level: float = 0.95) -> tuple[Estimated, ...]:
        """Return the discount of each rank, as :meth:`JudgmentFit.discounts`."""
        self._prepare()
        return super().discounts(level)

    def _prepare(self) -> None:
        """Find the degrees of freedom of all intervals in one pass."""
        own = np.eye(len(self.parameters))[self.likelihood.n_weights :]
        contrasts = np.concatenate([self.gain_slopes, self.discount_slopes, own])
        directions = [(self.covariance.root.T @ one)[:, None] for one in contrasts]
        for one in self.covariance.clusterings:
            if isinstance(one, StreamedClustering):
                one.prepare(directions)


def fit_packed_evidence(model: JudgmentModel, evidence: PackedEvidence) -> StreamedFit:
    """Estimate the parameters of a model from judgments in packed files.

    Parameters
    ----------
    model : JudgmentModel
        Judges lapse alike.
    evidence : PackedEvidence
        With the ties of the model.

    Returns
    -------
    StreamedFit

    Raises
    ------
    InputError
        If the model has lapses by judge, or a family is unknown.
    SolverError
        If the maximum is not reached.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dcglearn.judgments.packed import PackedPairs, packed_writer
    >>> from dcglearn.judgments.preferences import Preferences
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]] * 20
    >>> data = Preferences.of(lists, ["a", "a", "a", "b"] * 20, Scale((1, 0)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "p.parquet")
    ...     with packed_writer(path, data.scale) as write:
    ...         write(data)
    ...     evidence = PackedEvidence.of(PackedPairs.of(path))
    ...     fit_packed_evidence(JudgmentModel(discounts="log2"), evidence).gains()[0].estimate
    1.0
    """
    if model.judges:
        raise InputError(
            "lapses by judge need the judgments in memory", "leave `judges` out, or give fewer"
        )
    likelihood = _streamed_likelihood(model, evidence)
    sample, of_sample = highest_posterior(likelihood.of_evidence(evidence.sample))
    likelihood = on_scale(likelihood, anchor_of(sample.family))
    free = None
    if not model.has_own_family and model.discounts in ORDERED:
        free = fit_packed_evidence(replace(model, discounts=FREE_FAMILY), evidence)
    found = reach_maximum(likelihood, of_sample.parameters)
    return StreamedFit(model, evidence.scale, *found, free)


def _streamed_likelihood(model: JudgmentModel, evidence: PackedEvidence) -> StreamedLikelihood:
    family = model.family(evidence.scale, evidence.n_ranks)
    parts = (evidence.sample, family, model.ties, model.side, model.lapses)
    return StreamedLikelihood(*parts, packed=evidence)


def _restored(
    model: JudgmentModel,
    evidence: PackedEvidence,
    anchor: Anchor,
    maximum: Maximum,
    free: JudgmentFit | None,
) -> StreamedFit:
    likelihood = on_scale(_streamed_likelihood(model, evidence), anchor)
    return StreamedFit(model, evidence.scale, likelihood, maximum, free)
