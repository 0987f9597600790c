"""Qrels and runs: files in, ids to numbers, grades of ranked documents, against dicts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import (
    InputError,
    Scale,
    evaluate,
    index_qrels,
    qrels_of,
    read_qrels,
    read_run,
    run_of,
)
from dcglearn.collections.runs import distinct_names
from dcglearn.systems.inputs import look_up
from helpers.written import write

RUN = "q1 Q0 d2 1 2.5 mine\nq1 Q0 d1 2 1.5 mine\nq2 Q0 d9 1 1e-3 mine\n"


def test_qrels_that_cannot_be_read(tmp_path: Path) -> None:
    missing = pd.DataFrame({"query": ["q", "q"], "document": ["d", None], "grade": [1, 1]})
    missing[["query", "document"]].to_parquet(tmp_path / "f.parquet")
    write(tmp_path / "b.json", '{"q": 3}')
    write(tmp_path / "c.json", '{"q": {"d": "1x", "e": 1}}')
    for name, message in (
        ("b.json", "b.json: no column 'query_id' among q"),
        ("c.json", "query q, document d: the grade '1x' is not a finite"),
        ("f.parquet", "no column 'grade' among query, document"),
        ("none.parquet", "no such file"),
    ):
        with pytest.raises(InputError, match=message):
            read_qrels(tmp_path / name)
    with pytest.raises(InputError, match="row 2: an id or the grade is missing"):
        qrels_of(missing)


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


def test_qrels_of_ir_datasets(local_dataset: Path) -> None:
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
        ("of-this-test", "judgment 2: the document d1 appears twice for query 1"),
        ("of-this-tset", "ir_datasets:of-this-tset: its qrels cannot be had"),
        ("msmarco-passage", "msmarco-passage: its qrels cannot be had"),
    ):
        with pytest.raises(InputError, match=problem):
            read_qrels(f"ir_datasets:{name}")
    local_dataset.unlink()
    with pytest.raises(InputError, match="its qrels cannot be had"):
        read_qrels("ir_datasets:of-this-test")


def test_ir_datasets_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
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
    found = look_up(run_of(run), known, ties == "docid", single)
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
    for place in (tmp_path / "parts", tmp_path / "parts" / "*.csv"):
        found = read_qrels(place)
        assert (found.queries, found.documents.to_pylist()) == (("q1", "q2"), ["d1", "d2", "d1"])
        assert [found.names[int(number)] for number in found.number] == ["good", "bad", "good"]
    write(tmp_path / "parts" / "b.csv", "qid,docno,label\nq2,d1,good\nq1,d1,good\n")
    with pytest.raises(InputError) as refused:
        read_qrels(tmp_path / "parts")
    assert refused.value.place.endswith("b.csv, line 3")
