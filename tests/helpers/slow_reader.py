"""A slow reader of judgments: record by record, each cell on its own.

It uses Python's ``csv`` and ``json`` alone, and raises a `RefusedError` for what is refused.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import Any

from dcglearn import Preferences
from helpers.twins import BLANKS, RefusedError, twin_fields, twin_number, twin_text

Record = dict[str, Any]

QRELS = {"q1": {"d1": 2, "d2": 0, "7": 1}, "7": {"d1": 1, "caf\xe9": 2}}
ANSWERS = ["a", "b", "tie", "good", "bad"]
FIELDS = ["query", "a", "b", "answer", "weight", "judge"]


def refuse(where: int = 0) -> RefusedError:
    return RefusedError(where)


def twin_records(content: bytes, suffix: str) -> list[Record]:
    """The records of a file; cells of CSV are text."""
    text = twin_text(content)
    if suffix == ".csv":
        return twin_csv(text)
    lines = [line for line in text.split("\n") if line.strip(BLANKS)]
    if lines and not lines[0].rstrip(BLANKS).endswith("}"):
        lines = [text]  # one object in several lines
    return [twin_json(line) for line in lines]


def twin_csv(text: str) -> list[Record]:
    try:
        every = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise refuse() from error
    rows = [row for row in every if any(row)]
    if rows and any(len(row) not in (0, 1, len(rows[0])) for row in every):
        raise refuse()  # empty cells, too, but not as many as there are columns
    if not rows:
        raise refuse()
    cells = rows[1:]
    if any(len(row) != len(rows[0]) for row in cells):
        raise refuse()
    names = [name.strip(" \ufeff") for name in rows[0]]
    if len(set(names)) < len(names):
        raise refuse()
    return [dict(zip(names, row, strict=True)) for row in cells]


def twin_json(line: str) -> Record:
    def once(pairs: list[tuple[str, Any]]) -> Record:
        if len({name for name, _ in pairs}) < len(pairs):
            raise refuse()
        return dict(pairs)

    def no_constant(_: str) -> None:
        raise refuse()

    try:
        found = json.loads(line, object_pairs_hook=once, parse_constant=no_constant)
        str(found).encode() if "\\" not in str(found) else json.dumps(
            found, ensure_ascii=False
        ).encode()
    except (ValueError, RecursionError) as error:
        raise refuse() from error
    if not isinstance(found, dict):
        raise refuse()
    return found


def twin_label(value: Any) -> float | str:
    """A grade: a number, or a name."""
    if isinstance(value, str):
        if value == "":
            raise refuse()
        number = re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?", value)
        whole = value.lstrip("-").partition(".")[0]
        if number is None or len(whole) > 18 or len(number[1] or "") > 17:
            return value
        value = float(value) if number[1] else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refuse()
    if (isinstance(value, int) and abs(value) >= 10**18) or not math.isfinite(value):
        raise refuse()
    if isinstance(value, float) and abs(value) >= 2**53:
        raise refuse()
    return value


def twin_id(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # numbers of which some are missing
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise refuse()
    return str(value)


def twin_weight(value: Any) -> float:
    if value is None or value == "":
        return 1.0
    if isinstance(value, str):
        try:
            value = twin_number(value.strip(" \t\n\r\v\f"))
        except ValueError as error:
            raise refuse() from error
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e12:
        raise refuse()
    return float(value)


def twin_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        text = value.replace("\n", " ")
        parts = [one.strip(BLANKS) for one in text.split(",")] if "," in text else twin_fields(text)
        value = [None if part in ("-", "") else part for part in parts]
    if not isinstance(value, list) or all(entry is None for entry in value):
        raise refuse()
    return value


def twin_field(name: str, record: Record) -> str:
    """The field of a column: capitals, blanks and signs do not count where no column is exact."""
    plain = "".join(one for one in name.lower() if one.isalnum())
    return plain if name not in FIELDS and plain in FIELDS and plain not in record else name


def trimmed(labels: list[Any]) -> list[Any]:
    while labels and labels[-1] is None:
        labels = labels[:-1]
    return labels


def twin_judgments(content: bytes, suffix: str, documents: bool = False) -> list[Any]:
    """Rows of query, lists, answer, weight and judge."""
    rows: list[Any] = []
    labels: set[Any] = set()
    lists_in_text: list[list[Any]] = []
    judged = not documents
    for record in twin_records(content, suffix):
        record = {twin_field(name, record): value for name, value in record.items()}
        if set(record) - set(FIELDS) or any(record.get(name) is None for name in ("a", "b")):
            raise refuse()
        answer = record.get("answer")
        if not isinstance(answer, str) or answer.strip().lower() not in ANSWERS:
            raise refuse()
        lists = [twin_list(record[side]) for side in "ab"]
        if documents:
            query, sides = twin_id(record.get("query")), lists
            lists = [twin_documents(entries, query) for entries in sides]
            judged |= any(twin_id(entry) in QRELS[query] for side in sides for entry in side)
        lists = [[None if x is None else twin_label(x) for x in side] for side in lists]
        lists_in_text += lists
        labels |= {label for side in lists for label in side if label is not None}
        rows.append(
            [
                twin_id(record.get("query")),
                *map(trimmed, lists),
                answer.strip().lower(),
                twin_weight(record.get("weight")),
                twin_id(record.get("judge")),
            ]
        )
    if not rows or not judged or any(isinstance(label, str) for label in labels):
        raise refuse()
    if len({float(label) for label in labels}) < len(labels):
        raise refuse()
    negative = [label for label in labels if label < 0]
    if negative == [-1] and len(labels) > 1 and not documents:
        raise refuse()  # perhaps documents that nobody judged
    if suffix == ".csv" and not documents and made_a_number(lists_in_text):
        raise refuse()
    return rows


def made_a_number(lists: list[list[Any]]) -> bool:
    """Whether a spreadsheet may have made the list 2,1 the number 2.1."""
    decimals = [[len(side)] for side in lists for x in side if x is not None and x % 1]
    return [1] in decimals and all(one == [1] for one in decimals)


def twin_documents(entries: list[Any], query: str | None) -> list[int | None]:
    """The grades of documents; one without a judgment has none."""
    if query not in QRELS:
        raise refuse()
    names = [twin_id(entry) for entry in entries]
    held = [name for name in names if name is not None]
    if len(set(held)) < len(held):
        raise refuse()
    grades = [None if name is None else QRELS[query].get(name) for name in names]
    if all(grade is None for grade in grades):
        raise refuse()
    return grades


def rows_of(found: Preferences) -> list[Any]:
    columns = found.queries, found.answers, found.weights, found.judges
    return [
        [
            query,
            *(trimmed([None if g < 0 else found.scale.labels[g] for g in side]) for side in lists),
            ANSWERS[answer],
            weight,
            judge,
        ]
        for lists, query, answer, weight, judge in zip(
            found.lists, *(column.tolist() for column in columns), strict=True
        )
    ]
