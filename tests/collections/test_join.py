"""Documents joined with qrels, equal ids counted and found: against dicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError, index_qrels, qrels_of, read_qrels, run_of
from dcglearn.base.tables.columns import text_array
from dcglearn.collections.join import grade_run
from dcglearn.systems.inputs import DocumentPool
from helpers.written import write

SHAPES = {
    "many queries": (3000, 4),
    "some": (40, 100),
    "one long query": (1, 3000),
    "two": (2, 900),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_documents_get_the_grades_that_a_dict_gives(shape: str, rng: np.random.Generator) -> None:
    n_queries, length = SHAPES[shape]
    names = [f"q{number}" for number in rng.permutation(n_queries)]
    pool = [f"{number}" for number in range(2 * length)]  # ids that look like keys: 1 and 11
    qrels = {q: {str(d): int(rng.integers(3)) for d in rng.choice(pool, length)} for q in names}
    indexed = index_qrels(qrels_of(qrels), (2, 1, 0))
    asked = rng.choice([*names, "other"], 5000).tolist()
    ids = rng.choice(pool, 5000).tolist()
    found = indexed.find_grades_of_ids(indexed.number_queries(asked), text_array(ids))
    grades = [qrels.get(q, {}).get(d) for q, d in zip(asked, ids, strict=True)]
    assert found.tolist() == [3 if grade is None else 2 - grade for grade in grades]
    run = {q: {str(d): float(rng.random()) for d in rng.choice(pool, length)} for q in set(asked)}
    graded = grade_run(run_of(run), indexed)
    for number, query in enumerate(indexed.queries):
        scores = run.get(query, {})
        order = sorted(scores, key=scores.__getitem__, reverse=True)
        expected = [2 - qrels[query][d] if d in qrels[query] else 3 for d in order]
        assert graded.grades[graded.starts[number] : graded.starts[number + 1]].tolist() == expected


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "11", "21"])), min_size=1))
def test_the_first_document_that_appears_again_is_named(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "again"
    write(path, "".join(f"{query} 0 {document} 1\n" for query, document in rows))
    again = [line for line, row in enumerate(rows, 1) if row in rows[: line - 1]]
    if not again:
        assert len(read_qrels(path)) == len(rows)
        return
    with pytest.raises(InputError) as refused:
        read_qrels(path)
    assert refused.value.place == f"{path}, line {again[0]}"


@pytest.mark.parametrize("n_queries", [1, 3, 12])
def test_a_pool_counts_each_document_once(n_queries: int, rng: np.random.Generator) -> None:
    pool, expected = DocumentPool(n_queries), [set() for _ in range(n_queries)]
    for size in (5, 0, 60, 7, 200):
        query = rng.integers(0, n_queries, size)
        ids = [str(number) for number in rng.integers(0, 30, size)]
        pool.add(query, text_array(ids))
        for number, one in zip(query.tolist(), ids, strict=True):
            expected[number].add(one)
    assert pool.count_by_query().tolist() == [len(one) for one in expected]


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
