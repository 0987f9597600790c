"""Provenance of a result: versions, the hash of the data, the revision of the code."""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import subprocess
from functools import cache
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from dcglearn.base.files import write_text


def provenance(data: Path) -> dict[str, Any]:
    """Return what distinguishes two results: the data and the software.

    Parameters
    ----------
    data : Path
        The file of judgments.

    Returns
    -------
    dict
        The name and SHA-256 of the file, and what :func:`made_with` returns. There is no
        date, so the same inputs give the same bytes.
    """
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    return {"data": {"file": data.name, "sha256": digest}, **made_with()}


@cache
def made_with() -> dict[str, Any]:
    """Return the versions of Python, this package and its dependencies, and the git revision.

    Returns
    -------
    dict
        ``python``, ``versions`` by package, and ``revision``: the short commit, followed by
        "changed" if the code has uncommitted changes, or None outside a repository.
    """
    requirements = map(Requirement, requires("dcglearn") or [])
    names = sorted(r.name for r in requirements if r.marker is None or r.marker.evaluate())
    return {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("dcglearn", *names)},
        "revision": _revision(),
    }


def _revision() -> str | None:
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():  # installed, perhaps inside the repository of a project
        return None
    commit, changed = (
        _git(root, *command)
        for command in (
            ("rev-parse", "--short", "HEAD"),
            ("status", "--porcelain", "--", "dcglearn", "scripts", "experiments", "configs"),
        )
    )
    return f"{commit}, changed" if commit and changed else commit


def _git(root: Path, *command: str) -> str | None:
    try:
        run = subprocess.run(
            ["git", *command], cwd=root, capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip() or None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    options = parser.parse_args()
    write_text(options.out, json.dumps(provenance(options.data), indent=2) + "\n")
