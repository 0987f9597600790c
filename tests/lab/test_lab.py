"""Experiments as objects: what a notebook does with them, and what it is told."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest

import dcglearn
from dcglearn import InputError, InputWarning
from dcglearn.lab.draws import Draws
from dcglearn.lab.results import CELLS_FILE
from helpers.written import write

SMALL = {"columns": ["precision", "gains"], "seed": 7, "repetitions": 2}


def small(**more: object) -> dcglearn.Lab:
    setting = {"test_pairs": 50, "pairs": 20}
    return dcglearn.experiment({**SMALL, "setting": setting, **more})


def test_a_run_returns_one_row_per_cell_and_computes_each_once() -> None:
    lab = small(sweep={"flips": (0, np.int64(5))})
    table = lab.run(progress=False)
    assert list(table.columns) == ["flips", "repetition", "precision", *gain_columns()]
    assert len(table) == 4
    pd.testing.assert_frame_equal(table, lab.run(progress=False))
    assert "4 of 4 cells" in repr(lab)


def gain_columns() -> list[str]:
    return [f"gains_{n}" for n in range(1, 6)]


def stopping_at(draw: int) -> Callable[..., Any]:
    """Draw lists until somebody presses Ctrl-C."""
    numbers, draw_lists = itertools.count(1), Draws.draw_lists

    def drawn(*given: Any) -> Any:
        if next(numbers) == draw:
            raise KeyboardInterrupt
        return draw_lists(*given)

    return drawn


@pytest.mark.parametrize(
    ("column", "setting"),
    [
        ("precision", {"test_pairs": 1200}),
        ("precision", {"reliability": 0.9, "C": "validation", "validation_pairs": 1200}),
        ("width", {"learner": "judgment-model", "lists": "drawn"}),
    ],
)
def test_an_interrupted_run_continues_with_the_same_lists(
    column: str, setting: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the process that was interrupted, which keeps what it drew."""
    content = {**SMALL, "columns": [column], "setting": {"pairs": 1200, **setting}}
    lab = dcglearn.experiment(content)
    for draw in (2, 3, 2):  # also where lists are drawn again
        monkeypatch.undo()
        monkeypatch.setattr(Draws, "draw_lists", stopping_at(draw))
        with pytest.warns(InputWarning, match="0 of 2 cells"), pytest.raises(KeyboardInterrupt):
            lab.run(progress=False)
    monkeypatch.undo()
    elsewhere = dcglearn.experiment(content).run(workers=2, progress=False)
    pd.testing.assert_frame_equal(lab.run(progress=False), elsewhere, check_exact=True)


@pytest.fixture(scope="module")
def quick() -> dcglearn.Lab:
    """An experiment whose figure 11 has two panels; its quick part was run."""
    lab = dcglearn.experiment("hamming")
    assert len(lab.run(quick=True, progress=False)) == len(lab.config.quick_part().cells())
    return lab


def test_figures_and_findings_are_those_of_the_part_run_last(
    quick: dcglearn.Lab, tmp_path: Path
) -> None:
    drawing = quick.figure(11, panel=2)
    assert isinstance(drawing, matplotlib.figure.Figure)
    assert [ax.get_ylabel() for ax in drawing.axes] == ["Hamming minus unit"]
    assert drawing.get_size_inches()[0] == pytest.approx(3.3)
    assert drawing._repr_png_().startswith(b"\x89PNG")
    drawing.savefig(tmp_path / "a.pdf")
    assert b"/Type3" not in (tmp_path / "a.pdf").read_bytes()
    findings = quick.findings()
    assert set(findings["figure"]) == {"11", "12"}
    assert (findings["of"] == "the paper").any()
    folder = quick.write(tmp_path)
    assert folder == tmp_path / "quick" / "hamming"
    written = pd.read_csv(folder / "table.csv")
    pd.testing.assert_frame_equal(written, quick.table(), check_dtype=False)


def test_a_figure_is_drawn_on_the_axes_of_the_caller(quick: dcglearn.Lab) -> None:
    own = matplotlib.figure.Figure(figsize=(7, 2.6), layout="constrained")
    axes = own.subplots(1, 2)
    assert quick.figure(11, ax=axes) is None
    assert [ax.get_ylabel() for ax in axes] == ["Similarity", "Hamming minus unit"]
    labels = {line.get_label() for line in axes[0].get_lines()}
    assert {one.label for one in quick.figures()[0].plot.series} <= labels
    narrow = matplotlib.figure.Figure(figsize=(3.3, 2.4), layout="constrained")
    pair = narrow.subplots(1, 2)
    quick.figure(11, ax=pair)
    narrow.draw_without_rendering()
    heights = [ax.get_window_extent().height for ax in pair]
    assert min(heights) > 0.6 * narrow.bbox.height  # legends do not take the room of the axes
    with pytest.raises(InputError, match=r"1 axes for 2 panels.*or `panel`: 1 to 2"):
        quick.figure(11, ax=own.subplots())
    with pytest.raises(InputError, match="`panel` is 3; use a whole number from 1 to 2"):
        quick.figure(11, panel=3)


def test_cells_in_a_folder_are_shared_with_the_commands(tmp_path: Path) -> None:
    lab = dcglearn.experiment({**SMALL, "setting": {"test_pairs": 50}}, out=tmp_path)
    lab.run(progress=False)
    assert (tmp_path / CELLS_FILE).is_file()
    again = dcglearn.experiment({**SMALL, "setting": {"test_pairs": 50}}, out=tmp_path)
    assert "2 of 2 cells" in repr(again)
    assert len(again.table()) == 2


PICKY = """
from dcglearn.lab.decorators import learner
COLUMNS = ('precision',)
@learner
def picky(pairs, setting, rng):
    if len(pairs) > 20:
        raise ValueError('too many')
    return [[5, 4, 3, 2, 1]] * setting.n_ranks
def figures(table):
    return []
"""


def test_one_s_own_files_are_found_and_failed_cells_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "experiments/mine.py", PICKY)
    monkeypatch.chdir(tmp_path)
    content = {"experiment": "mine", "figures": [], "seed": 1, "repetitions": 1}
    with pytest.raises(InputError, match="figures"):
        dcglearn.experiment(content)
    content |= {"figures": ["M1"], "setting": {"learner": "picky", "test_pairs": 50}}
    with pytest.warns(InputWarning, match=r"1 cell of 2 failed.*too many"):
        table = dcglearn.experiment({**content, "sweep": {"pairs": [20, 30]}}).run(progress=False)
    assert table["pairs"].tolist() == [20]
    assert table["precision"].between(0.5, 1).all()
    with pytest.raises(InputError, match=r"2 cells of 2 failed.*too many"):
        dcglearn.experiment({**content, "sweep": {"pairs": [30, 40]}}).run(progress=False)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("flip", "unknown experiment 'flip'; did you mean 'flips'"),
        ({**SMALL, "experiment": "flips", "figures": [5]}, "columns: stand beside `experiment`"),
        ({**SMALL, "columns": ["precison"]}, "precison.*precision"),
        ({**SMALL, "setting": {"pair": 20}}, "pair.*pairs"),
        ({**SMALL, "setting": {"learner": len}}, "is a function; write it into an experiment file"),
    ],
)
def test_what_is_refused(config: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dcglearn.experiment(config)


def test_what_cannot_be_shown_yet() -> None:
    lab = small()
    with pytest.raises(InputError, match="no cell is finished; call run"):
        lab.table()
    lab.run(progress=False)
    with pytest.raises(InputError, match="draws no figure"):
        lab.figure(5)
    assert lab.findings().empty
