"""Which column is which field, what answers and grades mean, and how lists are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError, Scale
from dcglearn.judgments.meaning.answers import ANSWERS, resolve_answers
from dcglearn.judgments.meaning.cells import (
    UnmappedValueError,
    parse_given_map,
    parse_list_text,
    resolve_labels,
)
from dcglearn.judgments.meaning.columns import JUDGMENTS_OF_DOCUMENTS, resolve_columns
from dcglearn.judgments.meaning.unjudged import grade_unjudged
from dcglearn.judgments.reading.lists import lists_of
from dcglearn.measures.scale import canonical_label
from helpers.slow_reader import trimmed

NAMED = Scale(("perfect", "good", "bad"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left=a,right=b", {"left": "a", "right": "b"}),
        (" left = a , =tie", {"left": "a", "": "tie"}),
        ('"both, good"=good', {"both, good": "good"}),
        ("x=y=a", {"x=y": "a"}),
        ({"left": "a", 1: "b"}, {"left": "a", "1": "b"}),
        (None, {}),
    ],
)
def test_what_users_say_is_parsed(text: Any, expected: dict[str, str]) -> None:
    assert parse_given_map(text, "answers", "left=a") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left", "`answers` has nothing for 'left'; write `answers='left=a'`"),
        ("left=", "`answers` has nothing for 'left'"),
        ("left=a,left=b", "`answers` names 'left' twice"),
        ({"left": ""}, "`answers` has nothing for 'left'"),
    ],
)
def test_what_cannot_be_parsed_is_refused(text: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_given_map(text, "answers", "left=a")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("a b answer", "a=a b=b answer=answer"),
        ("A B Answer", "a=A b=B answer=Answer"),
        ("left right verdict", "a=left b=right answer=verdict"),
        ("list_a list_b preference query_id", "a=list_a b=list_b answer=preference query=query_id"),
        ("list1 list2 Choice qid", "a=list1 b=list2 answer=Choice query=qid"),
        ("left_grades right_grades label rater", "a=left_grades b=right_grades judge=rater"),
        ("topic a b answer Assessor-ID", "query=topic judge=Assessor-ID"),
        ("a left b right answer preference", "a=a b=b answer=answer"),
        ("query query_id a b answer", "query=query"),
    ],
)
def test_columns_are_known_by_their_names(names: str, expected: str) -> None:
    columns = resolve_columns(names.split()).columns
    wanted = dict(part.split("=") for part in expected.split())
    assert {field: columns[field] for field in wanted} == wanted


def test_a_note_says_which_columns_were_taken() -> None:
    found = resolve_columns(["qid", "left", "right", "verdict", "note"])
    taken, unknown = found.notes
    assert taken == "columns taken: a=left, b=right, answer=verdict, query=qid"
    assert unknown == "1 unknown column is ignored: 'note'"
    assert found.unknown == ("note",)
    assert resolve_columns(["query", "a", "b", "answer"]).notes == ()
    told = resolve_columns(["x", "y", "z"], "a=x,b=y,answer=z")
    assert (told.notes, told.sides) == ((), ("x", "y"))


def test_fields_with_two_columns_must_be_told() -> None:
    with pytest.raises(InputError, match="'qid' and 'topic' could both be the query"):
        resolve_columns(["qid", "topic", "a", "b", "answer"])
    told = resolve_columns(["qid", "topic", "a", "b"], {"query": "topic"})
    assert told.notes == ("1 unknown column is ignored: 'qid'",)


@pytest.mark.parametrize("step", [1, 3, 5, 7])
def test_lists_may_be_spread_over_columns(step: int) -> None:
    ordered = [*(f"a{rank}" for rank in range(1, 11)), "b1", "b2", "answer"]
    names = [ordered[place * step % 13] for place in range(13)]
    found = resolve_columns(names)
    assert found.columns["a"] == tuple(f"a{rank}" for rank in range(1, 11))
    assert found.columns["b"] == ("b1", "b2")
    assert found.unknown == ()


def test_lists_spread_under_other_names() -> None:
    names = ["left_0", "left_1", "right_0", "right_1", "verdict"]
    found = resolve_columns(names)
    assert found.columns["a"] == ("left_0", "left_1")
    assert found.sides == ("left", "right")
    assert found.notes == ("columns taken: a=left_0...left_1, b=right_0...right_1, answer=verdict",)
    told = resolve_columns([*names, "x1", "x2"], "a=x,b=right")
    assert told.columns["a"] == ("x1", "x2")
    lists = resolve_columns(["list_1_1", "list_1_2", "list_2_1", "list_2_2", "answer"])
    assert lists.columns["b"] == ("list_2_1", "list_2_2")


@pytest.mark.parametrize(
    ("names", "told", "message"),
    [
        (
            "a b preference verdict",
            None,
            "the columns 'preference' and 'verdict' could both be the answer; say which one is: "
            "`columns='answer=preference'`",
        ),
        (
            "left right list_a list_b answer",
            None,
            "the columns left/right and list_a/list_b could be the lists; say which are: "
            "`columns='a=left,b=right'`",
        ),
        ("a b answer", "answer=anwser", "unknown column in `columns` 'anwser'; did you mean"),
        ("a b answer", "anwser=answer", "unknown field in `columns` 'anwser'; did you mean"),
        ("a b answer", "a=a,b=a", "unknown column in `columns` 'a'"),
    ],
)
def test_columns_that_could_be_several_are_refused(
    names: str, told: str | None, message: str
) -> None:
    with pytest.raises(InputError) as refused:
        resolve_columns(names.split(), told)
    assert message in str(refused.value)


@pytest.mark.parametrize("names", ["a1 a2 a4 b1 answer", "a2 a3 b1 answer"])
def test_columns_of_ranks_are_numbered_without_a_gap(names: str) -> None:
    with pytest.raises(InputError) as refused:
        resolve_columns(names.split()).check_complete()
    assert '"a"' in refused.value.problem
    assert "'a2'" in refused.value.remedy


def test_missing_columns_are_named_with_what_is_there() -> None:
    with pytest.raises(InputError) as refused:
        resolve_columns(["a", "b", "foo"]).check_complete()
    assert '"answer" is missing' in refused.value.problem
    assert "if among 'foo', say `columns='answer=...'`" in refused.value.remedy
    documents = resolve_columns(["answer", "run_a", "run_b"], None, JUDGMENTS_OF_DOCUMENTS)
    documents.check_complete()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b", "tie", "good", "bad"], "a b tie good bad"),
        (["A", " b", "TIE"], "a b tie"),
        (["left", "Right", "same"], "a b tie"),
        (["Left is much better", "right slightly better", "About the same"], "a b tie"),
        (["left_better", "right-better", "no_preference"], "a b tie"),
        (["list 1", "list 2", "Equal"], "a b tie"),
        (["both good", "equally bad"], "good bad"),
        ([1, -1], "a b"),
        (["1", "0", "-1"], "a tie b"),
        ([1.0, -1.0, 0.0], "a b tie"),
        ([np.int64(-1), np.float64(1)], "b a"),
        (["-1"], "b"),
        (["-2", "+2"], "b a"),
    ],
)
def test_answers_known_by_themselves(values: list[Any], expected: str) -> None:
    found = resolve_answers(values)
    assert [ANSWERS[code] for code in found.codes] == expected.split()
    usual = all(value in ANSWERS for value in values)
    assert bool(found.notes) != usual, "what is taken is said"


def test_the_size_of_a_number_is_its_weight() -> None:
    found = resolve_answers([-3, -1, 0, 2])
    assert [ANSWERS[code] for code in found.codes] == ["b", "b", "tie", "a"]
    assert found.weights == (3.0, 1.0, 1.0, 2.0)
    assert found.notes == (
        "answers are numbers: above 0 means a, below 0 means b, 0 a tie; their size is the weight, "
        "from 1 to 3 (the other way: `answers='positive=b,negative=a,0=tie'`)",
    )
    weighted = resolve_answers([-3, 2], weighted=True)
    assert weighted.weights == (1.0, 1.0)
    assert "not used" in weighted.notes[0]
    other = resolve_answers([-3, 0, 40], "positive=b,negative=a,0=tie")
    assert [ANSWERS[code] for code in other.codes] == ["a", "tie", "b"]
    assert (other.weights, other.notes) == ((3.0, 1.0, 40.0), ())
    one_by_one = resolve_answers([-3, 3], {"-3": "b", "3": "a"})
    assert one_by_one.weights == (1.0, 1.0)


def test_the_columns_name_the_answers() -> None:
    found = resolve_answers(["control", "Treatment", "same"], sides=("Control", "treatment"))
    assert [ANSWERS[code] for code in found.codes] == ["a", "b", "tie"]
    turned = resolve_answers(["left", "right"], sides=("right", "left"))
    assert [ANSWERS[code] for code in turned.codes] == ["b", "a"]
    assert resolve_answers(["a", "b"], sides=("b", "a")).codes == (1, 0)


def test_given_answers() -> None:
    given = "yes=a,no=b,neither=bad,skip=out,=tie"
    found = resolve_answers(["yes", "NO", "neither", None, "skip", ""], given)
    assert found.codes == (0, 1, 4, 2, -1, 2)
    assert resolve_answers([1, 2], "1=a,2=b").codes == (0, 1)
    assert resolve_answers([1.0, 2.0], "1=a,2=b").codes == (0, 1)
    empty_alone = resolve_answers(["left", "", float("nan")], "=tie")
    assert empty_alone.codes == (0, 2, 2)
    assert resolve_answers([""], "=bad").codes == (4,)
    assert resolve_answers(["x", "X"], "x=a,X=b").codes == (0, 1)


@pytest.mark.parametrize(
    ("values", "told", "position", "message"),
    [
        (["a", None], None, 1, "the answer is empty; write one, or count empty answers as ties"),
        (["a", ""], "a=a", 1, "`answers='=tie'`"),
        (
            ["left", "same"],
            "left=a,right=b",
            1,
            "the answer is 'same', which `answers` does not explain",
        ),
        (["a", "tie"], "a=a,b=b", 1, "leave its judgments out by tie=out"),
        ([0, 1], None, 0, "the answers are the numbers 0, 1, which do not say which list"),
        (["1", "2"], None, 0, "`answers='1=...,2=...'`"),
        ([1, 2, 3], None, 0, "do not say which list is better"),
        ([1], None, 0, "do not say which list is better"),
        ([0, 1, -7], None, 2, "`answers='positive=...,negative=...,0=tie'`"),
        ([0.5, -1], None, 0, "the answers are the numbers 0.5, -1, which do not say"),
        (["-1", "1", "tie"], None, 0, "`answers='-1=...,1=...,tie=...'`"),
        (["a", "c"], None, 1, "the answer is 'c'; use one of a, b, tie, good, bad, or say"),
        (["left", "neither"], None, 1, "`answers='left=...,neither=...'`"),
        ([True, False], None, 0, "the answer is 'True'"),
        (["nan"], "positive=a,negative=b", 0, "the answer is 'nan', which"),
        ([0, 3], "positive=a,negative=b", 0, "the answer is '0', which"),
    ],
)
def test_answers_that_say_nothing_are_refused(
    values: list[Any], told: str | None, position: int, message: str
) -> None:
    with pytest.raises(UnmappedValueError) as refused:
        resolve_answers(values, told)
    assert message in str(refused.value)
    assert refused.value.position == position


def test_a_map_onto_an_unknown_answer_is_refused() -> None:
    with pytest.raises(InputError, match="unknown answer in `answers` 'tied'; did you mean 'tie'"):
        resolve_answers(["x"], "x=tied")


@given(st.lists(st.sampled_from(["left", "RIGHT", "same ", "A", "b"]), unique=True))
def test_each_value_means_the_same_among_others(values: Sequence[str]) -> None:
    alone = [resolve_answers([value]).codes[0] for value in values]
    assert list(resolve_answers(values).codes) == alone


@pytest.mark.parametrize(
    ("values", "scale", "expected"),
    [
        (["2", 2.0, " 1 ", None], None, [2, 2, 1, None]),
        (["Good", "PERFECT ", "bad"], NAMED, ["good", "perfect", "bad"]),
        (["good", "GOOD"], Scale(("GOOD", "good")), ["good", "GOOD"]),
        (["2", "1"], Scale((2, 1, 0)), [2, 1]),
        (["x", "y"], None, ["x", "y"]),
        ([2, "none"], Scale((2, 1, "none")), [2, "none"]),
    ],
)
def test_grades_are_known_by_their_names(
    values: list[Any], scale: Scale | None, expected: list[Any]
) -> None:
    assert resolve_labels(values, scale) == expected


@pytest.mark.parametrize(
    ("values", "scale", "position", "message"),
    [
        (
            ["good", "goood"],
            NAMED,
            1,
            "'goood' is off the scale perfect > good > bad; did you",
        ),
        (["good", "x"], NAMED, 1, "grade 'x' is off the scale perfect > good > bad; declare"),
        (["good", 2, "bad"], NAMED, 1, "grade 2 is off the scale perfect > good > bad"),
        ([2, 1, "bad"], None, 2, "grades are numbers (2, 1) and names (bad)"),
        ([2, "Good"], Scale((2, 1, 0)), 1, "grade 'Good' is off the scale 2 > 1 > 0"),
        (["GoOd"], Scale(("GOOD", "good")), 0, "off the scale"),
        ([3], Scale((2, 1, 0)), 0, "grade 3 is off the scale"),
        (["2", ""], None, 1, "an empty grade"),
        ([True], None, 0, "grade True is a truth value"),
        ([[1]], None, 0, "use a number or a name"),
    ],
)
def test_grades_that_are_none_are_refused(
    values: list[Any], scale: Scale | None, position: int, message: str
) -> None:
    with pytest.raises(UnmappedValueError) as refused:
        resolve_labels(values, scale)
    assert message in str(refused.value)
    assert refused.value.position == position


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
@given(rows=st.lists(st.tuples(*[st.integers(-1, 2)] * 4), min_size=2, max_size=6))
def test_unjudged_documents_and_empty_ranks(rule: str, rows: list[tuple[int, ...]]) -> None:
    lists = np.array(rows[: len(rows) // 2 * 2], np.int8).reshape(-1, 2, 4)
    found, count = grade_unjudged(lists, Scale((2, 1, 0)), rule)
    expected = [[slowly_graded(row, rule) for row in pair] for pair in lists.tolist()]
    assert found.tolist() == expected
    assert found.dtype == lists.dtype
    inside = [row[: np.flatnonzero(row != -1).max(initial=-1) + 1] for row in lists.reshape(-1, 4)]
    assert count == (rule != "nothing") * sum(int((row == -1).sum()) for row in inside)


def test_unknown_rules_for_unjudged_documents_are_refused() -> None:
    with pytest.raises(InputError, match="`unjudged` is 'best'; use worst, drop, nothing or"):
        grade_unjudged(np.array([[[0, -1, 1], [1, 1, 1]]], np.int8), Scale((2, 1, 0)), "best")


def test_a_grade_with_blanks_around_its_name_is_that_grade() -> None:
    scale = Scale((" ", "b ", "c"))
    assert resolve_labels([" ", "b ", " c"], scale) == [" ", "b ", "c"]


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


@given(st.lists(lists_of_numbers, min_size=1, max_size=4))
@pytest.mark.parametrize("writer", NUMBER_WRITERS)
def test_lists_of_numbers_are_read_as_written(writer: str, lists: list[Labels]) -> None:
    cells = [NUMBER_WRITERS[writer](labels) for labels in lists]
    for cell, labels in zip(cells, lists, strict=True):
        found = [x and x.removesuffix(".") for x in parse_list_text(cell)]
        assert canonical(found) == canonical(labels)
    assert whole_column(cells) == one_by_one(cells)


@given(st.lists(lists_of_names, min_size=1, max_size=4))
@pytest.mark.parametrize("writer", NAME_WRITERS)
def test_lists_of_names_are_read_as_written(writer: str, lists: list[Labels]) -> None:
    cells = [NAME_WRITERS[writer](labels) for labels in lists]
    assert or_refused(whole_column, cells) == (
        "refused" if any("\\" in cell for cell in cells) else [trimmed(one) for one in lists]
    )


@given(st.lists(st.text("ab0, []{}'\"-\\\n\x1c\xa0", max_size=8), max_size=4))
def test_a_column_is_split_as_its_cells_are(cells: list[str]) -> None:
    assert or_refused(whole_column, cells) == or_refused(one_by_one, cells)


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
    with pytest.raises(InputError, match="cannot be read"):
        parse_list_text(cell)


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
