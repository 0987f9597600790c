"""The measures asked of an evaluation: DCG and others, from any of their forms."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

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
    Named,
    NamedMeasure,
    measure_for_documents,
    measure_on_scale,
    not_a_measure,
)
from dcglearn.naming.other_measures import OtherMeasureLike, is_other_measure, other_measure

AskedMeasure: TypeAlias = "MeasureLike | OtherMeasureLike"
"""A measure of an evaluation, or what names one."""

AskedMeasures: TypeAlias = "AskedMeasure | Sequence[AskedMeasure] | Mapping[str, AskedMeasure]"

_MEASURE_TYPES = (str, os.PathLike, DCG, LinearUtility, MeasureFile)


def named_measures(
    measures: AskedMeasures, scale: Scale, n_ranks: int, known: Sequence[Named] | None = None
) -> list[Named]:
    """Return measures on a scale from any of the forms that :func:`dcglearn.evaluate` takes.

    Some presets depend on `n_ranks`, the length of the longest ranking. `known` is what this
    function returned for another length: files are not read again.

    >>> [one.name for one in named_measures(["zipf", DCG([1, 0]), "P@5"], Scale((1, 0)), 10)]
    ['zipf', 'DCG([1, 0], log2)', 'P@5']
    """
    if isinstance(measures, Mapping):
        given = [(str(name), one) for name, one in measures.items()]
    else:
        one = isinstance(measures, _MEASURE_TYPES) or is_other_measure(measures)
        several = [measures] if one else measures
        if not isinstance(several, list | tuple):
            raise not_a_measure(several)
        given = [("", one) for one in several]
    named = [
        known[i]
        if known is not None and not _depends_on_length(known[i], one)
        else _named(one, scale, n_ranks, name)
        for i, (name, one) in enumerate(given)
    ]
    if not named:
        raise InputError("no measure", "give at least one, such as 'nDCG(linear-log2) @ 10'")
    _check_names(named)
    return named


def _check_names(named: Sequence[Named]) -> None:
    repeated = repeated_name([one.name for one in named])
    if repeated is not None:
        raise InputError(f"the measure {repeated} is named twice", "name it once")


def _depends_on_length(found: Named, measure: AskedMeasure) -> bool:
    is_text = isinstance(measure, str) and isinstance(found, NamedMeasure)
    return is_text and cast(NamedMeasure, found).file is None


def _named(measure: AskedMeasure, scale: Scale, n_ranks: int, name: str) -> Named:
    try:
        found = other_measure(measure, scale) or _linear(measure, scale, n_ranks)
    except InputError as error:
        raise error if error.place or not name else error.at(name) from error
    return replace(found, name=name or found.name)


def _linear(measure: AskedMeasure, scale: Scale, n_ranks: int) -> NamedMeasure:
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
            return measure_for_documents(text, scale, n_ranks)
        except InputError as error:
            raise error if error.place else error.at(text) from error
    else:
        raise not_a_measure(measure)
    return measure_on_scale(named, scale)


def with_residuals(measures: Sequence[Named], rules: Rules) -> list[Named]:
    """Return the measures, with the residual of each RBP after it; bounds hold the residual.

    >>> [one.name for one in with_residuals([Named("mine", RBP([1, 0]))], Rules())]
    ['mine', 'mine, residual']
    """
    found: list[Named] = []
    for one in measures:
        found.append(one)
        if isinstance(one.measure, RBP) and rules.unjudged != "bounds":
            found.append(Named(f"{one.name}, residual", RBPResidual(one.measure)))
    _check_names(found)
    return found


def check_asked(measures: Sequence[Named], rules: Rules) -> None:
    """Refuse measures of relevant documents that have no value by the rules."""
    for one in measures:
        if rules.unjudged == "bounds" and isinstance(one.measure, BinaryMeasure):
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
