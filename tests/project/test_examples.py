"""The example files of docs/ are those that their script makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from helpers.places import ROOT

EXAMPLES = ROOT / "docs" / "examples"
FILES = ("judgments.jsonl", "qrels.txt", "old.run", "new.run", "plain.run")


def test_the_script_makes_the_example_files(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(EXAMPLES / "make.py"), str(tmp_path)], check=True, capture_output=True
    )
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes(), name
