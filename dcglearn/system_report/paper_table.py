"""The table of a paper: the mean of each measure, the best in bold, marks of significance."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dcglearn.base.numbers import counted, decimals
from dcglearn.base.text import latex_cell, markdown_cell
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.report.tables import (
    NARROW,
    broken_head,
    latex_sentence,
    latex_table,
    markdown_table,
)
from dcglearn.system_report.marks import SignificanceMarks, significance_marks
from dcglearn.system_report.p_values import SIGNIFICANT
from dcglearn.system_report.system_comparisons import correction_in_words, paired_test_in_words
from dcglearn.system_report.systems import (
    definitions_in_words,
    judged_in_words,
    rules_in_words,
)
from dcglearn.systems.compare_systems import SystemComparison

_CellWriter = Callable[[str, bool, str], str]
"""From a number, whether it is the best, and its mark, to a cell."""


@dataclass(frozen=True)
class PaperTable:
    """Means of systems as a paper shows them, one row of `cells` per system.

    `best` says which are the best of a measure, equally best if equal as shown; of the `notes`,
    the first `n_caption` are the caption in LaTeX; `definitions` say what names of measures mean.
    """

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    cells: list[list[str]]
    best: list[list[bool]]
    marks: SignificanceMarks
    notes: list[str]
    definitions: list[str]
    n_caption: int

    def markdown(self) -> str:
        """Return the table in GitHub's Markdown, and below it what it says."""
        keys = ["#", "system"] if self.marks.labels else ["system"]
        ends = [":--"] * len(keys) + ["--:"] * len(self.measures)
        rows = [
            [*map(markdown_cell, self._keys(system)), *self._row(s, _in_markdown)]
            for s, system in enumerate(self.systems)
        ]
        head = [*keys, *map(markdown_cell, self.measures)]
        return "\n".join(markdown_table(head, ends, rows, (*self.notes, *self.definitions)))

    def latex(self) -> str:
        """Return the table in LaTeX, with what is not in its caption as comments."""
        rows = [
            [*map(latex_cell, self._keys(system)), *self._row(s, self._in_latex)]
            for s, system in enumerate(self.systems)
        ]
        ends = "l" * (2 if self.marks.labels else 1)
        ends += ("r@{}l" if self.marks.of else "r") * len(self.measures)
        caption = latex_sentence("; ".join(self.notes[: self.n_caption]))
        caption = re.sub(r"\bp \\textless\{\} ([0-9.]+)", r"$p < \1$", caption)
        comments = *self.notes, *self.definitions
        return latex_table(self._latex_head(), ends, rows, caption, comments)

    def _latex_head(self) -> list[list[str]]:
        """Return the rows of the head; the last one names the systems."""
        parts = [broken_head(name, NARROW) for name in self.measures]
        height = max(map(len, parts))
        parts = [[""] * (height - len(lines)) + lines for lines in parts]
        span = 2 if self.marks.of else 1
        keys = ["", "System"] if self.marks.labels else ["System"]
        return [
            [
                *(keys if row == height - 1 else [""] * len(keys)),
                *(rf"\multicolumn{{{span}}}{{c}}{{{latex_cell(one[row])}}}" for one in parts),
            ]
            for row in range(height)
        ]

    def _keys(self, system: str) -> list[str]:
        return [self.marks.labels[system], system] if self.marks.labels else [system]

    def _row(self, s: int, write: _CellWriter) -> list[str]:
        system = self.systems[s]
        return [
            write(cell, best, self.marks.of.get((system, measure), ""))
            for cell, best, measure in zip(self.cells[s], self.best[s], self.measures, strict=True)
        ]

    def _in_latex(self, cell: str, best: bool, mark: str) -> str:
        number = rf"\textbf{{{latex_cell(cell)}}}" if best else latex_cell(cell)
        if not self.marks.of:
            return number
        if not mark:
            return f"{number}&"
        label = mark.replace("-", "--")
        return rf"{number}&$^{{*}}$" if mark == "*" else rf"{number}&\textsuperscript{{{label}}}"


def paper_table(
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison] = (),
    digits: int = 4,
) -> PaperTable:
    r"""Return the table of means, with the best and what is significant.

    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> qrels = {"q": {"d1": 1, "d2": 0}}
    >>> runs = {"old": {"q": {"d2": 2, "d1": 1}}, "new": {"q": {"d1": 2, "d2": 1}}}
    >>> table = paper_table(evaluate(qrels, runs, "zipf").best_first(), digits=2)
    >>> print("\n".join(table.markdown().splitlines()[:4]))
    | system | zipf |
    | :-- | --: |
    | new | **1.00** |
    | old | 0.50 |
    """
    measures = tuple(one.name for one in evaluation.measures)
    means, high = evaluation.means(), evaluation.high_means()
    shown = [[decimals(mean, digits) for mean in row] for row in means]
    cells = shown
    if high is None and len(shown) > 1:
        largest = np.where(np.isnan(means), -np.inf, means).max(axis=0)
        top = [decimals(mean, digits) for mean in largest]
        by = evaluation.compared
        best = [
            [cell == one and compared for cell, one, compared in zip(row, top, by, strict=True)]
            for row in shown
        ]
    else:
        best = [[False] * len(measures) for _ in shown]
    if high is not None:
        cells = [
            [f"{low} to {decimals(mean, digits)}" for low, mean in zip(lows, row, strict=True)]
            for lows, row in zip(shown, high, strict=True)
        ]
    marks = significance_marks(evaluation.systems, comparisons)
    return PaperTable(
        measures,
        evaluation.systems,
        cells,
        best,
        marks,
        _notes(evaluation, marks, comparisons),
        definitions_in_words(evaluation),
        2 if comparisons else 1,
    )


def _notes(
    evaluation: Evaluation,
    marks: SignificanceMarks,
    comparisons: Sequence[SystemComparison],
) -> list[str]:
    notes = [f"means over {_queries(evaluation)}"]
    if evaluation.high is not None:
        notes = [f"{notes[0]}, from the smallest to the largest possible value"]
    elif len(evaluation.systems) > 1:
        notes = [f"{notes[0]}, the best of each measure in bold"]
    if comparisons:
        notes.append(f"{_meaning(marks)} ({_significance_in_words(comparisons)})")
    notes += rules_in_words(evaluation.rules, [one.measure for one in evaluation.measures])
    missing = evaluation.missing.sum(axis=1)
    lacking = [f"{name} {n}" for name, n in zip(evaluation.systems, missing, strict=True) if n]
    if lacking:
        notes.append(f"missing queries: {', '.join(lacking)}")
    return [*notes, judged_in_words(evaluation)]


def _meaning(marks: SignificanceMarks) -> str:
    """Return what the marks mean, or that there are none."""
    if marks.baseline is not None:
        found = "* differs" if marks.of else "no mean differs"
        return f"{found} significantly from {marks.baseline}"
    if not marks.of:
        return "no mean is significantly above another"
    labels = "letters" if "a" in marks.labels.values() else "numbers"
    return f"{labels} after a mean name the systems that it is significantly above"


def _significance_in_words(comparisons: Sequence[SystemComparison]) -> str:
    """Return when a difference is significant: the level, the test and the correction."""
    one = comparisons[0]
    words = [f"p < {SIGNIFICANT:g}"]
    if one.correction != "tukey":
        words.append(paired_test_in_words(comparisons))
    if one.family > 1 or len(comparisons) > 1:
        words.append(correction_in_words(comparisons))
    return "; ".join(words)


def _queries(evaluation: Evaluation) -> str:
    """Return the number of queries that the means are over."""
    n = len(evaluation.queries)
    counts = np.isfinite(evaluation.values).sum(axis=2)
    least, most = int(counts.min()), int(counts.max())
    if least == most:
        return counted(most, "query", "queries")
    return f"{least:,} to {most:,} of {counted(n, 'query', 'queries')}"


def _in_markdown(cell: str, best: bool, mark: str) -> str:
    number = f"**{cell}**" if best else cell
    if not mark:
        return number
    return number + (r"\*" if mark == "*" else f"<sup>{mark}</sup>")
