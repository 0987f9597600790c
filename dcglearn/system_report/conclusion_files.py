"""Conclusions about systems as files and documents: CSV, LaTeX, Markdown, text and JSON.

CSV has one row per pair, with every verdict and all digits. The other tables are for readers: how
many pairs of each kind there are, then the pairs, then what the words mean.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from dcglearn.base.files import checked_suffix, write_text
from dcglearn.base.text import markdown_cell, plain_text
from dcglearn.report.tables import Table
from dcglearn.system_report.conclusions import (
    conclusions_in_words,
    conclusions_table,
    digest_table,
)
from dcglearn.system_report.conclusions_latex import conclusions_latex
from dcglearn.systems.conclusions import SystemConclusions

ConclusionForm = Literal["text", "md", "latex", "csv"]

_WRITERS: dict[str, Callable[[Table], str]] = {
    "text": Table.text,
    "md": Table.markdown,
    "csv": Table.csv,
}

CONCLUSION_FORMATS: dict[str, ConclusionForm] = {
    ".csv": "csv",
    ".tex": "latex",
    ".md": "md",
    ".txt": "text",
}
"""Formats of conclusions by suffix."""


def conclusions_document(conclusions: SystemConclusions, form: ConclusionForm) -> str:
    """Return conclusions as text in a format."""
    if form == "latex":
        return conclusions_latex(conclusions)
    write = _WRITERS[form]
    pairs = write(conclusions_table(conclusions))
    if form == "csv":
        return pairs
    words = conclusions_in_words(conclusions)
    notes = "\n".join(f"* {markdown_cell(x)}" if form == "md" else plain_text(x) for x in words)
    return f"{write(digest_table(conclusions))}\n\n{pairs}\n\n{notes}"


def write_conclusions(conclusions: SystemConclusions, path: str | Path) -> None:
    """Write conclusions in the format that the suffix names.

    The suffix is ``.csv``, ``.tex``, ``.md`` or ``.txt``.
    """
    form = CONCLUSION_FORMATS[checked_suffix(path, CONCLUSION_FORMATS)]
    write_text(path, conclusions_document(conclusions, form) + "\n")
