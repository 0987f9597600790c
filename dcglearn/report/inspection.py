"""What ``inspect`` says about a set of judgments: what stands out first, the numbers after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcglearn.base.numbers import counted
from dcglearn.judgments.inspection import Inspection, QueryShares, Summary
from dcglearn.judgments.judges import FEWEST_JUDGMENTS, JudgeTest, JudgeTests
from dcglearn.learning.record import Identifiability, as_json
from dcglearn.learning.undetermined import undetermined_statements
from dcglearn.measures.scale import Label, Scale
from dcglearn.report.judgments import contents_text, identifiability_text, scale_text
from dcglearn.report.tables import Table
from dcglearn.report.wording import bulleted, wrap_lines

MOST_NAMED = 5
"""The number of queries, and of judges, that sentences name."""

MOST_ROWS = 10
"""The number of judges in the table."""

_NAME_LENGTH = 24


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
        statements = undetermined_statements(known, scale.labels, noun)
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
        said += [
            f"the query {_named(one.query)} holds {one.judgments:,} of the {s.strict:,} strict "
            f"judgments ({_by_weight(s, f'{one.share:.1%}', f'{one.share_of_weight:.1%}')})"
            for one in queries.dominant[:MOST_NAMED]
        ]
        if len(queries.dominant) > MOST_NAMED:
            more = counted(len(queries.dominant) - MOST_NAMED, "other query", "other queries")
            said.append(f"the same is true of {more}")
        said.append(f"the strict judgments are {_effective(queries, s)}")
    if not _fair(s):
        said.append(_side(s))
    if judges is not None:
        said += [
            f"judge {_named(one.judge)} {'; '.join(_about_judge(one, judges))}"
            for one in judges.outstanding[:MOST_NAMED]
        ]
        if len(judges.outstanding) > MOST_NAMED:
            more = counted(len(judges.outstanding) - MOST_NAMED, "more judge")
            said.append(f"and {more} of these kinds")
    if s.weightless:
        said.append(
            f"{s.weightless:,} of {counted(s.strict, 'strict judgment')} "
            f"{'has' if s.weightless == 1 else 'have'} weight 0: without effect on what is "
            "learned, but counted below wherever no weight is mentioned"
        )
    return said + (_repeated_rows(s) if s.queries or s.judges else [])


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
        lines.append(f"{_effective(queries, s)}; {most} ({_named(queries.largest.query)})")
    if s.without_query and s.queries:
        lone = counted(s.without_query, "judgment")
        lines.append(f"{lone} without a query; each counts as a query of its own")
    within = s.contradicted_within_query
    lines += [
        f"of identical lists: {s.identical:,}",
        f"pairs of lists judged more than once: {s.repeated_pairs:,}; with opposite answers: "
        f"{s.contradicted_pairs:,} ({counted(s.contradicted, 'judgment')})"
        + ("" if within is None else f"; with opposite answers for one query: {within:,}"),
        f"of lists that were also judged a tie: {s.also_tied:,}",
        *([] if s.queries or s.judges else _repeated_rows(s)),
    ]
    if s.weightless < s.strict:
        most = _by_weight(s, f"{s.unweighted_ceiling:.4f}", f"{s.ceiling:.4f}")
        alone = f"{s.unweighted_ceiling_identical:.4f}", f"{s.ceiling_identical:.4f}"
        lines.append(
            f"no measure can agree with more than {most} of them, because of opposite answers and "
            f"identical lists; because of identical lists alone, {_by_weight(s, *alone)}"
        )
    text = "The strict judgments:\n" + bulleted(lines)
    return text if found.judges is None else f"{text}\n\n{_judges_text(found.judges)}"


def grade_table(labels: Sequence[Label], counts: Sequence[int]) -> Table:
    """Return a table of how often each grade occurs in all lists."""
    total = sum(counts) or 1
    rows = [(str(label), n, n / total) for label, n in zip(labels, counts, strict=True)]
    return Table(("grade", "documents", "share"), rows, digits=3)


def _by_weight(s: Summary, of_judgments: str, of_weight: str) -> str:
    """Return a share of judgments, and of their weight where that differs and can be given."""
    both = s.weighted and s.weightless < s.strict
    return f"{of_judgments}, {of_weight} of their weight" if both else of_judgments


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


def _effective(queries: QueryShares, s: Summary) -> str:
    worth = _by_weight(s, f"{queries.effective:,.1f}", f"{queries.effective_by_weight:,.1f}")
    return f"of {counted(queries.queries, 'query', 'queries')}, worth {worth} evenly judged ones"


def _about_judge(one: JudgeTest, judges: JudgeTests) -> list[str]:
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
    return said


def _basis(judges: JudgeTests) -> str:
    return "the other judges" if judges.basis == "other judges" else str(judges.basis)


def _repeated_rows(s: Summary) -> list[str]:
    if not s.repeated_rows:
        return []
    of = ["query"] * bool(s.queries) + ["lists", "answer"] + ["judge"] * bool(s.judges)
    verb = "repeats" if s.repeated_rows == 1 else "repeat"
    others = (
        "" if s.judges else f" ({s.repeated_rows / s.judgments:.1%}; they may be other people's)"
    )
    return [
        f"{counted(s.repeated_rows, 'judgment')} {verb} an earlier row exactly: the same "
        f"{', '.join(of)}{others}"
    ]


def _judges_text(judges: JudgeTests) -> str:
    own = sum(one.repeated for one in judges.judges)
    against_self = sum(one.contradict_self for one in judges.judges)
    lines = [
        f"the same judge, the same lists, opposite answers: {against_self:,} of "
        f"{counted(own, 'pair')} of lists that a judge saw again",
        f"different judges, the same lists, opposite answers: {judges.contradicted_pairs:,} of "
        f"{counted(judges.shared_pairs, 'pair')} of lists that several judges saw",
    ]
    if judges.basis is not None:
        lines.append(
            f"agreement with {_basis(judges)}: {judges.agreement:.3f}; of a typical judge: "
            f"{judges.typical_agreement:.3f}"
        )
    untested = len(judges.judges) - judges.tested
    if untested:
        lines.append(
            f"not tested: {counted(untested, 'judge')} with fewer than {FEWEST_JUDGMENTS} strict "
            "judgments"
        )
    if judges.without_judge:
        lines.append(f"without a judge: {counted(judges.without_judge, 'judgment')}")
    n = len(judges.judges)
    shown = f", {MOST_ROWS} shown" if n > MOST_ROWS else ""
    head = f"Judges ({n:,}{shown}; each judgment counts once):"
    return f"{head}\n{bulleted(lines)}\n\n{_judge_table(judges).text()}"


def _judge_table(judges: JudgeTests) -> Table:
    columns = ("judge", "judgments", "strict", "side a", "agrees", "of", "self", "others", "")
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
        for one in judges.judges[:MOST_ROWS]
    ]
    caption = "self: pairs of lists judged both ways; others: judgments that another contradicts"
    return Table(columns, rows, caption, digits=3)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 3] + "..."


def _named(name: str) -> str:
    return repr(_short(name))
