"""The tutorial notebook runs from its first cell to its last, and shows what it has."""

from __future__ import annotations

import json
import sys
from typing import Any

from helpers.places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from tutorial import PATH, executed


def shown(text: str) -> list[tuple[str, list[str]]]:
    """The code of each cell, and what it shows: text as it is, of pictures that there is one."""
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), [*outputs(cell)]) for cell in cells]


def outputs(cell: dict[str, Any]) -> list[str]:
    found = []
    for one in cell["outputs"]:
        if one["output_type"] == "stream":
            found.append("".join(one["text"]))
        elif "image/png" in one["data"]:
            found.append("a picture")
        else:
            found.append("".join(one["data"]["text/plain"]))
    return found


def test_a_fresh_execution_shows_what_the_notebook_has() -> None:
    found = shown(executed())
    assert found == shown(PATH.read_text("utf-8"))
    kinds = [kind for _, cell in found for kind in cell]
    assert kinds.count("a picture") == 3
