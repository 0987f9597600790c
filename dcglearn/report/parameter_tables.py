"""The gains and discounts of a learned measure as tables: numbers, and what determines them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.learning.record import Determined, LearnedRecord, NumberRecord
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Label
from dcglearn.naming.measure_files import MeasureFile
from dcglearn.report.tables import Table

Origin = Literal["fixed", "data", "ridge", "none"]
"""Where a gain or discount comes from: a convention of the gauge, or what determines it."""

FIXED: Origin = "fixed"

_NUMBER = {"fixed": "{:.3f}", "data": "{:.3f}", "ridge": "({:.3f})", "none": "-"}
"""How a gain or discount is printed, by its origin."""


def learned_record(content: MeasureFile) -> LearnedRecord:
    """Return the record of a learned measure.

    Parameters
    ----------
    content : MeasureFile

    Returns
    -------
    LearnedRecord

    Raises
    ------
    InputError
        If a fit did not write it.
    """
    record = LearnedRecord.read(content)
    if record is None:
        raise InputError("is not a learned measure", "give a file that a fit wrote")
    return record


def parameter_tables(content: MeasureFile) -> tuple[Table, Table]:
    """Return gains by grade and discounts by rank, with what determines each.

    Parameters
    ----------
    content : MeasureFile
        A learned one.

    Returns
    -------
    gains, discounts : Table
        A number that is partly the penalty is in brackets; an undetermined one is a dash.

    Raises
    ------
    InputError
        If a fit did not write it.
    """
    record = learned_record(content)
    dcg = cast(DCG, content.dcg)  # a record is read only where there is one
    known, bounds, certainty = record.identifiability, record.intervals, record.certainty
    gain_origins, discount_origins = parameter_origins(record)
    name, number = ("grade", "gain") if record.parameters.noun == "grade" else _OF_DOCUMENTS
    estimated = certainty is not None and not certainty.reason
    gains = _rows(
        dcg.grades or range(dcg.n_grades),
        dcg.gains,
        known.gain_share,
        gain_origins,
        certainty.gains if certainty is not None and estimated else None,
        None if bounds is None else bounds.gains,
    )
    discounts = _rows(
        range(1, len(discount_origins) + 1),
        dcg.discounts_for(len(discount_origins)).tolist(),
        known.discount_share,
        discount_origins,
        certainty.discounts if certainty is not None and estimated else None,
        None if bounds is None else bounds.discounts,
    )
    middle: tuple[str, ...] = ()
    learned = "learned " if estimated else ""
    if certainty is not None and estimated:
        middle = ("estimate", f"{certainty.level:.0%} interval")
    last = () if bounds is None else (f"{bounds.level:.0%} of resamples",)
    return (
        Table((name, f"{learned}{number}", *middle, "data share", *last), gains),
        Table(("rank", f"{learned}discount", *middle, "data share", *last), discounts),
    )


_OF_DOCUMENTS = ("document", "relevance")


def parameter_origins(record: LearnedRecord) -> tuple[list[Origin], list[Origin]]:
    """Return where each gain and each discount of a learned measure comes from.

    Parameters
    ----------
    record : LearnedRecord

    Returns
    -------
    gains, discounts : lists of {"fixed", "data", "ridge", "none"}
        ``fixed``: by the convention of the gauge.
    """
    known, factors = record.identifiability, record.factors
    return (
        _origins(known.gains_determined_by, factors.fixed_gains),
        _origins(known.discounts_determined_by, factors.fixed_discounts),
    )


def _origins(determined_by: Sequence[Determined], fixed: Sequence[int]) -> list[Origin]:
    return [FIXED if i in fixed and by != "none" else by for i, by in enumerate(determined_by)]


def _rows(
    names: Sequence[Label],
    values: Sequence[float],
    shares: Floats,
    origins: Sequence[Origin],
    estimates: Sequence[NumberRecord] | None,
    bounds: Floats | None,
) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for i, (name, value, share, origin) in enumerate(
        zip(names, values, shares, origins, strict=True)
    ):
        middle = () if estimates is None else _estimate(estimates[i])
        determined = origin if origin == FIXED else f"{share:.2f}"
        row = (str(name), _NUMBER[origin].format(value), *middle, determined)
        if bounds is None:
            rows.append(row)
            continue
        low, high = bounds[i]
        unknown = origin in (FIXED, "none") or low != low  # nan
        rows.append((*row, "" if unknown else f"{low:.3f} to {high:.3f}"))
    return rows


def _estimate(one: NumberRecord) -> tuple[str, str]:
    """Return the number of a model of the judgment, and its interval."""
    if one.given and one.estimate is not None:
        return f"{one.estimate:.3f}", ""
    if not one.determined or one.estimate is None or one.low is None or one.high is None:
        return "-", "not determined"
    return f"{one.estimate:.3f}", f"{one.low:.3f} to {one.high:.3f}"
