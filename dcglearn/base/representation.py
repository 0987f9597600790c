"""A ``repr`` of dataclasses that writes the type and shape of an array, not its content."""

from __future__ import annotations

from dataclasses import fields
from reprlib import Repr
from typing import Any

from numpy.typing import NDArray


class _Short(Repr):
    def repr_ndarray(self, array: NDArray[Any], level: int) -> str:
        return f"<{array.dtype}, shape {array.shape}>"

    def repr_StringArray(self, array: Any, level: int) -> str:
        return f"<{array.type}, shape ({len(array)},)>"


_SHORT = _Short()
_SHORT.maxtuple = _SHORT.maxlist = 4
_SHORT.maxstring = _SHORT.maxother = 80


class ShortRepr:
    """A ``repr`` for dataclasses declared with ``repr=False``."""

    def __repr__(self) -> str:
        shown = [f"{f.name}={_SHORT.repr(getattr(self, f.name))}" for f in fields(self) if f.repr]  # type: ignore[arg-type]  # a dataclass inherits it
        return f"{type(self).__name__}({', '.join(shown)})"
