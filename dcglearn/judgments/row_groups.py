"""Row groups of packed files: the parts that are read at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.tables.old.parquet import open_parquet
from dcglearn.base.types import Floats, Ids, Pairs
from dcglearn.judgments.packed_columns import (
    ID_COLUMNS,
    LIST_COLUMNS,
    PACKED_COLUMNS,
    PackedPlace,
    ids_of_table,
    lists_of_table,
    strict_pairs_of_table,
    weights_of_table,
)
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import Scale

_READ_ANSWER = (*LIST_COLUMNS, "answer", "weight")


class PackedIds(NamedTuple):
    """Ids of a row group.

    Attributes
    ----------
    numbers : ndarray of int, shape (n,)
        Indices into the names, -1 where an id is missing.
    names : list of str
    """

    numbers: NDArray[np.integer]
    names: list[str]


class PackedJudgments(NamedTuple):
    """The judgments of a row group.

    Attributes
    ----------
    lists : ndarray of int8, shape (n, 2, K)
        List a first; the preferred one where the sides are unknown.
    answers : ndarray of int8, shape (n,), or None
        None if the sides are unknown.
    weights : ndarray of float, shape (n,), or None
        None if each counts 1.
    queries, judges : PackedIds or None
        None if all are missing, or were not asked for.
    """

    lists: Pairs
    answers: NDArray[np.int8] | None
    weights: Floats | None
    queries: PackedIds | None
    judges: PackedIds | None


@dataclass(frozen=True)
class RowGroup:
    """One row group of a file, not yet read.

    Attributes
    ----------
    path : str
        The file.
    group : int
        The number of the row group in the file.
    first : int
        The number of its first row in the file.
    before : int
        The number of rows of the whole folder before it.
    n_rows : int
    n_grades : int
        L; grade indices are below it.
    """

    path: str
    group: int
    first: int
    before: int
    n_rows: int
    n_grades: int

    def read(self) -> tuple[Pairs, Floats | None]:
        """Read the strict judgments and their weights.

        Returns
        -------
        pairs : ndarray of int8, shape (n, 2, K)
            Grade indices, the preferred list first.
        weights : ndarray of float, shape (n,), or None
            None if each counts 1.

        Raises
        ------
        InputError
            Naming file and row: the file cannot be read, an index is out of range, or a weight is
            negative or not finite.
        """
        return strict_pairs_of_table(self._table(_READ_ANSWER), self.n_grades, self._place)

    def read_judgments(self, with_ids: bool = True) -> PackedJudgments:
        """Read all judgments, ties included.

        Parameters
        ----------
        with_ids : bool, default True
            Whether queries and judges are read.

        Returns
        -------
        PackedJudgments

        Raises
        ------
        InputError
            As :meth:`read`.
        """
        table = self._table(PACKED_COLUMNS if with_ids else _READ_ANSWER)
        lists, answers = lists_of_table(table, self.n_grades, self._place)
        weights = weights_of_table(table, self._place)
        return PackedJudgments(lists, answers, weights, *self._ids(table))

    def read_ids(self) -> tuple[PackedIds | None, PackedIds | None]:
        """Read the queries and judges of all judgments.

        Returns
        -------
        queries, judges : PackedIds or None
        """
        return self._ids(self._table(ID_COLUMNS))

    def _ids(self, table: Any) -> tuple[PackedIds | None, PackedIds | None]:
        found = (ids_of_table(table, name, self._place) for name in ID_COLUMNS)
        queries, judges = (None if ids is None else PackedIds(*ids) for ids in found)
        return queries, judges

    def _table(self, wanted: tuple[str, ...]) -> Any:
        with open_parquet(self.path) as file:
            names = [name for name in wanted if name in file.schema_arrow.names]
            return file.read_row_group(self.group, names)

    @property
    def _place(self) -> PackedPlace:
        return PackedPlace(self.path, self.first)


def preferences_of(judged: PackedJudgments, scale: Scale, shared: dict[str, str]) -> Preferences:
    """Return the judgments of a row group.

    Parameters
    ----------
    judged : PackedJudgments
    scale : Scale
    shared : dict of str to str
        Names that were met before: equal names are one object.

    Returns
    -------
    Preferences
    """
    n = len(judged.lists)

    def named(ids: PackedIds | None) -> Ids:
        if ids is None:
            return np.full(n, None, object)
        names = [*(shared.setdefault(name, name) for name in ids.names), None]
        return np.asarray(np.array(names, object)[ids.numbers])

    return Preferences(
        judged.lists,
        np.zeros(n, np.int8) if judged.answers is None else judged.answers,
        scale,
        np.ones(n) if judged.weights is None else judged.weights,
        named(judged.queries),
        named(judged.judges),
    )
