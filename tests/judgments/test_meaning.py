"""Which column is which field, what answers and grades mean, and how lists are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, InputWarning, Scale
from dcglearn.base.tables.columns import column_of
from dcglearn.judgments.meaning.answers import ANSWERS, given_codes, resolve_answers, text_of
from dcglearn.judgments.meaning.columns import resolve_columns
from dcglearn.judgments.options import grade_unjudged, parse_given_map
from dcglearn.judgments.reading.lists import lists_of, parse_list_text
from dcglearn.measures.scale import canonical_label
from helpers.slow_reader import trimmed

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" left = a , =tie", {"left": "a", "": "tie"}),
        ('"both, good"=good,x=y=a', {"both, good": "good", "x=y": "a"}),
        ({"left": "a", 1: "b"}, {"left": "a", "1": "b"}),
        ("left", None),
        ("left=a,left=b", None),
        ({"left": ""}, None),
    ],
)
def test_what_users_say_is_parsed_or_refused(text: Any, expected: dict[str, str] | None) -> None:
    if expected is not None:
        assert parse_given_map(text, "answers", "left=a") == expected
        return
    with pytest.raises(InputError, match="'left'"):
        parse_given_map(text, "answers", "left=a")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("A B Answer", "a=A b=B answer=Answer"),
        ("list_a list_b preference query_id", "a=list_a b=list_b answer=preference query=query_id"),
        ("list1 list2 Choice Assessor-ID", "a=list1 b=list2 answer=Choice judge=Assessor-ID"),
        ("a left b right answer preference", "a=a b=b answer=answer"),
        ("query query_id a b answer", "query=query"),
        ("b2 a2 a1 b1 a10 a3 a4 a5 a6 a7 a8 a9", "a=a1...a10 b=b1...b2"),
        ("left_0 left_1 right_0 right_1", "a=left_0...left_1 b=right_0...right_1"),
        ("a.1 a.2 b.1 b.2", "a=a.1...a.2 b=b.1...b.2"),
        ("a[1] a[2] b[1] b[2]", "a=a[1]...a[2] b=b[1]...b[2]"),
        ("list_1_1 list_1_2 list_2_1", "a=list_1_1...list_1_2 b=list_2_1...list_2_1"),
    ],
)
def test_columns_are_known_by_their_names(names: str, expected: str) -> None:
    columns = resolve_columns(names.split()).columns
    for part in expected.split():
        field, name = part.split("=")
        found = columns[field]
        assert (found if isinstance(found, str) else f"{found[0]}...{found[-1]}") == name


@pytest.mark.parametrize(
    ("names", "told", "word"),
    [
        ("left right list_a list_b answer", None, "a=left,b=right"),
        ("qid topic a b answer", None, "query=qid"),
        ("a b answer", "a=a,b=a", "'a'"),
        ("a1 a2 a4 b1 answer", None, "'a2'"),
    ],
)
def test_columns_that_cannot_be_taken_are_refused(names: str, told: str | None, word: str) -> None:
    with pytest.raises(InputError) as refused:
        resolve_columns(names.split(), told).check_complete()
    assert word in str(refused.value)


def meanings(values: Sequence[Any], told: Any = None, **more: Any) -> list[tuple[int, float]]:
    """The code and weight of each answer."""
    answers = column_of([text_of(one) for one in values])
    return resolve_answers(answers, str, given_codes(told), **more).decoded().tolist()


def words(values: Sequence[Any], told: Any = None, **more: Any) -> str:
    """What answers mean."""
    codes = [code for code, _ in meanings(values, told, **more)]
    return " ".join("out" if code < 0 else ANSWERS[code] for code in codes)


def weights(values: Sequence[Any], told: Any = None, **more: Any) -> list[float]:
    return [weight for _, weight in meanings(values, told, **more)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b", "tie", "good", "bad"], "a b tie good bad"),
        (["left", "Right", "same"], "a b tie"),
        (["Left is much better", "right slightly better", "About the same"], "a b tie"),
        (["both good", "equally bad"], "good bad"),
        (["1", "0", "-1"], "a tie b"),
        ([np.int64(-1), np.float64(1)], "b a"),
    ],
)
def test_answers_known_by_themselves(values: list[Any], expected: str) -> None:
    usual = all(value in ANSWERS for value in values)
    with nullcontext() if usual else pytest.warns(InputWarning, match="answers"):
        assert words(values) == expected


def test_the_size_of_a_number_is_its_weight() -> None:
    assert words([-3, -1, 0, 2]) == "b b tie a"
    assert weights([-3, -1, 0, 2]) == [3.0, 1.0, 1.0, 2.0]
    assert weights([-3, 2], weighted=True) == [1.0, 1.0]
    assert words([-3, 0, 40], "positive=b,negative=a,0=tie") == "a tie b"
    assert weights([-3, 3], {"-3": "b", "3": "a"}) == [1.0, 1.0]


def test_the_columns_name_the_answers() -> None:
    assert words(["control", "Treatment", "same"], sides=("Control", "treatment")) == "a b tie"
    assert words(["left", "right"], sides=("right", "left")) == "b a"
    assert words(["a", "b"], sides=("b", "a")) == "b a"


def test_given_answers() -> None:
    given = "yes=a,no=b,neither=bad,skip=out,=tie"
    assert words(["yes", "NO", "neither", None, "skip", ""], given) == "a b bad tie out tie"
    assert words([1.0, 2], "1=a,2=b") == "a b"
    assert words(["left", "", float("nan")], "=tie") == "a tie tie"
    assert words(["x", "X"], "x=a,X=b") == "a b"
    with pytest.raises(InputError, match="did you mean 'tie'"):
        words(["x"], "x=tied")


@pytest.mark.parametrize(
    ("values", "told", "position", "remedy"),
    [
        (["left", "same"], "left=a,right=b", 1, "same=out"),
        (["1", "2"], None, 0, "`answers='1=...,2=...'`"),
        ([0, 1, -7], None, 2, "`answers='positive=...,negative=...,0=tie'`"),
        (["-1", "1", "tie"], None, 0, "`answers='-1=...,1=...,tie=...'`"),
        ([0, 3], "positive=a,negative=b", 0, "0=out"),
    ],
)
def test_answers_that_say_nothing_are_refused(
    values: list[Any], told: str | None, position: int, remedy: str
) -> None:
    with pytest.raises(InputError) as refused:
        words(values, told)
    assert remedy in refused.value.remedy
    assert refused.value.place == str(position)


@given(st.lists(st.sampled_from(["left", "RIGHT", "same ", "A", "b"]), unique=True))
def test_each_value_means_the_same_among_others(values: Sequence[str]) -> None:
    assert meanings(values) == [meanings([value])[0] for value in values]


def slowly_graded(row: list[int], rule: str) -> list[int]:
    """The rule on one list, document by document."""
    filled = list(row)
    while filled and filled[-1] == -1:
        filled.pop()
    if rule == "drop":
        filled = [grade for grade in filled if grade != -1]
    elif rule != "nothing":
        index = {"worst": 2, "1": 1}[rule]
        filled = [index if grade == -1 else grade for grade in filled]
    return filled + [-1] * (len(row) - len(filled))


@pytest.mark.parametrize("rule", ["worst", "drop", "nothing", "1"])
@settings(max_examples=40)
@given(rows=st.lists(st.tuples(*[st.integers(-1, 2)] * 4), min_size=2, max_size=6))
def test_unjudged_documents_and_empty_ranks(rule: str, rows: list[tuple[int, ...]]) -> None:
    lists = np.array(rows[: len(rows) // 2 * 2], np.int8).reshape(-1, 2, 4)
    found, count = grade_unjudged(lists, Scale((2, 1, 0)), rule)
    expected = [[slowly_graded(row, rule) for row in pair] for pair in lists.tolist()]
    assert found.tolist() == expected
    assert found.dtype == lists.dtype
    inside = [row[: np.flatnonzero(row != -1).max(initial=-1) + 1] for row in lists.reshape(-1, 4)]
    assert count == (rule != "nothing") * sum(int((row == -1).sum()) for row in inside)


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


def whole_column(cells: list[str]) -> list[list[object]]:
    """The lists of a column of texts, which is split at once where it can be."""
    found = lists_of(pa.array(cells, pa.string()), "a", str).decoded()
    return [canonical(trimmed(row)) for row in found.tolist()]


def canonical(labels: Labels) -> list[object]:
    return [None if one is None else canonical_label(one) for one in labels]


def one_by_one(cells: list[str]) -> list[list[object]]:
    return [canonical(trimmed(parse_list_text(cell))) for cell in cells]


def or_refused(
    read: Callable[[list[str]], list[list[object]]], cells: list[str]
) -> list[list[object]] | str:
    try:
        return read(cells)
    except InputError:
        return "refused"


@settings(max_examples=40)
@given(st.lists(lists_of_numbers, min_size=1, max_size=4))
@pytest.mark.parametrize("writer", NUMBER_WRITERS)
def test_lists_of_numbers_are_read_as_written(writer: str, lists: list[Labels]) -> None:
    cells = [NUMBER_WRITERS[writer](labels) for labels in lists]
    for cell, labels in zip(cells, lists, strict=True):
        found = [x and x.removesuffix(".") for x in parse_list_text(cell)]
        assert canonical(found) == canonical(labels)
    assert whole_column(cells) == one_by_one(cells)


@settings(max_examples=40)
@given(st.lists(lists_of_names, min_size=1, max_size=4))
@pytest.mark.parametrize("writer", NAME_WRITERS)
def test_lists_of_names_are_read_as_written(writer: str, lists: list[Labels]) -> None:
    cells = [NAME_WRITERS[writer](labels) for labels in lists]
    assert or_refused(whole_column, cells) == (
        "refused" if any("\\" in cell for cell in cells) else [trimmed(one) for one in lists]
    )


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
    assert or_refused(whole_column, cells) == or_refused(one_by_one, cells)


def test_other_separators_between_digits_than_between_letters() -> None:
    assert whole_column(["1/2", "0/1"]) == [[1, 2], [0, 1]]
    assert whole_column(["1/2", "a/b"]) == [[1, 2], ["a/b"]]
    assert whole_column(["a b", "1 2"]) == [["a", "b"], [1, 2]]
