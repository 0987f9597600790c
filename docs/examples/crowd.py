"""Answer a file of questions as three simulated people would, who follow 1, .4, 0 and 1/rank.

python crowd.py questions.jsonl answers.jsonl
"""

import json
import sys
from pathlib import Path

import numpy as np

GAINS = {2: 1.0, 1: 0.4, 0: 0.0}


def worth(grades):
    """Return the DCG of a list."""
    return sum(GAINS[grade] / rank for rank, grade in enumerate(grades, 1))


questions, answers = map(Path, sys.argv[1:])
rng = np.random.default_rng(7)
with answers.open("w", encoding="utf-8") as said:
    for number, line in enumerate(questions.read_text("utf-8").splitlines()):
        question = json.loads(line)
        difference = worth(question["a"]) - worth(question["b"])
        answer = "a" if difference + rng.logistic(scale=0.2) > 0 else "b"
        judge = ("ann", "bob", "cid")[number % 3]
        said.write(json.dumps({**question, "answer": answer, "judge": judge}) + "\n")
