"""Measure how often tests of all pairs call equal systems different, and what they find.

``python3 scripts/family_wise_error.py`` draws the values of systems whose truth is known, 5,000
times, and tests all pairs at the level .05. An error is a data set in which two equal systems
differ significantly under any measure; a correction is right if 5% of the data sets have one, or
fewer. The table goes to ``results/benchmark/family_wise_error.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dcglearn.base.files import write_text
from dcglearn.base.statistics import holm
from dcglearn.base.types import Floats
from dcglearn.report.tables import Table
from dcglearn.systems.paired_tests import paired_p_values, tukey_test

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS, QUERIES, LEVEL, DRAWS, SEED = 8, 25, 0.05, 1199, 1
STEP = 0.06
"""How much each of the systems that differ is better than the one before it."""

Draw = Callable[[np.random.Generator], Floats]
"""Values of shape (measures, systems, queries); the systems of each measure are alike."""


def _normal(rng: np.random.Generator) -> Floats:
    return rng.normal(size=QUERIES) + rng.normal(0, 1, (1, SYSTEMS, QUERIES))


def _with_zeros(rng: np.random.Generator) -> Floats:
    """Like nDCG: between 0 and 1, and often 0."""
    level = rng.normal(0.3, 0.3, QUERIES)
    return np.clip(level + rng.normal(0, 0.15, (1, SYSTEMS, QUERIES)), 0, 1)


def _two_measures(rng: np.random.Generator) -> Floats:
    """Two measures that correlate by .9, such as nDCG at two cutoffs."""
    first, other = rng.normal(size=(2, SYSTEMS, QUERIES))
    return np.stack([first, 0.9 * first + np.sqrt(1 - 0.81) * other])


def _unequal_noise(rng: np.random.Generator) -> Floats:
    """Equal means; half of the systems vary three times as much."""
    noise = np.where(np.arange(SYSTEMS) < SYSTEMS // 2, 1.0, 3.0)
    return rng.normal(size=(1, SYSTEMS, QUERIES)) * noise[:, None]


def _some_differ(rng: np.random.Generator) -> Floats:
    """Half of the systems are alike, each other one is better than the one before it."""
    steps = np.maximum(0, np.arange(SYSTEMS) - SYSTEMS // 2 + 1) * STEP
    level = rng.normal(0.4, 0.25, QUERIES)
    return level + steps[:, None] + rng.normal(0, 0.12, (1, SYSTEMS, QUERIES))


TRUTHS: dict[str, tuple[Draw, int]] = {
    "normal values": (_normal, SYSTEMS),
    "between 0 and 1, many 0": (_with_zeros, SYSTEMS),
    "two measures, correlation .9": (_two_measures, SYSTEMS),
    "noise of half of the systems x 3": (_unequal_noise, SYSTEMS),
    "half of the systems differ": (_some_differ, SYSTEMS // 2),
}
"""Draws of values, and how many of the systems, the first ones, are equal."""


def p_values(values: Floats, rng: np.random.Generator) -> dict[str, Floats]:
    """Return the p-values of all pairs, shape (measures, pairs), by each correction."""
    first, second = np.triu_indices(SYSTEMS, 1)
    differences = values[:, first] - values[:, second]
    p = np.array([paired_p_values(one, rng, "randomisation", DRAWS) for one in differences])
    tukey = tukey_test(values, rng, DRAWS)[0]
    of_all = tukey_test(values, rng, DRAWS, True)[0] if len(values) > 1 else tukey
    return {
        "uncorrected": p,
        "Holm": np.array([holm(one) for one in p]),
        "Tukey": tukey,
        "Holm, all measures": holm(p.ravel()).reshape(p.shape),
        "Tukey, all measures": of_all,
    }


def measured(draw: Draw, n_equal: int, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of data sets with an error, and the share of differences found."""
    rng, equal = np.random.default_rng(SEED), np.triu_indices(SYSTEMS, 1)[1] < n_equal
    drawn = [p_values(draw(rng), rng) for _ in range(repeats)]
    every = {name: np.array([one[name] for one in drawn]) < LEVEL for name in drawn[0]}
    errors = {name: float(p[..., equal].any((1, 2)).mean()) for name, p in every.items()}
    different = {} if equal.all() else every
    return errors, {name: float(p[..., ~equal].mean()) for name, p in different.items()}


def main() -> None:
    """Draw, test and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5000)
    repeats, found = parser.parse_args().repeats, {}
    for name, (draw, n_equal) in TRUTHS.items():
        found[name] = measured(draw, n_equal, repeats)
        print(name, *found[name], flush=True)
    spread = np.sqrt(LEVEL * (1 - LEVEL) / repeats)
    text = (
        "# Errors of tests of all pairs\n\n"
        f"{SYSTEMS} systems, {QUERIES} queries, {repeats:,} data sets, {DRAWS:,} draws "
        "each; made by `python3 scripts/family_wise_error.py`.\n"
        f"A share of {LEVEL} has a standard error of {spread:.3f}.\n"
    )
    captions = "Data sets with an error at the level .05", "Share of true differences found"
    for part, caption in enumerate(captions):
        rows = [(name, *shares[part].values()) for name, shares in found.items() if shares[part]]
        columns = ["values", *found["half of the systems differ"][part]]
        text += f"\n{Table(columns, rows, caption, 3).markdown()}\n"
    write_text(ROOT / "results" / "benchmark" / "family_wise_error.md", text)


if __name__ == "__main__":
    main()
