"""Provenance: the versions of what a result was made with."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from dcglearn import InputError
from dcglearn.lab import provenance


def test_versions_are_those_of_the_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "scipy >=1.16",
        "numpy<3,>=2.0",
        "joblib[extra]~=1.5; python_version >= '3.8'",
        "pywin32; sys_platform == 'no such platform'",
        "distributed>=2024.12; extra == 'dask'",
    ]
    monkeypatch.setattr(provenance, "requires", lambda name: texts)
    monkeypatch.setattr(provenance, "version", lambda name: f"version of {name}")
    made = provenance.made_with.__wrapped__()
    assert list(made["versions"]) == ["dcglearn", "joblib", "numpy", "scipy"]
    assert made["versions"]["numpy"] == "version of numpy"


def test_the_data_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_bytes(b"{}\n")
    found = provenance.provenance(tmp_path / "j.jsonl")
    assert found["data"] == {"file": "j.jsonl", "sha256": hashlib.sha256(b"{}\n").hexdigest()}


def test_code_outside_a_repository_has_no_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "dcglearn" / "lab" / "x.py"))
    made = provenance.made_with.__wrapped__()
    assert (made["revision"], made["date"]) == (None, None)


def test_a_missing_git_gives_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    made = provenance.made_with.__wrapped__()
    assert (made["revision"], made["date"]) == (None, None)


MADE = {"cells": {"done": 8}, "files": {"a.csv": "0" * 64, "b.png": "1" * 64}, "versions": {}}


def test_no_flipped_bit_of_a_provenance_is_read(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every bit of one byte after another, and pairs of bits."""
    path = tmp_path / "provenance.json"
    provenance.write_provenance(MADE, path)
    assert provenance.read_provenance(tmp_path) == MADE
    whole = path.read_bytes()
    flips = [[8 * byte + byte % 8] for byte in range(len(whole))]
    flips += rng.integers(0, 8 * len(whole), (300, 2)).tolist()
    for bits in flips:
        content = bytearray(whole)
        for bit in bits:
            content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        try:
            found = provenance.read_provenance(tmp_path)
        except InputError:
            continue
        assert found == MADE  # white space


def test_files_of_results_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_bytes(b"{}\n")
    (tmp_path / "fit.txt").write_bytes(b"fit")
    found = provenance.provenance(tmp_path / "j.jsonl", [tmp_path / "fit.txt"])
    assert found["files"] == {"fit.txt": hashlib.sha256(b"fit").hexdigest()}
    assert provenance.changed_files(tmp_path, found) == []
    (tmp_path / "fit.txt").write_bytes(b"fat")
    assert provenance.changed_files(tmp_path, found) == ["fit.txt"]
    assert provenance.changed_files(tmp_path, {}) == []
    elsewhere = {"files": {str(tmp_path / "fit.txt"): hashlib.sha256(b"fat").hexdigest()}}
    assert provenance.changed_files(tmp_path, elsewhere) == list(elsewhere["files"])
