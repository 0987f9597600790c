"""Child processes that end with the script that started them, on Ctrl-C and on SIGTERM.

Uses the standard library only. A script that is told to end tells its children, waits until they
have put their files in order, and only then ends itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

Command = Sequence[str | os.PathLike[str]]

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after SIGTERM: 128 plus the number of the signal."""

GRACE_SECONDS = 10
"""How long a child may take to end by itself."""

_received: list[int] = []


def end_with_code(main: Callable[[], int]) -> NoReturn:
    """Run a script and end with its exit code; one line says why it ended early."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = main()
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left", file=sys.stderr)
        code = TERMINATED if _received else INTERRUPTED
    except OSError as error:
        place = error.filename or "input or output"
        print(f"{place}: {error.strerror or error}; nothing half-written is left", file=sys.stderr)
        code = 2
    sys.exit(code)


def run_child(command: Command, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with options of ``subprocess.Popen``."""
    return run_children([command], **options)[0]


def run_children(
    commands: Sequence[Command], **options: Any
) -> list[subprocess.CompletedProcess[str]]:
    """Run commands at the same time, all to their end; if told to end, end them first."""
    with contextlib.ExitStack() as running:
        children: list[subprocess.Popen[str]] = []
        try:
            for command in commands:
                child = running.enter_context(subprocess.Popen(command, **options))
                children.append(child)  # is ended, too, if the next one cannot be started
            printed = [child.communicate()[0] for child in children]
        except BaseException:
            for child in children:
                _end(child)
            raise
    return [
        subprocess.CompletedProcess(child.args, child.returncode, text)
        for child, text in zip(children, printed, strict=True)
    ]


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    _received.append(number)
    raise KeyboardInterrupt


def _end(child: subprocess.Popen[str]) -> None:
    """Wait for a child that Ctrl-C has reached too; otherwise tell it to end, ever more firmly."""
    numbers: list[signal.Signals | None] = [signal.SIGTERM]
    if os.name != "nt" and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        numbers.insert(0, signal.SIGINT)
    if not _received:
        numbers.insert(0, None)
    for number in numbers:
        if number is not None:
            child.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):  # it is told again
            child.wait(GRACE_SECONDS)
            return
    child.kill()
