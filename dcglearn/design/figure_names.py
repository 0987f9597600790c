"""What figures are called: as in the paper, or by a name; their files have the same name."""

from __future__ import annotations

import re

FIGURE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}")
"""What a figure may be called."""


def figure_file_name(number: str) -> str:
    """Return the name of the files of a figure, without their endings.

    Parameters
    ----------
    number : str
        As in the paper, or a name.

    Returns
    -------
    str

    Examples
    --------
    >>> figure_file_name("2b"), figure_file_name("ad-hoc")
    ('figure-02b', 'figure-ad-hoc')
    """
    digits = "".join(c for c in number if c.isdecimal())
    padded = number.replace(digits, f"{int(digits):02d}", 1) if digits else number
    return f"figure-{padded}"


def same_figure(number: str) -> str:
    """Return what two figures have in common if their files would be the same.

    Parameters
    ----------
    number : str

    Returns
    -------
    str
        The name of the files, without capitals, which some file systems do not distinguish.

    Examples
    --------
    >>> same_figure("2B") == same_figure("02b")
    True
    """
    return figure_file_name(number).lower()
