"""How commands read judgments: the options, declared once for all commands, and the reading.

A command takes them as one argument; :func:`reads_judgments` puts the options in its place in the
signature from which typer makes the command line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from dcglearn.base.errors import InputError
from dcglearn.base.progress import reporting
from dcglearn.terminal.inputs import reading_file
from dcglearn.terminal.options import (
    AnswersOption,
    ColumnsOption,
    EncodingOption,
    LenientJudgmentsOption,
    QrelsOption,
    RanksOption,
    RunOption,
    ScaleOption,
    StrictOption,
    UnjudgedOption,
)
from dcglearn.terminal.output import print_note

if TYPE_CHECKING:
    from dcglearn.base.ignored import IgnoredInput
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.judgments.reading.document_judgments import DocumentGrades
    from dcglearn.judgments.reading.judgment_columns import JudgmentColumns
    from dcglearn.measures.scale import Scale

Command = Callable[..., None]

USUAL_BYTES = 650
"""Memory per judgment that commands take besides the judgments themselves."""

NOTHING_LEFT_OUT: dict[str, Any] = {
    "judgments_left_out": 0,
    "documents_without_grade": 0,
    "counted_as": None,
    "looked_up": None,
    "ignored_columns": [],
    "ignored": {},
}
"""What is reported of packed judgments, which are read as they were written."""

_FIRST = ("scale", "n_ranks")
"""The options that a command's help lists first; the others come before ``--json``, at its end."""


@dataclass(frozen=True)
class JudgmentOptions:
    """The options on reading judgments; a field added here is an option of every command."""

    scale: ScaleOption = None
    n_ranks: RanksOption = None
    encoding: EncodingOption = "grades"
    qrels: QrelsOption = None
    run: RunOption = None
    columns: ColumnsOption = None
    answers: AnswersOption = None
    unjudged: UnjudgedOption = "worst"
    strict: StrictOption = False
    lenient: LenientJudgmentsOption = False

    @property
    def documents(self) -> bool:
        """Whether lists rank documents that have no grades."""
        return self.encoding == "documents"

    def declared_scale(self) -> Scale | None:
        """Return the scale that ``--scale`` declares."""
        from dcglearn.measures.scale import Scale

        return None if self.scale is None else Scale.parse(self.scale)

    def given(self) -> list[str]:
        """Return the names of the options whose values are not the usual ones."""
        return [
            option_name(annotation)
            for name, annotation in option_annotations().items()
            if getattr(self, name) != getattr(AS_USUAL, name)
        ]

    def load(
        self,
        files: str | list[str],
        other_fields: Collection[str] = (),
        bytes_each: int = USUAL_BYTES,
    ) -> Preferences:
        """Read judgments with progress; report on standard error what was ignored or unjudged.

        Of packed judgments, those for which the command takes so many bytes each must fit.
        """
        return self.load_with_counts(files, other_fields, bytes_each)[0]

    def load_with_counts(
        self,
        files: str | list[str],
        other_fields: Collection[str] = (),
        bytes_each: int = USUAL_BYTES,
    ) -> tuple[Preferences, dict[str, Any]]:
        """Read judgments as :meth:`load` does; return what it reports for JSON, too."""
        from dcglearn.judgments.packed import is_packed

        path = name_files(files)
        if is_packed(path):
            with reporting(f"reading {path}") as advance:
                pairs = self.open_packed(path)
                found = pairs.preferences(bytes_each=bytes_each, advance=advance)
                return found, NOTHING_LEFT_OUT | {"digest": pairs.digest}
        counts: dict[str, Any] = {}
        gathered = self.gather(files, other_fields, counts=counts)
        data = self.in_memory(gathered)
        return data, {**gathered.rule_counts(), **counts}

    def gather(
        self,
        files: str | list[str],
        other_fields: Collection[str] = (),
        memory: int | None = None,
        counts: dict[str, Any] | None = None,
    ) -> JudgmentColumns:
        """Read judgments with progress, those that take more memory into a temporary file.

        What was ignored and looked up is counted in `counts`, if given.
        """
        from dcglearn.judgments.reading.judgment_files import gather_judgments

        with reading_file(f"{name_files(files)} (bytes)", self.lenient) as (ignored, advance):
            scale, grades = self.declared_scale(), self.document_grades(ignored)
            found = gather_judgments(
                files,
                scale,
                self.n_ranks,
                ignored,
                advance,
                self.documents,
                grades,
                other_fields,
                memory=memory,
                **self.mapping(),
            )
        report_unjudged(grades)
        if counts is not None:
            counts["looked_up"] = None if grades is None else grades.unjudged_counts()
            counts["ignored_columns"] = list(found.unknown)
            counts["ignored"] = dict(ignored.counts) if ignored else {}
        return found

    def in_memory(self, found: JudgmentColumns) -> Preferences:
        """Return judgments that were read as arrays; report the rules that were applied."""
        with reporting("arranging judgments"):
            preferences = found.preferences(self.unjudged)
        for line in found.rule_notes():
            print_note(line)
        return preferences

    def open_packed(self, path: str) -> PackedPairs:
        """Open packed judgments, to which no option on reading applies."""
        from dcglearn.judgments.packed import PackedPairs

        for option in self.given():
            raise InputError(f"{option} does not apply to packed pairs", "leave it out", path)
        return PackedPairs.of(path)

    def mapping(self) -> dict[str, Any]:
        """Return what the options say about columns and answers, as arguments of readers."""
        return {"columns": self.columns, "answers": self.answers, "strict": self.strict}

    def document_grades(self, ignored: IgnoredInput | None) -> DocumentGrades | None:
        """Read the qrels and runs that hold the grades of the judged documents, if any."""
        if self.qrels is None:
            if self.run:
                raise InputError("--run without --qrels", "add --qrels with the documents' grades")
            return None
        from dcglearn.judgments.reading.document_judgments import DocumentGrades

        if self.documents:
            raise InputError("--qrels with --encoding documents", "use one of them")
        scale = self.declared_scale()
        return DocumentGrades.read(
            self.qrels, self.run or [], self.n_ranks, ignored, scale, self.unjudged
        )


AS_USUAL = JudgmentOptions()


def name_files(files: str | list[str]) -> str:
    """Return what to call files that are read as one."""
    if isinstance(files, str):
        return files
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


def report_unjudged(grades: DocumentGrades | None) -> None:
    """Report on standard error how many documents have no grade; refuse if none has one."""
    if grades is None:
        return
    grades.check_any_judged()
    note = grades.unjudged_note()
    if note:
        print_note(note)


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
