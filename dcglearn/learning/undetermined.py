"""Sentences about what judgments do not determine."""

from __future__ import annotations

from collections.abc import Sequence

from dcglearn.base.numbers import counted
from dcglearn.learning.record import Identifiability, is_affine
from dcglearn.measures.scale import Label

MOST_LISTED = 5
"""The number of ranks whose separate components are listed."""


def undetermined_statements(
    known: Identifiability, labels: Sequence[Label] | None = None, noun: str = "grade"
) -> list[str]:
    """Say what pairs do not determine, one sentence each."""
    n_grades = len(known.gain_share)
    names = [str(label) for label in (range(n_grades) if labels is None else labels)]
    said = [
        f"the differences of the pairs ({known.n_pairs:,}) have rank {known.rank} of "
        f"{known.n_directions}"
    ]
    if known.free_ranks:
        said.append(f"every {noun} at {_ranks(known.free_ranks)} could gain the same constant")
    if not known.rank:
        return [*said, "no pair differs anywhere: nothing is determined"]
    said += _about_discounts(known)
    if known.constant_ranks:
        said.append(
            f"no pair differs at {_ranks(known.constant_ranks)}: the discount there is undetermined"
        )
    if known.constant_grades:
        never = ", ".join(names[grade] for grade in known.constant_grades)
        value = "gain" if noun == "grade" else "relevance"
        said.append(f"no pair differs in {noun} {never}: its {value} is undetermined")
    said += _about_components(known, names, noun)
    if known.n_unnamed:
        said.append(
            f"{known.n_unnamed} more directions of W are undetermined, because there are too few "
            "pairs"
        )
    return said


def _about_discounts(known: Identifiability) -> list[str]:
    said = []
    rare = [k for k in known.empty_ranks if not known.determined_offsets[k - 1]]
    if rare:
        said.append(
            f"too few pairs have a list that is empty at {_ranks(rare)}: what the worst grade is "
            "worth there, compared with no document, is undetermined"
        )
    if known.same_content and is_affine(known.gauge):
        said.append("discounts are determined only up to an affine map: all pairs reorder one list")
    elif is_affine(known.gauge):
        said.append(
            "discounts are determined only up to an affine map: too few pairs hold lists of "
            f"different content (data share of a common offset {known.offset_share:.2f})"
        )
    return said


def _about_components(known: Identifiability, names: Sequence[str], noun: str) -> list[str]:
    said = []
    for rank, groups in known.components[:MOST_LISTED]:
        sets = " and ".join("{" + ", ".join(names[g] for g in group) + "}" for group in groups)
        said.append(f"at rank {rank} the {noun}s {sets} are never compared with each other")
    if len(known.components) > MOST_LISTED:
        said.append(
            f"and the same holds at {counted(len(known.components) - MOST_LISTED, 'more rank')}"
        )
    return said


def _ranks(ranks: Sequence[int]) -> str:
    """Write ranks as intervals.

    >>> _ranks([1, 2, 3, 7]), _ranks([4])
    ('ranks 1-3, 7', 'rank 4')
    """
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    text = ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in runs)
    return f"rank{'s' if len(ranks) > 1 else ''} {text}"
