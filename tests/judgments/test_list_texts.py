"""Lists in cells: a whole column is split as its cells are, and cells as their writers meant."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn.judgments.meaning.list_cells import parse_list_text
from dcglearn.judgments.reading.coded_values import UndecidedError
from dcglearn.judgments.reading.list_texts import coded_texts
from dcglearn.measures.scale import canonical_label

Labels = list[str | None]
NAMES = ["good", "very good", "b,ad", "it's", "caf\xe9", "\x1c", "null"]


def quoted_for_postgres(labels: Labels) -> str:
    return "{" + ",".join("NULL" if one is None else one for one in labels) + "}"


def with_gaps(separator: str) -> Callable[[Labels], str]:
    return lambda labels: separator.join("-" if one is None else one for one in labels)


NUMBER_WRITERS: dict[str, Callable[[Labels], str]] = {
    "blanks": with_gaps(" "),
    "commas": with_gaps(","),
    "commas and blanks": with_gaps(", "),
    "nothing between commas": lambda labels: ",".join(one or "" for one in labels),
    "JSON": lambda labels: json.dumps([None if one is None else int(one) for one in labels]),
    "Python": lambda labels: str([None if one is None else int(one) for one in labels]),
    "tuple": lambda labels: str(tuple(labels)).replace("'", ""),
    "NumPy": lambda labels: str(np.array([np.nan if x is None else float(x) for x in labels])),
    "PostgreSQL": quoted_for_postgres,
}
NAME_WRITERS: dict[str, Callable[[Labels], str]] = {
    "JSON": json.dumps,
    "JSON as it is": lambda labels: json.dumps(labels, ensure_ascii=False),
    "Python": str,
}

numbers = st.sampled_from(["0", "1", "2", "10"])
lists_of_numbers = st.lists(numbers | st.none(), min_size=2, max_size=5).filter(any)
lists_of_names = st.lists(st.sampled_from(NAMES) | st.none(), min_size=1, max_size=5).filter(any)


def whole_column(cells: list[str]) -> list[list[object]] | None:
    """The lists of a column that Arrow splits; None if it leaves that to the exact reader."""
    try:
        found = coded_texts(pa.array(cells, pa.string()))
    except UndecidedError:
        return None
    labels: list[object] = [None if code < 0 else found.labels[code] for code in found.codes]
    ends = np.cumsum(found.lengths)
    starts = ends - found.lengths
    return [labels[start:end] for start, end in zip(starts, ends, strict=True)]


def canonical(labels: Labels) -> list[object]:
    return [None if one is None else canonical_label(one) for one in labels]


@given(st.lists(lists_of_numbers, min_size=1, max_size=4))
@pytest.mark.parametrize("writer", NUMBER_WRITERS)
def test_lists_of_numbers_are_read_as_written(writer: str, lists: list[Labels]) -> None:
    cells = [NUMBER_WRITERS[writer](labels) for labels in lists]
    expected = [canonical(labels) for labels in lists]
    found = [[x and x.removesuffix(".") for x in parse_list_text(cell)] for cell in cells]
    assert [canonical(labels) for labels in found] == expected
    if writer not in ("nothing between commas", "NumPy"):
        assert whole_column(cells) == expected


@given(st.lists(lists_of_names, min_size=1, max_size=4))
@pytest.mark.parametrize("writer", NAME_WRITERS)
def test_lists_of_names_are_read_as_written(writer: str, lists: list[Labels]) -> None:
    cells = [NAME_WRITERS[writer](labels) for labels in lists]
    found = [parse_list_text(cell) for cell in cells if "\\" not in cell]
    assert found == [x for x, cell in zip(lists, cells, strict=True) if "\\" not in cell]
    assert whole_column(cells) in (None, lists)


@given(st.lists(st.text("ab0, []{}'\"-\\\n\x1c\xa0", max_size=8), max_size=4))
def test_a_column_is_split_as_its_cells_are_or_not_at_all(cells: list[str]) -> None:
    whole = whole_column(cells)
    if whole is not None:
        assert whole == [canonical(parse_list_text(cell)) for cell in cells]


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("", []),
        (" 2\t0 ", ["2", "0"]),
        ("-", [None]),
        ("[]", []),
        ("good", ["good"]),
        ("very good,", ["very good", None]),
        ("None", ["None"]),
        ("[None]", [None]),
        ("(2, 0)", ["2", "0"]),
        ("{2,NULL}", ["2", None]),
        ("['a', 2, 1.5, None]", ["a", "2", "1.5", None]),
    ],
)
def test_cells(cell: str, labels: Labels) -> None:
    assert parse_list_text(cell) == labels


@pytest.mark.parametrize("cell", ["[2, 0", "['a', ]]", "['a', [1]]", "['a' 'b", "{'a': 1}"])
def test_brackets_and_quotes_that_do_not_fit(cell: str) -> None:
    with pytest.raises(InputError, match="cannot be read; write it like 2 0 1"):
        parse_list_text(cell)
    assert whole_column([cell]) is None


PATTERNS = ["x x x", "[x, x]", "x/x", "x|x", "x,x", "{x,x}", "x,x x", "['x', \"x\"]", "x"]
marks = st.sampled_from([*"xxxx", *" ,;|/[](){}'\"-.", "\t", "\u00e9"])
patterns = st.one_of(st.sampled_from(PATTERNS), st.lists(marks, max_size=9).map("".join))


@given(
    pattern=patterns,
    characters=st.lists(st.sampled_from(["0", "1", "a", "N", "-"]), min_size=9, max_size=36),
    digits=st.booleans(),
)
def test_lists_written_alike_are_read_as_others(
    pattern: str, characters: list[str], digits: bool
) -> None:
    cells = []
    for row in range(len(characters) // 9):
        some = iter(characters[9 * row :])
        cell = "".join(next(some) if one == "x" else one for one in pattern)
        cells.append(cell.replace("a", "7").replace("N", "2") if digits else cell)
    found = whole_column(cells)
    if found is not None:
        assert found == [canonical(parse_list_text(cell)) for cell in cells]
    elif pattern in PATTERNS and len(cells) == 1 and "-" not in cells[0]:
        assert pattern in ("x,x x", "x/x")  # decimals with commas; letters between slashes


def test_other_separators_between_digits_than_between_letters() -> None:
    assert whole_column(["1/2", "0/1"]) == [[1, 2], [0, 1]]
    assert whole_column(["1/2", "a/b"]) is None
    assert whole_column(["a b", "1 2"]) == [["a", "b"], [1, 2]]
