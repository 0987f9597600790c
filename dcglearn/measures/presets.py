"""Presets: the gains and discounts of DCG in the literature, each with its source.

The gains are formulas of r, the value of a grade on its scale.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import InputError, did_you_mean
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number, split_parameter
from dcglearn.measures.grammar import ALIASES, OTHER_OPTIONS, split_cutoff
from dcglearn.measures.scale import ScaleLike, needed_scale


@dataclass(frozen=True)
class Preset:
    """A preset: a discount rule, formula, source, a parameter with its default, and the gain."""

    discount: str
    formula: str
    source: str
    parameter: str = ""
    default: Callable[[Floats, int], float] = lambda r, n: 0.0
    gain: Callable[[Floats, float], Floats] = lambda r, _: r


PRESETS = {
    "linear-log2": Preset(
        "log2", "r / log2(i + 1)", "Jarvelin & Kekalainen 2002; as trec_eval's ndcg"
    ),
    "exponential-log2": Preset(
        "log2",
        "sign(r) (2^|r| - 1) / log2(i + 1)",
        "Burges et al. 2005",
        gain=lambda r, _: np.sign(r) * (2 ** np.abs(r) - 1),
    ),
    "jk": Preset(
        "jk({})",
        "r / max(1, log_b i)",
        "Jarvelin & Kekalainen 2002",
        "b",
        lambda r, n: 2.0,
    ),
    "zipf": Preset("zipf", "r / i", "Urbano & Marrero 2015"),
    "linear-discount": Preset(
        "linear({})",
        "r (n + 1 - i) / n",
        "Urbano & Marrero 2015",
        "n",
        lambda r, n: float(n),
    ),
    "constant": Preset("constant", "r", "cumulated gain, Jarvelin & Kekalainen 2002"),
    "rbp": Preset(
        "rbp({})",
        "max(r, 0) / max (1 - p) p^(i - 1)",
        "Moffat & Zobel 2008",
        "p",
        lambda r, n: 0.8,
        lambda r, _: np.maximum(r, 0.0) / (max(r.max(), 0.0) or 1.0),
    ),
    "binary": Preset(
        "log2",
        "[r >= t] / log2(i + 1)",
        "Urbano & Marrero 2015",
        "t",
        lambda r, n: float(r[0]),
        lambda r, at: (r >= at).astype(float),
    ),
}


def preset(name: str, scale: ScaleLike, n_ranks: int) -> DCG:
    """Return a DCG of the literature, by name, for a given scale.

    Parameters
    ----------
    name : str
        ``linear-log2``, ``exponential-log2``, ``jk:b``, ``zipf``, ``linear-discount:n``,
        ``constant``, ``rbp:p`` or ``binary:t``, optionally followed by ``@ cutoff``. The
        default of b is 2, of n `n_ranks`, of p 0.8, and of t the value of the best grade.
    scale : Scale, str or sequence of labels
        The grades and their values.
    n_ranks : int
        K, the length of the rankings.

    Returns
    -------
    DCG

    Examples
    --------
    >>> preset("exponential-log2", "2,1,0", 5)
    DCG({2: 3, 1: 1, 0: 0}, log2)
    >>> preset("rbp:0.5 @ 3", "1,0", 5)
    DCG({1: 1, 0: 0}, rbp(0.5)) @ 3
    """
    scale = needed_scale(scale)
    called, cutoff = split_cutoff(name)
    head, parameter = split_parameter(called)
    if head not in PRESETS:
        guess = did_you_mean(head, (*ALIASES, *OTHER_OPTIONS, *PRESETS))
        remedy = f"{guess}Known: {', '.join(sorted(PRESETS))}; dcglearn measures lists all names"
        raise InputError(f"unknown preset {head!r}", remedy)
    formulas, values = PRESETS[head], np.array(scale.values)
    if parameter is not None and not formulas.parameter:
        raise InputError(f"the preset {head} has no parameter", f"write {head}")
    number = formulas.default(values, n_ranks) if parameter is None else parameter
    with np.errstate(over="ignore"):  # a DCG refuses infinite gains
        gains = formulas.gain(values, number)
    if head == "binary" and not gains.any():
        raise InputError(
            f"no grade of {scale} has a value of {number:g} or more", "write a number that one has"
        )
    rule = formulas.discount.format(format_number(number))
    return DCG(gains, rule, cutoff, grades=scale.labels)


def usual_presets(scale: ScaleLike, n_ranks: int) -> dict[str, DCG]:
    """Return every preset with its default parameter, by name.

    Parameters
    ----------
    scale : Scale, str or sequence of labels
    n_ranks : int

    Returns
    -------
    dict from str to DCG

    Examples
    --------
    >>> list(usual_presets("1,0", 3))[:3]
    ['linear-log2', 'exponential-log2', 'jk:2']
    """
    scale = needed_scale(scale)
    values = np.array(scale.values)
    names = [
        f"{name}:{format_number(p.default(values, n_ranks))}" if p.parameter else name
        for name, p in PRESETS.items()
    ]
    return {name: preset(name, scale, n_ranks) for name in names}
