"""Chosen answers against answers at random, looked up in judgments that are there.

    python scripts/retrospective.py judgments.jsonl -o chosen.csv -o chosen.svg

In rounds of 25, the pairs whose answers say most about the second grade's gain (or about
everything) are taken from the judgments of different lists, and their answers are looked up; ties
count as spent. The gain is learned from them, and compared with what all judgments say. Each way
begins anew with other random numbers 50 times.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import joblib
import numpy as np

import dcglearn
from dcglearn.asking.information import Asked, Design
from dcglearn.asking.plan import known_so_far
from dcglearn.base.threads import one_blas_thread
from dcglearn.report.tables import Table

ROUND, COUNTS, REPETITIONS = 25, (50, 100, 200, 400), 50
WAYS = {"at random": None, "chosen for everything": 0, "chosen for the gain": 1}


def main() -> None:
    """Repeat every way; write the root mean square errors as a table and a figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judgments", type=Path)
    parser.add_argument("-o", "--out", action="append", type=Path, default=[])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    options = parser.parse_args()
    data = dcglearn.read_preferences(options.judgments)
    data = data[(data.lists[:, 0] != data.lists[:, 1]).any(axis=1)]
    all_say = dcglearn.learn_dcg(data).dcg.gains[1]
    counts = [count for count in COUNTS if count <= len(data) // 2]
    errors = {}
    for name, asked in WAYS.items():
        gains = partial(gains_after, data, asked, counts)
        seeds = range(options.repetitions)
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(gains)(seed) for seed in seeds)
        errors[name] = np.sqrt(np.mean((np.array(found) - all_say) ** 2, axis=0))
    label = data.scale.labels[1]
    table = Table(
        ("answers", *errors),
        [(count, *(float(one[k]) for one in errors.values())) for k, count in enumerate(counts)],
        f"Root mean square error of the gain of grade {label}, which all {len(data):,} judgments "
        f"put at {all_say:.3f}; {options.repetitions} repetitions",
        3,
    )
    print(table.text())
    for path in options.out:
        if path.suffix in (".svg", ".png", ".pdf"):
            draw(errors, counts, label, path)
        else:
            table.write(path)


def gains_after(
    data: dcglearn.Preferences, asked: int | None, counts: list[int], seed: int
) -> list[float]:
    """Return the gain after so many answers: at random, or chosen for everything or the gain."""
    rng = np.random.default_rng(seed)
    left, gains = rng.permutation(len(data)), []
    if asked is None:
        return [dcglearn.learn_dcg(data[left[:count]]).dcg.gains[1] for count in counts]
    K, L = data.n_ranks, data.n_grades
    wanted = Asked(np.eye(L)[1 : 1 + asked], np.zeros((asked, K)))
    answered = left[:0]
    while len(answered) < counts[-1]:
        so_far = data[answered] if len(answered) else None
        posterior, ties = known_so_far(so_far, data.scale, data.lists[left], "usual", 1.0)
        with one_blas_thread():
            chosen = left[Design(posterior, data.lists[left], wanted, rng, ties).choose(ROUND)]
        answered, left = np.append(answered, chosen), np.setdiff1d(left, chosen)
        if len(answered) in counts:
            gains.append(dcglearn.learn_dcg(data[answered]).dcg.gains[1])
    return gains


def draw(
    errors: dict[str, np.ndarray], counts: list[int], label: dcglearn.Label, path: Path
) -> None:
    """Draw the errors over the number of answers."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from dcglearn.figures.style import COLOURS, STYLE, save

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.2, 3.6), layout="constrained")
        axes = figure.subplots()
        for colour, (name, values) in zip(COLOURS, errors.items(), strict=False):
            axes.plot(counts, values, color=colour, marker="o", ms=3, label=name)
        axes.set(
            xlabel="answers (ties count)",
            ylabel=f"error of the gain of grade {label}",
            title="Fewer answers, chosen and at random",
            xscale="log",
        )
        axes.set_ylim(bottom=0.0)
        axes.set_xticks(counts, [f"{count:,}" for count in counts])
        axes.minorticks_off()
        axes.legend()
    save(figure, path)


if __name__ == "__main__":
    main()
