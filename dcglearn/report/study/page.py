"""A study in words, and in four formats: text, Markdown, JSON, and one self-contained HTML page.

The headline is the decision with its one reason, what it changes, and how sure it is; sections of
paragraphs, tables and code follow. A reader who has not read a paper understands every word.
The page fetches no script, font or picture; it reads on a telephone, in the dark, and on paper.
The same judgments and seed give the same bytes.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from dcglearn.base.files import checked_suffix, jsonable, write_text
from dcglearn.base.numbers import counted
from dcglearn.base.text import markdown_cell, plain_text
from dcglearn.base.version import __version__
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.fit_file import Certainty
from dcglearn.inference.questions import Conclusion, upside_down
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import MeasureFile, write_measure
from dcglearn.report.judgments import ceiling_text, contents_text, findings
from dcglearn.report.questions import DOUBLED, question_json, questions_table
from dcglearn.report.study.facts import LEARNED, Study
from dcglearn.report.tables import Table
from dcglearn.report.words import (
    EMPTY_RANKS,
    FAMILY_NAMES,
    certainty_sentences,
    estimate_words,
    filled,
    interval_words,
    judged_pairs,
    listed,
    measure_words,
    one_in,
    p_phrase,
    short,
    verdict_sentences,
)

_MANY_COPIES = 0.1
"""From this share of judgments on, exact repetitions without queries are said first."""

STUDY_FORMATS = (".html", ".md", ".json", ".txt")

_WHY_NOTHING = {
    "reversed": "Better grades lose: people prefer the lists with the worse grades. Check that the "
    "scale names the best grade first, and that the preferred list is the one meant; if so, no "
    "gains that grow with the grade fit these judgments.",
    "contradicted": "These judgments do not show that grade {}, the best one, is worth more than "
    "the worst, so gains relative to it are not determined.",
    "one query": "All strict judgments are of one query, and say nothing about others.",
    "open": "These judgments do not show that people prefer lists with better grades: they are too "
    "few, or answers depend too little on the grades.",
}


class Section(NamedTuple):
    """A heading and what stands under it; code by the tool that takes it."""

    title: str
    paragraphs: Sequence[str]
    tables: Sequence[Table] = ()
    code: Sequence[tuple[str, str]] = ()


def headline(study: Study) -> list[str]:
    """Return the answer, a few sentences: what to change, what that changes, how sure it is."""
    concluded, more = study.conclusion, more_words(study)
    found = [_decision(study), _changes(study), *_cautions(study)]
    if concluded.support in ("supported", "contradicted"):
        gains, discounts, additivity = (
            tuple(one for one in concluded.questions if one.about == about)
            for about in ("gains", "discounts", "additivity")
        )
        certainty = Certainty.of(concluded.free, gains)
        found += [
            *upside_down(concluded.free_gains),
            " ".join(certainty_sentences(study.data.scale.labels, certainty, more)),
            " ".join(verdict_sentences(discounts, more=more)),
        ]
        found += [
            "But people do not judge these lists by a sum over documents "
            f"({p_phrase(one.test.p)}): what a document adds depends on the others, as where one "
            "good document is enough. No DCG is exactly right then."
            for one in additivity
            if one.verdict == "rejected"
        ]
    if study.few_raters:
        found.append(
            f"So few raters said most of this ({study.few_raters} in all) that it says little "
            "about how others would judge."
        )
    return [*filter(None, found), *_one_judge(study)]


def _cautions(study: Study) -> list[str]:
    """Say what the measure for tools leaves out, and that judgments may be copies."""
    found, empty = list[str](), study.conclusion.free.empty_rank()
    if empty is not None and study.proposed is not None:
        found.append(
            f"People count an empty rank as {estimate_words(empty)} of the best grade (95% "
            f"interval {interval_words(empty)}). No tool can: the new one counts it as the worst."
        )
    copies = study.inspection.summary.repeated_rows
    if study.unit == "judgments" and copies > _MANY_COPIES * len(study.data):
        found.append(
            f"{counted(copies, 'judgment repeats', 'judgments repeat')} an earlier one in "
            "everything. If they are copies, all of this is less sure than it seems: name queries."
        )
    return found


def more_words(study: Study) -> str:
    """Name what could decide: more raters, where few said most."""
    return "more raters" if study.few_raters else "more judgments"


def _decision(study: Study) -> str:
    name, support = measure_words(study.in_use[0]), study.conclusion.support
    more = more_words(study)
    if study.proposed is None:
        one_query = support == "open" and study.conclusion.recommended.covariance.one_cluster
        why = _WHY_NOTHING["one query" if one_query else support]
        return f"Change {name}: not yet. {why.format(study.data.scale.labels[0])}"
    one, differs = study.against, study.used.differs
    if one.verdict == "not rejected":
        also = "" if study.change == "no" else f", nor any other usual measure: {more} could"
        return f"Change {name}: {study.change}. The judgments do not contradict it{also}."
    if not differs:
        could = f": {more} could tell them apart" if study.change == "not yet" else ""
        same = "The measure that fits best orders all judged pairs as it does"
        return f"Change {name}: {study.change}. {same}{could}."
    about = {"gains": "its gains", "discounts": "its discount"}.get(one.about, "it")
    p = p_phrase(one.corrected)
    why = {
        "rejected": f"contradict {about} ({p})",
        "near the line": f"leave {about} in doubt ({p}; {more} could decide)",
    }.get(one.verdict, "cannot tell whether it fits")
    return (
        f"Change {name} to {_proposal(study.proposed, study.data.n_ranks)}: {study.change}. The "
        f"judgments {why}, and the two order {judged_pairs(differs)} differently."
        + " But the new one does not agree with more of them."
        * (study.agreement[0].measure == LEARNED and not study.agrees_better)
    )


def _proposal(proposed: DCG, n_ranks: int) -> str:
    gains = ", ".join(
        f"{label} = {gain:.2f}" for label, gain in zip(proposed.labels, proposed.gains, strict=True)
    )
    rule = f"discount {FAMILY_NAMES['log2']}"
    if proposed.discounts != "log2":
        rule = f"discounts {', '.join(map(short, proposed.discounts_for(n_ranks)))}"
    return f"the gains {gains} with the {rule}"


def _changes(study: Study) -> str:
    learned = study.agreement[0]
    name, share = measure_words(study.in_use[0]), f"{study.used.share:.1%}"
    stays = study.against.verdict == "not rejected" or not study.used.differs
    if stays or learned.measure != LEARNED:
        return f"{name} agrees with {share} of the preferences; guessing with 50%."
    said = (
        f"The new one agrees with {learned.share:.1%} of the preferences, each predicted from "
        f"other {study.unit}; {name} with {share}."
    )
    if study.changed is not None:
        changed, compared = study.changed
        said += f" Of {counted(compared, 'comparison')} of the runs, {changed:,} would change."
    return said


def _one_judge(study: Study) -> list[str]:
    """Say where one of few judges changes the answer."""
    answer = _concluded(study.conclusion)
    return [
        f"Without judge {one.judge} ({one.judgments:,} judgments, about {one.lapses[0]:.1%} of "
        f"them at random) the answer is another: {other}."
        for one in study.judges
        if one.without is not None and (other := _concluded(one.without)) != answer
    ]


def _concluded(conclusion: Conclusion) -> str:
    support, gains, discounts = conclusion.answer
    gains = FAMILY_NAMES.get(gains, "estimated gains")
    return {
        "supported": f"{gains} with {FAMILY_NAMES.get(discounts, 'estimated discounts')}",
        "reversed": "better grades lose",
        "open": "nothing is shown",
        "contradicted": "no measure is recommended",
    }[support]


def more_judgments(study: Study) -> str:
    """Return how many more judgments would halve intervals."""
    free = study.conclusion.free
    if study.few_raters:
        return "More raters would help; more judgments by the same would say little about others."
    if not any(one.determined and not one.given for one in free.gains() + free.discounts()):
        return "No interval is bounded yet, so how many more judgments are needed is not known."
    n = float(f"{3 * len(free.evidence):.2g}")  # of two digits
    spread = ", spread over queries like these," * (study.unit == "queries")
    return f"About {n:,.0f} more strict judgments{spread} would halve every interval."


def sections(study: Study) -> list[Section]:
    """Return the sections of a study, after its headline."""
    return [
        _measure(study),
        _matters(study),
        _tests(study),
        _judgments(study),
        *_calibration(study),
        _tools(study),
        _engineers(study),
    ]


def _measure(study: Study) -> Section:
    tables = []
    for one, number in zip(study.parts, ("gain", "discount"), strict=True):
        numbers = zip(one.names, one.estimates, *one.usual.values(), strict=True)
        rows = [
            (str(name), estimate_words(found), interval_words(found), *map(short, usual))
            for name, found, *usual in numbers
        ]
        tables.append(Table((one.kind, number, "interval", *one.usual), rows))
    return Section(
        "Gains and discounts",
        [
            "DCG, the value of a list, is the sum over its ranks of discount times gain. Gains say "
            "what a document of each grade is worth, relative to the best grade; the worst grade "
            "is worth 0. Discounts say how much each rank counts, relative to the first.",
            "The interval holds the true number 95 times in 100, if people judge as the model "
            "says (see how well it predicts, below). Where a rank seems to count more than the one "
            "above it but their intervals overlap, the judgments do not say so.",
            more_judgments(study),
            "The same gains and discounts serve nDCG: normalising divides both lists of a query "
            "by the same number.",
        ],
        tables,
    )


def _matters(study: Study) -> Section:
    rows = [
        (
            measure_words(one.measure),
            f"{one.share:.1%}",
            # one query has no variance between queries
            "" if math.isnan(one.low) else f"{one.low:.1%} to {one.high:.1%}",
            "" if one.differs is None else one_in(one.differs),
        )
        for one in study.agreement
    ]
    none = "; it is empty, as these judgments support no measure" * (study.proposed is None)
    return Section(
        "How much it matters",
        [
            "Agreement is the share of judgments in which a measure prefers the list that people "
            "prefer. What was learned from these judgments predicts each of them from other "
            f"{study.unit}.",
            "The last column says how many judged pairs a measure orders otherwise than the one "
            f"that is learned from all{none}. The command dcglearn measures prints the formulas "
            "behind the short names.",
        ],
        [Table(("measure", "agrees", "95% interval", "differs from learned (judged pairs)"), rows)],
    )


def _tests(study: Study) -> Section:
    questions = study.conclusion.questions
    return Section(
        "What the judgments contradict",
        [
            '"Rejected" means that judgments like these would hardly occur if the statement were '
            'true; "not rejected" does not prove it. "Near the line" means that more judgments '
            "could turn it either way.",
            "The third column says how many judged pairs the best measure for which the statement "
            "is true orders otherwise than the best one of all, whose gains and discounts are both "
            "free; so its numbers are not quite those above.",
            f"Here {DOUBLED}. Other statements are about the model, and stand alone.",
        ],
        [questions_table(questions, "statement", "verdict", "differs (judged pairs)", "p")],
    )


def _judgments(study: Study) -> Section:
    found, evidence = study.inspection, study.conclusion.free.evidence
    summary = found.summary
    said = [
        contents_text("in all", summary, f"grades {study.data.scale}"),
        f"the estimates use {counted(len(evidence), 'preference')}; {evidence.same_lists:,} of two "
        f"lists with the same grades and {evidence.without_weight:,} of weight 0 are not used",
        *findings(found),
        *[EMPTY_RANKS] * evidence.layout.empty,
    ]
    if found.queries is None:
        said.append(
            "no query is named, so judgments count as independent; if some share a query, "
            "intervals are too narrow"
        )
    if found.judges is None:
        said.append("no judge is named, so judges cannot be compared")
    if summary.contradicted:
        said.append(ceiling_text(summary))
    recommended = study.conclusion.recommended
    if study.conclusion.support != "open" and "lapses" in recommended.likelihood.names:
        lapses = recommended.other("lapses")
        said.append(
            f"about {lapses.estimate:.1%} of the answers look random ({lapses.low:.1%} to "
            f"{lapses.high:.1%})"
        )
    return Section("About the judgments", [f"{one[0].upper()}{one[1:]}." for one in said])


def _calibration(study: Study) -> list[Section]:
    if study.held_out is None:
        return []
    names = ("largest", "", "middle", "", "smallest")
    rows = [
        (name, one.judgments, f"{one.expected:.1%}", f"{one.observed:.1%}")
        for name, one in zip(names, study.held_out.groups, strict=False)
    ]
    found = "finds" if study.link.p < 0.05 else "does not find"
    paragraphs = [
        f"The {study.unit} were divided into {study.held_out.n_folds} parts, and each was "
        "predicted from the others. People should prefer the list with the higher value as often "
        "as expected, for large and for small differences.",
        "Where they clearly do not, intervals are somewhat too narrow or off: trust the order of "
        f"sizes, not the second digit. The test of the link (below) {found} that here "
        f"({p_phrase(study.link.p)}).",
    ]
    tables = [Table(("difference", "judgments", "expected", "observed"), rows)]
    return [Section("How well it predicts", paragraphs, tables)]


def _tools(study: Study) -> Section:
    name = "the proposed measure"
    if study.change != "yes":
        name = f"the measure in use, {measure_words(study.in_use[0])}"
    said = [
        f"This is {name}, as nDCG, cut at the rank to which lists were judged: all these tools "
        "print it on one scale, from 0 to 1."
    ]
    taken = []
    for tool, one in study.tools.items():
        if isinstance(one, str):
            taken.append((tool, one))
        else:
            said.append(f"{tool} cannot take it: {one.problem}.")
    return Section("What to put into your tools", said, code=taken)


def _engineers(study: Study) -> Section:
    recommended, link = study.conclusion.recommended, study.link
    clusters = listed(study.conclusion.free.clusters)
    said = [
        "Model: P = e/2 + (1 - e) logistic(<W, s(a) - s(b)> + side); W = c g', gains "
        f"{recommended.model.gains}, discounts {recommended.model.discounts} (recommended), both "
        "free (tables). Prior: W, side normal(0, 10), e Beta(1, 10). Intervals: Fieller, CR2 "
        f"variances{f' clustered by {clusters}' if clusters else ''}, Satterthwaite's "
        "degrees of freedom, or the profile where Fieller's has no bounds.",
        "Tests: scores at the restricted estimate, Hotelling's T, F; LR is the likelihood ratio "
        "beside it; raw p is as it comes, not doubled.",
        "Link: score test of v |v| (gamma > 0: large differences decide more), gamma = "
        f"{link.gamma:.3f}, t = {link.t:.2f} on {link.df:.0f}, {p_phrase(link.p)}.",
    ]
    if study.held_out is not None:
        said.append(f"Held-out log loss {study.held_out.log_loss:.4f} nats per judgment.")
    table = questions_table(
        study.conclusion.questions, "statement", "LR", "T", "df", "df of clusters", "raw p"
    )
    return Section("For engineers", said, [table])


def study_page(study: Study, form: str) -> str:
    """Return a study as text (txt), Markdown (md) or a page of HTML, which has figures (html)."""
    figures = []
    if form == "html":
        from dcglearn.report.figures.command_figures import study_pictures

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
