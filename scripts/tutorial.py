"""Execute ``docs/tutorial.ipynb`` and write its outputs: ``.venv/bin/python scripts/tutorial.py``.

It is executed in a copy of ``docs``, so that what it writes is left behind nowhere. A cell that
fails is an error, and the notebook stays as it was.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

PATH = Path(__file__).resolve().parent.parent / "docs" / "tutorial.ipynb"


def executed() -> str:
    """Return the notebook with the outputs of a fresh execution, as JSON without times."""
    notebook: Any = nbformat.read(PATH, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        place = shutil.copytree(PATH.parent, Path(folder, "docs"))
        options: Any = {"timeout": 300, "record_timing": False, "coalesce_streams": True}
        where = {"metadata": {"path": place}}
        NotebookClient(notebook, resources=where, **options).execute()
    for cell in notebook.cells:  # progress, which slow machines print
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return str(nbformat.writes(notebook)) + "\n"


if __name__ == "__main__":
    PATH.write_text(executed(), "utf-8", newline="\n")
