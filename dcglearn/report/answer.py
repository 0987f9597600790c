"""The answer of a fit in plain sentences: what grades are worth, and whether usual gains fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from dcglearn.learning.record import CertaintyRecord, HypothesisRecord, LearnedRecord, NumberRecord
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Label
from dcglearn.naming.measure_files import MeasureFile
from dcglearn.report.certainty_words import FAMILY_NAMES, one_in, short
from dcglearn.report.parameter_tables import learned_record, parameter_origins

_MOST_NAMED = 5
"""The worth of more grades is in the table only."""


class _Worth(NamedTuple):
    name: str
    value: float
    interval: str = ""


def answer(content: MeasureFile) -> list[str]:
    """Return what a fit found, in one to three sentences.

    Parameters
    ----------
    content : MeasureFile
        A learned one.

    Returns
    -------
    list of str
        Nothing for documents, which have no grades, and for files without a word on certainty.
    """
    record = learned_record(content)
    certainty = record.certainty
    if certainty is None or record.parameters.noun != "grade":
        return []
    dcg = cast(DCG, content.dcg)  # a record is read only where there is one
    labels = dcg.grades or range(dcg.n_grades)
    if certainty.reason:
        worth = _worth_words(_learned(dcg, labels, record))
        return [*([worth] if worth else []), f"No interval: {certainty.reason}."]
    numbers = certainty.gains
    if len(labels) > 2:
        named = [_grade(labels, i) for i in range(len(labels))]
        found = _worth_words(_estimated(named, numbers, certainty.level))
        unknown = [
            name
            for name, one in zip(named, numbers, strict=True)
            if not one.given and not one.determined
        ]
    else:
        found, unknown = _two_grades(certainty), []
    return [
        *([found] if found else []),
        *([_unknown(unknown)] if unknown else []),
        *(_verdicts(certainty.hypotheses) if certainty.hypotheses else []),
        *([_untested(certainty.untested)] if len(labels) > 2 and certainty.untested else []),
    ]


def _unknown(names: Sequence[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"These judgments do not determine what {_and(names)} {verb} worth."


def _untested(reason: str) -> str:
    return f"Whether 2^g - 1 and linear gains fit is not said here: {reason}."


def _estimated(names: Sequence[str], numbers: Sequence[NumberRecord], level: float) -> list[_Worth]:
    """Return what is determined and not given; the first interval says what it is."""
    found: list[_Worth] = []
    for name, one in zip(names, numbers, strict=True):
        if one.given or not one.determined:
            continue
        if one.estimate is None or one.low is None or one.high is None:
            continue
        what = "" if found else f"{level:.0%} interval "
        found.append(_Worth(name, one.estimate, f" ({what}{short(one.low)} to {short(one.high)})"))
    return found


def _learned(dcg: DCG, labels: Sequence[Label], record: LearnedRecord) -> list[_Worth]:
    origins = parameter_origins(record)[0]
    return [
        _Worth(_grade(labels, i), gain)
        for i, (gain, origin) in enumerate(zip(dcg.gains, origins, strict=True))
        if origin == "data"
    ]


def _worth_words(found: Sequence[_Worth]) -> str:
    if not found:
        return ""
    if len(found) > _MOST_NAMED:
        return f"What {len(found)} grades are worth is in the table."
    first, *others = found
    parts = [f"{first.name} is worth {short(first.value)} of the best{first.interval}"]
    parts += [f"{one.name} {short(one.value)}{one.interval}" for one in others]
    words = _and(parts)
    return f"{words[0].upper()}{words[1:]}."


def _two_grades(certainty: CertaintyRecord) -> str:
    """Return how much the second rank counts: the gains of two grades are not in question."""
    names = [f"rank {i}" for i in range(1, len(certainty.discounts) + 1)]
    found = _estimated(names, certainty.discounts, certainty.level)[:1]
    words = "There are two grades, so gains are not in question"
    if not found:
        return f"{words}."
    return f"{words}; {found[0].name} counts {short(found[0].value)} of rank 1{found[0].interval}."


def _verdicts(hypotheses: Sequence[HypothesisRecord]) -> list[str]:
    """Return which usual gains the judgments contradict, and how much that changes."""
    found = []
    for verdict, words in (
        ("rejected", "These judgments contradict {}."),
        ("near the line", "They leave {} in doubt: more judgments could decide."),
        ("not rejected", "They do not contradict {}."),
        ("not determined", "They cannot tell whether {} fit."),
    ):
        named = [_hypothesis(one) for one in hypotheses if one.verdict == verdict]
        if named:
            found.append(words.format(_and(named)))
    return [found[0].replace("They", "These judgments", 1), *found[1:]]


def _hypothesis(one: HypothesisRecord) -> str:
    """Name usual gains, what the middle grade is worth in them, and what they change."""
    share = one.reversed_judged
    details = [f"middle grade {short(one.gains[1])}"] if len(one.gains) == 3 else []
    if one.verdict in ("rejected", "near the line"):
        count = f"{one_in(share)} judged pairs" if share else "no judged pair"
        details.append(f"{count} would be ordered differently")
    name = FAMILY_NAMES[one.hypothesis]
    return f"{name} ({', '.join(details)})" if details else name


def _grade(labels: Sequence[Label], index: int) -> str:
    last = len(labels) - 1
    if last == 2:
        return ("the best grade", "the middle grade", "the worst grade")[index]
    return f"grade {labels[index]}"


def _and(parts: Sequence[str]) -> str:
    """Join parts with commas and an "and".

    >>> _and(["one", "two", "three"])
    'one, two and three'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
