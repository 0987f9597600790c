"""What the commands say about judgments: what a file holds, what stands out, what can be learned.

Where a command has a document of JSON, the text is made of it.
"""

from collections.abc import Mapping
from typing import Any

from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.judgments.inspection import Contents, Inspection, QueryShares, Summary, count_contents
from dcglearn.judgments.judges import FEWEST_JUDGMENTS, JudgeTest, JudgeTests
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.ratings import Within
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Scale
from dcglearn.report.tables import Table, page
from dcglearn.report.words import bulleted, filled

MOST_NAMED = 5

MOST_ROWS, WIDEST = 10, 24
"""The number of judges in the table, and of characters of their names."""


_LEFT_OUT = (
    ("list", "without a query or judge"),
    ("list", "alone in a group"),
    ("pair", "of equal ratings"),
    ("pair", "whose ratings differ by less than the minimum"),
    ("pair", "that were not drawn; the others have their weight"),
)
"""What pairs of rated lists leave out, in the order of their document."""


def contents_text(name: str, counts: Contents, scale: str) -> str:
    """Describe a judgment file in a paragraph."""
    n, answers, shorter = counts.judgments, counts.answers, counts.shorter_lists
    levels = ", ".join(f"{answers[a]:,} {a}" for a in ("good", "bad") if answers[a])
    ties = counted(counts.ties, "tie") + (f" ({levels})" if levels else "")
    by = counted(counts.queries, "query", "queries") if counts.queries else "no query ids"
    judges = f", {counted(counts.judges, 'judge')}" if counts.judges else ""
    of_lists = f" ({shorter:,} of {2 * n:,} shorter)" if shorter else ""
    return (
        f"{name}: {counted(n, 'judgment')}, {counts.strict:,} strict ({answers['a']:,} a, "
        f"{answers['b']:,} b), {ties}; {by}{judges}; lists of {counts.n_ranks}{of_lists}; {scale}"
    )


def scale_text(scale: Scale, declared: bool, documents: bool) -> str:
    """Describe what lists hold: grades and where their order comes from, or documents."""
    if documents:
        return f"rankings of the {len(scale)} documents {', '.join(map(str, scale.labels))}"
    return f"grades {scale}" + ("" if declared else " (those that occur; best first)")


def held_text(name: str, held: Preferences | PackedPairs, strict: int, scale: str) -> str:
    """Describe judgments that are held in memory, or that packed files hold."""
    if isinstance(held, PackedPairs):
        files = counted(len({part.path for part in held.row_groups}), "file")
        packed = f"{name}: {counted(len(held), 'packed judgment')}, {strict:,} strict, in {files}"
        return f"{packed}; lists of {held.n_ranks}; grades {held.scale}"
    with reporting("counting judgments"):
        return contents_text(name, count_contents(held), scale)


def findings_text(found: Inspection) -> str:
    """Say what stands out in a set of judgments, or that nothing does."""
    said = findings(found)
    nothing = "Nothing stands out: no side, query or judge"
    return f"What stands out:\n{bulleted(said)}" if said else nothing


def findings(found: Inspection) -> list[str]:
    """Say what stands out in a set of judgments, one sentence each."""
    s, queries, judges = found.summary, found.queries, found.judges
    said = []
    if queries is not None and queries.queries == 1:
        said.append(f"all strict judgments are of one query, {queries.largest.query!r}")
    elif queries is not None and queries.dominant:
        dominant = [
            f"the query {one.query!r} holds {one.judgments:,} of the {s.strict:,} strict "
            f"judgments ({_by_weight(s, f'{one.share:.1%}', f'{one.share_of_weight:.1%}')})"
            for one in queries.dominant
        ]
        said += [*_first(dominant), f"the strict judgments are {_spread(s, queries)}"]
    if not _fair(s):
        said.append(_side(s))
    if judges is not None:
        said += _first([_about_judge(one, judges) for one in judges.outstanding])
    if s.weightless:
        said.append(
            f"{s.weightless:,} of {counted(s.strict, 'strict judgment')}: weight 0, no effect on "
            "what is learned, but counted below wherever no weight is mentioned"
        )
    if s.repeated_rows:
        said.append(
            f"{counted(s.repeated_rows, 'exact repetition')} of an earlier row "
            f"({s.repeated_rows / s.judgments:.1%})"
            + "; they may be other people's"
            * (not s.judges)
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
        lines.append(f"{_spread(s, queries)}; {most} ({queries.largest.query!r})")
    if s.without_query:
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
        lines.append(ceiling_text(s))
    of_judges = "" if found.judges is None else _judges_text(found.judges)
    return page("The strict judgments:\n" + bulleted(lines), of_judges)


def inspection_page(content: Mapping[str, Any], found: Inspection, scale: str) -> str:
    """Say in paragraphs and tables what the document of ``inspect`` holds."""
    reading, known, labels = content["reading"], content["identifiability"], content.get("grades")
    parts: list[str | Table] = [filled(contents_text(content["file"], found.summary, scale))]
    if "digest" in reading:
        parts.append(f"SHA-256 of the content: {reading['digest']}")
    nothing = "no strict preference: nothing can be learned from this file"
    parts.append(nothing if known is None else findings_text(found))
    if labels is not None:
        counts = found.summary.grade_counts
        shares = [n / (sum(counts) or 1) for n in counts]
        parts.append(
            Table(
                ("grade", "documents", "share"),
                [*zip(map(str, labels), counts, shares, strict=True)],
                digits=3,
            )
        )
    if known is not None:
        head = "What these judgments determine, before any fit:"
        parts += [inspection_text(found), f"{head}\n{bulleted(known['statements'])}"]
    return page(*parts)


def ceiling_text(s: Summary) -> str:
    """Say how often a measure can agree."""
    most = _by_weight(s, f"{s.unweighted_ceiling:.1%}", f"{s.ceiling:.1%}")
    return (
        f"no measure can agree with more than {most} of the strict judgments, because of opposite "
        "answers and identical lists"
    )


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


def _spread(s: Summary, queries: QueryShares) -> str:
    by_weight = f"{queries.effective_by_weight:,.1f}"
    worth = _by_weight(s, f"{queries.effective:,.1f}", by_weight)
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
            f"agrees with {judges.basis} in {one.agreement:.3f} of {one.compared:,} (a typical "
            f"judge in {judges.typical_agreement:.3f}), {verdict}"
        )
    return f"judge {one.judge!r} {'; '.join(said)}"


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
            f"agreement with {judges.basis}: {judges.agreement:.3f}; of a typical judge: "
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
            f"{one.judge:.{WIDEST}}",
            one.judgments,
            one.strict,
            one.a_share,
            one.agreement,
            one.compared,
            one.contradict_self,
            one.contradicted,
            ", ".join(filter(None, ["one side" * one.one_sided, one.random])),
        )
        for one in every[:MOST_ROWS]
    ]
    table = Table(
        ("judge", "judgments", "strict", "side a", "agrees", "of", "self", "others", ""),
        rows,
        "self: pairs of lists judged both ways; others: judgments that another contradicts",
        digits=3,
    )
    head = f"Judges ({len(every):,}, at most {MOST_ROWS} shown; each judgment counts once):"
    return page(f"{head}\n{bulleted(lines)}", table)


def rating_pairs_text(
    content: Mapping[str, Any], within: Within, equal_weights: bool, sides: str
) -> str:
    """Say what the document of ``pairs`` holds, what was left out, and what the pairs weigh."""
    of = {"judge": ("judge and query", "pairs of judge and query"), "query": ("query", "queries")}
    groups = f" of {counted(content['groups'], *of[within])}" if within in of else ""
    said = [
        f"left out: {counted(n, noun)} {why}"
        for n, (noun, why) in zip(content["left_out"].values(), _LEFT_OUT, strict=True)
        if n
    ]
    weight = "2/n per pair of n lists, so that they count as n - 1 judgments"
    if equal_weights:
        weight = "equal; n lists count as n (n - 1) / 2 judgments"
    said += [
        f"of identical lists: {counted(content['identical'], 'judgment')}",
        f"weights: {weight}; {content['weight']:,.6g} in all",
        f"sides: {sides} of {counted(content['strict'], 'strict judgment')}",
    ]
    if within == "all":
        said.append(
            "pairs of different queries share lists but have no query, so intervals that keep "
            "queries together are too narrow"
        )
    head = (
        f"wrote {content['file']}: {counted(content['judgments'], 'judgment')}, "
        f"{content['strict']:,} strict, {counted(content['ties'], 'tie')}, from "
        f"{counted(content['lists'], 'rated list')}{groups}"
    )
    return f"{filled(head)}\n{bulleted(said)}"


def threshold_text(content: Mapping[str, Any]) -> str:
    """Say in words and a table what the document of ``threshold`` holds."""
    beta, gamma, judged = content["beta"], content["gamma"], content["judged"]
    worth = ", ".join(f"{grade}: {format_number(x)}" for grade, x in content["worth"].items())
    rows = []
    for name in ("theta_opt", "theta_zero", "theta"):
        score, *others = content[name].values()
        rows.append([name, format_number(score), *others])
    lines = [
        f"{content['file']}: {counted(content['documents'], 'document')}, {judged:,} judged",
        f"worth of a document by its grade: {worth}; not judged: "
        f"{format_number(content['unjudged'])}",
        f"alpha = {beta:g} + {1 - beta:g} exp(-{gamma:g} N) = {content['alpha']:.6f}, "
        f"N = {judged:,}",
        "",
        Table(("threshold", "score", "documents pass", "utility"), rows).text(),
    ]
    if not content["pays"]:
        lines.append("no cut brings utility above 0: theta_opt is just above the highest score")
    return "\n".join(lines)
