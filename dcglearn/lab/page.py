"""The page of results: every figure, the claim it tests, the verdict, and the command to repeat it.

It is written as Markdown, ``README.md``, and rendered to ``index.html``, without script or font.
"""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt

from dcglearn.base.files import write_text
from dcglearn.base.text import markdown_cell
from dcglearn.lab.claims import CLAIM_VERDICTS, Claim
from dcglearn.lab.plots import figure_file_name
from dcglearn.lab.results import ReportedExperiment

PAGE, MARKDOWN = "index.html", "README.md"

_BLOCK = re.compile(r"^(\s*\d*)([#+\-=>.)])")
"""What would begin a heading, a list or a quotation."""


def write_page(experiments: Sequence[ReportedExperiment]) -> Path:
    """Write the page beside the folders of results; return the HTML file."""
    out = experiments[0].folder.parent
    experiments = sorted(experiments, key=lambda one: figure_file_name(one.config.figures[0]))
    shown = [(one, figure) for one in experiments for figure in one.figures]
    shown.sort(key=lambda entry: entry[1].name)
    claims = []
    for _, figure in shown:
        tests: dict[str, list[Claim]] = {}
        for claim in figure.claims:  # what the paper says once is one claim, however it is tested
            tests.setdefault(claim.quote or claim.tested, []).append(claim)
        claims += [(figure, *one) for one in tests.items()]
    environment = Environment(  # noqa: S701 - the template is Markdown, and its filters escape
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=FileSystemLoader(Path(__file__).parent),
    )
    environment.filters.update(
        markdown=lambda text: _BLOCK.sub(r"\1\\\2", markdown_cell(text)),
        shell=shlex.quote,
        sentence=verdicts_in_words,
    )
    text = environment.get_template("page.md.jinja").render(
        shown=shown, claims=claims, experiments=experiments
    )
    write_text(out / MARKDOWN, text)
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    write_text(out / PAGE, environment.get_template("page.html").render(body=body))
    return out / PAGE


def verdicts_in_words(claims: Sequence[Claim]) -> str:
    """Say how claims, or the tests of one claim, end."""
    found = Counter(claim.finding.verdict for claim in claims)
    if len(claims) < 2:
        return next(iter(found), "no claim")
    several = {name: name.replace("holds", "hold").replace("does", "do") for name in found}
    if len(found) == 1:
        return f"all {len(claims)} {several.popitem()[1]}"
    parts = (
        f"{found[name]} {several[name] if found[name] > 1 else name}".replace(",", "")
        for name in CLAIM_VERDICTS
        if found[name]
    )
    return f"of {len(claims)}, {', '.join(parts)}"
