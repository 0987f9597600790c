"""Cells and their store: the same dict gives the same result; no record is lost or misused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import InputError
from dcglearn.design import cells
from dcglearn.design.cells import CELL_VERSION, cell_of, key_of, query_table_hash, rng_for
from dcglearn.design.sampling import strict_pairs, truth_of
from dcglearn.design.setting import LISTS, Setting, check_setting
from dcglearn.lab import records, store
from dcglearn.lab.store import Store
from dcglearn.simulation.truths import DATA_1
from dcglearn.trials import compute, draws, training
from dcglearn.trials.compute import compute_cell, run_cell
from helpers.places import GOLDEN

CELLS = GOLDEN / "cells.json"
SMALL: dict[str, Any] = {"seed": 3, "repetition": 0, "pairs": 20, "test_pairs": 50}
PARAMETERS = ["discounts", "discounts_correlation", "gains", "gains_correlation"]


def test_results_change_only_with_the_version() -> None:
    """If this fails, raise CELL_VERSION in cells.py and run tests/golden/make_cells.py."""
    golden = json.loads(CELLS.read_text("utf-8"))
    assert golden["version"] == CELL_VERSION
    for one in golden["cells"]:
        found = compute_cell(one["cell"])
        assert found.keys() == one["result"].keys()
        for name, value in one["result"].items():
            assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-9), (one["cell"], name)


def test_a_cell_is_a_pure_function_of_its_dict() -> None:
    first = run_cell(SMALL)
    run_cell({**SMALL, "truth": "data-2", "flips": 3})
    again = run_cell(json.loads(json.dumps(dict(reversed(SMALL.items())))))
    assert json.dumps(first) == json.dumps(again)
    assert key_of(SMALL) == key_of(dict(reversed(SMALL.items())))


def test_keys_of_stored_cells_stay_the_same() -> None:
    """They change with the version of cells alone."""
    assert key_of(SMALL) == "1470c1f953c8bef97df61617eb325764"
    assert key_of(cell_of(Setting(flips=5), 1, 0)) == "ad076d6e5e7a51f61f2bf1abfb16f1e3"


def test_how_the_hamming_margin_goes_with_the_true_difference() -> None:
    setting = Setting(pairs=20, margin="hamming", test_pairs=400)
    cell = cell_of(setting, 3, 0)
    found = compute_cell(cell)["margin_correlation"]
    test = strict_pairs(setting, "permutations", 400, DATA_1, rng_for(cell, "test")).pairs
    distances = (test[:, 0] != test[:, 1]).sum(axis=1)
    W = np.outer([1 / np.log2(k + 2) for k in range(10)], [5, 4, 3, 2, 1])
    scores = W[np.arange(10), test].sum(axis=2)
    twin = np.corrcoef(distances, scores[:, 0] - scores[:, 1])[0, 1]
    assert found == pytest.approx(twin, rel=1e-9)
    assert "margin_correlation" not in compute_cell(SMALL)


def test_without_grades_the_gains_of_documents_are_compared_with_their_grades() -> None:
    cell = {**SMALL, "lists": "documents", "base": [5, 3, 3, 1], "pairs": 400}
    found = compute_cell({**cell, "columns": PARAMETERS})
    assert found["gains"] == pytest.approx([5, 3, 3, 1], abs=0.3)
    assert found["gains_correlation"] > 0.98


def test_cross_validation_chooses_C_on_the_noisy_judgments_only() -> None:
    """With that C given, everything else is the same: the folds move no other generator."""
    noisy = {**SMALL, "lists": "drawn", "pairs": 30, "reliability": 0.7, "C_grid": [0.01, 1.0]}
    found = [compute_cell({**noisy, "C": "cv", "seed": seed}) for seed in range(3)]
    assert {one["chosen_C"] for one in found} == {0.01, 1.0}
    for seed, one in enumerate(found):
        assert one == compute_cell({**noisy, "C": one["chosen_C"], "seed": seed})
    more = compute_cell({**noisy, "C": "cv", "seed": 0, "validation_pairs": 7})
    assert more == found[0]
    assert "one pair cannot be divided" in run_cell({**SMALL, "C": "cv", "pairs": 1})["error"]


def test_gains_and_discounts_of_a_measure_that_ties_all_lists_are_left_out() -> None:
    """As where the judge always prefers the worse list, and W is 0."""
    reversed_ = {"flips": 20, "lists": "drawn", "base": [2, 1], "grades": 2, "columns": PARAMETERS}
    found = compute_cell({**SMALL, **reversed_})
    assert (found["precision"], found["similarity"]) == (0.5, 0.0)
    assert not found.keys() & set(PARAMETERS)
    assert not compute_cell({**SMALL, "truth": "free", "columns": PARAMETERS}).keys() & set(
        PARAMETERS
    )


QUERIES = [[1, 2, 3, 0, 1], [0, 1, 2, 3, 4]]
IN_TABLE = {"lists": "queries", "ranks": 5}
DRAWN = {"lists": "drawn"}
NOISY = {**DRAWN, "pairs": 30, "reliability": 0.7}
MODEL = {**DRAWN, "learner": "judgment-model", "base": [3, 2, 1], "grades": 3, "pairs": 300}
IN_QUERIES = {**MODEL, "clusters": 40}
VARIED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"learner": "study", "pairs": 60}, {"design": "coin"}),
    (
        {},
        {
            "seed": 4,
            "repetition": 1,
            "columns": ["regret"],
            "truth": "data-2",
            "lists": "drawn",
            "base": [5, 5, 5, 4, 3, 3, 2, 2, 1, 1],
            "grades": 6,
            "ranks": 5,
            "pairs": 21,
            "flips": 3,
            "wrong_grades": 30,
            "reliability": 0.8,
            "bias": 1.0,
            "learner": "qp-dcg",
            "margin": "hamming",
            "C": 0.01,
            "test_pairs": 60,
            "test_lists": "drawn",
            "against": ["zipf"],
        },
    ),
    (DRAWN, {"probabilities": [0.1, 0.1, 0.1, 0.1, 0.6]}),
    ({**IN_TABLE, "queries": QUERIES}, {"queries": QUERIES[:1]}),
    ({**NOISY, "C": "cv"}, {"C_grid": [0.01, 0.02]}),
    ({**NOISY, "C": "validation"}, {"validation_pairs": 9}),
    (
        MODEL,
        {
            "noise": "cauchy",
            "sensitivity": 2.0,
            "lapses": 0.1,
            "ties": "davidson",
            "clusters": 50,
            "gains": "linear",
            "discounts": "log2",
            "hypotheses": ["linear-free in free-free"],
        },
    ),
    (IN_QUERIES, {"unseen": 1.0}),
]
"""Cells, and each key with another value."""

CACHES = [
    one
    for module in (compute, draws, training)
    for one in vars(module).values()
    if hasattr(one, "cache_clear") and one.__module__ == module.__name__
]


def forget() -> None:
    for kept in CACHES:
        kept.cache_clear()


def test_what_cells_share_does_not_change_what_they_result_in() -> None:
    """Each key has an effect, and cells are the same alone, in either order and in threads."""
    keys = {*Setting.model_fields, "seed", "repetition", "columns"} - {"judge", "options"}
    assert {key for _, more in VARIED for key in more} == keys  # the others are of one's own
    cells = [{**SMALL, **base} for base, _ in VARIED]
    cells += [{**SMALL, **base, key: x} for base, more in VARIED for key, x in more.items()]
    some = list({key_of(cell): cell for cell in cells}.values())
    found = []
    for cell in some:
        forget()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compute, "training_of", training._trained)  # with the whole cell
            found.append(json.dumps(run_cell(cell)))
    assert len(set(found)) == len(some)
    assert not any("error" in one for one in found)
    assert [json.dumps(run_cell(cell)) for cell in some] == found
    assert [json.dumps(run_cell(cell)) for cell in reversed(some)] == found[::-1]
    forget()
    with ThreadPoolExecutor(4) as pool:
        assert [*map(json.dumps, pool.map(run_cell, some))] == found


def test_another_process_gives_the_same_bytes() -> None:
    code = (
        "import json; from dcglearn.trials.compute import run_cell; "
        f"print(json.dumps(run_cell({SMALL!r})))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == json.dumps(run_cell(SMALL))


def training_pairs(cell: dict[str, Any]) -> np.ndarray:
    setting = Setting(**{k: v for k, v in cell.items() if k not in ("seed", "repetition")})
    truth = truth_of(setting, rng_for(cell, "truth"))
    rng = rng_for(cell, "training")
    return strict_pairs(setting, setting.lists, setting.pairs, truth, rng).pairs


def test_cells_that_differ_in_method_or_errors_use_the_same_lists() -> None:
    lists = training_pairs(SMALL)
    for changed in (
        {"margin": "hamming"},
        {"C": 0.1},
        {"flips": 2},
        {"learner": "qp-dcg"},
        {"test_pairs": 60},
        {"test_lists": "drawn"},
    ):
        assert (training_pairs({**SMALL, **changed}) == lists).all()
    more = training_pairs({**SMALL, "pairs": 600})
    assert (more[:20] == lists).all()  # a smaller sample is a part
    other = training_pairs({**SMALL, "truth": "data-2"})
    same = np.sort(lists, axis=1) == np.sort(other, axis=1)
    assert same.all()  # the same two lists, perhaps exchanged
    for changed in ({"repetition": 1}, {"seed": 4}, {"lists": "drawn"}):
        assert not (training_pairs({**SMALL, **changed}) == lists).all()


def test_streams_do_not_overlap() -> None:
    draws = {name: rng_for(SMALL, name).integers(2**62) for name in cells.AXES}
    assert len(set(draws.values())) == len(draws)


def test_defaults_are_not_part_of_a_cell() -> None:
    assert cell_of(Setting(truth="data-1", C=1.0), 3, 0) == {"seed": 3, "repetition": 0}
    assert cell_of(Setting(C=1), 3, 0) == cell_of(Setting(), 3, 0)


@pytest.mark.parametrize("lists", LISTS)
def test_every_list_generator_with_other_grades_and_lengths(lists: str) -> None:
    more: dict[str, Any] = {"base": [7, 6, 5, 4, 3, 2, 1], "grades": 7}
    if lists == "queries":
        more |= {"queries": [[1, 0, 1, 0, 2, 0, 1], [0, 2, 0, 1, 0, 0, 9]]}
    if lists != "documents":
        more |= {"ranks": 5}
    result = run_cell({**SMALL, "lists": lists, "columns": PARAMETERS, **more})["result"]
    assert 0.4 < result["precision"] <= 1
    assert result["drawn"] >= 20
    if lists != "documents":
        assert len(result["gains"]) == 7
        assert len(result["discounts"]) == 5


def test_draws_are_counted() -> None:
    result = run_cell({**SMALL, "lists": "documents", "base": [2, 1], "grades": 2})["result"]
    assert result["drawn"] == 500
    assert (
        150 < result["draws"] < 350
    )  # of two documents, half of the pairs are twice the same list


def test_precision_falls_with_the_reliability_of_the_judge() -> None:
    found = [
        np.mean(
            [
                run_cell(
                    {
                        **SMALL,
                        "pairs": 100,
                        "test_pairs": 500,
                        "repetition": r,
                        "reliability": reliability,
                    }
                )["result"]["precision"]
                for r in range(4)
            ]
        )
        for reliability in (1.0, 0.65)
    ]
    assert found[0] > found[1] + 0.05


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"flips": 21}, "InputError: flips: 21 flips of 20 pairs"),
        ({"truth": "data-3"}, "unknown truth"),
        ({"truth": "DCG([1, 1, 1, 1, 1], log2)"}, "distinguishes too few permutations lists"),
        ({"nothing": 1}, "nothing"),
    ],
)
def test_a_failing_cell_returns_its_error(cell: dict[str, Any], message: str) -> None:
    assert message in run_cell({**SMALL, **cell})["error"]


def test_a_bug_in_a_cell_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "traceback" not in run_cell({**SMALL, "flips": 21})  # bad input is not a bug

    def broken(*_: object) -> None:
        np.linalg.inv(np.zeros((2, 3)))

    monkeypatch.setattr(training, "_solve", broken)
    forget()
    outcome = run_cell(SMALL)
    lines = outcome["traceback"].splitlines()
    assert re.match(r"dcglearn/trials/training\.py:\d+ in training_of: ", lines[1])
    found = next(n for n, line in enumerate(lines) if line.startswith("test_cells.py:"))
    assert re.match(r"dcglearn/trials/training\.py:\d+ in _learn: .*_solve\(", lines[found - 1])
    assert any(line.startswith("numpy/linalg/") for line in lines)
    assert lines[-1] == outcome["error"]
    assert outcome["error"].startswith("LinAlgError: ")
    assert not any(" /" in line or line.startswith("/") for line in lines[:-1])
    assert run_cell(SMALL) == outcome  # the same text each time
    Store(tmp_path).add(SMALL, outcome)
    assert Store(tmp_path).error(SMALL) == f"{outcome['error']}\n{outcome['traceback']}"


def test_a_table_of_queries_is_passed_beside_the_cell() -> None:
    inline = {**SMALL, "lists": "queries", "queries": QUERIES, "ranks": 5}
    cell = {**inline, "queries": query_table_hash(QUERIES)}
    assert run_cell(cell, QUERIES) == run_cell(inline)
    assert "result" in run_cell(cell, QUERIES)
    assert "table of queries is missing; pass it as `queries`" in run_cell(cell)["error"]
    assert run_cell(SMALL, QUERIES) == run_cell(SMALL)


def test_a_store_holds_a_table_of_queries_once(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    for _ in range(2):
        kept.add_queries(QUERIES)
    name = query_table_hash(QUERIES)
    assert [path.name for path in (tmp_path / "tables").iterdir()] == [f"{name}.json"]
    assert kept.queries(name) == QUERIES
    with pytest.raises(InputError, match="no such file"):
        kept.queries("0" * 64)


def test_records_with_a_whole_table_of_queries_are_read(tmp_path: Path) -> None:
    cell = {"seed": 1, "repetition": 0, "lists": "queries", "queries": QUERIES}
    result = {"precision": 0.9}
    record = {"version": CELL_VERSION, "key": key_of(cell), "cell": cell, "result": result}
    (tmp_path / store.CELLS_FILE).write_text(json.dumps(record) + "\n")
    again = Store(tmp_path)
    assert again.get({**cell, "queries": query_table_hash(QUERIES)}) == {"precision": 0.9}
    assert (again.torn, again.damaged) == (0, 0)


def test_settings_are_checked_in_the_cell_too() -> None:
    with pytest.raises(InputError, match=r"use 0 \.\.\. 20"):
        check_setting(Setting(pairs=20, flips=21))


def test_results_are_stored_and_failures_are_not_reused(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.add({"seed": 1}, {"result": {"precision": 0.9}})
    kept.add({"seed": 2}, {"error": "SolverError: no"})
    again = Store(tmp_path)
    assert again.get({"seed": 1}) == {"precision": 0.9}
    assert again.get({"seed": 2}) is None
    assert again.error({"seed": 2}) == "SolverError: no"
    assert (again.failed, again.torn) == (1, 0)
    again.add({"seed": 2}, {"result": {"precision": 0.8}})
    assert Store(tmp_path).get({"seed": 2}) == {"precision": 0.8}
    assert Store(tmp_path).failed == 0


def test_the_time_of_a_cell_is_kept_beside_its_result(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    times = [0.25, 3, None, "1", -1.0, True]
    for seed, seconds in enumerate(times):
        timed = {} if seconds is None else {"seconds": seconds}
        kept.add({"seed": seed}, {"result": {"precision": 0.9}, **timed})
    again = Store(tmp_path)
    assert [again.seconds({"seed": seed}) for seed in range(6)] == [0.25, 3, None, None, None, None]
    assert all(again.get({"seed": seed}) == {"precision": 0.9} for seed in range(6))
    again.add({"seed": 0}, {"result": {"precision": 0.9}, "seconds": 0.5})
    assert Store(tmp_path).seconds({"seed": 0}) == 0.5


@pytest.mark.parametrize("cut", [1, 20, 70])
def test_a_torn_record_does_not_spoil_others(tmp_path: Path, cut: int) -> None:
    kept = Store(tmp_path)
    kept.add({"seed": 1}, {"result": {"precision": 0.9}})
    kept.add({"seed": 2}, {"result": {"precision": 0.8}})
    kept.path.write_bytes(kept.path.read_bytes()[:-cut])
    torn = Store(tmp_path)
    lost = cut > 1  # a record without its last newline is still complete
    assert torn.torn == lost
    assert torn.get({"seed": 1}) == {"precision": 0.9}
    assert (torn.get({"seed": 2}) is None) == lost
    torn.add({"seed": 3}, {"result": {"precision": 0.7}})
    assert Store(tmp_path).get({"seed": 3}) == {"precision": 0.7}


@pytest.mark.parametrize("line", [b"\xff\xfe", b"[1]", b"{}", b'"text"', b'{"version": 1}'])
def test_unreadable_records_are_counted(tmp_path: Path, line: bytes) -> None:
    (tmp_path / store.CELLS_FILE).write_bytes(b"\n" + line + b"\n")
    assert Store(tmp_path).torn == 1


def stored(tmp_path: Path, cell: dict[str, Any], **record: Any) -> Store:
    """Store a record without a checksum, as earlier versions of this package wrote it."""
    whole = {"version": CELL_VERSION, "key": key_of(cell), "cell": cell, **record}
    (tmp_path / store.CELLS_FILE).write_text("\n" + json.dumps(whole) + "\n")
    return Store(tmp_path)


def test_records_without_a_checksum_are_used_if_they_are_right(tmp_path: Path) -> None:
    cell, result = {"seed": 1}, {"precision": 0.9, "gains": [1.5, -2]}
    assert stored(tmp_path, cell, result=result).get(cell) == result
    assert stored(tmp_path, cell, error="no", traceback="here").error(cell) == "no\nhere"
    assert stored(tmp_path, cell, result=result, key=key_of({"seed": 2})).damaged == 1
    assert stored(tmp_path, cell, result=result, program={}).damaged == 1
    assert stored(tmp_path, cell, result=result, sha256="0" * 64).damaged == 1


@pytest.mark.parametrize(
    "result",
    [
        {},
        None,
        {"precision": 99},
        {"precision": float("nan")},
        {"draws": -1},
        {"gains": [1.0, float("inf")]},
    ],
)
def test_a_result_that_no_cell_can_have_is_not_used(tmp_path: Path, result: Any) -> None:
    cell = {"seed": 1}
    read = stored(tmp_path, cell, result=result)
    assert (len(read), read.damaged, read.error(cell)) == (0, 1, None)
    Store(tmp_path).add(cell, {"result": result})  # as a failure
    again = Store(tmp_path)
    assert again.get(cell) is None
    assert str(again.error(cell)).startswith("ValueError: ")
    Store(tmp_path).add(cell, {"result": {"precision": 0.9}})
    assert Store(tmp_path).get(cell) == {"precision": 0.9}


def test_flipped_bits_never_change_a_result(tmp_path: Path) -> None:
    """Each of 400 flips loses a record or two, or nothing; and what is lost is counted."""
    kept, some = Store(tmp_path), {"gains": [4.5, 4.25, 0.1], "draws": 0, "chosen_C": 1e-4}
    results = {seed: {"precision": 0.9 + seed / 100, **some} for seed in range(8)}
    for seed, result in results.items():
        kept.add({"seed": seed, "repetition": 0, "truth": "data-1"}, {"result": result})
    kept.add({"seed": 8, "repetition": 0, "truth": "data-1"}, {"error": "SolverError: no"})
    whole, rng, lost = kept.path.read_bytes(), np.random.default_rng(1), 0
    for place in rng.integers(len(whole), size=400):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(rng.integers(8))
        kept.path.write_bytes(flipped)
        read = Store(tmp_path)
        found = {s: read.get({"seed": s, "repetition": 0, "truth": "data-1"}) for s in range(9)}
        right = {s: result for s, result in results.items() if found[s] == result}
        assert len(right) == len(read) == sum(result is not None for result in found.values())
        if len(read) + read.failed < 9:
            assert read.torn + read.damaged + read.other_versions > 0
            lost += 1
    assert lost > 370


def test_a_damaged_table_of_queries_is_an_error_and_written_again(tmp_path: Path) -> None:
    kept, name = Store(tmp_path), query_table_hash(QUERIES)
    kept.add_queries(QUERIES)
    path = tmp_path / "tables" / f"{name}.json"
    for content in ("[[1, 2, 3, 0, 2]]", "[[1, 2", "[" * 100_000):
        path.write_text(content)
        with pytest.raises(InputError, match=r"json: is damaged; run the config again"):
            kept.queries(name)
        kept.add_queries(QUERIES)
        assert kept.queries(name) == QUERIES


def test_records_of_other_versions_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(tmp_path).add({"seed": 1}, {"result": {"precision": 0.9}})
    monkeypatch.setattr(records, "CELL_VERSION", CELL_VERSION + 1)
    monkeypatch.setattr(cells, "CELL_VERSION", CELL_VERSION + 1)
    other = Store(tmp_path)
    assert other.get({"seed": 1}) is None
    assert other.other_versions == 1


def test_an_unreadable_or_unwritable_store_is_named(tmp_path: Path) -> None:
    (tmp_path / store.CELLS_FILE).mkdir()
    with pytest.raises(InputError, match="jsonl: cannot be read"):
        Store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        Store(tmp_path / "file").add({}, {"error": "x"})
