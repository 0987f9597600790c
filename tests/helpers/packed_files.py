"""Packed files of one batch."""

from __future__ import annotations

from pathlib import Path

from numpy.typing import ArrayLike

from dcglearn import Preferences, Scale, packed_writer


def write_packed(
    judged: Preferences | ArrayLike, path: Path, scale: Scale, weights: ArrayLike | None = None
) -> None:
    """Write judgments, or pairs and their weights, to a packed file."""
    with packed_writer(path, scale) as write:
        write(judged, weights)
