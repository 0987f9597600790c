"""Files that a config names, replaced by what they hold: the results depend on the content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.collections.letor import read_grade_counts
from dcglearn.design.cells import QueryTable, query_table_hash
from dcglearn.design.config_errors import EXPECTED
from dcglearn.design.config_names import check_path
from dcglearn.design.setting import Setting
from dcglearn.naming.names import is_measure_file_name, measure_for
from dcglearn.simulation.truths import grade_scale


def with_file_contents(
    setting: Setting, given: dict[str, Any], path: Path
) -> tuple[dict[str, Any], QueryTable | None]:
    """Replace the names of files by what they hold; a table of queries by its hash.

    Parameters
    ----------
    setting : Setting
    given : dict
        The keys of the setting that the config gives.
    path : Path
        The config; a file of queries may be named from its folder.

    Returns
    -------
    dict
        The given keys, with contents.
    list of list of int or None
        The table of queries.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    fixed, queries = {key: getattr(setting, key) for key in given}, None
    if isinstance(setting.queries, list):
        raise InputError("found a list", f"expected {EXPECTED['queries']}", "setting.queries")
    if isinstance(setting.queries, str):
        check_path("setting.queries", setting.queries)
        file = Path(setting.queries)
        file = file if file.is_absolute() or file.is_file() else path.parent / file
        try:
            queries = read_grade_counts(file, setting.grades).tolist()
        except InputError as error:
            raise error.at("setting.queries") from error
        fixed["queries"] = query_table_hash(queries)
    if is_measure_file_name(setting.truth):
        check_path("setting.truth", setting.truth)
        try:
            truth = measure_for(setting.truth, grade_scale(setting.grades), setting.n_ranks)
        except InputError as error:
            raise error.at("setting.truth") from error
        fixed["truth"] = str(truth.measure)
    return fixed, queries
