"""A study in four formats: text, Markdown, JSON, and one self-contained HTML page.

The page fetches no script, font or picture; it reads on a telephone, in the dark, and on paper.
The same judgments and seed give the same bytes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from dcglearn.base.files import checked_suffix, write_text
from dcglearn.base.json_text import jsonable
from dcglearn.base.numbers import counted
from dcglearn.base.text import markdown_cell, plain_text
from dcglearn.base.version import __version__
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.measures.measure_files import MeasureFile, write_measure
from dcglearn.report.questions import question_json
from dcglearn.report.study.facts import Study
from dcglearn.report.study.words import headline, sections
from dcglearn.report.words import filled

STUDY_FORMATS = (".html", ".md", ".json", ".txt")


def study_page(study: Study, form: str) -> str:
    """Return a study as text (txt), Markdown (md) or a page of HTML, which has figures (html)."""
    figures = []
    if form == "html":
        from dcglearn.report.figures.measure_figures import study_pictures

        figures = study_pictures(study.parts)
    environment = Environment(
        loader=PackageLoader("dcglearn.report.study", ""),
        autoescape=select_autoescape(["html.jinja"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "filled": filled,
        "markdown": markdown_cell,
        "plain": plain_text,
        "unbroken": _unbroken,
    }
    return (
        environment.get_template(f"study.{form}.jinja")
        .render(
            title=f"What {counted(len(study.data), 'judgment says', 'judgments say')} about DCG",
            subtitle=study.name,
            headline=headline(study),
            sections=sections(study),
            made=f"Made by dcglearn {__version__}.",
            figures=figures,
        )
        .rstrip("\n")
    )


def study_json(study: Study) -> Any:
    """Return a study as a dict that JSON can hold."""
    concluded, held_out = study.conclusion, study.held_out
    return jsonable(
        {
            "file": study.name,
            "headline": headline(study),
            "change": study.change,
            "measure": str(study.measure),
            "in_use": study.in_use[0],
            "support": concluded.support,
            "recommended": _fit_json(concluded.recommended),
            "free": _fit_json(concluded.free),
            "questions": [question_json(one) for one in concluded.questions],
            "judges": [
                vars(one) | {"without": one.without and one.without.answer} for one in study.judges
            ],
            "agreement": study.agreement,
            "link": study.link,
            "held_out": held_out
            and {
                "log_loss": held_out.log_loss,
                "groups": held_out.groups,
                "n_folds": held_out.n_folds,
            },
            "inspection": study.inspection.to_json(),
            "changed_comparisons": study.changed,
            "program": f"dcglearn {__version__}",
        }
    )


def _fit_json(fit: JudgmentFit) -> dict[str, Any]:
    return {
        "model": fit.model,
        "log_likelihood": fit.log_likelihood,
        "judgments": len(fit.evidence),
        "gains": fit.gains(),
        "discounts": fit.discounts(),
        "other": [fit.other(name) for name in fit.likelihood.names],
    }


def write_study(study: Study, path: str | Path) -> None:
    """Write a study in the format that the suffix names.

    Parameters
    ----------
    study : Study
    path : path-like
        ``.html``, ``.md``, ``.json`` or ``.txt``; JSON is a measure file of the measure to use
        from now on, with all numbers in ``about``.

    Raises
    ------
    InputError
        If the suffix is another one, or the file cannot be written.
    """
    suffix = checked_suffix(path, STUDY_FORMATS)
    if suffix == ".json":
        write_measure(MeasureFile(dcg=study.measure, about={"study": study_json(study)}), path)
    else:
        write_text(path, study_page(study, suffix[1:]) + "\n")


def _unbroken(text: str) -> str:
    """Keep formulas and intervals on one line, such as ``2^g - 1`` and ``.54 to .77``.

    >>> _unbroken("2^g - 1 says .33 (.54 to .77)").count(" ")
    3
    """
    formulas = re.sub(r" ([-+=/<]) (?=[\w(.])", "\u00a0\\1\u00a0", plain_text(text))
    return re.sub(r"(?<=[\d%]) to (?=-?[.\d])", "\u00a0to\u00a0", formulas)
