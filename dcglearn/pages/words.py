"""Sentences of the page: tallies of claims, whose they are, and what made the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dcglearn.lab.claims import CLAIM_VERDICTS, Claim, ClaimVerdict

SHARED = (
    "The points of a curve share random numbers: in each repetition a larger sample begins with "
    "the smaller one, and errors, margins and truths are compared on the same lists. So a curve "
    "moves as a whole from one seed to another, and differences along it, or between two curves, "
    "are mostly known better than its band suggests."
)

READING = (
    "Intervals and bands are 95% Student intervals of the mean over repetitions; lists and judges "
    "differ between repetitions. Differences are paired: both sides use the same lists in each "
    "repetition. A claim holds if the intervals show it, does not hold if they show the contrary, "
    "and is undecided otherwise. Words in quotation marks are the paper's own. A threshold is this "
    "project's where it says so; the paper mostly gives none."
)

TIMES = (
    "Processor time of the cells, on the machine that computed them; on several workers they take "
    "that much less by the clock. Drawing is not included. A cell that two experiments share "
    "counts in both."
)

_PLURAL: dict[ClaimVerdict, str] = {
    "holds": "hold",
    "holds, with a reason": "hold with a reason",
    "does not hold": "do not hold",
    "undecided": "are undecided",
    "not judged (quick)": "are not judged in a quick run",
}

_SINGULAR: dict[ClaimVerdict, str] = {
    "holds": "holds",
    "holds, with a reason": "holds with a reason",
    "does not hold": "does not hold",
    "undecided": "is undecided",
    "not judged (quick)": "is not judged in a quick run",
}


def tally(claims: Iterable[Claim]) -> list[tuple[ClaimVerdict, str]]:
    """Count the verdicts on claims.

    Parameters
    ----------
    claims : iterable of Claim

    Returns
    -------
    list of (verdict, str)
        In words, for each verdict that there is.

    Examples
    --------
    >>> from dcglearn.lab.claims import Finding
    >>> tally([Claim("", Finding(v)) for v in ("holds", "undecided", "holds")])
    [('holds', '2 hold'), ('undecided', '1 is undecided')]
    """
    found = [claim.finding.verdict for claim in claims]
    return [
        (verdict, f"{n} {(_SINGULAR if n == 1 else _PLURAL)[verdict]}")
        for verdict in CLAIM_VERDICTS
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
