"""Qrels, runs and graded lists: files and frames into arrays, grades of ranked documents."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import ndcg_score

from dcglearn import (
    InputError,
    Qrels,
    Rules,
    Scale,
    evaluate,
    index_qrels,
    qrels_of,
    read_qrels,
    read_run,
    run_of,
)
from dcglearn.base.tables.columns import text_array
from dcglearn.collections.letor import looks_like_letor, read_graded_lists
from dcglearn.collections.runs import DocumentTable, check_qrels_and_runs, distinct_names, grade_run
from helpers.written import write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

RUN = "q1 Q0 d2 1 2.5 mine\nq1 Q0 d1 2 1.5 mine\nq2 Q0 d9 1 1e-3 mine\n"


def test_a_file_is_given_as_qrels_or_as_a_run(tmp_path: Path) -> None:
    for name in ("qrels", "run"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("qrels")
    check_qrels_and_runs(tmp_path / "qrels", [tmp_path / "run"])
    with pytest.raises(InputError, match="link: is given as qrels and as a run"):
        check_qrels_and_runs(tmp_path / "link", [tmp_path / "run", tmp_path / "qrels"])


def test_a_compressed_file_may_have_several_parts_and_zeros_after_them(tmp_path: Path) -> None:
    path, half = tmp_path / "run.gz", len(RUN) // 2
    parts = [gzip.compress(part.encode()) for part in (RUN[:half], RUN[half:])]
    for between in (b"", bytes(3), bytes(100_000)):
        path.write_bytes(between.join([*parts, b""]))
        assert read_run(path).documents.to_pylist() == ["d2", "d1", "d9"]
    path.write_bytes(b"".join(parts) + b"not zeros")
    with pytest.raises(InputError, match=r"run\.gz: is damaged"):
        read_run(path)


def test_frames_and_parquet_that_lack_something(tmp_path: Path) -> None:
    missing = pd.DataFrame({"query": ["q", "q"], "document": ["d", None], "grade": [1, 1]})
    with pytest.raises(InputError, match="row 2: an id or the grade is missing"):
        qrels_of(missing)
    missing[["query", "document"]].to_parquet(tmp_path / "f.parquet")
    with pytest.raises(InputError, match="no column 'grade' among query, document"):
        read_qrels(tmp_path / "f.parquet")


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


def test_every_table_gives_the_same(tmp_path: Path) -> None:
    def read(name: str, content: bytes | str) -> list[tuple[str, str, float]]:
        return rows(read_qrels(write(tmp_path / name, content)))

    assert read("q.csv", FRAME.to_csv(index=False)) == ROWS
    assert read("index.csv", FRAME.to_csv()) == ROWS
    beir = FRAME.set_axis(["query-id", "corpus-id", "score"], axis=1)
    assert read("test.tsv", beir.to_csv(sep="\t", index=False)) == ROWS
    assert read("q.parquet", FRAME.to_parquet(index=False)) == ROWS
    plain = PLAIN.to_csv(index=False)
    assert read("plain.csv", plain) == read("crlf.csv", plain.replace("\n", "\r\n"))
    assert read("blank.csv", plain.replace("\n7", "\n\n7")) == read("plain.csv", plain)
    trec = "".join(f"{q}\t0\t{d}\t{g}\n" for q, d, g in ROWS)
    assert read("trec", trec) == ROWS
    assert read("trec.tsv", "# by hand\n" + trec) == ROWS


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


def test_names_next_to_numbers_are_refused_in_every_form(tmp_path: Path) -> None:
    for form, read in forms(tmp_path, [("q1", "d1", 2), ("q1", "d2", "bad")]).items():
        with pytest.raises(InputError) as refused:
            read()
        assert "the grade 'bad' is not a finite number" in refused.value.problem, form
        assert "names" in refused.value.remedy
        lines = "line 3" if form in ("q.csv", "q.tsv") else "line 2"
        assert refused.value.place.endswith(("row 2", "record 2", "document d2", lines)), form


def test_numbers_as_text_are_numbers() -> None:
    columns = [pa.array(["q", "q"]), pa.array(["d", "e"]), pa.array(["1", "2.5"])]
    table = pa.table(columns, names=["query", "document", "grade"])
    found = qrels_of(table)
    assert (found.number.tolist(), found.names) == ([1.0, 2.5], ())


@pytest.fixture
def local_dataset(tmp_path: Path) -> Iterator[Path]:
    """A dataset of ir_datasets whose qrels are a file here."""
    import ir_datasets
    from ir_datasets.formats import TrecQrels
    from ir_datasets.util import LocalDownload

    path = tmp_path / "official"
    path.write_text("1 0 d1 2\n1 0 d2 0\n2 0 d1 1\n")
    dataset = ir_datasets.Dataset(TrecQrels(LocalDownload(path), {2: "", 1: "", 0: ""}))
    ir_datasets.registry.register("of-this-test", dataset)
    yield path
    del ir_datasets.registry._registered["of-this-test"]


def test_qrels_of_ir_datasets(local_dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_qrels("ir_datasets:of-this-test")
    file = read_qrels(local_dataset)
    assert (found.queries, found.number.tolist()) == (file.queries, file.number.tolist())
    assert found.documents == file.documents
    run = {"1": {"d1": 2.0}, "2": {"d1": 1.0}}
    by_name, by_path = (
        evaluate(qrels, run, "zipf").values for qrels in ("ir_datasets:of-this-test", local_dataset)
    )
    assert by_name.tolist() == by_path.tolist()
    local_dataset.write_text("1 0 d1 2\n1 0 d1 0\n")
    for name, problem in (
        ("of-this-test", "row 2: the document d1 appears twice for query 1"),
        ("of-this-tset", "ir_datasets:of-this-tset: its qrels cannot be had"),
        ("msmarco-passage", "msmarco-passage: its qrels cannot be had"),
    ):
        with pytest.raises(InputError, match=problem):
            read_qrels(f"ir_datasets:{name}")
    local_dataset.unlink()
    with pytest.raises(InputError, match="its qrels cannot be had"):
        read_qrels("ir_datasets:of-this-test")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(InputError, match="ir_datasets is not installed; install it"):
        read_qrels("ir_datasets:vaswani")


def test_names_get_as_much_of_the_path_as_distinguishes_them(tmp_path: Path) -> None:
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(write(tmp_path / folder / "run", RUN))
    paths.append(write(tmp_path / "third", RUN.replace("mine", "run")))
    tags = [read_run(path).name for path in paths]
    names = distinct_names(tags, paths)
    assert names == ["x/run", "y/run", "run"]
    with pytest.raises(InputError, match="appears twice among the runs"):
        distinct_names(tags[:2], [paths[0], tmp_path / "y" / ".." / "x" / "run"])


def test_frames_of_pyterrier_are_read_by_their_ids() -> None:
    frame = pd.DataFrame(
        {"qid": ["1"], "query": ["what is"], "docno": ["d1"], "score": [1.0], "rank": [0]}
    )
    assert run_of(frame).queries == ("1",)
    mixed = run_of(pd.DataFrame({"qid": [1, "a"], "docno": ["d", "e"], "score": [1, 2]}))
    assert mixed.queries == ("1", "a")


def test_the_scale_includes_0_for_documents_that_are_not_listed() -> None:
    assert qrels_of({"q": {"d": 1}}).scale() == Scale((1, 0))
    assert qrels_of({"q": {"d": 1, "e": -1}}).scale() == Scale((1, -1))
    with pytest.raises(InputError, match="grade 3 is off the scale"):
        index_qrels(qrels_of({"q": {"d": 3}}), Scale((2, 1, 0)))


runs = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "other"]),
    st.dictionaries(
        st.sampled_from("abcdefgh"), st.sampled_from([0.5, 1.0, 1.0 + 1e-9, 2.0]), min_size=1
    ),
    min_size=1,
)
judgments = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([0, 1, 2]), min_size=1),
    min_size=1,
)


@settings(max_examples=50)
@given(run=runs, qrels=judgments, ties=st.sampled_from(["input", "docid"]), single=st.booleans())
def test_look_up_equals_a_plain_loop(
    run: dict[str, dict[str, float]], qrels: dict[str, dict[str, float]], ties: str, single: bool
) -> None:
    known = index_qrels(qrels_of(qrels), Scale((2, 1, 0)))
    found = grade_run(run_of(run), known, ties == "docid", single)
    expected = []
    for query in known.queries:
        scores = {
            doc: float(np.float32(score)) if single else score
            for doc, score in run.get(query, {}).items()
        }
        order = sorted(scores, reverse=ties == "docid") if ties == "docid" else list(scores)
        order = sorted(order, key=lambda doc, of=scores: -of[doc])  # stable
        expected += [2 - qrels[query][doc] if doc in qrels[query] else 3 for doc in order]
    assert found.grades.tolist() == expected
    pools = [[list(docs.values()).count(g) for g in (2, 1, 0)] for docs in qrels.values()]
    assert known.pools.tolist() == pools


def test_parts_are_read_as_one(tmp_path: Path) -> None:
    write(tmp_path / "parts" / "a.csv", "qid,docno,label\nq1,d1,good\n")
    write(tmp_path / "parts" / "b.csv", "qid,docno,label\nq1,d2,bad\nq2,d1,good\n")
    found = read_qrels(tmp_path / "parts")
    assert (found.queries, found.documents.to_pylist()) == (("q1", "q2"), ["d1", "d2", "d1"])
    assert [found.names[int(number)] for number in found.number] == ["good", "bad", "good"]
    write(tmp_path / "parts" / "b.csv", "qid,docno,label\nq2,d1,good\nq1,d1,good\n")
    with pytest.raises(InputError) as refused:
        read_qrels(tmp_path / "parts")
    assert refused.value.place.endswith("b.csv, line 3")


# Graded queries in LETOR / SVMlight files


def test_files_of_another_program_are_read(tmp_path: Path, rng: np.random.Generator) -> None:
    grades, query = rng.integers(0, 4, 300), np.sort(rng.integers(0, 20, 300))
    path = tmp_path / "made.svm"
    dump_svmlight_file(rng.random((300, 3)), grades, str(path), query_id=query, comment="made up")
    packed = tmp_path / "made.svm.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for found in map(read_graded_lists, (path, packed)):
        assert found.number.tolist() == grades.tolist()
        assert [found.queries[q] for q in found.query] == [str(q) for q in query]


def test_a_compressed_file_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "packed, and its name does not say so"
    path.write_bytes(gzip.compress("\ufeff1 qid:1 # one line\u2028still\n0 qid:1\n".encode()))
    assert looks_like_letor(path)
    assert read_graded_lists(path).number.tolist() == [1, 0]
    path.write_bytes(gzip.compress(b"1 qid:1\n\xff\xfe qid:1\n"))
    with pytest.raises(InputError, match="line 2: is not UTF-8"):
        read_graded_lists(path)


def test_graded_lists_are_evaluated_by_the_scores_of_a_ranker(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    grades, query = rng.integers(0, 4, 200), np.sort(rng.integers(0, 15, 200))
    scores = np.round(rng.random(200), 1)
    dump_svmlight_file(rng.random((200, 2)), grades, str(tmp_path / "lists.svm"), query_id=query)
    np.savetxt(tmp_path / "model.txt", scores)
    rules = Rules("mean")
    found = evaluate(
        tmp_path / "lists.svm", tmp_path / "model.txt", "nDCG(exponential-log2) @ 5", rules=rules
    )
    assert found.systems == ("model",)
    for name, value in zip(found.queries, found.values[0, 0], strict=True):
        gains = 2.0 ** grades[query == int(name)] - 1
        expected = ndcg_score([gains], [scores[query == int(name)]], k=5) if len(gains) > 1 else 1
        assert value == pytest.approx(expected if gains.any() else 0)
    for text, message in (
        ("0.5\n1_0\n", "bad.txt, line 2: '1_0' is not a finite score"),
        ("0.5\n0.1\n", "bad.txt: 2 scores for 200 documents"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(tmp_path / "lists.svm", write(tmp_path / "bad.txt", text), "zipf")
