"""The program that computes results: the versions of packages, and a hash of this one's code.

Results of two processes are the same only where their fingerprints are. So every cell travels to
its worker with the fingerprint of the process that asks, and every stored result holds it.
"""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

COMPARED_PACKAGES = ("numpy", "scipy", "scikit-learn", "pydantic")


@cache
def fingerprint() -> dict[str, str]:
    """Return the versions of Python and packages, and a hash of this package's code.

    The files are read once per process, so that code edited later is not taken for the code
    that runs.
    """
    versions = {"Python": platform.python_version()}
    for name in COMPARED_PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "(missing)"
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for file in sorted(p for p in package.rglob("*.py") if "shipped" not in p.parts):
        digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    versions["dcglearn's code"] = digest.hexdigest()[:12]
    return versions


def program_for(function: object) -> dict[str, str]:
    """Return the fingerprint, and what the method ``program`` of the function says besides."""
    more = getattr(function, "program", None)
    return fingerprint() if more is None else {**fingerprint(), **more()}


def difference_from_here(there: object, function: object = None) -> str | None:
    """Say how the program that another process returned differs from this one's; None if not."""
    here = program_for(function)
    if there == here:
        return None
    if not isinstance(there, dict):
        return "does not say what it runs"
    for what, version_here in here.items():
        if there.get(what) != version_here:
            return f"has {what} {there.get(what)}, this process {version_here}"
    return "runs another version of dcglearn"
