"""One table in four formats: plain text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcglearn.base.files import checked_suffix, write_text
from dcglearn.base.numbers import decimals
from dcglearn.base.text import latex_cell, markdown_cell, plain_text

FIGURE_FORMATS = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats of figures by suffix, with the metadata that keeps dates and versions out of files."""

Cell = str | int | float | None


NARROW = 12
"""Characters in a line of a long name of a column, where a table would be too wide."""

LONGEST = 40
"""Rows of a table in LaTeX on one page."""


class UpperBound(float):
    """A number of which only an upper bound is shown, after a sign such as ``<``.

    Parameters
    ----------
    value : float
        The bound.
    sign : str
        Such as ``<`` or ``<=``.

    Examples
    --------
    >>> print(Table(("p",), [(UpperBound(0.0001, "<"),), (0.0213,)]).text())
          p
    <0.0001
     0.0213
    """

    sign: str

    def __new__(cls, value: float, sign: str) -> UpperBound:
        """Make the number; a float cannot be changed after that."""
        bound = super().__new__(cls, value)
        bound.sign = sign
        return bound


@dataclass(frozen=True)
class Table:
    """A table: rows under named columns.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences of str, int, float or None
        None is an empty cell. Floats are shown by
        :func:`~dcglearn.base.numbers.decimals`; in CSV, in full.
    caption : str
    digits : int, default 4
    csv_columns, csv_rows : optional
        The columns and rows of the CSV, which programs rely on: one number per cell, where
        `columns` and `rows` hold text such as an interval. The same by default.
    notes : sequence of str, optional
        Sentences below the table: lines, a list in Markdown, comments in LaTeX; not in CSV.

    Examples
    --------
    >>> table = Table(("measure", "agreement"), [("zipf", 0.8916), ("jk:2", None)])
    >>> print(table.text())
    measure  agreement
    zipf        0.8916
    jk:2
    >>> print(table.markdown())
    | measure | agreement |
    | :-- | --: |
    | zipf | 0.8916 |
    | jk:2 |  |
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    digits: int = 4
    csv_columns: Sequence[str] | None = None
    csv_rows: Sequence[Sequence[Cell]] | None = None
    notes: Sequence[str] = ()

    def text(self, width: int | None = None) -> str:
        """Return the table as plain text, with numbers aligned on the right.

        Parameters
        ----------
        width : int, optional
            Characters in a line. In a wider table, long names of columns take several lines; if
            that is not enough, the columns are divided, each part after the columns of text at
            the start, such as names of systems.

        Returns
        -------
        str
        """
        rows = [[*map(plain_text, row)] for row in self.shown()]
        right = self.alignment()
        heads = [[plain_text(name)] for name in self.columns]
        sizes = _sizes(heads, rows)
        parts = [list(range(len(heads)))]
        if width is not None and True in right and _total(sizes) > width:
            heads = [
                broken_head(head[0], max([NARROW, *(len(row[c]) for row in rows)]))
                if right[c]
                else head
                for c, head in enumerate(heads)
            ]
            sizes = _sizes(heads, rows)
            parts = _divided(sizes, right.index(True), width)
        texts = [_part([heads[c] for c in part], part, rows, sizes, right) for part in parts]
        caption = [plain_text(self.caption)] if self.caption else []
        notes = ["", *map(plain_text, self.notes)] if self.notes else []
        return "\n".join([*caption, "\n\n".join(texts), *notes])

    def markdown(self) -> str:
        """Return the table in GitHub's Markdown."""
        ends = ["--:" if number else ":--" for number in self.alignment()]
        head, *rows = ([*map(markdown_cell, row)] for row in (self.columns, *self.shown()))
        caption = [markdown_cell(self.caption), ""] if self.caption else []
        return "\n".join([*caption, *markdown_table(head, ends, rows, self.notes)])

    def latex(self) -> str:
        """Return the table in LaTeX, which needs no packages unless it is longer than a page."""
        ends = "".join("r" if number else "l" for number in self.alignment())
        head, *rows = ([*map(latex_cell, row)] for row in (self.columns, *self.shown()))
        rows = [[cell.replace(latex_cell("<="), r"$\leq$") for cell in row] for row in rows]
        return latex_table([head], ends, rows, latex_sentence(self.caption), self.notes)

    def csv(self) -> str:
        """Return the table as CSV, with numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.csv_columns or self.columns)
        writer.writerows(self.rows if self.csv_rows is None else self.csv_rows)
        return text.getvalue().rstrip("\n")

    def write(self, path: str | Path) -> None:
        """Write the table in the format that the suffix names.

        Parameters
        ----------
        path : path-like
            ``.txt``, ``.md``, ``.tex`` or ``.csv``.

        Raises
        ------
        InputError
            If the suffix is another one, or the file cannot be written.
        """
        write_text(path, TABLE_FORMATS[checked_suffix(path, TABLE_FORMATS)](self) + "\n")

    def alignment(self) -> list[bool]:
        """Return which columns hold only numbers, and are aligned on the right."""
        columns: list[tuple[Cell, ...]] = list(zip(*self.rows, strict=True)) if self.rows else []
        numeric = [
            any(c is not None for c in column) and not any(isinstance(c, str) for c in column)
            for column in columns
        ]
        return numeric or [False] * len(self.columns)

    def shown(self) -> list[list[str]]:
        """Return the rows as text, with numbers as people read them."""
        return [[self._cell(cell) for cell in row] for row in self.rows]

    def _cell(self, cell: Cell) -> str:
        if cell is None:
            return ""
        if isinstance(cell, float):
            sign = cell.sign if isinstance(cell, UpperBound) else ""
            return sign + decimals(cell, self.digits)
        return f"{cell:,}" if isinstance(cell, int) else cell


def markdown_table(
    head: Sequence[str],
    ends: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
) -> list[str]:
    """Return the lines of a table of escaped cells, and notes below it as a list."""
    lines = [f"| {' | '.join(row)} |" for row in (head, ends, *rows)]
    return [*lines, *([""] if notes else []), *(f"* {markdown_cell(text)}" for text in notes)]


def latex_table(
    heads: Sequence[Sequence[str]],
    ends: str,
    rows: Sequence[Sequence[str]],
    caption: str,
    notes: Sequence[str],
) -> str:
    """Return a table of escaped cells, under heads of one or several rows.

    It is a ``longtable``, which breaks over pages, if it has more than :data:`LONGEST` rows, and
    else a ``tabular``, in a ``table`` if there is a caption. The notes are comments.
    """
    comments = [f"% {plain_text(text)}" for text in notes]
    head, body = ([rf"{' & '.join(row)} \\" for row in part] for part in (heads, rows))
    head = [r"\hline", *head, r"\hline"]
    if len(rows) > LONGEST:
        first = [rf"\caption{{{caption}}}\\", *head, r"\endfirsthead"] if caption else []
        lines = [r"% needs \usepackage{longtable}", *comments]
        lines += [rf"\begin{{longtable}}{{{ends}}}", *first, *head, r"\endhead", *body]
        return "\n".join([*lines, r"\hline", r"\end{longtable}"])
    lines = [rf"\begin{{tabular}}{{{ends}}}", *head, *body, r"\hline", r"\end{tabular}"]
    if caption:
        above = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", r"\medskip"]
        lines = [*above, *lines, r"\end{table}"]
    return "\n".join([*comments, *lines])


def latex_sentence(text: str) -> str:
    """Return text as a sentence in LaTeX, or nothing."""
    return f"{latex_cell(text[:1].upper() + text[1:]).rstrip('.')}." if text else ""


def broken_head(name: str, width: int) -> list[str]:
    """Divide a long name of a column into lines, where words end and before a cutoff.

    Parameters
    ----------
    name : str
    width : int
        Characters in a line; a longer word stays whole.

    Returns
    -------
    list of str

    Examples
    --------
    >>> broken_head("nDCG(exponential-log2) @ 10", 12), broken_head("nDCG@10", 12)
    (['nDCG(', 'exponential-', 'log2) @ 10'], ['nDCG@10'])
    """
    lines = [""]
    for word in _WORD_ENDS.split(name):
        if lines[-1] and len((lines[-1] + word).rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]


_WORD_ENDS = re.compile(r"(?<=[-(,_/])(?=[^-(,_/\s])|(?<=[^@] )(?=\S)|(?=@)")


def _sizes(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column."""
    return [
        max([*map(len, head), *(len(row[c]) for row in rows)], default=0)
        for c, head in enumerate(heads)
    ]


def _total(sizes: Sequence[int]) -> int:
    return sum(sizes) + 2 * (len(sizes) - 1)


def _divided(sizes: Sequence[int], n_keys: int, width: int) -> list[list[int]]:
    """Divide columns into parts that fit into the width, each after the first columns."""
    keys = list(range(n_keys))
    parts: list[list[int]] = []
    for c in range(n_keys, len(sizes)):
        if parts and _total([sizes[i] for i in (*parts[-1], c)]) <= width:
            parts[-1].append(c)
        else:
            parts.append([*keys, c])
    return parts or [keys]


def _part(
    heads: Sequence[Sequence[str]],
    columns: Sequence[int],
    rows: Sequence[Sequence[str]],
    sizes: Sequence[int],
    right: Sequence[bool],
) -> str:
    """Return some columns of a table, under heads of one or several lines."""
    height = max(map(len, heads), default=0)
    full = [[""] * (height - len(head)) + [*head] for head in heads]
    lines = [*zip(*full, strict=True), *([row[c] for c in columns] for row in rows)]
    return "\n".join(
        "  ".join(
            cell.rjust(sizes[c]) if right[c] else cell.ljust(sizes[c])
            for c, cell in zip(columns, line, strict=True)
        ).rstrip()
        for line in lines
    )


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    ".txt": Table.text,
    ".md": Table.markdown,
    ".tex": Table.latex,
    ".csv": Table.csv,
}
"""Formats of tables by suffix."""
