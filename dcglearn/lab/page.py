"""The page of results: every figure, the claim it tests, the verdict, and the command to repeat it.

It is written as Markdown, ``README.md``, and rendered to ``index.html``. Pictures are beside it.
The page loads no script and no font.
"""

from __future__ import annotations

import html
import re
import shlex
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from math import isnan
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt

from dcglearn.base.files import write_text
from dcglearn.base.text import markdown_cell, plain_text
from dcglearn.lab.claims import CLAIM_VERDICTS, Claim
from dcglearn.lab.config import first_figure
from dcglearn.lab.plots import Figure
from dcglearn.lab.repetitions import MeanInterval
from dcglearn.lab.results import TABLE, ReportedExperiment

PAGE, MARKDOWN = "index.html", "README.md"

TITLE = "Learning the gains and discounts of DCG: the experiments"

_BLOCK = re.compile(r"^(\s*\d*)([#+\-=>.)])")
"""What would begin a heading, a list or a quotation."""


def write_page(experiments: Sequence[ReportedExperiment], out: Path, quick: bool) -> Path:
    """Write the page as Markdown and as HTML; return the path of the latter."""
    experiments = sorted(experiments, key=lambda one: first_figure(one.config))
    shown = sorted(
        ((one, figure) for one in experiments for figure in one.figures),
        key=lambda entry: order_in_paper(entry[1]),
    )
    figures = [figure for _, figure in shown]
    of_paper = [entry for entry in shown if entry[1].number[0].isdecimal()]
    environment = Environment(  # noqa: S701 - the template is Markdown, and its filters escape
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {
        "markdown": _markdown_line,
        "url": urllib.parse.quote,
        "sentence": verdicts_in_words,
        "in_words": in_words,
        "command": lambda one: f"dcglearn run {shlex.quote(f'configs/{one.config.path.name}')}",
        "mean": lambda interval: f"{interval.mean:z.3f}",
        "interval": _interval,
    }
    text = environment.from_string(_resource("page.md.jinja")).render(
        title=TITLE,
        shown=shown,
        galleries={
            "Figures of the paper": of_paper,
            "Figures of this project": [entry for entry in shown if entry not in of_paper],
        },
        tables={
            "Claims of the paper": list(_claims(figures, of_paper=True)),
            "Claims of this project": list(_claims(figures, of_paper=False)),
        },
        finished=[one for one in experiments if one.figures],
        unfinished=[one for one in experiments if one.figures and not one.counts.complete],
        not_run=[one for one in experiments if not one.figures],
        quick=quick,
        table_name=TABLE,
    )
    write_text(out / MARKDOWN, text)
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    page = _resource("page.html").replace("TITLE", html.escape(TITLE)).replace("BODY", body)
    write_text(out / PAGE, page)
    return out / PAGE


def _resource(name: str) -> str:
    return files("dcglearn.lab").joinpath(name).read_text("utf-8")


def _claims(figures: Iterable[Figure], of_paper: bool) -> Iterable[tuple[Figure, str, list[Claim]]]:
    """Yield what is claimed about figures, with the ways in which it was tested."""
    for figure in figures:
        found: dict[str, list[Claim]] = {}
        for claim in figure.claims:
            if claim.of_paper is of_paper:  # what the paper says once is one claim
                found.setdefault(claim.quote or claim.tested, []).append(claim)
        for words, claims in found.items():
            yield figure, words, claims


def verdicts_in_words(claims: Sequence[Claim]) -> str:
    """Say how claims, or the tests of one claim, end."""
    found = Counter(claim.finding.verdict for claim in claims)
    numbers = (f"{verdict} ({found[verdict]})" for verdict in CLAIM_VERDICTS if found[verdict])
    return next(iter(found), "no claim") if len(claims) < 2 else ", ".join(numbers)


def _markdown_line(text: str) -> str:
    """Escape what Markdown would take as markup in a line of text."""
    return _BLOCK.sub(r"\1\\\2", markdown_cell(text))


def in_words(figure: Figure) -> str:
    """Say what a figure shows, for those who do not see it, as the value of an attribute."""
    panels: dict[str, list[str]] = {}  # with their titles: several may show the same
    for panel in figure.panels:
        names = ", ".join(series.label for series in panel.series)
        shown = f"{panel.y_label} over {panel.x_label}" + (f", for {names}" if names else "")
        panels.setdefault(shown, []).append(panel.title)
    parts = (
        f"{shown} ({', '.join(titles)})" if any(titles) else shown
        for shown, titles in panels.items()
    )
    return html.escape(plain_text(f"Figure {figure.number}: {'; '.join(parts)}"))


def order_in_paper(figure: Figure) -> tuple[int, str]:
    """Return what figures are sorted by: those of the paper first."""
    digits = "".join(c for c in figure.number if c.isdecimal())
    first = int(digits) if digits and figure.number[0].isdecimal() else 10_000
    return first, figure.number


def _interval(interval: MeanInterval) -> str:
    return "-" if isnan(interval.low) else f"{interval.low:z.3f} to {interval.high:z.3f}"
