"""Chosen answers against answers at random, looked up in judgments that are there.

    python scripts/retrospective.py judgments.jsonl -o chosen.md

In rounds of 25, the pairs whose answers say most about the second grade's gain (or about
everything) are taken from the judgments of different lists, and their answers are looked up; ties
count as spent. The gain is learned from them, and compared with what all judgments say. Each way
begins anew with other random numbers 50 times.

After 100 answers at random a plan foretells half widths after more chosen ones; they are compared
with those of the intervals that come.
"""

from __future__ import annotations

import argparse
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
from dcglearn.report.tables import Table

ROUND, COUNTS = 25, (50, 100, 200, 400)
BEGIN, MORE = 100, (100, 200, 400)
WAYS = {"at random": None, "chosen for everything": 0, "chosen for the gain": 1}


def main() -> None:
    """Repeat every way; write the root mean square errors as a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judgments", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=50)
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
    more = [count for count in MORE if BEGIN + count <= len(data) // 2]
    widths = partial(widths_after, data, more)
    pairs = joblib.Parallel(n_jobs=2)(joblib.delayed(widths)(seed) for seed in seeds)
    foretold, came = np.nanmedian(np.array(pairs), axis=0)
    promised = Table(
        ("answers", "half width foretold", "half width that came", "came / foretold"),
        [
            (BEGIN + count, float(a), float(b), float(b / a))
            for count, a, b in zip(more, foretold, came, strict=True)
        ],
        f"What a plan promises after {BEGIN} answers at random; medians",
        3,
    )
    print(table.text(), "", promised.text(), sep="\n")
    write_text(options.out, f"{table.markdown()}\n\n{promised.markdown()}\n")


def widths_after(data: dcglearn.Preferences, more: list[int], seed: int) -> list[list[float]]:
    """Return half widths of the second gain that a plan foretells, and those that come."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data))
    begun, left = data[order[:BEGIN]], data[order[BEGIN:]]
    name = f"gain {data.scale.labels[1]}"
    pool = dcglearn.Candidates(left.lists, data.scale, np.full(len(left), ""))
    found = dcglearn.plan(
        pool, more[-1], rng, ask=name, judged=begun, most_per_query=0, counts=more
    )
    q = found.numbers.index(name)
    came = []
    for count in more:
        answers = concatenated([begun, left[np.array(found.chosen[:count])]])
        one = dcglearn.JudgmentModel().fit(answers).gains()[1]
        came.append((one.high - one.low) / 2 if one.determined else float("nan"))
    return [found.after[:, q].tolist(), came]


def gains_after(
    data: dcglearn.Preferences, asked: int | None, counts: list[int], seed: int
) -> list[float]:
    """Return the gain after so many answers: at random, or chosen for everything or the gain."""
    rng = np.random.default_rng(seed)
    left, gains = rng.permutation(len(data)), []
    if asked is None:
        return [dcglearn.learn_dcg(data[left[:count]]).dcg.gains[1] for count in counts]
    K, L = data.n_ranks, data.n_grades
    wanted = np.eye(L + K)[1 : 1 + asked]
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


if __name__ == "__main__":
    main()
