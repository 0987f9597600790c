"""Files that tests write: any content, judgments as JSON lines or packed, qrels and runs."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from numpy.typing import ArrayLike

from dcglearn import Preferences, Scale, packed_writer

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
"""By the suffix of a file's name."""


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, with its folder; line ends stay as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_records(path: Path, *records: Mapping[str, object]) -> Path:
    """Write records as JSON lines."""
    return write(path, "".join(json.dumps(record) + "\n" for record in records))


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, object]]) -> Path:
    """Write grades by query and document."""
    rows = [(q, d, grade) for q, docs in qrels.items() for d, grade in docs.items()]
    return write(path, "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in rows))


def write_run(path: Path, run: Mapping[str, Mapping[str, float]], tag: str = "run") -> Path:
    """Write scores by query and document; all ranks are 1, because nothing reads them."""
    rows = [(q, d, score) for q, docs in run.items() for d, score in docs.items()]
    return write(path, "".join(f"{q} Q0 {d} 1 {score} {tag}\n" for q, d, score in rows))


def write_packed(
    judged: Preferences | ArrayLike, path: Path, scale: Scale, weights: ArrayLike | None = None
) -> None:
    """Write judgments, or pairs and their weights, to a packed file."""
    with packed_writer(path, scale) as write:
        write(judged, weights)
