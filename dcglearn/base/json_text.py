"""JSON text read strictly: a key that appears twice in one object is refused, not dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dcglearn.base.errors import InputError


def decode_json(
    text: str | bytes, remedy: str, on_repeated: Callable[[str], None] | None = None
) -> Any:
    """Decode a JSON document and refuse repeated keys.

    Parameters
    ----------
    text : str or bytes
    remedy : str
        What the message tells the reader to do if the text is not JSON.
    on_repeated : callable, optional
        Called with a repeated key instead of the error; the last value then counts.

    Returns
    -------
    object
        What the document holds: dict, list, str, int, float, bool or None.

    Raises
    ------
    InputError
        If the text is not JSON (naming the line), or a key appears twice in one object.

    Examples
    --------
    >>> decode_json('{"a": 1, "a": 2}', "write an object")
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: the key "a" appears twice; keep one
    """

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = next(name for name in names if names.count(name) > 1)
            if on_repeated is None:
                raise InputError(f'the key "{repeated}" appears twice', "keep one")
            on_repeated(repeated)
        return found

    try:
        return json.loads(text, object_pairs_hook=as_dict)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg})", remedy, f"line {error.lineno}") from error
    except (ValueError, RecursionError) as error:  # such as whole numbers of 5,000 digits
        raise InputError("is not JSON (too deep or too long)", remedy) from error
