"""Marks of significance on the means of systems.

Compared with one baseline, the means that differ from it carry a star. Otherwise, such as after
comparisons of all pairs, each system has a letter, and a mean carries the letters of the systems
that it is significantly above, as in the tables of ranx (Bassani, ECIR 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from dcglearn.system_report.p_values import SIGNIFICANT
from dcglearn.systems.compare_systems import SystemComparison, has_several_baselines

_RANGE = 4
"""From so many neighbours on, a range is shown: a-d."""


@dataclass(frozen=True)
class SignificanceMarks:
    """Marks on the means of systems.

    `of` holds the mark of (system, measure) where there is one, `labels` the label of each system
    that marks refer to, empty if stars are enough, and `baseline` the system of a star.
    """

    of: dict[tuple[str, str], str]
    labels: dict[str, str]
    baseline: str | None


def significance_marks(
    systems: Sequence[str],
    comparisons: Sequence[SystemComparison],
) -> SignificanceMarks:
    """Return the marks that comparisons give.

    >>> import numpy as np
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> from dcglearn.systems.compare_systems import compare_systems
    >>> qrels = {f"q{i}": {"d1": 1, "d2": 0} for i in range(8)}
    >>> runs = {name: {q: {first: 2.0, other: 1.0} for q in qrels}
    ...         for name, first, other in (("good", "d1", "d2"), ("bad", "d2", "d1"))}
    >>> found = evaluate(qrels, runs, "nDCG@10")
    >>> compared = compare_systems(found, "bad", np.random.default_rng(0))
    >>> significance_marks(found.systems, compared).of
    {('good', 'nDCG@10'): '*'}
    """
    significant = [c for c in comparisons if c.corrected < SIGNIFICANT]
    if not has_several_baselines(comparisons):
        stars = {(c.system, c.measure): "*" for c in significant}
        return SignificanceMarks(stars, {}, comparisons[0].baseline if comparisons else None)
    below: dict[tuple[str, str], set[int]] = {}
    at = {system: s for s, system in enumerate(systems)}
    for c in significant:
        ahead, behind = (c.system, c.baseline) if c.difference > 0 else (c.baseline, c.system)
        below.setdefault((ahead, c.measure), set()).add(at[behind])
    names = system_labels(len(systems))
    marks = {key: label_list(sorted(found), names) for key, found in below.items()}
    return SignificanceMarks(marks, dict(zip(systems, names, strict=True)), None)


def system_labels(n: int) -> list[str]:
    """Return labels for n systems: letters, or numbers where letters do not suffice.

    >>> system_labels(3), system_labels(27)[-1]
    (['a', 'b', 'c'], '27')
    """
    letters = ascii_lowercase
    return list(letters[:n]) if n <= len(letters) else [str(i) for i in range(1, n + 1)]


def label_list(numbers: Sequence[int], labels: Sequence[str]) -> str:
    """Return labels in a row; four or more neighbours as a range.

    >>> label_list([0, 2, 3], "abcdefgh"), label_list([0, 2, 3, 4, 5, 7], "abcdefgh")
    ('acd', 'a,c-f,h')
    """
    parts: list[str] = []
    for row in consecutive(numbers):
        if len(row) < _RANGE:
            parts += [labels[i] for i in row]
        else:
            parts.append(f"{labels[row[0]]}-{labels[row[-1]]}")
    return ("" if all(len(part) == 1 and part.isalpha() for part in parts) else ",").join(parts)


def consecutive(numbers: Sequence[int]) -> list[list[int]]:
    """Divide ascending whole numbers into those that follow one another.

    >>> consecutive([1, 2, 3, 5])
    [[1, 2, 3], [5]]
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return rows
