"""Execute the tutorial notebook and write its outputs: ``python3 scripts/tutorial.py``.

``docs/tutorial.ipynb`` is executed from its first cell to its last in a copy of ``docs``, so that
what it writes is left behind nowhere. A cell that fails is an error, and the notebook stays as it
was.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from bootstrap import ROOT, prepare
from children import end_with_code, run_child

NOTEBOOK = "tutorial.ipynb"

SECONDS = 300
"""Time limit of a cell."""


def main() -> int:
    """Execute the notebook in the environment of the project; return 0 if all cells ran."""
    python = prepare("dev")
    if Path(sys.executable) != python:
        return run_child([str(python), __file__], cwd=ROOT).returncode
    path = ROOT / "docs" / NOTEBOOK
    text = executed(path)
    path.write_text(text, "utf-8", newline="\n")
    print(f"wrote {path.relative_to(ROOT)}")
    return 0


def executed(path: Path) -> str:
    """Return a notebook with the outputs of a fresh execution.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
        JSON; without execution times, and with versions of no tool.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "docs")
        shutil.copytree(path.parent, place)
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=SECONDS,
            record_timing=False,
            resources={"metadata": {"path": place}},
        )
        client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    text: str = nbformat.writes(notebook)
    return text + "\n"


if __name__ == "__main__":
    end_with_code(main)
