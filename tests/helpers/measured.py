"""By how much one list is better than another under a measure."""

from __future__ import annotations

import numpy as np

from dcglearn import DCG
from dcglearn.base.types import Grades


def difference(measure: DCG, a: Grades, b: Grades) -> float:
    return float(np.sum(measure.score(a)) - np.sum(measure.score(b)))
