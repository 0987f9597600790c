"""What ``pairs`` says about the judgments that it made of ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.judgments.ratings import RatingPairs, Within
from dcglearn.report.wording import bulleted, wrap_lines


def rating_pairs_document(found: RatingPairs) -> dict[str, Any]:
    """Return all numbers as a dict that JSON can hold."""
    data = found.preferences
    strict = int(data.strict.sum())
    return {
        "judgments": len(data),
        "strict": strict,
        "ties": len(data) - strict,
        "weight": float(data.weights.sum()),
        "identical": _identical(found),
        "lists": found.lists,
        "groups": found.groups,
        "possible": found.possible,
        "left_out": {
            "lists_without_id": found.without_id,
            "lists_alone": found.alone,
            "equal": found.equal,
            "small": found.small,
            "not_drawn": found.not_drawn,
        },
    }


def rating_pairs_text(
    found: RatingPairs, out: str, within: Within, equal_weights: bool, drawn: bool
) -> str:
    """Say what was made of ratings, what was left out, and what the pairs weigh."""
    data = found.preferences
    strict = int(data.strict.sum())
    groups = {
        "query": f" of {counted(found.groups, 'query', 'queries')}",
        "judge": f" of {counted(found.groups, 'judge and query', 'pairs of judge and query')}",
        "all": "",
    }[within]
    head = (
        f"wrote {out}: {counted(len(data), 'judgment')}, {strict:,} strict, "
        f"{counted(len(data) - strict, 'tie')}, from {counted(found.lists, 'rated list')}{groups}"
    )
    return wrap_lines(
        head
        + "\n"
        + bulleted([*_left_out(found, within), *_made(found, within, equal_weights, drawn)])
    )


def _left_out(found: RatingPairs, within: Within) -> list[str]:
    ids = {"query": "query", "judge": "query or judge", "all": "id"}[within]
    reasons = (
        (found.without_id, "list", f"without a {ids}"),
        (found.alone, "list", f"alone in a {'query' if within == 'query' else 'group'}"),
        (found.equal, "pair", "of equal ratings"),
        (found.small, "pair", "whose ratings differ by less than the minimum"),
        (found.not_drawn, "pair", "that were not drawn; the others have their weight"),
    )
    return [f"left out: {counted(n, noun)} {why}" for n, noun, why in reasons if n]


def _made(found: RatingPairs, within: Within, equal_weights: bool, drawn: bool) -> list[str]:
    data = found.preferences
    total = f"{data.weights.sum():,.6g}"
    said = []
    if identical := _identical(found):
        said.append(f"of identical lists: {counted(identical, 'judgment')}")
    if equal_weights:
        said.append(f"weights: equal, {total} in all; n lists count as n (n - 1) / 2 judgments")
    else:
        said.append(
            "weights: 2/n per pair of n lists, so that they count as n - 1 judgments; "
            f"{total} in all"
        )
    strict = int(data.strict.sum())
    a_wins = int((data.answers == 0).sum())
    sides = "drawn" if drawn else "in turn"
    said.append(f"sides: {sides}; a wins {a_wins:,} of {counted(strict, 'strict judgment')}")
    if within == "all":
        said.append(
            "pairs of different queries share lists but have no query, so intervals that keep "
            "queries together are too narrow"
        )
    return said


def _identical(found: RatingPairs) -> int:
    lists = found.preferences.lists
    return int(np.all(lists[:, 0] == lists[:, 1], axis=1).sum())
