"""What the commands say about judgments: what a file holds, what stands out, what can be learned.

``pairs`` says what it made of ratings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.judgments.inspection import Contents, Inspection, Summary, count_contents
from dcglearn.judgments.judges import FEWEST_JUDGMENTS, JudgeTest, JudgeTests
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.ratings import RatingPairs, Within
from dcglearn.learning.record import Identifiability, as_json
from dcglearn.measures.scale import Label, Scale
from dcglearn.report.tables import Table
from dcglearn.report.words import bulleted, wrap_lines

MOST_NAMED = 5
"""The number of queries, and of judges, that sentences name."""

MOST_ROWS = 10
"""The number of judges in the table."""

_NAME_LENGTH = 24


def contents_text(name: str, contents: Contents, scale: str) -> str:
    """Describe a judgment file in a paragraph."""
    s = contents
    levels = ", ".join(f"{s.answers[a]:,} {a}" for a in ("tie", "good", "bad") if s.answers[a])
    with_levels = s.answers["good"] or s.answers["bad"]
    ties = counted(s.ties, "tie") + (f" ({levels})" if with_levels else "")
    by = counted(s.queries, "query", "queries") if s.queries else "no query ids"
    judges = f", {counted(s.judges, 'judge')}" if s.judges else ""
    shorter = f" ({s.shorter_lists:,} of {2 * s.judgments:,} shorter)" if s.shorter_lists else ""
    return (
        f"{name}: {counted(s.judgments, 'judgment')}, {s.strict:,} strict ({s.answers['a']:,} a, "
        f"{s.answers['b']:,} b), {ties}; {by}{judges}; lists of {s.n_ranks}{shorter}; {scale}"
    )


def scale_text(scale: Scale, declared: bool, documents: bool) -> str:
    """Describe what lists hold: grades and where their order comes from, or documents."""
    if documents:
        return f"rankings of the {len(scale)} documents {', '.join(map(str, scale.labels))}"
    return f"grades {scale}" + ("" if declared else " (those that occur; best first)")


def held_text(
    name: str, held: Preferences | PackedPairs, strict: int, declared: bool, documents: bool
) -> str:
    """Describe judgments that are held in memory, or that packed files hold."""
    if isinstance(held, PackedPairs):
        files = counted(len({part.path for part in held.row_groups}), "file")
        packed = f"{name}: {counted(len(held), 'packed judgment')}, {strict:,} strict, in {files}"
        return f"{packed}; lists of {held.n_ranks}; grades {held.scale}"
    words = scale_text(held.scale, declared, documents)
    with reporting("counting judgments"):
        return contents_text(name, count_contents(held), words)


def identifiability_text(
    known: Identifiability, labels: Sequence[Label], noun: str = "grade"
) -> str:
    """Describe what judgments determine, before any fit."""
    value = "gain" if noun == "grade" else "relevance"
    shares = (
        "data shares (1: the data alone; 0: the penalty w'w alone): at most "
        f"{known.offset_share:.2f} for a constant added to all discounts; "
        f"{known.discount_share.min():.2f} for the least determined discount; "
        f"{known.gain_share.min():.2f} for the least determined {value}"
    )
    statements = known.undetermined(labels, noun)
    return "What these judgments determine, before any fit (C = 1):\n" + bulleted(
        [*statements, shares]
    )


def findings_text(found: Inspection) -> str:
    """Say what stands out in a set of judgments, or that nothing does."""
    said = findings(found)
    if said:
        return "What stands out:\n" + bulleted(said)
    calm = ["neither side wins more often"]
    if found.queries is not None:
        calm.append("no query dominates")
    if found.judges is not None and found.judges.tested:
        calm.append("no judge answers at random, or nearly always one side")
    return "Nothing stands out: " + "; ".join(calm)


def findings(found: Inspection) -> list[str]:
    """Say what stands out in a set of judgments, one sentence each."""
    s, queries, judges = found.summary, found.queries, found.judges
    said = []
    if queries is not None and queries.queries == 1:
        said.append(f"all strict judgments are of one query, {_named(queries.largest.query)}")
    elif queries is not None and queries.dominant:
        dominant = [
            f"the query {_named(one.query)} holds {one.judgments:,} of the {s.strict:,} strict "
            f"judgments ({_by_weight(s, f'{one.share:.1%}', f'{one.share_of_weight:.1%}')})"
            for one in queries.dominant
        ]
        said += [*_first(dominant), f"the strict judgments are {_queries(found)}"]
    if not _fair(s):
        said.append(_side(s))
    if judges is not None:
        said += _first([_about_judge(one, judges) for one in judges.outstanding])
    if s.weightless:
        said.append(
            f"{s.weightless:,} of {counted(s.strict, 'strict judgment')} "
            f"{'has' if s.weightless == 1 else 'have'} weight 0: without effect on what is "
            "learned, but counted below wherever no weight is mentioned"
        )
    if s.repeated_rows:
        of = ["query"] * bool(s.queries) + ["lists", "answer"] + ["judge"] * bool(s.judges)
        share = f" ({s.repeated_rows / s.judgments:.1%}; they may be other people's)"
        said.append(
            f"{counted(s.repeated_rows, 'exact repetition')} of an earlier row: the same "
            f"{', '.join(of)}{'' if s.judges else share}"
        )
    return said


def inspection_text(found: Inspection) -> str:
    """Describe strict judgments: sides, queries, repeats, contradictions, the ceiling, judges."""
    s, queries = found.summary, found.queries
    lines = []
    if s.weighted:
        lines.append("weights differ: numbers and shares are of judgments, unless of their weight")
    if _fair(s):
        lines.append(_side(s))
    if queries is not None and not queries.dominant:
        most = f"at most {queries.largest.judgments:,} of one query"
        lines.append(f"{_queries(found)}; {most} ({_named(queries.largest.query)})")
    if s.without_query and s.queries:
        lone = counted(s.without_query, "judgment")
        lines.append(f"{lone} without a query; each counts as a query of its own")
    within = s.contradicted_within_query
    of_one = "" if within is None else f"; with opposite answers for one query: {within:,}"
    lines += [
        f"of identical lists: {s.identical:,}",
        f"pairs of lists judged more than once: {s.repeated_pairs:,}; with opposite answers: "
        f"{s.contradicted_pairs:,} ({counted(s.contradicted, 'judgment')}){of_one}",
        f"of lists that were also judged a tie: {s.also_tied:,}",
    ]
    if s.weightless < s.strict:
        most = _by_weight(s, f"{s.unweighted_ceiling:.4f}", f"{s.ceiling:.4f}")
        lines.append(
            f"no measure can agree with more than {most} of them, because of opposite answers and "
            "identical lists"
        )
    text = "The strict judgments:\n" + bulleted(lines)
    return text if found.judges is None else f"{text}\n\n{_judges_text(found.judges)}"


def inspection_json(
    name: str,
    scale: Scale,
    found: Inspection,
    known: Identifiability | None,
    reading: Mapping[str, Any],
    documents: bool,
) -> dict[str, Any]:
    """Return what is in a file, and what it can determine, as a JSON-able dict."""
    noun, record = "document" if documents else "grade", None
    if known is not None:
        statements = known.undetermined(scale.labels, noun)
        record = as_json(known) | {"statements": statements}
    return {
        "file": name,
        f"{noun}s": list(scale.labels),
        **found.to_json(),
        "reading": reading,
        "identifiability": record,
    }


def inspection_page(
    name: str,
    scale: Scale,
    found: Inspection,
    known: Identifiability | None,
    reading: Mapping[str, Any],
    documents: bool,
    declared: bool,
) -> str:
    """Say the same in paragraphs and tables."""
    text = [contents_text(name, found.summary, scale_text(scale, declared, documents))]
    if "digest" in reading:
        text.append(f"SHA-256 of the content: {reading['digest']}")
    nothing = "no strict preference: nothing can be learned from this file"
    text.append(nothing if known is None else findings_text(found))
    if not documents:
        text.append(grade_table(scale.labels, found.summary.grade_counts).text())
    if known is not None:
        noun = "document" if documents else "grade"
        text += [inspection_text(found), identifiability_text(known, scale.labels, noun)]
    return wrap_lines("\n\n".join(text))


def grade_table(labels: Sequence[Label], counts: Sequence[int]) -> Table:
    """Return a table of how often each grade occurs in all lists."""
    total = sum(counts) or 1
    rows = [(str(label), n, n / total) for label, n in zip(labels, counts, strict=True)]
    return Table(("grade", "documents", "share"), rows, digits=3)


def _by_weight(s: Summary, of_judgments: str, of_weight: str) -> str:
    """Return a share of judgments, and of their weight where that differs and can be given."""
    both = s.weighted and s.weightless < s.strict
    return f"{of_judgments}, {of_weight} of their weight" if both else of_judgments


def _first(statements: list[str]) -> list[str]:
    """Return some statements of one kind, and how many more there are."""
    more = len(statements) - MOST_NAMED
    return statements[:MOST_NAMED] + [f"and {more:,} more like these"] * (more > 0)


def _fair(s: Summary) -> bool:
    low, high = s.a_share_interval
    return low <= 0.5 <= high


def _side(s: Summary) -> str:
    low, high = s.a_share_interval
    wins = _by_weight(s, f"{s.a_share:.3f}", f"{s.a_share_of_weight:.3f}")
    verdict = (
        "neither side wins more often than by chance"
        if _fair(s)
        else "one side wins more often, because of its lists or of its position"
    )
    return (
        f"side a wins {wins} of the strict judgments (95% interval {low:.3f} to {high:.3f}): "
        f"{verdict}"
    )


def _queries(found: Inspection) -> str:
    if (queries := found.queries) is None:
        return "without query ids"
    by_weight = f"{queries.effective_by_weight:,.1f}"
    worth = _by_weight(found.summary, f"{queries.effective:,.1f}", by_weight)
    return f"of {counted(queries.queries, 'query', 'queries')}, worth {worth} evenly judged ones"


def _about_judge(one: JudgeTest, judges: JudgeTests) -> str:
    said = []
    if one.one_sided:
        side, share = ("a", one.a_share) if one.a_share > 0.5 else ("b", 1 - one.a_share)
        said.append(f"prefers side {side} in {share:.3f} of {one.strict:,} strict judgments")
    if one.random:
        verdict = {
            "chance": "closer to chance than to the others",
            "reversed": "worse than chance, as if answers were swapped",
        }[one.random]
        said.append(
            f"agrees with {_basis(judges)} in {one.agreement:.3f} of {one.compared:,} (a typical "
            f"judge in {judges.typical_agreement:.3f}), {verdict}"
        )
    return f"judge {_named(one.judge)} {'; '.join(said)}"


def _basis(judges: JudgeTests) -> str:
    return "the other judges" if judges.basis == "other judges" else str(judges.basis)


def _judges_text(judges: JudgeTests) -> str:
    every = judges.judges
    lines = [
        "the same judge, the same lists, opposite answers: "
        f"{sum(one.contradict_self for one in every):,} of "
        f"{counted(sum(one.repeated for one in every), 'pair')} of lists that a judge saw again",
        f"different judges, the same lists, opposite answers: {judges.contradicted_pairs:,} of "
        f"{counted(judges.shared_pairs, 'pair')} of lists that several judges saw",
    ]
    if judges.basis is not None:
        lines.append(
            f"agreement with {_basis(judges)}: {judges.agreement:.3f}; of a typical judge: "
            f"{judges.typical_agreement:.3f}"
        )
    if untested := len(every) - judges.tested:
        lines.append(
            f"not tested: {counted(untested, 'judge')} with fewer than {FEWEST_JUDGMENTS} strict "
            "judgments"
        )
    if judges.without_judge:
        lines.append(f"without a judge: {counted(judges.without_judge, 'judgment')}")
    rows = [
        (
            _short(one.judge),
            one.judgments,
            one.strict,
            one.a_share if one.strict else None,
            one.agreement if one.compared else None,
            one.compared,
            one.contradict_self,
            one.contradicted,
            ", ".join(filter(None, ["one side" * one.one_sided, one.random])),
        )
        for one in every[:MOST_ROWS]
    ]
    columns = ("judge", "judgments", "strict", "side a", "agrees", "of", "self", "others", "")
    caption = "self: pairs of lists judged both ways; others: judgments that another contradicts"
    shown = f", {MOST_ROWS} shown" if len(every) > MOST_ROWS else ""
    head = f"Judges ({len(every):,}{shown}; each judgment counts once):"
    table = Table(columns, rows, caption, digits=3)
    return f"{head}\n{bulleted(lines)}\n\n{table.text()}"


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 3] + "..."


def _named(name: str) -> str:
    return repr(_short(name))


def rating_pairs_document(found: RatingPairs) -> dict[str, Any]:
    """Return all numbers as a dict that JSON can hold."""
    data = found.preferences
    strict = int(data.strict.sum())
    identical = np.all(data.lists[:, 0] == data.lists[:, 1], axis=1)
    return {
        "judgments": len(data),
        "strict": strict,
        "ties": len(data) - strict,
        "weight": float(data.weights.sum()),
        "identical": int(identical.sum()),
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
    content = rating_pairs_document(found)
    strict, ids = counted(content["strict"], "strict judgment"), "query or judge"
    groups = f" of {counted(found.groups, 'judge and query', 'pairs of judge and query')}"
    if within != "judge":
        ids = "query" if within == "query" else "id"
        groups = f" of {counted(found.groups, 'query', 'queries')}" * (within == "query")
    reasons = (
        ("list", f"without a {ids}"),
        ("list", f"alone in a {'query' if within == 'query' else 'group'}"),
        ("pair", "of equal ratings"),
        ("pair", "whose ratings differ by less than the minimum"),
        ("pair", "that were not drawn; the others have their weight"),
    )
    said = [
        f"left out: {counted(n, noun)} {why}"
        for n, (noun, why) in zip(content["left_out"].values(), reasons, strict=True)
        if n
    ]
    if content["identical"]:
        said.append(f"of identical lists: {counted(content['identical'], 'judgment')}")
    weight = (
        "equal; n lists count as n (n - 1) / 2 judgments"
        if equal_weights
        else "2/n per pair of n lists, so that they count as n - 1 judgments"
    )
    a_wins = int((found.preferences.answers == 0).sum())
    said += [
        f"weights: {weight}; {content['weight']:,.6g} in all",
        f"sides: {'drawn' if drawn else 'in turn'}; a wins {a_wins:,} of {strict}",
    ]
    if within == "all":
        said.append(
            "pairs of different queries share lists but have no query, so intervals that keep "
            "queries together are too narrow"
        )
    head = (
        f"wrote {out}: {counted(content['judgments'], 'judgment')}, {content['strict']:,} strict, "
        f"{counted(content['ties'], 'tie')}, from {counted(found.lists, 'rated list')}{groups}"
    )
    return wrap_lines(f"{head}\n{bulleted(said)}")
