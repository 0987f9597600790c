"""One table in four formats: plain text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcglearn.base.numbers import decimals
from dcglearn.base.plain_text import latex_cell, markdown_cell, plain_text
from dcglearn.files.files import checked_suffix, write_text

FIGURE_FORMATS = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats of figures by suffix, with the metadata that keeps dates and versions out of files."""

Cell = str | int | float | None


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

    def text(self) -> str:
        """Return the table as plain text, with numbers aligned on the right."""
        cells = [[*map(plain_text, row)] for row in (self.columns, *self.shown())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        right = self.alignment()
        lines = [
            "  ".join(
                cell.rjust(width) if flush else cell.ljust(width)
                for cell, width, flush in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join(([plain_text(self.caption)] if self.caption else []) + lines)

    def markdown(self) -> str:
        """Return the table in GitHub's Markdown."""
        ends = ["--:" if number else ":--" for number in self.alignment()]
        head, *rows = ([*map(markdown_cell, row)] for row in (self.columns, *self.shown()))
        body = "\n".join(f"| {' | '.join(row)} |" for row in (head, ends, *rows))
        return f"{markdown_cell(self.caption)}\n\n{body}" if self.caption else body

    def latex(self) -> str:
        """Return the table as a LaTeX ``tabular``, which needs no packages."""
        ends = "".join("r" if number else "l" for number in self.alignment())
        head, *rows = (
            " & ".join(map(latex_cell, row)) + r" \\" for row in (self.columns, *self.shown())
        )
        lines = [rf"\begin{{tabular}}{{{ends}}}", r"\hline", head, r"\hline", *rows, r"\hline"]
        comment = [f"% {plain_text(self.caption)}"] if self.caption else []
        return "\n".join([*comment, *lines, r"\end{tabular}"])

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


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    ".txt": Table.text,
    ".md": Table.markdown,
    ".tex": Table.latex,
    ".csv": Table.csv,
}
"""Formats of tables by suffix."""
