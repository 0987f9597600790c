"""Data files that functions of one's own read: their content is part of the cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcglearn import InputError, experiment
from dcglearn.design.config import read_config
from dcglearn.lab.store import Store
from dcglearn.trials.compute import compute_cell, run_cell
from helpers.own_functions import computed, keys, written
from helpers.processes import Cluster

CONFIG = """
experiment = "mine"
figures = ["T"]
seed = 5
repetitions = 2

[setting]
base = [3, 2, 1]
grades = 3
pairs = 30
test_pairs = 200

[sweep]
learner = ["qp", "known"]
"""

CODE = '''"""A learner that reads a file."""

import numpy as np

from dcglearn.axes.decorators import learner, result

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
    plot = Plot("learner", "total", curves(table, "learner", "total", "truth"), bars=True)
    return [Figure("T", "Test", plot, ())]
'''

DATA = "3,2,1\n2,1,0\n1,0.5,0\n"


def with_data(folder: Path, code: str = CODE, data: str = DATA) -> Path:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/weights.csv").write_text(data)
    return written(folder, code, CONFIG)


def test_the_content_travels_with_the_cell(tmp_path: Path, cluster: Cluster) -> None:
    """To processes and to a cluster whose workers start elsewhere; the same numbers."""
    config = with_data(tmp_path)
    cluster.add()
    tables = [experiment(config).run(workers=spec) for spec in ("1", "2", cluster.address)]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert list(tables[0].query("learner == 'known'")["total"]) == [10.5, 10.5]  # of the file


def test_a_changed_file_recomputes_the_cells_that_read_it(tmp_path: Path) -> None:
    before = read_config(with_data(tmp_path))
    same = read_config(with_data(tmp_path))
    after = read_config(with_data(tmp_path, data=DATA.replace("0.5", "0.6")))
    for learner, changes in (("qp", False), ("known", True)):
        assert keys(before, learner=learner) == keys(same, learner=learner)
        assert (keys(before, learner=learner) != keys(after, learner=learner)) is changes


def test_a_stored_cell_has_its_data(tmp_path: Path) -> None:
    config = read_config(with_data(tmp_path))
    (tmp_path / "data/weights.csv").unlink()
    store = Store(tmp_path / "store")
    computed(config, store)
    for _, cell in config.cells():
        assert compute_cell(cell, None, store.codes(cell)) == store.get(cell)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "np.loadtxt(table, ",
            "np.loadtxt(PLACE + '/data/weights.csv', ",
            "line 13, in known: reads PLACE/data/weights.csv, which is not part of the cell; "
            'declare it, @learner(reads={"table": "PLACE/data/weights.csv"}), and read',
        ),
        (
            "import numpy as np\n",
            "import numpy as np\nEARLY = np.loadtxt(PLACE + '/data/weights.csv', delimiter=',')\n",
            "line 4, in known: reads PLACE/data/weights.csv, which is not part",
        ),
        (
            "np.loadtxt(table, ",
            "np.loadtxt('data/weihgts.csv', ",
            "data/weihgts.csv not found.; declare data with reads",
        ),
    ],
)
def test_what_is_not_declared_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    place = str(tmp_path)
    assert old in CODE
    new = new.replace("PLACE", repr(place))
    code = CODE.replace(old, new, 1)
    if "EARLY" in new:
        code = code.replace("return scale *", "assert EARLY.size\n    return scale *")
    config = read_config(with_data(tmp_path, code))
    cell = next(cell for point, cell in config.cells() if point["learner"] == "known")
    assert message.replace("PLACE", place) in run_cell(cell, codes=config.codes)["error"]


def test_what_a_function_writes_itself_it_may_read(tmp_path: Path) -> None:
    code = CODE.replace(
        "    return scale *",
        "    import tempfile\n    with tempfile.TemporaryDirectory() as folder:\n"
        "        np.save(folder + '/a.npy', np.ones(3))\n        np.load(folder + '/a.npy')\n"
        "    return scale *",
    )
    config = read_config(with_data(tmp_path, code))
    cell = next(cell for point, cell in config.cells() if point["learner"] == "known")
    assert "result" in run_cell(cell, codes=config.codes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "weights.csv",
            "weihgts.csv",
            r"line 10: declares .*'data/weihgts.csv', which cannot be r",
        ),
        ("data/weights.csv", "data", r"reads 'data', which cannot be read .Is a directory"),
        ("*, table, ", "*, ", r"reads 'data/weights.csv' and has no parameter table; write def kn"),
        ('{"table": "data/weights.csv"}', '"data/weights.csv"', r"known reads 'data/weights.csv'"),
        ("scale *", "len(__file__) *", r"uses __file__.*declare the file that it reads, @learner"),
    ],
)
def test_bad_declarations_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CODE
    with pytest.raises(InputError, match=message):
        read_config(with_data(tmp_path, CODE.replace(old, new, 1)))


def test_copies_last_for_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function does to its copy, the next call does not see; nothing is left on disk."""
    code = CODE.replace(
        "    return scale *",
        "    with table.open('a') as file:\n        file.write('0,0,0\\n')\n    return scale *",
    ).replace('delimiter=",")', 'delimiter=",")[:4].cumsum(axis=0)[[0, 1, 3]]')
    config = read_config(with_data(tmp_path, code))
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    cells = [cell for point, cell in config.cells() if point["learner"] == "known"]
    first, again = (run_cell(cells[0], codes=config.codes) for _ in range(2))
    assert "result" in first
    assert first == again
    assert list(copies.iterdir()) == []
