"""A measure, which is a DCG or any linear utility of grades by rank, and files of one or both.

Files are JSON. ``use`` says which of the two the file's name means; the name followed by ``:dcg``
or ``:utility`` selects the other. ``about`` holds facts about the origin of the numbers.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from dcglearn.base.errors import InputError, check_name, errors_at
from dcglearn.base.files import decode_json, read_text, write_text
from dcglearn.base.types import ShortRepr
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility

Measure = DCG | LinearUtility
"""A measure that is linear in the gains; :func:`dcglearn.evaluate` takes others as well."""

TIE_TOLERANCE = 1e-12
"""Relative size of a difference that counts as 0.

Equal terms added in another order differ by rounding. The difference is compared with the
largest sum that the ranks at which two rankings differ can contribute."""

_HEAD = {"format": "dcglearn measure", "version": 1}

MeasurePart = Literal["dcg", "utility"]

_FIRST_KEY = re.compile(rb'\{\s*"([^"\\]*)"')
_KEYS = {*_HEAD, "use", "dcg", "utility", "about"}


@dataclass(frozen=True, repr=False)
class MeasureFile(ShortRepr):
    """The content of a measure file.

    Parameters
    ----------
    dcg : DCG, optional
    utility : LinearUtility, optional
        At least one of the two.
    use : {"dcg", "utility"}
        Which of the two is the measure of the file.
    about : mapping
        Facts about the origin of the numbers, of JSON types.

    Examples
    --------
    >>> MeasureFile(DCG([1, 0]), about={"source": "a guess"})
    MeasureFile(dcg=DCG([1, 0], log2), utility=None, use='dcg')
    """

    dcg: DCG | None = None
    utility: LinearUtility | None = None
    use: MeasurePart = "dcg"
    about: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)

    def __post_init__(self) -> None:
        self.pick(self.use)
        if self.dcg is None or self.utility is None:
            return
        K, L = self.utility.n_ranks, self.utility.n_grades
        if (self.dcg.n_ranks or K, self.dcg.n_grades) != (K, L):
            problem = f"a utility of {K} ranks and {L} grades, and a dcg of other ones"
            raise InputError(problem, "give a DCG and a utility of the same size")

    @property
    def measure(self) -> Measure:
        """The part of the file that `use` names."""
        return self.pick(self.use)

    def pick(self, use: str) -> Measure:
        """Return one of the two measures."""
        check_name(use, "part of a measure file", ("dcg", "utility"))
        part = self.dcg if use == "dcg" else self.utility
        if part is None:
            raise InputError(f"holds no {use}", "use the other part")
        return part


def write_measure(content: MeasureFile | Measure, path: str | os.PathLike[str]) -> None:
    """Write a measure file atomically.

    Parameters
    ----------
    content : MeasureFile, DCG or LinearUtility
    path : path-like
        By convention ``.json``.
    """
    write_text(path, measure_to_json(content))


def read_measure(path: str | os.PathLike[str]) -> MeasureFile:
    """Read a measure file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    MeasureFile
    """
    text = read_text(path)
    with errors_at(str(path)):
        return measure_from_json(text)


def begins_as_measure(path: Path) -> bool:
    """Return whether a file begins as a measure file does, or at least not as JSON records do."""
    with path.open("rb") as file:
        head = file.read(1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n")
    key = _FIRST_KEY.match(head)
    return not head.startswith(b"[") and (key is None or key[1].decode("ascii", "replace") in _KEYS)


def as_measure_file(content: MeasureFile | Measure) -> MeasureFile:
    """Return what a file of a measure holds."""
    if isinstance(content, DCG):
        return MeasureFile(dcg=content)
    if isinstance(content, LinearUtility):
        return MeasureFile(utility=content, use="utility")
    if not isinstance(content, MeasureFile):
        raise InputError(
            f"a measure of type {type(content).__name__}", "give a DCG or a LinearUtility"
        )
    return content


def measure_document(content: MeasureFile) -> dict[str, Any]:
    """Return the content of a measure file as a JSON-able dict."""
    held = {key: value for key, value in asdict(content).items() if value}
    return {**_HEAD, "use": content.use, **held}


def measure_to_json(content: MeasureFile | Measure) -> str:
    """Return the text of a measure file, from which floats are read back exactly."""
    return as_json(measure_document(as_measure_file(content)))


def measure_from_json(text: str) -> MeasureFile:
    """Parse the text of a measure file."""
    document = decode_json(text, "give a measure file")
    if not isinstance(document, dict) or any(document.get(k) != v for k, v in _HEAD.items()):
        raise InputError("is not a measure file", f"it must hold {json.dumps(_HEAD)}")
    for key in document:
        check_name(key, "key", _KEYS)
    held = {key: value for key, value in document.items() if key not in _HEAD}
    for key, kind in (("dcg", DCG), ("utility", LinearUtility)):
        if held.get(key) is not None:
            with errors_at(f'"{key}"'):
                try:
                    held[key] = kind(**held[key])
                except TypeError as error:
                    raise InputError(f"cannot be read ({error})") from error
    return MeasureFile(**held)


def as_json(document: Mapping[str, Any]) -> str:
    """Format a document with indents; a list of numbers or names stays on one line."""

    def lay_out(value: Any, indent: str) -> str:
        inner = indent + "  "
        if isinstance(value, Mapping) and value:
            rows = [f"{json.dumps(str(k))}: {lay_out(v, inner)}" for k, v in value.items()]
            first, last = "{}"
        elif isinstance(value, list | tuple) and any(
            isinstance(item, list | tuple | Mapping) for item in value
        ):
            rows = [lay_out(item, inner) for item in value]
            first, last = "[]"
        else:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
        return f"{first}\n{inner}" + f",\n{inner}".join(rows) + f"\n{indent}{last}"

    return lay_out(document, "") + "\n"
