"""Help, completion and options of the command line."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from typer.main import get_command

from dcglearn import LIKE
from dcglearn.base.significance import PAIRED_TESTS
from dcglearn.cli import COMMANDS, app
from dcglearn.interop.export import TARGETS
from dcglearn.judgments.ratings import WITHIN
from dcglearn.learning.problem import MARGINS
from dcglearn.learning.solve import SOLVERS
from dcglearn.measures.measure_files import MeasurePart
from dcglearn.systems.compare_systems import CORRECT
from dcglearn.systems.rules import POOLS, TIES, UNJUDGED
from helpers.commands import run_commands, run_program

GROUP: Any = get_command(app)
NAMES = list(GROUP.commands)
FUNCTIONS = {command.__name__: command for group in COMMANDS.values() for command in group}


def shell(tmp_path: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run_program(
        [sys.executable, "-m", "dcglearn", *arguments], tmp_path, COLUMNS="80", **env
    )


def test_help_lists_the_commands_by_group(tmp_path: Path) -> None:
    found = shell(tmp_path, "--help")
    assert found.returncode == 0
    headings = [line[:-1] for line in found.stdout.splitlines() if line.endswith(":")]
    assert headings == ["Options", *COMMANDS]
    listed = found.stdout.split("Judgments:")[1]
    rows = [line.split() for line in listed.splitlines() if line.startswith("  ")]
    assert [row[0] for row in rows] == NAMES
    assert all(row[-1].endswith(".") and not row[-1].endswith("..") for row in rows), "cut short"
    assert shell(tmp_path).stderr == found.stdout, "the help is shown where no command is given"


def test_help_of_each_command(tmp_path: Path) -> None:
    for found in run_commands([[name, "--help"] for name in NAMES], tmp_path):
        name = found.args[0]
        assert found.returncode == 0
        assert found.stdout.startswith(f"Usage: dcglearn {name} [OPTIONS]")
        assert all(len(line) <= 80 for line in found.stdout.splitlines()), name
        assert all(param.help for param in GROUP.commands[name].params), name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dcglearn co", ["compare", "coherence"]),
        ("dcglearn evaluate q r --unjudged ", ["nothing", "worst", "removed", "bounds"]),
    ],
)
def test_completion(tmp_path: Path, words: str, expected: list[str]) -> None:
    found = shell(
        tmp_path,
        _DCGLEARN_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
    )
    assert found.stdout.split() == expected


@pytest.mark.parametrize(
    ("command", "option", "accepted"),
    [
        ("export", "to", TARGETS),
        ("evaluate", "like", LIKE),
        ("fit", "margin", MARGINS),
        ("fit", "solver", SOLVERS),
        ("evaluate", "correct", CORRECT),
        ("evaluate", "test", (*PAIRED_TESTS, "none")),
        ("evaluate", "ties", TIES),
        ("evaluate", "unjudged", UNJUDGED),
        ("evaluate", "pool", POOLS),
        ("fit", "use", get_args(MeasurePart)),
        ("pairs", "within", WITHIN),
    ],
)
def test_choices_are_those_of_the_library(
    command: str, option: str, accepted: tuple[str, ...]
) -> None:
    bare = get_args(FUNCTIONS[command].__annotations__[option])[0]
    choices = bare if get_origin(bare) is Literal else get_args(bare)[0]
    assert get_args(choices) == tuple(accepted)


def test_an_option_is_spelt_in_one_way() -> None:
    """The same option takes the same kind of value, and has the same short form, everywhere."""
    forms = defaultdict(set)
    for command in GROUP.commands.values():
        for param in command.params:
            if param.param_type_name == "option":
                long = next(name for name in param.opts if name.startswith("--"))
                forms[long].add((tuple(sorted(param.opts)), param.metavar))
    several = {option: found for option, found in forms.items() if len(found) > 1}
    allowed = {"--K", "--out", "--ties", "--gains", "--unjudged", "--columns"}  # run lists them
    allowed.add("--documents")  # of judge: their texts
    assert several.keys() <= allowed, several
    assert {metavar for _, metavar in forms["--out"]} == {"FILE", "FOLDER"}
    with_figures = ("--figure", "--out", "-o")  # the suffix says whether it is one
    assert {opts for opts, _ in forms["--out"]} == {("--out", "-o"), with_figures}
    assert {metavar for _, metavar in forms["--K"]} == {"K"}
