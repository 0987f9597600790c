"""JSON text, written and read strictly: a key that appears twice in one object is refused.

``NaN`` and ``Infinity``, which Python's ``json`` reads, are not JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from dcglearn.base.errors import InputError


def decode_json(
    text: str | bytes, remedy: str, on_repeated: Callable[[str], None] | None = None
) -> Any:
    """Decode a JSON document; refuse repeated keys, NaN, infinity and halves of characters.

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
    content = _decoded(text)

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
        document = json.loads(content, object_pairs_hook=as_dict, parse_constant=_refuse)
        if "\\u" in content:  # such as half of a pair of surrogates
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except InputError:
        raise
    except UnicodeEncodeError as error:
        raise InputError("is not valid text (half of a character)", "write both halves") from error
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg})", remedy, f"line {error.lineno}") from error
    except (ValueError, RecursionError) as error:  # such as whole numbers of 5,000 digits
        raise InputError("is not JSON (too deep or too long)", remedy) from error


def _decoded(text: str | bytes) -> str:
    try:
        return text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", "save it as UTF-8") from error


def _refuse(name: str) -> None:
    raise InputError(f"is not JSON ({name})", "write finite numbers, or null")


def json_document(document: Any) -> str:
    """Return a document as JSON text, with null in place of numbers that are not finite.

    Parameters
    ----------
    document : object
        What JSON can hold.

    Returns
    -------
    str

    Examples
    --------
    >>> print(json_document({"mean": float("nan")}))
    {
      "mean": null
    }
    """
    return json.dumps(_finite(document), indent=2, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
