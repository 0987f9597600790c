"""Make ``cells.json``: results of a few cells. Run it after raising ``CELL_VERSION``."""

from __future__ import annotations

import json
from pathlib import Path

from dcglearn.lab.cells import CELL_VERSION
from dcglearn.lab.compute import compute_cell

CELLS = [
    {},
    {"truth": "data-2", "flips": 20, "C": "validation"},
    {"lists": "drawn", "reliability": 0.85, "pairs": 60, "C": "cv", "C_grid": [0.01, 0.1, 1.0]},
    {"wrong_grades": 100, "margin": "hamming", "learner": "qp-dcg"},
    {"lists": "drawn", "reliability": 0.8, "bias": 0.3, "pairs": 60, "against": ["zipf"]},
    {"learner": "usual", "lists": "drawn", "pairs": 60},
    {"truth": "free", "lists": "drawn", "ranks": 4, "grades": 3, "base": [3, 2, 1]},
    {"lists": "sorted-against-shuffled", "test_lists": "permutations", "pairs": 40},
    {"lists": "sorted-against-another", "pairs": 40},
    {"lists": "documents", "base": [5, 4, 3, 2, 1], "pairs": 40},
    {"lists": "queries", "queries": [[1, 2, 3, 0, 1], [0, 1, 2, 3, 4]], "ranks": 5, "pairs": 40},
    {
        "learner": "judgment-model",
        "lists": "drawn",
        "base": [3, 2, 1],
        "grades": 3,
        "pairs": 400,
        "lapses": 0.05,
        "clusters": 40,
        "unseen": 1.0,
        "hypotheses": ["linear-free in free-free", "free-free in positions"],
    },
]

COLUMNS = [
    "discounts",
    "discounts_correlation",
    "gains",
    "gains_correlation",
    "kendall_tau",
    "regret",
]

if __name__ == "__main__":
    made = []
    for changed in CELLS:
        cell = {"seed": 7, "repetition": 1, "test_pairs": 500, **changed}
        if changed.get("learner") != "judgment-model":
            cell["columns"] = COLUMNS
        made.append({"cell": cell, "result": compute_cell(cell)})
    text = json.dumps({"version": CELL_VERSION, "cells": made}, indent=1)
    Path(__file__).with_name("cells.json").write_text(text + "\n", encoding="utf-8")
