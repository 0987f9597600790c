"""Judgments of several files as one set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT


def concatenated(parts: Sequence[Preferences]) -> Preferences:
    """Return the judgments of several sets, one after the other.

    Parameters
    ----------
    parts : sequence of Preferences
        On one scale, at least one. Shorter lists get empty ranks at their end.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        If the scales differ.

    Examples
    --------
    >>> one = Preferences.from_arrays([[1]], [[0]], ["a"])
    >>> two = Preferences.from_arrays([[1, 0]], [[0, 1]], ["b"])
    >>> concatenated([one, two]).lists[:, 0].tolist()
    [[0, -1], [0, 1]]
    """
    scale = parts[0].scale
    for part in parts:
        if part.scale != scale:
            raise InputError(
                f"the grades {scale} and {part.scale} differ", "declare one `scale` for all files"
            )
    n_ranks = max(part.n_ranks for part in parts)
    lists = [
        np.pad(
            part.lists,
            ((0, 0), (0, 0), (0, n_ranks - part.n_ranks)),
            constant_values=NO_DOCUMENT,
        )
        for part in parts
    ]
    columns = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("weights", "queries", "judges")
    )
    answers = np.concatenate([part.answers for part in parts])
    return Preferences(np.concatenate(lists), answers, scale, *columns)
