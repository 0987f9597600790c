"""What ``inspect`` says about a set of judgments: what stands out first, the numbers after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcglearn.base.numbers import counted
from dcglearn.judgments.inspection import Inspection, QueryShare, QueryShares, Summary
from dcglearn.judgments.judges import FEWEST_JUDGMENTS, JudgeTest, JudgeTests
from dcglearn.measures.scale import Label
from dcglearn.report.tables import Table
from dcglearn.report.wording import bulleted

MOST_NAMED = 5
"""The number of queries, and of judges, that sentences name."""

MOST_ROWS = 10
"""The number of judges in the table."""

_NAME_LENGTH = 24


def findings_text(found: Inspection) -> str:
    """Say what stands out in a set of judgments, or that nothing does.

    Parameters
    ----------
    found : Inspection

    Returns
    -------
    str
        Nothing is said about queries or judges that are not known.

    Examples
    --------
    >>> from dcglearn.judgments.preferences import Preferences
    >>> from dcglearn.judgments.inspection import inspect_judgments
    >>> data = Preferences.from_arrays([[2, 0], [0, 0]], [[1, 1], [1, 0]], ["a", "b"])
    >>> print(findings_text(inspect_judgments(data)))
    Nothing stands out: neither side wins more often
    """
    s = found.summary
    said = [
        *_dominant(found.queries, s),
        *(() if _fair(s) else (_side(s),)),
        *_outstanding_judges(found.judges),
        *_weightless(s),
        *(_repeated_rows(s) if s.queries or s.judges else ()),
    ]
    if said:
        return "What stands out:\n" + bulleted(said)
    calm = ["neither side wins more often"]
    if found.queries is not None:
        calm.append("no query dominates")
    if found.judges is not None and found.judges.tested:
        calm.append("no judge answers at random, or nearly always one side")
    return "Nothing stands out: " + "; ".join(calm)


def inspection_text(found: Inspection) -> str:
    """Describe strict judgments: sides, queries, repeats, contradictions, the ceiling, judges.

    Parameters
    ----------
    found : Inspection

    Returns
    -------
    str
    """
    s = found.summary
    lines = []
    if s.weighted:
        lines.append("weights differ: numbers and shares are of judgments, unless of their weight")
    lines += [*([_side(s)] if _fair(s) else []), *_queries(found.queries, s), *_repeats(s)]
    if s.weightless < s.strict:
        lines.append(_ceiling(s))
    text = "The strict judgments:\n" + bulleted(lines)
    if found.judges is not None:
        text += "\n\n" + _judges_text(found.judges)
    return text


def grade_table(labels: Sequence[Label], counts: Sequence[int]) -> Table:
    """Return a table of how often each grade occurs in all lists."""
    total = sum(counts) or 1
    rows = [(str(label), n, n / total) for label, n in zip(labels, counts, strict=True)]
    return Table(("grade", "documents", "share"), rows, digits=3)


def _fair(s: Summary) -> bool:
    low, high = s.a_share_interval
    return low <= 0.5 <= high


def _side(s: Summary) -> str:
    low, high = s.a_share_interval
    weight = f", {s.a_share_of_weight:.3f} of their weight" if _has_both(s) else ""
    verdict = (
        "neither side wins more often than by chance"
        if _fair(s)
        else "one side wins more often, because of its lists or of its position"
    )
    return (
        f"side a wins {s.a_share:.3f} of the strict judgments (95% interval {low:.3f} to "
        f"{high:.3f}){weight}: {verdict}"
    )


def _has_both(s: Summary) -> bool:
    """Return whether shares of judgments and of weight differ, and both can be given."""
    return s.weighted and s.weightless < s.strict


def _dominant(queries: QueryShares | None, s: Summary) -> Iterator[str]:
    if queries is None or not queries.dominant:
        return
    if queries.queries == 1:
        yield f"all strict judgments are of one query, {_named(queries.largest.query)}"
        return
    for one in queries.dominant[:MOST_NAMED]:
        yield (
            f"the query {_named(one.query)} holds {one.judgments:,} of the {s.strict:,} strict "
            f"judgments ({_shares(one, s)})"
        )
    if len(queries.dominant) > MOST_NAMED:
        more = counted(len(queries.dominant) - MOST_NAMED, "other query", "other queries")
        yield f"the same is true of {more}"
    yield f"the strict judgments are {_effective(queries, s)}"


def _shares(one: QueryShare, s: Summary) -> str:
    weight = f", {one.share_of_weight:.1%} of their weight" if _has_both(s) else ""
    return f"{one.share:.1%}{weight}"


def _effective(queries: QueryShares, s: Summary) -> str:
    weight = f", by weight {queries.effective_by_weight:,.1f}" if _has_both(s) else ""
    return (
        f"of {counted(queries.queries, 'query', 'queries')}, worth {queries.effective:,.1f} evenly "
        f"judged ones{weight}"
    )


def _queries(queries: QueryShares | None, s: Summary) -> Iterator[str]:
    if queries is None or queries.dominant:
        return
    most = queries.largest
    yield (
        f"{_effective(queries, s)}; at most {most.judgments:,} of one query ({_named(most.query)})"
    )


def _outstanding_judges(judges: JudgeTests | None) -> Iterator[str]:
    if judges is None:
        return
    for one in judges.outstanding[:MOST_NAMED]:
        said = "; ".join(_about_judge(one, judges))
        yield f"judge {_named(one.judge)} {said}"
    more = len(judges.outstanding) - MOST_NAMED
    if more > 0:
        yield f"and {counted(more, 'more judge')} of these kinds"


def _about_judge(one: JudgeTest, judges: JudgeTests) -> Iterator[str]:
    if one.one_sided:
        side, share = ("a", one.a_share) if one.a_share > 0.5 else ("b", 1 - one.a_share)
        yield f"prefers side {side} in {share:.3f} of {one.strict:,} strict judgments"
    if one.random:
        verdict = {
            "chance": "closer to chance than to the others",
            "reversed": "worse than chance, as if answers were swapped",
        }[one.random]
        yield (
            f"agrees with {_basis(judges)} in {one.agreement:.3f} of {one.compared:,} (a typical "
            f"judge in {judges.typical_agreement:.3f}), {verdict}"
        )


def _basis(judges: JudgeTests) -> str:
    return "the other judges" if judges.basis == "other judges" else str(judges.basis)


def _weightless(s: Summary) -> Iterator[str]:
    if s.weightless:
        has = "has" if s.weightless == 1 else "have"
        yield (
            f"{s.weightless:,} of {counted(s.strict, 'strict judgment')} {has} weight 0: without "
            "effect on what is learned, but counted below wherever no weight is mentioned"
        )


def _repeated_rows(s: Summary) -> Iterator[str]:
    if not s.repeated_rows:
        return
    query = "query, " if s.queries else ""
    rest = "lists, answer and judge" if s.judges else "lists and answer"
    verb = "repeats" if s.repeated_rows == 1 else "repeat"
    said = (
        f"{counted(s.repeated_rows, 'judgment')} {verb} an earlier row exactly: the same "
        f"{query}{rest}"
    )
    if not s.judges:
        share = s.repeated_rows / s.judgments
        said += f" ({share:.1%} of all; they may be other people's)"
    yield said


def _repeats(s: Summary) -> Iterator[str]:
    if s.without_query and s.queries:
        yield (
            f"{counted(s.without_query, 'judgment')} without a query; each counts as a query of "
            "its own"
        )
    yield f"of identical lists: {s.identical:,}"
    within = s.contradicted_within_query
    yield (
        f"pairs of lists judged more than once: {s.repeated_pairs:,}; with opposite answers: "
        f"{s.contradicted_pairs:,} ({counted(s.contradicted, 'judgment')})"
        + ("" if within is None else f"; with opposite answers for one query: {within:,}")
    )
    yield f"of lists that were also judged a tie: {s.also_tied:,}"
    if not (s.queries or s.judges):
        yield from _repeated_rows(s)


def _ceiling(s: Summary) -> str:
    def of(share: float, unweighted: float) -> str:
        if not _has_both(s):
            return f"{share:.4f}"
        return f"{unweighted:.4f} ({share:.4f} of their weight)"

    return (
        f"no measure can agree with more than {of(s.ceiling, s.unweighted_ceiling)} of them, "
        "because of opposite answers and identical lists; because of identical lists alone, "
        f"{of(s.ceiling_identical, s.unweighted_ceiling_identical)}"
    )


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
    shown = f"Judges ({n:,}" + (f", {MOST_ROWS} shown" if n > MOST_ROWS else "")
    return (
        f"{shown}; each judgment counts once):\n{bulleted(lines)}\n\n{_judge_table(judges).text()}"
    )


def _judge_table(judges: JudgeTests) -> Table:
    columns = ("judge", "judgments", "strict", "side a", "agrees", "of", "self", "others", "")
    rows = [
        (
            _short(one.judge),
            one.judgments,
            one.strict,
            _or_dash(one.a_share, one.strict),
            _or_dash(one.agreement, one.compared),
            one.compared,
            one.contradict_self,
            one.contradicted,
            ", ".join(["one side"] * one.one_sided + ([one.random] if one.random else [])),
        )
        for one in judges.judges[:MOST_ROWS]
    ]
    caption = "self: pairs of lists judged both ways; others: judgments that another contradicts"
    return Table(columns, rows, caption, digits=3)


def _or_dash(share: float, n: int) -> float | None:
    return share if n else None


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 3] + "..."


def _named(name: str) -> str:
    return repr(_short(name))
