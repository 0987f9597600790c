"""An experiment with a learner, a judge and a result of its own, and how it is run."""

from __future__ import annotations

from pathlib import Path

from dcglearn.base.workers import open_workers
from dcglearn.lab.config import Config, key_of
from dcglearn.lab.results import Store, compute_cells
from helpers.written import write

FLIPS = """# Figures 5 and 6, small.
experiment = "flips"
figures = [5, 6]
seed = 5
repetitions = 2

[setting]
pairs = 20
test_pairs = 100

[sweep]
truth = ["data-1", "data-2"]
flips = [0, 5]

[quick]
flips = [0]
repetitions = 1
"""
"""A shipped experiment with eight small cells; quick, with two."""

CONFIG = """
experiment = "mine"
figures = ["T"]
seed = 5
repetitions = 2

[setting]
lists = "drawn"
base = [3, 2, 1]
grades = 3
pairs = 30
test_pairs = 200

[setting.options]
depth = 2

[sweep]
judge = ["calibrated", "hasty"]
learner = ["qp", "counting"]
"""


CODE = '''"""A learner, a judge and a result."""

import numpy as np

from dcglearn.lab.decorators import judge, learner, result
from dcglearn.measures.utility import LinearUtility

COLUMNS = ("precision", "mean_gap", "regret", "kendall_tau")
CAPTION = "nothing"
WEIGHT = 1.0
TABLE = {}
TABLE["start"] = 1.0


def encoded(pairs, n_grades):
    return np.eye(n_grades)[pairs].reshape(len(pairs), 2, -1)


@learner
def counting(pairs, setting, rng, *, smoothing=1.0):
    """Count who won."""
    won, lost = encoded(pairs, setting.grades).sum(axis=0)  # of each grade at each rank
    noise = 1e-6 * rng.random(won.shape)
    shares = (TABLE["start"] + won) / (won + lost + 2 * smoothing) + noise
    return WEIGHT * shares.reshape(setting.n_ranks, setting.grades)


@judge
def hasty(truth, lists, setting, rng, *, depth=1):
    """Look at the first ranks only."""
    seen = truth.matrix_for(setting.n_ranks).copy()
    seen[depth:] = 0
    scores = LinearUtility(seen).score(lists)
    order = np.argsort(-scores + 0.01 * rng.random(scores.shape), axis=1)
    return np.take_along_axis(lists, order[:, :, None], axis=1)


@result
def mean_gap(truth, learned, data):
    """Mean learned difference of the test pairs, and of the training pairs."""
    pairs = (data.test_pairs, data.training_pairs)
    return [float(np.diff(learned.score(one)).mean()) for one in pairs]


def figures(table):
    from dcglearn.lab.claims import Claim, Finding
    from dcglearn.lab.plots import Figure, Plot, curves
    plot = Plot("learner", "precision", curves(table, "learner", "precision", "judge"), points=True)
    return [Figure("T", "Test", plot, (Claim("It is drawn.", Finding("undecided")),), CAPTION)]
'''


def written(folder: Path, code: str = CODE, config: str = CONFIG) -> Path:
    write(folder / "experiments/mine.py", code)
    return write(folder / "configs/mine.toml", config)


def computed(config: Config, store: Store, spec: str = "1") -> None:
    with open_workers(spec) as workers:
        ((_, counts, _),) = compute_cells([config], store, workers)
    assert (counts.done, counts.failed) == (counts.total, 0), counts.first_error


def keys(config: Config, **point: str) -> list[str]:
    return [
        key_of(cell) for at, cell in config.cells() if all(at[k] == v for k, v in point.items())
    ]
