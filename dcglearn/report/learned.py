"""A fit as a measure file: the measures, and how they were learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dcglearn.base.types import Floats, Grades
from dcglearn.correlation.agreement import agreement
from dcglearn.families.learned import LearnedFamilies
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.factorise import Factors, rank_one
from dcglearn.learning.fit import Fit
from dcglearn.learning.identify import Identifiability
from dcglearn.learning.record import (
    AgreementRecord,
    CertaintyRecord,
    CertificateRecord,
    ChoiceRecord,
    FactorsRecord,
    FamiliesRecord,
    HypothesisRecord,
    IdentifiabilityRecord,
    IntervalsRecord,
    LearnedRecord,
    NumberRecord,
    ParametersRecord,
    SolutionRecord,
    SourceRecord,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Label
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.measure_files import MeasureFile, MeasurePart
from dcglearn.report.undetermined import undetermined_statements
from dcglearn.solver.solve import Solution, SolverName
from dcglearn.solver.streamed import Streamed

if TYPE_CHECKING:  # scikit-learn, which these import, takes seconds to load
    from dcglearn.inference.certainty import Certainty
    from dcglearn.inference.ratios import Estimated
    from dcglearn.learning.choose_c import ChosenC
    from dcglearn.learning.core_learner import CoreLearner
    from dcglearn.learning.intervals import ParameterIntervals


def learned_measure(
    learner: CoreLearner,
    preferences: Preferences,
    source: str,
    use: MeasurePart = "dcg",
    intervals: ParameterIntervals | None = None,
    choice: ChosenC | None = None,
    certainty: Certainty | None = None,
) -> MeasureFile:
    """Return a fitted learner as a measure file.

    Parameters
    ----------
    learner : DCGLearner or CoreLearner
        Fitted to the strict judgments of `preferences`.
    preferences : Preferences
    source : str
        The name of the file that they came from.
    use : {"dcg", "utility"}, default "dcg"
        Which of the two measures commands use when given the file.
    intervals : ParameterIntervals, optional
        Of the gains and discounts.
    choice : ChosenC, optional
        How C was chosen; by default the learner's own choice, if it made one.
    certainty : Certainty, optional
        What a model of the judgment says in the same families.

    Returns
    -------
    MeasureFile
        Its ``about`` is a :class:`dcglearn.learning.record.LearnedRecord`.
    """
    pairs = preferences.pairs
    return learned_measure_of_pairs(
        learner,
        pairs,
        preferences.pair_weights,
        preferences.scale.labels,
        SourceRecord(file=source, judgments=len(preferences), strict=len(pairs)),
        use,
        intervals,
        choice,
        certainty,
    )


def learned_measure_of_pairs(
    learner: CoreLearner,
    pairs: Grades,
    weights: Floats,
    labels: Sequence[Label],
    source: SourceRecord,
    use: MeasurePart = "dcg",
    intervals: ParameterIntervals | None = None,
    choice: ChosenC | None = None,
    certainty: Certainty | None = None,
) -> MeasureFile:
    """Return what :func:`learned_measure` does, without the judgments in memory."""
    dcg, utility, nearest = _measures(learner.solution_, learner.factors_, labels)
    record = _record(
        source,
        ParametersRecord(
            encoding=learner.encoding,
            margin=str(learner.margin),
            C=learner.C_,
            solver=learner.solver,
        ),
        learner.solution_,
        learner.factors_,
        learner.identifiability_,
        AgreementRecord(
            utility=agreement(utility, pairs, weights),
            rank_one=agreement(nearest, pairs, weights),
            dcg=agreement(dcg, pairs, weights),
        ),
        labels,
        learner.families_,
    )
    if intervals is not None:
        record = record.model_copy(update={"intervals": IntervalsRecord.of(intervals)})
    choice = choice or learner.choice_
    if choice is not None:
        chosen = ChoiceRecord.model_validate(choice.to_json())
        record = record.model_copy(update={"choice": chosen})
    if certainty is not None:
        record = record.model_copy(update={"certainty": certainty_record(certainty)})
    return MeasureFile(dcg=dcg, utility=utility, use=use, about=record.to_json())


def certainty_record(certainty: Certainty) -> CertaintyRecord:
    """Return the record of what a model of the judgment says beside a fit.

    Parameters
    ----------
    certainty : Certainty
    """
    fit = certainty.fit
    if fit is None:
        return CertaintyRecord(reason=certainty.reason)
    evidence = fit.likelihood.evidence
    judges = any(one.name == "judge" for one in fit.covariance.clusterings)
    clusters = ("query",) * certainty.names_queries + ("judge",) * judges
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


def learned_measure_of_packed(
    learned: Fit,
    problem: Streamed,
    source: str,
    use: MeasurePart = "dcg",
    solver: SolverName = "auto",
    certainty: Certainty | None = None,
) -> MeasureFile:
    """Return a fit of packed pairs as a measure file.

    Parameters
    ----------
    learned : Fit
        Of `problem`.
    problem : Streamed
        Read once more, for the agreements.
    source : str
        The name of the file or folder.
    use : {"dcg", "utility"}, default "dcg"
    solver : {"auto", "newton"}, default "auto"
        The solver that was asked for.
    certainty : Certainty, optional
        What a model of the judgment says in the same families.

    Returns
    -------
    MeasureFile
        As that of :func:`learned_measure`.
    """
    labels = problem.pairs.scale.labels
    dcg, utility, nearest = _measures(learned.solution, learned.factors, labels)
    agreements = problem.agreements([utility, nearest, dcg])
    n = problem.n_pairs
    record = _record(
        SourceRecord(file=source, judgments=problem.pairs.n_pairs, strict=n),
        ParametersRecord(encoding="grades", margin=problem.margin, C=problem.C, solver=solver),
        learned.solution,
        learned.factors,
        learned.identifiability,
        AgreementRecord(utility=agreements[0], rank_one=agreements[1], dcg=agreements[2]),
        labels,
        learned.families,
    )
    if certainty is not None:
        record = record.model_copy(update={"certainty": certainty_record(certainty)})
    return MeasureFile(dcg=dcg, utility=utility, use=use, about=record.to_json())


def _measures(
    solution: Solution, factors: Factors, labels: Sequence[Label]
) -> tuple[DCG, LinearUtility, LinearUtility]:
    """Return the DCG, W, and the rank-1 part of W, with the names of the grades."""
    return (
        DCG(factors.gains, factors.discounts, grades=labels),
        LinearUtility(solution.W, labels),
        LinearUtility(rank_one(solution.W), labels),
    )


def _record(
    source: SourceRecord,
    parameters: ParametersRecord,
    solution: Solution,
    factors: Factors,
    known: Identifiability,
    agreements: AgreementRecord,
    labels: Sequence[Label],
    families: LearnedFamilies | None,
) -> LearnedRecord:
    statements = undetermined_statements(known, labels, parameters.noun)
    record = LearnedRecord(
        learned_from=source,
        parameters=parameters,
        solution=SolutionRecord.of(solution),
        certificate=CertificateRecord.of(solution.certificate),
        factors=FactorsRecord.of(factors),
        identifiability=IdentifiabilityRecord.of(known, statements),
        agreement=agreements,
    )
    if families is None or solution.product is None:
        return record
    found = FamiliesRecord.of(families, solution.product)
    return record.model_copy(update={"families": found})
