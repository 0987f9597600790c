"""Configs: what they mean, what is refused and how, and what counts as the same experiment."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dcglearn import DCG, InputError, InputWarning, MeasureFile, write_measure
from dcglearn.lab.config import config_files, config_from, key_of, read_config
from dcglearn.lab.plots import Figure
from dcglearn.lab.results import make_figures
from helpers.written import write

GOOD = """
experiment = "pairs"
figures = [1]
seed = 1
repetitions = 3

[setting]
grades = 3
base = [3, 2, 1]

[sweep]
truth = ["data-1", "free"]
pairs = [20, 40]

[quick]
pairs = [40]
repetitions = 2
"""


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    return write(folder / name, text)


def test_the_grid_is_a_product_and_quick_a_part_of_it(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, GOOD))
    assert len(config.cells()) == 2 * 2 * 3
    assert len(config.quick_part().cells()) == 2 * 1 * 2
    full = {key_of(cell) for _, cell in config.cells()}
    assert len(full) == 12
    assert {key_of(cell) for _, cell in config.quick_part().cells()} < full
    point, cell = config.cells()[-1]
    assert point == {"truth": "free", "pairs": 40, "repetition": 2}
    assert cell == {
        "seed": 1,
        "repetition": 2,
        "truth": "free",
        "grades": 3,
        "base": [3, 2, 1],
        "pairs": 40,
    }


def test_an_extended_or_reordered_grid_has_the_same_cells(tmp_path: Path) -> None:
    small = read_config(written(tmp_path, GOOD))
    text = GOOD.replace("[20, 40]", "[80, 40, 20]").replace("repetitions = 3", "repetitions = 4")
    large = read_config(written(tmp_path, text.replace('"data-1", "free"', '"free", "data-1"')))
    keys = [{key_of(cell) for _, cell in config.cells()} for config in (small, large)]
    assert keys[0] < keys[1]
    assert small.content != large.content


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"lists": "documents", "base": [1] * 127 + [2]}, "base: 128 documents; use a base of up"),
        ({"C": "cv", "pairs": 1}, "C: one pair cannot be divided into folds"),
    ],
)
def test_what_every_cell_would_refuse_is_refused_before(
    setting: dict[str, object], message: str
) -> None:
    config = {"columns": ["precision"], "seed": 1, "repetitions": 1}
    with pytest.raises(InputError, match=message):
        config_from({**config, "setting": setting})
    possible = {"lists": "documents", "base": [1] * 126 + [2], "C": "cv", "pairs": 2}
    assert config_from({**config, "setting": possible})


def test_cells_hold_the_truth_of_a_measure_file(tmp_path: Path) -> None:
    measure = tmp_path / "liked.json"
    write_measure(MeasureFile(dcg=DCG([4, 1, 0], "zipf")), measure)
    text = GOOD.replace('truth = ["data-1", "free"]\n', "")
    text = text.replace("grades = 3", f"grades = 3\ntruth = '{measure}'")
    config = read_config(written(tmp_path, text))
    assert config.cells()[0][1]["truth"] == "DCG([4, 1, 0], zipf)"


@pytest.mark.parametrize("path", config_files(), ids=lambda path: path.stem)
def test_shipped_configs_are_complete(path: Path) -> None:
    config = read_config(path)
    full = {key_of(cell) for _, cell in config.cells()}
    quick = {key_of(cell) for _, cell in config.quick_part().cells()}
    assert quick < full
    assert config.code.columns


def test_a_missing_experiment_file_names_the_existing_ones(tmp_path: Path) -> None:
    config = written(tmp_path, GOOD.replace('"pairs"', '"pears"', 1))
    with pytest.raises(InputError, match=r"unknown file in experiments/ .pears.;.*flips"):
        read_config(config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("def figures(table): return []", "does not define COLUMNS"),
        ("COLUMNS = 'precision'\ndef figures(table): return []", "COLUMNS is not a tuple of names"),
    ],
)
def test_a_broken_experiment_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    written(tmp_path / "experiments", content, "mine.py")
    config = written(tmp_path / "configs", GOOD.replace('"pairs"', '"mine"', 1))
    with pytest.raises(InputError, match=message) as caught:
        read_config(config)
    assert "mine.py" in str(caught.value)


@pytest.mark.parametrize("truth", ["free", "gains-by-rank:1"])
def test_a_column_that_the_truth_does_not_have_is_refused(truth: str) -> None:
    """Before anything is computed; it is there as soon as one truth is a DCG."""
    config = {"columns": ["gains"], "seed": 1, "repetitions": 1, "setting": {"truth": truth}}
    with pytest.raises(InputError, match="COLUMNS: unknown result of these cells 'gains'"):
        config_from(config)
    assert config_from({**config, "setting": {}, "sweep": {"truth": [truth, "zipf"]}})


@pytest.mark.parametrize("name", ["...toml", ".toml", ".a.toml", "README.md.toml"])
def test_names_that_are_no_folder_of_their_own_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"rename the file"):
        read_config(written(tmp_path, GOOD, name))


@pytest.mark.parametrize("figure", ["Figure(2, '', PLOT, ())", "3"])
def test_what_is_no_figure_is_refused(tmp_path: Path, figure: str) -> None:
    with pytest.raises(InputError, match=r"odd\.py"):
        drawn(tmp_path, figure)


def test_a_figure_that_the_config_does_not_list_is_left_out_and_named(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="does not list X: left out"):
        found = drawn(tmp_path, "Figure('1', '', PLOT, ()), Figure('X', '', PLOT, ())")
    assert [figure.number for figure in found] == ["1"]


def drawn(tmp_path: Path, figures: str) -> tuple[Figure, ...]:
    """What an experiment file draws for the figure that a config lists."""
    write(
        tmp_path / "experiments/odd.py",
        "from dcglearn.lab.plots import Figure, Plot\n"
        "PLOT = Plot('', '', ())\nCOLUMNS = ('precision',)\n"
        f"def figures(table):\n    return [{figures}]\n",
    )
    config = read_config(write(tmp_path / "configs/mine.toml", GOOD.replace('"pairs"', '"odd"')))
    table = pd.DataFrame([{"truth": "free", "pairs": 20, "repetition": 0, "precision": 0.5}])
    return make_figures(config, table)
