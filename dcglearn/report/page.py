"""One page to read: every figure, the claim it tests, what was found, and how to make it again.

The page holds all it needs: no script, no font and no picture is fetched from anywhere. The
same content is written as Markdown beside it.
"""

from __future__ import annotations

import base64
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from dcglearn.base.files import write_text
from dcglearn.lab.claims import CLAIM_VERDICTS
from dcglearn.lab.plots import Figure
from dcglearn.lab.repetitions import MeanInterval
from dcglearn.report.results import TABLE, ReportedExperiment

PAGE, MARKDOWN = "index.html", "README.md"


@dataclass(frozen=True)
class PageEntry:
    """One figure as the templates see it.

    Attributes
    ----------
    shown : ReportedExperiment
    figure : Figure
    heading, anchor : str
    command : str
        What makes it again.
    data : str
        The plotted points as CSV.
    picture, download : str
        The figure, and its data, as URLs that hold their content.
    """

    shown: ReportedExperiment
    figure: Figure
    heading: str
    anchor: str
    command: str
    data: str
    picture: str
    download: str


def write_page(experiments: Sequence[ReportedExperiment], out: Path, quick: bool) -> Path:
    """Write the page and its Markdown twin.

    Parameters
    ----------
    experiments : sequence of ReportedExperiment
        Their files have been written.
    out : Path
        The folder that holds the experiments' folders.
    quick : bool
        Whether these are the results of a quick run; the page says so.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    InputError
        If the place cannot be written.
    """
    entries = sorted(
        (_entry(shown, figure, quick) for shown in experiments for figure in shown.figures),
        key=_place_in_paper,
    )
    content: dict[str, Any] = {
        "entries": entries,
        "lacking": [shown for shown in experiments if not shown.figures],
        "unfinished": [s for s in experiments if s.figures and not s.counts.complete],
        "verdicts": {
            v: sum(e.figure.finding.verdict == v for e in entries) for v in CLAIM_VERDICTS
        },
        "quick": quick,
        "table_name": TABLE,
        "out": out,
    }
    for name, template in ((PAGE, "page.html.jinja"), (MARKDOWN, "page.md.jinja")):
        write_text(out / name, _render(template, content))
    return out / PAGE


def _render(template: str, content: dict[str, Any]) -> str:
    environment = Environment(
        autoescape=template.startswith("page.html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["three"] = _three
    environment.filters["slug"] = lambda text: "".join(c if c.isalnum() else "-" for c in text)
    source = files("dcglearn.report").joinpath(template).read_text("utf-8")
    return environment.from_string(source).render(content)


def _entry(shown: ReportedExperiment, figure: Figure, quick: bool) -> PageEntry:
    svg = (shown.folder / f"{figure.name}.svg").read_bytes()
    data = (shown.folder / f"{figure.name}.csv").read_text("utf-8")
    numbered = figure.number[0].isdigit()
    return PageEntry(
        shown,
        figure,
        f"Figure {figure.number}. {figure.title}" if numbered else figure.title,
        figure.name,
        f"dcglearn run configs/{shown.config.path.name}" + (" --quick" if quick else ""),
        data,
        f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}",
        f"data:text/csv;charset=utf-8,{urllib.parse.quote(data)}",
    )


def _place_in_paper(entry: PageEntry) -> tuple[int, str]:
    digits = "".join(c for c in entry.figure.number if c.isdigit())
    first = int(digits) if digits and entry.figure.number[0].isdigit() else 10_000
    return first, entry.figure.number


def _three(number: MeanInterval, part: str) -> str:
    """Show a mean, or an interval; an unknown interval is a dash.

    >>> _three(MeanInterval("", 0.5, 0.4, 0.6, 9), "interval")
    '0.400 to 0.600'
    """
    if part == "mean":
        return f"{number.mean:z.3f}"
    return "-" if number.low != number.low else f"{number.low:z.3f} to {number.high:z.3f}"
