"""Provenance: the versions of what a result was made with."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from dcglearn.lab import provenance


def test_code_outside_a_repository_has_no_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "dcglearn" / "lab" / "x.py"))
    made = provenance.made_with.__wrapped__()
    assert made["revision"] is None


def test_files_of_results_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_bytes(b"{}\n")
    (tmp_path / "fit.txt").write_bytes(b"fit")
    found = provenance.provenance(tmp_path / "j.jsonl", [tmp_path / "fit.txt"])
    assert found["data"] == {"file": "j.jsonl", "sha256": hashlib.sha256(b"{}\n").hexdigest()}
    assert found["files"] == {"fit.txt": hashlib.sha256(b"fit").hexdigest()}
    assert provenance.changed_files(tmp_path, found) == []
    (tmp_path / "fit.txt").write_bytes(b"fat")
    assert provenance.changed_files(tmp_path, found) == ["fit.txt"]
    assert provenance.changed_files(tmp_path, {"files": {}}) == []
    elsewhere = {"files": {str(tmp_path / "fit.txt"): hashlib.sha256(b"fat").hexdigest()}}
    assert provenance.changed_files(tmp_path, elsewhere) == list(elsewhere["files"])
