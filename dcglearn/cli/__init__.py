"""The command line.

Heavy libraries are loaded inside commands, so that help is quick; typer's own headings need rich,
which takes as long to load as all the rest of the help. Errors end with one line on standard error:
bad input with exit code 2, a solver that did not reach the optimum with 1, one that nobody foresaw
with 70. Ctrl-C ends with 130, SIGTERM with 143.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from importlib.abc import MetaPathFinder
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

from dcglearn.base.errors import InputError, InputWarning, SolverError
from dcglearn.base.process import INTERRUPTED, interrupted_code
from dcglearn.base.workers import WorkersLostError
from dcglearn.cli import experiments, judgments, systems
from dcglearn.cli.command import MADE
from dcglearn.cli.output import in_options, message, print_note, print_text

DEBUG = "DCGLEARN_DEBUG"
"""Environment variable that shows the traceback of a fault."""

UNFORESEEN = 70
"""Exit code of such an error: EX_SOFTWARE of sysexits.h."""

GROUPS = {"Judgments": judgments, "Systems": systems, "Experiments": experiments}
"""Heading in the help -> module of its commands, in the order of a person's work."""

_WITH_PANDAS = {"export", "run", "reproduce", "status", "report"}


class GroupedCommands(TyperGroup):
    """A group whose help lists its commands under their headings, in order of registration."""

    # The types of `ctx` and `formatter` are private to typer.
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per heading, with the names in columns of one width."""
        commands: Any = self.commands
        width = max(map(len, commands))
        rows = [
            (one.rich_help_panel, name.ljust(width), one.get_short_help_str(1000))
            for name, one in commands.items()
        ]
        _write_sections(formatter, rows)


class GroupedOptions(TyperCommand):
    """A command whose help lists its options under the headings that they name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then one section of options per heading, in order of definition."""
        rows = []
        parameters: list[Any] = self.get_params(ctx)
        for one in parameters:
            record = one.get_help_record(ctx)
            if one.param_type_name == "argument":
                rows.append(("Arguments", one.metavar, one.help))
            elif record is not None:
                rows.append((one.rich_help_panel or "Options", *record))
        _write_sections(formatter, rows)


def _write_sections(formatter: Any, rows: list[tuple[str, str, str]]) -> None:
    """Write rows of (heading, name, text) under their headings."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, name, text in rows:
        sections.setdefault(heading, []).append((name, text))
    for heading, section in sections.items():
        with formatter.section(heading):
            formatter.write_dl(section)


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


for heading, module in GROUPS.items():
    for command in MADE:
        if command.__module__ == module.__name__:
            app.command(cls=GroupedOptions, rich_help_panel=heading)(command)

_UsageError = cast("type[Exception]", typer.BadParameter.__base__)
"""The class of errors in options and arguments, to which typer gives no public name."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    _show_input_warnings()
    sys.path.append(".")  # of modules that experiments import
    name = next((one for one in sys.argv[1:] if not one.startswith("-")), "")
    writes_frame = name == "evaluate" and any(one.lower().endswith(".parquet") for one in sys.argv)
    if name not in _WITH_PANDAS and not writes_frame:
        sys.meta_path.insert(0, WithoutPandas())
    try:
        try:
            code = app(prog_name="dcglearn", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except _UsageError as error:
        _end_usage(error)
    except Exception as error:
        _end(*_words_and_code(error))
    if code == INTERRUPTED:  # of either signal: typer takes all for Ctrl-C
        _end("interrupted; nothing half-written is left", interrupted_code())
    sys.exit(code)


class WithoutPandas(MetaPathFinder):
    """Lets the import of pandas fail, which pyarrow would load for any array."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Leave other modules to other finders."""
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)


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
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(": ")
    advice = f"what the same command prints if {DEBUG}=1 is set"
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        advice = "this traceback"
    return f"unexpected error ({what}); please report it with {advice}", UNFORESEEN


def _end(text: str, code: int) -> NoReturn:
    print_note(f"dcglearn: {text}")
    sys.exit(code)


def _end_usage(error: Any) -> NoReturn:
    """End with one line about an option or an argument; without any argument, with the help."""
    if len(sys.argv) == 1:
        error.show()
        sys.exit(2)
    text = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    see = " See" if text.endswith("?") else "; see"
    program = error.ctx.command_path if error.ctx else "dcglearn"
    _end(f"{text[0].lower()}{text[1:]}{see} {program} --help", 2)
