"""Messages: the library names arguments, the command line names options."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dcglearn
from dcglearn import InputError
from dcglearn.cli.remedies import in_options, message

PACKAGE = Path(dcglearn.__file__).parent
SHELL_COMMANDS = {"interop/tool_measures.py", "lab/provenance.py"}
"""Files that hold commands for a shell, read options of a program of their own, or hold names of
CSS variables, which begin with -- as well."""


def option_in(path: Path) -> bool:
    """Whether a string of a module that is no docstring names an option."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return any(
        re.search(r"(?<![\w-])--[A-Za-z]", str(node.value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in docstrings
    )


def test_no_message_of_the_library_names_an_option() -> None:
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    found = {name for name, path in paths.items() if option_in(path) and name[:4] != "cli/"}
    assert found == SHELL_COMMANDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("declare `scale`, best first", "declare --scale, best first"),
        ("`n_ranks` is 2", "--K is 2"),
        ('use `unjudged="worst"`', "use --unjudged worst"),
        ("use `labels=[2, 1, 0]`", "use --labels 2,1,0"),
        ("add `replace=True`", "add --replace"),
        ("set `C = 0.5`, or `seed=7`", "set --C 0.5, or --seed 7"),
        ("`scale=best=3,worst=0`", "--scale best=3,worst=0"),
        ("call `fit` first, with `W`", "call `fit` first, with `W`"),
        ("`min_difference` and `n_repeats`", "--min-difference and --repeats"),
        ("scale, without quotes", "scale, without quotes"),
    ],
)
def test_arguments_become_options(text: str, expected: str) -> None:
    assert in_options(text) == expected


def test_the_place_of_an_error_is_kept() -> None:
    error = InputError("grades are names", "declare `scale`", "the folder `out`")
    assert message(error) == "the folder `out`: grades are names; declare --scale"
    assert message(InputError("no `scale`")) == "no --scale"
