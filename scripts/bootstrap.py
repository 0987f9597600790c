"""Set up a fresh machine: a virtual environment with this project in it.

Standard library only. Idempotent: what is installed is remembered by a stamp, so the
second run is quick, and a change of what is asked for installs again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")


def prepare(extra: str = "") -> Path:
    """Make ``.venv`` and install the project into it, with an extra or none.

    Parameters
    ----------
    extra : str
        An optional-dependency group of ``pyproject.toml``.

    Returns
    -------
    Path
        The environment's Python.
    """
    if sys.version_info < (3, 11):  # noqa: UP036 - this script meets any Python
        sys.exit(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")
    wanted = _fingerprint()
    stamp = VENV / f".installed-{extra or 'base'}"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return PYTHON
    if not PYTHON.exists():
        print(f"making {VENV.name}", flush=True)
        venv.create(VENV, with_pip=True, clear=True)
    print("installing dcglearn and what it needs (a minute or two the first time)", flush=True)
    _install(f"{ROOT}[{extra}]" if extra else str(ROOT))
    stamp.write_text(wanted)
    return PYTHON


def _install(target: str) -> None:
    rest = [
        "install",
        "--quiet",
        "--constraint",
        str(ROOT / "constraints.txt"),
        "--editable",
        target,
    ]
    uv = shutil.which("uv")
    if (
        uv
        and not subprocess.run([uv, "pip", *rest, "--python", str(PYTHON)], check=False).returncode
    ):
        return
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    if subprocess.run([*pip, *rest], check=False).returncode:
        sys.exit("installing failed; what pip says above tells why")


def _fingerprint() -> str:
    parts = [sys.version, str(ROOT)]
    parts += [(ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
