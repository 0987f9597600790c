"""The reference builds from the docstrings without a warning, and holds every public name."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import pytest

import dcglearn
from helpers.places import ROOT


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import reference

    return reference


def test_the_reference_holds_every_public_name(reference, tmp_path: Path) -> None:
    assert reference.build(Path(sys.executable), tmp_path) == 0
    inventory = (tmp_path / "objects.inv").read_bytes().split(b"zlib.\n", 1)[1]
    names = {line.split(" ")[0] for line in zlib.decompress(inventory).decode().splitlines()}
    assert {f"dcglearn.{name}" for name in dcglearn.__all__} <= names
    assert "dcglearn.solver.newton.newton" in names
