"""How commands read judgments: the options, declared once for all commands, and the reading.

A command takes them as one argument; :func:`reads_judgments` puts the options in its place in the
signature from which typer makes the command line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.process import return_free_memory
from dcglearn.base.progress import reporting
from dcglearn.terminal.options import (
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
    from dcglearn.judgments.reading.documents import DocumentGrades
    from dcglearn.measures.scale import Scale

Command = Callable[..., None]

USUAL_BYTES = 650
"""Memory per judgment that commands take besides the judgments themselves."""

MOST_IN_MEMORY = 2**30
"""Bytes of judgments as they are read, about 20 each, from which on they must be packed first."""

NOTHING_LEFT_OUT: dict[str, Any] = {
    "judgments_left_out": 0,
    "documents_without_grade": 0,
    "counted_as": None,
    "looked_up": None,
    "ignored_columns": [],
}
"""What is reported of packed judgments, which are read as they were written."""

_FIRST = ("scale", "n_ranks")
"""The options that a command's help lists first; the others come before ``--json``, at its end."""


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

    @property
    def noun(self) -> str:
        """What lists rank: grades, or documents that have none."""
        return "document" if self.documents else "grade"

    def declared_scale(self) -> Scale | None:
        """Return the scale that ``--scale`` declares."""
        from dcglearn.measures.scale import Scale

        return None if self.scale is None else Scale.parse(self.scale)

    def null_marks(self) -> tuple[str, ...]:
        """Return the entries of lists that mean that a document has no grade."""
        return tuple(self.null_values.split(",")) if self.null_values else ()

    def given(self) -> list[str]:
        """Return the names of the options whose values are not the usual ones."""
        return [
            option_name(annotation)
            for name, annotation in option_annotations().items()
            if getattr(self, name) != getattr(AS_USUAL, name)
        ]

    def load(
        self, files: str | list[str], keep: Sequence[str] = (), bytes_each: int = USUAL_BYTES
    ) -> Preferences:
        """Read judgments with progress; report on standard error what was taken and left out.

        Of packed judgments, those for which the command takes so many bytes each must fit.
        """
        return self.load_with_counts(files, keep, bytes_each)[0]

    def load_with_counts(
        self, files: str | list[str], keep: Sequence[str] = (), bytes_each: int = USUAL_BYTES
    ) -> tuple[Preferences, dict[str, Any]]:
        """Read judgments as :meth:`load` does; return what it reports for JSON, too."""
        packed = self.open_packed(files)
        if packed is not None:
            with reporting(f"reading {name_files(files)}") as advance:
                found = packed.preferences(bytes_each=bytes_each, advance=advance)
                return found, {**NOTHING_LEFT_OUT, "digest": packed.digest}
        table = self.gather(files, keep)
        return self.in_memory(table), table.counts()

    def gather(self, files: str | list[str], keep: Sequence[str] = ()) -> JudgmentTable:
        """Read judgments with progress, as codes."""
        from dcglearn.judgments.read import JudgmentTable

        options = self.read_options(keep)
        with reporting(f"reading {name_files(files)} (judgments)") as advance:
            return JudgmentTable(files, options, advance)

    def in_memory(self, table: JudgmentTable) -> Preferences:
        """Return judgments that were read as arrays; report what was taken and left out."""
        if table.nbytes > MOST_IN_MEMORY:
            problem = (
                f"{len(table):,} judgments take {table.nbytes / 2**20:,.0f} MiB as they are read"
            )
            raise InputError(problem, "pack them first: dcglearn pack", table.name)
        return_free_memory()
        with reporting("arranging judgments"):
            preferences = table.preferences()
        return preferences if not self.drop_judge else preferences[self.kept(preferences)]

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

    def open_packed(self, files: str | list[str]) -> PackedPairs | None:
        """Open packed judgments, to which no option on reading applies; None for others."""
        from dcglearn.judgments.packed import PackedPairs
        from dcglearn.judgments.read import packed_paths

        paths = packed_paths(files)
        if paths is None:
            return None
        for option in self.given():
            problem = f"{option} does not apply to packed pairs"
            raise InputError(problem, "leave it out", name_files(files))
        return PackedPairs.of(paths)

    def read_options(self, keep: Sequence[str] = ()) -> ReadOptions:
        """Return the options as those of the readers; read the qrels and runs that they name."""
        from dcglearn.judgments.options import ReadOptions

        return ReadOptions(
            scale=self.declared_scale(),
            n_ranks=self.n_ranks,
            columns=self.columns,
            answers=self.answers,
            unjudged=self.unjudged,
            null_values=self.null_marks(),
            strict=self.strict,
            encoding=self.encoding,
            documents=self.documents,
            document_grades=self._document_grades(),
            keep=tuple(keep),
        )

    def _document_grades(self) -> DocumentGrades | None:
        """Read the qrels and runs that hold the grades of the judged documents, if any."""
        if self.qrels is None:
            if self.run:
                raise InputError("--run without --qrels", "add --qrels with the documents' grades")
            return None
        from dcglearn.judgments.reading.documents import DocumentGrades

        if self.documents:
            raise InputError("--qrels with --documents", "use one of them")
        return DocumentGrades.read(self.qrels, self.run or [], self.declared_scale())


AS_USUAL = JudgmentOptions()


def name_files(files: str | list[str]) -> str:
    """Return what to call files that are read as one."""
    if isinstance(files, str):
        return files
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


def reads_judgments(
    *, without: Collection[str] = (), columns: Any = None
) -> Callable[[Command], Command]:
    """Give a command the options on reading judgments in place of one argument.

    Parameters
    ----------
    without : collection of str
        Fields of :class:`JudgmentOptions` that the command does not offer.
    columns : annotated type, optional
        The option ``--columns`` of a command that reads other records.

    Returns
    -------
    callable
        Decorates a command whose parameter ``judgments`` is to hold a :class:`JudgmentOptions`.
    """
    offered = [one.name for one in fields(JudgmentOptions) if one.name not in without]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_options(**values: Any) -> None:
            options = {name: values.pop(name) for name in offered}
            command(judgments=JudgmentOptions(**options), **values)

        types = option_annotations() | ({} if columns is None else {"columns": columns})
        signature = _with_options(inspect.signature(command, eval_str=True), offered, types)
        with_options.__signature__ = signature  # type: ignore[attr-defined]  # what typer reads
        with_options.__annotations__ = {
            name: parameter.annotation for name, parameter in signature.parameters.items()
        }
        return with_options

    return decorate


def option_annotations() -> dict[str, Any]:
    """Return the type of each field of :class:`JudgmentOptions`, with its option."""
    return get_type_hints(JudgmentOptions, include_extras=True)


def option_name(annotation: Any) -> str:
    """Return the name of the option in a type such as ``ScaleOption``."""
    (option,) = annotation.__metadata__
    return str(option.default)


def _with_options(
    signature: inspect.Signature, offered: Collection[str], annotations: dict[str, Any]
) -> inspect.Signature:
    """Replace the parameter ``judgments`` by the options."""
    options = {
        name: inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(AS_USUAL, name),
            annotation=annotations[name],
        )
        for name in offered
    }
    first = [options.pop(name) for name in _FIRST if name in options]
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name == "json":
            parameters += options.values()
            options = {}
        parameters += (
            first
            if name == "judgments"
            else [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        )
    return signature.replace(parameters=[*parameters, *options.values()])
