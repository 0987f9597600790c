"""What a fit prints, the answer first: sentences, numbers, what is undetermined, details."""

from __future__ import annotations

from dcglearn.base.numbers import counted, round_up
from dcglearn.learning.record import (
    CertaintyRecord,
    ChosenC,
    Gauge,
    LearnedRecord,
    ParameterIntervals,
    PriorRecord,
)
from dcglearn.naming.measure_files import MeasureFile
from dcglearn.report.answer import answer
from dcglearn.report.certainty_words import EMPTY_RANKS
from dcglearn.report.parameter_tables import learned_record, parameter_tables, tables_of_W
from dcglearn.report.tables import Table
from dcglearn.report.wording import bulleted, wrap_lines

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


def learned_text(content: MeasureFile, source: str = "") -> str:
    """Describe a learned measure: the answer, its numbers, what is undetermined, and details.

    Parameters
    ----------
    content : MeasureFile
        As :func:`dcglearn.report.learned.learned_measure` makes it.
    source : str, optional
        A line on the judgments; it stands under the answer.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If a fit did not write it.
    """
    record = learned_record(content)
    gains, discounts = parameter_tables(content)
    found = answer(content)
    head = [wrap_lines(" ".join(found)), ""] if found else []
    lines = [
        *head,
        *([source, ""] if source else []),
        gains.text(),
        "",
        discounts.text(),
        "",
        *(wrap_lines(one) for one in _about_numbers(record)),
        "",
        "what the judgments do not determine without a prior:"
        if record.prior
        else "what the judgments do not determine:",
        bulleted(record.undetermined),
        "",
        *(_without_prior(content, record) if record.prior else []),
        "details:",
        *_details(record),
    ]
    return "\n".join(lines)


def _without_prior(content: MeasureFile, record: LearnedRecord) -> list[str]:
    gains, discounts = tables_of_W(content)
    return [
        "W, of the quadratic program, as gains and discounts:",
        gains.text(),
        "",
        discounts.text(),
        "",
        *(wrap_lines(one) for one in _about_shares(record)),
        "",
    ]


def _about_numbers(record: LearnedRecord) -> list[str]:
    """Return what the columns of the tables are, and how they are normalised."""
    certainty, prior = record.certainty, record.prior
    if prior is None:
        learned = "learned: what agrees best with the judgments; measure files hold it"
    else:
        learned = f"learned: {_about_prior(prior)}; measure files hold it"
        if prior.judgments < record.learned_from.strict:
            learned += f" (from {prior.judgments:,} evenly spaced judgments)"
    lines = []
    if certainty is not None and certainty.reason and record.parameters.noun != "grade":
        lines.append(f"no interval: {certainty.reason}")
    if certainty is not None and not certainty.reason:
        lines += [learned, *_about_estimates(certainty)]
    elif prior is not None:
        lines.append(learned)
    if prior is None:
        return [*lines, *_about_shares(record)]
    return [
        *lines,
        "from data: how much of the variance that the prior leaves to the logarithm of a number "
        "the judgments took away (1: all of it); it is not a standard error",
    ]


def _about_prior(prior: PriorRecord) -> str:
    if prior.name != "usual":
        return f"starts from {prior.name} and departs from it on evidence"
    named = [(name, share) for name, share in prior.centres.items() if share >= _LEAST_SHARE]
    words = ", ".join(f"{share:.0%} {name}" for name, share in named)
    rest = 1 - sum(share for _, share in named)
    others = f", {rest:.0%} others" if rest >= _LEAST_SHARE / 2 else ""
    return f"starts from the usual measures ({words}{others}) and departs from them on evidence"


_LEAST_SHARE = 0.05
"""Usual measures with less weight are not named."""


def _about_shares(record: LearnedRecord) -> list[str]:
    known = record.identifiability
    lines = [
        "data share: how much of a number the data determine, as opposed to the penalty w'w "
        "(1: the data alone); it is not a standard error"
    ]
    if {"ridge", "none"} & {*known.gains_determined_by, *known.discounts_determined_by}:
        lines.append("(x): partly the penalty; -: undetermined")
    return [*lines, *_about_resamples(record.intervals)]


def _about_estimates(certainty: CertaintyRecord) -> list[str]:
    together = " or ".join(f"a {name}" for name in certainty.clusters)
    clusters = "no judgment names its query, so each is taken as independent"
    if together:
        clusters = f"judgments that share {together} are kept together"
    return [
        "estimate: by a model of how people answer; if they answer so, its interval holds the true "
        f"number in {certainty.level:.0%} of studies; {clusters}",
        *([f"{EMPTY_RANKS}, which the learned gains need not"] if certainty.empty_ranks else []),
    ]


def _details(record: LearnedRecord) -> list[str]:
    agreements = [
        ("W (the utility)", record.agreement.utility),
        ("rank-1 part of W", record.agreement.rank_one),
        *([("the DCG of W", record.agreement.factors)] if record.prior else []),
        ("the DCG above", record.agreement.dcg),
    ]
    return [
        _solution_line(record),
        f"normalisation: {_normalisation(record)}",
        *_about_C(record.identifiability.change_on_doubling_c),
        *_about_rank(record),
        *_about_choice(record.choice),
        "",
        Table(("agreement with the training judgments", ""), agreements).text(),
    ]


def _about_choice(choice: ChosenC | None) -> list[str]:
    if choice is None:
        return []
    from dcglearn.report.judgments import choice_table  # slower to load than all else here

    return ["", choice_table(choice).text()]


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


def _about_resamples(bounds: ParameterIntervals | None) -> list[str]:
    if bounds is None:
        return []
    reason = "left out: nothing to learn, or not solved"
    left_out = f" ({bounds.left_out} {reason})" if bounds.left_out else ""
    unit = "queries" if bounds.by_query else "judgments"
    C = "C is kept"
    if bounds.C[0] < bounds.C[1]:
        C = f"C is chosen again in each, from {bounds.C[0]:g} to {bounds.C[1]:g}"
    return [
        f"resamples: how far the numbers move with other {unit}, in "
        f"{counted(bounds.resamples, 'fit')}{left_out}; {C}; it is spread, not an interval for a "
        "judge's own numbers, and what is fixed or partly the penalty has none"
    ]


def _about_rank(record: LearnedRecord) -> list[str]:
    factors = record.factors
    return [
        f"rank 1: sigma_2 / sigma_1 = {factors.second_ratio:.3f}; the DCG accounts for "
        f"{factors.rank_one_share:.1%} of the sum of squares of W (normalised as above)"
    ]


def _about_C(change: float | None) -> list[str]:
    if change is None:
        return []
    return [f"if C doubled, no gain or discount would change by more than about {change:.3f}"]
