"""The program that computes results: the versions of packages, and a hash of this one's code.

Results of two processes are the same only where their fingerprints are. So a worker returns its
own with its results, and every stored result holds one.
"""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

COMPARED_PACKAGES = ("numpy", "scipy", "scikit-learn", "pydantic")


@cache
def fingerprint() -> dict[str, str]:
    """Return versions and the hash, read once per process: code edited later does not run here."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        if "shipped" in file.parts:  # a wheel's experiments; a checkout has them elsewhere
            continue
        digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return {
        "Python": platform.python_version(),
        **{name: version(name) for name in COMPARED_PACKAGES},
        "dcglearn's code": digest.hexdigest()[:12],
    }


def difference_from_here(there: object) -> str | None:
    """Say how the program of another process, or why it has none, differs from this one's."""
    if not isinstance(there, dict):
        return " ".join(f"cannot run dcglearn ({type(there).__name__}: {there})".split())
    for what, here in fingerprint().items():
        if there.get(what) != here:
            return f"has {what} {there.get(what)}, this process {here}"
    return None
