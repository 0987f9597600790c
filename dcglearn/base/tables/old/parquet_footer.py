"""What the footer of a Parquet file says about the size of its columns, read without pyarrow.

pyarrow ends the process where the metadata of a column are damaged (an exception that its Python
class does not catch). The footer is a struct in Thrift's compact protocol:
https://github.com/apache/parquet-format and https://github.com/apache/thrift/blob/master/doc/specs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = (
    *(0, 1, 2, 3),
    *(7, 8, 9, 10, 11, 12, 13),
)
_MAX_DEPTH = 16


@dataclass(frozen=True)
class ColumnSize:
    """The size of a column in a row group.

    Attributes
    ----------
    group : int
        The number of the row group.
    name : str
        The column; of nested columns, the outermost.
    values : int
        The number of its values, those of all lists together.
    compressed, uncompressed : int
        Bytes.
    """

    group: int
    name: str
    values: int
    compressed: int
    uncompressed: int


def column_sizes(path: Path) -> list[ColumnSize]:
    """Return the sizes of all columns in all row groups.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    list of ColumnSize

    Raises
    ------
    ValueError
        If the footer is damaged.
    OSError
        If the file cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or length > size - 8:
            raise ValueError("no footer")
        file.seek(size - 8 - length)
        footer = file.read(length)
    try:
        groups = _Compact(footer).struct(0)[4]
        return [
            ColumnSize(number, about[3][0].decode(), about[5], about[7], about[6])
            for number, group in enumerate(groups)
            for about in (column[3] for column in group[1])
        ]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError("a damaged footer") from error


class _Compact:
    """A reader of Thrift's compact protocol; a struct becomes a dict from field numbers."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def struct(self, depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        while (head := self._byte()) != _STOP:
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            head = self._byte()
            size = self._varint() if head >> 4 == 15 else head >> 4
            return self._list(size, (head & 15,), depth)
        if kind == _MAP:
            size = self._varint()
            kinds = self._byte() if size else 0
            return self._list(size, (kinds >> 4, kinds & 15), depth)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in (_DOUBLE, _UUID):
            return self._bytes(8 if kind == _DOUBLE else 16)
        if _BYTE < kind < _DOUBLE:
            return self._signed()
        raise ValueError("an unknown type")

    def _list(self, size: int, kinds: tuple[int, ...], depth: int) -> list[Any]:
        if size > len(self._content) or depth > _MAX_DEPTH:
            raise ValueError("a list that is too long or too deep")
        return [self._value(kind, depth + 1) for _ in range(size) for kind in kinds]

    def _signed(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _varint(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise ValueError("a number that is too long")

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _bytes(self, length: int) -> bytes:
        self._at += length
        if self._at > len(self._content):
            raise ValueError("text beyond the end")
        return self._content[self._at - length : self._at]
