"""How commands read judgments: the options, declared once for all commands, and the reading.

Typer makes options of the parameters of a function. A command takes these options as one
argument; :func:`reads_judgments` puts them in its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.inputs import refuse_together
from dcglearn.cli.options import (
    AnswersOption,
    ColumnsOption,
    DocumentsOption,
    DropJudgeOption,
    EncodingOption,
    NullValuesOption,
    QrelsOption,
    RanksOption,
    RunOption,
    ScaleOption,
    StrictOption,
    UnjudgedOption,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dcglearn.judgments.options import ReadOptions
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.judgments.read import JudgmentTable

Command = Callable[..., None]

READING = "Reading files"
"""The heading of these options in the help."""

_NOT_OF_READERS = ("qrels", "run", "drop_judge")

USUAL_BYTES = 650
"""Memory per judgment that commands take besides the judgments themselves."""

MOST_IN_MEMORY = 2**30
"""Bytes of judgments as they are read, about 20 each, from which on they must be packed first."""


@dataclass(frozen=True)
class JudgmentOptions:
    """The options on reading judgments; a field added here is an option of every command."""

    scale: ScaleOption = None
    n_ranks: RanksOption = None
    documents: DocumentsOption = False
    qrels: QrelsOption = None
    run: RunOption = None
    columns: ColumnsOption = None
    answers: AnswersOption = None
    unjudged: UnjudgedOption = "worst"
    null_values: NullValuesOption = None
    drop_judge: DropJudgeOption = None
    strict: StrictOption = False
    encoding: EncodingOption = "utf-8"

    def reading(self) -> dict[str, Any]:
        """Return what is given as arguments of the readers; read the qrels and runs it names."""
        given = {
            name: value
            for name, value in vars(self).items()
            if name not in _NOT_OF_READERS and value != getattr(AS_USUAL, name)
        }
        if self.null_values:
            given["null_values"] = tuple(self.null_values.split(","))
        refuse_together({"--qrels": self.qrels}, {"--documents": self.documents})
        if self.run and not self.qrels:
            raise InputError("--run without --qrels", "add --qrels with the documents' grades")
        if self.qrels:
            from dcglearn.judgments.reading.documents import DocumentGrades
            from dcglearn.measures.scale import as_scale

            grades = DocumentGrades.read(self.qrels, self.run or [], as_scale(self.scale))
            given["document_grades"] = grades
        return given

    def files(self) -> list[str]:
        """Return the files that are read besides the judgments."""
        return [*([self.qrels] if self.qrels else []), *(self.run or [])]

    def read_options(self) -> ReadOptions:
        """Return the options as those of the readers."""
        from dcglearn.judgments.options import ReadOptions

        return ReadOptions(**self.reading())

    def open(self, files: str | list[str]) -> JudgmentTable | PackedPairs:
        """Read judgments as codes, with progress; packed ones stay in their files."""
        from dcglearn.judgments.packed import PackedPairs
        from dcglearn.judgments.read import open_judgments

        options, name = self.read_options(), name_files(files)
        with reporting(f"reading {name} (judgments)") as advance:
            opened = open_judgments(files, options, advance)
        if isinstance(opened, PackedPairs) and self.drop_judge:
            raise InputError("--drop-judge does not apply to packed pairs", "leave it out", name)
        return opened

    def load(self, files: str | list[str], bytes_each: int = USUAL_BYTES) -> Preferences:
        """Read judgments with progress; report on standard error what was taken and left out.

        Of packed judgments, those for which the command takes so many bytes each must fit.
        """
        return self.in_memory(self.open(files), bytes_each)

    def in_memory(
        self, opened: JudgmentTable | PackedPairs, bytes_each: int = USUAL_BYTES
    ) -> Preferences:
        """Return judgments that were opened as arrays; report what was taken and left out."""
        from dcglearn.judgments.packed import PackedPairs

        if isinstance(opened, PackedPairs):
            with reporting("reading packed judgments") as advance:
                return opened.preferences(bytes_each=bytes_each, advance=advance)
        if opened.nbytes > MOST_IN_MEMORY:
            size = f"{opened.nbytes / 2**20:,.0f} MiB"
            problem = f"{len(opened):,} judgments take {size} as they are read"
            raise InputError(problem, "pack them first: dcglearn pack", opened.name)
        with reporting("arranging judgments"):
            preferences = opened.preferences()
        return preferences[self.kept(preferences)] if self.drop_judge else preferences

    def kept(self, preferences: Preferences) -> NDArray[np.bool_]:
        """Return which judgments are of no judge that ``--drop-judge`` names; say how many are."""
        from dcglearn.judgments.judges import of_judges

        dropped = of_judges(preferences, self.drop_judge or ())
        if dropped.all() and len(preferences):
            raise InputError("--drop-judge leaves no judgment", "drop fewer judges")
        if dropped.any():
            names = ", ".join(self.drop_judge or ())
            warn_of_input(f"{counted(int(dropped.sum()), 'judgment')} of {names} left out")
        return ~dropped


AS_USUAL = JudgmentOptions()


def name_files(files: str | list[str]) -> str:
    """Return what to call files that are read as one."""
    if isinstance(files, str):
        return files
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


def reads_judgments(
    *, without: Collection[str] = (), columns: Any = None
) -> Callable[[Command], Command]:
    """Give a command the options on reading judgments in place of one argument."""
    types = get_type_hints(JudgmentOptions, include_extras=True)
    if columns is not None:
        types["columns"] = columns
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(AS_USUAL, name),
            annotation=_under_heading(annotation),
        )
        for name, annotation in types.items()
        if name not in without
    ]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_options(**values: Any) -> None:
            given = {one.name: values.pop(one.name) for one in options}
            command(judgments=JudgmentOptions(**given), **values)

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [
            *(one.replace(kind=one.KEYWORD_ONLY) for one in own if one.name != "judgments"),
            *options,
        ]
        signature = inspect.Signature(parameters)
        with_options.__signature__ = signature  # type: ignore[attr-defined]  # what typer reads
        with_options.__annotations__ = {one.name: one.annotation for one in parameters}
        return with_options

    return decorate


def _under_heading(annotation: Any) -> Any:
    """Return the type of an option with the heading of these options in the help."""
    option = copy(annotation.__metadata__[0])
    option.rich_help_panel = READING
    return Annotated[annotation.__origin__, option]
