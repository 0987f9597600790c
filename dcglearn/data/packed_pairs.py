"""Packed pairs: Parquet files of strict preferences, small and fast to read in parts.

A file has one row per preference, in the columns ``better`` and ``worse``, K bytes each: grade
indices as int8, 0 the best, -1 for no document (Parquet's own lists are many times slower to
read). A column ``weight`` is there if weights differ. The scale is in the file's metadata. A folder
of such files with the same K and scale is read as one.
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
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.types import Floats, Pairs
from dcglearn.files.files import atomic_write, checked_suffix
from dcglearn.files.json_text import decode_json
from dcglearn.files.parquet import check_size, open_parquet
from dcglearn.measures.agreement import checked_pairs, one_per_pair
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

PACKED_METADATA = b"dcglearn.packed"

ROW_GROUP_SIZE = 1 << 19
"""The number of preferences per row group; a row group is read at a time."""

_MAX_GROUP_BYTES = 2**29
"""A row group with more bytes of grades per side is refused, and not written."""

_COLUMNS = ("better", "worse", "weight")


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
    n_grades : int
        L; grade indices are below it.
    """

    path: str
    group: int
    first: int
    before: int
    n_grades: int

    def read(self) -> tuple[Pairs, Floats | None]:
        """Read the pairs and their weights.

        Returns
        -------
        pairs : ndarray of int8, shape (n, 2, K)
            Grade indices, the preferred ranking first.
        weights : ndarray of float, shape (n,), or None
            None if the file has no weights: each counts 1.

        Raises
        ------
        InputError
            Naming file and row: the file cannot be read, an index is out of range, or a weight is
            negative or not finite.
        """
        with open_parquet(self.path) as file:
            names = [name for name in _COLUMNS if name in file.schema_arrow.names]
            table = file.read_row_group(self.group, names)
        sides = [_grades(table, name, self.path) for name in ("better", "worse")]
        pairs = np.stack(sides, axis=1)
        self._check(
            (pairs < NO_DOCUMENT) | (pairs >= self.n_grades), "holds a grade index out of range"
        )
        if "weight" not in table.column_names:
            return pairs, None
        weights: Floats = table.column("weight").to_numpy(zero_copy_only=False).astype(float)
        self._check(
            ~(np.isfinite(weights) & (weights >= 0)),
            "holds a weight that is not a finite number of 0 or more",
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
        The parts in which the pairs are read.
    labels : tuple of labels
        The grades, best first.
    n_ranks, n_pairs : int
        K, and the number of pairs.
    ties : int
        The number of judgments without a preference that were left out of the files.

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
                    f"lists of {head['n_ranks']} ranks, and {first['n_ranks']} in {files[0].name}",
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
            for group, start in enumerate(head["starts"]):
                row_groups.append(RowGroup(str(file), group, start, n_pairs + start, len(labels)))
            n_pairs += head["rows"]
        ties = sum(head["ties"] for head in heads)
        return cls(tuple(row_groups), labels, first["n_ranks"], n_pairs, ties)


def _files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder; names with a leading dot are still being written."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() == ".parquet" and not file.name.startswith(".")
    )


def is_packed(path: str | Path) -> bool:
    """Return whether a path is a folder, or a Parquet file of packed pairs.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bool
    """
    if Path(path).is_dir():
        return True
    if Path(path).suffix.lower() != ".parquet" or not Path(path).is_file():
        return False
    try:
        with open_parquet(path) as file:
            return PACKED_METADATA in (file.schema_arrow.metadata or {})
    except InputError:
        return False


def write_packed(
    path: str | Path,
    pairs: ArrayLike,
    scale: Scale,
    weights: ArrayLike | None = None,
    ties: int = 0,
) -> None:
    """Write pairs to a packed file, whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.parquet``.
    pairs : array-like of int, shape (n, 2, K)
        Grade indices, the preferred ranking first.
    scale : Scale
        The grades, best first.
    weights : array-like of float, shape (n,), optional
        1 by default.
    ties : int, default 0
        The number of judgments without a preference, which are left out.

    Raises
    ------
    InputError
        If the name or the pairs cannot be used, or the file cannot be written.
    """
    with packed_writer(path, scale, ties) as write:
        write(pairs, weights)


@contextmanager
def packed_writer(path: str | Path, scale: Scale, ties: int = 0) -> Iterator[PackedWriter]:
    """Open a packed file for writing in batches; it is written whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.parquet``.
    scale : Scale
        The grades, best first.
    ties : int, default 0
        The number of judgments without a preference, which are left out.

    Yields
    ------
    PackedWriter
        Called with pairs, and weights or None; either all calls give weights or none does. Small
        batches are collected until they fill a row group.

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
            raise InputError("no pair to write", "give at least one", str(path))


class PackedWriter:
    """Given by :func:`packed_writer`; adds pairs to a file, one row group at a time."""

    def __init__(self, path: Path, n_grades: int, head: dict[str, Any], stack: ExitStack) -> None:
        self.writer: Any = None
        self._path, self._n_grades, self._head, self._stack = path, n_grades, head, stack
        self._held: list[Any] = []
        self._schema: Any = None
        self._rows = ROW_GROUP_SIZE

    def __call__(self, pairs: ArrayLike, weights: ArrayLike | None = None) -> None:
        """Add pairs, shape (n, 2, K), and their weights, shape (n,)."""
        table = _table(checked_pairs(pairs, self._n_grades), weights, self._head)
        self._schema = self._schema or table.schema
        if self._schema.names != table.schema.names:
            raise InputError("some pairs have weights and some have none", "give all or none")
        K, first = (s.field("better").type.byte_width for s in (table.schema, self._schema))
        if first != K:
            raise InputError(f"lists of {K} ranks after lists of {first}", "give one K")
        self._rows = min(ROW_GROUP_SIZE, max(1, _MAX_GROUP_BYTES // K))
        self._held.append(table)
        if sum(map(len, self._held)) >= self._rows:
            self.flush()

    def flush(self) -> None:
        """Write the collected pairs."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not sum(map(len, self._held)):
            return
        if self.writer is None:
            file = pq.ParquetWriter(
                self._path, self._schema, use_dictionary=False, compression="none"
            )
            self.writer = self._stack.enter_context(file)
        self.writer.write_table(pa.concat_tables(self._held), row_group_size=self._rows)
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
    return pa.table(columns).replace_schema_metadata({PACKED_METADATA: json.dumps(head).encode()})


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
        head["n_ranks"] = _checked_schema(schema, str(path))
        check_size(metadata, _COLUMNS, path, max_rows=None)
    if max(groups, default=0) * head["n_ranks"] > _MAX_GROUP_BYTES:
        text = f"a row group of {max(groups):,} pairs of {head['n_ranks']:,} ranks"
        raise InputError(text, "pack the judgments again", str(path))
    starts = np.cumsum([0, *groups[:-1]]).tolist() if groups else []
    return {**head, "rows": sum(groups), "starts": starts}


def _checked_head(text: bytes) -> dict[str, Any]:
    """Return the scale and the number of ties."""
    head: dict[str, Any] = decode_json(text, "pack the judgments again")
    ties = head["ties"]
    if head["layout"] != 1 or type(ties) is not int or not 0 <= ties < MAX_EXACT:
        raise ValueError
    return {"scale": list(Scale(head["scale"]).labels), "ties": ties}


def _checked_schema(schema: Any, path: str) -> int:
    """Check the types of the columns and return K."""
    import pyarrow.types as types

    for name in _COLUMNS:
        if schema.names.count(name) != 1 and (name != "weight" or name in schema.names):
            problem = f"the column {name!r} appears {schema.names.count(name)} times"
            raise InputError(problem, "pack the judgments again", path)
    better, worse = (schema.field(name).type for name in _COLUMNS[:2])
    if not types.is_fixed_size_binary(better) or better != worse or not better.byte_width:
        problem = f"the columns 'better' and 'worse' hold {better!s:.40} and {worse!s:.40}"
        raise InputError(problem, "pack the judgments again", path)
    if "weight" in schema.names:
        weight = schema.field("weight").type
        if not (types.is_integer(weight) or types.is_floating(weight)):
            problem = f"the column 'weight' holds {weight!s:.40}"
            raise InputError(problem, "pack the judgments again", path)
    return int(better.byte_width)


def _grades(table: Any, name: str, path: str) -> Pairs:
    column = table.column(name).combine_chunks()
    if column.null_count:
        raise InputError(
            f"the column {name!r} has missing values", "pack the judgments again", path
        )
    K, start = column.type.byte_width, column.offset
    content = np.frombuffer(column.buffers()[1], np.int8)[start * K :]
    return content[: len(column) * K].reshape(len(column), K)
