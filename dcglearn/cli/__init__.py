"""The command line.

Commands read their options, call the library and print. Heavy libraries are loaded inside
them, so that help is quick. Bad input ends with one line on standard error and exit code 2, a
solver that did not reach the optimum with 1, Ctrl-C with 130, SIGTERM with 143. An error that
nobody foresaw ends with one line, too, and exit code 70.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Annotated, Any, NoReturn, cast

import typer

from dcglearn.base.errors import InputError, InputWarning, SolverError, unknown_name
from dcglearn.base.process import (
    DEBUG,
    INTERRUPTED,
    KeptOut,
    describe_fault,
    interrupted_code,
    share_one_heap,
)
from dcglearn.base.workers import WorkersLostError
from dcglearn.cli.certainty import study, test
from dcglearn.cli.compare import compare
from dcglearn.cli.experiments import report, reproduce, run, status
from dcglearn.cli.judge import judge
from dcglearn.cli.judgments import agree, inspect, simulate
from dcglearn.cli.learn import fit
from dcglearn.cli.measures import measures, show
from dcglearn.cli.packed import pack
from dcglearn.cli.plan import plan
from dcglearn.cli.ratings import pairs
from dcglearn.system_commands.coherence import coherence
from dcglearn.system_commands.evaluate import evaluate
from dcglearn.system_commands.explain import explain
from dcglearn.system_commands.export import export
from dcglearn.system_commands.threshold import threshold
from dcglearn.terminal.command_groups import GroupedCommands, StrictCommand
from dcglearn.terminal.output import print_note, print_text
from dcglearn.terminal.remedies import in_options, message

UNFORESEEN = 70
"""Exit code of such an error: EX_SOFTWARE of sysexits.h."""

_HALTED = "interrupted; nothing half-written is left"
COMMANDS = {
    "Judgments": (
        inspect,
        study,
        fit,
        test,
        compare,
        agree,
        show,
        pack,
        pairs,
        plan,
        judge,
        simulate,
    ),
    "Systems": (evaluate, measures, coherence, explain, export, threshold),
    "Experiments": (run, reproduce, status, report),
}
"""Heading in the help -> commands, in the order of a person's work."""

_WITH_PANDAS = {command.__name__ for command in COMMANDS["Experiments"]}

app = typer.Typer(
    name="dcglearn",
    cls=GroupedCommands,
    help="Learn the gains and discounts of DCG from judgments of which of two result lists "
    "is better.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from dcglearn.base.version import __version__

        print_text(f"dcglearn {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Show the version and exit.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")
    ] = False,
) -> None:
    if debug:
        os.environ[DEBUG] = "1"


for heading, commands in COMMANDS.items():
    for command in commands:
        app.command(cls=StrictCommand, rich_help_panel=heading)(command)

_UsageError = cast("type[Exception]", typer.BadParameter.__base__)
"""The class of errors in options and arguments, to which typer gives no public name."""


_NOT_A_CHOICE = re.compile(r"""Invalid value for '([^']+)'.*: (["'])(.*)\2 is not one of ('.*')""")

_OUT_OF_RANGE = re.compile(
    r"Invalid value for '([^']+)'.*: Input should be ([^,]+)(?:, unable to parse .*)?"
)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    _show_input_warnings()
    share_one_heap()
    if next((one for one in sys.argv[1:] if not one.startswith("-")), "") not in _WITH_PANDAS:
        sys.meta_path.insert(0, KeptOut("pandas"))  # pyarrow would load it for any array
    try:
        try:
            code = app(prog_name="dcglearn", standalone_mode=False)
        finally:
            if sys.stdout is not None:  # None if the shell closed it
                sys.stdout.flush()
    except KeyboardInterrupt:
        _end(_HALTED, interrupted_code())
    except BrokenPipeError:  # the reader of a pipe stopped reading, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except _UsageError as error:
        _end_usage(error)
    except Exception as error:
        _end(*_words_and_code(error))
    if code == INTERRUPTED:  # of either signal: typer takes all for Ctrl-C
        _end(_HALTED, interrupted_code())
    sys.exit(code)


def _show_input_warnings() -> None:
    """Print warnings about input as notes of one line; others as Python does."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, InputWarning):
            print_note(in_options(str(message)))
        else:
            usual(message, category, *place, **more)

    warnings.simplefilter("once", InputWarning)
    warnings.showwarning = show


def _words_and_code(error: Exception) -> tuple[str, int]:
    """Return what to print about an error, and the exit code."""
    match error:
        case InputError():
            return message(error), 2
        case SolverError() | WorkersLostError():
            return str(error), 1
        case MemoryError():
            return f"not enough memory ({error}); use fewer judgments or shorter lists", 1
        case OSError():
            place = str(error.filename or "input or output")
            return str(InputError(error.strerror or str(error), place=place)), 2
    return describe_fault(error), UNFORESEEN


def _end(text: str, code: int) -> NoReturn:
    print_note(f"dcglearn: {text}")
    sys.exit(code)


def _end_usage(error: Any) -> NoReturn:
    """End with one line about an option or an argument; without any argument, with the help."""
    if len(sys.argv) == 1:
        error.show()
        sys.exit(2)
    text = _OUT_OF_RANGE.sub(r"\1 should be \2", error.format_message())
    text = text.replace("Value error, ", "").rstrip(".")
    choice = _NOT_A_CHOICE.fullmatch(text)
    if choice is not None:
        option, _, value, choices = choice.groups()
        _end(str(unknown_name(option, value, re.findall("'([^']*)'", choices))), 2)
    text = " ".join(text.split())
    program = error.ctx.command_path if error.ctx else "dcglearn"
    see = f" See {program} --help" if text.endswith("?") else f"; see {program} --help"
    _end(text[:1].lower() + text[1:] + see, 2)
