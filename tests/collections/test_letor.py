"""Graded queries in LETOR / SVMlight files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import ndcg_score

from dcglearn import InputError, Rules, evaluate
from dcglearn.collections.letor import looks_like_letor, read_grade_counts
from helpers.written import write


def written(folder: Path, text: str, name: str = "judged.txt") -> Path:
    return write(folder / name, text)


def test_files_of_another_program_are_read(tmp_path: Path, rng: np.random.Generator) -> None:
    grades, query = rng.integers(0, 4, 300), np.sort(rng.integers(0, 20, 300))
    path = tmp_path / "made.svm"
    dump_svmlight_file(rng.random((300, 3)), grades, str(path), query_id=query, comment="made up")
    names = list(dict.fromkeys(query.tolist()))
    expected = [[int(((query == q) & (grades == g)).sum()) for g in (3, 2, 1, 0)] for q in names]
    assert read_grade_counts(path).tolist() == expected
    packed = tmp_path / "made.svm.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_grade_counts(packed).tolist() == expected
    assert read_grade_counts(path, 6)[:, :2].sum() == 0  # nor has one of two better grades


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no document"),
        ("1 qid:1\nx qid:1\n", "line 2: the grade is 'x'"),
        ("1.5 qid:1\n", "line 1: the grade is '1.5'"),
        ("1 qid:1\n0 1:.5\n", "line 2: no qid"),
        ("1 qid:1\n2 qid: 7\n", "line 2: no qid"),
        ("0 qid:1\n\n3 qid:1\n", "line 3: the grade is '3'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as error:
        read_grade_counts(written(tmp_path, text), 2 if "3 qid" in text else None)
    assert "judged.txt" in str(error.value)


def test_a_compressed_file_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "packed, and its name does not say so"
    path.write_bytes(gzip.compress("\ufeff1 qid:1 # one line\u2028still\n0 qid:1\n".encode()))
    assert looks_like_letor(path)
    assert read_grade_counts(path).tolist() == [[1, 1]]
    path.write_bytes(gzip.compress(b"1 qid:1\n\xff\xfe qid:1\n"))
    with pytest.raises(InputError, match="line 2: is not UTF-8"):
        read_grade_counts(path)


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
            evaluate(tmp_path / "lists.svm", written(tmp_path, text, "bad.txt"), "zipf")
