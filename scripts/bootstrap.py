"""Set up a fresh machine: a virtual environment with this project installed.

Uses the standard library only. A stamp file records what was installed, so a second run does
nothing, and a change of the requirements installs again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from children import run_child

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

HAS_PIP = importlib.util.find_spec("pip") is not None
"""Whether this Python can install into ``.venv``: making another pip there first takes seconds."""


def prepare(extra: str = "") -> Path:
    """Make ``.venv`` and install the project with a group of extras; return its Python."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this script may be run by any Python
        sys.exit(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):  # every child would compile all libraries
        os.environ["PYTHONPYCACHEPREFIX"] = str(VENV / "compiled")
    wanted = _fingerprint()
    stamp = VENV / f".installed-{extra or 'base'}"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return PYTHON
    made = VENV / ".made"
    if not (PYTHON.exists() and (made.exists() or any(VENV.glob(".installed-*")))):
        print(f"making {VENV.name}", flush=True)
        venv.create(VENV, with_pip=not HAS_PIP, clear=True)
        made.touch()  # otherwise it was interrupted, and is made again
    print("installing dcglearn and its dependencies (it may take a minute or two)", flush=True)
    _install(f"{ROOT}[{extra}]" if extra else str(ROOT))
    stamp.write_text(wanted)
    return PYTHON


def _install(target: str) -> None:
    """Install by uv, which takes a fifth of pip's time; where it cannot be had, by pip."""
    install = ["install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    if HAS_PIP:
        pip[:3] = [sys.executable, "-m", "pip", "--python", str(PYTHON)]
    uv = shutil.which("uv") or str(PYTHON.with_name("uv"))
    if not Path(uv).exists():
        run_child([*pip, *install, "uv"], stderr=subprocess.DEVNULL)
    install += ["--editable", target, "pip"]
    few = os.environ | {"UV_HTTP_TIMEOUT": "10", "UV_HTTP_RETRIES": "1"}  # pip may know another way
    by_uv = [uv, "pip", *install, "--python", str(PYTHON)]
    if Path(uv).exists() and not run_child(by_uv, env=few, stderr=subprocess.DEVNULL).returncode:
        return
    if run_child([*pip, *install]).returncode:
        sys.exit("installation failed; see the messages of pip above")


def _fingerprint() -> str:
    parts = [sys.version, str(ROOT)]
    parts += [(ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
