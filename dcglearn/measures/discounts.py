"""Discounts: the weight of each rank, as a named rule or as a vector.

A rule gives c_1, c_2, ... for any number of ranks; a vector has a fixed length.
:data:`DISCOUNT_RULES` has the formulas and their sources.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import InputError, check_name
from dcglearn.base.numbers import parse_number
from dcglearn.base.types import Floats


@dataclass(frozen=True)
class DiscountRule:
    """A discount rule: its formula, its source and the range of its parameter."""

    formula: str
    source: str
    at: Callable[[Floats, float], Floats]
    parameter: str = ""
    low: float = -math.inf
    high: float = math.inf


DISCOUNT_RULES = {
    "log2": DiscountRule("1 / log2(i + 1)", "Burges et al. 2005", lambda i, _: 1 / np.log2(i + 1)),
    "jk": DiscountRule(
        "1 / max(1, log_b i)",
        "Jarvelin & Kekalainen 2002",
        lambda i, b: 1 / np.maximum(1.0, np.log(i) / math.log(b)),
        "b",
        low=1.0,
    ),
    "zipf": DiscountRule("1 / i", "Urbano & Marrero 2015", lambda i, _: 1 / i),
    "linear": DiscountRule(
        "max(0, (n + 1 - i) / n)",
        "Urbano & Marrero 2015",
        lambda i, n: np.maximum(0.0, (n + 1 - i) / n),
        "n",
        low=0.0,
    ),
    "constant": DiscountRule("1", "Jarvelin & Kekalainen 2002", lambda i, _: np.ones_like(i)),
    "rbp": DiscountRule(
        "(1 - p) p^(i - 1)",
        "Moffat & Zobel 2008",
        lambda i, p: (1 - p) * p ** (i - 1),
        "p",
        low=0.0,
        high=1.0,
    ),
}

_CALL = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\(\s*([^()]*?)\s*\)|:\s*(\S+))?\s*")


def split_parameter(text: str) -> tuple[str, float | None]:
    """Split ``name``, ``name(0.8)`` or ``name:0.8`` into the name and its parameter."""
    match = _CALL.fullmatch(text)
    if not match:
        raise InputError(f"cannot read {text!r}", "write a name, or a name and a number: rbp:0.8")
    name, inside, after = match.groups()
    number = after if inside is None else inside
    return name, None if number is None else parse_number(number)


def canonical_rule(text: str) -> str:
    """Check a discount rule and return its canonical form."""
    name, value = split_parameter(text)
    check_name(name, "discount rule", DISCOUNT_RULES)
    rule = DISCOUNT_RULES[name]
    if not rule.parameter and value is not None:
        raise InputError(f"the discount {name} has no parameter", f"write {name}")
    if rule.parameter and (value is None or not rule.low < value < rule.high):
        raise InputError(
            f"the discount {text!r} needs a parameter in ({rule.low:g}, {rule.high:g})",
            f"write {name}({rule.parameter}); it is {rule.formula}",
        )
    return name if value is None else f"{name}({format_number(value)})"


def rule_discounts(text: str, n_ranks: int) -> Floats:
    """Return the discounts c_1, ..., c_K of a rule."""
    name, value = split_parameter(canonical_rule(text))
    ranks = np.arange(1, n_ranks + 1, dtype=float)
    return DISCOUNT_RULES[name].at(ranks, value or math.nan)


def format_number(value: float) -> str:
    """Format a number so that it parses back exactly; whole numbers have no decimal point."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
