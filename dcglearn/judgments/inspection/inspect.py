"""Everything that can be said about a set of judgments before anything is learned from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dcglearn.judgments.inspection.judge_answers import judge_answers
from dcglearn.judgments.inspection.judge_tests import JudgeTests, judge_tests
from dcglearn.judgments.inspection.list_pairs import list_pairs
from dcglearn.judgments.inspection.query_shares import QueryShares, query_shares
from dcglearn.judgments.inspection.summary import Summary, summary_with_pairs
from dcglearn.judgments.preferences import Preferences


@dataclass(frozen=True)
class Inspection:
    """What a set of judgments holds.

    Attributes
    ----------
    summary : Summary
    queries : QueryShares or None
        None if no strict judgment has a query id.
    judges : JudgeTests or None
        None if no judge is known.
    """

    summary: Summary
    queries: QueryShares | None
    judges: JudgeTests | None

    def to_json(self) -> dict[str, Any]:
        """Return everything as a dict that JSON can hold."""
        return {
            **self.summary.to_json(),
            "query_shares": None if self.queries is None else asdict(self.queries),
            "judge_tests": None if self.judges is None else asdict(self.judges),
        }


def inspect_judgments(preferences: Preferences, documents: bool = False) -> Inspection:
    """Count judgments, and find dominant queries and judges who stand out.

    Parameters
    ----------
    preferences : Preferences
    documents : bool, default False
        Whether lists hold documents without grades.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 1]]] * 30
    >>> judges = ["x", "y"] * 15
    >>> answers = ["a", "b"] * 15
    >>> found = inspect_judgments(Preferences.of(lists, answers, Scale((1, 0)), judges=judges))
    >>> found.judges.shared_pairs, found.judges.contradicted_pairs, found.queries
    (1, 1, None)
    """
    pairs = list_pairs(preferences)
    answers = judge_answers(preferences, pairs, documents)
    return Inspection(
        summary_with_pairs(preferences, pairs),
        query_shares(preferences),
        None if answers is None else judge_tests(answers),
    )
