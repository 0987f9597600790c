"""Folders of results: which experiment a folder holds, and whether it may be replaced.

A folder holds the results of one experiment. :func:`check_folder` refuses a folder that holds
results of another config or of a larger grid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.design.cells import CELL_VERSION, query_table_hash
from dcglearn.design.config import Config
from dcglearn.lab.provenance import PROVENANCE, WRITE_ANEW, read_provenance

OTHER_FOLDER = "name another `out`, or use `replace`"
"""What to do about a folder that holds something else."""


def results_folder(out: Path, quick: bool, config: Config) -> Path:
    """Return the folder of the results of one experiment.

    Parameters
    ----------
    out : Path
        The folder of all results.
    quick : bool
        Whether the results are those of a quick run.
    config : Config

    Returns
    -------
    Path
    """
    return (out / "quick" if quick else out) / config.name


def check_folder(folder: Path, config: Config) -> None:
    """Refuse a folder that holds results of another config or of another version of the cells.

    Parameters
    ----------
    folder : Path
    config : Config

    Raises
    ------
    InputError
        Naming the difference and what to do.
    """
    found = read_made(folder)
    if found is None:
        return
    there, version = _with_hash(found["experiment"]), found["cells"]["version"]
    if version != CELL_VERSION:
        raise InputError(
            f"holds results of version {version} of the cells, and this is version {CELL_VERSION}",
            OTHER_FOLDER,
            str(folder),
        )
    here = json.loads(json.dumps(config.content))
    for key in config.identity:
        if there.get(key) != here[key]:
            difference = _difference(key, there.get(key), here[key])
            raise InputError(
                f"holds results of another config: {difference}", OTHER_FOLDER, str(folder)
            )
    for key, values in there["sweep"].items():
        lost = [value for value in values if value not in here["sweep"].get(key, [])]
        if lost:
            raise InputError(
                f"holds results of a larger grid: it also has {key} {_short(lost)}",
                OTHER_FOLDER,
                str(folder),
            )
    if there["repetitions"] > config.repetitions:
        raise InputError(
            f"holds results of {counted(there['repetitions'], 'repetition')}, more than the "
            f"{config.repetitions} of the config",
            OTHER_FOLDER,
            str(folder),
        )


def _with_hash(content: dict[str, Any]) -> dict[str, Any]:
    """Replace a whole table of queries, as earlier versions wrote it, by its hash."""
    setting = content.get("setting") or {}
    if not isinstance(setting.get("queries"), list):
        return content
    return {**content, "setting": {**setting, "queries": query_table_hash(setting["queries"])}}


def read_made(folder: Path) -> dict[str, Any] | None:
    """Return the provenance of the results in a folder, or None if it holds no results."""
    found = read_provenance(folder)
    if found is None:
        return None
    try:
        experiment, cells = found["experiment"], found["cells"]
        counts = [cells[name] for name in ("version", "done", "failed", "total")]
        whole = all(type(n) is int and n >= 0 for n in (*counts, experiment["repetitions"]))
        whole &= all(isinstance(values, list) for values in experiment["sweep"].values())
    except (KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise InputError("cannot be read", WRITE_ANEW, str(folder / PROVENANCE))
    return found


def cells_in(folder: Path) -> int:
    """Return how many cells the table of a folder of results holds.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    int
        0 if there is none, or it cannot be read.
    """
    try:
        found = read_made(folder)
    except InputError:
        return 0
    return int(found["cells"]["done"]) if found is not None else 0


def _difference(key: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted(there.keys() | here.keys()):
            if there.get(name) != here.get(name):
                return _difference(name, there.get(name), here.get(name))
    return f"{key} is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def make_folder(folder: Path) -> None:
    """Make a folder for results, if it does not exist.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        If it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be made ({error.strerror})", "choose another `out`", str(folder)
        ) from error
