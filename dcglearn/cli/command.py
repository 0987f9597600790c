"""What commands have in common: options on reading and writing, and how an answer is given.

Typer makes options of the parameters of a function. :func:`command` adds those that many commands
have, so that a command only says what it found.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from dcglearn.base.files import check_outputs
from dcglearn.cli.inputs import files_named
from dcglearn.cli.output import print_json, print_note, print_text
from dcglearn.cli.reading import JudgmentOptions, parameter

Command = Callable[..., Any]

_IS_READ = re.compile("FILE|MEASURE|JUDGMENTS|QUESTIONS|RATINGS|DOCUMENTS|QRELS|RUN")
"""Metavars of what may name a file that is read."""


@dataclass(frozen=True)
class Answer:
    """What a command found.

    `document` is printed with ``--json``. `write` takes the name of a file and returns those it
    wrote, if they are others; without ``--out`` it gets `files`. `remark` is said after each name.
    """

    document: Callable[[], Any]
    text: Callable[[], str]
    write: Callable[[str], Any] | None = None
    files: Sequence[str] = ()
    remark: str = ""

    def deliver(self, files: Sequence[str], json: bool) -> None:
        """Write files, print the answer, and name the files; beside JSON on standard error."""
        written = []
        if self.write is not None:
            written = [name for path in files or self.files for name in self.write(path) or [path]]
        if json:
            print_json(self.document())
        else:
            print_text(self.text())
        for name in written:
            (print_note if json else print_text)(f"wrote {name}{self.remark}")


def command(
    out: str = "",
    *names: str,
    heading: str | None = None,
    without: Collection[str] = (),
    columns: Any = None,
    json: bool = True,
) -> Callable[[Command], Command]:
    """Add the options on reading, if a command takes judgments, ``--out`` and ``--json``.

    `out` is the help of that option, which holds the suffixes that a file may have.
    """

    def decorate(function: Command) -> Command:
        own = inspect.signature(function, eval_str=True).parameters
        reading = JudgmentOptions.parameters(without, columns) if "judgments" in own else []
        added = ("judgments", "out") if out else ("judgments",)
        parameters = [one for name, one in own.items() if name not in added]
        if out:
            declared, said = names or ("--out", "-o"), f"{out} May be repeated."
            option = Option(*declared, metavar="FILE", help=said, rich_help_panel=heading)
            parameters.append(parameter("out", Annotated[list[str] | None, option], None))
        if json:
            option = Option("--json", help="Print JSON.", rich_help_panel=heading)
            parameters.append(parameter("json", Annotated[bool, option], False))
        parameters += reading

        @wraps(function)
        def run(**given: Any) -> None:
            _check_files(parameters, given)
            as_json = json and given.pop("json")
            files = given["out"] if out else None
            if "out" not in own:
                given.pop("out", None)
            if reading:
                options = {one.name: given.pop(one.name) for one in reading}
                given["judgments"] = JudgmentOptions(**options)
            answer = function(**given)
            if answer is not None:
                answer.deliver(files or [], as_json)

        signature = inspect.Signature([one.replace(kind=one.KEYWORD_ONLY) for one in parameters])
        run.__signature__ = signature  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _check_files(parameters: Sequence[inspect.Parameter], given: dict[str, Any]) -> None:
    """Refuse outputs that cannot be written, or would replace what is read."""
    options = {one.name: one.annotation.__metadata__[0] for one in parameters}
    if "out" not in options or options["out"].metavar == "FOLDER":
        return
    out = options.pop("out")
    outputs = _listed(given["out"])
    read = [
        text
        for name, one in options.items()
        if _IS_READ.search(one.metavar or "")
        for text in _listed(given[name])
    ]
    formats = re.findall(r"\.[a-z]\w*", out.help) or [Path(one).suffix for one in outputs]
    check_outputs(outputs, files_named(read), formats)


def _listed(given: str | list[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else given or []
