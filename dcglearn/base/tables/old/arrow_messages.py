"""What the messages of an Arrow file unpack to, before any of them is unpacked.

A batch of records may be compressed buffer by buffer; each buffer begins with the size it unpacks
to, and pyarrow allocates that at once. Where the buffers are is said by a FlatBuffers table of the
message. A stream holds one message after the other, a file those that its footer names:
https://arrow.apache.org/docs/format/Columnar.html and https://flatbuffers.dev/internals.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.tables.old.compressed import MAX_DECOMPRESSED, MAX_RATIO

_MAGIC = b"ARROW1\0\0"
_END = b"ARROW1"
_BLOCKS = (2, 3)
_BLOCK = "<qi4xq"
"""Where a message of a file is: its offset, and the lengths of its metadata and of its body."""

_HEADER_TYPE, _HEADER = 1, 2
_DICTIONARY, _RECORDS = 2, 3
_DICTIONARY_DATA = 1
_BUFFERS, _COMPRESSION = 2, 3


def check_arrow_size(content: Any, name: str) -> None:
    """Refuse an Arrow file of which a batch unpacks to far more than it takes.

    Parameters
    ----------
    content : pyarrow.NativeFile
        At its beginning. It is read to its end, but for what is in the batches.
    name : str
        For messages.

    Raises
    ------
    InputError
        If a batch holds more than :data:`~dcglearn.base.tables.old.compressed.MAX_DECOMPRESSED` bytes, and
        over :data:`~dcglearn.base.tables.old.compressed.MAX_RATIO` times its compressed size.
    pyarrow.ArrowInvalid
        If a message is damaged.
    """
    import pyarrow as pa

    is_file = content.read(len(_MAGIC)) == _MAGIC
    content.seek(0)
    messages = _messages_of_file(content) if is_file else pa.ipc.MessageReader.open_stream(content)
    for message in messages:
        try:
            size = _unpacked_size(message)
        except (struct.error, IndexError) as error:
            raise pa.ArrowInvalid("a message is damaged") from error
        if size > max(MAX_DECOMPRESSED, MAX_RATIO * message.body.size):
            problem = f"a batch that unpacks to {size / 2**20:,.0f} MiB"
            remedy = "write it without compression if that is right"
            raise InputError(f"{problem}, over {MAX_RATIO} times its size", remedy, name)


def _messages_of_file(content: Any) -> Iterator[Any]:
    """Iterate over the messages that the footer of a file names, which are those that are read."""
    import pyarrow as pa

    end = content.size() - len(_END) - 4
    try:
        content.seek(end)
        size = struct.unpack("<i", content.read(4))[0]
        content.seek(end - size)
        footer = _Table.root(memoryview(content.read(size)))
        blocks = [block for field in _BLOCKS for block in footer.vector(field, _BLOCK)]
    except (struct.error, IndexError, OSError, ValueError) as error:
        raise pa.ArrowInvalid("the file is cut short or damaged") from error
    for offset, _, _ in blocks:
        content.seek(offset)
        yield pa.ipc.read_message(content)


def _unpacked_size(message: Any) -> int:
    """Return the bytes that the buffers of a message unpack to, 0 if they are not compressed."""
    if message.body is None or message.metadata is None:
        return 0
    table = _Table.root(memoryview(message.metadata))
    kind = table.byte(_HEADER_TYPE)
    if kind not in (_DICTIONARY, _RECORDS):
        return 0
    batch = table.table(_HEADER)
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(_DICTIONARY_DATA)
    if batch is None or batch.table(_COMPRESSION) is None:
        return 0
    body = memoryview(message.body)
    sizes = (
        struct.unpack_from("<q", body, start)[0] if length else 0
        for start, length in batch.vector(_BUFFERS, "<qq")
    )
    return sum(size for size in sizes if size > 0)  # -1: this one is not compressed


class _Table:
    """A table of FlatBuffers."""

    def __init__(self, content: memoryview, place: int) -> None:
        self._content, self._place = content, place

    @classmethod
    def root(cls, content: memoryview) -> _Table:
        return cls(content, struct.unpack_from("<I", content, 0)[0])

    def _field(self, number: int) -> int:
        """Return where a field is, 0 if it is not there."""
        names = self._place - struct.unpack_from("<i", self._content, self._place)[0]
        entry = 4 + 2 * number
        if entry >= struct.unpack_from("<H", self._content, names)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self._content, names + entry)[0]
        return self._place + offset if offset else 0

    def _target(self, number: int) -> int:
        place = self._field(number)
        return place and place + int(struct.unpack_from("<I", self._content, place)[0])

    def byte(self, number: int) -> int:
        place = self._field(number)
        return self._content[place] if place else 0

    def table(self, number: int) -> _Table | None:
        place = self._target(number)
        return _Table(self._content, place) if place else None

    def vector(self, number: int, layout: str) -> list[tuple[int, ...]]:
        """Return a vector of structs of numbers."""
        place = self._target(number)
        if not place:
            return []
        size = struct.unpack_from("<I", self._content, place)[0]
        end = place + 4 + struct.calcsize(layout) * size
        return list(struct.iter_unpack(layout, self._content[place + 4 : end]))
