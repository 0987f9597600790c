"""From judgments to a measure file: what ``dcglearn fit`` does, and how certain that is.

Gains and discounts are those of the usual measures until the judgments contradict them
(:mod:`dcglearn.inference.usual`); beside them is W of the quadratic program
(:mod:`dcglearn.learning`). Packed judgments are read in parts, unless C is to be chosen or queries
are resampled, for which all of them must be in memory.

The program minimises a hinge loss, which has no probability behind it. So beside each gain and
discount is the estimate of a logistic model (:mod:`dcglearn.inference.estimate`), with its
interval; and whether linear gains and 2^g - 1 fit are two of the usual questions
(:mod:`dcglearn.inference.questions`). This should take seconds: the time grows with the number of
judgments times the size of W, and with the cube of the number of parameters.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dcglearn.base.errors import InputError, SolverError, warn_of_input
from dcglearn.base.progress import Advance, reporting, silent
from dcglearn.base.workers import Workers, open_workers
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.questions import Question, gain_questions
from dcglearn.inference.usual import LearnedDCG, learn_dcg, why_no_prior
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.read import JudgmentTable, open_judgments
from dcglearn.learning.factorise import rank_one
from dcglearn.learning.problem import MarginName, Parameters, Problem, SolverName
from dcglearn.learning.record import (
    AgreementRecord,
    CertaintyRecord,
    DrawsRecord,
    JudgmentsRecord,
    LearnedRecord,
    ParameterIntervals,
    ParametersRecord,
    as_json,
)
from dcglearn.learning.resample import fit_choosing, fit_of, parameter_intervals
from dcglearn.learning.solve import Fit, fit
from dcglearn.learning.source import in_threads
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import MeasureFile, MeasurePart
from dcglearn.measures.utility import LinearUtility

if TYPE_CHECKING:
    from dcglearn.learning.learner import DCGLearner

Step = Callable[[str], AbstractContextManager[Advance]]
"""Called with what is done, for the block that does it."""

_RESAMPLING_BYTES = 800
"""Memory per judgment in which C is chosen and queries are resampled."""

MAX_COST = 60_000_000
"""The number of judgments times the entries of W up to which a fit shows estimates and tests usual
gains: for a million judgments of lists of 10 in five grades, that takes about 8 seconds."""

_CUBES = 120
"""So often the cube of the number of parameters is added."""

_NO_GRADES = "the model of the judgment takes grades, and documents have none"
_NO_MAXIMUM = "the judgments are too few, or depend too little on the grades, for an estimate"


def fit_file(
    judgments: Any,
    *,
    C: float | Literal["cv"] = 1.0,
    margin: MarginName = "unit",
    prior: str | DCG = "usual",
    solver: SolverName = "auto",
    use: MeasurePart = "dcg",
    intervals: int = 0,
    draws: int = 0,
    certainty: bool = True,
    seed: int = 0,
    workers: str = "1",
    documents: bool = False,
    source: str = "",
    progress: bool = False,
    **reading: Any,
) -> MeasureFile:
    """Learn gains and discounts from judgments, as ``dcglearn fit`` does.

    Parameters
    ----------
    judgments : path-like, sequence of these, frame, Preferences or PackedPairs
        As for :func:`~dcglearn.read_preferences`; packed files are read in parts.
    C : float or "cv", default 1.0
        The cost of a missed margin; ``"cv"`` chooses it by cross-validation over queries.
    margin : {"unit", "hamming"}, default "unit"
        By how much the better list should win: 1, or the number of ranks at which the lists differ.
    prior : "usual", "none", name of a measure, or DCG, default "usual"
        What the DCG starts from and departs from on evidence; with ``"none"`` it is that of W.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
    use : {"dcg", "utility"}, default "dcg"
        Which of the two measures commands use when given the file.
    intervals : int, default 0
        Fits to resampled queries, which say how far gains and discounts move with other queries.
    draws : int, default 0
        Measures as probable as the judgments make them, for ``evaluate --supported``.
    certainty : bool, default True
        Whether the model of the judgment adds intervals, which takes most of the time of many
        judgments.
    seed : int, default 0
        Of folds, resamples and draws.
    workers : str, default "1"
        Processes that read packed pairs (1: threads of this one), or the address of a Dask
        scheduler.
    documents : bool, default False
        Whether lists rank all documents of a set, which have no grades.
    source : str, optional
        What the file calls the judgments; by default the name of their file.
    progress : bool, default False
        Whether long steps are reported on standard error.
    **reading
        Further arguments of :func:`~dcglearn.read_preferences`, for files and frames.

    Returns
    -------
    MeasureFile
        For :func:`~dcglearn.write_measure`.

    Raises
    ------
    InputError, SolverError
        If the judgments or an argument cannot be used, or W is not confirmed.

    Examples
    --------
    >>> frame = {
    ...     "query": ["q1", "q1", "q2"],
    ...     "a": [[2, 0], [0, 2], [1, 0]],
    ...     "b": [[1, 1], [1, 0], [0, 1]],
    ...     "answer": ["a", "b", "a"],
    ... }
    >>> learned = fit_file(frame)
    >>> learned.dcg.grades, learned.about["learned_from"]["strict"]
    ((2, 1, 0), 3)
    """
    step: Step = reporting if progress else lambda label: nullcontext(silent)
    whole = C == "cv" or intervals > 0
    opened = _opened(judgments, ReadOptions(documents=documents, **reading), whole, step)
    if workers != "1" and not isinstance(opened, PackedPairs):
        problem = '`workers` applies to packed pairs only, without `C="cv"` or `intervals`'
        raise InputError(problem, "pack the judgments, or leave it out")
    from_prior = prior != "none" and not documents
    if from_prior and prior == "usual":
        if reason := why_no_prior(opened.scale, opened.n_ranks):
            warn_of_input(f"learned without a prior: {reason}")
        from_prior = not reason
    if draws and not (from_prior and certainty):
        problem = f"`draws` without {'certainty' if from_prior else 'a prior'}"
        raise InputError(problem, "leave it out, or learn from the usual measures with certainty")
    parameters = Parameters(
        encoding="documents" if documents else "grades",
        margin=margin,
        C=C,
        solver=solver,
        n_grades=opened.n_grades,
    )
    name = Path(judgments).name if isinstance(judgments, str | os.PathLike) else "judgments"
    resampled, usual = None, None
    with open_workers(workers) as pool:
        several = in_threads if workers == "1" else pool
        if from_prior:
            with step("learning from usual measures"):
                usual = learn_dcg(opened, prior)
        learned = _fit(opened, parameters, use, seed, several, step)
        if intervals and isinstance(opened, Preferences):
            rng, choose = np.random.default_rng(seed), use if learned.choice else None
            with step("learning from resamples (fits)") as advance:
                resampled = parameter_intervals(
                    learned, opened, rng, intervals, 0.95, advance, choose
                )
        found = Certainty(reason=_NO_GRADES if documents else "none was asked for")
        if certainty and not documents:
            with step("estimating intervals"):
                found = certainty_of(opened)
        with step("counting agreements"):
            content = learned_measure(learned, opened, source or name, use, resampled, found, usual)
    if draws:
        effect = 1.0 if found.fit is None else found.fit.covariance.design_effect
        posterior = learn_dcg(opened, prior, effect).posterior
        drawn = posterior.draw(draws, np.random.default_rng(seed))
        shown = DrawsRecord(effect, np.round(drawn.gains, 6), np.round(drawn.discounts, 6))
        content = replace(content, about={**content.about, "draws": as_json(shown)})
    return content


def _opened(
    judgments: Any, options: ReadOptions, whole: bool, step: Step
) -> Preferences | PackedPairs:
    """Return judgments in memory, or packed ones, unless they are needed as a whole."""
    opened: Preferences | PackedPairs | JudgmentTable = judgments
    if not isinstance(judgments, Preferences | PackedPairs):
        with step("reading (judgments)") as advance:
            opened = open_judgments(judgments, options, advance)
    if isinstance(opened, PackedPairs) and whole:
        with step("reading (judgments)") as advance:
            return opened.preferences(True, _RESAMPLING_BYTES, advance)
    return opened.preferences() if isinstance(opened, JudgmentTable) else opened


def _fit(
    judgments: Preferences | PackedPairs,
    parameters: Parameters,
    use: MeasurePart,
    seed: int,
    workers: Workers,
    step: Step,
) -> Fit:
    """Learn from judgments in memory, or from packed ones that are read again at every pass."""
    C, margin, solver = parameters.C, str(parameters.margin), parameters.solver
    if isinstance(judgments, PackedPairs):
        with step(f"solving for {judgments.n_pairs:,} pairs (pairs read)") as advance:
            return fit(Problem.packed(judgments, margin, float(C), workers, advance), solver)
    problem = parameters.problem(judgments.pairs, judgments.pair_weights)
    if C != "cv":
        with step(f"solving for {problem.n_pairs:,} pairs"):
            return fit(problem, solver)
    rng, groups = np.random.default_rng(seed), judgments.pair_groups
    with step("choosing C (fits)") as advance:
        return fit_choosing(problem, groups, rng, solver, use, 5, advance)


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
    parameters = ParametersRecord(
        "grades" if problem.monotone else "documents", problem.margin, float(problem.C)
    )
    known = fit.identifiability
    record = LearnedRecord(
        learned_from=JudgmentsRecord(source, len(preferences), problem.n_pairs),
        parameters=parameters,
        solution=fit.solution,
        certificate=fit.certificate,
        factors=factors,
        identifiability=known,
        undetermined=tuple(known.undetermined(labels, parameters.noun)),
        agreement=AgreementRecord(*problem.agreements([utility, nearest, of_W, dcg])),
        intervals=intervals,
        choice=fit.choice,
        certainty=certainty,
        prior=usual,
    )
    return MeasureFile(dcg=dcg, utility=utility, use=use, about=as_json(record))


@dataclass(frozen=True, eq=False, repr=False)
class Certainty(CertaintyRecord):
    """What a model of the judgment says beside a fit.

    Attributes
    ----------
    reason : str
        Why there is no estimate; empty if there is one.
    fit : JudgmentFit or None
        With free gains and discounts; None if there is no estimate.
    hypotheses : tuple of Question
        Whether linear gains and 2^g - 1 fit; empty if this was not asked.
    """

    fit: JudgmentFit | None = None
    hypotheses: tuple[Question, ...] = ()

    @classmethod
    def of(cls, fit: JudgmentFit, questions: tuple[Question, ...]) -> Certainty:
        """Return what an estimate says, and questions that were asked of the same judgments."""
        return cls(
            judgments=len(fit.evidence),
            clusters=fit.clusters,
            empty_ranks=fit.evidence.layout.empty,
            gains=fit.gains(),
            discounts=fit.discounts(),
            hypotheses=questions,
            fit=fit,
        )

    def __repr__(self) -> str:
        return f"Certainty({self.reason or self.fit})"


def certainty_of(judgments: Preferences | PackedPairs) -> Certainty:
    """Estimate gains and discounts, and ask whether usual gains fit.

    Parameters
    ----------
    judgments : Preferences or PackedPairs

    Returns
    -------
    Certainty
        Without an estimate, and with the reason, where the judgments allow none.

    Examples
    --------
    >>> from dcglearn.judgments.preferences import Preferences
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]] * 20
    >>> data = Preferences.of(lists, ["a", "a", "a", "b"] * 20, Scale((1, 0)))
    >>> certainty_of(data).fit.gains()[1].given
    True
    """
    K, L = judgments.n_ranks, judgments.n_grades
    n = judgments.n_pairs if isinstance(judgments, PackedPairs) else len(judgments.pairs)
    if isinstance(judgments, PackedPairs) and not judgments.has_sides:
        return Certainty(reason="the packed pairs do not say how they were shown")
    if n * K * L + _CUBES * (K + L) ** 3 > MAX_COST:
        size = f"{n:,} strict judgments of lists of {K}"
        longer = "take more than a few seconds; dcglearn study and dcglearn test take them"
        return Certainty(reason=f"{size} {longer}")
    try:
        fit = JudgmentModel().fit(judgments)
        if fit.covariance.one_cluster:
            alone = "all strict judgments are of one query, and say nothing about others"
            return Certainty(reason=alone)
        return Certainty.of(fit, gain_questions(fit))
    except InputError as error:
        return Certainty(reason=error.problem)
    except (SolverError, np.linalg.LinAlgError):
        return Certainty(reason=_NO_MAXIMUM)
