"""Make ``learned.json``: a measure learned from ``learned_from.jsonl``, with intervals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

if __name__ == "__main__":
    command = [sys.executable, "-m", "dcglearn", "fit", "learned_from.jsonl"]
    options = ["--intervals", "20", "-o", "learned.json"]
    subprocess.run([*command, *options], check=True, cwd=FOLDER)
