"""Scales: the labels of grades, best first, and the index of each grade in arrays.

In arrays a grade is its **index**: 0 is the best grade and L - 1 the worst (the labels l1, l2,
... of Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 3).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError, did_you_mean, naming
from dcglearn.base.numbers import MAX_EXACT, counted, parse_number
from dcglearn.base.types import Grades

_Value = TypeVar("_Value")

Label = str | int | float
"""The label of a grade: a number or a name."""

NO_DOCUMENT = -1
"""The index at a rank without a document, such as below the end of a short ranking."""

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?")
"""Text that is a number; 007 and 1e3 are names, and so are long ids."""

MAX_GRADES = 127
"""Largest number of grades of a scale: indices are stored as int8."""


@dataclass(frozen=True)
class Scale:
    """The labels of all grades, best first.

    Parameters
    ----------
    labels : sequence of str, int or float
        One label per grade, best first, at most 127.
    values : sequence of float, optional
        The value r of each grade in gain formulas such as 2^r - 1, never larger for a worse
        grade. By default decreasing labels themselves, otherwise L - 1, ..., 1, 0.

    Examples
    --------
    >>> scale = Scale(("perfect", "good", "bad"))
    >>> scale.values, scale.index("good")
    ((2.0, 1.0, 0.0), 1)
    >>> str(Scale((2, 1, 0)))
    '2 > 1 > 0'
    """

    labels: tuple[Label, ...]
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        labels = tuple(canonical_label(label) for label in _listed(self.labels, "labels"))
        if not 1 <= len(labels) <= MAX_GRADES:
            raise InputError(
                f"a scale of {len(labels)} grades", f"give 1 to {MAX_GRADES}, best first"
            )
        if len(set(labels)) != len(labels):
            raise InputError(
                f"a grade appears twice in the scale {list(labels)}", "name each grade once"
            )
        given = _listed(self.values, "values") or _default_values(labels)
        remedy = "give one finite value per grade"
        values = tuple(finite_array(given, "values", (len(labels),), remedy).tolist())
        if any(b > a for a, b in pairwise(values)):
            raise InputError(f"the values {list(values)} increase", "name the best grade first")
        vars(self).update(labels=labels, values=values)

    def __len__(self) -> int:
        return len(self.labels)

    def __str__(self) -> str:
        return " > ".join(map(str, self.labels))

    def __repr__(self) -> str:
        values = "" if self.values == _default_values(self.labels) else f", {self.values}"
        return f"Scale({self.labels}{values})"

    @cached_property
    def _indices(self) -> dict[Label, int]:
        """The index of each label, also without capitals and blanks if no other one is like it."""
        folded = [str(label).strip().casefold() for label in self.labels]
        alone: dict[Label, int] = {
            name: i for i, name in enumerate(folded) if folded.count(name) == 1
        }
        return alone | {label: i for i, label in enumerate(self.labels)}

    def index(self, label: object) -> int:
        """Return the grade index of a label."""
        try:
            canonical = canonical_label(label)  # type: ignore[arg-type]  # it refuses other types
            index = self._indices.get(canonical)
        except ValueError:
            index = None
        if index is None and isinstance(label, str):
            index = self._indices.get(label.strip().casefold())
        if index is None:
            guess = did_you_mean(label, [one for one in self.labels if isinstance(one, str)])
            problem = f"grade {label!r} is off the scale {self}"
            raise InputError(problem, f"{guess}declare every grade")
        return index

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Parse labels separated by commas, best first; all of them have a value, or none has.

        >>> Scale.parse("perfect=3,good=1,bad=0").values
        (3.0, 1.0, 0.0)
        """
        parts = [part.partition("=") for part in text.split(",")]
        labels = tuple(name.strip() for name, _, _ in parts)
        given = [value for _, equals, value in parts if equals]
        if given and len(given) != len(labels):
            raise InputError(f"only some grades of {text!r} have a value", "give all or none")
        values = tuple(map(parse_number, given))
        if any(map(math.isnan, values)):
            raise InputError(
                f"a value in {text!r:.80} is not a finite number", "write label=number"
            )
        return cls(labels, values)

    @classmethod
    def from_numbers(cls, labels: Iterable[Label]) -> Scale:
        """Return the scale of the numeric grades in data, the highest first.

        >>> str(Scale.from_numbers([0, 2, 1, 2]))
        '2 > 1 > 0'
        """
        distinct = set(labels)
        names = sorted(label for label in distinct if isinstance(label, str))
        if names:
            raise InputError(
                f"grades are names ({', '.join(names[:5])})",
                "declare their order with `scale`, best first, such as perfect,good,bad; for "
                "documents without grades use `documents=True`",
            )
        return cls(tuple(sorted(distinct, key=float, reverse=True)))

    @classmethod
    def from_documents(cls, labels: Iterable[Label]) -> Scale:
        """Return a scale with one grade per id of a document, sorted, numbers before names.

        >>> str(Scale.from_documents(["d2", "d1", "d2"]))
        'd1 > d2'
        """
        return cls(tuple(sorted(set(labels), key=lambda label: (isinstance(label, str), label))))


def canonical_label(label: Label) -> Label:
    """Return the canonical form of a label: "2" and 2.0 are the number 2, but "007" is a name."""
    try:
        return _canonical_label(label)
    except TypeError as error:
        raise InputError(f"grade {label!r:.60}", "use a number or a name") from error


@lru_cache(4096, typed=True)  # files repeat a few labels millions of times
def _canonical_label(label: Label) -> Label:
    if isinstance(label, str):
        if not label:
            raise InputError("an empty grade", "name it")
        if not _NUMBER.fullmatch(label):
            return label
        label = float(label) if "." in label else int(label)
    if isinstance(label, bool | np.bool_):
        raise InputError(f"grade {bool(label)} is a truth value", "use a number or a name")
    if isinstance(label, int | np.integer):
        if abs(label) >= 10**18:  # an id, and not a grade
            raise InputError("a grade of more than 18 digits", "write an id as text")
        return int(label)
    number = float(label)
    if not abs(number) < MAX_EXACT:
        problem = f"grade {label!r} is not a number below 2^53"
        raise InputError(problem, "use smaller grades, or names")
    return int(number) if number.is_integer() else number


def _default_values(labels: Sequence[Label]) -> tuple[float, ...]:
    if not any(isinstance(label, str) for label in labels):
        numbers = tuple(map(float, labels))
        if all(a > b for a, b in pairwise(numbers)):
            return numbers
    return tuple(map(float, range(len(labels))))[::-1]


def picked(
    values: Sequence[_Value], grades: tuple[Label, ...] | None, scale: Scale
) -> tuple[_Value, ...]:
    """Return the value for each grade of a scale, of a measure's values, labelled or not."""
    if grades is None and len(values) != len(scale):
        raise InputError(
            f"has {counted(len(values), 'gain')}, but the documents have "
            f"{counted(len(scale), 'grade')} ({scale})",
            "name the grades: {2: 3, 1: 1, 0: 0}",
        )
    labels = scale.labels if grades is None else grades
    for label in scale.labels:
        if label not in labels:
            raise InputError(
                f"has no gain for the grade {label}, only for {', '.join(map(str, labels))}",
                "use a measure that covers every grade that occurs",
            )
    return tuple(values[labels.index(label)] for label in scale.labels)


ScaleLike: TypeAlias = Scale | str | Sequence[Label]


def as_scale(scale: ScaleLike | None) -> Scale | None:
    """Return the scale that a value means; None stays None."""
    return None if scale is None else needed_scale(scale)


def needed_scale(scale: ScaleLike) -> Scale:
    """Return the scale that a value means, which may not be None."""
    if isinstance(scale, Scale):
        return scale
    return Scale.parse(scale) if isinstance(scale, str) else Scale(_listed(scale, "a scale"))


def _listed(values: Iterable[Any], name: str) -> tuple[Any, ...]:
    if not isinstance(values, str | bytes | Set | Mapping):
        with suppress(TypeError):  # what cannot be iterated is refused below
            return tuple(values)
    raise InputError(f"{name} {values!r:.60}", "give a list, the best grade first")


def checked_grades(rankings: ArrayLike, n_grades: int, name: str = "rankings") -> Grades:
    """Return grade indices of any shape as integers; an error names the row of what is wrong."""
    try:
        array = np.asarray(rankings)
    except ValueError as error:
        raise InputError(f"{name} differ in length", "fill short ones up with -1") from error
    if not array.ndim or not array.shape[-1]:
        raise InputError(f"{name} of shape {array.shape}", "give at least one rank")
    floats = array.dtype.kind not in "iu"
    if floats:
        array = finite_array(array, name, (None,) * array.ndim, "give grade indices")
    inside = array.min(initial=0) >= NO_DOCUMENT and array.max(initial=0) < n_grades
    if inside and not (floats and (array % 1).any()):
        return array.astype(np.int64) if floats else array
    outside = (array < NO_DOCUMENT) | (array >= n_grades) | (array % 1 != 0)
    where = tuple(np.argwhere(outside)[0].tolist())
    raise InputError(
        f"{name} hold the grade index {array[where]}, but the number of grades is {n_grades}",
        f"use 0 (best) ... {n_grades - 1}, or -1 for no document",
        f"row {where[0]}" if where else "",
    )


def parse_lists(texts: Mapping[str, str], scale: Scale, n_ranks: int | None) -> Grades:
    """Read lists of grades with commas, - for no document, by place; they get one length."""
    rows = []
    for place, text in texts.items():
        labels = [part.strip() for part in text.split(",")]
        with naming(place):
            rows.append([NO_DOCUMENT if one == "-" else scale.index(one) for one in labels])
    longest = max(map(len, rows))
    if n_ranks is not None and longest > n_ranks:
        raise InputError(f"a list has more than {n_ranks} grades", "raise `n_ranks`, or cut it")
    filled = [row + [NO_DOCUMENT] * ((n_ranks or longest) - len(row)) for row in rows]
    return np.array(filled, np.int8)
