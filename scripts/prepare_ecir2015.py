"""Turn the published ``ecir2015-crowd.csv`` into preferences.

The file (Urbano & Marrero, ECIR 2015; github julian-urbano/ecir2015-dcg; CC BY-SA 4.0)
contains crowd judgments of pairs of rankings of five documents. For each side it gives the
normalised DCG under 6 gains x 6 discounts, rounded to three digits, but no grades. The grades
follow from two columns: under the gains b1 = [grade >= 1] and b2 = [grade >= 2] and the
Zipfian discount 1/i, the score is a subset sum of 1, 1/2, ..., 1/5 over their sum, and the
sums of the 32 subsets differ even after rounding. All 36 columns of each side are then computed
from these grades; a row is refused if one of them differs from the published value by more than
rounding.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import sys
from pathlib import Path

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, read_text, write_text

RANKS = np.arange(1, 6)
DISCOUNTS = {
    "z": 1 / RANKS,
    "l2": np.log(2) / np.log(RANKS + 1),
    "l3": np.log(3) / np.log(RANKS + 2),
    "l5": np.log(5) / np.log(RANKS + 4),
    "l": (6 - RANKS) / 5,
    "n": np.ones(5),
}
GAINS = {  # for the grades 0, 1, 2
    "l": np.array([0.0, 1, 2]),
    "e2": np.array([0.0, 1, 3]),
    "e3": np.array([0.0, 2, 8]),
    "e5": np.array([0.0, 4, 24]),
    "b1": np.array([0.0, 1, 1]),
    "b2": np.array([0.0, 0, 1]),
}
ROUNDING = 0.0005 + 1e-9
ANSWERS = ("a", "b", "good", "bad")
REMEDY = "use the file as published"


def published_scores(grades: np.ndarray) -> np.ndarray:
    """Return the 36 published scores of rankings, unrounded, shape (..., 36)."""
    columns = [
        gain[grades] @ discount / (gain[2] * discount.sum())
        for gain in GAINS.values()
        for discount in DISCOUNTS.values()
    ]
    return np.stack(columns, axis=-1)


NAMES = [f"DCG{gain}{discount}" for gain in GAINS for discount in DISCOUNTS]
ALL_GRADES = np.array(list(itertools.product(range(3), repeat=5)))
ALL_SCORES = published_scores(ALL_GRADES)


def recover(row: dict[str, str], side: str) -> list[int]:
    """Return the five grades of side A or B, first rank first, from its published scores."""
    try:
        scores = np.array([float(row[f"{name}{side}"]) for name in NAMES])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"a score of side {side} is missing or not a number ({error})") from error
    fits = (np.abs(ALL_SCORES - scores) <= ROUNDING).all(axis=1)
    if fits.sum() != 1:
        raise InputError(f"{fits.sum()} rankings give the scores of side {side}, not one", REMEDY)
    return ALL_GRADES[fits][0].tolist()


def convert(path: Path) -> str:
    """Return the published file as JSON lines."""
    lines = []
    reader = csv.DictReader(read_text(path).splitlines())
    for row in reader:
        try:
            if row.get("answer") not in ANSWERS or not row.get("query"):
                found = f"answer {row.get('answer')!r}, query {row.get('query')!r}"
                raise InputError(found, REMEDY)
            a, b = recover(row, "A"), recover(row, "B")
        except InputError as error:
            raise error.at(f"{path}, line {reader.line_num}") from error
        lines.append(json.dumps({"query": row["query"], "a": a, "b": b, "answer": row["answer"]}))
    if not lines:
        raise InputError("there are no rows", REMEDY, str(path))
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("published", type=Path, help="ecir2015-crowd.csv")
    parser.add_argument("-o", "--out", type=Path, default=Path("ecir2015.jsonl"))
    options = parser.parse_args()
    try:
        check_writable(options.out)
        write_text(options.out, text := convert(options.published))
    except InputError as error:
        print(f"prepare_ecir2015: {error}", file=sys.stderr)
        return 2
    print(
        f"wrote {options.out}: {text.count(chr(10)):,} judgments; "
        "all 36 published scores of both sides are reproduced"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
