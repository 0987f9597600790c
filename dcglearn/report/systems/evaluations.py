"""Evaluations and comparisons of systems: as tables and sentences for a reader, and as files.

A few comparisons are listed one by one. All pairs of many systems (63 make 1,953) are marks on the
means.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, checked_suffix, write_text_blocks
from dcglearn.base.numbers import counted, in_ranges
from dcglearn.base.text import plain_text
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG
from dcglearn.measures.grammar import resolve_alias
from dcglearn.measures.names import repeated_name
from dcglearn.measures.other_measures import ERR, RBP, BinaryMeasure
from dcglearn.report.tables import Cell, Row, Shown, Table, page, shown_p
from dcglearn.systems.compare_systems import (
    FEW_QUERIES,
    SystemComparison,
    has_several_baselines,
)
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.paired_tests import (
    LEVEL,
    POWER,
    mean_of_counted,
    paired_deviations,
    queries_needed,
)
from dcglearn.systems.ranked import Rules
from dcglearn.systems.scoring import unjudged_in_ideal

EVALUATION_FORMATS = (".csv", ".md", ".tex", ".json", ".parquet", ".eval")

_MANY_CUTOFFS = 3
"""Of more cutoffs than this, tables for readers have only the smallest and the largest."""


def write_evaluation(
    evaluation: Evaluation,
    path: str | Path,
    comparisons: Sequence[SystemComparison] = (),
    *,
    per_query: bool = False,
    digits: int = 4,
) -> list[Path]:
    r"""Write an evaluation in the format that the suffix names.

    Parameters
    ----------
    evaluation : Evaluation
        The systems are written in its order.
    path : path-like
        ``.tex`` and ``.md``: the means with the best in bold and marks of significance. ``.csv``:
        the means in full. ``.parquet``: one row per system, measure and query. ``.eval``: the lines
        of ``trec_eval -q``; of several systems, each into a file of its own, NAME.SYSTEM.eval.
        ``.json``: all of it.
    comparisons : sequence of SystemComparison
        From :func:`dcglearn.compare_systems`.
    per_query : bool, default False
        Whether ``.tex``, ``.md`` and ``.csv`` hold one row per system and query, and ``.json``
        the values of queries as well.
    digits : int, default 4
        Decimals in ``.tex`` and ``.md``.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If the suffix is not known, the format cannot hold the evaluation, or a file cannot be
        written.

    Examples
    --------
    >>> import tempfile
    >>> from dcglearn.systems.evaluate import evaluate
    >>> found = evaluate({"q": {"d": 1}}, {"bm25": {"q": {"d": 2}}}, "nDCG@10")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (path,) = write_evaluation(found, Path(folder, "means.csv"))
    ...     print(path.read_text().rstrip())
    system,nDCG@10,judged@10
    bm25,1.0,1.0
    """
    path = Path(path)
    suffix = checked_suffix(path, EVALUATION_FORMATS)
    if suffix == ".eval":
        return write_trec_eval(evaluation, path)
    if suffix == ".parquet":
        frame = evaluation.to_frame()
        frame.attrs = {"measures": measures_in_full(evaluation), "rules": vars(evaluation.rules)}
        with atomic_write(path) as temporary:
            frame.to_parquet(temporary, index=False)
    else:
        table = paper_table(evaluation, () if suffix == ".csv" else comparisons, digits)
        if per_query:
            table = queries_table(evaluation, digits)
        table.write(path, lambda: evaluation_to_json(evaluation, comparisons, per_query))
    return [path]


def means_table(
    evaluation: Evaluation, comparisons: Sequence[SystemComparison] = (), digits: int = 4
) -> Table:
    """Return the mean of each measure and the share of judged documents, one row per system.

    The best of a measure are bold, as are those that are equal as shown. Of many cutoffs, only
    the smallest and the largest have the share of judged documents.
    """
    marks, labels = significance_marks(evaluation.systems, comparisons)
    names, values = _columns(evaluation)
    means, missing = mean_of_counted(values), evaluation.missing.sum(axis=1).tolist()
    bold = np.zeros_like(means, bool)
    if has_best(evaluation):
        rounded = np.round(means, digits)
        bold = (rounded == np.fmax.reduce(rounded)) & evaluation.compared
    columns: list[tuple[str, Sequence[Cell]]] = [("#", labels)] if labels else []
    columns.append(("system", evaluation.systems))
    for m, name in enumerate(names):
        cells = [
            Shown(means[s, m], "", bold[s, m], marks.get((system, name), ""))
            for s, system in enumerate(evaluation.systems)
        ]
        columns.append((name, cells))
    cutoffs = [*zip(evaluation.cutoffs, evaluation.judged_means().T.tolist(), strict=True)]
    if len(cutoffs) > _MANY_CUTOFFS:
        cutoffs = sorted(cutoffs, key=lambda one: one[0] or np.inf)[:: len(cutoffs) - 1]
    columns += [(_judged_name(cutoff), judged) for cutoff, judged in cutoffs]
    if any(missing):
        columns.append(("missing", missing))
    heads, cells_of = zip(*columns, strict=True)
    return Table(heads, [*zip(*cells_of, strict=True)], digits=digits)


def has_best(evaluation: Evaluation) -> bool:
    """Return whether the best of each measure can be said: of several systems, without bounds."""
    return evaluation.high is None and len(evaluation.systems) > 1


def queries_table(evaluation: Evaluation, digits: int = 4) -> Table:
    """Return the value of each measure, one row per system and query."""
    names, values = _columns(evaluation)
    numbers = np.concatenate([values, evaluation.judged], axis=1)
    rows = [
        (system, query, *numbers[s, :, q].tolist())
        for s, system in enumerate(evaluation.systems)
        for q, query in enumerate(evaluation.queries)
    ]
    columns = ("system", "query", *names, *map(_judged_name, evaluation.cutoffs))
    return Table(columns, rows, digits=digits)


def paper_table(
    evaluation: Evaluation, comparisons: Sequence[SystemComparison] = (), digits: int = 4
) -> Table:
    r"""Return the table of means for a paper: the best in bold, and what is significant.

    >>> from dcglearn.systems.evaluate import evaluate
    >>> qrels = {"q": {"d1": 1, "d2": 0}}
    >>> runs = {"old": {"q": {"d2": 2, "d1": 1}}, "new": {"q": {"d1": 2, "d2": 1}}}
    >>> table = paper_table(evaluate(qrels, runs, "zipf").best_first(), digits=2)
    >>> print("\n".join(table.markdown().splitlines()[:6]))
    Means over 1 query, the best of each measure in bold
    <BLANKLINE>
    | system | zipf | judged |
    | :-- | --: | --: |
    | new | **1.00** | 1.00 |
    | old | 0.50 | 1.00 |
    """
    counts = np.isfinite(evaluation.values).sum(axis=2)
    least, most = int(counts.min()), int(counts.max())
    of = counted(len(evaluation.queries), "query", "queries")
    caption = f"Means over {of if least == most else f'{least:,} to {most:,} of {of}'}"
    if has_best(evaluation):
        caption += ", the best of each measure in bold"
    if comparisons:
        shared = ", on the queries that two systems share" * (least < most)
        caption += f"; {marks_in_words(evaluation.systems, comparisons)}{shared}"
    table = means_table(evaluation, comparisons, digits)
    return replace(table, caption=caption, notes=evaluation_in_words(evaluation))


def topics_table(evaluation: Evaluation, difference: float) -> Table:
    """Return for each measure the paired deviations of the runs, and the queries they ask for."""
    compared, rows = evaluation.comparable(), []
    for m, named in enumerate(compared.measures):
        mean, largest = paired_deviations(compared.values[:, m])
        row: Row = {
            "measure": named.name,
            "deviation": mean,
            "queries": queries_needed(difference, mean),
            "largest deviation": largest,
            "queries for it": queries_needed(difference, largest),
        }
        rows.append(row)
    return Table.of(
        rows,
        f"Queries with which a paired t test at {LEVEL:g} finds a difference of {difference:g} "
        f"with a power of {POWER:.0%}",
        notes=[
            "deviation: of the differences of two runs over queries, root mean square over all "
            "pairs"
        ],
    )


def evaluation_to_json(
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison],
    per_query: bool,
    topics: float | None = None,
) -> dict[str, Any]:
    """Return an evaluation, and the queries that would find a difference, as a JSON-able dict."""
    found: dict[str, Any] = {
        "measures": measures_in_full(evaluation),
        "rules": evaluation.rules,
        "queries": len(evaluation.queries),
        "systems": means_table(evaluation).named_rows(),
        "left_out": dict(zip(evaluation.systems, map(len, evaluation.extra), strict=True)),
        "comparisons": comparisons,
    }
    if per_query:
        found["values"] = queries_table(evaluation).named_rows()
    if topics is not None:
        found["topics"] = topics_table(evaluation, topics).named_rows()
    return found


def evaluation_text(
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison],
    per_query: bool,
    topics: float | None,
    digits: int,
) -> str:
    """Return the same as tables and sentences."""
    notes = evaluation_in_words(evaluation)
    marked = comparisons if are_many(comparisons) else []
    tables = [means_table(evaluation, marked, digits)]
    if per_query:
        tables = [queries_table(evaluation, digits)]
    if marked:
        notes.append(marks_in_words(evaluation.systems, marked))
    elif comparisons:
        tables.append(comparisons_table(comparisons))
    if comparisons:
        notes += comparisons_in_words(comparisons)
    if topics is not None:
        tables.append(topics_table(evaluation, topics))
    return page(*tables, "\n".join(notes))


def measures_in_full(evaluation: Evaluation) -> dict[str, str]:
    """Return the measures by name, written in full."""
    return {one.name: str(one.measure) for one in evaluation.measures}


def _columns(evaluation: Evaluation) -> tuple[list[str], Floats]:
    """Return the names of the columns of values, and these (systems, columns, queries).

    Bounds have two columns per measure.
    """
    names, values = [one.name for one in evaluation.measures], evaluation.values
    if evaluation.high is None:
        return names, values
    names = [f"{name}, {end}" for end in ("least", "most") for name in names]
    return names, np.concatenate([values, evaluation.high], axis=1)


def _judged_name(cutoff: int | None) -> str:
    return "judged" if cutoff is None else f"judged@{cutoff}"


_THEIRS = {
    "nDCG(linear-log2)": "ndcg",
    "nDCG(linear-log2)@": "ndcg_cut_",
    "AP": "map",
    "AP@": "map_cut_",
    "P@": "P_",
    "R@": "recall_",
    "Success@": "success_",
    "RR": "recip_rank",
    "Bpref": "bpref",
}
"""Measures here, without and with a cutoff -> in trec_eval, where it calls them otherwise."""


def trec_eval_name(name: str) -> str:
    """Return the name of a measure in trec_eval, or the name without blanks.

    >>> [trec_eval_name(name) for name in ("nDCG@10", "ndcg", "nDCG(zipf) @ 5", "P@5", "mine")]
    ['ndcg_cut_10', 'ndcg', 'nDCG(zipf)@5', 'P_5', 'mine']
    """
    called, at, cutoff = (resolve_alias(name) or name).partition("@")
    theirs = _THEIRS.get(called.strip() + at)
    return f"{theirs}{cutoff.strip()}" if theirs else "".join(name.split())


def write_trec_eval(evaluation: Evaluation, path: Path) -> list[Path]:
    """Write the lines of each system; return the files."""
    if evaluation.high is not None:
        raise InputError(
            "trec_eval's lines hold one value per query, not two bounds",
            "write .csv or .parquet, or use another value of `unjudged`",
        )
    for query in evaluation.queries:
        if query.split() != [query]:
            raise InputError(
                f"the query {query!r:.60} has blanks, which end a field in trec_eval's lines",
                "write .csv or .parquet",
            )
    if repeated := repeated_name([trec_eval_name(one.name) for one in evaluation.measures]):
        raise InputError(f"two measures are called {repeated} in these lines", "rename one")
    paths = paths_of_systems(path, evaluation.systems)
    for s, one in enumerate(paths):
        write_text_blocks(one, trec_eval_lines(evaluation, s))
    return paths


def trec_eval_lines(evaluation: Evaluation, s: int) -> Iterator[str]:
    """Yield the lines of one system: those of each query, then the means.

    >>> from dcglearn.systems.evaluate import evaluate
    >>> found = evaluate({"7": {"d": 1}}, {"bm25": {"7": {"d": 2}}}, "nDCG@10")
    >>> for line in trec_eval_lines(found, 0):
    ...     print(line.expandtabs(), end="")
    ndcg_cut_10             7       1.0000
    runid                   all     bm25
    num_q                   all     1
    ndcg_cut_10             all     1.0000
    """
    names = [trec_eval_name(one.name) for one in evaluation.measures]
    values = evaluation.values[s]

    def lines(query: str, column: Floats) -> Iterator[str]:
        for name, value in zip(names, column, strict=True):
            if not np.isnan(value):
                yield f"{name:<22}\t{query}\t{value:.4f}\n"

    for query, column in zip(evaluation.queries, values.T, strict=True):
        yield from lines(query, column)
    yield f"{'runid':<22}\tall\t{plain_text(''.join(evaluation.systems[s].split()))}\n"
    yield f"{'num_q':<22}\tall\t{np.isfinite(values).any(axis=0).sum()}\n"
    yield from lines("all", evaluation.means()[s])


def paths_of_systems(path: Path, systems: Sequence[str]) -> list[Path]:
    """Return the file of each system: the path itself for one, NAME.SYSTEM.eval for several.

    >>> [one.name for one in paths_of_systems(Path("x.eval"), ["bm25", "my/run"])]
    ['x.bm25.eval', 'x.my_run.eval']
    """
    if len(systems) == 1:
        return [path]
    names = [re.sub(r"[^\w.+-]", "_", system)[:100] for system in systems]
    if repeated := repeated_name([name.lower() for name in names]):  # as file systems compare them
        raise InputError(f"two systems would have the file {path.stem}.{repeated}", "rename one")
    return [path.with_name(f"{path.stem}.{name}{path.suffix}") for name in names]


_TIES = {
    "mean": "the mean over their orders",
    "input": "in the order of the run's lines",
    "docid": "by id, the largest first",
}
_UNJUDGED = {
    "worst": "count as the worst grade",
    "nothing": "keep their rank and gain nothing",
    "removed": "are removed",
    "bounds": "may have any grade of the scale: the smallest and the largest possible value",
}

LEAST_MOVE = 0.00005
"""A smaller move of a mean does not show in four decimals."""


def evaluation_in_words(evaluation: Evaluation) -> list[str]:
    """Return what a table of an evaluation means, one sentence per line."""
    queries = counted(len(evaluation.queries), "query", "queries")
    return [
        *_definitions(evaluation),
        f"{queries}; grades {evaluation.qrels.scale}",
        "judged@k: share of the run's first k documents that have a judgment; judged: of all",
        *rules_in_words(evaluation),
        *_ties(evaluation),
    ]


def rules_in_words(evaluation: Evaluation) -> list[str]:
    """Return the choices that the numbers depend on, as sentences.

    >>> from dcglearn.systems.evaluate import evaluate
    >>> rules_in_words(evaluate({"q": {"d": 1}}, {"run": {"q": {"d": 2}}}, "AP"))[-1]
    'AP: relevant from grade 1 up, and a document without a judgment is not relevant'
    """
    rules, measures = evaluation.rules, [one.measure for one in evaluation.measures]

    def counts(value: float | None) -> str:
        return "are left out" if value is None else f"count {value:g}"

    single = ", scores in single precision" if rules.single else ""
    sentences = [
        f"documents with equal scores: {_TIES[rules.ties]}{single}",
        f"documents without a judgment {_UNJUDGED[rules.unjudged]}",
        f"queries whose ideal DCG is 0 (nothing relevant) {counts(rules.worthless)}; "
        f"queries missing from a run {counts(rules.missing)}",
    ]
    if rules.least is not None:
        others = any(isinstance(one, ERR | RBP) for one in measures)
        sentences.append(
            f"gains below {rules.least:g} count 0" + (", but not in ERR and RBP" if others else "")
        )
    if unjudged_in_ideal(rules, measures):
        whose = "those of all runs" if rules.shared_pool else "those of the run itself"
        sentences.append(f"unjudged documents in the ideal ranking: {whose}")
    if any(isinstance(one, DCG) and one.normalise and min(one.gains) < 0 for one in measures):
        sentences.append("the best possible run leaves out documents that gain less than 0")
    return [*sentences, *_other_rules(rules, measures)]


def _other_rules(rules: Rules, measures: Sequence[object]) -> list[str]:
    binary = [one for one in measures if isinstance(one, BinaryMeasure)]
    unjudged = ", and a document without a judgment is not relevant"
    sentences = [
        f"{', '.join(str(one) for one in binary if str(one.rel) == grade)}: relevant from grade "
        f"{grade} up{unjudged if rules.unjudged != 'removed' else ''}"
        for grade in dict.fromkeys(str(one.rel) for one in binary)
    ]
    by_judgment = [one for one in binary if one.name in ("Bpref", "infAP")]
    if any(min(one.levels, default=0) < 0 for one in by_judgment):
        names = ", ".join(map(str, by_judgment))
        sentences.append(f"{names}: grades below 0 count as not judged")
    if any(isinstance(one, RBP) for one in measures):
        sentences.append(
            "most of RBP: with all judgments, and relevant documents below the end of the run"
            if rules.unjudged == "bounds"
            else "residual of RBP: the weight of documents without a judgment and of the ranks "
            "below the run or the cutoff; RBP can be larger by it"
        )
    return sentences


def _definitions(evaluation: Evaluation) -> list[str]:
    lines = []
    for one in evaluation.comparable().measures:
        measure = one.measure
        if one.name != str(measure):
            lines.append(f"{one.name} is {measure}")
        if not isinstance(measure, DCG):
            continue
        if measure.n_grades > 2 and not any(measure.gains[1:]):
            lines.append(f"{one.name}: only the best grade counts")
        if measure.n_ranks is not None:
            rises = np.flatnonzero(np.diff(measure.discounts_for(measure.n_ranks)) > 0) + 1
            lines += [
                f"{one.name}: the discount rises from rank {k} to rank {k + 1}, so a list that is "
                "not sorted by gain can have the larger value"
                for k in rises[:1].tolist()
            ]
    return lines


def _ties(evaluation: Evaluation) -> list[str]:
    """Return by how much the order of documents with equal scores moves the means, if it does."""
    if evaluation.rules.ties == "mean":
        return []
    moves = np.nan_to_num(np.abs(evaluation.means_over_orders() - evaluation.means()))
    moved = int(np.count_nonzero(moves >= LEAST_MOVE))
    return [f"ties move {counted(moved, 'mean')} by up to {moves.max():.2g}"] if moved else []


SIGNIFICANT = 0.05

MOST_LISTED = 50
"""Of more pairs of systems, only the significant ones are marked."""


def are_many(comparisons: Sequence[SystemComparison]) -> bool:
    """Return whether there are too many pairs to list them."""
    return len(comparisons) > MOST_LISTED and has_several_baselines(comparisons)


def comparisons_table(comparisons: Sequence[SystemComparison]) -> Table:
    """Return the differences of systems, with intervals, p-values and counts of queries."""
    several = has_several_baselines(comparisons)
    rows = []
    for c in comparisons:
        row: Row = {"measure": c.measure, "system": c.system}
        if several:
            row["other system"] = c.baseline
        row |= {"difference": c.difference, "from": c.low, "to": c.high, "p": shown_p(c.p)}
        if c.correction != "none":
            row["corrected"] = shown_p(c.corrected)
        counts = {"better": c.better, "worse": c.worse, "equal": c.equal, "queries": c.queries}
        rows.append(row | counts)
    return Table.of(rows, f"Differences {'of all pairs' if several else f'from {c.baseline}'}")


def comparisons_in_words(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Return what the tables of comparisons mean, one sentence per line."""
    numbers = [c.queries for c in comparisons]
    few, most = min(numbers), max(numbers)
    shared = [
        "two systems are compared on the queries that neither leaves out, "
        f"{few:,} to {most:,} of them"
    ] * (few < most)
    if are_many(comparisons):
        return [
            f"the JSON of this evaluation holds each of the {len(comparisons):,} comparisons",
            *shared,
        ]
    one = comparisons[0]
    other = "the other system" if has_several_baselines(comparisons) else one.baseline
    student = one.test == "t" or most < FEW_QUERIES
    interval = "by Student's t" if student else "by a bootstrap over queries"
    alone = ", of this comparison alone" if one.family > 1 else ""
    return [
        f"difference: mean of the system minus that of {other}; "
        f"from, to: its 95% interval, {interval}{alone}",
        f"p: {tested_in_words(comparisons)}",
        "better, worse, equal: queries on which the system's value is higher, lower, the same",
        *shared,
    ]


def tested_in_words(comparisons: Sequence[SystemComparison]) -> str:
    """Return the test of comparisons, and how its p-values are corrected."""
    one = comparisons[0]
    test = f"paired {one.test} test, two-sided"
    if len(comparisons) == 1 == one.family:
        return test
    whose = " of a measure" if one.family < len(comparisons) else ""
    number = f"{counted(one.family, 'comparison')}{whose}"
    corrected = {
        "none": "not corrected for the number of comparisons",
        "holm": f"corrected for {number} by Holm's method",
        "tukey": f"corrected for {number} by Tukey's HSD test with randomisation",
    }
    return f"{test}; {corrected[one.correction]}"


def significance_marks(
    systems: Sequence[str], comparisons: Sequence[SystemComparison]
) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Return the mark of (system, measure) where there is one, and a label for each system.

    Means that differ from one baseline have a star, and systems have no labels. After comparisons
    of all pairs, a mean has the labels of the systems that it is significantly above, as in the
    tables of ranx (Bassani, ECIR 2022).
    """
    significant = [c for c in comparisons if c.corrected < SIGNIFICANT]
    if not has_several_baselines(comparisons):
        return {(c.system, c.measure): "*" for c in significant}, []
    labels = [*map(str, range(1, len(systems) + 1))]
    if len(systems) <= len(ascii_lowercase):
        labels = [*ascii_lowercase[: len(systems)]]
    below: dict[tuple[str, str], set[int]] = {}
    for c in significant:
        ahead, behind = (c.system, c.baseline) if c.difference > 0 else (c.baseline, c.system)
        below.setdefault((ahead, c.measure), set()).add(systems.index(behind))
    return {key: in_ranges(sorted(found), labels) for key, found in below.items()}, labels


def marks_in_words(systems: Sequence[str], comparisons: Sequence[SystemComparison]) -> str:
    """Return what the marks mean, or that there are none, and when a difference is significant."""
    marks, labels = significance_marks(systems, comparisons)
    if labels:
        meaning = "labels after a mean name the systems that it is significantly above"
        meaning = meaning if marks else "no mean is significantly above another"
    else:
        found = "* differs" if marks else "no mean differs"
        meaning = f"{found} significantly from {comparisons[0].baseline}"
    return f"{meaning} (p < {SIGNIFICANT:g}; {tested_in_words(comparisons)})"
