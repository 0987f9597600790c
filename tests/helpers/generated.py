"""Any judgments, as a strategy of hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dcglearn import Preferences, Scale
from dcglearn.judgments.meaning.answers import ANSWERS


@st.composite
def preferences(draw: st.DrawFn) -> Preferences:
    n, K, L = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    scale = draw(st.sampled_from([Scale(tuple(range(L))[::-1]), Scale(tuple("pqrs"[:L]))]))
    lists = np.array(
        draw(
            st.lists(
                st.lists(
                    st.lists(st.integers(-1, L - 1), min_size=K, max_size=K).filter(
                        lambda row: max(row) >= 0
                    ),
                    min_size=2,
                    max_size=2,
                ),
                min_size=n,
                max_size=n,
            )
        )
    )
    one = st.lists(st.sampled_from(ANSWERS), min_size=n, max_size=n)
    ids = st.lists(st.sampled_from([None, "x", "17", "é b"]), min_size=n, max_size=n)
    weights = st.lists(st.sampled_from([0.0, 1.0, 0.1, 1e-300, 3.5e7]), min_size=n, max_size=n)
    return Preferences.of(lists, draw(one), scale, draw(weights), draw(ids), draw(ids))
