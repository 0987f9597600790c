"""Tests with other versions: ``pipx run --spec nox[uv] nox -s lowest`` (``pinned``, ``newest``).

The lower bounds in ``pyproject.toml`` are true as long as the tests pass with the lowest versions
that they allow. ``--force-python 3.13`` takes another Python; ``nox -s
reference`` builds the reference of the public names.
"""

import nox

nox.options.default_venv_backend = "uv"  # it can choose the lowest versions
nox.options.sessions = ["lowest"]

VERSIONS = {
    "lowest": ("--resolution", "lowest-direct"),
    "pinned": ("--constraint", "constraints.txt"),
    "newest": ("--upgrade",),
}


def run_tests(session: nox.Session) -> None:
    """Install with the versions that the session is named after; further arguments go to pytest."""
    session.install(*VERSIONS[session.name], "--editable", ".[dev]")
    session.run("pytest", "--numprocesses=2", "--dist=worksteal", *session.posargs)


for name in VERSIONS:
    nox.session(run_tests, name=name)


@nox.session
def reference(session: nox.Session) -> None:
    """Build ``build/reference`` from the docstrings; a warning is an error."""
    session.install(*VERSIONS["pinned"], ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "docs/reference", "build/reference")
