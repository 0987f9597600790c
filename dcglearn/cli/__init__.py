"""The command line.

Commands read their options, call the library and print; heavy libraries load inside
them, so that help is quick. Bad input ends with one line on standard error and exit
code 2, a solver that did not reach the optimum with 1, Ctrl-C with 130.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.workers import WorkersLostError
from dcglearn.cli import (
    coherence,
    evaluate,
    experiments,
    explain,
    export,
    judgments,
    learn,
    measures,
    packed,
    threshold,
)
from dcglearn.cli.remedies import message

app = typer.Typer(
    name="dcglearn",
    help="Learn the gains and discounts of DCG from judgments of which of two result lists "
    "is better.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)
judgments.add_to(app)
learn.add_to(app)
packed.add_to(app)
measures.add_to(app)
evaluate.add_to(app)
coherence.add_to(app)
explain.add_to(app)
export.add_to(app)
threshold.add_to(app)
experiments.add_to(app)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:  # it is, where the shell closed it
                sys.stdout.flush()
    except InputError as error:
        _end(message(error), 2)
    except (SolverError, WorkersLostError) as error:
        _end(str(error), 1)
    except KeyboardInterrupt:
        _end("interrupted; nothing half-written is left", 130)
    except BrokenPipeError:  # the reader of a pipe went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError as error:
        _end(f"not enough memory ({error}); use fewer judgments or shorter lists", 1)
    except OSError as error:
        _end(f"{error.filename or 'input or output'}: {error.strerror or error}", 2)
    except SystemExit as end:
        if end.code == 130:
            _end("interrupted; nothing half-written is left", 130)
        raise


def _end(message: str, code: int) -> NoReturn:
    print(f"dcglearn: {message}", file=sys.stderr)
    sys.exit(code)
