"""Solve the small problems of ``weights.json`` again, in rational arithmetic, to all digits.

Run it from the root of the repository:

    python tests/golden/make_weights.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("weights.json")
sys.path.insert(0, str(FILE.parents[1]))

from dcglearn import Problem  # noqa: E402 - after the place of the helpers is known
from helpers.exact_optimum import exact_optimum  # noqa: E402 - likewise


def solved(case: dict) -> list[list[float]]:
    """Return W."""
    pairs, L = np.array(case["pairs"]), case["n_grades"]
    problem = Problem.of(pairs, L, case["margin"], None, case["C"], case["monotone"])
    return np.array(exact_optimum(problem), float).reshape(problem.shape).tolist()


if __name__ == "__main__":
    cases = json.loads(FILE.read_text())
    made = [case | {"W": solved(case)} for case in cases]
    FILE.write_text(json.dumps(made, indent=1) + "\n")
