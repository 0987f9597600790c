"""One parser reads the numbers of all files, options and names."""

from __future__ import annotations

import pytest

from dcglearn import InputError, Scale
from dcglearn.base.workers import open_workers
from dcglearn.measures.discounts import canonical_rule
from dcglearn.measures.names import as_measure

NO_NUMBERS = ["\u0661", "1e400", "nan", "", "9" * 4301]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_names_of_measures_and_scales_take_plain_numbers(text: str) -> None:
    for name in (
        f"nDCG([{text}, 0], log2)",
        f"DCG([1, 0], [1, {text}])",
        f"DCG([1, 0], rbp({text}))",
        f"DCG([1, 0], log2) @ {text}" if text else "DCG([1, 0], log2) @ .",
        f"rbp:{text}" if text else "rbp:.",
        f"zipf @ {text}" if text else "zipf @ .",
        f"DCG({{1: {text}, 0: 0}}, log2)",
    ):
        with pytest.raises(InputError) as error:
            as_measure(name, Scale((1, 0)), 3)
        assert len(str(error.value)) < 300
    with pytest.raises(InputError):
        Scale.parse(f"good={text},bad=0")
    with pytest.raises(InputError):
        canonical_rule(f"rbp:{text}")
    with pytest.raises(InputError), open_workers(text):
        pass
