"""How long experiments took: ``timings.json``, beside the page.

The processor time of cells is another one each time, so it is kept apart from what is the same
bytes on any number of workers: tables, figures and their provenance. A checkout without a store
still has the times of the run that made its results.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text, write_text
from dcglearn.pages.results import ReportedExperiment

TIMINGS = "timings.json"
"""The name of the file, in the folder of the page."""


def update_timings(experiments: Sequence[ReportedExperiment], out: Path) -> dict[str, float]:
    """Write what the store says of the time of cells, and return the time of each experiment.

    Parameters
    ----------
    experiments : sequence of ReportedExperiment
    out : Path
        The folder of the page.

    Returns
    -------
    dict from str to float
        Seconds of processor time by name, of the experiments of which that of all finished
        cells is known: from the store, or from the file if it is about as many cells.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    kept = _read(out / TIMINGS)
    found = dict(kept)
    for one in experiments:
        if one.counts.seconds is not None:
            found[one.config.name] = {
                "cells": one.counts.done,
                "seconds": round(one.counts.seconds, 1),
            }
    if found != kept:
        lines = [f"  {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
        write_text(out / TIMINGS, "{\n" + ",\n".join(lines) + "\n}\n")
    return {
        one.config.name: float(found[one.config.name]["seconds"])
        for one in experiments
        if found.get(one.config.name, {}).get("cells") == one.counts.done
    }


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Read the file; what cannot be read counts for nothing, since no result depends on it."""
    try:
        content = json.loads(read_text(path)) if path.exists() else {}
    except (InputError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {name: entry for name, entry in content.items() if _is_entry(entry)}


def _is_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() == {"cells", "seconds"}
        and type(entry["cells"]) is int
        and type(entry["seconds"]) in (int, float)
        and 0 <= entry["seconds"] < float("inf")
    )
