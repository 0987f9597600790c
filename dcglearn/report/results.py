"""Results as files: the suffix decides between a table, JSON and a figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcglearn.base.files import write_text
from dcglearn.base.json_text import json_document
from dcglearn.report.tables import FIGURE_FORMATS, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_result(
    path: str | Path, table: Table, document: Any, draw: Callable[[], Figure] | None = None
) -> None:
    """Write what was found as its suffix says: a table, JSON, or a figure if there is one."""
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        write_text(path, json_document(document) + "\n")
    elif suffix in FIGURE_FORMATS and draw is not None:
        from dcglearn.report.figures.style import save

        save(draw(), path)
    else:
        table.write(path)
