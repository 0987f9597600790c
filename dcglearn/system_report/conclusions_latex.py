r"""Conclusions about systems in LaTeX: a ``table`` of counts, and a ``longtable`` of pairs.

The pairs of a few systems fill pages, so their table breaks over pages and has few, narrow columns:
what fits the width of an article. CSV and JSON hold the rest.
"""

from __future__ import annotations

from dcglearn.base.text import latex_cell, plain_text
from dcglearn.report.tables import Table
from dcglearn.system_report.conclusions import (
    conclusions_in_words,
    digest_table,
    leader_first,
    queries_by_verdict,
)
from dcglearn.system_report.p_values import is_least, shown_p
from dcglearn.systems.conclusions import SystemConclusions

_QUERIES = (
    "queries: those on which the first system is ahead whatever the gains, on which the other one "
    "is, on which it depends, and on which they are equal"
)


def conclusions_latex(conclusions: SystemConclusions) -> str:
    r"""Return the number of pairs of each kind and the pairs, as two tables in LaTeX.

    It needs ``\usepackage{longtable}``, which every LaTeX has.
    """
    words = conclusions_in_words(conclusions, with_queries=False)
    digest = digest_table(conclusions)
    caption = _sentences([digest.caption, *words])
    head = ["System", "Other system", "Holds for", "Ahead by"]
    head += ["$p$", "Queries"] if conclusions.tested else ["Queries"]
    columns = r"\hline", rf"{' & '.join(head)} \\", r"\hline"
    below = "the first system of a row is ahead, unless they are equal; differences are under "
    notes = [words[0], below + conclusions.measure.name]
    notes += [f"* significant, below {conclusions.alpha:g}"] if conclusions.tested else []
    return "\n".join(
        [
            r"% needs \usepackage{longtable}",
            *(f"% {plain_text(text)}" for text in words),
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            r"\medskip",
            Table(digest.columns, digest.rows).latex(),
            r"\end{table}",
            "",
            r"\begingroup\footnotesize\setlength{\tabcolsep}{4pt}",
            rf"\begin{{longtable}}{{lllr{'l' if conclusions.tested else ''}r}}",
            rf"\caption{{{_sentences(['what may be concluded', *notes, _QUERIES])}}}\\",
            *(*columns, r"\endfirsthead", *columns, r"\endhead"),
            *_rows(conclusions),
            r"\hline",
            r"\end{longtable}",
            r"\endgroup",
        ]
    )


def _rows(conclusions: SystemConclusions) -> list[str]:
    difference_and_p = Table(
        ("ahead by", "p"),
        [
            (abs(one.difference), shown_p(one.p, is_least(one.p, conclusions.drawn)))
            for one in conclusions.pairs
        ],
    ).shown()
    rows = []
    for one, (ahead, p) in zip(conclusions.pairs, difference_and_p, strict=True):
        star = "$^{*}$" if one.significant else ""
        cells = [*map(latex_cell, (*leader_first(one), one.holds_for, ahead))]
        p = latex_cell(p).replace(latex_cell("<="), r"$\leq$")
        cells += [p + star] if conclusions.tested else []
        counts = "/".join(map(str, queries_by_verdict(one)))
        rows.append(rf"{' & '.join([*cells, counts])} \\")
    return rows


def _sentences(texts: list[str]) -> str:
    """Return texts as sentences; a p that begins one stays small, as the symbol that it is."""
    begun = [text if text.startswith("p:") else text[:1].upper() + text[1:] for text in texts]
    return " ".join(f"{latex_cell(text)}." for text in begun)
