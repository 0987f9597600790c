"""Running an experiment: compute the cells that the store lacks."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from dcglearn.base.progress import Advance, silent
from dcglearn.base.workers import Workers
from dcglearn.design.cells import key_of
from dcglearn.design.config import Config
from dcglearn.lab.store import Store
from dcglearn.trials.compute import CellComputer


@dataclass(frozen=True)
class CellCounts:
    """How many cells of an experiment are finished and how many failed.

    Attributes
    ----------
    done, failed, total : int
        Numbers of cells. The remaining ones have not been computed yet.
    first_error : str or None
        The first failed cell, in the order of the grid, and its error; if it is a bug, its
        traceback follows on further lines.
    new : int
        How many of the finished cells were computed just now, and not kept from earlier.
    seconds : float or None
        The processor time that the finished cells took, all together; None if that of some is
        not known, as of those that earlier versions of this package computed.
    """

    done: int
    failed: int
    total: int
    first_error: str | None = None
    new: int = 0
    seconds: float | None = None

    @property
    def complete(self) -> bool:
        """Whether every cell has a result."""
        return self.done == self.total


def compute_cells(
    config: Config, quick: bool, store: Store, workers: Workers, advance: Advance = silent
) -> CellCounts:
    """Compute the cells that the store lacks; each is stored as soon as it is finished.

    Parameters
    ----------
    config : Config
    quick : bool
        Whether to compute the quick part of the grid only.
    store : Store
    workers : callable
        From :func:`dcglearn.base.workers.open_workers`.
    advance : callable
        Called with the number of cells computed so far and the number to compute.

    Returns
    -------
    CellCounts
    """
    cells = [cell for _, cell in config.cells(quick) if store.get(cell) is None]
    lacking = list({key_of(cell): cell for cell in cells}.values())
    if not lacking:
        return count_cells(config, quick, store)
    if config.queries is not None:
        store.add_queries(config.queries)
    for code in config.codes:
        store.add_code(code)
    compute = TimedComputer(CellComputer(config.queries, config.codes))
    for done, (index, outcome) in enumerate(workers(compute, lacking), 1):
        store.add(lacking[index], outcome)
        advance(done, len(lacking))
    found = count_cells(config, quick, store)
    return replace(found, new=sum(store.get(cell) is not None for cell in cells))


def count_cells(config: Config, quick: bool, store: Store) -> CellCounts:
    """Count the cells of an experiment that a store holds.

    Parameters
    ----------
    config : Config
    quick : bool
        Whether to count the quick part of the grid only.
    store : Store

    Returns
    -------
    CellCounts
    """
    cells = config.cells(quick)
    lacking, times = [], []
    for point, cell in cells:
        if store.get(cell) is None:
            lacking.append((point, cell))
        else:
            times.append(store.seconds(cell))
    errors = [
        f"{_named(point)}: {error}"
        for point, cell in lacking
        if (error := store.error(cell)) is not None
    ]
    known = [seconds for seconds in times if seconds is not None]
    return CellCounts(
        len(cells) - len(lacking),
        len(errors),
        len(cells),
        errors[0] if errors else None,
        seconds=fsum(known) if known and len(known) == len(times) else None,
    )


@dataclass(frozen=True)
class TimedComputer:
    """Computes cells and notes the processor time that each takes.

    Attributes
    ----------
    compute : CellComputer

    Examples
    --------
    >>> cell = {"seed": 1, "repetition": 0, "pairs": 20, "test_pairs": 20}
    >>> sorted(TimedComputer(CellComputer())(cell))
    ['result', 'seconds']
    """

    compute: CellComputer

    def __call__(self, cell: dict[str, Any]) -> dict[str, Any]:
        """Return the outcome, with ``seconds``.

        They are stored beside results and are not part of them, because they are others each time.
        """
        started = time.thread_time()
        outcome = self.compute(cell)
        return {**outcome, "seconds": round(time.thread_time() - started, 4)}

    def program(self) -> dict[str, str]:
        """Return what the code of cells uses of this process."""
        return self.compute.program()


def _named(point: dict[str, Any]) -> str:
    """Name a cell by what is swept and by its repetition, counted from 0."""
    return ", ".join(f"{key} = {value}" for key, value in point.items())
