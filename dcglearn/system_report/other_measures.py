"""What the values of measures that are not a DCG depend on, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from dcglearn.evaluation.rules import Rules
from dcglearn.measures.binary import BinaryMeasure
from dcglearn.measures.discounts import format_number
from dcglearn.measures.expected_reciprocal_rank import ERR
from dcglearn.measures.rank_biased_precision import RBP
from dcglearn.measures.scale import Scale
from dcglearn.naming.other_measures import err_on_scale


def other_rules_in_words(rules: Rules, measures: Sequence[object]) -> list[str]:
    """Return the choices behind measures that are not a DCG, as sentences.

    >>> for line in other_rules_in_words(Rules(), [BinaryMeasure("AP", levels=(1, 0))]):
    ...     print(line)
    AP: relevant from grade 1 up, and a document without a judgment is not relevant
    """
    relevance = [one for one in measures if isinstance(one, BinaryMeasure)]
    sentences = [*_of_relevance(relevance, rules)] if relevance else []
    usual = [one for one in measures if isinstance(one, ERR) and _is_usual(one)]
    for largest in dict.fromkeys(one.max_rel for one in usual):
        grade = format_number(largest)
        same = ", as in gdeval and ir_measures" if largest == 4 else ""
        sentences.append(f"ERR: grade g satisfies with probability (2^g - 1) / 2^{grade}{same}")
    if any(isinstance(one, RBP) for one in measures):
        sentences.append(
            "most of RBP: with all judgments, and relevant documents below the end of the run"
            if rules.unjudged == "bounds"
            else "residual of RBP: the weight of documents without a judgment and of the ranks "
            "below the run or the cutoff; RBP can be larger by it"
        )
    if rules.least and any(isinstance(one, ERR | RBP) for one in measures):
        sentences.append("ERR and RBP count all gains")
    return sentences


def _of_relevance(measures: Sequence[BinaryMeasure], rules: Rules) -> list[str]:
    by_grade: dict[str, list[str]] = {}
    for one in measures:
        by_grade.setdefault(str(one.rel), []).append(str(one))
    unjudged = ", and a document without a judgment is not relevant"
    unjudged = "" if rules.unjudged == "removed" else unjudged
    sentences = [
        f"{', '.join(names)}: relevant from grade {grade} up{unjudged}"
        for grade, names in by_grade.items()
    ]
    by_judgment = [str(one) for one in measures if one.name in ("Bpref", "infAP")]
    if by_judgment and any(min(one.levels, default=0) < 0 for one in measures):
        sentences.append(f"{', '.join(by_judgment)}: grades below 0 count as not judged")
    return sentences


def _is_usual(measure: ERR) -> bool:
    """Whether the probabilities are those of the formula."""
    scale = Scale(measure.grades or (0,))
    if max(scale.values) > measure.max_rel:
        return False
    return err_on_scale(ERR(None, measure.cutoff, None, measure.max_rel), scale) == measure
