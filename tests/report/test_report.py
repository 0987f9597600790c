"""Tables in four formats, texts about measures, and figures by the data that they plot."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from dcglearn import (
    DCG,
    DCGLearner,
    InputError,
    MeasureComparison,
    MeasureFile,
    Scale,
    certainty_of,
    drawn_lists,
    learned_measure,
    permuted_lists,
    side_by_side,
)
from dcglearn.inference.compare import ComparedMeasure
from dcglearn.learning.record import LearnedRecord
from dcglearn.report.figures.command_figures import draw_comparison, draw_measure_file
from dcglearn.report.measures import comparison_table, learned_text, parameter_tables
from dcglearn.report.tables import Table
from helpers.simulated import preset_judgments

SCALE = Scale((2, 1, 0))


def a_fit(same_content: bool = False) -> MeasureFile:
    rng = np.random.default_rng(0)
    lists = drawn_lists(300, 4, [0.3, 0.3, 0.4], rng)
    if same_content:
        lists = permuted_lists(300, rng, [0, 1, 1, 2])
    data = side_by_side(DCG([2, 1, 0]), lists, SCALE, rng)
    return learned_measure(DCGLearner(n_grades=3).fit(data.pairs), data, "x.jsonl")


COMPARISON = MeasureComparison(
    rows=(
        ComparedMeasure("learned", "cv", 0.9, 0.85, 0.95, 0.7, 9, 0, 1, "learned"),
        *(
            ComparedMeasure(
                name, full, agreement, low, high, 0.6, 9, 0, 1, "learned", *lead, p, 2 * p, 0.001
            )
            for name, full, agreement, low, high, lead, p in (
                ("zipf_1", "DCG({2: 1}, zipf)", 0.8, 0.7, 0.9, (0.1, 0.05, 0.15), 1e-4),
                ("rbp", "DCG([1], rbp(0.8))", 0.9, 0.8, 0.95, (0.0, -0.02, 0.02), 0.9),
                ("other", "DCG([1], log2)", 0.95, 0.9, 0.99, (-0.05, -0.08, -0.01), 0.015),
                ("last", "DCG([1], zipf)", 0.87, 0.8, 0.9, (0.03, -0.01, 0.07), 0.07),
            )
        ),
    ),
    judgments=1234,
    ties=66,
    queries=99,
    without_query=0,
    effective=20.0,
    n_folds=10,
    n_repeats=5,
    C=(1.0,) * 50,
    against="learned",
)


def test_a_table_in_four_formats() -> None:
    table = Table(("name", "x", "n"), [("a|b", 0.12345, 1000), ("c_&", None, 2)], "caption")
    assert table.text().splitlines() == [
        "caption",
        "name       x      n",
        "a|b   0.1235  1,000",
        "c_&               2",
    ]
    assert "| a\\|b | 0.1235 | 1,000 |" in table.markdown()
    assert r"c\_\& &  & 2 \\" in table.latex()
    assert list(csv.reader(io.StringIO(table.csv())))[1] == ["a|b", "0.12345", "1000"]


def test_csv_runs_no_formula_in_a_spreadsheet() -> None:
    """Nor does it hold control characters; numbers stay numbers."""
    names = ["=1+1", "+a", "@b", "-c", "a\x1b[31m\n"]
    table = Table(("=name", "n"), [(name, -0.5) for name in names])
    rows = [row.split(",") for row in table.csv().splitlines()]
    assert [row[0] for row in rows] == [
        *("'=name", "'=1+1", "'+a", "'@b", "-c", r"a\x1b[31m\n"),
    ]
    assert {row[1] for row in rows[1:]} == {"-0.5"}


def test_a_table_that_is_wider_than_the_terminal() -> None:
    columns = ("system", "nDCG(exponential-log2) @ 10", "nDCG@10", "nDCG(zipf) @ 5", "judged")
    table = Table(columns, [("first", 0.1, 0.2, 0.3, 1.0), ("second", 0.4, 0.5, None, 0.9)])
    wide = table.text()
    assert table.text(len(wide.splitlines()[0])) == wide
    two = table.text(60).split("\n\n")
    assert [part.split()[0] for part in two] == ["system"] * 2
    assert two[1].splitlines()[1].split() == ["first", "1.0000"]
    words = Table(("one", "two"), [("a" * 20, "b" * 20)])
    assert words.text(10) == words.text()


def test_the_suffix_decides_the_format_of_a_table(tmp_path: Path) -> None:
    table = comparison_table(COMPARISON)
    for ending, mark in ((".md", "| :--"), (".tex", "tabular"), (".csv", ","), (".txt", "rbp")):
        table.write(tmp_path / f"t{ending}")
        assert mark in (tmp_path / f"t{ending}").read_text()
    rows = (tmp_path / "t.csv").read_text().splitlines()
    assert rows[0] == ",".join(COMPARISON.to_json()["rows"][0])
    first, second, *_ = csv.DictReader(rows)
    assert (first["ahead"], first["p"], first["verdict"]) == ("", "", "")
    names = ("agreement", "low", "high", "ahead", "ahead_low", "ahead_high", "p", "corrected")
    numbers = [float(second[name]) for name in names]
    assert numbers == [0.8, 0.7, 0.9, 0.1, 0.05, 0.15, 1e-4, 2e-4]
    caption = (tmp_path / "t.txt").read_text().splitlines()[0]
    assert "99 queries; queries so uneven that they are worth 20 of equal size" in caption
    with pytest.raises(InputError, match=r"ends in \.txt, \.md, \.tex or \.csv"):
        table.write(tmp_path / "t.xls")


def lines(figure: Figure, panel: int) -> dict[str, list[float]]:
    found = {}
    for line in figure.axes[panel].get_lines():
        found[str(line.get_label())] = [float(y) for y in line.get_ydata()]
    return found


def test_a_measure_is_drawn_next_to_the_presets() -> None:
    content = a_fit()
    assert content.dcg is not None
    assert content.utility is not None
    figure = draw_measure_file(content, "title")
    gains, discounts = lines(figure, 0), lines(figure, 1)
    assert gains["this measure"] == list(content.dcg.gains)
    assert gains["linear"] == [1, 0.5, 0]
    assert gains["2^g - 1"] == pytest.approx([1, 1 / 3, 0])
    assert discounts["this measure"] == pytest.approx(list(content.dcg.discounts))
    assert discounts["1/rank"] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    image = figure.axes[2].get_images()[0].get_array()
    assert np.array(image) == pytest.approx(content.utility.matrix)


def test_presets_are_mapped_like_affine_discounts() -> None:
    figure = draw_measure_file(a_fit(same_content=True), "title")
    zipf = lines(figure, 1)["1/rank"]
    assert (zipf[0], zipf[-1]) == (1.0, 0.0)
    assert "affine" in figure.axes[1].get_title(loc="left")


def bars(figure: Figure, panel: int) -> list[list[float]]:
    """The ends of the bars of a panel."""
    found = [one for one in figure.axes[panel].collections if isinstance(one, LineCollection)]
    return [
        segment[:, 1].tolist() for one in found for segment in one.get_segments() if len(segment)
    ]


def test_resamples_are_in_the_table() -> None:
    content = a_fit()
    bounds = {
        "gains": [[1, 1], [0.4, 0.6], [0, 0]],
        "discounts": [[1, 1], [0.5, 0.7], [0.4, 0.5], [0.3, 0.5]],
        "level": 0.95,
        "resamples": 20,
        "left_out": 0,
        "C": [1.0, 1.0],
    }
    content = replace(content, about={**content.about, "intervals": bounds})
    gains, discounts = parameter_tables(LearnedRecord.read(content), content.dcg)
    assert gains.columns[-1] == "95% of resamples"
    assert [row[3] for row in gains.rows] == ["", "0.400 to 0.600", ""]
    assert discounts.rows[1][3] == "0.500 to 0.700"


def test_the_intervals_of_the_model_are_drawn_and_the_best_grade_is_at_the_right() -> None:
    data = preset_judgments("linear-log2", 2000, 1)
    certainty = certainty_of(data)
    content = learned_measure(DCGLearner().fit(data), data, "x", certainty=certainty)
    figure = draw_measure_file(content, "title")
    assert certainty.fit is not None
    for panel, numbers in enumerate((certainty.fit.gains(), certainty.fit.discounts())):
        assert bars(figure, panel) == [[one.low, one.high] for one in numbers if not one.given]
        labels = [text.get_text() for text in figure.axes[panel].get_legend().get_texts()]
        assert "95% interval" in labels
    for panel in (0, 2):
        left, right = figure.axes[panel].get_xlim()
        assert left > right, "grades are drawn as those of a study: the worst at the left"


def test_numbers_that_are_partly_the_penalty_are_hollow_and_in_brackets() -> None:
    rng = np.random.default_rng(0)
    data = side_by_side(DCG([2, 1, 0]), drawn_lists(60, 8, [0.3, 0.3, 0.4], rng), SCALE, rng)
    content = learned_measure(DCGLearner(n_grades=3, C=1e-4).fit(data.pairs), data, "x")
    gains, discounts = parameter_tables(LearnedRecord.read(content), content.dcg)
    assert all(str(row[1]).startswith("(") for row in discounts.rows[1:])
    assert [row[2] for row in gains.rows if row[2] == "fixed"] == ["fixed"] * 2
    figure = draw_measure_file(content, "t")
    assert content.dcg is not None
    own = list(content.dcg.discounts)
    assert lines(figure, 1)["not determined by the data"] == pytest.approx(own[1:])
    assert "not determined by the data" not in lines(draw_measure_file(a_fit(), "t"), 1)


def test_an_undetermined_number_is_a_dash() -> None:
    rng = np.random.default_rng(0)
    lists = drawn_lists(200, 3, [0.4, 0.3, 0.3], rng)
    for rank in (1, 0):
        same = lists.copy()
        same[:, :, rank] = 1
        data = side_by_side(DCG([2, 1, 0]), same, SCALE, rng)
        content = learned_measure(DCGLearner(n_grades=3).fit(data.pairs), data, "x")
        rows = parameter_tables(LearnedRecord.read(content), content.dcg)[1].rows
        assert rows[rank] == (str(rank + 1), "-", "0.00")
        assert [row[1:] for row in rows if row[2] == "fixed"] == [("1.000", "fixed")]
        said = f"no pair differs at rank {rank + 1}: the discount there is undetermined"
        assert said in learned_text(content)


def test_comparisons_are_drawn_with_their_intervals() -> None:
    left, right = draw_comparison(COMPARISON, "title").axes
    names = [text.get_text() for text in left.get_yticklabels()]
    assert names == [row.name for row in COMPARISON.rows]
    (bars,) = left.collections
    assert [tuple(map(float, segment[:, 0])) for segment in bars.get_segments()] == [
        (row.low, row.high) for row in COMPARISON.rows
    ]
    (leads,) = right.collections
    assert len(leads.get_segments()) == len(names)
