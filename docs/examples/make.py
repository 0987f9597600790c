"""Make the example files of this folder again: ``python3 docs/examples/make.py``.

``judgments.jsonl`` holds 1,500 judgments of a simulated judge with noise, whose truth is a DCG
with linear gains and the discount 1/log2(i + 1). ``qrels.txt`` and the runs hold
40 queries of 12 documents with grades 2, 1, 0: ``old`` finds the best documents more often,
``new`` avoids the worst ones, and ``plain`` does neither well.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dcglearn.__main__ import main

N_QUERIES, N_DOCUMENTS = 40, 12
SHARES = (0.15, 0.35, 0.5)
"""Of grades 2, 1 and 0."""

WORTH = {"old": (1.0, 0.3, 0.0), "new": (0.75, 0.7, 0.0), "plain": (0.4, 0.2, 0.0)}
"""What each system believes a document of grade 2, 1 and 0 to be worth, before noise."""


def write_runs(folder: Path, rng: np.random.Generator) -> None:
    """Write the qrels and the runs.

    Parameters
    ----------
    folder : Path
    rng : numpy.random.Generator
    """
    grades = rng.choice(3, (N_QUERIES, N_DOCUMENTS), p=SHARES)  # 0 is the best grade, value 2
    names = [[f"d{q:02d}{d:02d}" for d in range(N_DOCUMENTS)] for q in range(N_QUERIES)]
    lines = [f"q{q} 0 {names[q][d]} {2 - grades[q, d]}" for q, d in np.ndindex(grades.shape)]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    for system, worth in WORTH.items():
        scores = np.take(worth, grades) + rng.normal(0, 0.35, grades.shape)
        lines = [
            f"q{q} Q0 {names[q][d]} {rank} {scores[q, d]:.4f} {system}"
            for q in range(N_QUERIES)
            for rank, d in enumerate(np.argsort(-scores[q]), 1)
        ]
        (folder / f"{system}.run").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    write_runs(folder, np.random.default_rng(3))
    sys.argv[1:] = ["simulate", str(folder / "judgments.jsonl"), "-n", "1500", "--seed", "7"]
    main()
