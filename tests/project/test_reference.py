"""The reference builds from the docstrings without a warning, and holds every public name."""

from __future__ import annotations

import re
import sys
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
    assert reference.build(Path(sys.executable), tmp_path, "dummy") == 0
    text = "\n".join(reference.pages().values())
    for name in dcglearn.__all__:
        assert name.startswith("__") or re.search(rf"\b{name}\b", text), name
    assert ".. automodule:: dcglearn.lab.plots\n" in text  # which experiments import
