"""A ``repr`` of dataclasses that writes the type and shape of an array, not its content."""

from __future__ import annotations

from dataclasses import fields
from reprlib import Repr
from typing import Any

import numpy as np

_SHORT = Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 4
_SHORT.maxstring = _SHORT.maxother = 80


class ShortRepr:
    """A ``repr`` for dataclasses declared with ``repr=False``."""

    def __repr__(self) -> str:
        shown = [f"{f.name}={_short(getattr(self, f.name))}" for f in fields(self) if f.repr]  # type: ignore[arg-type]  # a dataclass inherits it
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"<{value.dtype}, shape {value.shape}>"
    if type(value).__module__.startswith("pyarrow"):
        return f"<{type(value).__name__}, length {len(value)}>"
    if isinstance(value, tuple | list | dict | str):
        return _SHORT.repr(value)
    return repr(value)
