"""Provenance of results: what made them, and the SHA-256 of every file that is kept.

``provenance.json`` lies beside the files. Its last entry is the SHA-256 of the others, so that a
file that was changed, or its description, is noticed and never taken for what was computed. What
earlier versions of this package wrote has no such entries; it is read as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text, write_text

PROVENANCE = "provenance.json"
"""The name of the file, in a folder of results."""

WRITE_ANEW = "use `replace` to write the folder anew"
"""What to do about a provenance that cannot be used."""

_CHECKSUM = "sha256"


def provenance(data: Path, kept: Sequence[Path] = ()) -> dict[str, Any]:
    """Return what distinguishes two results: the data and the software.

    Parameters
    ----------
    data : Path
        The file of judgments.
    kept : sequence of Path, optional
        Files of results.

    Returns
    -------
    dict
        The name and SHA-256 of the file, those of the results, and what :func:`made_with`
        returns. The day of the run is not kept, so the same inputs give the same bytes.
    """
    digest = sha256_of(data.read_bytes())
    found: dict[str, Any] = {"data": {"file": data.name, "sha256": digest}}
    if kept:
        found["files"] = {path.name: sha256_of(path.read_bytes()) for path in kept}
    return found | made_with()


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def write_provenance(made: dict[str, Any], path: Path) -> None:
    """Write a provenance and its checksum.

    Parameters
    ----------
    made : dict
        JSON-able.
    path : Path

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    signed = {**made, _CHECKSUM: _checksum(made)}
    write_text(path, json.dumps(signed, indent=2) + "\n")


def read_provenance(folder: Path) -> dict[str, Any] | None:
    """Read the provenance of the results in a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict or None
        Without its checksum; None if the folder holds no results.

    Raises
    ------
    InputError
        If it cannot be read, or was changed after it was written.
    """
    path = folder / PROVENANCE
    if not path.exists():
        return None
    try:
        made: dict[str, Any] = json.loads(read_text(path))
        signed = made.pop(_CHECKSUM, None)
        whole = signed == _checksum(made) if signed or "files" in made else True
        names = made.get("files", {}).items()
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError("cannot be read", WRITE_ANEW, str(path)) from error
    if not whole or not all(isinstance(digest, str) for _, digest in names):
        raise InputError("was changed: its SHA-256 is another", WRITE_ANEW, str(path))
    return made


def changed_files(folder: Path, made: dict[str, Any]) -> list[str]:
    """Return the names of files that are missing or not what their provenance describes.

    Parameters
    ----------
    folder : Path
    made : dict
        From :func:`read_provenance`.

    Returns
    -------
    list of str
    """
    return [
        name for name, digest in made.get("files", {}).items() if _digest(folder, name) != digest
    ]


def damage_in(folder: Path) -> list[InputError]:
    """Find what is damaged in the folders of results inside a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of InputError
        One for each file that is missing or was changed after it was written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder, "flips")
    ...     place.mkdir()
    ...     write_provenance({"files": {"table.csv": "0"}}, place / PROVENANCE)
    ...     [error.problem for error in damage_in(Path(folder))]
    ['is missing']
    """
    found = []
    for path in sorted(folder.glob(f"*/{PROVENANCE}")):
        try:
            made = read_provenance(path.parent) or {}
        except InputError as error:
            found.append(error)
            continue
        for file in (path.parent / name for name in changed_files(path.parent, made)):
            problem = "was changed after it was written" if file.exists() else "is missing"
            found.append(InputError(problem, "make it again, as it was made", str(file)))
    return found


def _checksum(made: dict[str, Any]) -> str:
    return sha256_of(json.dumps(made, indent=2).encode())


def _digest(folder: Path, name: str) -> str | None:
    path = folder / name
    try:
        return sha256_of(path.read_bytes()) if path.name == name and path.is_file() else None
    except OSError:
        return None


@cache
def made_with() -> dict[str, Any]:
    """Return the versions of Python, this package and its dependencies, and the git revision.

    Returns
    -------
    dict
        ``python``, ``versions`` by package, and ``revision``: the short commit, followed by
        "changed" if the code has uncommitted changes, or None outside a repository; ``date``
        is the day of that commit. The day of the run is not kept: the same inputs give the same
        bytes.
    """
    requirements = map(Requirement, requires("dcglearn") or [])
    names = sorted(r.name for r in requirements if r.marker is None or r.marker.evaluate())
    return {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("dcglearn", *names)},
        "revision": _revision(),
        "date": _git("show", "-s", "--format=%cs", "HEAD"),
    }


def _revision() -> str | None:
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", "dcglearn", "scripts", "experiments", "configs")
    return f"{commit}, changed" if commit and changed else commit


def _git(*command: str) -> str | None:
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():  # installed, perhaps inside the repository of a project
        return None
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
    parser.add_argument("kept", type=Path, nargs="*")
    parser.add_argument("-o", "--out", type=Path, required=True)
    options = parser.parse_args()
    write_provenance(provenance(options.data, options.kept), options.out)
