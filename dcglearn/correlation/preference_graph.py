"""All that follows from preferences between items: their transitive closure.

Preferences are pairs (better, worse) of any hashable items: a directed graph, which must have
no cycle. Taken in an order in which every item comes after its betters, the items above v are

    above(v) = union over the pairs (u, v) of  {u} and above(u)

A set of items is a whole number, bit i for item i, so that a union of N items costs N / 8 bytes
and the closure N^2 / 8: 12 MB each way for 10,000 items.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Integers

Edges = Iterable[tuple[Hashable, Hashable]]
"""Preferences: the better item of each pair first. A pair may come more than once."""


@dataclass(frozen=True)
class Closure:
    """Who is above whom, directly or through others.

    Parameters
    ----------
    above, below : list of int, one an item
        The items above (below) item i, as bits.
    ranks : ndarray of int, shape (N,)
        1 for items with nothing above them, else 1 + the largest rank right above: the
        number of items on the longest chain that ends in the item.
    """

    above: list[int]
    below: list[int]
    ranks: Integers

    def side(self, first: int, second: int) -> int:
        """Return 1 if item `first` is above item `second`, -1 if below, 0 if neither."""
        return (self.above[second] >> first & 1) - (self.below[second] >> first & 1)


def check_preferences(pairs: Edges, name: str) -> list[tuple[Hashable, Hashable]]:
    """Check that preferences are ordered pairs of hashable items.

    Parameters
    ----------
    pairs : iterable of (better, worse)
    name : str
        What to call them in an error.

    Returns
    -------
    list of tuple

    Raises
    ------
    InputError
        Naming the number of the first preference, from 0, that is no such pair.

    Examples
    --------
    >>> check_preferences([("A", "B"), ["B", "C"]], "truth")
    [('A', 'B'), ('B', 'C')]
    """
    found = []
    for row, pair in enumerate(pairs):
        if not (type(pair) is tuple or _is_ordered(pair)) or len(pair) != 2:
            raise InputError(
                f"{pair!r} is no pair", "give (better, worse)", f"{name}, preference {row}"
            )
        better, worse = pair
        if not _is_hashable((better, worse)):
            item = better if _is_hashable(worse) else worse
            raise InputError(
                f"item {item!r} is not hashable", "name it by a text", f"{name}, preference {row}"
            )
        found.append((better, worse))
    return found


def _is_ordered(pair: object) -> bool:
    """Return whether something holds items in an order, and is no text."""
    return isinstance(pair, Collection) and not isinstance(pair, (str, bytes, Set, Mapping))


def _is_hashable(item: object) -> bool:
    """Return whether an item can be looked up; a tuple that holds a list cannot."""
    try:
        hash(item)
    except TypeError:
        return False
    return True


def number_items(
    items: Iterable[Hashable] | None, **preferences: list[tuple[Hashable, Hashable]]
) -> dict[Hashable, int]:
    """Give each item that preferences are about a number.

    Parameters
    ----------
    items : iterable of hashable, or None
        All items. By default those that occur in the preferences, in that order.
    **preferences : list of (better, worse)
        Checked pairs, by name.

    Returns
    -------
    dict from item to int

    Raises
    ------
    InputError
        If an item is given twice, cannot be hashed, or occurs in a preference and not in `items`.

    Examples
    --------
    >>> number_items(None, truth=[("B", "A")], prediction=[("B", "C")])
    {'B': 0, 'A': 1, 'C': 2}
    """
    numbers: dict[Hashable, int] = {}
    for item in () if items is None else items:
        if not _is_hashable(item):
            raise InputError(f"item {item!r} is not hashable", "name it by a text", "items")
        if item in numbers:
            raise InputError(f"item {item} is there twice", "give each item once", "items")
        numbers[item] = len(numbers)
    for name, pairs in preferences.items():
        for row, pair in enumerate(pairs):
            for item in pair:
                if items is not None and item not in numbers:
                    raise InputError(
                        f"{item} is none of the items",
                        "add it to items, or leave items out",
                        f"{name}, preference {row}",
                    )
                numbers.setdefault(item, len(numbers))
    return numbers


def transitive_closure(
    pairs: list[tuple[Hashable, Hashable]], numbers: Mapping[Hashable, int], name: str
) -> Closure:
    """Return all that follows from preferences.

    Parameters
    ----------
    pairs : list of (better, worse)
    numbers : mapping from item to int
        0 ... N - 1, as :func:`number_items` gives them.
    name : str
        What to call the preferences in an error.

    Returns
    -------
    Closure

    Raises
    ------
    InputError
        If preferences form a cycle, naming its items.

    Examples
    --------
    >>> found = transitive_closure([("A", "B"), ("B", "C")], {"A": 0, "B": 1, "C": 2}, "truth")
    >>> found.ranks
    array([1, 2, 3])
    >>> found.side(0, 2), found.side(2, 0)
    (1, -1)
    """
    betters: list[list[int]] = [[] for _ in numbers]
    worses: list[list[int]] = [[] for _ in numbers]
    for better, worse in dict.fromkeys(pairs):
        betters[numbers[worse]].append(numbers[better])
        worses[numbers[better]].append(numbers[worse])
    order = _best_first(betters, list(numbers), name)
    ranks = [1] * len(numbers)
    for i in order:
        ranks[i] = 1 + max((ranks[j] for j in betters[i]), default=0)
    above, below = _reached(betters, order), _reached(worses, order[::-1])
    return Closure(above, below, np.array(ranks, np.int64))


def _best_first(betters: list[list[int]], names: list[Hashable], name: str) -> list[int]:
    """Return the items in an order in which each comes after its betters."""
    try:
        return list(TopologicalSorter(dict(enumerate(betters))).static_order())
    except CycleError as error:
        cycle = " > ".join(str(names[i]) for i in error.args[1])
        raise InputError(
            f"the preferences go round in a circle: {cycle}", "remove one of them", name
        ) from error


def _reached(steps: list[list[int]], order: list[int]) -> list[int]:
    """Return the items reached from each by any number of steps, as bits."""
    found = [0] * len(steps)
    for i in order:  # with itself, for those that come after it
        reached = 1 << i
        for j in steps[i]:
            reached |= found[j]
        found[i] = reached
    return [reached ^ 1 << i for i, reached in enumerate(found)]
