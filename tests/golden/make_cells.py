"""Compute the cells of ``cells.json`` again. Run it after raising ``CELL_VERSION``."""

from __future__ import annotations

import json
from pathlib import Path

from dcglearn.lab.compute import compute_cell
from dcglearn.lab.config import CELL_VERSION

FILE = Path(__file__).with_name("cells.json")

if __name__ == "__main__":
    cells = [one["cell"] for one in json.loads(FILE.read_text("utf-8"))["cells"]]
    made = [{"cell": cell, "result": compute_cell(cell)} for cell in cells]
    text = json.dumps({"version": CELL_VERSION, "cells": made}, indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")
