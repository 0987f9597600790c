"""The page of results: every figure, the claim it tests, the verdict, and the command to repeat it.

The page is self-contained: it fetches no script, font or picture. Its links to vector graphics lead
to the files beside it. The same content is also written as Markdown.
"""

from __future__ import annotations

import base64
import html
import re
import shlex
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import fsum, isnan
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from dcglearn.base.files import write_text
from dcglearn.base.text import markdown_cell, plain_text
from dcglearn.lab.claims import ClaimVerdict
from dcglearn.lab.plots import Figure
from dcglearn.lab.repetitions import MeanInterval
from dcglearn.pages.inline_svg import ForeignSVGError, PictureBook
from dcglearn.pages.results import TABLE, ReportedExperiment
from dcglearn.pages.timings import update_timings
from dcglearn.pages.words import READING, SHARED, TIMES, duration, made_from, tally

_BLOCK = re.compile(r"^(\s*\d*)([#+\-=>.)])")
"""What would begin a heading, a list or a quotation."""

PAGE, MARKDOWN = "index.html", "README.md"

VECTORS = (".svg", ".pdf")
"""Files of a figure that the page links to; they are beside it."""


@dataclass(frozen=True)
class PageEntry:
    """One figure as the templates use it.

    Attributes
    ----------
    experiment : ReportedExperiment
    figure : Figure
    heading, anchor : str
    words : str
        What the figure shows, for who does not see it.
    command : str
        The command that makes it again.
    data : str
        The plotted points as CSV.
    file : str
        The path of its files from the page, without their endings.
    picture : str
        The figure as an element of the page.
    download : str
        Its data as a data URL.
    """

    experiment: ReportedExperiment
    figure: Figure
    heading: str
    anchor: str
    words: str
    command: str
    data: str
    file: str
    picture: str
    download: str


@dataclass(frozen=True)
class ClaimGroup:
    """Claims of the same origin, with their figures.

    Attributes
    ----------
    title : str
    claims : list of (PageEntry, str, list of str)
        The claims in words, and the verdicts on each: one, or several different ones if it was
        tested in several ways.
    tally : list of (verdict, str)
        From :func:`~dcglearn.pages.words.tally`.
    """

    title: str
    claims: list[tuple[PageEntry, str, list[ClaimVerdict]]]
    tally: list[tuple[str, str]]


def write_page(experiments: Sequence[ReportedExperiment], out: Path, quick: bool) -> Path:
    """Write the page, and the same content as Markdown.

    Parameters
    ----------
    experiments : sequence of ReportedExperiment
        Their files are already written.
    out : Path
        The folder that holds the experiments' folders.
    quick : bool
        Whether these are the results of a quick run, which the page then states.

    Returns
    -------
    Path
        The path of the page.

    Raises
    ------
    InputError
        If the files cannot be written.
    """
    book = PictureBook()
    entries = sorted(
        (_entry(one, figure, quick, book) for one in experiments for figure in one.figures),
        key=lambda entry: order_in_paper(entry.figure),
    )
    times = update_timings(experiments, out)
    finished = [one for one in experiments if one.figures]
    known = [times[one.config.name] for one in finished if one.config.name in times]
    content: dict[str, Any] = {
        "entries": entries,
        "book": book,
        "groups": [
            _group(entries, "Claims of the paper", of_paper=True),
            _group(entries, "Claims of this project", of_paper=False),
        ],
        "finished": finished,
        "not_run": [one for one in experiments if not one.figures],
        "unfinished": [one for one in finished if not one.counts.complete],
        "times": times,
        "total_time": fsum(known) if len(known) == len(finished) else None,
        "quick": quick,
        "table_name": TABLE,
        "vectors": VECTORS,
        "reading": READING,
        "shared": SHARED,
        "about_times": TIMES,
    }
    for name, template in ((PAGE, "page.html.jinja"), (MARKDOWN, "page.md.jinja")):
        write_text(out / name, _render(template, content))
    return out / PAGE


def _group(entries: Sequence[PageEntry], title: str, of_paper: bool) -> ClaimGroup:
    claims: list[tuple[PageEntry, str, list[ClaimVerdict]]] = []
    for entry in entries:
        verdicts: dict[str, list[ClaimVerdict]] = {}
        for claim in entry.figure.claims:
            if claim.of_paper is of_paper:  # what the paper says once is one claim
                words = claim.quote or claim.tested
                verdicts.setdefault(words, []).append(claim.finding.verdict)
        claims += [(entry, words, list(dict.fromkeys(found))) for words, found in verdicts.items()]
    return ClaimGroup(title, claims, tally(found for _, _, found in claims))


def _render(template: str, content: dict[str, Any]) -> str:
    environment = Environment(
        autoescape=template.startswith("page.html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["three_digits"] = _three_digits
    environment.filters |= {
        "markdown": _markdown_line,
        "code": _markdown_code,
        "inline": markdown_cell,
        "url": urllib.parse.quote,
        "made_from": made_from,
        "duration": duration,
    }
    environment.filters["slug"] = lambda text: "".join(c if c.isalnum() else "-" for c in text)
    source = files("dcglearn.pages").joinpath(template).read_text("utf-8")
    return environment.from_string(source).render(content)


def _markdown_line(text: str) -> str:
    r"""Escape what Markdown would take as markup in a line of text.

    >>> print(_markdown_line("# a_b <img src=x> `c` | d"))
    \# a_b &lt;img src=x> \`c\` \| d
    """
    return _BLOCK.sub(r"\1\\\2", markdown_cell(text))


def _markdown_code(text: str) -> str:
    """Write text as code, between more backquotes than it has in a row.

    >>> print(_markdown_code("run a`b.toml"))
    ``run a`b.toml``
    """
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " * (text[:1] == "`" or text[-1:] == "`")
    return f"{fence}{pad}{plain_text(text)}{pad}{fence}"


def _entry(
    experiment: ReportedExperiment, figure: Figure, quick: bool, book: PictureBook
) -> PageEntry:
    svg = (experiment.folder / f"{figure.name}.svg").read_bytes()
    data = (experiment.folder / f"{figure.name}.csv").read_text("utf-8")
    heading = f"Figure {figure.number}. {figure.title}"
    words = _in_words(heading, figure)
    config = f"configs/{experiment.config.path.name}"
    return PageEntry(
        experiment,
        figure,
        heading,
        figure.name,
        words,
        f"dcglearn run {shlex.quote(config)}" + (" --quick" if quick else ""),
        data,
        f"{experiment.folder.name}/{figure.name}",
        _picture(svg, words, book),
        f"data:text/csv;charset=utf-8,{urllib.parse.quote(data)}",
    )


def _picture(svg: bytes, words: str, book: PictureBook) -> str:
    """Return a figure as part of the page; as an image of its own if it holds other than lines."""
    try:
        return book.add(svg.decode(), words)
    except ForeignSVGError:
        source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        return f'<img src="{source}" alt="{html.escape(words)}">'


def _in_words(heading: str, figure: Figure) -> str:
    """Say what a figure shows; its numbers are in the points below it.

    >>> from dcglearn.lab.plots import Plot
    >>> panels = [Plot("pairs", "precision", (), title=title) for title in ("Data 1", "Data 2")]
    >>> _in_words("Figure 1", Figure("1", "", panels[0], (), more=(panels[1],)))
    'Figure 1: precision over pairs (panels: Data 1, Data 2)'
    """
    panels: dict[str, list[str]] = {}  # with their titles: several may show the same
    for panel in figure.panels:
        names = (f"“{s.label}”" if "," in s.label else s.label for s in panel.series)
        shown = f"{panel.y_label} over {panel.x_label}"
        shown += f", for {', '.join(names)}" if panel.series else ""
        panels.setdefault(shown, []).extend([panel.title] if panel.title else [])
    parts = [
        shown + (f" (panel{'s' * (len(titles) > 1)}: {', '.join(titles)})" if titles else "")
        for shown, titles in panels.items()
    ]
    return f"{heading}: {'; '.join(parts)}"


def order_in_paper(figure: Figure) -> tuple[int, str]:
    """Return what figures are sorted by: those of the paper first.

    Parameters
    ----------
    figure : Figure

    Returns
    -------
    (int, str)
    """
    digits = "".join(c for c in figure.number if c.isdecimal())
    first = int(digits) if digits and figure.number[0].isdecimal() else 10_000
    return first, figure.number


def _three_digits(interval: MeanInterval, part: str) -> str:
    """Format a mean or its interval; a missing interval is a dash.

    >>> _three_digits(MeanInterval("", 0.5, 0.4, 0.6, 9), "interval")
    '0.400 to 0.600'
    """
    if part == "mean":
        return f"{interval.mean:z.3f}"
    if isnan(interval.low):
        return "-"
    return f"{interval.low:z.3f} to {interval.high:z.3f}"
