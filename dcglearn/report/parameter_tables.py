"""The gains and discounts of a learned measure as tables: numbers, and what determines them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from dcglearn.base.errors import InputError
from dcglearn.learning.record import Determined, LearnedRecord, NumberRecord
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure_files import MeasureFile
from dcglearn.measures.scale import Label
from dcglearn.report.certainty_words import estimate_words, interval_words
from dcglearn.report.tables import Table

Origin = Literal["fixed", "data", "ridge", "none"]
"""Where a gain or discount comes from: a convention of the gauge, or what determines it."""

_NUMBER = {"fixed": "{:.3f}", "data": "{:.3f}", "ridge": "({:.3f})", "none": "-"}
"""How a gain or discount of W is printed, by its origin."""


def learned_record(content: MeasureFile) -> LearnedRecord:
    """Return the record of a learned measure."""
    record = LearnedRecord.read(content)
    if record is None:
        raise InputError("is not a learned measure", "give a file that a fit wrote")
    return record


def parameter_origins(record: LearnedRecord) -> tuple[list[Origin], list[Origin]]:
    """Return where each gain and each discount of W comes from."""

    def origins(determined_by: Sequence[Determined], fixed: Sequence[int]) -> list[Origin]:
        return [
            "fixed" if i in fixed and by != "none" else by for i, by in enumerate(determined_by)
        ]

    known, factors = record.identifiability, record.factors
    return (
        origins(known.gains_determined_by, factors.fixed_gains),
        origins(known.discounts_determined_by, factors.fixed_discounts),
    )


def estimates_of(record: LearnedRecord) -> tuple[Sequence[NumberRecord], Sequence[NumberRecord]]:
    """Return the gains and the discounts by a model of the judgment; nothing without one."""
    certainty = record.certainty
    return ((), ()) if certainty is None else (certainty.gains, certainty.discounts)


def parameter_tables(content: MeasureFile) -> tuple[Table, Table]:
    """Return gains by grade and discounts by rank of a learned file, as far as known.

    First those of its DCG, beside what a model of the judgment estimates; then those of W, if that
    is another measure, with what determines each.
    """
    record, dcg = learned_record(content), cast(DCG, content.dcg)
    n_ranks = len(record.factors.discounts)
    values = dcg.gains, dcg.discounts_for(n_ranks).tolist()
    labels = dcg.grades or range(dcg.n_grades)
    documents = record.parameters.noun == "document"
    heads = ("document", "relevance") if documents else ("grade", "gain")
    return (
        _table(record, 0, labels, values[0], *heads),
        _table(record, 1, range(1, n_ranks + 1), values[1], "rank", "discount"),
    )


def _table(
    record: LearnedRecord,
    part: Literal[0, 1],
    names: Sequence[Label],
    values: Sequence[float],
    head: str,
    number: str,
) -> Table:
    """Return one of the two tables: of gains (part 0) or of discounts (part 1)."""
    known, factors, prior, bounds = (
        record.identifiability,
        record.factors,
        record.prior,
        record.intervals,
    )
    origins, estimates = parameter_origins(record)[part], estimates_of(record)[part]
    columns: dict[str, list[str]] = {head: [str(name) for name in names]}
    if prior is not None:
        columns[f"learned {number}"] = [f"{value:.3f}" for value in values]
    if estimates and record.certainty is not None:
        columns["estimate"] = [estimate_words(one) for one in estimates]
        columns[f"{record.certainty.level:.0%} interval"] = [*map(interval_words, estimates)]
    if prior is not None:
        from_data = (prior.gains_from_data, prior.discounts_from_data)[part]
        columns["from data"] = ["" if share != share else f"{share:.2f}" for share in from_data]
    of_W = (factors.gains, factors.discounts)[part]
    columns[number if prior is None else f"{number} of W"] = [
        _NUMBER[origin].format(value) for origin, value in zip(origins, of_W, strict=True)
    ]
    shares = (known.gain_share, known.discount_share)[part]
    columns["data share"] = [
        "fixed" if origin == "fixed" else f"{share:.2f}"
        for origin, share in zip(origins, shares, strict=True)
    ]
    if bounds is not None:
        columns[f"{bounds.level:.0%} of resamples"] = [
            "" if origin in ("fixed", "none") or low != low else f"{low:.3f} to {high:.3f}"
            for origin, (low, high) in zip(
                origins, (bounds.gains, bounds.discounts)[part], strict=True
            )
        ]
    return Table(tuple(columns), list(zip(*columns.values(), strict=True)))
