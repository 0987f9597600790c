"""Sentences of the page: tallies of claims, whose they are, and what made the results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dcglearn.lab.claims import ClaimVerdict

SHARED = (
    "The points of a curve share random numbers: in each repetition a larger sample begins with "
    "the smaller one, and errors, margins and truths are compared on the same lists. So a curve "
    "moves as a whole from one seed to another, and differences along it, or between two curves, "
    "are mostly known better than its band suggests."
)

READING = (
    "W, the weight of each grade at each rank, is what is learned. Precision is the share of test "
    "pairs without errors that it orders as the truth does, 0.5 by chance. Similarity is the "
    "cosine of the learned and the true W, after the weight of the worst grade is subtracted at "
    "each rank (eq. 3 of the paper). Intervals and bands are 95% Student intervals of the mean "
    "over repetitions; lists and judges differ between repetitions. Differences are paired: both "
    "sides use the same lists in each repetition. A claim holds if the intervals show it, does "
    "not hold if they show the contrary, and is undecided otherwise; one that limits shares, "
    "such as 93 to 97%, or a bias holds if all means are within the limits. Of what the paper "
    "says, words in quotation marks are its own; the others give its content. A section that is "
    "marked as inferred follows from the order of the paper's figures. A threshold is this "
    "project's where it says so."
)

TIMES = (
    "Processor time of the cells, on the machine that computed them; on several workers they take "
    "that much less by the clock. Drawing is not included. A cell that two experiments share "
    "counts in both."
)

DEPENDS = "depends"
"""In place of a verdict on a claim that was tested in several ways, with different verdicts."""

_COUNTED = (
    ("holds", ("holds", "hold")),
    ("holds, with a reason", ("holds with a reason", "hold with a reason")),
    (DEPENDS, ("depends on how it is tested", "depend on how they are tested")),
    ("does not hold", ("does not hold", "do not hold")),
    ("undecided", ("is undecided", "are undecided")),
    ("not judged (quick)", ("is not judged in a quick run", "are not judged in a quick run")),
)
"""Verdicts, and what is said of one claim and of several."""


def tally(verdicts: Iterable[Collection[ClaimVerdict]]) -> list[tuple[str, str]]:
    """Count the verdicts on claims.

    Parameters
    ----------
    verdicts : iterable of collections of str
        Of each claim, one for each way in which it was tested.

    Returns
    -------
    list of (verdict, str)
        In words, for each verdict that there is. A claim on which there are several different
        verdicts is counted as :data:`DEPENDS`.

    Examples
    --------
    >>> tally([["holds"], ["undecided"], ["holds", "holds"]])
    [('holds', '2 hold'), ('undecided', '1 is undecided')]
    >>> tally([["holds", "does not hold"]])
    [('depends', '1 depends on how it is tested')]
    """
    found = [next(iter(of)) if len(set(of)) == 1 else DEPENDS for of in verdicts]
    return [
        (verdict, f"{n} {words[n > 1]}")
        for verdict, words in _COUNTED
        if (n := found.count(verdict))
    ]


def made_from(made: Mapping[str, Any]) -> str:
    """Say which code made results.

    Parameters
    ----------
    made : mapping
        Their provenance.

    Returns
    -------
    str

    Examples
    --------
    >>> made_from({"revision": "ab40f19, changed", "date": "2026-11-22"})
    'revision ab40f19 of 2026-11-22, with uncommitted changes'
    >>> made_from({"revision": None, "versions": {"dcglearn": "0.1.0"}})
    'dcglearn 0.1.0'
    """
    commit, _, changed = str(made.get("revision") or "").partition(", ")
    if not commit:
        version = (made.get("versions") or {}).get("dcglearn")
        return f"dcglearn {version}" if version else "an unknown version"
    date = f" of {made['date']}" if made.get("date") else ""
    return f"revision {commit}{date}" + (", with uncommitted changes" if changed else "")


def duration(seconds: float | None) -> str:
    """Write a time in words; a dash if it is not known.

    Examples
    --------
    >>> duration(4.26), duration(75.0), duration(None)
    ('4.3 s', '1 min 15 s', '-')
    """
    if seconds is None:
        return "-"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
