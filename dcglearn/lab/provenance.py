"""Where a result comes from: versions, the data's hash, the revision of the code."""

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

from dcglearn.base.files import write_text


def provenance(data: Path) -> dict[str, Any]:
    """Return what is needed to tell two results apart.

    Parameters
    ----------
    data : path
        The file of judgments.

    Returns
    -------
    dict
        The data's name and SHA-256, versions of Python, this package and what it
        builds on, and the git revision where there is one. No date: the same inputs
        give the same bytes.
    """
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    return {"data": {"file": data.name, "sha256": digest}, **made_with()}


@cache
def made_with() -> dict[str, Any]:
    """Return versions of Python, this package and what it builds on, and the git revision.

    Returns
    -------
    dict
    """
    needed = [text for text in requires("dcglearn") or [] if "extra ==" not in text]
    names = sorted(text.split(">")[0].split("=")[0].strip() for text in needed)
    return {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("dcglearn", *names)},
        "revision": _revision(),
    }


def _revision() -> str | None:
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():  # installed somewhere, perhaps inside another project
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
