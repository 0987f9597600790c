"""Packed pairs: Parquet files of judgments, small and fast to read in parts.

A file has one row per judgment, in the columns of :mod:`dcglearn.data.packed_columns`; K and the
scale are in its metadata. A folder of such files with the same K and scale is read as one. Files of
the first layout hold strict judgments without sides, queries and judges, and are still read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import MAX_EXACT, counted
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats, Pairs
from dcglearn.data.packed_columns import (
    ID_COLUMNS,
    LIST_COLUMNS,
    PACKED_COLUMNS,
    PackedPlace,
    check_columns,
    ids_of_table,
    lists_of_table,
    strict_pairs_of_table,
    weights_of_table,
)
from dcglearn.data.preferences import Preferences
from dcglearn.files.json_text import decode_json
from dcglearn.files.parquet import check_size, open_parquet
from dcglearn.measures.scale import Label, Scale

PACKED_METADATA = b"dcglearn.packed"

PACKED_LAYOUT = 2

MAX_GROUP_BYTES = 2**29
"""A row group with more bytes of grades per side is refused, and not written."""

MAX_MEMORY = 4 * 2**30
"""Judgments whose arrays take more bytes are not read into memory."""

_READ_ANSWER = (*LIST_COLUMNS, "answer", "weight")


class PackedIds(NamedTuple):
    """Ids of a row group.

    Attributes
    ----------
    numbers : ndarray of int, shape (n,)
        Indices into the names, -1 where an id is missing.
    names : list of str
    """

    numbers: NDArray[np.integer]
    names: list[str]


class PackedJudgments(NamedTuple):
    """The judgments of a row group.

    Attributes
    ----------
    lists : ndarray of int8, shape (n, 2, K)
        List a first; the preferred one where the sides are unknown.
    answers : ndarray of int8, shape (n,), or None
        None if the sides are unknown.
    weights : ndarray of float, shape (n,), or None
        None if each counts 1.
    queries, judges : PackedIds or None
        None if all are missing, or were not asked for.
    """

    lists: Pairs
    answers: NDArray[np.int8] | None
    weights: Floats | None
    queries: PackedIds | None
    judges: PackedIds | None


@dataclass(frozen=True)
class RowGroup:
    """One row group of a file, not yet read.

    Attributes
    ----------
    path : str
        The file.
    group : int
        The number of the row group in the file.
    first : int
        The number of its first row in the file.
    before : int
        The number of rows of the whole folder before it.
    n_rows : int
    n_grades : int
        L; grade indices are below it.
    """

    path: str
    group: int
    first: int
    before: int
    n_rows: int
    n_grades: int

    def read(self) -> tuple[Pairs, Floats | None]:
        """Read the strict judgments and their weights.

        Returns
        -------
        pairs : ndarray of int8, shape (n, 2, K)
            Grade indices, the preferred list first.
        weights : ndarray of float, shape (n,), or None
            None if each counts 1.

        Raises
        ------
        InputError
            Naming file and row: the file cannot be read, an index is out of range, or a weight is
            negative or not finite.
        """
        return strict_pairs_of_table(self._table(_READ_ANSWER), self.n_grades, self._place)

    def read_judgments(self, with_ids: bool = True) -> PackedJudgments:
        """Read all judgments, ties included.

        Parameters
        ----------
        with_ids : bool, default True
            Whether queries and judges are read.

        Returns
        -------
        PackedJudgments

        Raises
        ------
        InputError
            As :meth:`read`.
        """
        table = self._table(PACKED_COLUMNS if with_ids else _READ_ANSWER)
        lists, answers = lists_of_table(table, self.n_grades, self._place)
        weights = weights_of_table(table, self._place)
        return PackedJudgments(lists, answers, weights, *self._ids(table))

    def read_ids(self) -> tuple[PackedIds | None, PackedIds | None]:
        """Read the queries and judges of all judgments.

        Returns
        -------
        queries, judges : PackedIds or None
        """
        return self._ids(self._table(ID_COLUMNS))

    def _ids(self, table: Any) -> tuple[PackedIds | None, PackedIds | None]:
        found = (ids_of_table(table, name, self._place) for name in ID_COLUMNS)
        queries, judges = (None if ids is None else PackedIds(*ids) for ids in found)
        return queries, judges

    def _table(self, wanted: tuple[str, ...]) -> Any:
        with open_parquet(self.path) as file:
            names = [name for name in wanted if name in file.schema_arrow.names]
            return file.read_row_group(self.group, names)

    @property
    def _place(self) -> PackedPlace:
        return PackedPlace(self.path, self.first)


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
    >>> from dcglearn.data.packed_writer import write_packed
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

    def preferences(self, strict: bool = False) -> Preferences:
        """Read all judgments into memory.

        Parameters
        ----------
        strict : bool, default False
            Whether judgments whose sides are unknown are read as well, with the preferred list as
            list a: for what depends on strict judgments only.

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            If their arrays take more than :data:`MAX_MEMORY` bytes, the sides are unknown, or as
            :meth:`RowGroup.read`.
        """
        if not strict:
            self.check_sides()
        if self.nbytes > MAX_MEMORY:
            raise InputError(
                f"{self.n_pairs:,} judgments take {self.nbytes / 2**30:.1f} GiB in memory, more "
                f"than {MAX_MEMORY / 2**30:.0f}",
                "use `fit`, which reads them in parts, or pack a sample of them",
                self._first_path,
            )
        n = self.n_pairs
        lists = np.empty((n, 2, self.n_ranks), np.int8)
        answers, weights = np.zeros(n, np.int8), np.ones(n)
        queries, judges = np.full((2, n), None, object)
        shared: dict[str, str] = {}  # one object per name

        def load(group: RowGroup) -> None:
            rows, found = slice(group.before, group.before + group.n_rows), group.read_judgments()
            lists[rows] = found.lists
            if found.answers is not None:
                answers[rows] = found.answers
            if found.weights is not None:
                weights[rows] = found.weights
            for column, ids in ((queries, found.queries), (judges, found.judges)):
                if ids is not None:
                    names = [*(shared.setdefault(name, name) for name in ids.names), None]
                    column[rows] = np.array(names, object)[ids.numbers]

        map_threads(load, self.row_groups)
        return Preferences(lists, answers, Scale(self.labels), weights, queries, judges)


def _files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder; names with a leading dot are still being written."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() == ".parquet" and not file.name.startswith(".")
    )


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
