"""Any judgments, as a strategy of hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dcglearn import Preferences, Scale
from dcglearn.judgments.meaning.answers import ANSWERS

SCALES = [(4, 3, 2, 1, 0), (1, 0.5, 0), (2.5, 1.5), (0.5, -1), ("p",), ("good", "fair", "bad")]
SCALES += [("é", "a'b", "%s")]
ODD_IDS = ["007", "1e3", "7.0", "true", "NULL", "nan", "None", "-", "2024-01-01", "x;y", "\u2028"]
IDS = st.sampled_from(
    [None, "x", "17", "é b", 'laptop 15"', "a,b", "x\ty", " x ", "two\nlines", "%s", *ODD_IDS]
)
WEIGHTS = st.sampled_from([1.0, 0.5, 2.0, 0.0, -0.0, 0.1, 1e-300, 1e-7, 3.5e7, 1e11])


@st.composite
def preferences(
    draw: st.DrawFn, most_ranks: int = 4, ids: st.SearchStrategy[str | None] = IDS
) -> Preferences:
    """Any answers on any scale; ranks may be empty, weights equal and ids missing."""
    scale = Scale(draw(st.sampled_from(SCALES)))
    n, K = draw(st.integers(1, 9)), draw(st.integers(1, most_ranks))
    lists = np.random.default_rng(draw(st.integers(0, 10**6))).integers(0, len(scale), (n, 2, K))
    if draw(st.booleans()):
        lists[lists == draw(st.integers(0, len(scale) - 1))] = -1
        lists[(lists < 0).all(axis=2), draw(st.integers(0, K - 1))] = 0

    def column(values: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
        return st.lists(values, min_size=n, max_size=n)

    return Preferences.of(
        lists,
        draw(column(st.sampled_from(ANSWERS))),
        scale,
        draw(st.none() | column(WEIGHTS)),
        draw(st.none() | column(ids)),
        draw(st.none() | column(ids)),
    )
