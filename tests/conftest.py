"""What several test files share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from dcglearn.data.preferences import Preferences
from dcglearn.data.tables import read_preferences

# The same examples on every run, and no limit of time on machines that others use too.
settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DCGLEARN_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def side_by_side() -> Path:
    """The folder of real judgments, which this repository does not hold."""
    folder = DATA / "side-by-side"
    if not (folder / "ecir2015.jsonl").is_file():
        pytest.skip(f"real judgments are not at {folder}; the README tells where they come from")
    return folder


@pytest.fixture(scope="session")
def ecir(side_by_side: Path) -> Preferences:
    return read_preferences(side_by_side / "ecir2015.jsonl")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in an empty folder, as a shell would."""

    def command(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dcglearn", *map(str, arguments)],
            cwd=options.pop("cwd", tmp_path),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        )

    return command
