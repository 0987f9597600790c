"""Columns that figures use are checked before anything is computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dcglearn import InputError, experiment
from dcglearn.design.config import Config, read_config
from dcglearn.lab.experiment_files import config_files, load_experiment, make_figures
from dcglearn.lab.rehearsal import check_figure_columns
from dcglearn.lab.run import count_cells
from dcglearn.lab.store import Store
from helpers.own_functions import CODE, written
from helpers.places import ROOT


def checked(config: Config) -> None:
    check_figure_columns(load_experiment(config), config)


@pytest.mark.parametrize("path", config_files(), ids=lambda path: path.stem)
@pytest.mark.parametrize("quick", [True, False])
def test_shipped_experiments_pass(path: Path, quick: bool) -> None:
    config = read_config(path)
    check_figure_columns(load_experiment(config), config, quick)


@pytest.mark.parametrize(
    ("used", "message"),
    [
        ('curves(table, "learner", "precison", "judge")', "'precison'.* did you mean 'precision'?"),
        ('curves(table, "lerner", "precision", "judge")', "did you mean 'learner'?"),
        ('curves(table[["judge", "prec"]], "learner", "prec", "judge")', "uses the column 'prec'"),
        (
            'curves(table, "learner", "similarity", "judge")',
            "Add a result to COLUMNS, or use judge",
        ),
        ('curves(table, "learner", "mean_gab_2", "judge")', "did you mean 'mean_gap'?"),
        ("curves(table.set_index('juge'), '', '', '')", "'juge'.* did you mean 'judge'?"),
        ("curves(table, table.lerner, 'precision', 'judge')", "did you mean 'learner'?"),
    ],
)
def test_a_column_that_the_table_lacks_is_named(tmp_path: Path, used: str, message: str) -> None:
    """Before anything is computed, and again where a table is drawn that was not checked."""
    right = 'curves(table, "learner", "precision", "judge")'
    assert right in CODE
    config = read_config(written(tmp_path, CODE.replace(right, used)))
    with pytest.raises(InputError, match=message) as caught:
        experiment(config.path, tmp_path / "out").run(progress=False)
    assert "experiments/mine.py, line 48: figures(table) uses" in str(caught.value)
    assert ", chosen_C" not in str(caught.value)
    assert "mean_gap" in str(caught.value)
    assert "kendall_tau" in str(caught.value)
    assert count_cells(config, False, Store(tmp_path / "out/store")).done == 0


@pytest.mark.parametrize(
    "used",
    [
        'curves(table, "learner", "mean_gap_2", "judge")',  # the second number of a result
        'curves(table, "learner", "precision", "judge", {"x": 1}["y"])',  # no column
        'curves(table, "learner", "precision", "judge", table["judge"].set_axis([0] * 8)["y"])',
        "curves(1 / 0)",
    ],
)
def test_what_else_fails_is_left_to_the_numbers(tmp_path: Path, used: str) -> None:
    right = 'curves(table, "learner", "precision", "judge")'
    checked(read_config(written(tmp_path, CODE.replace(right, used))))


@pytest.mark.parametrize(
    ("setting", "sweep", "columns"),
    [
        ({"lists": "drawn"}, {"ranks": [5, 8]}, ["discounts_8", "gains_5"]),
        ({"lists": "documents", "base": [3, 3, 2, 2, 1, 1]}, {"pairs": [20, 50]}, ["gains_6"]),
    ],
)
def test_columns_of_gains_and_discounts_are_those_of_the_cells(
    tmp_path: Path, setting: dict[str, Any], sweep: dict[str, list[int]], columns: list[str]
) -> None:
    """Of any cell; for documents, each has a gain."""
    (key,) = sweep
    drawn = "".join(f"[curves(table, {key!r}, {name!r}, 'truth')]," for name in columns)
    code = (
        "from dcglearn.lab.plots import curves\nCOLUMNS = ('gains', 'discounts')\n"
        f"def figures(table):\n    {drawn}\n    return []\n"
    )
    tables = {"setting": {**setting, "test_pairs": 50}, "sweep": sweep}
    keys = {'experiment = "mine"', 'figures = ["T"]', "seed = 5", "repetitions = 1"}
    for name, table in tables.items():
        keys |= {f"{name}.{one} = {json.dumps(value)}" for one, value in table.items()}
    config = read_config(written(tmp_path, code, "\n".join(sorted(keys))))
    checked(config)
    table = experiment(config.path, tmp_path / "out").run(progress=False)
    assert set(columns) < set(table)
    missing = f"{columns[0][:-1]}9"
    code = code.replace(columns[0], missing)
    with pytest.raises(InputError, match=f"uses the column '{missing}'"):
        checked(read_config(written(tmp_path, code, "\n".join(sorted(keys)))))


@pytest.mark.parametrize("path", config_files(), ids=lambda path: path.stem)
def test_figures_are_drawn_from_whatever_cells_there_are(path: Path) -> None:
    """Another experiment may have computed some that both share."""
    config = read_config(path)
    experiment = load_experiment(config)
    table = pd.read_csv(ROOT / "results" / config.name / "table.csv")
    table = table[table["repetition"] < 2]
    parts = [rows for key in config.sweep for _, rows in table.groupby(key)]
    for part in [table.head(1), table.head(3), *parts]:
        make_figures(experiment, config, part, quick=True)
