"""Parsing of the full names of measures, such as ``nDCG([3, 1, 0], rbp(0.8)) @ 10``.

A full name is a call with literal arguments. Nothing in it is evaluated.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any

from dcglearn.base.checks import checked_text
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import MAX_EXACT, parse_number


@dataclass(frozen=True)
class ParsedName:
    """The parts of the full name of a measure.

    Parameters
    ----------
    head : str
        The name before the bracket.
    arguments : tuple
        Literals, or the text of a rule such as ``rbp(0.8)``.
    options : dict
        Keyword arguments: literals, or the text of a name.
    cutoff : object
        The literal after ``@``, or None.
    """

    head: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    cutoff: Any


def parse_full_name(text: str, n_arguments: int | None, example: str) -> ParsedName:
    """Split the full name of a measure into its parts.

    >>> parse_full_name("nDCG([3, 1, 0], rbp(0.8)) @ 10", 2, "").arguments
    ([3, 1, 0], 'rbp(0.8)')
    """
    checked_text(text, "a measure", example)
    try:
        stripped = text.strip()
        node = ast.parse(stripped, mode="eval").body
        _check_numbers(stripped, node)
        cutoff = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff, node = ast.literal_eval(node.right), node.left
            if isinstance(cutoff, int) and cutoff >= MAX_EXACT:
                raise InputError("a cutoff of more than 15 digits", "lower it")
        if not isinstance(node, ast.Call) or n_arguments not in (None, len(node.args)):
            raise ValueError
        arguments = tuple(_argument(argument) for argument in node.args)
        read = _argument if n_arguments is None else ast.literal_eval
        options = {str(word.arg): read(word.value) for word in node.keywords}
        return ParsedName(ast.unparse(node.func), arguments, options, cutoff)
    except InputError as error:
        raise InputError(f"{error.problem} in {text!r:.60}", error.remedy) from error
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(
            f"cannot read the measure {text!r:.60}", f"write it like {example}"
        ) from error


def _check_numbers(text: str, tree: ast.expr) -> None:
    """Refuse numbers that only Python reads, such as ``1_0``, ``0x10`` and ``1e400``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, complex):
            number = ast.get_source_segment(text, node) or ""
            if math.isnan(parse_number(number)):
                raise InputError(f"{number!r:.40} is not a number", "write decimals")


def _argument(node: ast.expr) -> Any:
    if isinstance(node, ast.Name | ast.Call):
        return ast.unparse(node)
    value = ast.literal_eval(node)
    if isinstance(node, ast.Dict) and len(value) < len(node.keys):
        raise InputError("a grade appears twice", "name each grade once")
    return value
