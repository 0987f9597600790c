"""Short representations of objects that hold arrays.

The ``repr`` of a dataclass writes its arrays in full, which fills the screen and hides the rest.
:class:`ShortRepr` writes what an array is instead: its type and shape.
"""

from __future__ import annotations

from dataclasses import fields
from reprlib import Repr
from typing import Any

import numpy as np

_SHORT = Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 4
_SHORT.maxstring = _SHORT.maxother = 80


class ShortRepr:
    """A ``repr`` for dataclasses declared with ``repr=False``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Holder(ShortRepr):
    ...     name: str
    ...     values: Any
    >>> Holder("pairs", np.zeros((1000, 2)))
    Holder(name='pairs', values=<float64, shape (1000, 2)>)
    """

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
