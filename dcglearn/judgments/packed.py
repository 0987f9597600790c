"""Packed judgments: Parquet files that are small, read in parts, and checked by a digest.

A row is a judgment. ``better`` and ``worse`` hold its lists, K bytes of grade indices each
(Parquet's own lists are many times slower to read). ``answer`` says how they were shown: list b is
in ``better`` if it is the preferred one, otherwise list a is. ``weight`` is a number, ``query`` and
``judge`` are text. Arrays of pairs have no sides, and at most the weights besides.

The head, JSON in the metadata, states the scale, K, and of each row group its rows and the SHA-256
of each column. The SHA-256 of the head is the digest of the content. What is decoded is compared
with them, so that no damage of pages, page headers or footer is read as other judgments.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, checked_suffix
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.sources import format_of_name
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats, Pairs
from dcglearn.correlation.agreement import checked_pairs, one_per_pair
from dcglearn.judgments.preferences import B, Preferences, put_preferred_first
from dcglearn.measures.scale import Scale

PACKED, HEAD, DIGEST = b"dcglearn.packed", b"dcglearn.head", b"dcglearn.digest"
LAYOUT = b"3"

ROW_GROUP_SIZE = 1 << 19
"""Judgments per row group; a row group is read at a time."""

MAX_GROUP_BYTES = 2**29
"""Row groups hold fewer judgments where these would have more bytes of grades per side."""

MAX_MEMORY = 8 * 2**30
"""Judgments that take more bytes are not read into memory."""

_LISTS, _IDS = ("better", "worse"), ("query", "judge")
_PAIRS = (*_LISTS, "answer", "weight")


class CodedIds(NamedTuple):
    """Ids as codes (n,), indices into their names, -1 where an id is missing."""

    codes: NDArray[np.integer]
    names: list[str]


class CodedJudgments(NamedTuple):
    """Judgments as :class:`Preferences` have them, with coded ids."""

    lists: Pairs
    answers: NDArray[np.int8]
    weights: Floats
    queries: CodedIds
    judges: CodedIds

    def preferences(self, scale: Scale, shared: dict[str, str]) -> Preferences:
        """Return them with ids as text, of which equal ones are one object, that of `shared`."""
        ids = (
            np.array([*(shared.setdefault(name, name) for name in names), None], object)[codes]
            for codes, names in (self.queries, self.judges)
        )
        return Preferences(self.lists, self.answers, scale, self.weights, *ids)


@dataclass(frozen=True)
class RowGroup:
    """One row group of a file, not yet read; `before` counts the rows of all files before it.

    Readers compare the digests, unless they are told that an earlier pass did.
    """

    path: str
    group: int
    before: int
    n_rows: int
    digests: Mapping[str, str]

    def read(self, check: bool = True) -> tuple[Pairs, Floats | None]:
        """Read the strict judgments as pairs, and their weights, None if each counts 1."""
        found = self._columns(_PAIRS, check)
        weights = found.get("weight")
        if weights is not None and (weights == 1).all():
            weights = None
        sides = [found[name] for name in _LISTS]
        if "answer" in found and (found["answer"] > B).any():
            strict = np.flatnonzero(found["answer"] <= B)
            sides = [side[strict] for side in sides]
            weights = None if weights is None else weights[strict]
        return _paired(sides), weights

    def read_judgments(self, with_ids: bool = True, check: bool = True) -> CodedJudgments:
        """Read all judgments; where the sides are unknown, list a is the preferred one."""
        found = self._columns((*_PAIRS, *_IDS) if with_ids else _PAIRS, check)
        n, lists = self.n_rows, _paired([found[name] for name in _LISTS])
        answers = found.get("answer", np.zeros(n, np.int8))
        put_preferred_first(lists, answers == B)
        unknown = CodedIds(np.full(n, -1), [])
        ids = (found.get(name, unknown) for name in _IDS)
        return CodedJudgments(lists, answers, found.get("weight", np.ones(n)), *ids)

    def _columns(self, wanted: Iterable[str], check: bool) -> dict[str, Any]:
        names = [name for name in wanted if name in self.digests]
        with _opened(self.path) as file:
            found = _decoded(file.read_row_group(self.group, names))
            if check and any(_digest(found[name]) != self.digests[name] for name in names):
                raise _damaged(self.path, "its content differs from its digest")
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
        Whether the files say how the lists were shown; otherwise all judgments are strict.
    digest : str
        The SHA-256 of the content; of several files, that of their digests.

    Examples
    --------
    >>> import tempfile
    >>> judged = Preferences.from_arrays([[2, 0]], [[1, 1]], ["tie"], queries=["q1"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with packed_writer(Path(folder, "p.parquet"), judged.scale) as write:
    ...         write(judged)
    ...     PackedPairs.of(folder).n_pairs
    1
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
    def of(cls, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> PackedPairs:
        """Open files and read their metadata.

        Parameters
        ----------
        path : path-like or sequence of these
            Files, or folders of files, with one scale and one K.

        Returns
        -------
        PackedPairs

        Raises
        ------
        InputError
            Naming the file: it does not exist, is damaged or does not hold packed pairs, or its
            K or scale differs from that of the first file.
        """
        places = [path] if isinstance(path, str | os.PathLike) else path
        paths = [file for place in places for file in _files(Path(place))]
        if not paths:
            raise InputError("holds no .parquet file", "name another folder", str(path))
        heads = [_head(file) for file in paths]
        first, row_groups, before = heads[0], [], 0
        for file, head in zip(paths, heads, strict=True):
            for name, word in (("n_ranks", "ranks"), ("scale", "grades")):
                if head[name] != first[name]:
                    problem = f"{word} {head[name]}, and {first[name]} in {paths[0].name}"
                    raise InputError(problem, "read the files one by one", str(file))
            for group, (n_rows, digests) in enumerate(head["row_groups"]):
                row_groups.append(RowGroup(str(file), group, before, n_rows, digests))
                before += n_rows
        return cls(
            tuple(row_groups),
            Scale(first["scale"]),
            first["n_ranks"],
            before,
            all("answer" in group.digests for group in row_groups),
            first["digest"] if len(heads) == 1 else _sha256(*(head["digest"] for head in heads)),
        )

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays of all judgments take in memory."""
        return self.n_pairs * (2 * self.n_ranks + 1 + 3 * 8)

    def check_sides(self) -> None:
        """Refuse pairs whose sides are unknown.

        Raises
        ------
        InputError
        """
        if not self.has_sides:
            raise InputError(
                "holds strict pairs without sides, ties, queries and judges",
                "pack judgments instead of arrays; only `fit` reads such pairs",
                self.row_groups[0].path,
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
            If they take more than :data:`MAX_MEMORY` bytes, the sides are unknown, or a file is
            damaged.
        """
        if not strict:
            self.check_sides()
        n_bytes = self.nbytes + bytes_each * self.n_pairs
        if n_bytes > MAX_MEMORY:
            raise InputError(
                f"{self.n_pairs:,} judgments take {n_bytes / 2**30:.1f} GiB in memory, more "
                f"than {MAX_MEMORY / 2**30:.0f}",
                "use `fit` or `test`, which read them in parts, or pack a sample of them",
                self.row_groups[0].path,
            )
        n = self.n_pairs
        lists, answers = np.empty((n, 2, self.n_ranks), np.int8), np.empty(n, np.int8)
        weights, queries, judges = np.empty(n), np.empty(n, object), np.empty(n, object)
        found = Preferences(lists, answers, self.scale, weights, queries, judges)
        shared: dict[str, str] = {}
        done = 0

        def load(group: RowGroup) -> None:
            nonlocal done
            rows = slice(group.before, group.before + group.n_rows)
            part = group.read_judgments().preferences(self.scale, shared)
            lists[rows], answers[rows], weights[rows] = part.lists, part.answers, part.weights
            queries[rows], judges[rows] = part.queries, part.judges
            done += group.n_rows
            advance(done, n)

        map_threads(load, self.row_groups)
        return found

    def batches(self) -> Iterator[Preferences]:
        """Read the judgments a row group at a time.

        Yields
        ------
        Preferences

        Raises
        ------
        InputError
            If the sides are unknown, or a file is damaged.
        """
        self.check_sides()
        for group in self.row_groups:
            yield group.read_judgments().preferences(self.scale, {})


@contextmanager
def packed_writer(path: str | Path, scale: Scale) -> Iterator[PackedWriter]:
    """Open a packed file for writing in batches; it is written whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.parquet``.
    scale : Scale

    Yields
    ------
    PackedWriter
        Called with :class:`Preferences`, which keep their sides, ties, weights, queries and judges;
        or with an array of pairs of shape (n, 2, K), the preferred list first, and weights or None.
        All calls are of one kind. The same judgments give the same bytes, whatever the batches.

    Raises
    ------
    InputError
        If the name or the judgments cannot be used, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> judged = Preferences.from_arrays([[2, 0]], [[1, 1]], ["tie"], queries=["q1"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "p.parquet")
    ...     with packed_writer(path, judged.scale) as write:
    ...         write(judged)
    ...     PackedPairs.of(path).preferences() == judged
    True
    """
    checked_suffix(path, [".parquet"])
    with atomic_write(path) as temporary:
        write = PackedWriter(temporary, scale)
        try:
            yield write
            write.finish(str(path))
        finally:
            write.close()


class PackedWriter:
    """Given by :func:`packed_writer`; adds judgments to a file, one row group at a time."""

    def __init__(self, path: Path, scale: Scale) -> None:
        self._path, self._scale = path, scale
        self._file: Any = None
        self._held: list[Any] = []
        self._row_groups: list[tuple[int, dict[str, str]]] = []

    def __call__(self, judged: Preferences | ArrayLike, weights: ArrayLike | None = None) -> None:
        """Add judgments, or pairs of shape (n, 2, K) with their weights, shape (n,)."""
        import pyarrow.parquet as pq

        if isinstance(judged, Preferences) and (judged.scale != self._scale or weights is not None):
            problem = f"judgments on the grades {judged.scale}, or with other weights than theirs"
            raise InputError(problem, f"give judgments on the grades {self._scale} alone")
        table = _table(judged, weights, len(self._scale))
        if self._file is None:
            names = table.column_names
            self._file = pq.ParquetWriter(
                self._path,
                table.schema.with_metadata({PACKED: LAYOUT}),
                use_dictionary=[name for name in names if name not in _LISTS],
                compression={name: "zstd" if name in _IDS else "none" for name in names},
            )
        if table.schema != self._file.schema:
            problem = f"a batch of lists of {_n_ranks(table)} with {table.column_names[2:]} differs"
            raise InputError(problem, "give batches of one K, all judgments or all pairs")
        self._held.append(table)
        self._write(whole=True)

    def finish(self, name: str) -> None:
        """Write the judgments that are left, and the head."""
        if self._file is not None:
            self._write(whole=False)
        if not self._row_groups:
            raise InputError("no pair to write", "give at least one", name)
        head = {
            "scale": list(self._scale.labels),
            "n_ranks": _n_ranks(self._held[0]),
            "row_groups": self._row_groups,
        }
        text = json.dumps(head)
        self._file.add_key_value_metadata({HEAD: text, DIGEST: _sha256(text)})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, whole: bool) -> None:
        """Write row groups, only whole ones or all."""
        import pyarrow as pa

        rows = min(ROW_GROUP_SIZE, max(1, MAX_GROUP_BYTES // _n_ranks(self._held[0])))
        if whole and sum(map(len, self._held)) < rows:
            return
        held = pa.concat_tables(self._held)
        while len(held) >= (rows if whole else 1):
            part, held = held[:rows].combine_chunks(), held[rows:]
            digests = {name: _digest(column) for name, column in _decoded(part).items()}
            self._row_groups.append((len(part), digests))
            self._file.write_table(part, rows)
        self._held = [held]


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a file of packed judgments, or a folder that holds some."""
    place = Path(path)
    if place.is_dir():
        return any(map(is_packed, _parquet_files(place)))
    if place.suffix.lower() != ".parquet" or not place.is_file():
        return False
    try:
        with _opened(place) as file:
            return PACKED in (file.metadata.metadata or {})
    except InputError:
        return False


def _parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder; names with a leading dot are still being written."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() == ".parquet" and not file.name.startswith(".")
    )


def _files(place: Path) -> list[Path]:
    """Return the files of a place; judgments of other formats beside them are refused."""
    if not place.is_dir():
        return [place]
    for file in sorted(place.iterdir()):
        if file.name.startswith((".", "_")) or format_of_name(file.name) in (None, "parquet"):
            continue
        problem = f"holds packed judgments, and {file.name}, which would not be read"
        raise InputError(problem, "name the files", str(place))
    return _parquet_files(place)


def _head(path: Path) -> dict[str, Any]:
    """Return the head of a file, with its digest."""
    with _opened(path) as file:
        given = file.metadata.metadata or {}
        if given.get(PACKED) != LAYOUT:
            problem = "does not hold packed pairs of this version"
            raise InputError(problem, "write them with dcglearn pack", str(path))
        text, digest = given[HEAD].decode(), given[DIGEST].decode()
        if _sha256(text) != digest:
            raise _damaged(path, "its head differs from its digest")
        head: dict[str, Any] = json.loads(text)
    return {**head, "digest": digest}


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    """Open a Parquet file; whatever its reader raises means that the file is damaged."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", str(path)) from error
    except Exception as error:
        raise _damaged(path, " ".join(str(error).split())[:100]) from error


def _damaged(path: str | Path, reason: str) -> InputError:
    return InputError(f"is a damaged file, or not Parquet ({reason})", "write it again", str(path))


def _table(judged: Preferences | ArrayLike, weights: ArrayLike | None, n_grades: int) -> Any:
    """Return judgments, or pairs and weights, as the columns of a file."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    if isinstance(judged, Preferences):
        lists, weights = judged.lists.copy(), judged.weights
        put_preferred_first(lists, judged.answers == B)
        columns["answer"] = pa.array(judged.answers)
        columns["query"] = pa.array(judged.queries, pa.string())
        columns["judge"] = pa.array(judged.judges, pa.string())
    else:
        lists = checked_pairs(judged, n_grades).astype(np.int8)
    if weights is not None:
        columns["weight"] = pa.array(one_per_pair(weights, len(lists), "weights", 0.0))
    n, _, K = lists.shape
    for side, name in enumerate(_LISTS):
        content = pa.py_buffer(np.ascontiguousarray(lists[:, side]))
        columns[name] = pa.FixedSizeBinaryArray.from_buffers(pa.binary(K), n, [None, content])
    return pa.table({name: columns[name] for name in (*_PAIRS, *_IDS) if name in columns})


def _n_ranks(table: Any) -> int:
    return int(table.schema.field("better").type.byte_width)


def _decoded(table: Any) -> dict[str, Any]:
    """Return the columns of a table: lists as items of K bytes, ids by first appearance."""
    import pyarrow.compute as pc

    found: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in _LISTS:
            lists = column.combine_chunks()
            items = np.frombuffer(lists.buffers()[1], f"V{lists.type.byte_width}")
            found[name] = items[lists.offset : lists.offset + len(lists)]
        elif name in _IDS:
            coded = pc.dictionary_encode(column.combine_chunks())
            codes = coded.indices.fill_null(-1).to_numpy()
            found[name] = CodedIds(codes, coded.dictionary.to_pylist())
        else:
            found[name] = column.to_numpy()
    return found


def _digest(column: NDArray[Any] | CodedIds) -> str:
    """Return the SHA-256 of the values of a column and of their type."""
    if isinstance(column, CodedIds):
        return _sha256(_digest(column.codes), json.dumps(column.names))
    found = hashlib.sha256(f"{column.dtype.str}{column.shape}".encode())
    found.update(np.ascontiguousarray(column).data)
    return found.hexdigest()


def _sha256(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _paired(sides: Sequence[NDArray[np.void]]) -> Pairs:
    """Return better and worse lists, each an item of K bytes, as pairs (n, 2, K)."""
    pairs = np.stack(sides, axis=1)
    return pairs.view(np.int8).reshape(len(pairs), 2, pairs.dtype.itemsize)
