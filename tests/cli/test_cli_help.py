"""Help, completion, options and messages of the command line."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from typer.main import get_command

import dcglearn
from dcglearn import LIKE, InputError
from dcglearn.cli import GROUPS, app
from dcglearn.cli.command import MADE
from dcglearn.cli.output import in_options, message
from dcglearn.interop.export import TARGETS
from dcglearn.judgments.ratings import Within
from dcglearn.learning.problem import MARGINS
from dcglearn.learning.solve import SOLVERS
from dcglearn.measures.measure import MeasurePart
from dcglearn.systems.compare_systems import Correct
from dcglearn.systems.ranked import Pool, Ties, Unjudged
from helpers.commands import run_commands, run_program

GROUP: Any = get_command(app)
NAMES = list(GROUP.commands)
FUNCTIONS = {command.__name__: command for command in MADE}


def shell(tmp_path: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run_program(
        [sys.executable, "-m", "dcglearn", *arguments], tmp_path, COLUMNS="80", **env
    )


def test_help_lists_the_commands_by_group(tmp_path: Path) -> None:
    found = shell(tmp_path, "--help")
    assert found.returncode == 0
    headings = [line[:-1] for line in found.stdout.splitlines() if line.endswith(":")]
    assert headings == ["Options", *GROUPS]
    listed = found.stdout.split("Judgments:")[1]
    rows = [line.split() for line in listed.splitlines() if line.startswith("  ")]
    assert [row[0] for row in rows] == NAMES
    assert all(row[-1].endswith(".") and not row[-1].endswith("..") for row in rows), "cut short"
    assert shell(tmp_path).stderr == found.stdout, "the help is shown where no command is given"


def test_help_of_each_command(tmp_path: Path) -> None:
    for found in run_commands([[name, "--help"] for name in NAMES], tmp_path):
        name = found.args[0]
        assert found.returncode == 0
        assert f"Usage: dcglearn {name} [OPTIONS]" in found.stdout
        helps = [param.help for param in GROUP.commands[name].params]
        assert all(helps), name
        assert not [text for text in helps if re.search(r"\[[a-z/#@]", text)], "a style, for rich"


@pytest.mark.parametrize(
    ("command", "option", "accepted"),
    [
        ("export", "to", TARGETS),
        ("evaluate", "like", LIKE),
        ("fit", "margin", MARGINS),
        ("fit", "solver", SOLVERS),
        ("evaluate", "correct", get_args(Correct)),
        ("evaluate", "test", ("randomisation", "t", "none")),
        ("evaluate", "ties", get_args(Ties)),
        ("evaluate", "unjudged", get_args(Unjudged)),
        ("evaluate", "pool", get_args(Pool)),
        ("fit", "use", get_args(MeasurePart)),
        ("pairs", "within", get_args(Within)),
    ],
)
def test_choices_are_those_of_the_library(
    command: str, option: str, accepted: tuple[str, ...]
) -> None:
    bare = get_args(FUNCTIONS[command].__annotations__[option])[0]
    choices = bare if get_origin(bare) is Literal else get_args(bare)[0]
    assert get_args(choices) == tuple(accepted)


# --- messages: the library names arguments, the command line names options


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
        ("`cutoff` is 0", "the number after @ is 0"),
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
