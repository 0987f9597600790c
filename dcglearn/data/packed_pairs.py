"""Packed pairs: Parquet files of strict preferences, small and quick to read in parts.

A file has one row a preference, in columns ``better`` and ``worse``, K bytes each: grade indices
as int8, 0 the best, -1 no document (lists, as Parquet stores them, are many times slower to
read); and, where not all count alike, ``weight``. The scale stands in the file's metadata. A
folder of such files, of one K and one scale, is read as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, checked_suffix
from dcglearn.base.types import Floats, Pairs
from dcglearn.measures.agreement import checked_pairs, one_per_pair
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

METADATA = b"dcglearn.packed"

ROW_GROUP_SIZE = 1 << 19
"""Preferences a row group: what is read at a time."""


@dataclass(frozen=True)
class RowGroup:
    """One row group of a file: what is read at a time.

    Attributes
    ----------
    path : str
    group : int
        The number of the row group.
    first : int
        The number of its first row in the file.
    before : int
        Rows of the whole folder before it.
    n_grades : int
        L, which no index may reach.
    """

    path: str
    group: int
    first: int
    before: int
    n_grades: int

    def read(self) -> tuple[Pairs, Floats | None]:
        """Read it.

        Returns
        -------
        pairs : ndarray of int8, shape (n, 2, K)
            The preferred ranking first.
        weights : ndarray of float, shape (n,), or None
            None where all count alike.

        Raises
        ------
        InputError
            Naming file and row: unreadable, an index out of range, a weight that is not
            finite or below 0.
        """
        with _opened(self.path) as file:
            table = file.read_row_group(self.group)
        sides = [_grades(table, name, self.path) for name in ("better", "worse")]
        pairs = np.stack(sides, axis=1)
        self._check(
            (pairs < NO_DOCUMENT) | (pairs >= self.n_grades), "holds a grade index out of range"
        )
        if "weight" not in table.column_names:
            return pairs, None
        weights: Floats = table.column("weight").to_numpy(zero_copy_only=False).astype(float)
        self._check(
            ~(np.isfinite(weights) & (weights >= 0)), "holds a weight that is no number, 0 or more"
        )
        return pairs, weights

    def _check(self, wrong: NDArray[np.bool_], problem: str) -> None:
        rows = wrong.any(axis=tuple(range(1, wrong.ndim)))
        if rows.any():
            row = self.first + int(np.argmax(rows)) + 1
            raise InputError(f"row {row} {problem}", "pack the judgments again", self.path)


@dataclass(frozen=True)
class PackedPairs:
    """Packed pairs in one file or a folder of files, not yet read.

    Attributes
    ----------
    row_groups : tuple of RowGroup
    labels : tuple of labels
        The grades, best first.
    n_ranks, n_pairs : int
    ties : int
        Judgments without a preference, left out when the pairs were packed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_packed(Path(folder, "p.parquet"), [[[0, 1], [1, 0]]], Scale((1, 0)))
    ...     PackedPairs.of(folder).n_pairs
    1
    """

    row_groups: tuple[RowGroup, ...]
    labels: tuple[Label, ...]
    n_ranks: int
    n_pairs: int
    ties: int

    @property
    def n_grades(self) -> int:
        """L."""
        return len(self.labels)

    @classmethod
    def of(cls, path: str | Path) -> PackedPairs:
        """Look at a file, or a folder of files.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        PackedPairs

        Raises
        ------
        InputError
            Naming the file: none there, truncated, not of this layout, or of another K or
            scale than the first.
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
                    f"lists of {head['n_ranks']} ranks, and {first['n_ranks']} in {files[0].name}",
                    "put them into different folders",
                    str(file),
                )
            if head["scale"] != first["scale"]:
                raise InputError(
                    f"grades {head['scale']}, and {first['scale']} in {files[0].name}",
                    "put them into different folders",
                    str(file),
                )
        labels = Scale(first["scale"]).labels
        n_pairs, row_groups = 0, []
        for file, head in zip(files, heads, strict=True):
            for group, start in enumerate(head["starts"]):
                row_groups.append(RowGroup(str(file), group, start, n_pairs + start, len(labels)))
            n_pairs += head["rows"]
        ties = sum(head["ties"] for head in heads)
        return cls(tuple(row_groups), labels, first["n_ranks"], n_pairs, ties)


def _files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder; those that begin with a dot are not yet whole."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() == ".parquet" and not file.name.startswith(".")
    )


def is_packed(path: str | Path) -> bool:
    """Whether a path is a folder, or a Parquet file of packed pairs.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bool
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if Path(path).is_dir():
        return True
    if Path(path).suffix.lower() != ".parquet" or not Path(path).is_file():
        return False
    try:
        return METADATA in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return False


def write_packed(
    path: str | Path,
    pairs: ArrayLike,
    scale: Scale,
    weights: ArrayLike | None = None,
    ties: int = 0,
) -> None:
    """Write pairs as a packed file, whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.parquet``.
    pairs : array-like of int, shape (n, 2, K)
        Grade indices, the preferred ranking first.
    scale : Scale
    weights : array-like of float, shape (n,), optional
    ties : int, default 0
        Judgments without a preference that are left out, to be counted.

    Raises
    ------
    InputError
        If the name or the pairs cannot be used, or the place cannot be written.
    """
    with packed_writer(path, scale, ties) as write:
        write(pairs, weights)


@contextmanager
def packed_writer(path: str | Path, scale: Scale, ties: int = 0) -> Iterator[PackedWriter]:
    """Give a function that adds pairs to a packed file; it is written whole or not at all.

    Parameters
    ----------
    path : path-like
    scale : Scale
    ties : int, default 0

    Yields
    ------
    callable
        Takes pairs, and weights or None; either all calls give weights or none does. Pairs are
        held until they fill a row group, so they may come in small batches.

    Raises
    ------
    InputError
        As :func:`write_packed`.
    """
    checked_suffix(path, [".parquet"])
    head = {"layout": 1, "scale": list(scale.labels), "ties": ties}
    with atomic_write(path) as temporary, ExitStack() as stack:
        write = PackedWriter(temporary, len(scale), head, stack)
        yield write
        write.flush()
        if write.writer is None:
            raise InputError("no pair to pack", "give at least one", str(path))


class PackedWriter:
    """What :func:`packed_writer` gives: adds pairs to a file, a row group at a time."""

    def __init__(self, path: Path, n_grades: int, head: dict[str, Any], stack: ExitStack) -> None:
        self.writer: Any = None
        self._path, self._n_grades, self._head, self._stack = path, n_grades, head, stack
        self._held: list[Any] = []
        self._schema: Any = None

    def __call__(self, pairs: ArrayLike, weights: ArrayLike | None = None) -> None:
        """Add pairs, shape (n, 2, K), and their weights."""
        table = _table(checked_pairs(pairs, self._n_grades), weights, self._head)
        self._schema = self._schema or table.schema
        if self._schema.names != table.schema.names:
            raise InputError("some pairs have weights and some have none", "give all or none")
        K, known = (s.field("better").type.byte_width for s in (table.schema, self._schema))
        if known != K:
            raise InputError(f"lists of {K} ranks after lists of {known}", "give one K")
        self._held.append(table)
        if sum(map(len, self._held)) >= ROW_GROUP_SIZE:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not sum(map(len, self._held)):
            return
        if self.writer is None:
            file = pq.ParquetWriter(
                self._path, self._schema, use_dictionary=False, compression="none"
            )
            self.writer = self._stack.enter_context(file)
        self.writer.write_table(pa.concat_tables(self._held), row_group_size=ROW_GROUP_SIZE)
        self._held.clear()


def _table(pairs: NDArray[np.integer], weights: ArrayLike | None, head: dict[str, Any]) -> Any:
    import pyarrow as pa

    K = pairs.shape[2]
    columns = {}
    for side, name in enumerate(("better", "worse")):
        content = pa.py_buffer(np.ascontiguousarray(pairs[:, side], np.int8))
        columns[name] = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(K), len(pairs), [None, content]
        )
    if weights is not None:
        columns["weight"] = pa.array(one_per_pair(weights, len(pairs), "weights", 0.0))
    return pa.table(columns).replace_schema_metadata({METADATA: json.dumps(head).encode()})


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", str(path)) from error
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(
            f"is not a readable Parquet file ({reason})", "write it again", str(path)
        ) from error


def _head(path: Path) -> dict[str, Any]:
    """Return what a file says of itself."""
    with _opened(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    problem = InputError("holds no packed pairs", "dcglearn pack makes such files", str(path))
    try:
        head: dict[str, Any] = json.loads((schema.metadata or {})[METADATA])
        head["ties"] = int(head["ties"])
        n_ranks = schema.field("better").type.byte_width
        if schema.field("worse").type.byte_width != n_ranks or head["layout"] != 1:
            raise problem
        Scale(head["scale"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise problem from error
    starts = np.cumsum([0, *groups[:-1]]).tolist() if groups else []
    return {**head, "n_ranks": n_ranks, "rows": sum(groups), "starts": starts}


def _grades(table: Any, name: str, path: str) -> Pairs:
    column = table.column(name).combine_chunks()
    if column.null_count:
        raise InputError(f"the column {name!r} has gaps", "pack the judgments again", path)
    K, start = column.type.byte_width, column.offset
    content = np.frombuffer(column.buffers()[1], np.int8)[start * K :]
    return content[: len(column) * K].reshape(len(column), K)
