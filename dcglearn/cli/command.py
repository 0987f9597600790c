"""What commands have in common: options on reading and writing, and how an answer is given.

Typer makes options of parameters, :func:`command` their help texts of the docstring. It adds the
options that many commands have: parameters may be classes of them, such as JudgmentOptions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, getdoc, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from typer import Argument, Option

from dcglearn.base.files import check_outputs, jsonable
from dcglearn.cli.options import files_named
from dcglearn.cli.output import print_note, print_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dcglearn.report.tables import Table

Command = Callable[..., Any]
BY_NAME = Parameter.KEYWORD_ONLY

MADE: list[Command] = []
"""All commands, as typer is given them."""

_SECTION = re.compile(r"\n+(.+)\n-+\n")
_ENTRY = re.compile(r"^(\w+)(?:, (-\w))?(?: : (.+))?\n((?: .+\n?)+)", re.MULTILINE)
"""Of a docstring in numpydoc's style: a heading; a parameter, its short name, metavar and help."""


@dataclass(frozen=True)
class Answer:
    """What a command found.

    `document` is printed with ``--json``. Into files go what `draw` draws, if that is their format,
    and otherwise what `write` writes, or `document` and `table`; `write` takes the name of a file
    and returns those it wrote, if they are others. `remark` is said after each name.
    """

    document: Callable[[], Any]
    text: Callable[[], str]
    write: Callable[[str], Any] | None = None
    table: Table | None = None
    draw: Callable[[], Figure] | None = None
    remark: str = ""

    def deliver(self, files: Sequence[str], as_json: bool) -> None:
        """Write files, print the answer, and name the files; beside JSON on standard error."""
        written = [name for path in files for name in self._save(path) or [path]]
        if as_json:
            print_text(json.dumps(jsonable(self.document()), indent=2))  # in ASCII
        else:
            print_text(self.text())
        for name in written:
            (print_note if as_json else print_text)(f"wrote {name}{self.remark}")

    def _save(self, path: str) -> Any:
        from dcglearn.report.tables import FIGURE_FORMATS

        if self.draw is not None and Path(path).suffix.lower() in FIGURE_FORMATS:
            from dcglearn.report.figures.style import save

            save(self.draw(), path)
        elif self.write is not None:
            return self.write(path)
        elif self.table is not None:
            self.table.write(path, self.document)
        return None


def command(out: str = "", *, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Add the options of classes that a command takes, ``--out``, and ``--json`` if it answers.

    The help of the others is in the docstring, whose sections are the headings of the help.
    `out` is the help of that option, which holds the suffixes that a file may have.
    """

    def decorate(function: Command) -> Command:
        text, options = _documented(function)
        answers = signature(function, eval_str=True).return_annotation is Answer
        classes: dict[str, Any] = {
            name: one.annotation for name, one in options.items() if is_dataclass(one.annotation)
        }
        grouped = {}
        for group, make in classes.items():
            del options[group]
            every = _documented(make)[1].items()
            grouped[group] = {name: one for name, one in every if name not in without}
        if out:
            option = Option("--out", "-o", metavar="FILE", help=f"{out} May be repeated.")
            several = Annotated[list[str] | None, option]
            options["out"] = Parameter("out", BY_NAME, default=None, annotation=several)
        if answers:
            option = Option("--json", help="Print JSON.")
            flag = Annotated[bool, option]
            options["json"] = Parameter("json", BY_NAME, default=False, annotation=flag)
        for added in grouped.values():
            options |= added

        @wraps(function)
        def run(**given: Any) -> None:
            if "out" in given:
                _check_files(options["out"], given)
            as_json = answers and given.pop("json")
            files = given.pop("out") if out else None
            for group, added in grouped.items():
                given[group] = classes[group](**{name: given.pop(name) for name in added})
            answer = function(**given)
            if answers:
                answer.deliver(files or [], as_json)

        by_name = [one.replace(kind=BY_NAME) for one in options.values()]
        run.__signature__ = Signature(by_name)  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in by_name}
        run.__doc__ = text
        MADE.append(run)
        return run

    return decorate


def _documented(function: Command) -> tuple[str, dict[str, Parameter]]:
    """Return what a command is for, and its parameters with the help texts of the docstring."""
    options = dict(signature(function, eval_str=True).parameters)
    text, *sections = _SECTION.split(getdoc(function) or "")
    for heading, section in zip(sections[::2], sections[1::2], strict=True):
        for name, short, metavar, words in _ENTRY.findall(section):
            kind, default = options[name].annotation, options[name].default
            option: Any = Option(f"--{name.replace('_', '-')}", *short.split())
            if default is Parameter.empty and not short:
                option = Argument()
            if get_origin(kind) is Annotated:
                kind, option = get_args(kind)
            option.help, option.metavar = " ".join(words.split()), metavar or option.metavar
            if heading != "Parameters":
                option.rich_help_panel = heading
            options[name] = options[name].replace(annotation=Annotated[kind, option])
    return text, options


def _check_files(out: Parameter, given: Mapping[str, Any]) -> None:
    """Refuse outputs that cannot be written, or would replace what is read."""
    texts = {}
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        texts[name] = [one for one in values if isinstance(one, str)]
    outputs = texts.pop("out")
    formats = re.findall(r"\.[a-z]\w*", out.annotation.__metadata__[0].help)
    formats = formats or [Path(one).suffix for one in outputs]
    check_outputs(outputs, files_named(chain.from_iterable(texts.values())), formats)
