"""Judgments in groups: by a field, or by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcglearn import InputError, Scale, read_groups, read_preferences
from helpers.written import write_packed

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.base.errors.InputWarning")

ROWS = '{"a": [2, 0], "b": [1, 1], "answer": "%s", "query": "%s", "week": %s}\n'


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("old.jsonl", "new.jsonl", "more.jsonl")]
    for number, path in enumerate(paths):
        path.write_text(ROWS % ("a", f"q{number}", number) + ROWS % ("tie", "q", "null"))
    return paths


def test_groups_are_what_a_field_or_a_column_says(files: list[Path]) -> None:
    data, weeks = read_groups(files, by="week")
    assert weeks.tolist() == ["0", None, "1", None, "2", None]
    again, queries = read_groups(files, by="query")
    assert again == data
    assert queries.tolist() == data.queries.tolist()
    _, kept = read_groups(files, by="week", answers="tie=out,a=a")
    assert kept.tolist() == ["0", "1", "2"]
    with pytest.raises(InputError, match="unknown field 'weak'"):
        read_groups(files, by="weak")


def test_groups_are_files(files: list[Path]) -> None:
    old, new = map(str, files[:2])
    assert read_groups(files[:2])[1].tolist() == [old] * 2 + [new] * 2
    with pytest.raises(InputError, match="one file without a field"):
        read_groups(files[0])
    assert read_groups(files)[1].tolist() == [old] * 2 + ["the other files"] * 4


def test_packed_judgments_have_queries_and_judges(tmp_path: Path, files: list[Path]) -> None:
    data, queries = read_groups(files, by="query")
    path = tmp_path / "p.parquet"
    write_packed(data, path, data.scale)
    assert read_groups(path, by="query")[1].tolist() == queries.tolist()
    with pytest.raises(InputError, match="did you mean 'query'"):
        read_groups(path, by="qurey")
    files[0].write_text('{"a": [2, 0], "b": [1, 1], "answer": "a"}\n')
    write_packed(read_preferences(files[0]), path, Scale((2, 1, 0)))
    for without in (files[0], path):
        with pytest.raises(InputError, match="no judgment has a query"):
            read_groups(without, by="query")
