"""Records of the store: one line of JSON per cell, with a checksum of what was computed.

    {"version": 2, "key": ..., "cell": {...}, "result": {...}, "seconds": ..., "program": {...},
     "sha256": "..."}

``seconds`` is the processor time that the result took. It is another one each time, and no result
depends on it.
``sha256`` is the SHA-256 of the line up to the comma before it. A record is used only if its
checksum, its key (the hash of the cell) and its result are right, so that a changed byte is never
taken for a result. Records of earlier versions of this package have neither a checksum nor the
program; they are used if their key and their result are right.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from typing import Any

from dcglearn.base.fingerprint import fingerprint
from dcglearn.design.cells import CELL_VERSION, key_of, query_table_hash

_SHARES = ("precision", "p", "coverage", "determined", "bounded", "lapse_share")
_ROUNDING_ERROR = 1e-9  # how far above 1 rounding may move a similarity or a correlation

_CHECKSUM = b',"sha256":"'
_FIELDS = {"version", "key", "cell", "result", "error", "traceback"}


class UnreadableRecordError(ValueError):
    """The record is not whole: a run was killed while it wrote."""


class DamagedRecordError(ValueError):
    """The record was changed after it was written, or holds what no cell can result in."""


class OtherVersionError(ValueError):
    """The record is of another version of the cells."""


def encode_record(cell: dict[str, Any], outcome: dict[str, Any]) -> str:
    """Return the line that stores a cell.

    Parameters
    ----------
    cell : dict
    outcome : dict
        ``result`` or ``error``, as :func:`dcglearn.trials.compute.run_cell` returns.

    Returns
    -------
    str
        ASCII, without a line feed.
    """
    start = {"version": CELL_VERSION, "key": key_of(cell), "cell": cell}
    record = {**start, **outcome, "program": fingerprint()}
    content = json.dumps(record, separators=(",", ":"))[:-1].encode()
    return (content + _CHECKSUM + _end(content)).decode()


def decode_record(line: bytes) -> tuple[str, dict[str, Any]]:
    """Read the line of a cell.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    key : str
    outcome : dict
        ``result`` and perhaps ``seconds``, or ``error`` and perhaps ``traceback``.

    Raises
    ------
    UnreadableRecordError
        If it is not a record.
    OtherVersionError
        If it is a record of another version of the cells.
    DamagedRecordError
        If the checksum, the key or the result is wrong.

    Examples
    --------
    >>> line = encode_record({"seed": 1}, {"result": {"precision": 0.5}}).encode()
    >>> decode_record(line)[1]
    {'result': {'precision': 0.5}}
    >>> decode_record(line.replace(b"0.5", b"0.7"))
    Traceback (most recent call last):
        ...
    dcglearn.lab.records.DamagedRecordError: the checksum is not that of the record
    """
    try:
        record = json.loads(line)
        version, key, cell = record["version"], record["key"], record["cell"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableRecordError("it is not a record") from error
    if version != CELL_VERSION:
        raise OtherVersionError(f"it is of version {version} of the cells")
    if "sha256" in record:
        content, _, rest = line.strip().rpartition(_CHECKSUM)
        if rest != _end(content):
            raise DamagedRecordError("the checksum is not that of the record")
    elif not record.keys() <= _FIELDS:
        raise DamagedRecordError("it has no checksum")
    if not isinstance(cell, dict) or key != _hash(cell):
        raise DamagedRecordError("the key is not that of the cell")
    if isinstance(cell.get("queries"), list):  # as earlier versions of this package wrote it
        key = key_of({**cell, "queries": query_table_hash(cell["queries"])})
    if isinstance(record.get("error"), str) and "result" not in record:
        return key, {k: record[k] for k in ("error", "traceback") if k in record}
    problem = problem_of_result(record.get("result"))
    if problem is not None:
        raise DamagedRecordError(problem)
    return key, {"result": record["result"]} | _time_of(record)


def _time_of(record: dict[str, Any]) -> dict[str, float]:
    """Return the processor time of a result, if the record has one."""
    seconds = record.get("seconds")
    if not isinstance(seconds, int | float) or not _is_finite(seconds) or seconds < 0:
        return {}
    return {"seconds": seconds}


def _end(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b'"}'


def _hash(cell: dict[str, Any]) -> str | None:
    """Return the key of a cell, or None if it holds what no cell can hold."""
    try:
        return key_of(cell)
    except (ValueError, RecursionError):  # such as NaN
        return None


def problem_of_result(result: object) -> str | None:
    """Say why a cell cannot have a result, or return None if it can.

    Examples
    --------
    >>> problem_of_result({"precision": 99})
    'precision is 99'
    """
    if not isinstance(result, dict) or not result:
        return "it has no result"
    for name, value in result.items():
        numbers = value if isinstance(value, list) else [value]
        low, high = _range(name)
        if not numbers or not all(_is_finite(one) and low <= one <= high for one in numbers):
            return f"{name} is {value!r}"
    return None


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max  # not NaN; whole numbers have no inf


def _range(name: str) -> tuple[float, float]:  # smallest and largest possible value
    if name.partition(":")[0] in _SHARES:
        return 0.0, 1.0
    if name in ("similarity", "identifiable", "offset"):
        return -1 - _ROUNDING_ERROR, 1 + _ROUNDING_ERROR
    if name.endswith("_correlation"):
        return 0.0, 1 + _ROUNDING_ERROR
    return (0.0 if name in ("chosen_C", "draws", "drawn") else -math.inf), math.inf
