"""A check that pairs differ in something that can be learned."""

from __future__ import annotations

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.scale import NO_DOCUMENT, Scale


def check_worth_learning(
    pairs: Grades, weights: Floats | None = None, scale: Scale | None = None
) -> None:
    """Refuse pairs from which nothing can be learned.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2, K)
    weights : ndarray of float, shape (n,), optional
        Pairs of weight 0 do not count.
    scale : Scale, optional
        Gives the name of the grade for the message.

    Raises
    ------
    InputError
        If no pair has a weight above 0, all pairs are of identical lists, or only one grade
        occurs.
    """
    counted = pairs if weights is None else pairs[weights > 0]
    if not len(counted):
        raise InputError(
            "no strict preference" + (": every weight is zero" if len(pairs) else ""),
            "give at least one answer a or b, with weight",
        )
    if (counted[:, 0] == counted[:, 1]).all():
        raise InputError(
            f"all {len(counted)} strict preferences are between identical lists",
            "give pairs whose lists differ",
        )
    worst = counted.max()
    if worst == counted.min(where=counted != NO_DOCUMENT, initial=worst) != NO_DOCUMENT:
        name = f"index {worst}" if scale is None else scale.labels[worst]
        raise InputError(
            f"only one grade occurs ({name})",
            "judge lists with documents of different grades",
        )
