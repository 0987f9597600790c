"""A fit as a measure file: the measures, and how they were learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.factorise import rank_one
from dcglearn.learning.fit import Fit
from dcglearn.learning.record import (
    AgreementRecord,
    CertaintyRecord,
    DrawsRecord,
    HypothesisRecord,
    JudgmentsRecord,
    LearnedRecord,
    NumberRecord,
    ParameterIntervals,
    ParametersRecord,
    PriorRecord,
    as_json,
)
from dcglearn.learning.resample import fit_of
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Label
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.measure_files import MeasureFile, MeasurePart
from dcglearn.report.undetermined import undetermined_statements

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.inference.certainty import Certainty
    from dcglearn.inference.ratios import Estimated
    from dcglearn.inference.usual import LearnedDCG
    from dcglearn.learning.learner import DCGLearner


def learned_measure(
    learned: Fit | DCGLearner,
    preferences: Preferences,
    source: str,
    use: MeasurePart = "dcg",
    intervals: ParameterIntervals | None = None,
    certainty: Certainty | None = None,
    usual: LearnedDCG | None = None,
) -> MeasureFile:
    """Return a fit as a measure file.

    Parameters
    ----------
    learned : Fit or DCGLearner
        Of the strict judgments of `preferences`.
    preferences : Preferences
    source : str
        The name of the file that they came from.
    use : {"dcg", "utility"}, default "dcg"
        Which of the two measures commands use when given the file.
    intervals : ParameterIntervals, optional
        Of the gains and discounts.
    certainty : Certainty, optional
        What a model of the judgment says.
    usual : LearnedDCG, optional
        The DCG of the file, learned from the usual measures; by default it is that of W.

    Returns
    -------
    MeasureFile
        Its ``about`` is a :class:`dcglearn.learning.record.LearnedRecord`.
    """
    found, labels = fit_of(learned), preferences.scale.labels
    file = JudgmentsRecord(source, len(preferences), len(preferences.pairs))
    return learned_measure_of(found, labels, file, use, intervals, certainty, usual)


def learned_measure_of(
    learned: Fit,
    labels: Sequence[Label],
    source: JudgmentsRecord,
    use: MeasurePart = "dcg",
    intervals: ParameterIntervals | None = None,
    certainty: Certainty | None = None,
    usual: LearnedDCG | None = None,
    draws: DrawsRecord | None = None,
) -> MeasureFile:
    """Return what :func:`learned_measure` does, of pairs in memory or in files."""
    problem, factors = learned.problem, learned.factors
    of_W = DCG(factors.gains, factors.discounts, grades=labels)
    dcg = of_W if usual is None else usual.dcg
    utility = LinearUtility(learned.weights, labels)
    nearest = LinearUtility(rank_one(learned.weights), labels)
    encoding = "grades" if problem.monotone else "documents"
    parameters = ParametersRecord(encoding, problem.margin, float(problem.C))
    known = learned.identifiability
    record = LearnedRecord(
        learned_from=source,
        parameters=parameters,
        solution=learned.solution,
        certificate=learned.certificate,
        factors=factors,
        identifiability=known,
        undetermined=tuple(undetermined_statements(known, labels, parameters.noun)),
        agreement=AgreementRecord(*problem.source.agreements([utility, nearest, of_W, dcg])),
        intervals=intervals,
        choice=learned.choice,
        certainty=None if certainty is None else certainty_record(certainty),
        prior=None if usual is None else _prior(usual),
        draws=draws,
    )
    return MeasureFile(dcg=dcg, utility=utility, use=use, about=as_json(record))


def _prior(usual: LearnedDCG) -> PriorRecord:
    return PriorRecord(
        name=usual.prior,
        centres=usual.centres,
        judgments=usual.n_judgments,
        gains_from_data=usual.gains_from_data,
        discounts_from_data=usual.discounts_from_data,
        lapses=usual.lapses,
        side=usual.side,
        scale=usual.scale,
    )


def draws_record(
    learned: LearnedDCG, design_effect: float, n: int, rng: np.random.Generator
) -> DrawsRecord:
    """Return measures drawn around a learned one, with six digits."""
    drawn = learned.posterior.draw(n, rng)
    gains, discounts = (np.round(one, 6) for one in (drawn.gains, drawn.discounts))
    return DrawsRecord(design_effect, gains, discounts)


def certainty_record(certainty: Certainty) -> CertaintyRecord:
    """Return the record of what a model of the judgment says beside a fit."""
    fit = certainty.fit
    if fit is None:
        return CertaintyRecord(reason=certainty.reason)
    evidence = fit.likelihood.evidence
    judges = any(one.name == "judge" for one in fit.covariance.clusterings)
    clusters = ("query",) * (evidence.n_queries > 0) + ("judge",) * judges
    said: dict[str, Any] = {"untested": certainty.untested} if certainty.untested else {}
    if evidence.layout.empty:
        said["empty_ranks"] = True
    return CertaintyRecord(
        **said,
        judgments=len(evidence),
        level=_LEVEL,
        clusters=clusters,
        gains=tuple(_number(one) for one in fit.gains(_LEVEL)),
        discounts=tuple(_number(one) for one in fit.discounts(_LEVEL)),
        hypotheses=tuple(
            HypothesisRecord(
                hypothesis=one.hypothesis,
                verdict=one.verdict,
                p=one.corrected,
                gains=tuple(gain.estimate for gain in one.restricted.gains()),
                reversed_judged=one.reversed_judged,
                reversed_all=one.reversed_all,
            )
            for one in certainty.questions
        ),
    )


_LEVEL = 0.95


def _number(one: Estimated) -> NumberRecord:
    estimate, low, high = (
        number if math.isfinite(number) else None for number in (one.estimate, one.low, one.high)
    )
    return NumberRecord(
        estimate=estimate, low=low, high=high, determined=one.determined, given=one.given
    )
