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
    for path in (ROOT / "dcglearn").rglob("*/*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        assert path.name == "__init__.py" or f".. automodule:: {name}\n" in text, name
