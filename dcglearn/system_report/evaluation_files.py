"""Evaluations as files: a table for a paper, one for a program, or every value.

The suffix of the name decides. ``.md`` and ``.tex`` hold the table of means for readers, ``.csv``
the same with all digits; ``.parquet`` one row per system, measure and query; ``.eval`` what
``trec_eval -q`` prints; ``.json`` everything, with the rules and the comparisons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dcglearn.base.files import (
    atomic_write,
    check_outputs,
    checked_suffix,
    write_text,
    write_text_blocks,
)
from dcglearn.base.json_text import json_document
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.evaluation.rules import Rules
from dcglearn.report.tables import TABLE_FORMATS
from dcglearn.system_report.paper_table import paper_table
from dcglearn.system_report.systems import evaluation_to_json, means_table, queries_table
from dcglearn.system_report.trec_eval_lines import (
    check_single_values,
    check_trec_eval_lines,
    paths_of_systems,
    trec_eval_lines,
)
from dcglearn.systems.compare_systems import SystemComparison


class _Content(NamedTuple):
    """What is to be written."""

    evaluation: Evaluation
    comparisons: Sequence[SystemComparison]
    per_query: bool
    digits: int


def check_evaluation_files(
    paths: Sequence[str | Path], inputs: Sequence[str | Path], rules: Rules
) -> None:
    """Check the files that an evaluation is to be written to, before it is made."""
    check_outputs(paths, inputs, EVALUATION_FORMATS)
    if any(Path(path).suffix.lower() == ".eval" for path in paths):
        check_single_values(rules)


def write_evaluation(
    evaluation: Evaluation,
    path: str | Path,
    comparisons: Sequence[SystemComparison] = (),
    *,
    per_query: bool = False,
    digits: int = 4,
) -> list[Path]:
    r"""Write an evaluation in the format that the suffix names.

    Parameters
    ----------
    evaluation : Evaluation
        The systems are written in its order; see
        :meth:`~dcglearn.evaluation.evaluate.Evaluation.best_first`.
    path : path-like
        ``.tex`` and ``.md``: the means with the best in bold and marks of significance. ``.csv``:
        the means in full. ``.parquet``: the columns of
        :meth:`~dcglearn.evaluation.evaluate.Evaluation.to_frame`, one row per system, measure
        and query. ``.eval``: the lines of ``trec_eval -q``; of several systems, each into a file
        of its own, NAME.SYSTEM.eval. ``.json``: all of it.
    comparisons : sequence of SystemComparison
        From :func:`~dcglearn.systems.compare_systems.compare_systems` or
        :func:`~dcglearn.systems.compare_systems.compare_all_pairs`.
    per_query : bool, default False
        Whether ``.tex``, ``.md`` and ``.csv`` hold one row per system and query, and ``.json``
        the values of queries as well.
    digits : int, default 4
        Decimals in ``.tex`` and ``.md``.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If the suffix is not known, the format cannot hold the evaluation, or a file cannot be
        written.

    Examples
    --------
    >>> import tempfile
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> found = evaluate({"q": {"d": 1}}, {"bm25": {"q": {"d": 2}}}, "nDCG@10")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (path,) = write_evaluation(found, Path(folder, "means.csv"))
    ...     print(path.read_text().rstrip())
    system,nDCG@10,judged@10
    bm25,1.0,1.0
    """
    write = EVALUATION_FORMATS[checked_suffix(path, EVALUATION_FORMATS)]
    return write(Path(path), _Content(evaluation, comparisons, per_query, digits))


def evaluation_text(
    evaluation: Evaluation,
    suffix: str,
    comparisons: Sequence[SystemComparison] = (),
    per_query: bool = False,
    digits: int = 4,
) -> str:
    """Return the content of a file with one table, as :func:`write_evaluation` writes it."""
    if per_query:
        return TABLE_FORMATS[suffix](replace(queries_table(evaluation), digits=digits))
    if suffix == ".csv":
        return means_table(evaluation).csv()
    table = paper_table(evaluation, comparisons, digits)
    return table.latex() if suffix == ".tex" else table.markdown()


def _write_table(path: Path, content: _Content) -> list[Path]:
    found, comparisons, per_query, digits = content
    text = evaluation_text(found, path.suffix.lower(), comparisons, per_query, digits)
    write_text(path, text + "\n")
    return [path]


def _write_json(path: Path, content: _Content) -> list[Path]:
    document = evaluation_to_json(content.evaluation, content.comparisons, content.per_query)
    write_text(path, json_document(document) + "\n")
    return [path]


def _write_parquet(path: Path, content: _Content) -> list[Path]:
    """Write a group of rows per system, so that only one is held as a table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = content.evaluation
    numbers = {"value": found.values, "high": found.high, "judged": found.judged_by_measure()}
    measures = {one.name: str(one.measure) for one in found.measures}
    rules = {"measures": measures, "rules": vars(found.rules)}
    schema = pa.schema(
        [(name, pa.string()) for name in ("system", "measure", "query")]
        + [(name, pa.float64()) for name, array in numbers.items() if array is not None],
        {"dcglearn": json.dumps(rules)},
    )
    n_measures, n_queries = found.values.shape[1:]
    at_measure = np.repeat(np.arange(n_measures), n_queries)
    at_query = np.tile(np.arange(n_queries), n_measures)
    names = [
        pa.array(list(measures)).take(pa.array(at_measure)),
        pa.array(found.queries).take(pa.array(at_query)),
    ]
    with atomic_write(path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for s, system in enumerate(found.systems):
            values = [array[s].ravel() for array in numbers.values() if array is not None]
            columns = [pa.array(one, mask=np.isnan(one)) for one in values]
            rows = [pa.array([system] * len(at_query)), *names, *columns]
            writer.write_table(pa.table(rows, schema=schema))
    return [path]


def _write_trec_eval(path: Path, content: _Content) -> list[Path]:
    check_trec_eval_lines(content.evaluation)
    paths = paths_of_systems(path, content.evaluation.systems)
    for s, one in enumerate(paths):
        write_text_blocks(one, trec_eval_lines(content.evaluation, s))
    return paths


EVALUATION_FORMATS: dict[str, Callable[[Path, _Content], list[Path]]] = {
    ".csv": _write_table,
    ".md": _write_table,
    ".tex": _write_table,
    ".json": _write_json,
    ".parquet": _write_parquet,
    ".eval": _write_trec_eval,
}
"""Formats of evaluations by suffix."""
