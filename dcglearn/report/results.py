"""Results as files: the suffix decides between a table, JSON and a figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcglearn.base.files import write_text
from dcglearn.base.json_text import json_document
from dcglearn.report.tables import FIGURE_FORMATS, TABLE_FORMATS, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULT_FORMATS = (*TABLE_FORMATS, ".json", *FIGURE_FORMATS)
"""Formats of results that have a figure."""


@dataclass(frozen=True)
class Result:
    """What was found: as a table, as a document of JSON, and as a figure if there is one."""

    table: Table
    document: Any
    draw: Callable[[], Figure] | None = None

    def write(self, path: str | Path) -> None:
        """Write it in the format that the suffix names."""
        suffix = Path(path).suffix.lower()
        if suffix == ".json":
            write_text(path, json_document(self.document) + "\n")
        elif suffix in FIGURE_FORMATS and self.draw is not None:
            from dcglearn.report.figures.style import save

            save(self.draw(), path)
        else:
            self.table.write(path)
