"""The measures asked of an evaluation: DCG and others, from any of their forms."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from dcglearn.base.errors import InputError
from dcglearn.evaluation.inputs import repeated_name
from dcglearn.evaluation.rules import Rules
from dcglearn.measures.binary import BinaryMeasure, is_in_one_order
from dcglearn.measures.dcg import DCG
from dcglearn.measures.rank_biased_precision import RBP, RBPResidual
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.measure_files import MeasureFile
from dcglearn.naming.names import (
    MeasureLike,
    NamedMeasure,
    measure_for_documents,
    measure_on_scale,
    not_a_measure,
)
from dcglearn.naming.other_measures import (
    NamedOther,
    OtherMeasureLike,
    is_other_measure,
    other_measure,
)

AskedMeasure: TypeAlias = "MeasureLike | OtherMeasureLike"
"""A measure of an evaluation, or what names one."""

AskedMeasures: TypeAlias = "AskedMeasure | Sequence[AskedMeasure] | Mapping[str, AskedMeasure]"

_MEASURE_TYPES = (str, os.PathLike, DCG, LinearUtility, MeasureFile, NamedMeasure)


def named_measures(
    measures: AskedMeasures,
    scale: Scale,
    n_ranks: int,
    known: Sequence[NamedMeasure | NamedOther] | None = None,
) -> list[NamedMeasure | NamedOther]:
    """Return measures on a scale from any of their forms.

    Parameters
    ----------
    measures : DCG, LinearUtility, MeasureFile, NamedMeasure, ERR, RBP, str, path-like or \
ir_measures.Measure, a sequence of them, or a dict by name
        Text names a preset, a measure in full, a measure file, or another measure such as AP. A DCG
        is named by its text.
    scale : Scale
        The grades of the qrels. A measure that names its grades may have more.
    n_ranks : int
        The length of the longest ranking; some presets depend on it.
    known : sequence of NamedMeasure or NamedOther, optional
        What this function returned for another length: files are not read again.

    Returns
    -------
    list of NamedMeasure or NamedOther

    Raises
    ------
    InputError
        If there is no such measure, it has no gain for a grade, or a name is repeated.

    Examples
    --------
    >>> [one.name for one in named_measures(["zipf", DCG([1, 0]), "P@5"], Scale((1, 0)), 10)]
    ['zipf', 'DCG([1, 0], log2)', 'P@5']
    """
    if isinstance(measures, Mapping):
        given: list[tuple[str | None, AskedMeasure]] = [
            (str(name), one) for name, one in measures.items()
        ]
    else:
        one = isinstance(measures, _MEASURE_TYPES) or is_other_measure(measures)
        several = [measures] if one else measures
        if not isinstance(several, list | tuple):
            raise not_a_measure(several)
        given = [(None, one) for one in several]
    named = [
        known[i]
        if known is not None and _is_final(known[i], one)
        else _as_measure(one, scale, n_ranks, name)
        for i, (name, one) in enumerate(given)
    ]
    if not named:
        raise InputError("no measure", "give at least one, such as 'nDCG(linear-log2) @ 10'")
    _check_names(named)
    return named


def _check_names(named: Sequence[NamedMeasure | NamedOther]) -> None:
    repeated = repeated_name([one.name for one in named])
    if repeated is not None:
        raise InputError(f"the measure {repeated} is named twice", "name it once")


def _is_final(found: NamedMeasure | NamedOther, measure: AskedMeasure) -> bool:
    """Return whether the measure does not depend on the length of the rankings."""
    is_file = isinstance(found, NamedOther) or found.file is not None
    return is_file or not isinstance(measure, str)


def _as_measure(
    measure: AskedMeasure, scale: Scale, n_ranks: int, name: str | None = None
) -> NamedMeasure | NamedOther:
    if (other := _other(measure, scale, name)) is not None:
        return other if name is None else replace(other, name=name)
    if isinstance(measure, MeasureFile):
        named = NamedMeasure(str(measure.measure), measure.measure, measure)
    elif isinstance(measure, DCG | LinearUtility):
        named = NamedMeasure(str(measure), measure)
    elif isinstance(measure, NamedMeasure):
        named = measure
    elif isinstance(measure, str | os.PathLike) or is_other_measure(measure):
        # of objects of ir_measures, nDCG is left here, which is read by its name
        text = os.fspath(measure) if isinstance(measure, str | os.PathLike) else str(measure)
        try:
            found = measure_for_documents(text, scale, n_ranks)
        except InputError as error:
            raise error if error.place else error.at(name or text) from error
        return found if name is None else replace(found, name=name)
    else:
        raise not_a_measure(measure)
    return measure_on_scale(named if name is None else replace(named, name=name), scale)


def _other(measure: AskedMeasure, scale: Scale, name: str | None) -> NamedOther | None:
    try:
        return other_measure(measure, scale)
    except InputError as error:
        raise error if error.place or name is None else error.at(name) from error


def with_residuals(
    measures: Sequence[NamedMeasure | NamedOther], rules: Rules
) -> list[NamedMeasure | NamedOther]:
    """Return the measures, with the residual of each RBP after it.

    Parameters
    ----------
    measures : sequence of NamedMeasure or NamedOther
    rules : Rules
        With bounds, the largest possible value holds the residual, and there is no column for it.

    Returns
    -------
    list of NamedMeasure or NamedOther

    Raises
    ------
    InputError
        If another measure has the name of a residual.

    Examples
    --------
    >>> named = [NamedOther("mine", RBP([1, 0]))]
    >>> [one.name for one in with_residuals(named, Rules())]
    ['mine', 'mine, residual']
    """
    found: list[NamedMeasure | NamedOther] = []
    for one in measures:
        found.append(one)
        if isinstance(one.measure, RBP) and rules.unjudged != "bounds":
            found.append(NamedOther(f"{one.name}, residual", RBPResidual(one.measure)))
    _check_names(found)
    return found


def check_asked(measures: Sequence[NamedMeasure | NamedOther], rules: Rules) -> None:
    """Refuse measures of relevant documents that have no value by the rules."""
    for one in measures:
        if not isinstance(one.measure, BinaryMeasure):
            continue
        if rules.unjudged == "bounds":
            raise InputError(
                "no bounds for measures of relevant documents",
                'leave it out, or choose another rule than `unjudged="bounds"`',
                one.name,
            )
        if rules.ties == "mean" and is_in_one_order(one.measure):
            raise InputError(
                "has no formula for the mean over the orders of documents with equal scores",
                'leave it out, or choose `ties="docid"`',
                one.name,
            )
