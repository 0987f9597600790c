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
    LinearUtility,
    MeasureComparison,
    MeasureFile,
    Preferences,
    Problem,
    Scale,
    certainty_of,
    drawn_lists,
    identify,
    learned_measure,
    permuted_lists,
    side_by_side,
)
from dcglearn.inference.compare import ComparedMeasure
from dcglearn.report.comparisons import comparison_table
from dcglearn.report.figures.measure_figures import draw_comparison, draw_measure_file
from dcglearn.report.figures.style import save
from dcglearn.report.measures import learned_text, measure_text, parameter_tables
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
    assert table.text(60).splitlines() == [
        "        nDCG(exponential-           nDCG(zipf) @",
        "system         log2) @ 10  nDCG@10             5  judged",
        "first              0.1000   0.2000        0.3000  1.0000",
        "second             0.4000   0.5000                0.9000",
    ]
    assert table.text(34).splitlines() == [
        "        nDCG(exponential-",
        "system         log2) @ 10  nDCG@10",
        "first              0.1000   0.2000",
        "second             0.4000   0.5000",
        "",
        "        nDCG(zipf) @",
        "system             5  judged",
        "first         0.3000  1.0000",
        "second                0.9000",
    ]
    narrow = table.text(1).split("\n\n")
    assert [part.splitlines()[-1].split()[0] for part in narrow] == ["second"] * 4
    words = Table(("one", "two"), [("a" * 20, "b" * 20)])
    assert words.text(10) == words.text()
    assert Table(("one", "two"), []).text(3) == "one  two"


def test_the_suffix_decides_the_format_of_a_table(tmp_path: Path) -> None:
    table = comparison_table(COMPARISON)
    for ending, mark in ((".md", "| :--"), (".tex", "tabular"), (".csv", ","), (".txt", "rbp")):
        table.write(tmp_path / f"t{ending}")
        assert mark in (tmp_path / f"t{ending}").read_text()
    heads = {end: (tmp_path / f"t{end}").read_text().splitlines() for end in (".txt", ".csv")}
    assert "lead of learned  95% interval of lead" in heads[".txt"][1]
    assert heads[".csv"][0] == ",".join(COMPARISON.to_json()["rows"][0])
    (first, second, *_) = csv.DictReader(heads[".csv"])
    assert (first["ahead"], first["p"], first["verdict"]) == ("", "", "")
    names = ("agreement", "low", "high", "ahead", "ahead_low", "ahead_high", "p", "corrected")
    numbers = [float(second[name]) for name in names]
    assert numbers == [0.8, 0.7, 0.9, 0.1, 0.05, 0.15, 1e-4, 2e-4]
    assert float(second["with_ties"]) == 0.6
    caption = heads[".txt"][0]
    assert "99 queries (so uneven that they are worth 20 of equal size)" in caption
    assert "the measure calls the 66 closest pairs ties" in caption
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
    figure = draw_measure_file(content, "title", SCALE)
    gains, discounts = lines(figure, 0), lines(figure, 1)
    assert gains["this measure"] == list(content.dcg.gains)
    assert gains["linear"] == [1, 0.5, 0]
    assert gains["2^g - 1"] == pytest.approx([1, 1 / 3, 0])
    assert discounts["this measure"] == pytest.approx(list(content.dcg.discounts))
    assert discounts["1/rank"] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert len(discounts) == 1 + 2
    image = figure.axes[2].get_images()[0].get_array()
    assert np.array(image) == pytest.approx(content.utility.matrix)
    assert [axes.get_title(loc="left") for axes in figure.axes[:3]] == [
        "Gain by grade",
        "Discount by rank",
        "W, the learned worth of a grade at a rank",
    ]
    assert figure.axes[1].get_xlabel() == "Rank"


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


def test_intervals_are_drawn_and_named() -> None:
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
    figure = draw_measure_file(content, "title", SCALE)
    assert bars(figure, 1) == bounds["discounts"]
    assert "95% of resamples of the queries" in figure._suptitle.get_text()
    gains, discounts = parameter_tables(content)
    assert gains.columns[-1] == "95% of resamples"
    assert [row[3] for row in gains.rows] == ["", "0.400 to 0.600", ""]
    assert discounts.rows[1][3] == "0.500 to 0.700"


def test_the_intervals_of_the_model_are_drawn_and_the_best_grade_is_at_the_right() -> None:
    data = preset_judgments("linear-log2", 2000, 1)
    certainty = certainty_of(data)
    content = learned_measure(DCGLearner().fit(data), data, "x", certainty=certainty)
    figure = draw_measure_file(content, "title", SCALE)
    assert certainty.fit is not None
    for panel, numbers in enumerate((certainty.fit.gains(), certainty.fit.discounts())):
        assert bars(figure, panel) == [[one.low, one.high] for one in numbers if not one.given]
    assert "Bars: 95% intervals" in figure._suptitle.get_text()
    for panel in (0, 2):
        left, right = figure.axes[panel].get_xlim()
        assert left > right, "grades are drawn as those of a study: the worst at the left"


def test_numbers_that_are_partly_the_penalty_are_hollow_and_in_brackets() -> None:
    rng = np.random.default_rng(0)
    data = side_by_side(DCG([2, 1, 0]), drawn_lists(60, 8, [0.3, 0.3, 0.4], rng), SCALE, rng)
    content = learned_measure(DCGLearner(n_grades=3, C=1e-4).fit(data.pairs), data, "x")
    gains, discounts = parameter_tables(content)
    assert all(str(row[1]).startswith("(") for row in discounts.rows[1:])
    assert [row[2] for row in gains.rows if row[2] == "fixed"] == ["fixed"] * 2
    figure = draw_measure_file(content, "t", SCALE)
    assert content.dcg is not None
    own = list(content.dcg.discounts)
    assert lines(figure, 1)["not determined by the data"] == pytest.approx(own[1:])
    assert np.isnan(lines(figure, 1)["this measure"][1:]).all(), "they are off the line"
    assert "not determined by the data" not in lines(draw_measure_file(a_fit(), "t", SCALE), 1)


def test_numbers_of_any_size_are_drawn(tmp_path: Path) -> None:
    for size in (1e-90, 1.0, 1e90):
        measure = DCG(np.array([3.0, 1.0, 0.0]) * size)
        content = MeasureFile(measure, LinearUtility(np.array([[3.0, 1.0, 0.0]] * 2) * size))
        figure = draw_measure_file(MeasureFile(measure), "t", SCALE)
        assert lines(figure, 0)["this measure"] == pytest.approx([1, 1 / 3, 0])
        save(draw_measure_file(replace(content, dcg=None, use="utility"), "t"), tmp_path / "f.png")


def test_an_undetermined_number_is_a_dash() -> None:
    rng = np.random.default_rng(0)
    lists = drawn_lists(200, 3, [0.4, 0.3, 0.3], rng)
    lists[:, :, 1] = 1
    data = side_by_side(DCG([2, 1, 0]), lists, SCALE, rng)
    content = learned_measure(DCGLearner(n_grades=3).fit(data.pairs), data, "x")
    assert parameter_tables(content)[1].rows[1] == ("2", "-", "0.00")
    assert "no pair differs at rank 2: the discount there is undetermined" in learned_text(content)
    lists[:, :, 1], lists[:, :, 0] = lists[:, :, 0], 1  # now rank 1 is the constant one
    data = side_by_side(DCG([2, 1, 0]), lists, SCALE, rng)
    rows = parameter_tables(learned_measure(DCGLearner(n_grades=3).fit(data.pairs), data, "x"))[
        1
    ].rows
    assert rows[0] == ("1", "-", "0.00")
    assert [row[1:] for row in rows if row[2] == "fixed"] == [("1.000", "fixed")]


def test_comparisons_are_drawn_with_their_intervals() -> None:
    figure = draw_comparison(COMPARISON, "title")
    left, right = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == [
        "learned",
        "zipf_1",
        "rbp",
        "other",
        "last",
    ]
    (bars,) = left.collections
    assert [tuple(map(float, segment[:, 0])) for segment in bars.get_segments()] == [
        (row.low, row.high) for row in COMPARISON.rows
    ]
    legend = right.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "undecided",
        "learned better",
        "learned worse",
        "near the line",
    ]
    assert "minus" in right.get_xlabel()


def test_measures_that_were_not_learned_are_shown_too() -> None:
    text = measure_text("m", MeasureFile(DCG({"good": 1, "bad": 0}, "zipf") @ 3))
    assert "DCG({'good': 1, 'bad': 0}, zipf) @ 3" in text
    assert "0.3333" in text
    assert "\n2      3.0000\n" in measure_text("m", MeasureFile(DCG([3, 1, 0])))  # as in exports
    text = measure_text("m", MeasureFile(utility=LinearUtility([[1, 0], [0.5, 0]]), use="utility"))
    assert "W, the worth of a grade at a rank" in text
    figure = draw_measure_file(MeasureFile(DCG([1, 0])), "t")
    assert len(figure.axes) == 2
    with pytest.raises(InputError, match=r"ends in '\.gif'"):
        save(figure, "x.gif")


def test_a_first_rank_that_does_not_count_is_not_said_to_have_discount_1() -> None:
    """As of noise: what is fixed is another discount."""
    pairs = np.zeros((40, 2, 3), np.int8)
    pairs[:, 1, 1] = 1  # only rank 2 differs
    pairs[20:, :, 0] = pairs[20:, :, 2] = [0, 1]
    pairs[30:, :, (0, 2)] = pairs[30:, ::-1, (0, 2)]  # rank 1 and 3 both ways
    data = Preferences.of(pairs, ["a"] * 40, Scale((1, 0)))
    content = learned_measure(DCGLearner().fit(data), data, "x")
    text = learned_text(content)
    assert "; the discount of rank 2 is 1, as that of rank 1 is 0" in text
    assert "the first discount is 1" not in text


def test_a_learned_measure_is_described() -> None:
    text = learned_text(a_fit())
    assert text.startswith("grade  gain   data share\n")  # without a word on certainty
    details = text.split("\n\ndetails:\n")[1]
    assert details.startswith("learned with C = 1, unit margins (newton): confirmed optimal, ")
    for line in (
        "normalisation: the worst grade has gain 0, the best gain 1; the first discount is 1",
        "what the judgments do not determine:",
        "  - every grade at ranks 1-4 could gain the same constant",
    ):
        assert line in text.splitlines()
    assert "bootstrap" not in text
    affine = learned_text(a_fit(same_content=True))
    assert "the best gain 1; the largest discount is 1 and the smallest 0 (only ratios" in affine
    with pytest.raises(InputError, match="is not a learned measure"):
        learned_text(MeasureFile(DCG([1, 0], [1, 0.5])))


def test_documents_have_relevance() -> None:
    rng = np.random.default_rng(0)
    scale = Scale(("x", "y", "z"))
    data = side_by_side(DCG([2, 1, 0]), permuted_lists(200, rng, range(3)), scale, rng)
    content = learned_measure(DCGLearner(encoding="documents").fit(data.pairs), data, "x.jsonl")
    text = learned_text(content)
    assert "normalisation: the least relevant document has relevance 0, the most" in text
    assert parameter_tables(content)[0].columns[:2] == ("document", "relevance")
    assert "every document at ranks 1-3 could gain the same constant" in text


def test_many_separate_components_are_counted() -> None:
    """At each of 7 ranks the grades {0, 1} and {2, 3} are compared only among themselves."""
    pairs = np.zeros((14, 2, 7), np.int8)
    for rank in range(7):
        pairs[2 * rank, :, rank] = 0, 1
        pairs[2 * rank + 1, :, rank] = 2, 3
    said = identify(Problem.of(pairs, 4)).undetermined(["a", "b", "c", "d"])
    listed = [text for text in said if "{a, b} and {c, d} are never compared" in text]
    assert [text[:9] for text in listed] == [f"at rank {k}" for k in range(1, 6)]
    assert "and the same holds at 2 more ranks" in said


def test_too_few_pairs_leave_other_directions() -> None:
    pairs = [[[0, 0], [1, 1]], [[1, 1], [2, 2]]]  # both ranks always differ alike
    said = identify(Problem.of(pairs, 3)).undetermined()
    assert said[0] == "the differences of the pairs (2) have rank 2 of 6"
    assert said[-1] == ("2 more directions of W are undetermined, because there are too few pairs")
