"""JSON text, written and read strictly.

A key that appears twice in one object is refused, and so are ``NaN`` and ``Infinity``, which
Python's ``json`` reads.
"""

from __future__ import annotations

import json
from typing import Any

from dcglearn.base.errors import InputError


def decode_json(text: str | bytes, remedy: str) -> Any:
    """Decode a JSON document, whose keys differ within each object."""

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = max(names, key=names.count)
            raise InputError(f'the key "{repeated}" appears twice', "keep one")
        return found

    content = text if isinstance(text, str) else text.decode()
    try:
        document = json.loads(content, object_pairs_hook=as_dict, parse_constant=_refuse)
        if "\\u" in content:
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except UnicodeEncodeError as error:  # one of a pair of surrogates, as cut text ends
        raise InputError("is not valid text (half of a character)", "write both halves") from error
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg})", remedy, f"line {error.lineno}") from error


def jsonable(value: Any) -> Any:
    """Return what JSON can hold of records, arrays and mappings: null for what is not finite."""
    from pydantic_core import to_jsonable_python  # which takes time to load, for JSON only

    return to_jsonable_python(value, fallback=lambda it: it.tolist(), inf_nan_mode="null")


def json_document(document: Any) -> str:
    """Return a document as JSON text; it may hold records and arrays."""
    return json.dumps(jsonable(document), indent=2, ensure_ascii=False)


def _refuse(name: str) -> None:
    raise InputError(f"is not JSON ({name})", "write finite numbers, or null")
