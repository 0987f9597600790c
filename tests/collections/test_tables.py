"""Qrels and runs as tables: CSV, tabs, names of grades, every compression; against pandas."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import (
    DocumentGrades,
    InputError,
    Qrels,
    Scale,
    index_qrels,
    qrels_of,
    read_qrels,
    read_run,
)
from dcglearn.base.tables.columns import text_array
from dcglearn.collections.runs import DocumentTable
from helpers.written import COMPRESS, write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

FRAME = pd.DataFrame(
    {
        "query_id": ["new york hotels", "new york hotels", 'a "b", c', "7"],
        "doc_id": ["d1", "d 2", "d1", "d1"],
        "relevance": [2.0, 0.0, -0.5, 1.0],
    }
)
ROWS = list(FRAME.itertuples(index=False, name=None))
PLAIN = FRAME[~FRAME.query_id.str.contains('"')]


def rows(found: DocumentTable) -> list[tuple[str, str, float]]:
    ids = [found.queries[query] for query in found.query]
    return list(zip(ids, found.documents.to_pylist(), found.number.tolist(), strict=True))


@pytest.mark.parametrize("compression", COMPRESS)
def test_every_table_gives_the_same(tmp_path: Path, compression: str) -> None:
    def read(name: str, content: bytes) -> list[tuple[str, str, float]]:
        packed = COMPRESS[compression](content)
        return rows(read_qrels(write(tmp_path / (name + compression), packed)))

    assert read("q.csv", FRAME.to_csv(index=False).encode()) == ROWS
    assert read("index.csv", FRAME.to_csv().encode()) == ROWS
    assert read("q.tsv", FRAME.to_csv(sep="\t", index=False).encode()) == ROWS
    beir = FRAME.set_axis(["query-id", "corpus-id", "score"], axis=1)
    assert read("test.tsv", beir.to_csv(sep="\t", index=False).encode()) == ROWS
    assert read("q.parquet", FRAME.to_parquet(index=False)) == ROWS
    plain = PLAIN.to_csv(index=False).encode()
    assert read("plain.csv", plain) == read("crlf.csv", plain.replace(b"\n", b"\r\n"))
    assert read("blank.csv", plain.replace(b"\n7", b"\n\n7")) == read("plain.csv", plain)
    trec = "".join(f"{q}\t0\t{d}\t{g}\n" for q, d, g in ROWS).encode()
    assert read("trec", trec) == ROWS
    assert read("trec.tsv", b"# by hand\n" + trec) == ROWS


def test_runs_with_blanks_between_tabs_and_as_csv(tmp_path: Path) -> None:
    text = "new york\tQ0\td1\t1\t2.5\tbm25\nq2\tQ0\td2\t1\t1\tbm25\n"
    run = read_run(write(tmp_path / "run", text.encode()))
    assert (run.name, rows(run)) == ("bm25", [("new york", "d1", 2.5), ("q2", "d2", 1.0)])
    run = read_run(write(tmp_path / "mine.csv", b"qid,docno,score,rank\nnew york,d1,2.5,1\n"))
    assert (run.name, rows(run)) == ("mine", [("new york", "d1", 2.5)])


texts = st.text("abé ,;\"'\n", min_size=1, max_size=5).filter(
    lambda text: text == text.strip() and text
)


@settings(max_examples=40)
@given(
    st.dictionaries(st.tuples(texts, texts), st.integers(-2, 3), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_pandas_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    grades: dict[tuple[str, str], int],
    delimiter: str,
    encoding: str,
) -> None:
    frame = pd.DataFrame(
        [(q, d, g) for (q, d), g in grades.items()], columns=["query", "document", "grade"]
    )
    text = frame.to_csv(index=False, sep=delimiter)
    path = write(tmp_path_factory.getbasetemp() / "pandas.csv", text.encode(encoding))
    assert rows(read_qrels(path)) == list(frame.itertuples(index=False, name=None))


NAMED = [("q1", "d1", "Good"), ("q1", "d2", "bad"), ("q2", "d1", "Good")]


def forms(folder: Path, rows: list[tuple[str, str, object]]) -> dict[str, Callable[[], Qrels]]:
    """Qrels in every form, by its name."""
    frame = pd.DataFrame(rows, columns=["query_id", "document", "grade"])
    nested: dict[str, dict[str, object]] = {}
    for query, document, grade in rows:
        nested.setdefault(query, {})[document] = grade
    write(folder / "q.csv", frame.to_csv(index=False))
    write(folder / "q.tsv", frame.to_csv(index=False, sep="\t"))
    write(folder / "q.jsonl", frame.to_json(orient="records", lines=True))
    write(folder / "array.json", frame.to_json(orient="records"))
    write(folder / "nested.json", json.dumps(nested))
    write(folder / "trec", "".join(f"{q} 0 {d} {g}\n" for q, d, g in rows))
    write(folder / "trec.tabs", "".join(f"{q}\t0\t{d}\t{g}\n" for q, d, g in rows))
    typed = frame.astype({"grade": str})
    typed.to_parquet(folder / "q.parquet")
    typed.to_feather(folder / "q.feather")
    files = {path.name: partial(read_qrels, path) for path in folder.iterdir()}
    held = {"frame": frame, "arrow": pa.Table.from_pandas(typed), "dict": nested}
    return files | {name: partial(qrels_of, content) for name, content in held.items()}


def test_names_of_grades_need_a_scale_in_every_form(tmp_path: Path) -> None:
    for form, read in forms(tmp_path, NAMED).items():
        indexed = index_qrels(read(), "good,fair,bad")
        assert indexed.scale == Scale(("good", "fair", "bad")), form
        assert indexed.pools.tolist() == [[1, 0, 1], [1, 0, 0]]
        found = indexed.find_grades_of_ids(np.array([0, 0, 0]), text_array(["d2", "d1", "d3"]))
        assert found.tolist() == [2, 0, 3]
        with pytest.raises(InputError, match=r"grades are names \(Good, bad\); order them, best f"):
            index_qrels(read())
        with pytest.raises(InputError, match="grade 'Good' is off the scale goood > bad; did you"):
            index_qrels(read(), "goood,bad")
    grades = DocumentGrades.read(tmp_path / "trec", scale=Scale(("good", "bad")))
    assert str(grades.qrels.scale) == "good > bad"


def test_names_next_to_numbers_are_refused_in_every_form(tmp_path: Path) -> None:
    for form, read in forms(tmp_path, [("q1", "d1", 2), ("q1", "d2", "bad")]).items():
        with pytest.raises(InputError) as refused:
            read()
        assert "the grade 'bad' is not a finite number" in refused.value.problem, form
        assert "names" in refused.value.remedy
        lines = "line 3" if form in ("q.csv", "q.tsv") else "line 2"
        assert refused.value.place.endswith(("row 2", "record 2", "document d2", lines)), form


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,document,grade\n", "x.csv: is empty; give qrels of at least one document"),
        ("query,grade\nq,1\n", "x.csv: no column 'document' among query, grade; name it docu"),
        ("qid,docno,label\nq,d,1\n\nq,d,1,3\n", "x.csv, line 4: 4 fields under 3 column names"),
        ("qid,docno,label\nq,d,1\nq,e,\n", "x.csv, line 3: an id or the grade is missing"),
        ('qid,docno,label\n"q,d,1\n', "x.csv, line 2: is not CSV"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "x.csv", text.encode())
    with pytest.raises(InputError) as refused:
        read_qrels(path)
    assert message in str(refused.value).replace(f"{tmp_path}/", "")


def test_numbers_as_text_are_numbers() -> None:
    columns = [pa.array(["q", "q"]), pa.array(["d", "e"]), pa.array(["1", "2.5"])]
    table = pa.table(columns, names=["query", "document", "grade"])
    found = qrels_of(table)
    assert (found.number.tolist(), found.names) == ([1.0, 2.5], ())
