"""Arrays of JSON objects, cut into lines, against Python's json."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn.base.tables import json_arrays
from dcglearn.base.tables.json_arrays import array_as_lines


def records(text: str) -> list[Any]:
    chunks = list(array_as_lines(io.BytesIO(text.encode()), "x.json"))
    assert all(chunk.endswith(b"}\n") for chunk in chunks)
    return [json.loads(line) for chunk in chunks for line in chunk.splitlines()]


values = st.recursive(
    st.none() | st.integers() | st.text('ab"\\{}[],:\n\r\u2028é', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
objects = st.lists(st.dictionaries(st.text('ab"\\}]', max_size=3), values, max_size=3), max_size=5)


@given(objects, st.sampled_from([None, 1]), st.booleans(), st.sampled_from(["", " ", "\r\n"]))
def test_arrays_are_cut_where_json_says(
    content: list[Any], indent: int | None, ascii_only: bool, blank: str
) -> None:
    text = json.dumps(content, indent=indent, ensure_ascii=ascii_only)
    assert records(f"{blank}{text}{blank}") == content


@given(objects, st.integers(1, 9))
def test_chunks_may_end_anywhere(content: list[Any], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_arrays, "_CHUNK", size)
        assert records(json.dumps(content)) == content


def test_many_records_as_pandas_writes_them() -> None:
    frame = pd.DataFrame({"query": [f'q"{i}' for i in range(50_000)], "a": [[2, 0]] * 50_000})
    text = frame.to_json(orient="records")
    assert records(text) == frame.to_dict(orient="records")
    assert records(frame.to_json(orient="records", indent=2)) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json: is cut short: its array does not end; fetch it again"),
        ('{"a": 1}', "x.json: is not an array of JSON; write [{...}, {...}]"),
        ('[{"a": 1}', "x.json: is cut short: its array does not end; fetch it again"),
        ('[{"a": 1}, {"a": [', "x.json: is cut short"),
        ('[{"a": 1} {"a": 2}]', "record 2: no comma before it; write one between two objects"),
        ('[{"a": 1},, {"a": 2}]', "record 2: too many commas before it"),
        ('[, {"a": 2}]', "record 1: too many commas before it"),
        ('[{"a": 1},]', "x.json: a comma after the last object; delete it"),
        ('[{"a": 1}, 3]', "record 2: is not a JSON object ('3]'); write {\"field\": value, ...}"),
        ('[{"a": 1}, 3, {"a": 1}]', "record 2: is not a JSON object ('3,')"),
        ('[{"a": 1}, [3]]', "record 2: is not a JSON object ('[3]')"),
        ('["x"]', "record 1: is not a JSON object"),
        ('[{"a": 1}}, {"a": 1}]', "record 2: is not a JSON object ('}')"),
        ('[{"a": 1}] [{"a": 1}]', "x.json: goes on after its array; delete what follows"),
        ('[{"a": "x\ny"}]', "a line break within a text; write it as \\n"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        records(text)
    assert message in str(refused.value)


def test_an_object_that_does_not_end_is_not_collected_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_arrays, "_LONGEST", 2**21)
    with pytest.raises(InputError, match="record 2: an object of more than 2 MiB; check its"):
        records('[{"a": 1}, {"a": "' + "x" * 2**22)
