"""From a file of judgments to a measure file: what ``dcglearn fit`` does.

Gains and discounts are those of the usual measures until the judgments contradict them
(:mod:`dcglearn.inference.usual`); beside them are W of the quadratic program
(:mod:`dcglearn.learning`) and what a model of the judgment says
(:mod:`dcglearn.inference.certainty`). Packed judgments are read in parts, unless C is to be chosen
or queries are resampled, for which all of them must be in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, reporting, silent
from dcglearn.base.workers import Workers, open_workers
from dcglearn.inference.certainty import NO_GRADES, Certainty, certainty_of
from dcglearn.inference.learned import draws_record, learned_measure
from dcglearn.inference.usual import learn_dcg, why_no_prior
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.read import JudgmentTable, open_judgments
from dcglearn.learning.fit import Fit, fit
from dcglearn.learning.parameters import Encoding, Parameters
from dcglearn.learning.problem import MarginName, Problem
from dcglearn.learning.record import DrawsRecord, as_json
from dcglearn.learning.resample import choose_C, parameter_intervals
from dcglearn.learning.solve import SolverName, solve
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure_files import MeasureFile, MeasurePart
from dcglearn.measures.names import measure_for

Step = Callable[[str], AbstractContextManager[Advance]]
"""Called with what is done, for the block that does it."""

_RESAMPLING_BYTES = 800
"""Memory per judgment in which C is chosen and queries are resampled."""


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
    step = reporting if progress else _unreported
    whole = C == "cv" or intervals > 0
    opened = _opened(judgments, ReadOptions(documents=documents, **reading), whole, step)
    if workers != "1" and not isinstance(opened, PackedPairs):
        problem = '`workers` applies to packed pairs only, without `C="cv"` or `intervals`'
        raise InputError(problem, "pack the judgments, or leave it out")
    start = None if documents else _start(prior, opened)
    if draws and start is None:
        raise InputError(
            "`draws` without a prior", "leave it out, or learn from the usual measures"
        )
    encoding: Encoding = "documents" if documents else "grades"
    parameters = Parameters(
        encoding=encoding, margin=margin, C=C, solver=solver, n_grades=opened.n_grades
    )
    name = Path(judgments).name if isinstance(judgments, str | os.PathLike) else "judgments"
    resampled, usual, drawn = None, None, None
    with open_workers(workers) as pool:
        several = None if workers == "1" else pool
        learned = _fit(opened, parameters, use, seed, several, step)
        if intervals and isinstance(opened, Preferences):
            rng, choose = np.random.default_rng(seed), use if learned.choice else None
            with step("learning from resamples (fits)") as advance:
                resampled = parameter_intervals(
                    learned, opened, rng, intervals, 0.95, advance, choose
                )
        with step("estimating intervals"):
            certainty = Certainty(reason=NO_GRADES) if documents else certainty_of(opened)
        if start is not None:
            with step("learning from usual measures"):
                usual = learn_dcg(opened, start)
                drawn = _drawn(opened, start, certainty, draws, seed) if draws else None
            if start != "usual":
                usual = replace(usual, prior=str(prior), centres={str(prior): 1.0})
        with step("counting agreements"):
            content = learned_measure(
                learned, opened, source or name, use, resampled, certainty, usual
            )
    if drawn is not None:
        content = replace(content, about={**content.about, "draws": as_json(drawn)})
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


@contextmanager
def _unreported(label: str) -> Iterator[Advance]:
    yield silent


def _start(prior: str | DCG, judgments: Preferences | PackedPairs) -> str | DCG | None:
    """Return what the DCG starts from; None if it is that of W."""
    scale, n_ranks = judgments.scale, judgments.n_ranks
    if isinstance(prior, DCG) or prior == "none":
        return None if prior == "none" else prior
    if prior == "usual":
        reason = why_no_prior(scale, n_ranks)
        if reason:
            warn_of_input(f"learned without a prior: {reason}")
        return None if reason else prior
    try:
        measure = measure_for(prior, scale, n_ranks).measure
    except InputError as error:
        raise error.at("the prior") from error
    if not isinstance(measure, DCG):
        raise InputError(
            f"{prior} is not a DCG", "name a preset, a DCG, usual or none", "the prior"
        )
    return measure


def _fit(
    judgments: Preferences | PackedPairs,
    parameters: Parameters,
    use: MeasurePart,
    seed: int,
    workers: Workers | None,
    step: Step,
) -> Fit:
    """Learn from judgments in memory, or from packed ones that are read again at every pass."""
    C, margin, solver = parameters.C, str(parameters.margin), parameters.solver
    if isinstance(judgments, PackedPairs):
        if solver not in ("auto", "newton"):
            words = f"`solver={solver!r}` does not apply to packed pairs"
            raise InputError(words, "leave it out: newton reads them")
        with step(f"solving for {counted(judgments.n_pairs, 'pair')} (pairs read)") as advance:
            return fit(
                Problem.packed(judgments, margin, float(C), workers, _cumulative(advance)), solver
            )
    judgments.check_strict()
    problem, choice = parameters.problem(judgments.pairs, judgments.pair_weights), None
    if C == "cv":
        rng, groups = np.random.default_rng(seed), judgments.pair_groups
        with step("choosing C (fits)") as advance:
            choice = choose_C(problem, groups, rng, solver=solver, use=use, advance=advance)
        problem = problem.with_C(choice.C)
    with step(f"solving for {counted(problem.n_pairs, 'pair')}"):
        return Fit(problem, solve(problem, solver), choice)


def _drawn(
    judgments: Preferences | PackedPairs, start: str | DCG, certainty: Certainty, n: int, seed: int
) -> DrawsRecord:
    """Draw measures around the one learned from judgments that count as their clusters say."""
    effect = 1.0 if certainty.fit is None else certainty.fit.covariance.design_effect
    learned = learn_dcg(judgments, start, effect)
    return draws_record(learned, effect, n, np.random.default_rng(seed))


def _cumulative(advance: Advance) -> Advance:
    """Add up the counts of several passes; a count that does not grow starts a new pass."""
    before = last = 0

    def add(done: int, total: int) -> None:
        nonlocal before, last
        if done <= last:
            before += last
        last = done
        advance(before + done, total)

    return add
