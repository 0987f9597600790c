"""Packed pairs: Parquet files of judgments, small and fast to read in parts.

A file has one row per judgment, in the columns of :mod:`dcglearn.judgments.packed_columns`; K and the
scale are in its metadata. A folder of such files with the same K and scale is read as one. Files of
the first layout hold strict judgments without sides, queries and judges, and are still read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import decode_json
from dcglearn.base.numbers import MAX_EXACT, counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.old.parquet import check_size, open_parquet
from dcglearn.base.tables.old.sources import format_of_name
from dcglearn.base.threads import map_threads
from dcglearn.judgments.packed_columns import (
    PACKED_COLUMNS,
    check_columns,
)
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.row_groups import RowGroup, preferences_of
from dcglearn.measures.scale import Label, Scale

PACKED_METADATA = b"dcglearn.packed"

PACKED_LAYOUT = 2

MAX_GROUP_BYTES = 2**29
"""A row group with more bytes of grades per side is refused, and not written."""

MAX_MEMORY = 8 * 2**30
"""Judgments that take more bytes are not read into memory."""


@dataclass(frozen=True)
class PackedPairs:
    """Packed pairs in one file or a folder of files, not yet read.

    Attributes
    ----------
    row_groups : tuple of RowGroup
        The parts in which the pairs are read.
    labels : tuple of labels
        The grades, best first.
    n_ranks, n_pairs : int
        K, and the number of pairs that were judged.
    ties : int
        The number of judgments without a preference that were left out of the files.
    has_sides : bool
        Whether the files say how the lists were shown, and hold ties.

    Examples
    --------
    >>> import tempfile
    >>> from dcglearn.judgments.packed_writer import write_packed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_packed([[[0, 1], [1, 0]]], Path(folder, "p.parquet"), Scale((1, 0)))
    ...     PackedPairs.of(folder).n_pairs
    1
    """

    row_groups: tuple[RowGroup, ...]
    labels: tuple[Label, ...]
    n_ranks: int
    n_pairs: int
    ties: int
    has_sides: bool

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return len(self.labels)

    @classmethod
    def of(cls, path: str | Path) -> PackedPairs:
        """Open a file or a folder of files and read their metadata.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        PackedPairs

        Raises
        ------
        InputError
            Naming the file: it does not exist, is truncated or does not hold packed pairs, or its
            K or scale differs from that of the first file.
        """
        place = Path(path)
        files = _files(place) if place.is_dir() else [place]
        if not files:
            raise InputError("holds no .parquet file", "name another folder", str(path))
        if place.is_dir():
            _check_nothing_else(place)
        heads = [_head(file) for file in files]
        first = heads[0]
        for file, head in zip(files, heads, strict=True):
            if head["n_ranks"] != first["n_ranks"]:
                raise InputError(
                    f"lists of {counted(head['n_ranks'], 'rank')}, and {first['n_ranks']} in "
                    f"{files[0].name}",
                    "put the files into different folders",
                    str(file),
                )
            if head["scale"] != first["scale"]:
                raise InputError(
                    f"grades {head['scale']}, and {first['scale']} in {files[0].name}",
                    "put the files into different folders",
                    str(file),
                )
        labels = Scale(first["scale"]).labels
        n_pairs, row_groups = 0, []
        for file, head in zip(files, heads, strict=True):
            start = 0
            for group, n_rows in enumerate(head["groups"]):
                before = n_pairs + start
                row_groups.append(RowGroup(str(file), group, start, before, n_rows, len(labels)))
                start += n_rows
            n_pairs += start
        ties, sides = sum(head["ties"] for head in heads), all(head["sides"] for head in heads)
        return cls(tuple(row_groups), labels, first["n_ranks"], n_pairs, ties, sides)

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays of all judgments take in memory."""
        return self.n_pairs * (2 * self.n_ranks + 1 + 3 * 8)

    @property
    def _first_path(self) -> str:
        return self.row_groups[0].path if self.row_groups else ""

    def check_sides(self) -> None:
        """Refuse pairs whose sides are unknown.

        Raises
        ------
        InputError
        """
        if not self.has_sides:
            raise InputError(
                "holds strict pairs without sides, ties, queries and judges",
                "pack the judgments again; only `fit` reads such pairs",
                self._first_path,
            )

    def preferences(
        self, strict: bool = False, bytes_each: int = 0, advance: Advance = silent
    ) -> Preferences:
        """Read all judgments into memory.

        Parameters
        ----------
        strict : bool, default False
            Whether judgments whose sides are unknown are read as well, with the preferred list as
            list a: for what depends on strict judgments only.
        bytes_each : int, default 0
            Bytes per judgment that will be needed besides.
        advance : callable
            Called with (judgments read, judgments in all).

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            If they take more than :data:`MAX_MEMORY` bytes, the sides are unknown, or as
            :meth:`RowGroup.read`.
        """
        if not strict:
            self.check_sides()
        n_bytes = self.nbytes + bytes_each * self.n_pairs
        if n_bytes > MAX_MEMORY:
            raise InputError(
                f"{self.n_pairs:,} judgments take {n_bytes / 2**30:.1f} GiB in memory, more "
                f"than {MAX_MEMORY / 2**30:.0f}",
                "use `fit` or `test`, which read them in parts, or pack a sample of them",
                self._first_path,
            )
        n, scale = self.n_pairs, Scale(self.labels)
        lists = np.empty((n, 2, self.n_ranks), np.int8)
        answers, weights = np.empty(n, np.int8), np.empty(n)
        queries, judges = np.empty((2, n), object)
        shared: dict[str, str] = {}  # one object per name
        done = 0

        def load(group: RowGroup) -> None:
            nonlocal done
            rows, found = slice(group.before, group.before + group.n_rows), group.read_judgments()
            part = preferences_of(found, scale, shared)
            lists[rows], answers[rows], weights[rows] = part.lists, part.answers, part.weights
            queries[rows], judges[rows] = part.queries, part.judges
            done += group.n_rows
            advance(done, n)

        map_threads(load, self.row_groups)
        return Preferences(lists, answers, scale, weights, queries, judges)

    def batches(self) -> Iterator[Preferences]:
        """Read the judgments a row group at a time.

        Yields
        ------
        Preferences

        Raises
        ------
        InputError
            If the sides are unknown, or as :meth:`RowGroup.read`.
        """
        self.check_sides()
        for group in self.row_groups:
            yield preferences_of(group.read_judgments(), Scale(self.labels), {})


def _files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder; names with a leading dot are still being written."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() == ".parquet" and not file.name.startswith(".")
    )


def _check_nothing_else(folder: Path) -> None:
    """Refuse a folder that holds judgments in other formats, too: they would not be read."""
    for file in sorted(folder.iterdir()):
        if file.name.startswith((".", "_")) or format_of_name(file.name) in (None, "parquet"):
            continue
        problem = f"holds packed judgments, and {file.name}, which would not be read"
        raise InputError(problem, "name the files", str(folder))


def is_packed(path: str | Path) -> bool:
    """Return whether a path is a Parquet file of packed pairs, or a folder that holds some.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bool
    """
    if Path(path).is_dir():
        return any(is_packed(file) for file in _files(Path(path)))
    if Path(path).suffix.lower() != ".parquet" or not Path(path).is_file():
        return False
    try:
        with open_parquet(path) as file:
            return PACKED_METADATA in (file.schema_arrow.metadata or {})
    except InputError:
        return False


def _head(path: Path) -> dict[str, Any]:
    """Return the metadata of a file."""
    problem = InputError("does not hold packed pairs", "write them with dcglearn pack", str(path))
    with open_parquet(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        try:
            head = _checked_head((schema.metadata or {})[PACKED_METADATA])
        except (InputError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise problem from error
        head["n_ranks"] = check_columns(schema, str(path))
        check_size(metadata, PACKED_COLUMNS, path, max_rows=None)
    if max(groups, default=0) * head["n_ranks"] > MAX_GROUP_BYTES:
        text = f"a row group of {max(groups):,} pairs of {head['n_ranks']:,} ranks"
        raise InputError(text, "pack the judgments again", str(path))
    return {**head, "groups": groups, "sides": "answer" in schema.names}


def _checked_head(text: bytes) -> dict[str, Any]:
    """Return the scale and the number of ties."""
    head: dict[str, Any] = decode_json(text, "pack the judgments again")
    ties = head["ties"]
    if (
        head["layout"] not in (1, PACKED_LAYOUT)
        or type(ties) is not int
        or not 0 <= ties < MAX_EXACT
    ):
        raise ValueError
    return {"scale": list(Scale(head["scale"]).labels), "ties": ties}
