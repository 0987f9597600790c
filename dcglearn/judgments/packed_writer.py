"""Packed files written in batches, whole or not at all.

Row groups have the same rows whatever the batches, so that the same judgments give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, checked_suffix
from dcglearn.base.numbers import counted
from dcglearn.correlation.agreement import checked_pairs
from dcglearn.judgments.packed_columns import ID_COLUMNS, table_of_judgments, table_of_pairs
from dcglearn.judgments.packed_pairs import MAX_GROUP_BYTES, PACKED_LAYOUT, PACKED_METADATA
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import Scale

ROW_GROUP_SIZE = 1 << 19
"""The number of judgments per row group; a row group is read at a time."""


def write_packed(
    judged: Preferences | ArrayLike,
    path: str | Path,
    scale: Scale,
    weights: ArrayLike | None = None,
    ties: int = 0,
) -> None:
    """Write judgments or pairs to a packed file, whole or not at all.

    Parameters
    ----------
    judged : Preferences, or array-like of int, shape (n, 2, K)
        Judgments; or grade indices of pairs, the preferred list first.
    path : path-like
        ``.parquet``.
    scale : Scale
        The grades, best first.
    weights : array-like of float, shape (n,), optional
        Of pairs; 1 by default.
    ties : int, default 0
        Of pairs, the number of judgments without a preference, which are left out.

    Raises
    ------
    InputError
        If the name or the pairs cannot be used, or the file cannot be written.
    """
    with packed_writer(path, scale, ties) as write:
        write(judged, weights)


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
        Of pairs, the number of judgments without a preference, which are left out.

    Yields
    ------
    PackedWriter
        Called with judgments (:class:`~dcglearn.judgments.preferences.Preferences`), which keep their
        sides, ties, weights, queries and judges; or with an array of pairs, the preferred list
        first, and weights or None. All calls are of one kind, and either all give weights or none
        does. Small batches are collected until they fill a row group.

    Raises
    ------
    InputError
        As :func:`write_packed`.

    Examples
    --------
    >>> import tempfile
    >>> from dcglearn.judgments.packed_pairs import PackedPairs
    >>> judged = Preferences.from_arrays([[2, 0]], [[1, 1]], ["tie"], queries=["q1"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "p.parquet")
    ...     with packed_writer(path, judged.scale) as write:
    ...         write(judged)
    ...     PackedPairs.of(path).preferences() == judged
    True
    """
    checked_suffix(path, [".parquet"])
    head = {"layout": PACKED_LAYOUT, "scale": list(scale.labels), "ties": ties}
    with atomic_write(path) as temporary, ExitStack() as stack:
        write = PackedWriter(temporary, scale, head, stack)
        yield write
        write.flush()
        if write.writer is None:
            raise InputError("no pair to write", "give at least one", str(path))


class PackedWriter:
    """Given by :func:`packed_writer`; adds judgments to a file, one row group at a time."""

    def __init__(self, path: Path, scale: Scale, head: dict[str, Any], stack: ExitStack) -> None:
        self.writer: Any = None
        self._path, self._scale, self._stack = path, scale, stack
        self._metadata = {PACKED_METADATA: json.dumps(head).encode()}
        self._held: list[Any] = []
        self._schema: Any = None
        self._rows = ROW_GROUP_SIZE

    def __call__(self, judged: Preferences | ArrayLike, weights: ArrayLike | None = None) -> None:
        """Add judgments, or pairs of shape (n, 2, K) with their weights, shape (n,)."""
        table = self._table(judged, weights).replace_schema_metadata(self._metadata)
        self._schema = self._schema or table.schema
        if ("answer" in self._schema.names) != ("answer" in table.schema.names):
            raise InputError("judgments after pairs, or pairs after judgments", "give one kind")
        if self._schema.names != table.schema.names:
            raise InputError("some pairs have weights and some have none", "give all or none")
        K, first = (s.field("better").type.byte_width for s in (table.schema, self._schema))
        if first != K:
            raise InputError(f"lists of {counted(K, 'rank')} after lists of {first}", "give one K")
        self._rows = min(ROW_GROUP_SIZE, max(1, MAX_GROUP_BYTES // K))
        self._held.append(table)
        if sum(map(len, self._held)) >= self._rows:
            self._write(self._rows)

    def flush(self) -> None:
        """Write the judgments that are left."""
        self._write(1)

    def _table(self, judged: Preferences | ArrayLike, weights: ArrayLike | None) -> Any:
        if not isinstance(judged, Preferences):
            return table_of_pairs(checked_pairs(judged, len(self._scale)), weights)
        if judged.scale != self._scale:
            problem = f"judgments on the grades {judged.scale}, for a file of {self._scale}"
            raise InputError(problem, "give one `scale`")
        if weights is not None:
            raise InputError("weights beside judgments, which have their own", "leave them out")
        return table_of_judgments(judged)

    def _write(self, least: int) -> None:
        """Write row groups while at least so many rows are held."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        held: Any = pa.concat_tables(self._held).combine_chunks() if self._held else []
        while len(held) >= least:
            if self.writer is None:
                names = self._schema.names
                file = pq.ParquetWriter(
                    self._path,
                    self._schema,
                    use_dictionary=[one for one in names if one not in ("better", "worse")],
                    compression={one: "zstd" if one in ID_COLUMNS else "none" for one in names},
                    store_schema=True,
                )
                self.writer = self._stack.enter_context(file)
            self.writer.write_table(held[: self._rows].combine_chunks(), self._rows)
            held = held[self._rows :]
        self._held = [held] if len(held) else []
