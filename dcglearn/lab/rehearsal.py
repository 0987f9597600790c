"""A rehearsal: the figures of an experiment from made-up numbers, before anything is computed.

A column that is misspelt in ``figures(table)`` would otherwise be found when all cells are
computed. Nothing is drawn; what else fails with made-up numbers is left to the true ones.
"""

from __future__ import annotations

import io
import re
import warnings
from contextlib import redirect_stdout

import numpy as np
import pandas as pd

from dcglearn.design.config import Config
from dcglearn.design.setting import Setting
from dcglearn.lab.experiment_files import Experiment
from dcglearn.lab.result_tables import add_settings, as_text, column_not_there

REPETITIONS = 2

_SEVERAL = ("gains", "discounts")
"""Results of several numbers, one for each grade, document or rank."""


def check_figure_columns(experiment: Experiment, config: Config, quick: bool = False) -> None:
    """Refuse an experiment file whose ``figures(table)`` uses a column that the table lacks.

    Parameters
    ----------
    experiment : Experiment
    config : Config
    quick : bool, default False
        Whether the quick part of the grid is to be computed.

    Raises
    ------
    InputError
        With the columns that there are, and similar names.
    """
    if not config.figures:
        return
    table = _made_up(experiment, config, quick)
    while True:  # until there are no further numbers of a result
        try:
            with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore", Warning)  # the numbers are made up
                experiment.figures(add_settings(config, table.copy()))
            return
        except Exception as error:
            missing = column_not_there(error, add_settings(config, table), experiment.path)
        if missing is None:
            return
        several = re.fullmatch(r"(.+)_\d{1,3}", missing.column)
        if several is None or several[1] not in table:
            raise missing.error
        table = table.assign(**{missing.column: table[several[1]]})


def _made_up(experiment: Experiment, config: Config, quick: bool) -> pd.DataFrame:
    """Return a table as the cells would fill it, with other numbers."""
    rng = np.random.default_rng(0)
    settings = config.settings(quick)
    rows = [
        {**{key: as_text(value) for key, value in point.items()}, "repetition": repetition}
        for repetition in range(REPETITIONS)
        for point, _ in settings
    ]
    table = pd.DataFrame(rows)
    names = []
    for name in experiment.columns:
        if name in _SEVERAL:
            most = max(_count(name, setting) for _, setting in settings)
            names += [f"{name}_{i}" for i in range(1, most + 1)]
        else:
            names.append(name)
    return table.assign(**{name: rng.uniform(0.5, 0.6, len(table)) for name in names})


def _count(name: str, setting: Setting) -> int:
    """Return how many gains or discounts a cell results in."""
    per_rank = name == "discounts" or setting.documents
    return setting.n_ranks if per_rank else setting.grades
