"""Packed judgments: Parquet files that are small, read in parts, and checked by a digest.

A row is a judgment. ``lists`` holds 2K bytes of grade indices (Parquet's own lists are many times
slower to read); ``answer`` and ``weight`` are numbers, ``query`` and ``judge`` text. The head, JSON
in the metadata, states the scale, K, whether sides are known, and the rows and SHA-256 of each row
group, with which readers compare what they decode. Its own SHA-256 is the digest of the content.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import PathLike, atomic_write, checked_suffix, guarded
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import Column, column_of
from dcglearn.base.tables.sources import format_of_name
from dcglearn.base.threads import map_in_order
from dcglearn.base.types import Booleans, Floats, Pairs
from dcglearn.judgments.preferences import B, Preferences, concatenated, swap_lists
from dcglearn.measures.agreement import checked_pairs, one_per_pair
from dcglearn.measures.scale import Scale

HEAD, DIGEST = b"dcglearn.judgments", b"dcglearn.digest"

ROW_GROUP_SIZE = 1 << 19
"""Judgments that are read at a time."""

MAX_MEMORY = 8 * 2**30
"""Judgments that take more bytes are not read into memory."""

_SHOWN, _IDS = ("lists", "answer", "weight"), ("query", "judge")


class CodedJudgments(NamedTuple):
    """Judgments as :class:`Preferences` have them, with coded ids."""

    lists: Pairs
    answers: NDArray[np.int8]
    weights: Floats
    queries: Column
    judges: Column


@dataclass(frozen=True)
class RowGroup:
    """One row group of a file, not yet read; `before` counts the rows of all files before it.

    Readers `check` the digest, unless an earlier pass did.
    """

    path: str
    group: int
    before: int
    n_rows: int
    digest: str

    def read(self, check: bool = True) -> tuple[Pairs, Floats, Booleans]:
        """Read the strict judgments: pairs, their weights, and whether list b won."""
        lists, answers, weights, *_ = self.read_judgments(False, check)
        strict = np.flatnonzero(answers <= B)
        pairs, b_wins = lists.take(strict, axis=0), answers[strict] == B
        swap_lists(pairs, b_wins)
        return pairs, weights[strict], b_wins

    def read_judgments(self, with_ids: bool = True, check: bool = True) -> CodedJudgments:
        """Read all judgments."""
        names = None if with_ids or check else list(_SHOWN)
        with _opened(self.path) as file:
            found = _decoded(file.read_row_group(self.group, names))
            if check and _digest(found) != self.digest:
                raise ValueError("its content differs from its digest")
        return found


@dataclass(frozen=True)
class PackedPairs:
    """Packed judgments in files that are read part by part.

    Attributes
    ----------
    row_groups : tuple of RowGroup
    scale : Scale
    n_ranks, n_pairs : int
        K, and the number of judgments, ties included.
    has_sides : bool
        Whether it is known on which side each list was shown; of arrays of pairs it is not.
    digest : str
        The SHA-256 of the content; of several files, that of their digests.

    Examples
    --------
    >>> import tempfile
    >>> judged = Preferences.from_arrays([[2, 0]], [[1, 1]], ["tie"], queries=["q1"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with packed_writer(Path(folder, "p.parquet"), judged.scale) as write:
    ...         write(judged)
    ...     PackedPairs.of(folder).preferences() == judged
    True
    """

    row_groups: tuple[RowGroup, ...]
    scale: Scale
    n_ranks: int
    n_pairs: int
    has_sides: bool
    digest: str

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return len(self.scale)

    @classmethod
    def of(cls, path: PathLike | Sequence[PathLike]) -> PackedPairs:
        """Open one or more files, or folders of files, of one scale and one K."""
        places = [path] if isinstance(path, str | os.PathLike) else path
        paths = [file for place in places for file in _files(place)]
        if not paths:
            raise InputError("holds no .parquet file", "name another folder", str(path))
        heads = [_head(file) for file in paths]
        first, row_groups, before = heads[0], [], 0
        for file, head in zip(paths, heads, strict=True):
            for name in ("n_ranks", "scale"):
                if head[name] != first[name]:
                    problem = f"`{name}` is {head[name]}, and {first[name]} in {paths[0].name}"
                    raise InputError(problem, "read the files one by one", str(file))
            for group, (n_rows, digest) in enumerate(head["row_groups"]):
                row_groups.append(RowGroup(str(file), group, before, n_rows, digest))
                before += n_rows
        digests = [head["digest"] for head in heads]
        return cls(
            tuple(row_groups),
            Scale(first["scale"]),
            first["n_ranks"],
            before,
            all(head["has_sides"] for head in heads),
            _sha256("\n".join(digests)) if len(digests) > 1 else digests[0],
        )

    def __len__(self) -> int:
        return self.n_pairs

    def check_sides(self) -> None:
        """Refuse pairs whose sides are unknown."""
        if not self.has_sides:
            raise InputError(
                "holds arrays of pairs, which do not say how the lists were shown",
                "pack judgments instead; only `fit` takes such pairs",
                self.row_groups[0].path,
            )

    def preferences(
        self, strict: bool = False, bytes_each: int = 0, advance: Advance = silent
    ) -> Preferences:
        """Read all judgments into memory.

        Parameters
        ----------
        strict : bool, default False
            Whether to read judgments whose sides are unknown, too, the preferred list as list a.
        bytes_each : int, default 0
            Bytes per judgment that will be needed besides; more than 8 GiB in all are refused.
        advance : callable
            Called with (judgments read, judgments in all).
        """
        if not strict:
            self.check_sides()
        n_bytes = self.n_pairs * (2 * (2 * self.n_ranks + 1 + 3 * 8) + bytes_each)
        if n_bytes > MAX_MEMORY:
            raise InputError(
                f"{self.n_pairs:,} judgments take {n_bytes / 2**30:.1f} GiB in memory, more "
                f"than {MAX_MEMORY / 2**30:.0f}",
                "use `fit` or `test`, which read them in parts, or pack a sample of them",
                self.row_groups[0].path,
            )
        parts = []
        for part in self._parts():
            parts.append(part)
            advance(sum(map(len, parts)), self.n_pairs)
        return concatenated(parts)

    def counts(self) -> dict[str, Any]:
        """Return what reading leaves out, which is nothing, and the hash of the content."""
        return {
            "judgments_left_out": 0,
            "documents_without_grade": 0,
            "counted_as": None,
            "looked_up": None,
            "ignored_columns": [],
            "digest": self.digest,
        }

    def batches(self) -> Iterator[Preferences]:
        """Read the judgments a row group at a time."""
        self.check_sides()
        return self._parts()

    def _parts(self) -> Iterator[Preferences]:
        for part in map_in_order(RowGroup.read_judgments, self.row_groups):
            lists, answers, weights, *ids = part
            texts = (one.decoded() for one in ids)
            yield Preferences(lists, answers, self.scale, weights, *texts)


@contextmanager
def packed_writer(path: PathLike, scale: Scale) -> Iterator[PackedWriter]:
    """Open a packed file for writing in batches; it is written whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.parquet``.
    scale : Scale

    Yields
    ------
    PackedWriter
        Called with :class:`Preferences`; or with pairs of shape (n, 2, K), the preferred list
        first, and their weights. The same judgments give the same bytes, whatever the batches.

    Examples
    --------
    See :class:`PackedPairs`.
    """
    checked_suffix(path, [".parquet"])
    with atomic_write(path) as temporary, ExitStack() as files:
        write = PackedWriter(temporary, scale, files)
        yield write
        write.finish(str(path))


class PackedWriter:
    """Adds judgments to a file; given by :func:`packed_writer`."""

    def __init__(self, path: Path, scale: Scale, files: ExitStack) -> None:
        self._path, self._scale, self._files = path, scale, files
        self._file: Any = None
        self._held, self._row_groups = list[Preferences](), list[tuple[int, str]]()
        self._n, self._has_sides = 0, True

    def __call__(self, judged: Preferences | ArrayLike, weights: ArrayLike | None = None) -> None:
        """Add judgments, or pairs of shape (n, 2, K) with their weights, shape (n,)."""
        if not isinstance(judged, Preferences):  # as if the preferred list were list a
            lists = checked_pairs(judged, len(self._scale)).astype(np.int8, order="C")
            n = len(lists)
            given = np.ones(n) if weights is None else one_per_pair(weights, n, "weights", 0.0)
            nobody = np.full(n, None, object)
            answers = np.zeros(n, np.int8)
            judged = Preferences(lists, answers, self._scale, given, nobody, nobody)
            self._has_sides = False
        elif judged.scale != self._scale or weights is not None:
            problem = f"judgments on the grades {judged.scale}, or with other weights than theirs"
            raise InputError(problem, f"give judgments on the grades {self._scale} alone")
        self._held.append(judged)
        if judged.n_ranks != self._held[0].n_ranks:
            problem = f"lists of {judged.n_ranks} after lists of {self._held[0].n_ranks}"
            raise InputError(problem, "give batches of one K")
        self._n += len(judged)
        if self._n >= (len(self._row_groups) + 1) * ROW_GROUP_SIZE:
            self._write(ROW_GROUP_SIZE)

    def finish(self, name: str) -> None:
        """Write the judgments that are left, and the head."""
        if not self._n:
            raise InputError("no pair to write", "give at least one", name)
        self._write(1)
        head = {
            "scale": list(self._scale.labels),
            "n_ranks": self._held[0].n_ranks,
            "has_sides": self._has_sides,
            "row_groups": self._row_groups,
        }
        text = json.dumps(head)
        self._file.add_key_value_metadata({HEAD: text, DIGEST: _sha256(text)})

    def _write(self, least: int) -> None:
        """Write what is held in row groups, the last of at least so many judgments."""
        import pyarrow.parquet as pq

        held = concatenated(self._held)
        while len(held) >= least:
            part, held = held[:ROW_GROUP_SIZE], held[ROW_GROUP_SIZE:]
            table = _table(part)
            self._row_groups.append((len(part), _digest(_decoded(table))))
            if self._file is None:
                self._file = pq.ParquetWriter(
                    self._path,
                    table.schema,
                    use_dictionary=[*_SHOWN[1:], *_IDS],
                    compression=dict.fromkeys(_SHOWN, "none") | dict.fromkeys(_IDS, "zstd"),
                )
                self._files.enter_context(self._file)
            self._file.write_table(table, ROW_GROUP_SIZE)
        self._held = [held]


def is_packed(path: PathLike) -> bool:
    """Return whether a file, or one of a folder, holds packed judgments."""
    for file in _files(path):
        if format_of_name(file.name) == "parquet":
            with suppress(InputError), _opened(file) as found:
                if HEAD in (found.metadata.metadata or {}):
                    return True
    return False


def _files(path: PathLike) -> list[Path]:
    place = Path(path)
    if not place.is_dir():
        return [place]
    files = sorted(place.iterdir())
    return [file for file in files if file.name[0] not in "._" and format_of_name(file.name)]


def _head(path: Path) -> dict[str, Any]:
    with _opened(path) as file:
        given = file.metadata.metadata or {}
        if HEAD not in given:
            raise InputError(
                "does not hold packed pairs", "write them with dcglearn pack", str(path)
            )
        text, digest = given[HEAD].decode(), given[DIGEST].decode()
        if _sha256(text) != digest:
            raise ValueError("its head differs from its digest")
        return {**json.loads(text), "digest": digest}


@contextmanager
def _opened(path: PathLike) -> Iterator[Any]:
    """Open a Parquet file; any error in the block means that it is damaged."""
    import pyarrow.parquet as pq

    with guarded(str(path), "Parquet"), pq.ParquetFile(path) as file:
        yield file


def _table(judged: Preferences) -> Any:
    import pyarrow as pa

    lists = np.ascontiguousarray(judged.lists)
    content = [None, pa.py_buffer(lists)]
    columns = [
        pa.FixedSizeBinaryArray.from_buffers(pa.binary(lists[0].size), len(lists), content),
        pa.array(judged.answers),
        pa.array(judged.weights),
        pa.array(judged.queries, pa.string()),
        pa.array(judged.judges, pa.string()),
    ]
    return pa.table(columns, [*_SHOWN, *_IDS])


def _decoded(table: Any) -> CodedJudgments:
    """Return the judgments of a table, without ids if it has no columns of them."""
    import pyarrow as pa

    n, names = len(table), table.column_names
    content = np.frombuffer(table["lists"].combine_chunks().buffers()[1], np.int8)
    numbers = (table[name].to_numpy() for name in _SHOWN[1:])
    held = (table[name].combine_chunks() if name in names else pa.nulls(n) for name in _IDS)
    ids = (Column(one.codes, list(map(sys.intern, one.values))) for one in map(column_of, held))
    return CodedJudgments(content.reshape(n, 2, -1), *numbers, *ids)


def _digest(judged: CodedJudgments) -> str:
    found = hashlib.sha256()
    for column in judged:
        held, ids = (column.codes, column.values) if isinstance(column, Column) else (column, [])
        found.update(json.dumps([held.dtype.str, held.shape, ids]).encode())
        found.update(np.ascontiguousarray(held).data)
    return found.hexdigest()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
