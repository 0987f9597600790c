"""Run the tests with other versions of Python and of the dependencies: ``scripts/versions.py``.

The lower bounds in ``pyproject.toml`` are true as long as the tests pass with the lowest versions
that they allow; what those require themselves is the newest. Each choice has its own environment
beside ``.venv``, made anew by each run. Packages are installed by uv, which can choose the lowest
versions; where it is missing, it is installed into that environment. Further arguments are passed
to pytest: ``python3 scripts/versions.py --python python3.12 --versions pinned -k certificate``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bootstrap import ROOT
from children import end_with_code, run_child

CHOICES = {
    "lowest": ["--resolution", "lowest-direct"],
    "pinned": ["--constraint", "constraints.txt"],
    "newest": ["--upgrade"],
}


def main() -> int:
    """Make the environment and run the tests in it; return the exit code of pytest."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument(
        "--versions",
        choices=CHOICES,
        default="lowest",
        help="lowest: those that pyproject.toml allows (default); pinned: constraints.txt; newest",
    )
    parser.add_argument("--python", default=sys.executable, help="the Python to use")
    options, for_pytest = parser.parse_known_args()
    python = make_environment(options.python, options.versions)
    tests = ["pytest", "--numprocesses=2", "--dist=worksteal", *for_pytest]
    return run_child([python, "-m", *tests], cwd=ROOT).returncode


def make_environment(interpreter: str, versions: str) -> Path:
    """Install the project with its extras into a new environment.

    Parameters
    ----------
    interpreter : str
        Name or path of a Python.
    versions : str
        A key of ``CHOICES``.

    Returns
    -------
    Path
        The Python of the environment.
    """
    ask = "import sys; print('{}.{}.{}'.format(*sys.version_info))"
    try:
        number = subprocess.check_output([interpreter, "-c", ask], text=True).strip()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{interpreter} cannot be run ({error}); give another --python")
    folder = ROOT / f".venv-{versions}-{number}"
    print(f"making {folder.name} (a minute or two)", flush=True)
    if run_child([interpreter, "-m", "venv", "--clear", folder]).returncode:
        sys.exit(f"{interpreter} could not make {folder}; see its messages above")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [*find_uv(python), "pip", "install", "--quiet", "--python", python]
    install += [*CHOICES[versions], "--editable", ".[dev]"]
    if run_child(install, cwd=ROOT).returncode:
        sys.exit(f"installation failed with Python {number}; see the messages of uv above")
    return python


def find_uv(python: Path) -> list[str]:
    """Return the command that runs uv; without one, install it into an environment.

    Parameters
    ----------
    python : Path
        The Python of the environment.

    Returns
    -------
    list of str
        First words of a command line.
    """
    found = shutil.which("uv")
    if found:
        return [found]
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "uv"]
    if run_child(pip).returncode:
        sys.exit("versions are chosen by uv, which is not here and could not be installed by pip")
    return [str(python), "-m", "uv"]


if __name__ == "__main__":
    end_with_code(main)
