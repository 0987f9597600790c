"""Functions of one's own: the same bytes everywhere, what recomputes what, and what is refused."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from dcglearn import DCG, InputError, experiment
from dcglearn.lab.compute import compute_cell, learn, regret, run_cell
from dcglearn.lab.config import AXES, Document, read_config
from dcglearn.lab.draws import Draws
from dcglearn.lab.registry import ExperimentCode
from dcglearn.lab.results import Store, add_settings, result_table
from dcglearn.lab.setting import Setting, vocabulary
from helpers.commands import Run
from helpers.own_functions import CODE, CONFIG, computed, keys, written
from helpers.places import ROOT
from helpers.processes import Cluster
from helpers.written import write


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("  # of each grade at each rank", "  # another comment", False),
        ('"""Count who won."""', '"""Count."""', False),
        ("def figures(table):", "def figures(table):\n    table = table.copy()", False),
        ("+ 2 * smoothing", "+ 3 * smoothing", True),
        ("WEIGHT = 1.0", "WEIGHT = 2.0", True),
        ('TABLE["start"] = 1.0', 'TABLE["start"] = 1.5', True),
    ],
)
def test_a_changed_file_recomputes_the_cells_that_use_it(
    tmp_path: Path, old: str, new: str, changes: bool
) -> None:
    assert old in CODE
    before = read_config(written(tmp_path))
    after = read_config(written(tmp_path, CODE.replace(old, new)))
    assert (keys(before) != keys(after)) is changes


def test_what_a_function_leaves_behind_does_not_reach_the_next_cell(tmp_path: Path) -> None:
    """Nor does what global generators were before."""
    keep = "TABLE['start'] += 1\n    WEIGHT * np.random.rand()"
    code = CODE.replace('TABLE["start"] +', "TABLE['start'] + np.random.rand() +")
    config = read_config(
        written(tmp_path, code.replace("    noise = ", f"    {keep}\n    noise = "))
    )
    cells = [cell for point, cell in config.cells() if point["learner"] == "counting"]
    state = random.getstate()
    forwards = [run_cell(cell, codes=config.code.functions) for cell in cells]
    backwards = [run_cell(cell, codes=config.code.functions) for cell in reversed(cells)]
    assert all("result" in one for one in forwards)
    assert forwards == backwards[::-1]
    assert random.getstate() == state


def test_gains_and_discounts_of_own_learners(tmp_path: Path) -> None:
    """Up to an affine map and up to scale, the nearest to the true ones."""
    names = ("gains", "gains_correlation", "discounts", "discounts_correlation")
    code = CODE.replace('"mean_gap", "regret", "kendall_tau"', str(names)[1:-1])
    config, store = read_config(written(tmp_path, code)), Store(tmp_path)
    computed(config, store)
    cell = next(c for p, c in config.cells() if p["learner"] == "counting")
    result = store.get(cell)
    assert result is not None
    learned = learn(Draws(cell, ExperimentCode(functions=config.code.functions)))[1].matrix_for(3)
    U, _, Vt = np.linalg.svd(learned - learned[:, -1:])
    gains, discounts = np.array([3, 2, 1]), 1 / np.log2([2, 3, 4])
    assert result["gains"] == pytest.approx(np.polyval(np.polyfit(Vt[0], gains, 1), Vt[0]))
    assert result["discounts"] == pytest.approx(U[:, 0] * (U[:, 0] @ discounts))
    for name, one, true in (("gains", Vt[0], gains), ("discounts", U[:, 0], discounts)):
        correlation = abs(np.corrcoef(one, true)[0, 1])
        assert result[f"{name}_correlation"] == pytest.approx(correlation)
    table = result_table(config, store)
    assert table[["gains_3", "discounts_3"]].notna().all(axis=None)


def test_options_are_swept_and_a_default_is_not_a_change(tmp_path: Path) -> None:
    swept = CONFIG.replace("[sweep]", '[sweep]\n"options.smoothing" = [0.5, 1, 2.0]')
    config = read_config(written(tmp_path, config=swept))
    plain = read_config(written(tmp_path))
    assert set(keys(plain)) < set(keys(config))
    assert len(set(keys(config))) == 4 + 3 * 4  # smoothing has no effect on the quadratic program
    store = Store(tmp_path)
    computed(config, store)
    table = add_settings(config, result_table(config, store))
    assert set(table["options.smoothing"]) == {0.5, 1.0, 2.0}
    assert set(table["options.depth"]) == {2}
    rows = table[table["learner"] == "counting"].groupby("options.smoothing")["mean_gap_1"]
    assert rows.first().nunique() == 3


ONLY = """
experiment = "mine"
figures = ["T"]
seed = 5
repetitions = 2
[setting]
base = [3, 2, 1]
grades = 3
pairs = 30
test_pairs = 200
"""


SHIPPED = {
    "learner": ("qp", "pairs, setting, rng"),
    "judge": ("calibrated", "truth, lists, setting, rng"),
    "margin": ("unit", "pairs"),
    "truth": ("data-1", "n_ranks, n_grades, rng"),
    "policy": ("random", "lists, judged, n, setting, rng"),
}
"""A function that is shipped, and the arguments that such a function takes."""


def failing(tmp_path: Path, body: str, axis: str = "learner") -> list[dict[str, Any]]:
    """Compute cells with a function whose body is given, and cells without it."""
    shipped, arguments = SHIPPED.get(axis, ("", "truth, learned, data"))
    columns = ("precision", "bad") if axis == "result" else ("precision",)
    code = (
        f"import json, sys\nimport numpy as np\nfrom dcglearn.lab.decorators import {axis}\n"
        f"COLUMNS = {columns}\nGENERATOR = np.random.default_rng(1)\n"
        f"@{axis}\ndef bad({arguments}):\n    {body}\n\ndef figures(table): return []\n"
    )
    sweep = f'[sweep]\n{axis} = ["bad", "{shipped}"]\n' if shipped else ""
    config = read_config(written(tmp_path, code, ONLY + sweep))
    return [run_cell(cell, codes=config.code.functions) for _, cell in config.cells()]


@pytest.mark.parametrize(
    ("axis", "body", "message"),
    [
        ("learner", "return 1 / 0", "line 8, in bad: ZeroDivisionError: division by zero"),
        ("learner", "pairs[:] = 0", "line 8, in bad: ValueError: assignment destination is read"),
        ("learner", "pass", r"line 6, in bad: returned values of shape \(\), not \(3, 3\); ret"),
        ("learner", "return np.eye(2)", r"values of shape \(2, 2\), not \(3, 3\); ret.*\(3, 3\)"),
        ("judge", "return lists[:, 0]", r"returned values of shape \(500, 3\), not \(any, 2, 3\)"),
        ("judge", "return lists + 9", "pairs hold the grade index .*; use 0 .best. ... 2, or"),
        ("judge", "return lists[:, :, :2]", r"of shape \(500, 2, 2\), not \(any, 2, 3\); give"),
        ("margin", "return np.ones(3)", r"returned values of shape \(3,\), not \(30,\); give"),
        ("truth", "return np.eye(2)", r"of shape \(2, 2\), not \(3, 3\); return a DCG, a Linear"),
        ("policy", "return [0] * n", r"are \[0, 0, 0, 0, 0\]; return 5 different rows, from 0 to"),
        ("result", "return 'high'", "returned values are not numbers; return a finite number, or"),
    ],
)
def test_what_fails_is_named_with_file_and_line(
    tmp_path: Path, axis: str, body: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = failing(tmp_path, body, axis)
    errors = [one["error"] for one in outcomes if "error" in one]
    assert len(errors) == 2
    for error in errors:
        assert re.search(message, error), error
        assert "\n" not in error
        assert error.startswith("experiments/mine.py, line ")
    assert len(outcomes) == (2 if axis == "result" else 4)  # the others have results
    assert capsys.readouterr().out == ""


def test_a_margin_may_fall_with_the_true_difference(tmp_path: Path) -> None:
    body = "return 1 + (pairs[:, 0] - pairs[:, 1]) @ np.arange(3, 0, -1)"  # grades: 0 the best
    found = [one.get("result", one) for one in failing(tmp_path, f"{body} / 100.0", "margin")]
    assert found[0]["margin_correlation"] < 0


def test_an_imported_function_is_part_of_the_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    body = CODE[CODE.index("def encoded") : CODE.index("@judge")]
    head = CODE[: CODE.index("def encoded")]
    (tmp_path / "own_lab.py").write_text(head + body)
    importing = CODE.replace(body, "from own_lab import counting\n")
    config = read_config(written(tmp_path, importing))
    cell = next(cell for point, cell in config.cells() if point["learner"] == "counting")
    whole = read_config(written(tmp_path / "whole"))
    same = next(cell for point, cell in whole.cells() if point["learner"] == "counting")
    assert run_cell(cell, codes=config.code.functions) == run_cell(same, codes=whole.code.functions)
    functions = config.code.functions
    changed = replace(next(c for c in functions if c.name == "counting"), imported="# other")
    elsewhere = {**cell, "code": {**cell["code"], "learner counting": changed.digest}}
    others = [changed, *(c for c in functions if c.name != "counting")]
    assert "is another one here" in run_cell(elsewhere, codes=others)["error"]


WITH_DATA = ONLY + '[sweep]\nlearner = ["qp", "known"]\n'

READS = '''"""A learner that reads a file."""

import numpy as np

from dcglearn.lab.decorators import learner, result

COLUMNS = ("precision", "total")


@learner(reads={"table": "data/weights.csv"})
def known(pairs, setting, rng, *, table, scale=1.0):
    """Weights of a file."""
    return scale * np.loadtxt(table, delimiter=",")


@result
def total(truth, learned, data):
    """Sum of the weights."""
    return float(learned.matrix_for(3).sum())


def figures(table):
    from dcglearn.lab.plots import Figure, Plot, curves
    plot = Plot("learner", "total", curves(table, "learner", "total", "truth"), points=True)
    return [Figure("T", "Test", plot, ())]
'''

DATA = "3,2,1\n2,1,0\n1,0.5,0\n"


def with_data(folder: Path, code: str = READS, data: str = DATA) -> Path:
    write(folder / "data/weights.csv", data)
    return written(folder, code, WITH_DATA)


WRONG_CODE = [
    ("def hasty(", "def calibrated(", "line 28: the judge 'calibrated' is already defined"),
    ("@judge", "@learner(name='qp')\ndef f(p, s, r): ...\n\n@judge", "learner 'qp' is already"),
    ("def mean_gap", "def precision", "the table already has a column 'precision'"),
    ("(pairs, setting, rng, *,", "(pairs, setting, *,", "line 19, in <module>: the learner cou"),
    ("*, smoothing=1.0", "*, smoothing=None", "option smoothing of the learner counting has"),
    ('"mean_gap",', '"mean_gab",', "of these cells 'mean_gab'; did you mean 'mean_gap'"),
    ("import numpy as np", "print(1)\nimport numpi", "cannot be loaded .ModuleNotFoundError"),
]
WRONG_CONFIGS = [
    ('"counting"', '"countin"', "unknown learner 'countin'; did you mean 'counting'"),
    ("depth = 2", "deph = 2", "options: unknown option 'deph'; did you mean 'depth'"),
    ("depth = 2", "depth = nan", "options.depth: found nan; give a number, a text, true, false"),
    (', "hasty"]', "]", 'options.depth: has no effect; remove it, or set judge = "hasty"'),
    ("[sweep]", '[sweep]\n"options.depth" = [1]', r"options.depth is in \[setting\] and in"),
]
WRONG_READS = [
    ("weights.csv", "weihgts.csv", "line 10, data/weihgts.csv: no such file"),
    ("data/weights.csv", "data", "line 10, data: cannot be read .Is a directory"),
    (
        "*, table, ",
        "*, ",
        r"the learner known takes .*; write def known.*, \*, table.,",
    ),
]


@pytest.mark.parametrize(
    ("text", "name", "old", "new", "message"),
    [
        *((CODE, "experiments/mine.py", *wrong) for wrong in WRONG_CODE),
        *((CONFIG, "configs/mine.toml", *wrong) for wrong in WRONG_CONFIGS),
        *((READS, "experiments/mine.py", *wrong) for wrong in WRONG_READS),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_computed(
    tmp_path: Path,
    text: str,
    name: str,
    old: str,
    new: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = with_data(tmp_path) if text is READS else written(tmp_path)
    assert old in text
    write(tmp_path / name, text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        read_config(config)
    assert Path(name).name in str(caught.value)
    assert capsys.readouterr().out == ""


def test_one_worker_two_and_a_cluster_give_the_same_numbers(
    tmp_path: Path, cluster: Cluster
) -> None:
    """Code and data travel to processes and to workers that start elsewhere."""
    cluster.add()
    reading = READS[READS.index("@learner(reads") : READS.index("def figures")]
    code = CODE.replace("def figures", f"{reading}def figures").replace(
        '"regret"', '"regret", "total"'
    )
    with_data(tmp_path)
    config = written(tmp_path, code, CONFIG.replace('"counting"', '"counting", "known"'))
    tables = [experiment(config).run(workers=spec) for spec in ("1", "2", cluster.address)]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert set(tables[0].query("learner == 'known'")["total"]) == {10.5}  # of the file


def test_a_changed_file_recomputes_the_cells_that_read_it(tmp_path: Path) -> None:
    before = read_config(with_data(tmp_path))
    same = read_config(with_data(tmp_path))
    after = read_config(with_data(tmp_path, data=DATA.replace("0.5", "0.6")))
    for learner, changes in (("qp", False), ("known", True)):
        assert keys(before, learner=learner) == keys(same, learner=learner)
        assert (keys(before, learner=learner) != keys(after, learner=learner)) is changes


def test_copies_last_for_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function does to its copy, the next call does not see; nothing is left on disk."""
    code = READS.replace(
        "    return scale *",
        "    with table.open('a') as file:\n        file.write('0,0,0\\n')\n    return scale *",
    ).replace('delimiter=",")', 'delimiter=",")[:4].cumsum(axis=0)[[0, 1, 3]]')
    config = read_config(with_data(tmp_path, code))
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    cells = [cell for point, cell in config.cells() if point["learner"] == "known"]
    first, again = (run_cell(cells[0], codes=config.code.functions) for _ in range(2))
    assert "result" in first
    assert first == again
    assert list(copies.iterdir()) == []


def test_regret_and_tau_are_what_their_formulas_say(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth, learned = DCG([3, 1, 0], "log2"), DCG([1, 0.9, 0], "zipf")
    lists = rng.integers(0, 3, (300, 2, 4)).astype(np.int8)
    gaps = np.array([truth.score(a) - truth.score(b) for a, b in lists])
    pairs = np.where((gaps > 0)[:, None, None], lists, lists[:, ::-1])[gaps != 0]
    from dcglearn.lab.compute import order_of_lists
    from dcglearn.lab.decorators import CellData

    data = CellData(None, pairs, pairs)
    lost = total = 0.0
    for better, worse in pairs:
        size = float(truth.score(better) - truth.score(worse))
        gap = float(learned.score(better) - learned.score(worse))
        lost += size * (0.5 if abs(gap) < 1e-12 else gap < 0)
        total += size
    assert regret(truth, learned, data) == pytest.approx(lost / total)
    flat = pairs.reshape(-1, 4)
    scores = [np.round([float(one.score(x)) for x in flat], 9) for one in (truth, learned)]
    assert order_of_lists(truth, learned, data) == pytest.approx(kendalltau(*scores).statistic)
    assert regret(truth, truth, data) == 0
    assert order_of_lists(truth, truth, data) == pytest.approx(1)
    assert order_of_lists(truth, DCG([1, 1, 1], "log2"), data) == 0


def test_the_docs_do_what_they_show(tmp_path: Path, run: Run) -> None:
    """Follow docs/extending.md exactly, in an empty folder."""
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.M | re.S)
    (_, config), (_, code), (_, shown), (_, reads), (_, error) = blocks
    written(tmp_path, code, config)
    command, printed = shown.split("\n", 1)
    arguments = command.split()[2:]
    done = run(*arguments)
    assert done.stdout == printed, done.stderr
    write(tmp_path / "data/gains.csv", "0,0,0,0,1\n" * 10)
    with_file = config.replace('"counting"', '"from_file"').replace("smoothing =", "scale =")
    read = read_config(written(tmp_path, code + "\n\n" + reads, with_file))
    cell = next(cell for point, cell in read.cells() if point["learner"] == "from_file")
    assert run_cell(cell, codes=read.code.functions)["result"]["precision"] < 0.5
    wrong = code.replace("    return (won", "    return np.ones(5)\n    return (won")
    written(tmp_path, wrong, config)
    done = run(*arguments)
    assert done.returncode == 1
    first = done.stderr.split("First error: ")[1].strip()
    assert first.replace("calibrated", "hasty") == " ".join(error.split())


def test_the_page_says_what_seeds_each_stream() -> None:
    text = (ROOT / "docs" / "extending.md").read_text("utf-8").split("## Seeds and streams")[1]
    rows = [line.split("|")[1:4] for line in text.splitlines() if line.startswith("| `")]
    listed = {name: text for names, text, _ in rows for name in re.findall(r"`(\w+)`", names)}
    assert listed.keys() == AXES.keys()
    for name, text in listed.items():
        named = set(re.findall(r"`(\w+)`", text))
        named |= set(AXES["training"]) if "the same" in text else set()
        assert named == set(AXES[name]), name


def test_the_columns_are_listed(tmp_path: Path, run: Run) -> None:
    """All that cells result in, all axes with the functions of the file, and all settings."""
    config = read_config(written(tmp_path))
    listed = vocabulary(config.code, Document)
    found = {name for names in listed.values() for name in names}
    assert {"mean_gap", "coverage", "counting", "hasty", "qp", "@learner", "@result"} <= found
    settings = listed["[setting] of a config, and [sweep] with lists of values"]
    assert {name.split(" = ")[0] for name in settings} == Setting.model_fields.keys()
    assert all(settings.values())
    results = {
        name
        for _, cell in config.cells()
        for name in compute_cell(cell, codes=config.code.functions)
    }
    assert {name for name in results if ":" not in name} <= found
    counting = "  counting: Count who won. (smoothing = 1.0) [experiments/mine.py, line 19]\n"
    assert counting in run("run", "--columns", config.path).stdout
