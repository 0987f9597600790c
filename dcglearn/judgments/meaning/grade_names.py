"""Which grade a text or number in a file is.

Numbers may be stored as text. Names count without capitals and blanks around them; a name that is
only near one of the scale is refused with that name.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcglearn.base.errors import InputError
from dcglearn.judgments.meaning.given_maps import UnmappedValueError
from dcglearn.measures.scale import Label, Scale, canonical_label


def resolve_labels(values: Sequence[object], scale: Scale | None = None) -> list[Label | None]:
    """Return the labels of the grades that occur in lists.

    Parameters
    ----------
    values : sequence of str, int, float or None
        The distinct entries of the lists of a file.
    scale : Scale, optional
        The declared grades. Without it, numbers and names stay as they are, one of the two.

    Returns
    -------
    list of str, int, float or None
        As long as `values`; on the scale if there is one. None for None.

    Raises
    ------
    UnmappedValueError
        If a value is not a grade, is off the scale, or some are numbers and others names.

    Examples
    --------
    >>> resolve_labels([" Good", "BAD", None], Scale(("good", "bad")))
    ['good', 'bad', None]
    >>> resolve_labels(["2", 0.0])
    [2, 0]
    """
    labels: list[Label | None] = []
    for position, value in enumerate(values):
        try:
            labels.append(_canonical(value, scale))
        except (TypeError, ValueError) as error:
            problem = error.problem if isinstance(error, InputError) else f"the grade {value!r:.60}"
            raise UnmappedValueError(problem, "use numbers or names", position) from error
    if scale is None:
        _check_one_kind(labels)
        return labels
    found: list[Label | None] = []
    for position, label in enumerate(labels):
        try:
            found.append(None if label is None else scale.labels[scale.index(label)])
        except InputError as error:
            if len({isinstance(one, str) for one in scale.labels}) == 1:
                _check_one_kind(labels, position)
            raise UnmappedValueError(error.problem, error.remedy, position) from error
    return found


def _check_one_kind(labels: Sequence[Label | None], position: int | None = None) -> None:
    """Refuse grades of which some are numbers and others names, naming the rarer kind's place."""
    known = [label for label in dict.fromkeys(labels) if label is not None]
    numbers = [label for label in known if not isinstance(label, str)]
    names = [label for label in known if isinstance(label, str)]
    if not numbers or not names:
        return
    odd = numbers[0] if len(numbers) <= len(names) else names[0]
    raise UnmappedValueError(
        f"grades are numbers ({_shown(numbers)}) and names ({_shown(names)})",
        "write all of them one way; if both are grades, declare all, best first, with `scale`",
        labels.index(odd) if position is None else position,
    )


def _shown(labels: Sequence[Label]) -> str:
    return ", ".join(map(str, labels[:5])) + (", ..." if len(labels) > 5 else "")


def _canonical(value: object, scale: Scale | None) -> Label | None:
    if value is None:
        return None
    if isinstance(value, str) and scale is not None and value in scale.labels:
        return value  # perhaps with blanks around it
    return canonical_label(value.strip() if isinstance(value, str) else value)  # type: ignore[arg-type]  # it refuses other types
