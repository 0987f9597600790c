"""One experiment as an object, for notebooks and scripts.

    config -> cells, each computed once and kept -> table -> figures and findings

The commands take the same steps (:mod:`dcglearn.lab.results`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

from dcglearn.base.errors import InputError, unknown_name, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.workers import open_workers
from dcglearn.lab.config import Config, config_from, config_named
from dcglearn.lab.experiment_figures import draw_figure, draw_on
from dcglearn.lab.plots import Figure, findings_table, same_figure
from dcglearn.lab.results import (
    Store,
    compute_cells,
    count_cells,
    make_figures,
    result_table,
    write_results,
)


def experiment(config: str | Path | Mapping[str, Any], out: str | Path | None = None) -> Lab:
    """Open an experiment: one of the configs, or one's own.

    Parameters
    ----------
    config : str, path-like or mapping
        The name of a config in the folder ``configs`` or of this package, such as ``flips``; a
        TOML file; or what such a file would hold. A mapping may have ``columns``, the results
        that are wanted, instead of ``experiment`` and ``figures``.
    out : path-like, optional
        A folder of results, as that of the commands. Cells that it holds are not computed
        again, and new ones are added. By default cells are kept as long as the object.

    Returns
    -------
    Lab

    Raises
    ------
    InputError
        If there is no such config, or it does not make sense.

    Examples
    --------
    >>> lab = experiment({"columns": ["precision"], "seed": 1, "repetitions": 2})
    >>> lab.run(progress=False)
       repetition  precision
    0           0     0.9454
    1           1     0.9536
    """
    read = config_from(config) if isinstance(config, Mapping) else config_named(str(config))
    return Lab(read, out)


class Lab:
    """An experiment: its config, its finished cells, and what is drawn from them.

    :func:`experiment` makes it. The table, the figures and the findings are those of the part
    that was run last: the quick part, or the whole grid.

    Examples
    --------
    >>> experiment({"columns": ["precision"], "seed": 1, "repetitions": 2})
    <Lab experiment: 0 of 2 cells>
    """

    def __init__(self, config: Config, out: str | Path | None) -> None:
        self.config = config
        self._part = config
        self._store = Store(out)

    def __repr__(self) -> str:
        counts = count_cells(self.config, self._store)
        figures = f"figures {', '.join(self.config.figures)}; " if self.config.figures else ""
        done = f"{counts.done:,} of {counted(counts.total, 'cell')}"
        return f"<{type(self).__name__} {self.config.name}: {figures}{done}>"

    def run(
        self, quick: bool = False, workers: int | str = 1, progress: bool = True
    ) -> pd.DataFrame:
        """Compute the cells that are not finished yet, and return the table.

        Finished cells are kept if some fail, or workers are lost; the next run tries the others.

        Parameters
        ----------
        quick : bool, default False
            Whether to compute the quick part of the grid only.
        workers : int or str, default 1
            A number of processes on this machine, or ``tcp://host:port`` of a Dask scheduler.
        progress : bool, default True
            Whether to show progress on standard error.

        Raises
        ------
        InputError
            If the experiment file uses a column that the table lacks, or no cell could be
            computed; with the error of the first.
        WorkersLostError
            If the workers are lost; finished cells are kept.
        """
        self._part = self.config.quick_part() if quick else self.config
        with open_workers(str(workers)) as pool:
            ((_, counts, _),) = compute_cells([self._part], self._store, pool, progress)
        if counts.failed:
            error = InputError(
                f"{counted(counts.failed, 'cell')} of {counts.total:,} failed",
                f"first error: {counts.first_error}",
                self.config.name,
            )
            if not counts.done:
                raise error
            warn_of_input(str(error))
        return self.table()

    def table(self) -> pd.DataFrame:
        """Return a row per finished cell: what is swept, the repetition, and the results.

        A result of several numbers has the columns ``name_1``, ``name_2``, ...
        """
        found = result_table(self._part, self._store)
        if found.empty:
            raise InputError("no cell is finished", "call run() first", self.config.name)
        return found

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures as data: curves with their bands, claims and captions."""
        return make_figures(self._part, self.table())

    def figure(
        self,
        number: int | str,
        ax: Axes | Sequence[Axes] | None = None,
        width: float | None = None,
        dark: bool = False,
        legend: bool = True,
        panel: int | None = None,
    ) -> MatplotlibFigure | None:
        """Draw a figure, by itself or on axes of one's own; then None is returned.

        Parameters
        ----------
        number : int or str
            As in the config.
        ax : Axes or sequence of Axes, optional
            One for each panel of the figure, such as those of ``subplots(1, 2)``.
        width : float, default 3.3
            In inches, without `ax`: a column of a paper; 7 is a page.
        dark : bool, default False
            Whether the colours are for a dark background.
        legend : bool, default True
            Whether the series are named in a legend.
        panel : int, optional
            The only panel to draw: its number, from 1.

        Raises
        ------
        InputError
            If there is no such figure or panel, no cell is finished, or there are not as many
            axes as panels.
        """
        found = {same_figure(figure.number): figure for figure in self.figures()}
        if not found:
            raise InputError("draws no figure", "look at the table", self.config.name)
        shown = found.get(same_figure(str(number)))
        if shown is None:
            known = [figure.number for figure in found.values()]
            raise unknown_name("figure", str(number), known, "number")
        if panel is not None:
            shown = shown.panel(panel)
        if ax is None:
            return draw_figure(shown, width, dark)
        draw_on(ax, shown, legend, dark)
        return None

    def findings(self) -> pd.DataFrame:
        """Return a row per claim: what the paper says, what is tested, the verdict, and why."""
        return findings_table(self.figures())

    def write(self, out: str | Path, replace: bool = False) -> Path:
        """Write the table, the figures and their provenance to files, as the commands do.

        Parameters
        ----------
        out : path-like
            The folder of results, in which the files get a folder of the experiment's name.
        replace : bool, default False
            Whether results of another config, or of more cells, may be replaced.

        Returns
        -------
        Path
            The folder of the files.

        Raises
        ------
        InputError
            If no cell is finished, or the folder holds results of something else.
        """
        self.table()  # or it is an error that no cell is finished
        return write_results(self._part, self._store, Path(out), replace).folder
