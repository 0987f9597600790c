"""One table in four formats: plain text, Markdown, LaTeX and CSV.

Cells are text or numbers, which are rounded for readers and written in full to CSV.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


class Shown(float):
    """A number that readers see as another text, in bold, or with a mark after it."""

    text: str
    bold: bool
    mark: str

    def __new__(cls, value: float, text: str = "", bold: bool = False, mark: str = "") -> Shown:
        """Make the number; a float cannot be changed after that."""
        made = super().__new__(cls, value)
        made.text, made.bold, made.mark = text, bold, mark
        return made


@dataclass(frozen=True)
class Table:
    """A table: rows under named columns; CSV holds `records`, if there are any, instead."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    digits: int = 4
    records: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Cell]], caption: str = "", **more: Any) -> Table:
        """Return the table of rows that name their columns, all alike; there is at least one."""
        return cls(tuple(rows[0]), [tuple(row.values()) for row in rows], caption, **more)

    def text(self, width: int | None = None) -> str:
        """Return the table as plain text, with numbers aligned on the right.

        If it is wider than `width`, the names of columns are broken into lines, and columns that
        do not fit follow below, after the columns of text that come first.
        """
        right, numeric = self.alignment(), self._numeric()
        rows = [
            [plain_text(f"{text} {mark}" if mark else text) for text, _, mark in row]
            for row in self._cells()
        ]
        heads = [[plain_text(name)] for name in self.columns]
        sizes = _sizes(heads, rows)
        parts = [list(range(len(heads)))]
        if width is not None and any(numeric) and _total(sizes) > width:
            heads = [_broken(*head) if n else head for head, n in zip(heads, numeric, strict=True)]
            sizes = _sizes(heads, rows)
            parts = _divided(sizes, numeric.index(True), width)
        height = max(map(len, heads), default=0)
        above = zip(*([""] * (height - len(head)) + head for head in heads), strict=True)
        lines = [
            [
                cell.rjust(n) if r else cell.ljust(n)
                for cell, n, r in zip(line, sizes, right, strict=True)
            ]
            for line in (*above, *rows)
        ]
        blocks = [
            "\n".join("  ".join(line[c] for c in part).rstrip() for line in lines) for part in parts
        ]
        caption = [plain_text(self.caption)] if self.caption else []
        notes = ["", *map(plain_text, self.notes)] if self.notes else []
        return "\n".join([*caption, "\n\n".join(blocks), *notes])

    def markdown(self) -> str:
        """Return the table in GitHub's Markdown."""

        def dress(text: str, bold: bool, mark: str) -> str:
            cell = f"**{markdown_cell(text)}**" if bold else markdown_cell(text)
            return f"{cell}<sup>{markdown_cell(mark)}</sup>" if mark else cell

        ends = ["--:" if number else ":--" for number in self.alignment()]
        rows = [[dress(*cell) for cell in row] for row in self._cells()]
        lines = [
            f"| {' | '.join(row)} |" for row in ([*map(markdown_cell, self.columns)], ends, *rows)
        ]
        caption = [markdown_cell(self.caption), ""] if self.caption else []
        notes = ["", *(f"* {markdown_cell(note)}" for note in self.notes)] if self.notes else []
        return "\n".join([*caption, *lines, *notes])

    def latex(self) -> str:
        """Return the table in LaTeX, with the notes as comments.

        It is a ``longtable``, which breaks over pages, if it has more than :data:`LONGEST` rows,
        and otherwise a ``tabular``, which needs no packages; in a ``table`` if it has a caption.
        """

        def dress(text: str, bold: bool, mark: str) -> str:
            cell = rf"\textbf{{{_latex(text)}}}" if bold else _latex(text)
            above = _latex(mark).replace("-", "--")
            return rf"{cell}\textsuperscript{{{above}}}" if mark else cell

        def head(name: str, numeric: bool) -> str:
            lines = [*map(_latex, _broken(name))]
            stacked = r"\shortstack{" + r"\\".join(lines) + "}"
            return stacked if numeric and len(lines) > 1 else _latex(name)

        ends = "".join("r" if right else "l" for right in self.alignment())
        names = map(head, self.columns, self._numeric())
        body = ([dress(*cell) for cell in row] for row in self._cells())
        first, *lines = (rf"{' & '.join(row)} \\" for row in (names, *body))
        top = [r"\hline", first, r"\hline"]
        comments = [f"% {plain_text(note)}" for note in self.notes]
        caption = _latex(self.caption[:1].upper() + self.caption[1:]).rstrip(".") + "."
        if len(lines) > LONGEST:
            above = [rf"\caption{{{caption}}}\\", *top, r"\endfirsthead"] if self.caption else []
            lines = [
                *(r"% needs \usepackage{longtable}", *comments, rf"\begin{{longtable}}{{{ends}}}"),
                *(*above, *top, r"\endhead", *lines, r"\hline", r"\end{longtable}"),
            ]
            return "\n".join(lines)
        lines = [rf"\begin{{tabular}}{{{ends}}}", *top, *lines, r"\hline", r"\end{tabular}"]
        if self.caption:
            above = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", r"\medskip"]
            lines = [*above, *lines, r"\end{table}"]
        return "\n".join([*comments, *lines])

    def csv(self) -> str:
        """Return the table as CSV, with numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_csv_cell, self.records[0] if self.records else self.columns))
        rows = [[*one.values()] for one in self.records] or self.rows
        writer.writerows([*map(_csv_cell, row)] for row in rows)
        return text.getvalue().rstrip("\n")

    def write(self, path: str | Path) -> None:
        """Write the table in the format that the suffix names."""
        write_text(path, TABLE_FORMATS[checked_suffix(path, TABLE_FORMATS)](self) + "\n")

    def alignment(self) -> list[bool]:
        """Return which columns are aligned on the right: numbers, unless they have marks."""
        marked = [any(mark for *_, mark in column) for column in zip(*self._cells(), strict=True)]
        return [n and not m for n, m in zip(self._numeric(), marked or self.columns, strict=True)]

    def _numeric(self) -> list[bool]:
        """Return which columns hold only numbers."""
        columns: list[tuple[Cell, ...]] = list(zip(*self.rows, strict=True)) if self.rows else []
        numeric = [
            any(c is not None for c in column) and not any(isinstance(c, str) for c in column)
            for column in columns
        ]
        return numeric or [False] * len(self.columns)

    def shown(self) -> list[list[str]]:
        """Return the rows as text, with numbers as people read them."""
        return [[text for text, _, _ in row] for row in self._cells()]

    def _cells(self) -> list[list[tuple[str, bool, str]]]:
        """Return the text of each cell, whether it is bold, and the mark after it."""
        return [[self._cell(cell) for cell in row] for row in self.rows]

    def _cell(self, cell: Cell) -> tuple[str, bool, str]:
        if isinstance(cell, Shown):
            return cell.text or decimals(cell, self.digits), cell.bold, cell.mark
        if isinstance(cell, float):
            return decimals(cell, self.digits), False, ""
        return f"{cell:,}" if isinstance(cell, int) else cell or "", False, ""


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    ".txt": Table.text,
    ".md": Table.markdown,
    ".tex": Table.latex,
    ".csv": Table.csv,
}
"""Formats of tables by suffix."""


def p_text(p: float, least: bool = False) -> str:
    """Return a p-value with four decimals; as a bound if it is the least that a test can give.

    >>> p_text(0.02), p_text(1e-9), p_text(0.0001, least=True)
    ('0.0200', '<0.0001', '<=0.0001')
    """
    if p < 0.00005:
        return "<0.0001"
    return f"{'<=' if least else ''}{p:.4f}"


def _csv_cell(value: Any) -> Any:
    """Return text that a spreadsheet does not run as a formula; nothing where a number is nan."""
    if isinstance(value, str):
        text = plain_text(value)
        return f"'{text}" if text.startswith(("=", "+", "@")) else text
    if isinstance(value, bool):
        return str(value).lower()
    return None if value != value else value  # nan


def _latex(text: str) -> str:
    """Return text for LaTeX, with the signs of bounds in mathematics."""
    signs = {r"\textless{}=": r"$\leq$", r"p \textless{} ": "$p <$ "}
    cell = latex_cell(text)
    for plain, sign in signs.items():
        cell = cell.replace(plain, sign)
    return cell


def _broken(name: str) -> list[str]:
    """Divide a long name of a column into lines, where words end."""
    return textwrap.wrap(name, NARROW, break_long_words=False) or [""]


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
    return parts
