"""The page for a team: its sentences, its formats, and the commands study and test."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    InputError,
    Preferences,
    Scale,
    Study,
    preset,
    study_judgments,
    usual_questions,
    write_preferences,
)
from dcglearn.judgments.preferences import concatenated
from dcglearn.report.questions import questions_text
from dcglearn.study.page import study_html, study_json, study_markdown, study_text
from dcglearn.study.words import headline, more_judgments
from helpers.simulated import SCALE, every_answer, preset_judgments
from helpers.written import write_records


def studied(data: Preferences) -> Study:
    return study_judgments(data, "judgments.jsonl", np.random.default_rng(0))


@pytest.fixture(scope="module")
def linear() -> Study:
    return studied(preset_judgments("linear-log2", 4000, 1))


def test_the_true_measure_is_kept(linear: Study) -> None:
    sentences = headline(linear)
    assert sentences[0].startswith("Stop using 2^g - 1: the middle grade is worth .")
    assert "2^g - 1 says .33" in sentences[0]
    assert sentences[1].startswith("Linear gains fit")
    assert sentences[2].startswith("Keep the discount 1/log2(rank + 1)")
    assert sentences[3] == (
        "Use the gains 2 = 1.00, 1 = 0.50, 0 = 0.00 with the discount 1/log2(rank + 1)."
    )
    assert set(linear.tools) >= {"lightgbm", "xgboost", "trec_eval", "ir_measures", "ranx"}


def test_exponential_gains_are_kept_where_they_are_true() -> None:
    sentences = headline(studied(preset_judgments("exponential-log2", 4000, 2)))
    assert sentences[0].startswith("2^g - 1 fits")
    assert sentences[1].startswith("Stop using linear gains")
    assert "1 = 0.33" in sentences[-2]


def test_other_discounts_are_learned_where_log2_does_not_fit() -> None:
    found = studied(preset_judgments("constant", 4000, 3))
    sentences = headline(found)
    assert sentences[2].startswith("Stop using the discount 1/log2(rank + 1): it does not fit")
    assert "with the discounts 1.00, " in sentences[-2]
    assert "lightgbm" not in found.tools  # it has one discount


def test_the_numbers_in_sentences_are_those_of_the_study(linear: Study) -> None:
    one = linear.with_free_gains.gains()[1]
    assert f"is worth {one.estimate:.2f}".replace("0.", ".") in headline(linear)[0]
    question = linear.question("gains", "exponential")
    assert question is not None
    assert f"1 in {round(1 / question.reversed_judged)} judged pairs" in headline(linear)[0]


def test_a_measure_in_use_is_judged_first() -> None:
    data = preset_judgments("linear-log2", 3000, 4)
    rng = np.random.default_rng(0)
    found = study_judgments(data, "x", rng, {"ours": preset("binary:2", SCALE, 4)})
    assert headline(found)[0].startswith("Stop using ours: the judgments contradict it")


def test_without_query_ids_judgments_count_as_independent() -> None:
    data = preset_judgments("linear-log2", 300, 12)
    answers = np.array(["a", "b"])[data.answers]
    alone = usual_questions(Preferences.of(data.lists, answers, SCALE))
    assert questions_text(alone).endswith(
        "each judgment is taken as independent, as none shares a query with another"
    )
    assert questions_text(usual_questions(data)).endswith("that share a query are kept together")


def test_two_grades_and_few_judgments() -> None:
    two = studied(preset_judgments("linear-log2", 300, 5, Scale((1, 0))))
    assert headline(two)[0] == "There are two grades, so gains are not in question."
    few = studied(preset_judgments("linear-log2", 12, 6))
    assert study_text(few)
    assert json.dumps(study_json(few), allow_nan=False)


def test_more_judgments_halve_intervals(linear: Study) -> None:
    n = len(linear.recommended.likelihood.evidence)
    words = more_judgments(linear)[0]
    number = int(re.sub(r"\D", "", words.split(" more ")[0]))
    assert number == pytest.approx(3 * n, rel=0.05)


def test_without_ids_nothing_is_said_of_queries_or_judges() -> None:
    data = preset_judgments("linear-log2", 400, 7)
    words = np.array(["a", "b"])[data.answers]
    text = study_text(studied(Preferences.of(data.lists, words, SCALE)))
    assert "No query is named" in text
    assert "They come from" not in text
    assert "No judge is named" in text


class _Page(HTMLParser):
    """Collect tags, and what would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "path", "use", "rect", "defs", "br"):
            self.open.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "xlink:href") and value and value[0] not in "#d":
                self.fetched.append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(text)


def test_the_page_is_self_contained_and_reproducible(linear: Study) -> None:
    html = study_html(linear, np.random.default_rng(0))
    page = _Page()
    page.feed(html)
    assert page.fetched == []
    assert page.headings[0] == "What 4,000 judgments say about DCG"
    assert "For specialists" in page.headings
    for sentence in headline(linear):
        assert sentence.replace("'", "&#39;") in html.replace("\u00a0", " ")
    assert "2^g\u00a0-\u00a01 says" in html
    again = studied(preset_judgments("linear-log2", 4000, 1))
    assert study_html(again, np.random.default_rng(0)) == html


def test_names_of_files_stay_text() -> None:
    data = preset_judgments("linear-log2", 200, 8)
    found = study_judgments(data, "<img src=x>\x1b[31m", np.random.default_rng(0))
    html = study_html(found, np.random.default_rng(0))
    assert "<img" not in html
    assert "\x1b" not in html + study_text(found) + study_markdown(found)


def test_all_formats_say_the_same(linear: Study) -> None:
    text, markdown = study_text(linear), study_markdown(linear)
    flat = " ".join(text.split())
    for sentence in headline(linear):
        assert sentence in flat
        assert sentence.replace("^", "\\^") in markdown or sentence in markdown
    assert study_json(linear)["headline"] == headline(linear)
    assert all(len(line) <= 100 for line in text.splitlines())


def test_study_command(tmp_path: Path, run: Any, refused: Any) -> None:
    write_preferences(preset_judgments("linear-log2", 600, 9), tmp_path / "p.jsonl")
    names = ("s.html", "s.md", "s.json", "s.txt")
    done = run("study", "p.jsonl", *(word for name in names for word in ("-o", name)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("What 600 judgments say about DCG")
    assert all((tmp_path / name).stat().st_size > 1000 for name in names)
    assert json.loads((tmp_path / "s.json").read_text())["file"] == "p.jsonl"
    assert ".html" in refused("study", "p.jsonl", "-o", "s.pdf")


def test_test_command(tmp_path: Path, run: Any, refused: Any) -> None:
    write_preferences(preset_judgments("linear-log2", 3000, 10), tmp_path / "p.jsonl")

    def tested(*words: str) -> str:
        done = run("test", "p.jsonl", *words)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    exponential = tested("--gains", "exponential", "--discounts", "log2")
    assert " rejected" in exponential.splitlines()[1]
    assert "not rejected" not in exponential.splitlines()[1]
    assert "not rejected" in tested("--gains", "linear", "--discounts", "log2").splitlines()[1]
    assert "not rejected" in tested("--measure", "linear-log2").splitlines()[1]
    numbers = tested("--gains", "1,0.5,0", "--discounts", "log2").splitlines()[1]
    assert numbers.startswith("gains 1,0.5,0, discounts log2  not rejected")
    within = tested("--gains", "exponential", "--larger-discounts", "log2").splitlines()[1]
    assert within.startswith("gains exponential, within discounts log2  rejected")
    assert within.endswith("   1")  # degree of freedom
    positions = tested("--larger-positions").splitlines()[1]
    assert positions.startswith("the same gains at every rank  not rejected")
    assert "name what is tested" in refused("test", "p.jsonl", "--larger-gains", "power:free")
    narrow = refused("test", "p.jsonl", "--gains", "linear", "--larger-gains", "power:2")
    assert "do not hold all measures" in narrow
    table = json.loads(tested("--json"))
    assert {one["about"] for one in table} >= {"measure", "gains", "discounts", "side"}
    assert "did you mean 'exponential'" in refused("test", "p.jsonl", "--gains", "exponental")
    both = refused("test", "p.jsonl", "--measure", "zipf", "--gains", "linear")
    assert "--measure with --gains" in both
    assert "unknown field 'countri'" in refused("test", "p.jsonl", "--by", "countri")


def test_groups_of_a_field_and_files(tmp_path: Path, run: Any, refused: Any) -> None:
    data = preset_judgments("linear-log2", 800, 11)
    records = [
        {"a": lists[0], "b": lists[1], "answer": "ab"[answer], "country": "it" if i % 2 else "de"}
        for i, (lists, answer) in enumerate(
            zip((2 - data.lists).tolist(), data.answers.tolist(), strict=True)
        )
    ]
    write_records(tmp_path / "p.jsonl", *records)
    done = run("test", "p.jsonl", "--by", "country")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("de ")
    for name, part in (("one.jsonl", data[:400]), ("two.jsonl", data[400:])):
        write_preferences(part, tmp_path / name)
    files = run("test", "one.jsonl", "two.jsonl", "--json")
    assert files.returncode == 0, files.stderr
    (found,) = json.loads(files.stdout)["compared"]
    assert found["name"] == "one.jsonl"
    assert "several files" in refused("test", "one.jsonl", "two.jsonl", "--by", "country")


def test_sets_of_other_grades_are_not_joined() -> None:
    one = Preferences.from_arrays([[1, 0]], [[0, 1]], ["a"])
    two = Preferences.from_arrays([[2, 0]], [[0, 1]], ["a"])
    with pytest.raises(InputError, match="differ"):
        concatenated([one, two])


def test_joined_sets_keep_everything() -> None:
    data = every_answer(50, 12)
    assert concatenated([data[:20], data[20:]]) == data


def test_the_headline_of_ecir2015(ecir: Preferences) -> None:
    sentences = headline(studied(ecir))
    assert sentences[0] == (
        "Stop using 2^g - 1: the middle grade is worth .65 of the best (.55 to .76), 2^g - 1 says "
        ".33; it orders 1 in 61 judged pairs differently from the estimate."
    )
    assert sentences[1].startswith("Linear gains are in doubt")
    assert sentences[2].startswith("Keep the discount 1/log2(rank + 1)")
