"""Fixtures shared by the test files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from dcglearn import Preferences, read_preferences
from dcglearn.base import workers
from helpers.commands import Run, run_command
from helpers.places import PUBLISHED, ROOT, published_judgments
from helpers.processes import SUITE_SECONDS, Cluster, Processes

# The same examples on every run, and no time limit, because machines may be busy.
FUZZ = int(os.environ.get("DCGLEARN_FUZZ", "1"))
"""Multiplies the examples of the tests that set no number of their own."""

settings.register_profile(
    "steady", max_examples=100 * FUZZ, derandomize=True, deadline=None, print_blob=True
)
settings.load_profile("steady")

# Started in the background, Python ignores Ctrl-C, and so would the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def published() -> Path:
    found = published_judgments()
    if found is None:
        pytest.skip(f"{PUBLISHED} is not here; the documentation says where to get it")
    return found


@pytest.fixture(scope="session")
def prepared(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real judgments, with the grades that the script recovers."""
    out = tmp_path_factory.mktemp("ecir") / "ecir2015.jsonl"
    script = ROOT / "scripts" / "prepare_ecir2015.py"
    subprocess.run(
        [sys.executable, script, published, "-o", out], check=True, timeout=120, capture_output=True
    )
    return out


@pytest.fixture(scope="session")
def ecir(prepared: Path) -> Preferences:
    return read_preferences(prepared)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command line in an empty folder, as a shell would."""

    def command(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return run_command([str(argument) for argument in arguments], cwd or tmp_path)

    return command


@pytest.fixture
def processes() -> Iterator[Processes]:
    started = Processes()
    try:
        yield started
    finally:
        started.close()


@pytest.fixture(scope="session")
def _scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    started = Processes(SUITE_SECONDS)
    try:
        yield Cluster(tmp_path_factory.mktemp("cluster"), started)
    finally:
        started.close()


@pytest.fixture
def cluster(_scheduler: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A cluster without workers; they run in a folder of their own."""
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 600)
    monkeypatch.setattr(workers, "LOST_SECONDS", 600)
    yield _scheduler
    _scheduler.clear()


@pytest.fixture(scope="session")
def ranx() -> Any:
    """Load ranx uncompiled: compiling takes longer than the tests that use it."""
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    with warnings.catch_warnings():
        for category in (DeprecationWarning, SyntaxWarning):
            warnings.filterwarnings("ignore", "invalid escape", category)  # of its own source
        import ranx

    return ranx


SLOW = ("test_readme", "test_reference", "test_scripts", "test_workers")
"""Files of slow tests, which start first so that parallel workers end together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow tests first."""
    items.sort(key=lambda item: item.path.stem not in SLOW)
