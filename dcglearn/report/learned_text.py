"""What a fit prints, the answer first: sentences, numbers, what is undetermined, details."""

from __future__ import annotations

from typing import cast

from dcglearn.base.numbers import counted, round_up
from dcglearn.learning.record import (
    ChosenC,
    LearnedRecord,
    NumberRecord,
    ParameterIntervals,
    PriorRecord,
    is_affine,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure_files import MeasureFile
from dcglearn.report.certainty_words import (
    EMPTY_RANKS,
    certainty_sentences,
    grade_names,
    kept_together,
    worth_sentence,
)
from dcglearn.report.parameter_tables import learned_record, parameter_origins, parameter_tables
from dcglearn.report.tables import Table
from dcglearn.report.wording import bulleted, wrap_lines

_LEAST_SHARE = 0.05
"""Usual measures with less weight are not named."""


def answer(content: MeasureFile) -> list[str]:
    """Return what a fit found, in one to three sentences."""
    record, dcg = learned_record(content), cast(DCG, content.dcg)
    certainty = record.certainty
    if certainty is None or record.parameters.noun != "grade":
        return []
    labels = dcg.grades or range(dcg.n_grades)
    if not certainty.reason:
        return certainty_sentences(labels, certainty)
    numbers = [
        NumberRecord(determined=origin == "data", given=False, estimate=gain)
        for origin, gain in zip(parameter_origins(record)[0], dcg.gains, strict=True)
    ]
    worth = worth_sentence(grade_names(labels), numbers)
    return [*([worth] if worth else []), f"No interval: {certainty.reason}."]


def learned_text(content: MeasureFile, source: str = "") -> str:
    """Describe a learned measure: the answer, its numbers, what is undetermined, and details."""
    record = learned_record(content)
    gains, discounts = parameter_tables(content)
    found = answer(content)
    without = " without a prior" if record.prior else ""
    parts = [
        *([wrap_lines(" ".join(found))] if found else []),
        *([source] if source else []),
        gains.text(),
        discounts.text(),
        "\n".join(wrap_lines(one) for one in _about_numbers(record)),
        f"what the judgments do not determine{without}:\n{bulleted(record.undetermined)}",
        "\n".join(["details:", *_details(record)]),
    ]
    return "\n\n".join(parts)


def _about_numbers(record: LearnedRecord) -> list[str]:
    """Return what the columns of the tables are."""
    certainty, prior, known = record.certainty, record.prior, record.identifiability
    lines = ["gains and discounts are those of W; measure files hold them"]
    if prior is not None:
        lines = [f"learned: {_about_prior(prior)}; measure files hold it"]
        if prior.judgments < record.learned_from.strict:
            lines[0] += f" (from {prior.judgments:,} evenly spaced judgments)"
    if certainty is not None and certainty.reason and record.parameters.noun != "grade":
        lines.append(f"no interval: {certainty.reason}")
    if certainty is not None and not certainty.reason:
        lines.append(
            "estimate: by a model of how people answer; if they answer so, its interval holds the "
            f"true number in {certainty.level:.0%} of studies; {kept_together(certainty.clusters)}"
        )
        if certainty.empty_ranks:
            lines.append(f"{EMPTY_RANKS}, which the learned gains need not")
    if prior is not None:
        lines.append(
            "from data: how much of the variance that the prior leaves to the logarithm of a "
            "number the judgments took away (1: all of it); it is not a standard error"
        )
    lines.append(
        f"data share: how much of a number {'of W ' if prior else ''}the data determine, as "
        "opposed to the penalty w'w (1: the data alone); it is not a standard error"
    )
    if {"ridge", "none"} & {*known.gains_determined_by, *known.discounts_determined_by}:
        lines.append("(x): partly the penalty; -: undetermined")
    return [*lines, *([] if record.intervals is None else [_about_resamples(record.intervals)])]


def _about_prior(prior: PriorRecord) -> str:
    if prior.name != "usual":
        return f"starts from {prior.name} and departs from it on evidence"
    named = [(name, share) for name, share in prior.centres.items() if share >= _LEAST_SHARE]
    words = [f"{share:.0%} {name}" for name, share in named]
    rest = 1 - sum(share for _, share in named)
    if rest >= _LEAST_SHARE / 2:
        words.append(f"{rest:.0%} others")
    return f"starts from the usual measures ({', '.join(words)}) and departs from them on evidence"


def _about_resamples(bounds: ParameterIntervals) -> str:
    reason = "left out: nothing to learn, or not solved"
    left_out = f" ({bounds.left_out} {reason})" if bounds.left_out else ""
    unit = "queries" if bounds.by_query else "judgments"
    C = "C is kept"
    if bounds.C[0] < bounds.C[1]:
        C = f"C is chosen again in each, from {bounds.C[0]:g} to {bounds.C[1]:g}"
    return (
        f"resamples: how far the numbers move with other {unit}, in "
        f"{counted(bounds.resamples, 'fit')}{left_out}; {C}; it is spread, not an interval for a "
        "judge's own numbers, and what is fixed or partly the penalty has none"
    )


def _details(record: LearnedRecord) -> list[str]:
    how, solution, certificate = record.parameters, record.solution, record.certificate
    factors, agreement = record.factors, record.agreement
    polished = ", polished" if solution.polished else ""
    change = record.identifiability.change_on_doubling_c
    agreements = [
        ("W (the utility)", agreement.utility),
        ("rank-1 part of W", agreement.rank_one),
        *([("the DCG of W", agreement.factors)] if record.prior else []),
        ("the DCG above", agreement.dcg),
    ]
    return [
        f"learned with C = {how.C:g}, {how.margin} margins ({solution.solver}{polished}): "
        f"confirmed optimal, duality gap <= {round_up(certificate.gap, 2):.1e}, |W - W*| <= "
        f"{round_up(certificate.distance, 2):.1e} with |W| = {certificate.size:.3g}; active pairs "
        f"{certificate.active_pairs:,}, tied grades {certificate.tied_grades}",
        f"normalisation{' of W' if record.prior else ''}: {_normalisation(record)}",
        *(
            []
            if change is None
            else [f"if C doubled, no gain or discount would change by more than about {change:.3f}"]
        ),
        f"rank 1: sigma_2 / sigma_1 = {factors.second_ratio:.3f}; the DCG accounts for "
        f"{factors.rank_one_share:.1%} of the sum of squares of W (normalised as above)",
        *_about_choice(record.choice),
        "",
        Table(("agreement with the training judgments", ""), agreements).text(),
    ]


def _normalisation(record: LearnedRecord) -> str:
    """Say what is fixed by convention."""
    factors = record.factors
    if record.parameters.noun == "document":
        gains = "the least relevant document has relevance 0, the most relevant 1"
    else:
        worst = "an empty rank" if factors.gauge.startswith("absolute") else "the worst grade"
        gains = f"{worst} has gain 0, the best gain 1"
    if is_affine(factors.gauge):
        return (
            f"{gains}; the largest discount is 1 and the smallest 0 (only ratios of differences "
            "between discounts are determined)"
        )
    (rank,) = factors.fixed_discounts
    if not rank:
        return f"{gains}; the first discount is 1"
    sign = "-1" if factors.discounts[rank] < 0 else "1"
    return f"{gains}; the discount of rank {rank + 1} is {sign}, as that of rank 1 is 0"


def _about_choice(choice: ChosenC | None) -> list[str]:
    if choice is None:
        return []
    from dcglearn.report.judgments import choice_table  # slower to load than all else here

    return ["", choice_table(choice).text()]
