"""The gains and discounts of a learned measure as tables: numbers, and what determines them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.learning.record import CertaintyRecord, Determined, LearnedRecord, NumberRecord
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
    """Return gains by grade and discounts by rank of the DCG of a learned file, as far as known.

    Beside a number is what a model of the judgment estimates, and how much of it the judgments
    determine: of its prior's variance they took away that share, or the penalty left it to them.

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
    if record.prior is None:
        return _tables(record, content, record.certainty)
    dcg, certainty, prior = cast(DCG, content.dcg), record.certainty, record.prior
    middle: tuple[str, ...] = ()
    estimates: tuple[Sequence[NumberRecord], Sequence[NumberRecord]] = ((), ())
    if certainty is not None and not certainty.reason:
        middle = ("estimate", f"{certainty.level:.0%} interval")
        estimates = (certainty.gains, certainty.discounts)

    def rows(
        names: Sequence[Label],
        values: Sequence[float],
        estimated: Sequence[NumberRecord],
        shares: Floats,
    ) -> list[tuple[str, ...]]:
        return [
            (
                str(name),
                f"{values[i]:.3f}",
                *(_estimate(estimated[i]) if estimated else ()),
                "fixed" if share != share else f"{share:.2f}",
            )
            for i, (name, share) in enumerate(zip(names, shares, strict=True))
        ]

    K = len(prior.discounts_from_data)
    gains = rows(dcg.grades or range(dcg.n_grades), dcg.gains, estimates[0], prior.gains_from_data)
    discounts = rows(
        range(1, K + 1), dcg.discounts_for(K).tolist(), estimates[1], prior.discounts_from_data
    )
    return (
        Table(("grade", "learned gain", *middle, "from data"), gains),
        Table(("rank", "learned discount", *middle, "from data"), discounts),
    )


def tables_of_W(content: MeasureFile) -> tuple[Table, Table]:
    """Return the gains and discounts of W, with what determines each."""
    return _tables(learned_record(content), content, None)


def _tables(
    record: LearnedRecord, content: MeasureFile, certainty: CertaintyRecord | None
) -> tuple[Table, Table]:
    known, bounds, factors = record.identifiability, record.intervals, record.factors
    gain_origins, discount_origins = parameter_origins(record)
    name, number = ("grade", "gain") if record.parameters.noun == "grade" else _OF_DOCUMENTS
    estimated = certainty is not None and not certainty.reason
    labels = content.dcg.grades if content.dcg is not None else None
    gains = _rows(
        labels or range(len(factors.gains)),
        factors.gains.tolist(),
        known.gain_share,
        gain_origins,
        certainty.gains if certainty is not None and estimated else None,
        None if bounds is None else bounds.gains,
    )
    discounts = _rows(
        range(1, len(discount_origins) + 1),
        factors.discounts.tolist(),
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
