"""The page for a team: its sentences, its formats, and the commands study and test."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    InputError,
    Preferences,
    Study,
    preset,
    read_measure,
    study_judgments,
    write_preferences,
)
from dcglearn.judgments.preferences import group_numbers, query_folds
from dcglearn.measures.agreement import outcomes
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.report.study.facts import STUDY_TOOLS
from dcglearn.report.study.page import headline, more_judgments, more_words, study_json, study_page
from dcglearn.report.words import judged_pairs, short
from helpers.simulated import SCALE, noisy_answers, preset_judgments, utilities, with_ids
from helpers.written import write_qrels, write_run


def studied(data: Preferences) -> Study:
    return study_judgments(data, "judgments.jsonl", np.random.default_rng(0))


def page_of(found: Study) -> str:
    return study_page(found, "html")


@pytest.fixture(scope="module")
def linear() -> Study:
    return studied(preset_judgments("linear-log2", 4000, 1))


def test_what_is_wrong_is_changed_to_the_true_measure(linear: Study) -> None:
    decision, gain, gains, discounts = headline(linear)
    assert decision.startswith("Change (2^g - 1) / log2(rank + 1) to the gains 2 = 1.00, 1 = 0.50,")
    assert ": yes. The judgments contradict it (p < .001), and the two order 1 in" in decision
    assert gain.startswith("The new one agrees with ")
    one = linear.conclusion.free.gains()[1]
    (question,) = (q for q in linear.conclusion.questions if q.hypothesis == "exponential")
    assert all(short(number) in gains for number in (one.estimate, one.low, one.high))
    assert f"2^g - 1 (middle grade .33, {judged_pairs(question.reversed_judged)}" in gains
    assert discounts.endswith("They do not contradict the discount 1/log2(rank + 1).")
    assert set(linear.tools) == {*STUDY_TOOLS}


def test_a_true_measure_stays_in_use() -> None:
    """Whatever else fits, too: what is in use is not to be kept and changed at once."""
    data = preset_judgments("exponential-log2", 4000, 2)
    used = preset("exponential-log2", SCALE, 4)
    few = study_judgments(data[:300], "x", np.random.default_rng(0), {"exponential-log2": used})
    for found in (studied(data), few):
        assert headline(found)[0] == (
            "Change (2^g - 1) / log2(rank + 1): no. The judgments do not contradict it."
        )
        assert found.change == "no"
        assert found.measure == (used @ 4).normalised()
        assert '"label_gain": [0, 1, 3]' in " ".join(study_page(found, "txt").split())


def test_other_discounts_are_learned_where_log2_does_not_fit() -> None:
    found = studied(preset_judgments("constant", 4000, 3))
    sentences = headline(found)
    assert "with the discounts 1.00, " in sentences[0]
    assert "contradict the discount 1/log2(rank + 1) (1 in" in sentences[-1]
    assert isinstance(found.tools["lightgbm"], InputError)
    assert "lightgbm cannot take it: LightGBM discounts only by" in study_page(found, "txt")


def test_what_changes_is_counted_on_the_judged_pairs(linear: Study) -> None:
    """Between the two measures themselves, a tie of one of them 1/2."""
    assert linear.proposed is not None
    orders = [
        [np.sign(round(a - b, 9)) for a, b in one.score(linear.data.pairs)]
        for one in (linear.proposed, preset("exponential-log2", SCALE, 4))
    ]
    share = np.mean([abs(x - y) / 2 for x, y in zip(*orders, strict=True)])
    assert linear.used.differs == pytest.approx(share)
    assert f"the two order 1 in {round(1 / share)} judged pairs differently" in headline(linear)[0]


def test_held_out_agreement_by_hand(linear: Study) -> None:
    data = linear.data
    right = np.zeros(len(data))
    model = linear.conclusion.recommended.model
    groups, rng = group_numbers(data.queries), np.random.default_rng(0)
    for train, test in query_folds(groups, 10, rng):
        right[test] = outcomes(model.fit(data[train]).dcg, data[test].pairs)
    assert linear.held_out is not None
    assert linear.held_out.outcomes.tolist() == right.tolist()
    assert linear.agreement[0].share == pytest.approx(right.mean())


def test_no_change_is_proposed_to_what_orders_all_judged_pairs_alike() -> None:
    """Although its numbers are contradicted: 2^g - 1 and linear gains order single documents."""
    rng = np.random.default_rng(0)
    lists = rng.integers(0, 3, (3000, 2, 1))
    lists = lists[lists[:, 0, 0] != lists[:, 1, 0]]
    v = 4 * (np.array([1, 0.5, 0])[lists[:, :, 0]] @ [1.0, -1.0])
    words = np.where(v + rng.logistic(size=len(v)) > 0, "a", "b")
    data = Preferences.of(lists, words, SCALE, None, [f"q{i // 3}" for i in range(len(v))])
    found = studied(data)
    assert found.against.verdict == "rejected"
    assert found.change == "no"
    assert headline(found)[0].endswith(
        ": no. The measure that fits best orders all judged pairs as it does."
    )


def test_few_judgments_do_not_say_no() -> None:
    """They contradict nothing, which does not speak for the measure in use."""
    found = studied(preset_judgments("linear-log2", 30, 1))
    assert found.against.verdict == "not rejected"
    decision, agreement, *_ = headline(found)
    assert ": not yet. The judgments do not contradict it, nor any other usual measure" in decision
    assert "agrees with" in agreement
    assert "The new one" not in agreement
    assert json.dumps(study_json(found), allow_nan=False)


def test_few_raters_are_told_to_ask_more() -> None:
    data = preset_judgments("linear-log2", 400, 3)
    for n, clusters in ((2, " by query,"), (1, " by query,"), (50, " by query and")):
        found = studied(with_ids(data, judges=[f"j{i % n}" for i in range(400)]))
        few = n < 50
        said = " ".join(headline(found))
        assert more_words(found) == ("more raters" if few else "more judgments")
        assert more_judgments(found).startswith("More raters would help;") == few
        assert (f"few raters said most of this ({n} in all)" in said) == ("raters" in said) == few
        assert f"CR2 variances clustered{clusters}" in " ".join(study_page(found, "txt").split())


def test_tools_print_one_number(linear: Study) -> None:
    """What the exports compute is one nDCG, cut where lists were judged."""
    runs = {"scikit-learn": linear.tools["scikit-learn"], "ranx": linear.tools["ranx"]}
    assert linear.proposed is not None
    measure = linear.proposed.normalised()
    docs = np.array([[0, 2, 1, 2, 0, 1]])
    expected = float(measure.score(2 - docs[:, :4], pools=2 - docs)[0])
    names: dict[str, Any] = {}
    exec(str(runs["scikit-learn"]), names)  # noqa: S102 - the text is ours
    assert names["metric"](docs, np.arange(6)[None, ::-1]) == pytest.approx(expected)
    exec(str(runs["ranx"]), names)  # noqa: S102 - the text is ours
    assert names["METRIC"] == "ndcg@4"
    for tool in ("trec_eval", "ir_measures"):
        assert "ndcg_cut.4" in str(linear.tools[tool]) or "@4" in str(linear.tools[tool])


def test_the_decision_is_a_measure_file_and_counts_what_it_changes(
    tmp_path: Path, run: Any
) -> None:
    write_preferences(preset_judgments("linear-log2", 3000, 4), tmp_path / "p.jsonl")
    rng = np.random.default_rng(0)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(3)) for j in range(8)} for i in range(6)}
    runs = [
        {q: {d: float(rng.random()) for d in docs} for q, docs in qrels.items()} for _ in range(4)
    ]
    write_qrels(tmp_path / "q.txt", qrels)
    for i, one in enumerate(runs):
        write_run(tmp_path / f"{i}.run", one)
    on_runs = [word for i in range(4) for word in ("--on-run", f"{i}.run")]
    done = run("study", "p.jsonl", "--on-qrels", "q.txt", *on_runs, "-o", "decision.json")
    assert done.returncode == 0, done.stderr
    decided = read_measure(tmp_path / "decision.json")
    assert decided.dcg is not None
    assert decided.dcg.gains[0] == 1
    assert decided.dcg.cutoff == 4
    measures = (decided.dcg, preset("exponential-log2", SCALE, 4).normalised())
    scores = []
    for one in runs:
        ranked = [sorted(docs, key=docs.__getitem__, reverse=True) for docs in one.values()]
        grades = [[2 - qrels[q][d] for d in docs] for q, docs in zip(one, ranked, strict=True)]
        scores.append([np.mean([m.score(x) for x in grades]) for m in measures])
    changed = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(scores, 2))
    assert decided.about["study"]["changed_comparisons"] == [changed, 6]
    assert f"Of 6 comparisons of the runs, {changed} would change." in " ".join(done.stdout.split())
    assert run("export", "decision.json", "--to", "trec_eval").returncode == 0


def test_more_judgments_halve_intervals(linear: Study) -> None:
    n = len(linear.conclusion.free.evidence)
    words = more_judgments(linear)
    number = int(re.sub(r"\D", "", words.split(" more ")[0]))
    assert number == pytest.approx(3 * n, rel=0.05)


def test_without_ids_nothing_is_said_of_queries_or_judges() -> None:
    data = preset_judgments("linear-log2", 400, 7)
    words = np.array(["a", "b"])[data.answers]
    text = study_page(studied(Preferences.of(data.lists, words, SCALE)), "txt")
    assert "No query is named" in text
    assert "each predicted from other judgments;" in " ".join(text.split())
    assert " clustered" not in text
    assert "No judge is named" in text


def test_the_page_is_self_contained_and_reproducible(linear: Study) -> None:
    html = page_of(linear)
    links = re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]*)""", html)
    assert not [link for link in links if link[0] not in "#d"], "nothing is fetched"
    assert "<h1>What 4,000 judgments say about DCG</h1>" in html
    assert "<h2>For engineers</h2>" in html
    for sentence in headline(linear):
        assert sentence in unescape(html).replace("\u00a0", " ")
    assert "2^g\u00a0-\u00a01 (middle" in html
    assert "<details" not in html
    again = studied(preset_judgments("linear-log2", 4000, 1))
    assert page_of(again) == html


def test_names_of_files_stay_text() -> None:
    data = preset_judgments("linear-log2", 200, 8)
    found = study_judgments(data, "<img src=x>\x1b[31m", np.random.default_rng(0))
    html = page_of(found)
    assert "<img" not in html
    assert "\x1b" not in html + study_page(found, "txt") + study_page(found, "md")


def test_the_agreement_is_that_of_what_tools_can_take(rng: np.random.Generator) -> None:
    """An empty rank is worth half of the best grade here; tools count it as the worst."""
    W = 6 * np.outer(1 / np.log2(np.arange(2, 7)), [1, 0.5, 0, 0.5])
    lists = rng.integers(0, 3, (1500, 2, 5))
    lists[np.arange(5) >= rng.choice([2, 3, 4, 5, 5], (1500, 2))[..., None]] = NO_DOCUMENT
    answers = noisy_answers(utilities(W, lists), rng)
    found = studied(
        Preferences.of(lists, answers, SCALE, None, [f"q{i % 200}" for i in range(1500)])
    )
    own = outcomes(found.proposed, found.data.pairs).mean()
    assert found.agreement[0].share == pytest.approx(own, abs=0.005)
    assert (found.change == "yes") == found.agrees_better
    assert "No tool can: the new one counts it as the worst." in headline(found)[2]
    copies = with_ids(preset_judgments("linear-log2", 60, 1), [None] * 60)[np.tile(range(60), 5)]
    assert any(
        one.startswith("240 judgments repeat an earlier one") for one in headline(studied(copies))
    )


def test_all_formats_say_the_same(linear: Study) -> None:
    text, markdown = study_page(linear, "txt"), study_page(linear, "md")
    flat = " ".join(text.split())
    for sentence in headline(linear):
        assert sentence in flat
        assert sentence.replace("^", "\\^") in markdown or sentence in markdown
    assert study_json(linear)["headline"] == headline(linear)
    words = text.partition("WHAT TO PUT INTO")[0]
    assert all(len(line) <= 100 for line in words.splitlines())


def test_a_measure_file_is_written_whatever_is_decided(tmp_path: Path, run: Any) -> None:
    """Of judges with few judgments, too, of whom some numbers are not known."""
    noise = preset_judgments("linear-log2", 40, 1)
    noise = replace(noise, answers=np.arange(40, dtype=noise.answers.dtype) // 2 % 2)
    noise = with_ids(noise, judges=[f"j{i % 3}" for i in range(40)])
    write_preferences(noise, tmp_path / "p.jsonl")
    names = ("a.json", "b.html", "c.md", "d.txt")
    done = run("study", "p.jsonl", "-m", "zipf", *(word for x in names for word in ("-o", x)))
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / name).stat().st_size > 1000 for name in names)
    decided = read_measure(tmp_path / "a.json")
    assert decided.about["study"]["change"] == "not yet"
    assert decided.dcg == (preset("zipf", SCALE, 4) @ 4).normalised()
    for words in ("agree p.jsonl a.json", "compare p.jsonl a.json --repeats 1"):
        assert run(*words.split()).returncode == 0


def test_the_headline_of_ecir2015(ecir: Preferences) -> None:
    sentences = headline(studied(ecir))
    assert sentences == [
        "Change (2^g - 1) / log2(rank + 1) to the gains 2 = 1.00, 1 = 0.65, 0 = 0.00 with the "
        "discount 1/log2(rank + 1): yes. The judgments contradict it (p < .001), and the two "
        "order 1 in 54 judged pairs differently.",
        "The new one agrees with 89.9% of the preferences, each predicted from other queries; "
        "(2^g - 1) / log2(rank + 1) with 89.4%.",
        "The middle grade is worth .65 of the best (95% interval .55 to .76). These judgments "
        "contradict 2^g - 1 (middle grade .33, 1 in 61 judged pairs would be ordered differently). "
        "They leave linear gains (middle grade .50, 1 in 138 judged pairs would be ordered "
        "differently) in doubt: more judgments could decide.",
        "These judgments contradict the discount 1/rank (1 in 104 judged pairs would be ordered "
        "differently) and the discount 1 at every rank (1 in 38 judged pairs would be ordered "
        "differently). They do not contradict the discount 1/log2(rank + 1).",
    ]
