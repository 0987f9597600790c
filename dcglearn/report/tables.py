"""One table in four formats: plain text, Markdown, LaTeX and CSV.

Cells are text or numbers, which are rounded for readers and written in full to CSV.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dcglearn.base.errors import InputError
from dcglearn.base.files import checked_suffix, json_document, write_text
from dcglearn.base.numbers import decimals
from dcglearn.base.text import latex_cell, markdown_cell, plain_text
from dcglearn.measures.names import repeated_name

FIGURE_FORMATS = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats of figures by suffix, with the metadata that keeps dates and versions out of files."""

LONGEST = 40
"""Rows of a table in LaTeX on one page."""


_TABULAR = r"""\begin{{tabular}}{{{ends}}}
\hline
{head}
\hline
{body}
\hline
\end{{tabular}}"""

_TABLE = rf"""\begin{{{{table}}}}
\centering
{{caption}}
\medskip
{_TABULAR}
\end{{{{table}}}}"""

_LONGTABLE = r"""% needs \usepackage{{longtable}}
\begin{{longtable}}{{{ends}}}
{caption}\\
\hline
{head}
\hline
\endfirsthead
\hline
{head}
\hline
\endhead
{body}
\hline
\end{{longtable}}"""


class Shown(NamedTuple):
    """A number that readers see as another text, in bold, or with a mark after it."""

    value: float
    text: str = ""
    bold: bool = False
    mark: str = ""


Cell = str | int | float | Shown | None
Row = dict[str, Cell]


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

        If it is wider than `width`, columns that do not fit follow below, after the columns of text
        that come first.
        """
        kinds = self.kinds()
        rows = [[*map(plain_text, self.columns)], *self._dressed("{}", " {}", plain_text)]
        columns = []
        for kind, cells in zip(kinds, zip(*rows, strict=True), strict=True):
            align = str.rjust if kind == "number" else str.ljust
            columns.append([align(cell, max(map(len, cells))) for cell in cells])
        n_keys = next((c for c, kind in enumerate(kinds) if kind != "text"), len(kinds))
        parts = [columns[:n_keys]]
        for column in columns[n_keys:]:
            line = "  ".join(cells[0] for cells in [*parts[-1], column])
            if width is not None and len(line) > width and len(parts[-1]) > n_keys:
                parts.append(columns[:n_keys])
            parts[-1].append(column)
        blocks = [
            "\n".join("  ".join(line).rstrip() for line in zip(*part, strict=True))
            for part in parts
        ]
        caption = [plain_text(self.caption)] if self.caption else []
        notes = ["", *map(plain_text, self.notes)] if self.notes else []
        return "\n".join([*caption, "\n\n".join(blocks), *notes])

    def markdown(self) -> str:
        """Return the table in GitHub's Markdown."""
        ends = ["--:" if kind == "number" else ":--" for kind in self.kinds()]
        rows = self._dressed("**{}**", "<sup>{}</sup>", markdown_cell)
        names = [*map(markdown_cell, self.columns)]
        caption = [markdown_cell(self.caption), ""] if self.caption else []
        notes = ["", *(f"* {markdown_cell(note)}" for note in self.notes)] if self.notes else []
        lines = (f"| {' | '.join(row)} |" for row in (names, ends, *rows))
        return "\n".join([*caption, *lines, *notes])

    def latex(self) -> str:
        """Return the table in LaTeX, with the notes as comments.

        It is a ``longtable``, which breaks over pages, if it has more than :data:`LONGEST` rows,
        and otherwise a ``tabular``, in a ``table`` if it has a caption.
        """
        kinds = self.kinds()
        rows = self._dressed(r"\textbf{{{}}}", r"\textsuperscript{{{}}}", latex_cell)
        names = map(latex_cell, self.columns)
        first, *lines = (rf"{' & '.join(row)} \\" for row in (names, *rows))
        form = _LONGTABLE if len(lines) > LONGEST else _TABLE if self.caption else _TABULAR
        caption = latex_cell(self.caption[:1].upper() + self.caption[1:]).rstrip(".")
        table = form.format(
            ends="".join("r" if kind == "number" else "l" for kind in kinds),
            caption=rf"\caption{{{caption}.}}" if caption else "%",
            head=first,
            body="\n".join(lines),
        )
        return "\n".join([*(f"% {plain_text(note)}" for note in self.notes), table])

    def named_rows(self) -> list[dict[str, Any]]:
        """Return the rows by name of their columns, with numbers in full."""
        if repeated := repeated_name(self.columns):
            raise InputError(f"two columns are called {repeated}", "rename one")
        return [
            {
                name: cell.value if isinstance(cell, Shown) else cell
                for name, cell in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]

    def csv(self) -> str:
        """Return the table as CSV, with numbers in full."""
        rows: list[Iterable[Any]] = [self.columns, *self.rows]
        if self.records:
            rows = [self.records[0], *(record.values() for record in self.records)]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(map(_csv_cell, row) for row in rows)
        return text.getvalue().rstrip("\n")

    def write(self, path: str | Path, document: Callable[[], Any] | None = None) -> None:
        """Write the table in the format that the suffix names; as JSON, the document behind it."""
        if document is not None and Path(path).suffix.lower() == ".json":
            text = json_document(document())
        else:
            text = TABLE_FORMATS[checked_suffix(path, TABLE_FORMATS)](self)
        write_text(path, text + "\n")

    def kinds(self) -> list[str]:
        """Return what each column holds: ``text``, a ``number``, or a ``marked`` number."""
        kinds: list[str] = []
        for c in range(len(self.columns)):
            cells = [row[c] for row in self.rows if row[c] is not None]
            marked = any(isinstance(cell, Shown) and cell.mark for cell in cells)
            text = not cells or any(isinstance(cell, str) for cell in cells)
            kinds.append("text" if text else "marked" if marked else "number")
        return kinds

    def shown(self) -> list[list[str]]:
        """Return the rows as text, with numbers as people read them."""
        return self._dressed("{}", "", str)

    def _dressed(self, bold: str, above: str, escape: Callable[[str], str]) -> list[list[str]]:
        """Return the rows as text, with the forms of what is bold and of a mark."""

        def dressed(cell: Cell) -> str:
            if isinstance(cell, Shown):
                shown = escape(cell.text or decimals(cell.value, self.digits))
                mark = above.format(escape(cell.mark)) if cell.mark else ""
                return (bold.format(shown) if cell.bold else shown) + mark
            if isinstance(cell, float):
                return decimals(cell, self.digits)
            return f"{cell:,}" if isinstance(cell, int) else escape(cell or "")

        return [[dressed(cell) for cell in row] for row in self.rows]


def page(*parts: str | Table) -> str:
    """Return paragraphs and tables as text, an empty line between them; nothing of empty ones.

    At a terminal, tables are divided at its width.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    texts = (part if isinstance(part, str) else part.text(width) for part in parts)
    return "\n\n".join(filter(None, texts))


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    ".txt": Table.text,
    ".md": Table.markdown,
    ".tex": Table.latex,
    ".csv": Table.csv,
}


def p_text(p: float) -> str:
    """Return a p-value with three digits.

    >>> p_text(1e-9), p_text(0.0131), p_text(1.0)
    ('< .001', '.013', '1')
    """
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"


def shown_p(p: float, mark: str = "") -> Shown:
    """Return a p-value for a cell."""
    return Shown(p, p_text(p), mark=mark)


def _csv_cell(value: Any) -> Any:
    """Return text that a spreadsheet does not run as a formula; nothing where a number is nan."""
    if isinstance(value, Shown):
        value = value.value
    if isinstance(value, str):
        text = plain_text(value)
        return f"'{text}" if text.startswith(("=", "+", "@")) else text
    if isinstance(value, bool):
        return str(value).lower()
    return None if value != value else value  # nan
