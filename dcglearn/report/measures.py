"""Measures in words and tables: their numbers, what determines each, how they were learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from dcglearn.base.errors import InputError
from dcglearn.learning.identify import Determined
from dcglearn.measures.files import MeasureFile
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Label
from dcglearn.measures.utility import LinearUtility
from dcglearn.report.judgments import undetermined
from dcglearn.report.tables import Table

Status = Literal["fixed", "data", "ridge", "none"]

FIXED: Status = "fixed"

_AFFINE = (
    "the largest discount is 1 and the smallest 0 (only ratios of differences between discounts "
    "are determined)"
)

NORMALISATION = {
    "worst": "the worst grade has gain 0, the best gain 1; the first discount is 1",
    "absolute": "an empty rank has gain 0, the best grade gain 1; the first discount is 1",
    "worst order": f"the worst grade has gain 0, the best gain 1; {_AFFINE}",
    "absolute order": f"an empty rank has gain 0, the best grade gain 1; {_AFFINE}",
}
"""What is fixed by convention, by the gauge that is stored in a learned file."""


def learned_text(content: MeasureFile) -> str:
    """Lay out a learned measure: parameters, certificate, agreement, what is not determined.

    Parameters
    ----------
    content : MeasureFile
        As :func:`dcglearn.learning.record.learned_measure` makes it.
    """
    about = content.about
    gauge = about["factors"]["gauge"]
    documents = about["parameters"]["encoding"] == "documents"
    gains, discounts = parameter_tables(content)
    convention = NORMALISATION[gauge]
    if documents:
        convention = convention.replace(
            "worst grade has gain 0, the best gain 1",
            "least relevant document has relevance 0, the most relevant 1",
        )
    agreed = [(READERS[part], about["agreement"][part]) for part in READERS]
    lines = [
        _solution_line(about),
        "",
        gains.text(),
        "",
        discounts.text(),
        "",
        f"normalisation: {convention}",
        "data share: how much of a number the data determine, as opposed to the penalty w'w "
        "(1: the data alone); it is not a standard error",
        "(x): partly the penalty; -: undetermined",
        *_about_intervals(about.get("intervals")),
        *_about_C(about["identifiability"]["move"]),
        f"rank 1: sigma_2 / sigma_1 = {about['factors']['second_ratio']:.3f}; the DCG accounts "
        f"for {about['factors']['first_share']:.1%} of the sum of squares of W, so normalised",
        "",
        Table(("agreement with the judgments learned from", ""), agreed).text(),
        "",
        "what the judgments do not determine:",
        undetermined(about["identifiability"]["statements"]),
    ]
    return "\n".join(lines)


def _about_intervals(found: Mapping[str, Any] | None) -> list[str]:
    if found is None:
        return []
    left_out = f" ({found['left_out']} left out: nothing to learn)" if found["left_out"] else ""
    return [
        f"intervals: bootstrap over queries, {found['resamples']:,} fits{left_out}; C is not "
        "chosen again, and what is fixed has no interval"
    ]


def _about_C(move: float | None) -> list[str]:
    if move is None:
        return []
    return [f"if C doubled, no gain or discount would change by more than about {move:.3f}"]


READERS = {
    "utility": "W (the utility)",
    "rank_one": "rank-1 part of W",
    "dcg": "the DCG above",
}
"""Whose agreement is meant, by key of a learned file."""


def measure_text(
    name: str, content: MeasureFile, picked: Measure | None = None, n_ranks: int | None = None
) -> str:
    """Lay out a measure file, learned or not.

    Parameters
    ----------
    name : str
    content : MeasureFile
    picked : DCG or LinearUtility, optional
        The part that is asked for; the one the file stands for by default.
    n_ranks : int, optional
        How many discounts of a rule to list; its cutoff or 10 by default.
    """
    measure = content.measure if picked is None else picked
    lines = [f"{name}: {in_full(measure, content)}"]
    if content.dcg is not None and content.utility is not None:
        other = "utility" if content.use == "dcg" else "dcg"
        lines.append(f"commands use its {content.use}; it also holds a {other}")
    if isinstance(measure, LinearUtility):
        return "\n".join([*lines, "", weights_table(measure).text()])
    if is_learned(content):
        return "\n".join([*lines, "", learned_text(content)])
    if content.dcg is not None:
        dcg = content.dcg
        width = n_ranks or dcg.n_ranks or 10
        labels = dcg.grades or range(dcg.n_grades)
        gains = [(str(label), gain) for label, gain in zip(labels, dcg.gains, strict=True)]
        discounts = [(str(k + 1), c) for k, c in enumerate(dcg.discounts_for(width).tolist())]
        lines += ["", Table(("grade", "gain"), gains).text()]
        lines += ["", Table(("rank", "discount"), discounts).text()]
    return "\n".join(lines)


def in_full(measure: Measure, content: MeasureFile | None = None) -> str:
    """Name a measure in full; a learned one by where it comes from, for its numbers need notes."""
    if content is None or not is_learned(content):
        return str(measure)
    kind = "W" if isinstance(measure, LinearUtility) else "DCG"
    source = content.about["learned_from"]
    return (
        f"{kind} learned from {source['strict']:,} strict of {source['judgments']:,} judgments in "
        f"{source['file']}"
    )


def weights_table(utility: LinearUtility) -> Table:
    """Return W, a row a rank."""
    heads = [str(label) for label in utility.grades or range(utility.n_grades)]
    rows: list[tuple[str | float, ...]] = [
        (str(k + 1), *row) for k, row in enumerate(utility.weights)
    ]
    return Table(("rank", *heads), rows, "W, the worth of a grade at a rank")


def is_learned(content: MeasureFile) -> bool:
    """Whether a measure file tells, in the form that a fit writes, how it was learned."""
    about = content.about
    if content.dcg is None or not _FACTS.keys() <= about.keys():
        return False
    if not all(isinstance(about[part], dict) for part in _FACTS):
        return False
    if not all(keys <= about[part].keys() for part, keys in _FACTS.items()):
        return False
    found, bounds = about["identifiability"], about.get("intervals")
    lists = [found["gain_share"], found["discount_share"]]
    if bounds is not None:
        if not isinstance(bounds, dict) or not bounds.keys() >= _INTERVALS:
            return False
        lists += [bounds["gains"], bounds["discounts"]]
    discounts = content.dcg.discounts
    lengths = {(content.dcg.n_grades, len(discounts))}
    pairs = {(len(a), len(b)) for a, b in zip(lists[::2], lists[1::2], strict=True)}
    return pairs == lengths and not isinstance(discounts, str)


_FACTS = {
    "learned_from": {"file", "judgments", "strict"},
    "parameters": {"encoding", "margin", "C", "solver"},
    "solution": {"solver", "polished"},
    "certificate": {"gap", "distance", "size", "active_pairs", "tied_grades"},
    "factors": {"gauge", "second_ratio", "first_share", "fixed_gains", "fixed_discounts"},
    "identifiability": {
        "statements",
        "gauge",
        "move",
        "gain_share",
        "discount_share",
        "gains_determined_by",
        "discounts_determined_by",
    },
    "agreement": {"utility", "rank_one", "dcg"},
}
"""What a learned file tells, and this module prints."""

_INTERVALS = {"gains", "discounts", "level", "resamples", "left_out"}


def _solution_line(about: Mapping[str, Any]) -> str:
    how, solution, judged = about["parameters"], about["solution"], about["certificate"]
    polished = ", polished" if solution["polished"] else ""
    return (
        f"learned with C = {how['C']:g}, {how['margin']} margins ({solution['solver']}{polished}): "
        f"confirmed optimal, duality gap {judged['gap']:.1e}, |W - W*| <= {judged['distance']:.1e} "
        f"with |W| = {judged['size']:.3g}; active pairs {judged['active_pairs']:,}, tied grades "
        f"{judged['tied_grades']}"
    )


def parameter_tables(content: MeasureFile) -> tuple[Table, Table]:
    """Return gains by grade and discounts by rank, with what determines each.

    Parameters
    ----------
    content : MeasureFile
        A learned one.

    Returns
    -------
    gains, discounts : Table
        A number that the ridge decides more than the data stands in brackets; one that
        nothing determines is a dash.
    """
    gains, discounts = _values(content)
    found = content.about["identifiability"]
    status = parameter_status(content)
    kind = ("document", "relevance")
    if content.about["parameters"]["encoding"] == "grades":
        kind = ("grade", "gain")
    named = content.dcg.grades if content.dcg is not None else None
    labels: Sequence[Label] = named or range(len(gains))
    ranks = range(1, len(discounts) + 1)
    bounds = content.about.get("intervals", {"gains": None, "discounts": None})
    last = () if bounds["gains"] is None else (f"{bounds['level']:.0%} interval",)
    return (
        Table(
            (*kind, "data share", *last),
            _rows(labels, gains, found["gain_share"], status[0], bounds["gains"]),
        ),
        Table(
            ("rank", "discount", "data share", *last),
            _rows(ranks, discounts, found["discount_share"], status[1], bounds["discounts"]),
        ),
    )


def parameter_status(content: MeasureFile) -> tuple[list[Status], list[Status]]:
    """Say what each gain and each discount of a learned file comes from.

    Parameters
    ----------
    content : MeasureFile
        A learned one.

    Returns
    -------
    gains, discounts : lists of {"fixed", "data", "ridge", "none"}
        ``fixed``: by convention of the gauge.
    """
    found, factors = content.about["identifiability"], content.about["factors"]
    return (
        _status(found["gains_determined_by"], factors["fixed_gains"]),
        _status(found["discounts_determined_by"], factors["fixed_discounts"]),
    )


def _status(determined_by: Sequence[Determined], fixed: Sequence[int]) -> list[Status]:
    return [FIXED if i in fixed and by != "none" else by for i, by in enumerate(determined_by)]


def _rows(
    names: Sequence[Label],
    values: Sequence[float],
    shares: Sequence[float],
    status: Sequence[Status],
    bounds: Sequence[tuple[float, float]] | None,
) -> list[tuple[str, ...]]:
    form = {"fixed": "{:.3f}", "data": "{:.3f}", "ridge": "({:.3f})", "none": "-"}
    rows: list[tuple[str, ...]] = []
    for i, (name, value, share, kind) in enumerate(zip(names, values, shares, status, strict=True)):
        row: tuple[str, ...]
        row = (str(name), form[kind].format(value), FIXED if kind == FIXED else f"{share:.2f}")
        if bounds is not None:
            low, high = bounds[i]
            plain = kind in (FIXED, "none")
            row = (*row, "" if plain else f"{low:.3f} to {high:.3f}")
        rows.append(row)
    return rows


def _values(content: MeasureFile) -> tuple[list[float], list[float]]:
    dcg = content.dcg
    if dcg is None or isinstance(dcg.discounts, str):
        raise InputError("is no learned measure", "give a file that a fit wrote")
    return list(dcg.gains), list(dcg.discounts)
