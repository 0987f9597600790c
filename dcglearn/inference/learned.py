"""A fit as a measure file: the measures, and the record of how they were learned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dcglearn.judgments.packed import PackedPairs
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
from dcglearn.learning.undetermined import undetermined_statements
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure_files import MeasureFile, MeasurePart
from dcglearn.measures.utility import LinearUtility

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.inference.certainty import Certainty
    from dcglearn.inference.questions import Question
    from dcglearn.inference.ratios import Estimated
    from dcglearn.inference.usual import LearnedDCG
    from dcglearn.learning.learner import DCGLearner


def learned_measure(
    learned: Fit | DCGLearner,
    preferences: Preferences | PackedPairs,
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
    preferences : Preferences or PackedPairs
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
    fit = fit_of(learned)
    problem, factors, labels = fit.problem, fit.factors, preferences.scale.labels
    of_W = DCG(factors.gains, factors.discounts, grades=labels)
    dcg = of_W if usual is None else usual.dcg
    utility = LinearUtility(fit.weights, labels)
    nearest = LinearUtility(rank_one(fit.weights), labels)
    n = preferences.n_pairs if isinstance(preferences, PackedPairs) else len(preferences)
    encoding = "grades" if problem.monotone else "documents"
    parameters = ParametersRecord(encoding, problem.margin, float(problem.C))
    known = fit.identifiability
    record = LearnedRecord(
        learned_from=JudgmentsRecord(source, n, problem.n_pairs),
        parameters=parameters,
        solution=fit.solution,
        certificate=fit.certificate,
        factors=factors,
        identifiability=known,
        undetermined=tuple(undetermined_statements(known, labels, parameters.noun)),
        agreement=AgreementRecord(*problem.source.agreements([utility, nearest, of_W, dcg])),
        intervals=intervals,
        choice=fit.choice,
        certainty=None if certainty is None else certainty_record(certainty),
        prior=None if usual is None else _prior(usual),
    )
    return MeasureFile(dcg=dcg, utility=utility, use=use, about=as_json(record))


def _prior(usual: LearnedDCG) -> PriorRecord:
    return PriorRecord(
        usual.prior,
        usual.centres,
        usual.n_judgments,
        usual.gains_from_data,
        usual.discounts_from_data,
        usual.lapses,
        usual.side,
        usual.scale,
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
    evidence = fit.evidence
    return CertaintyRecord(
        untested=certainty.untested,
        judgments=len(evidence),
        clusters=fit.clusters,
        empty_ranks=evidence.layout.empty,
        gains=tuple(map(_number, fit.gains(CertaintyRecord.level))),
        discounts=tuple(map(_number, fit.discounts(CertaintyRecord.level))),
        hypotheses=tuple(map(hypothesis_record, certainty.questions)),
    )


def hypothesis_record(one: Question) -> HypothesisRecord:
    """Return what the judgments say of a family of gains or discounts, which names no gains."""
    gains = one.restricted.gains() if one.about == "gains" else ()
    return HypothesisRecord(
        hypothesis=one.hypothesis,
        verdict=one.verdict,
        p=one.corrected,
        gains=tuple(gain.estimate for gain in gains),
        reversed_judged=one.reversed_judged,
        reversed_all=one.reversed_all,
    )


def _number(one: Estimated) -> NumberRecord:
    numbers = (x if math.isfinite(x) else None for x in (one.estimate, one.low, one.high))
    return NumberRecord(one.determined, one.given, *numbers)
