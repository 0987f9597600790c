"""Files as judging tools, forms and spreadsheets in other languages export them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dcglearn import InputError, Preferences, read_preferences

ROWS = [("p", [2, 0, 1], [1, 1, 0], "a"), ("q", [0, 2, 0], [1, 2, 0], "b")]
ROWS += [("7", [1, 1, 1], [2, 0, 0], "tie")]
EXPECTED = Preferences.from_frame(
    dict(zip(("query", "a", "b", "answer"), zip(*ROWS, strict=True), strict=True))
)


def table(
    names: str, values: Callable[[str, list[int], list[int], str], Sequence[object]], mark: str
) -> str:
    held = io.StringIO()
    writer = csv.writer(held, delimiter=mark)
    writer.writerow(names.split(mark))
    writer.writerows(values(*row) for row in ROWS)
    return held.getvalue()


def lines(record: Callable[[str, list[int], list[int], str], dict[str, Any]]) -> str:
    return "".join(json.dumps(record(*row)) + "\n" for row in ROWS)


def joined(grades: list[int], mark: str = " ") -> str:
    return mark.join(map(str, grades))


def in_words(a: str, b: str, tie: str) -> Callable[[str], str]:
    return {"a": a, "b": b, "tie": tie}.__getitem__


TAKEN: dict[str, tuple[str, str]] = {
    "Excel, German": (
        "x.csv",
        table(
            "Suchanfrage;Liste A;Liste B;Urteil;Gewicht",
            lambda q, a, b, s: [
                q,
                joined(a),
                joined(b),
                in_words("links", "rechts", "gleich")(s),
                "1,0",
            ],
            ";",
        ),
    ),
    "Excel, French": (
        "x.csv",
        table(
            "requ\xeate;gauche;droite;pr\xe9f\xe9rence",
            lambda q, a, b, s: [
                q,
                joined(a, ";"),
                joined(b, ";"),
                in_words("gauche", "droite", "\xe9gal")(s),
            ],
            ";",
        ),
    ),
    "Excel, German, a column per rank": (
        "x.csv",
        table(
            "query;a1;a2;a3;b1;b2;b3;answer",
            lambda q, a, b, s: [q, *(f"{grade},0" for grade in (*a, *b)), s],
            ";",
        ),
    ),
    "Excel, German, decimals in lists": (
        "x.csv",
        table(
            "query;a;b;answer",
            lambda q, a, b, s: [q, *(" ".join(f"{x},0" for x in side) for side in (a, b)), s],
            ";",
        ),
    ),
    "Mechanical Turk": (
        "x.csv",
        table(
            "HITId,WorkerId,Input.query,Input.list_a,Input.list_b,Answer.preference",
            lambda q, a, b, s: ["h", "w", q, joined(a), joined(b), in_words("A", "B", "Same")(s)],
            ",",
        ),
    ),
    "Toloka": (
        "x.tsv",
        table(
            "INPUT:query\tINPUT:left\tINPUT:right\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:worker_id",
            lambda q, a, b, s: [
                q,
                joined(a),
                joined(b),
                in_words("left", "right", "same")(s),
                "",
                "w",
            ],
            "\t",
        ),
    ),
    "Label Studio, JSON-MIN": (
        "x.json",
        json.dumps(
            [
                {
                    "query": q,
                    "left": a,
                    "right": b,
                    "id": 1,
                    "annotator": 2,
                    "comparison": in_words("left", "right", "same")(s),
                    "lead_time": 3.2,
                }
                for q, a, b, s in ROWS
            ]
        ),
    ),
    "Argilla": (
        "x.csv",
        table(
            "id,query,response_a,response_b,preference",
            lambda q, a, b, s: [
                1,
                q,
                joined(a),
                joined(b),
                in_words("response_a", "response_b", "tie")(s),
            ],
            ",",
        ),
    ),
    "Chatbot Arena": (
        "x.jsonl",
        lines(
            lambda q, a, b, s: {
                "question_id": q,
                "model_a": "x",
                "model_b": "y",
                "grades_a": a,
                "grades_b": b,
                "winner": in_words("model_a", "model_b", "tie")(s),
                "judge": "expert",
                "turn": 1,
            }
        ),
    ),
    "a language model": (
        "x.jsonl",
        lines(
            lambda q, a, b, s: {
                "prompt": q,
                "ranking_a": a,
                "ranking_b": b,
                "verdict": in_words("[[A]]", "[[B]]", "[[C]]")(s),
            }
        ),
    ),
    "Google Forms": (
        "x.csv",
        table(
            "Timestamp,Query,Results A,Results B,Which result list is better?",
            lambda q, a, b, s: [
                "1/2/2026",
                q,
                joined(a, ", "),
                joined(b, ", "),
                in_words("List A is much better", "List B is slightly better", "About the same")(s),
            ],
            ",",
        ),
    ),
    **{
        f"lists between {mark!r}": (
            "x.csv",
            table(
                "query,a,b,answer",
                lambda q, a, b, s, mark=mark: [q, joined(a, mark), joined(b, mark), s],
                ",",
            ),
        )
        for mark in ("|", ";", "/", " | ")
    },
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("times", [1, 9000])
def test_exports_of_tools_are_read(tmp_path: Path, name: str, times: int) -> None:
    """Few rows are read one by one, many as columns."""
    file, held = TAKEN[name]
    if times > 1:
        if file == "x.json":
            held = json.dumps(json.loads(held) * times)
        else:
            head = "" if file == "x.jsonl" else held[: held.index("\n") + 1]
            held = head + held[len(head) :] * times
    (tmp_path / file).write_text(held, newline="")
    found = read_preferences(tmp_path / file, note=lambda _: None)
    assert found.scale == EXPECTED.scale
    assert found.lists.tolist() == EXPECTED.lists.tolist() * times
    assert found.answers.tolist() == EXPECTED.answers.tolist() * times
    assert found.queries.tolist() == EXPECTED.queries.tolist() * times


def test_ties_of_two_levels(tmp_path: Path) -> None:
    answers = ["tie (bothbad)", "tie (both good)", "bothbad", "Neutral", "system B", "model_1"]
    (tmp_path / "x.csv").write_text(
        "a,b,winner\n" + "".join(f"2 0,1 1,{answer}\n" for answer in answers)
    )
    found = read_preferences(tmp_path / "x.csv", note=lambda _: None)
    assert found.answers.tolist() == [4, 3, 4, 2, 1, 0]


def test_query_numbers_of_which_some_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query": [3, None], "a": [[1]] * 2, "b": [[0]] * 2, "answer": ["a", "b"]})
    for name, write in (("x.parquet", frame.to_parquet), ("x.feather", frame.to_feather)):
        write(tmp_path / name)
        assert read_preferences(tmp_path / name).queries.tolist() == ["3", None]
    frame.assign(query=[3.5, None]).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r'row 1: "query" is 3.5; use text or a whole number'):
        read_preferences(tmp_path / "x.parquet")


NESTED = json.dumps([{"id": 1, "data": {"left": [1]}, "annotations": [{"result": []}]}])
REFUSED = {
    "Label Studio, JSON": (
        "x.json",
        NESTED,
        'record 1: the columns "a", "b" and "answer" are missing; \'data\' and \'annotations\' '
        "hold objects; write one record per judgment, without objects",
    ),
    "arms of an experiment": (
        "x.csv",
        "query_id,control,treatment,winner\n1,2 0,1 1,control\n",
        "if they are among 'control', 'treatment', say `columns='a=...,b=...'`",
    ),
    "a column per choice": (
        "x.csv",
        "query,a,b,a_wins,b_wins\n1,2 0,1 1,1,0\n",
        "if it is among 'a_wins', 'b_wins', say `columns='answer=...'`",
    ),
    "yes and no": (
        "x.csv",
        "a,b,preferred\n2 0,1 1,False\n1 0,0 0,True\n",
        "`answers='False=...,True=...'`",
    ),
    "0 and 1": ("x.csv", "a,b,answer\n2 0,1 1,1\n1,0,0\n", "`answers='1=a,0=b'`"),
    "1 to 7": (
        "x.csv",
        "a,b,answer\n" + "".join(f"2 0,1 1,{number}\n" for number in (4, 7, 1, 3, 2, 6, 5)),
        "`answers='1=a,2=a,3=a,4=tie,5=b,6=b,7=b'`",
    ),
    "the letters of a prompt": (
        "x.csv",
        "a,b,answer\n2 0,1 1,A\n2 0,1 1,C\n",
        "line 3: the answer is 'C'; use one of a, b, tie, good, bad, or say what it means: "
        "`answers='A=a,C=...'`",
    ),
    "lists without blanks": (
        "x.csv",
        "a,b,answer\n012,110,a\n200,021,b\n",
        "every list holds one grade, such as 012; separate the grades of a list with blanks",
    ),
    "lists that a spreadsheet took for dates": (
        "x.csv",
        "a,b,answer\n1-2-3,1-1-3,a\n",
        "every list holds one grade, such as 1-2-3; separate the grades of a list with blanks",
    ),
    "a row per document": (
        "x.csv",
        "judgment,query,side,rank,grade,answer\n1,q,a,1,2,a\n",
        "if they are among 'judgment', 'side', 'rank', 'grade', say `columns='a=...,b=...'`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_exports_are_refused_with_what_helps(tmp_path: Path, name: str) -> None:
    file, held, message = REFUSED[name]
    (tmp_path / file).write_text(held)
    with pytest.raises(InputError) as refused:
        read_preferences(tmp_path / file, note=lambda _: None)
    assert message in str(refused.value)
