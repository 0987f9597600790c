"""Provenance of results: what made them, and the SHA-256 of every file that is kept.

``provenance.json`` lies beside the files, so that a file that was changed is noticed and never
taken for what was computed.
"""

import hashlib
import json
import platform
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any, TypeAlias

from packaging.requirements import Requirement

from dcglearn.base.errors import InputError
from dcglearn.base.files import write_text

Made: TypeAlias = dict[str, Any]
"""What made results, JSON-able."""

PROVENANCE = "provenance.json"


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def hashes_of(paths: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of files, by name."""
    return {path.name: sha256_of(path.read_bytes()) for path in paths}


def write_provenance(made: Made, path: Path) -> None:
    """Write a provenance."""
    write_text(path, json.dumps(made, indent=2) + "\n")


def read_provenance(folder: Path) -> Made:
    """Read the provenance of the results in a folder; empty if it holds none."""
    path = folder / PROVENANCE
    try:
        return dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, OSError) as error:
        raise InputError(
            "cannot be read", "use `replace` to write the folder anew", str(path)
        ) from error


def changed_files(folder: Path, made: Made) -> list[str]:
    """Return the names of files that are missing or not what their provenance describes."""
    there = hashes_of([path for path in folder.iterdir() if path.is_file()])
    return [name for name, digest in made["files"].items() if there.get(name) != digest]


@cache
def made_with() -> Made:
    """Return the versions of Python, this package and its dependencies, and the git revision."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", "dcglearn", "scripts", "experiments", "configs")
    requirements = map(Requirement, requires("dcglearn") or [])
    names = sorted(r.name for r in requirements if r.marker is None or r.marker.evaluate())
    return {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("dcglearn", *names)},
        "revision": f"{commit}, changed" if commit and changed else commit or None,
    }


def _git(*command: str) -> str:
    root = Path(__file__).resolve().parents[2]
    program = ["git", f"--git-dir={root / '.git'}"]  # not that of a project it is installed in
    try:
        done = subprocess.run([*program, *command], cwd=root, capture_output=True, check=False)
    except OSError:  # there is no git
        return ""
    return done.stdout.decode().strip()
