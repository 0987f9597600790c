"""Chosen answers against answers at random, looked up in judgments that are there.

    python scripts/retrospective.py judgments.jsonl -o chosen.md -o chosen.png

In rounds of 25, the pairs whose answers say most about the second grade's gain (or about
everything) are taken from the judgments of different lists, and their answers are looked up; ties
count as spent. The gain is learned from them, and compared with what all judgments say, 50 times.

After 100 answers at random a plan foretells half widths after more chosen ones; each is compared
with that of the interval that comes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import joblib
import numpy as np

import dcglearn
from dcglearn.asking.information import Design
from dcglearn.asking.plan import known_so_far
from dcglearn.base.files import write_text
from dcglearn.base.threads import one_blas_thread
from dcglearn.judgments.preferences import concatenated
from dcglearn.lab.experiment_figures import draw_figure
from dcglearn.lab.plots import Figure, Plot, series_of
from dcglearn.lab.repetitions import mean_interval
from dcglearn.report.figures.style import save
from dcglearn.report.tables import Table

ROUND, COUNTS = 25, (50, 100, 200, 400)
BEGIN, MORE = 100, (100, 200, 400)
WAYS = {"at random": None, "chosen for everything": 0, "chosen for the gain": 1}


def main() -> None:
    """Repeat every way; write the root mean square errors as a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judgments", type=Path)
    parser.add_argument("-o", "--out", action="append", type=Path, default=[])
    parser.add_argument("--repetitions", type=int, default=50)
    options = parser.parse_args()
    data = dcglearn.read_preferences(options.judgments)
    data = data[(data.lists[:, 0] != data.lists[:, 1]).any(axis=1)]
    all_say, label = dcglearn.learn_dcg(data).dcg.gains[1], data.scale.labels[1]
    counts = [count for count in COUNTS if count <= len(data) // 2]
    more = [count for count in MORE if BEGIN + count <= len(data) // 2]
    errors = {}
    for name, asked in WAYS.items():
        gains = repeated(partial(gains_after, data, asked, counts), options.repetitions)
        errors[name] = np.sqrt(np.mean((gains - all_say) ** 2, axis=0))
    pairs = repeated(partial(widths_after, data, more), options.repetitions)
    widths = dict(zip(("foretold", "that came"), np.nanmedian(pairs, axis=0), strict=True))
    shares = np.nanpercentile(pairs[:, 1] / pairs[:, 0], [25, 50, 75], axis=0)
    table = Table(
        ("answers", *errors),
        [*zip(counts, *(one.tolist() for one in errors.values()), strict=True)],
        f"Root mean square error of the gain of grade {label}, which all {len(data):,} judgments "
        f"put at {all_say:.3f}; {options.repetitions} repetitions",
        3,
    )
    after = [BEGIN + count for count in more]
    promised = Table(
        ("answers", "half width foretold", "that came", "a quarter", "half", "three quarters"),
        [*zip(after, *(one.tolist() for one in (*widths.values(), *shares)), strict=True)],
        f"What a plan promises after {BEGIN} answers at random: medians; and below which share of "
        "what was foretold a quarter, half and three quarters of the widths come",
        3,
    )
    print(table.text(), "", promised.text(), sep="\n")
    of_errors = _plot(errors, counts, f"error of the gain of grade {label}", "")
    of_widths = _plot(widths, after, "half width of its 95% interval", "what is promised")
    title = "Chosen answers and answers at random"
    for path in options.out:
        if path.suffix == ".md":
            write_text(path, f"{table.markdown()}\n\n{promised.markdown()}\n")
        else:
            save(draw_figure(Figure("R1", title, of_errors, (), "", (of_widths,))), path)


def repeated(work: Callable[[int], object], repetitions: int) -> np.ndarray:
    """Return what work returns for each seed, in two processes."""
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(work)(seed) for seed in range(repetitions))
    return np.array(found)


def _plot(values: dict[str, np.ndarray], counts: list[int], words: str, title: str) -> Plot:
    series = (
        series_of(name, dict(zip(counts, (mean_interval([one]) for one in found), strict=True)))
        for name, found in values.items()
    )
    return Plot("answers, ties among them", words, tuple(series), log_x=True, title=title)


def widths_after(data: dcglearn.Preferences, more: list[int], seed: int) -> list[list[float]]:
    """Return half widths of the second gain that a plan foretells, and those that come."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data))
    begun, left = data[order[:BEGIN]], data[order[BEGIN:]]
    gain = f"gain {data.scale.labels[1]}"
    pool = dcglearn.Candidates(left.lists, data.scale, np.full(len(left), ""))
    plan = dcglearn.plan(pool, more[-1], rng, ask=gain, judged=begun, most_per_query=0, counts=more)
    came = []
    for count in more:
        answers = concatenated([begun, left[np.array(plan.chosen[:count])]])
        one = dcglearn.JudgmentModel().fit(answers).gains()[1]
        came.append((one.high - one.low) / 2 if one.determined else float("nan"))
    return [plan.after[:, plan.numbers.index(gain)].tolist(), came]


def gains_after(
    data: dcglearn.Preferences, asked: int | None, counts: list[int], seed: int
) -> list[float]:
    """Return the gain after so many answers: at random, or chosen for everything or the gain."""
    rng = np.random.default_rng(seed)
    left, gains = rng.permutation(len(data)), []
    if asked is None:
        return [dcglearn.learn_dcg(data[left[:count]]).dcg.gains[1] for count in counts]
    wanted = np.eye(data.n_grades + data.n_ranks)[1 : 1 + asked]
    answered = left[:0]
    while len(answered) < counts[-1]:
        so_far = data[answered] if len(answered) else None
        posterior, ties = known_so_far(so_far, data.scale, data.lists[left], "usual", 1.0)
        with one_blas_thread():
            design = Design(posterior, data.lists[left], wanted, rng, ties)
            chosen = left[design.choose(ROUND, exchanged=ROUND)]
        answered, left = np.append(answered, chosen), np.setdiff1d(left, chosen)
        if len(answered) in counts:
            gains.append(dcglearn.learn_dcg(data[answered]).dcg.gains[1])
    return gains


if __name__ == "__main__":
    main()
