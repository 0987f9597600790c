"""A study in four formats: text, Markdown, JSON, and one self-contained HTML page.

The page fetches no script, font or picture; it reads on a telephone, in the dark, and on paper.
The same judgments and seed give the same bytes.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined

from dcglearn.base.files import checked_suffix, write_text
from dcglearn.base.numbers import counted
from dcglearn.base.text import markdown_cell, plain_text
from dcglearn.base.version import __version__
from dcglearn.inference.conclusions import JudgeShare
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.report.questions import question_json
from dcglearn.report.tables import Table
from dcglearn.study.facts import Study
from dcglearn.study.figures import study_pictures
from dcglearn.study.sections import Section, sections
from dcglearn.study.words import headline

STUDY_FORMATS = (".html", ".md", ".json", ".txt")


def study_text(study: Study) -> str:
    """Return a study as plain text, the answer first.

    Parameters
    ----------
    study : Study
    """
    lines = [_title(study), "", *(_wrapped(one, "* ", "  ") for one in headline(study))]
    for section in sections(study):
        if section.specialists or section.title == "Words":
            continue
        lines += ["", section.title.upper()]
        lines += [_wrapped(one) for one in section.paragraphs]
        for table in section.tables:
            lines += ["", table.text()]
        for caption, text in section.code.items():
            lines += ["", f"{caption}:", plain_text(text.rstrip("\n"), keep="\n")]
    return "\n".join(lines)


def study_markdown(study: Study) -> str:
    """Return a study as Markdown.

    Parameters
    ----------
    study : Study
    """
    lines = [f"# {markdown_cell(_title(study))}", ""]
    lines += [f"* {markdown_cell(one)}" for one in headline(study)]
    for section in sections(study):
        lines += ["", f"## {markdown_cell(section.title)}"]
        for paragraph in section.paragraphs:
            lines += ["", markdown_cell(paragraph)]
        for table in section.tables:
            lines += ["", table.markdown()]
        for caption, text in section.code.items():
            lines += ["", f"### {markdown_cell(caption)}", "", "````", text.rstrip("\n"), "````"]
    return "\n".join([*lines, "", _made()]) + "\n"


def study_html(study: Study, rng: np.random.Generator) -> str:
    """Return a study as one HTML page.

    Parameters
    ----------
    study : Study
    rng : numpy.random.Generator
        For the bands of the figure.
    """
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("dcglearn.study").joinpath("study.html.jinja").read_text("utf-8")
    evidence = study.recommended.likelihood.evidence
    return environment.from_string(source).render(
        title=_title(study),
        subtitle=f"{plain_text(study.name)}: learned from the {len(evidence):,} of them that "
        f"prefer one of two lists with different grades. {_made()}",
        headline=[_unbroken(one) for one in headline(study)],
        figures=study_pictures(study, rng),
        sections=[_for_template(one) for one in sections(study)],
        made=_made(),
    )


def study_json(study: Study) -> dict[str, Any]:
    """Return a study as a dict that JSON can hold.

    Parameters
    ----------
    study : Study
    """
    return {
        "file": study.name,
        "headline": headline(study),
        "support": study.support,
        "recommended": _fit_json(study.recommended),
        "free": _fit_json(study.free),
        "ties": None if study.ties is None else _fit_json(study.ties),
        "questions": [
            {name: _finite(value) for name, value in question_json(one).items()}
            for one in study.questions
        ],
        "judges": [_judge_json(one) for one in study.judges],
        "agreement": [asdict(one) for one in study.agreement],
        "link": {name: _finite(value) for name, value in asdict(study.link).items()},
        "held_out": None if study.held_out is None else asdict(study.held_out),
        "inspection": study.inspection.to_json(),
        "tools": dict(study.tools),
        "in_use": study.in_use,
        "program": f"dcglearn {__version__}",
    }


def _judge_json(one: JudgeShare) -> dict[str, Any]:
    """Return one of few judges, with what is concluded without them."""
    share, low, high = one.lapses
    without = one.without
    return {
        "judge": one.judge,
        "judgments": one.judgments,
        "random": {"share": share, "low": low, "high": high},
        "without": None
        if without is None
        else {
            "support": without.support,
            "recommended": _fit_json(without.recommended),
            "verdicts": {
                f"{question.about} {question.hypothesis}": question.verdict
                for question in without.questions
                if question.about in ("gains", "discounts")
            },
        },
    }


def write_study(study: Study, path: str | Path, rng: np.random.Generator) -> None:
    """Write a study in the format that the suffix names.

    Parameters
    ----------
    study : Study
    path : path-like
        ``.html``, ``.md``, ``.json`` or ``.txt``.
    rng : numpy.random.Generator
        For the bands of the figure.

    Raises
    ------
    InputError
        If the suffix is another one, or the file cannot be written.
    """
    suffix = checked_suffix(path, STUDY_FORMATS)
    if suffix == ".html":
        text = study_html(study, rng)
    elif suffix == ".md":
        text = study_markdown(study)
    elif suffix == ".json":
        text = json.dumps(study_json(study), indent=2, allow_nan=False) + "\n"
    else:
        text = study_text(study) + "\n"
    write_text(path, text)


def _wrapped(text: str, first: str = "", other: str = "") -> str:
    return textwrap.fill(plain_text(text), 96, initial_indent=first, subsequent_indent=other)


def _title(study: Study) -> str:
    return f"What {counted(len(study.data), 'judgment says', 'judgments say')} about DCG"


def _made() -> str:
    return f"Made by dcglearn {__version__}."


def _for_template(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "specialists": section.specialists,
        "paragraphs": [_unbroken(one) for one in section.paragraphs],
        "tables": [_table_cells(one) for one in section.tables],
        "code": {name: plain_text(text, keep="\n") for name, text in section.code.items()},
    }


def _unbroken(text: str) -> str:
    """Keep formulas and intervals on one line, such as ``2^g - 1`` and ``.54 to .77``.

    >>> _unbroken("2^g - 1 says .33 (.54 to .77)").count(" ")
    3
    """
    formulas = re.sub(r" ([-+=/]) (?=[\d(.])", "\u00a0\\1\u00a0", plain_text(text))
    return re.sub(r"(?<=[\d%]) to (?=-?[.\d])", "\u00a0to\u00a0", formulas)


def _table_cells(table: Table) -> dict[str, Any]:
    numeric, shown = table.alignment(), table.shown()
    return {
        "head": list(zip(map(_unbroken, table.columns), numeric, strict=True)),
        "rows": [list(zip(map(_unbroken, row), numeric, strict=True)) for row in shown],
    }


def _fit_json(fit: JudgmentFit) -> dict[str, Any]:
    others = [fit.other(name) for name in fit.likelihood.names]
    return {
        "gains_family": fit.model.gains,
        "discounts_family": fit.model.discounts,
        "ties": fit.model.ties,
        "log_likelihood": fit.log_likelihood,
        "judgments": len(fit.likelihood.evidence),
        **{
            name: [{key: _finite(value) for key, value in asdict(one).items()} for one in found]
            for name, found in (
                ("gains", fit.gains()),
                ("discounts", fit.discounts()),
                ("other", others),
            )
        },
    }


def _finite(value: Any) -> Any:
    """Return None for a number that JSON does not know."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
