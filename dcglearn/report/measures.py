"""What the commands print about measures: their numbers, and how they were learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted, round_up
from dcglearn.families.given import GIVEN
from dcglearn.learning.gauge import Determined, Gauge
from dcglearn.learning.record import FamiliesRecord, Interval, IntervalsRecord, LearnedRecord
from dcglearn.measures.dcg import DCG
from dcglearn.measures.files import MeasureFile
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Label
from dcglearn.measures.utility import LinearUtility
from dcglearn.report.tables import Table
from dcglearn.report.wording import bulleted

Origin = Literal["given", "fixed", "data", "ridge", "none"]
"""Where a gain or discount comes from: its family, a convention of the gauge, or what determines
it."""

FIXED: Origin = "fixed"
GIVEN_NUMBER: Origin = "given"

_CERTAIN = (FIXED, GIVEN_NUMBER)
"""Origins of numbers that the data do not decide."""

_AFFINE = (
    "the largest discount is 1 and the smallest 0 (only ratios of differences between discounts "
    "are determined)"
)

NORMALISATION: dict[Gauge, str] = {
    "worst": "the worst grade has gain 0, the best gain 1; the first discount is 1",
    "absolute": "an empty rank has gain 0, the best grade gain 1; the first discount is 1",
    "worst order": f"the worst grade has gain 0, the best gain 1; {_AFFINE}",
    "absolute order": f"an empty rank has gain 0, the best grade gain 1; {_AFFINE}",
}
"""What each gauge fixes by convention."""

_NUMBER = {"given": "{:.3f}", "fixed": "{:.3f}", "data": "{:.3f}", "ridge": "({:.3f})", "none": "-"}
"""How a gain or discount is printed, by its origin."""


def learned_text(content: MeasureFile) -> str:
    """Describe a learned measure: parameters, certificate, agreement, what is undetermined.

    Parameters
    ----------
    content : MeasureFile
        As :func:`dcglearn.report.learned.learned_measure` makes it.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If a fit did not write it.
    """
    record = learned_record(content)
    known = record.identifiability
    gains, discounts = parameter_tables(content)
    agreements = [("the DCG above", record.agreement.dcg)]
    if record.families is None:  # otherwise W is that DCG
        free = [("W (the utility)", record.agreement.utility)]
        agreements = [*free, ("rank-1 part of W", record.agreement.rank_one), *agreements]
    lines = [
        _solution_line(record),
        *_about_families(record.families),
        "",
        gains.text(),
        "",
        discounts.text(),
        "",
        f"normalisation: {_normalisation(record)}",
        "data share: how much of a number the data determine, as opposed to the penalty w'w "
        "(1: the data alone); it is not a standard error",
        "(x): partly the penalty; -: undetermined",
        *_about_intervals(record.intervals),
        *_about_C(known.change_on_doubling_c),
        *_about_rank(record),
        "",
        Table(("agreement with the training judgments", ""), agreements).text(),
        "",
        "what the judgments do not determine:",
        bulleted(known.statements),
    ]
    return "\n".join(lines)


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


def measure_text(
    name: str, content: MeasureFile, picked: Measure | None = None, n_ranks: int | None = None
) -> str:
    """Describe a measure file, learned or not.

    Parameters
    ----------
    name : str
    content : MeasureFile
    picked : DCG or LinearUtility, optional
        Which of its measures; by default the one that commands use.
    n_ranks : int, optional
        The number of discounts of a rule to list; by default its cutoff, or 10.

    Returns
    -------
    str
    """
    measure = content.measure if picked is None else picked
    lines = [f"{name}: {in_full(measure, content)}"]
    if content.dcg is not None and content.utility is not None:
        other = "utility" if content.use == "dcg" else "dcg"
        lines.append(f"commands use its {content.use}; it also holds a {other}")
    if isinstance(measure, LinearUtility):
        return "\n".join([*lines, "", weights_table(measure).text()])
    if LearnedRecord.read(content) is not None:
        return "\n".join([*lines, "", learned_text(content)])
    if content.dcg is not None:
        for table in _dcg_tables(content.dcg, n_ranks):
            lines += ["", table.text()]
    return "\n".join(lines)


def _dcg_tables(dcg: DCG, n_ranks: int | None) -> tuple[Table, Table]:
    labels = dcg.grades or range(dcg.n_grades)
    discounts = dcg.discounts_for(n_ranks or dcg.n_ranks or 10).tolist()
    gains = [(str(label), gain) for label, gain in zip(labels, dcg.gains, strict=True)]
    ranks = [(str(k), discount) for k, discount in enumerate(discounts, start=1)]
    return Table(("grade", "gain"), gains), Table(("rank", "discount"), ranks)


def in_full(measure: Measure, content: MeasureFile | None = None) -> str:
    """Name a measure in full; a learned one by where it comes from, as its numbers need notes.

    Parameters
    ----------
    measure : DCG or LinearUtility
    content : MeasureFile, optional
        The file that it is from.

    Returns
    -------
    str
    """
    record = None if content is None else LearnedRecord.read(content)
    if record is None:
        return str(measure)
    kind = "W" if isinstance(measure, LinearUtility) else "DCG"
    source = record.learned_from
    return (
        f"{kind} learned from {source.strict:,} strict of "
        f"{counted(source.judgments, 'judgment')} in "
        f"{source.file}"
    )


def weights_table(utility: LinearUtility) -> Table:
    """Return W as a table, one row per rank."""
    heads = [str(label) for label in utility.grades or range(utility.n_grades)]
    rows: list[tuple[str | float, ...]] = [
        (str(k + 1), *row) for k, row in enumerate(utility.weights)
    ]
    return Table(("rank", *heads), rows, "W, the worth of a grade at a rank")


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
    known, bounds = record.identifiability, record.intervals
    gain_origins, discount_origins = parameter_origins(record)
    kind = ("grade", "gain") if record.parameters.noun == "grade" else ("document", "relevance")
    last = () if bounds is None else (f"{bounds.level:.0%} of resamples",)
    gains = _rows(
        dcg.grades or range(dcg.n_grades),
        dcg.gains,
        known.gain_share,
        gain_origins,
        None if bounds is None else bounds.gains,
    )
    discounts = _rows(
        range(1, len(discount_origins) + 1),
        dcg.discounts_for(len(discount_origins)).tolist(),
        known.discount_share,
        discount_origins,
        None if bounds is None else bounds.discounts,
    )
    return (
        Table((*kind, "data share", *last), gains),
        Table(("rank", "discount", "data share", *last), discounts),
    )


def parameter_origins(record: LearnedRecord) -> tuple[list[Origin], list[Origin]]:
    """Return where each gain and each discount of a learned measure comes from.

    Parameters
    ----------
    record : LearnedRecord

    Returns
    -------
    gains, discounts : lists of {"given", "fixed", "data", "ridge", "none"}
        ``given``: by the family. ``fixed``: by the convention of the gauge.
    """
    known, factors, families = record.identifiability, record.factors, record.families
    given = (False, False) if families is None else (families.gains_given, families.discounts_given)
    return (
        _origins(known.gains_determined_by, factors.fixed_gains, given[0]),
        _origins(known.discounts_determined_by, factors.fixed_discounts, given[1]),
    )


def _origins(
    determined_by: Sequence[Determined], fixed: Sequence[int], given: bool
) -> list[Origin]:
    if given:
        return [GIVEN_NUMBER] * len(determined_by)
    return [FIXED if i in fixed and by != "none" else by for i, by in enumerate(determined_by)]


def _rows(
    names: Sequence[Label],
    values: Sequence[float],
    shares: Sequence[float],
    origins: Sequence[Origin],
    bounds: Sequence[Interval | None] | None,
) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for i, (name, value, share, origin) in enumerate(
        zip(names, values, shares, origins, strict=True)
    ):
        number = _NUMBER[origin].format(value)
        row = (str(name), number, origin if origin in _CERTAIN else f"{share:.2f}")
        if bounds is None:
            rows.append(row)
            continue
        found = None if origin in (*_CERTAIN, "none") else bounds[i]
        rows.append((*row, "" if found is None else f"{found[0]:.3f} to {found[1]:.3f}"))
    return rows


def _solution_line(record: LearnedRecord) -> str:
    how, solution, certificate = record.parameters, record.solution, record.certificate
    polished = ", polished" if solution.polished else ""
    return (
        f"learned with C = {how.C:g}, {how.margin} margins ({solution.solver}{polished}): "
        f"confirmed optimal, duality gap <= {round_up(certificate.gap, 2):.1e}, |W - W*| <= "
        f"{round_up(certificate.distance, 2):.1e} with |W| = {certificate.size:.3g}; active pairs "
        f"{certificate.active_pairs:,}, tied grades {certificate.tied_grades}"
    )


def _normalisation(record: LearnedRecord) -> str:
    convention = NORMALISATION[record.factors.gauge]
    if record.parameters.noun == "grade":
        return convention
    return convention.replace(
        "worst grade has gain 0, the best gain 1",
        "least relevant document has relevance 0, the most relevant 1",
    )


def _about_intervals(bounds: IntervalsRecord | None) -> list[str]:
    if bounds is None:
        return []
    left_out = f" ({bounds.left_out} left out: nothing to learn)" if bounds.left_out else ""
    C = "C is kept"
    if bounds.C is not None:
        C = f"C is chosen again in each, from {bounds.C[0]:g} to {bounds.C[1]:g}"
    return [
        f"resamples: how far the numbers move with other queries, in {bounds.resamples:,} fits"
        f"{left_out}; {C}; it is spread, not an interval for a judge's own numbers, and what is "
        "fixed or partly the penalty has none"
    ]


def _about_families(families: FamiliesRecord | None) -> list[str]:
    if families is None:
        return []
    sides = [
        ("gains", families.gains, families.gains_given, families.gain_parameter),
        ("discounts", families.discounts, families.discounts_given, families.discount_parameter),
    ]
    words = []
    for side, name, given, parameter in sides:
        learned = "" if parameter is None else f" ({parameter:.4g})"
        words.append(f"{side} {name}{' (given)' if given and name != GIVEN else learned}")
    lines = [f"in the families: {', '.join(words)}"]
    if families.starts > 1:
        where = "they all lead to it"
        if families.optima > 1:
            where = f"they lead to {families.optima} local optima"
        lines.append(
            "confirmed for gains and for discounts, each given the other; the best of "
            f"{families.starts} starts: {where}"
        )
    return lines


def _about_rank(record: LearnedRecord) -> list[str]:
    if record.families is not None:
        return []
    factors = record.factors
    return [
        f"rank 1: sigma_2 / sigma_1 = {factors.second_ratio:.3f}; the DCG accounts for "
        f"{factors.rank_one_share:.1%} of the sum of squares of W (normalised as above)"
    ]


def _about_C(change: float | None) -> list[str]:
    if change is None:
        return []
    return [f"if C doubled, no gain or discount would change by more than about {change:.3f}"]
