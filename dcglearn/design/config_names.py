"""Names that a config may give: to its figures, and to the folder of its results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dcglearn.base.errors import InputError
from dcglearn.design.figure_names import FIGURE_NAME, same_figure

RESERVED = ("quick", "store", "side-by-side", "stand-in", "index.html", "readme.md")
"""Names in the folder of results that do not belong to an experiment, nor to a config."""


def check_names(figures: Sequence[int | str], path: Path) -> None:
    """Refuse names that cannot be names of files, or are already taken.

    Parameters
    ----------
    figures : sequence of int or str
        The figures of a config.
    path : Path
        The config; its results get a folder of its name.

    Raises
    ------
    InputError
    """
    if not figures:
        raise InputError("an empty list", "write figures = [1, 2]", "figures")
    names = [str(figure) for figure in figures]
    for n, name in enumerate(names, 1):
        if same_figure(name) in map(same_figure, names[: n - 1]):
            raise InputError(f"{name!r} appears twice", "remove one of them", "figures")
        if not FIGURE_NAME.fullmatch(name):
            raise InputError(
                f"{name!r} is not a name",
                "use up to 40 letters, digits and -",
                f"figures, value {n}",
            )
    if path.stem.lower() in RESERVED:
        raise InputError(
            f"the folder of results would be {path.stem}, which is taken", "rename the file"
        )
    if path.stem.startswith(".") or not path.stem.isprintable():
        raise InputError(
            f"{path.stem!r} cannot be the name of a folder of results",
            "rename the file, without a dot at its start",
        )


def check_path(key: str, name: str) -> None:
    """Refuse what no file can be called: null characters, names that are too long.

    Parameters
    ----------
    key : str
        Where the name is written.
    name : str

    Raises
    ------
    InputError
    """
    try:
        with suppress(FileNotFoundError, NotADirectoryError):  # whoever opens it says so
            Path(name).stat()
    except (OSError, ValueError) as error:
        raise InputError(f"{name!r} cannot be a path ({error})", "correct it", key) from error
