"""What the commands print about measures, and about how well they agree with judgments.

Of a learned one the answer is first; then come its numbers, with what determines each, and details.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.interop.tool_measures import TOOL_MEASURES
from dcglearn.learning.record import (
    FEW_QUERIES,
    ChosenC,
    Estimated,
    LearnedRecord,
    PriorRecord,
    round_up,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import DISCOUNT_RULES
from dcglearn.measures.measure import MeasureFile
from dcglearn.measures.names import NamedMeasure
from dcglearn.measures.presets import PRESETS, preset
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.report.tables import Row, Table, page, shown_p
from dcglearn.report.words import (
    EMPTY_RANKS,
    bulleted,
    certainty_sentences,
    estimate_words,
    filled,
    interval_words,
    kept_together,
    listed,
)

if TYPE_CHECKING:
    from dcglearn.inference.compare import MeasureComparison


class Numbers(NamedTuple):
    """Gains of grades, or discounts of ranks: usual ones by name, and estimates of a model.

    `kind` is one of :data:`dcglearn.report.figures.command_figures.LABELS`.
    """

    kind: str
    names: Sequence[object]
    usual: dict[str, Floats]
    estimates: Sequence[Estimated]


_NUMBER = {"fixed": "{:.3f}", "data": "{:.3f}", "ridge": "({:.3f})", "none": "-"}


def usual_numbers(scale: Scale, n_ranks: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return usual gains and discounts by name; the first discount is 1."""
    names = ("linear-log2", "exponential-log2", "zipf")
    linear, exponential, zipf = (preset(name, scale, n_ranks) for name in names)
    return (
        {"linear": np.array(linear.gains), "2^g - 1": np.array(exponential.gains)},
        {
            "1/log2(rank + 1)": linear.discounts_for(n_ranks),
            "1/rank": zipf.discounts_for(n_ranks),
        },
    )


def unit_range(values: Floats) -> Floats:
    """Map the largest value to 1 and the smallest to 0; equal values to 1."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)


def measure_text(named: NamedMeasure, content: MeasureFile, n_ranks: int | None) -> str:
    """Describe a measure of a file, learned or not."""
    head, measure = f"{named.name}: {in_full(named)}", named.measure
    if isinstance(measure, LinearUtility):
        weights = enumerate(measure.matrix.tolist(), start=1)
        rows = [[str(rank), *row] for rank, row in weights]
        return page(
            head,
            Table(("rank", *map(str, measure.labels)), rows, "W, the worth of a grade at a rank"),
        )
    if LearnedRecord.read(content) is not None:
        return page(head, learned_text(content))
    n_ranks = n_ranks or measure.n_ranks or 10
    discounts = enumerate(measure.discounts_for(n_ranks).tolist(), start=1)
    by_grade = [*zip(map(str, measure.labels), measure.gains, strict=True)]
    by_rank = [(str(rank), discount) for rank, discount in discounts]
    return page(head, Table(("grade", "gain"), by_grade), Table(("rank", "discount"), by_rank))


def in_full(named: NamedMeasure) -> str:
    """Name a measure in full; a learned one by where it comes from, as its numbers need notes."""
    record = LearnedRecord.read(named.file) if named.file else None
    if record is None:
        return str(named.measure)
    kind = "W" if isinstance(named.measure, LinearUtility) else "DCG"
    source = record.learned_from
    return (
        f"{kind} learned from {source.strict:,} strict of "
        f"{counted(source.judgments, 'judgment')} in "
        f"{source.file}"
    )


def parameter_origins(record: LearnedRecord) -> list[list[str]]:
    """Return where each gain and each discount of W comes from.

    ``fixed``: a convention of the gauge; otherwise what determines it, ``data``, ``ridge`` or
    ``none``.
    """
    known, factors = record.identifiability, record.factors
    parts = (
        (known.gains_determined_by, factors.fixed_gains),
        (known.discounts_determined_by, factors.fixed_discounts),
    )
    return [
        ["fixed" if i in fixed and by != "none" else by for i, by in enumerate(determined_by)]
        for determined_by, fixed in parts
    ]


def estimates_of(record: LearnedRecord) -> tuple[Sequence[Estimated], Sequence[Estimated]]:
    """Return the gains and the discounts by a model of the judgment; nothing without one."""
    certainty = record.certainty
    return ((), ()) if certainty is None else (certainty.gains, certainty.discounts)


def parameter_tables(record: LearnedRecord, dcg: DCG) -> list[Table]:
    """Return gains by grade and discounts by rank of a learned file, beside a model's estimates."""
    prior, known, noun = record.prior, record.identifiability, record.parameters.noun
    discounts = dcg.discounts_for(len(record.factors.discounts)).tolist()
    parts = (
        (noun, dcg.labels, "relevance" if noun == "document" else "gain", dcg.gains),
        ("rank", range(1, len(discounts) + 1), "discount", discounts),
    )
    origins = parameter_origins(record)
    from_data = [known.gain_share, known.discount_share]
    if prior is not None:
        from_data = [prior.gains_from_data, prior.discounts_from_data]
        origins = [["fixed" if x != x else "data" for x in shares] for shares in from_data]
    tables = []
    for k, (noun, names, number, values) in enumerate(parts):
        estimates, bounds, rows = estimates_of(record)[k], record.intervals, []
        for i, (name, value) in enumerate(zip(names, values, strict=True)):
            by = origins[k][i]
            row: Row = {noun: str(name), f"learned {number}": _NUMBER[by].format(value)}
            if estimates:
                row["estimate"] = estimate_words(estimates[i])
                row["95% interval"] = interval_words(estimates[i])
            row["from data"] = "fixed" if by == "fixed" else f"{from_data[k][i]:.2f}"
            if bounds is not None:
                low, high = (bounds.gains, bounds.discounts)[k][i]
                moved = "" if by == "fixed" or low != low else f"{low:.3f} to {high:.3f}"
                row[f"{bounds.level:.0%} of resamples"] = moved
            rows.append(row)
        tables.append(Table.of(rows))
    return tables


def answer(record: LearnedRecord, dcg: DCG) -> list[str]:
    """Return what a fit found, in one to three sentences."""
    certainty = record.certainty
    if certainty is None:
        return []
    if certainty.reason:
        return [f"No interval: {certainty.reason}."]
    found = certainty_sentences(dcg.labels, certainty)
    worth = [one.estimate for one in certainty.gains]
    outside = [
        str(label)
        for label, gain, one in zip(dcg.labels, dcg.gains, certainty.gains, strict=True)
        if one.determined and not (one.given or one.low <= gain <= one.high)
    ]
    if outside and worth != sorted(worth, reverse=True):
        found.append(
            f"What is learned falls from grade to grade, so the gain of {listed(outside)} is not "
            "in its interval (see study)."
        )
    return found


def learned_text(content: MeasureFile, source: str = "") -> str:
    """Describe a learned measure: the answer, its numbers, what is undetermined, and details."""
    record, dcg = cast("tuple[LearnedRecord, DCG]", (LearnedRecord.read(content), content.dcg))
    return page(
        filled(" ".join(answer(record, dcg))),
        filled(source),
        *parameter_tables(record, dcg),
        "\n".join(map(filled, _about_numbers(record))),
        f"what the judgments do not determine without a prior:\n{bulleted(record.undetermined)}",
        f"details:\n{bulleted(_details(record))}",
    )


def _about_numbers(record: LearnedRecord) -> list[str]:
    certainty, prior, bounds = record.certainty, record.prior, record.intervals
    lines = [*_OF_W]
    if prior is not None:
        some = f" (from {prior.judgments:,} evenly spaced judgments)"
        learned = f"learned: {_about_prior(prior)}; measure files hold it"
        lines = [learned + some * (prior.judgments < record.learned_from.strict), _FROM_DATA]
    if certainty is not None and not certainty.reason:
        lines.append(
            "estimate: by a model of how people answer; if they answer so, its interval holds the "
            f"true number in {certainty.level:.0%} of studies; {kept_together(certainty.clusters)}"
        )
        lines += [f"{EMPTY_RANKS}, which the learned gains need not"] * certainty.empty_ranks
    if bounds is not None:
        unit = "queries" if bounds.by_query else "judgments"
        n = bounds.left_out
        without = f" ({n:,} left out: nothing to learn, or not solved)" if n else ""
        lines.append(
            f"resamples: how far the numbers of W move with other {unit}, in "
            f"{counted(bounds.resamples, 'fit')}{without}; it is spread, not an interval for a "
            "judge's own numbers"
        )
    return lines


_FROM_DATA = (
    "from data: how much of the variance that the prior leaves to the logarithm of a number the "
    "judgments took away (1: all of it); it is not a standard error"
)
_OF_W = (
    "gains and discounts are those of W; measure files hold them",
    "from data: how much of a number the data determine, as opposed to the penalty w'w (1: the "
    "data alone); it is not a standard error",
    "(x): partly the penalty; -: undetermined",
)


def _about_prior(prior: PriorRecord) -> str:
    if prior.name != "usual":
        return f"starts from {prior.name} and departs from it on evidence"
    centres = [f"{share:.0%} {name}" for name, share in prior.centres.items()]
    most = ", ".join(centres[:3])
    return f"starts from the usual measures ({most}, ...) and departs from them on evidence"


def _details(record: LearnedRecord) -> list[str]:
    how, solution, certificate = record.parameters, record.solution, record.certificate
    factors, agreement = record.factors, record.agreement
    polished = ", polished" if solution.polished else ""
    details = [
        f"W learned with C = {how.C:g}, {how.margin} margins ({solution.solver}{polished}): "
        f"confirmed optimal, duality gap <= {round_up(certificate.gap):.1e}, |W - W*| <= "
        f"{round_up(certificate.distance):.1e} with |W| = {certificate.size:.3g}; active pairs "
        f"{certificate.active_pairs:,}, tied grades {certificate.tied_grades}",
        f"rank 1 of W: sigma_2 / sigma_1 = {factors.second_ratio:.3f}; its DCG accounts for "
        f"{factors.rank_one_share:.1%} of its sum of squares",
        f"agreement with the training judgments: {agreement.utility:.4f} of W, "
        f"{agreement.factors:.4f} of its DCG, {agreement.dcg:.4f} of the DCG above",
    ]
    return details if record.choice is None else [*details, _about_choice(record.choice)]


def _about_choice(choice: ChosenC) -> str:
    held_out = "queries" if choice.by_query else "judgments"
    rule = "is the largest within one standard error of the best"
    if choice.queries < FEW_QUERIES:
        rule = f"agrees best, for there are fewer than {FEW_QUERIES} {held_out}"
    return (
        f"C = {choice.C:g} {rule}, of {len(choice.grid)} candidates, by agreement with held-out "
        f"{held_out}: {choice.agreement[choice.grid.index(choice.C)]:.4f}"
        + (f"; {choice.remark}" if choice.remark else "")
    )


OPENING = """\
A measure is a preset, with nDCG(...) around it and @ 10 after it where wanted; in full,
nDCG({2: 3, 1: 1, 0: 0}, log2) @ 10; or a file, learned.json. r is the value of a grade, i
the rank. Quote names with brackets in a shell."""

_OTHER_MEASURES = (
    ("P@10", "share of relevant documents among the first 10", "P_10, precision@10"),
    ("AP, AP@10", "mean precision at the ranks of relevant documents", "map, map_cut_10"),
    ("RR, RR@10", "1 / rank of the first relevant document", "recip_rank, mrr@10"),
    ("R@1000", "share of the relevant documents among the first 1000", "recall_1000"),
    ("Rprec", "precision at rank R, with R relevant documents", "r-precision"),
    ("Bpref", "order of judged documents; Buckley & Voorhees 2004", "bpref"),
    ("infAP", "AP of pools judged in part; Yilmaz & Aslam 2006", ""),
    ("Success@5", "whether a relevant document is among the first 5", "success_5, hit_rate@5"),
    ("IPrec@0.1", "largest precision from a recall of .1 on", "iprec_at_recall_0.10"),
    ("SetP, SetR, SetF, SetAP", "of the whole run, without order", "set_P, set_recall, ..."),
    (
        "ERR@20",
        "sum_i R_i / i prod_{j < i} (1 - R_j); Chapelle et al. 2009",
        "ERR({2: 0.9, 1: 0.3, 0: 0})@20, ERR(learned.json)@20",
    ),
    (
        "RBP(p=0.8)",
        "(1 - p) sum_i p^(i - 1) r_i / r_max, and the residual; Moffat & Zobel 2008",
        "RBP({2: 1, 1: 0.5, 0: 0}, p=0.8)",
    ),
)


def known_measures() -> dict[str, Table]:
    """Return tables of presets, rules of discounts, other measures and those of tools."""
    return {
        "presets": Table(
            ("preset", "formula", "source"),
            [
                (f"{name}:{one.parameter}" if one.parameter else name, one.formula, one.source)
                for name, one in PRESETS.items()
            ],
            "Presets: gain and discount",
        ),
        "discounts": Table(
            ("rule", "formula", "source"),
            [
                (f"{name}({one.parameter})" if one.parameter else name, one.formula, one.source)
                for name, one in DISCOUNT_RULES.items()
            ],
            "Rules of discounts, for measures in full",
        ),
        "others": Table(
            ("measure", "value", "also"),
            _OTHER_MEASURES,
            "Other measures, in evaluate; all but ERR take (rel=2) for: relevant from grade 2 up",
        ),
        "tools": Table(
            ("tool", "its measure", "-m here", "options"),
            TOOL_MEASURES,
            "Measures of other tools, and what computes the same here",
        ),
    }


def agreement_table(content: Mapping[str, Any], weighted: bool) -> Table:
    """Return the document of ``agree`` as a table; `weighted` says whether weights differ."""
    ties, rows = content["ties"], []
    for one in content["rows"]:
        known = not math.isnan(one["low"])  # a single query has none
        row: Row = {
            "measure": one["measure"],
            "agreement": one["agreement"],
            "95% interval": f"{one['low']:.4f} to {one['high']:.4f}" if known else "-",
        }
        shown = ("right", "tied", "wrong", *["with_ties"] * (ties > 0), "in full")
        rows.append(row | {name.replace("_", " "): one[name] for name in shown})
    about = _about(content["strict"], content["queries"], content["without_query"], ties)
    about += ["agreement is weighted, the counts are not"] * weighted
    return Table.of(rows, "; ".join(about))


def queries_text(n_queries: int, alone: int) -> str:
    """Name the queries of judgments, and how many judgments have none."""
    if not n_queries:
        return "without query ids"
    return f"of {counted(n_queries, 'query', 'queries')}" + (
        f" and {alone:,} without a query" if alone else ""
    )


def _about(strict: int, queries: int, alone: int, ties: int) -> list[str]:
    independent = "keep a query together" if queries else "take each judgment as independent"
    with_ties = (
        f"with ties: agreement with all answers, where the measure calls the {ties:,} closest "
        "pairs ties, as many as people did"
    )
    return [
        f"Agreement with {counted(strict, 'strict judgment')} {queries_text(queries, alone)}",
        "a tie under the measure counts 1/2",
        f"intervals {independent}",
        *[with_ties] * (ties > 0),
    ]


def comparison_table(comparison: MeasureComparison) -> Table:
    """Return a table of a comparison, one row per measure; CSV has what JSON has of each."""
    rows = []
    for one in comparison.rows:
        lead = "" if one.ahead_low is None else f"{one.ahead_low:+.4f} to {one.ahead_high:+.4f}"
        row: Row = {
            "measure": one.name,
            "agreement": one.agreement,
            "95% interval": f"{one.low:.4f} to {one.high:.4f}",
            f"lead of {comparison.against}": one.ahead,
            "95% interval of lead": lead,
            "p": None if one.p is None else shown_p(one.p),
            "verdict": one.verdict,
        }
        if comparison.ties:
            row["with ties"] = one.with_ties
        rows.append(row | {"in full": one.measure})
    about = [
        *_about(
            comparison.judgments, comparison.queries, comparison.without_query, comparison.ties
        ),
        f"learned measures: {comparison.n_folds}-fold cross-validation, "
        f"{counted(comparison.n_repeats, 'time')}",
        "leads are paired, and p is not corrected for the number of measures",
        f"near the line: p from {comparison.near[0]:.2f} to {comparison.near[1]:.2f}, or other "
        "folds could change the verdict",
    ]
    if comparison.effective < comparison.queries / 2:
        about.insert(
            1, f"queries so uneven that they are worth {comparison.effective:,.0f} of equal size"
        )
    return Table.of(rows, "; ".join(about), records=comparison.to_json()["rows"])
