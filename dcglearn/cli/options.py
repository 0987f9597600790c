"""What commands share: arguments and options, declared once, and the reading of what they name.

Choices repeat what the library accepts, so that help and completion need not load it; a test
compares the two.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

import dcglearn
from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.progress import reporting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dcglearn.judgments.options import ReadOptions
    from dcglearn.judgments.packed import PackedPairs
    from dcglearn.judgments.preferences import Preferences
    from dcglearn.judgments.read import JudgmentTable

MAX_RANKS, MAX_COUNT = 100_000, 100_000_000
"""Largest numbers of ranks, and of judgments or fits, that commands take."""

READING = "Reading files"
"""The heading of the options on reading."""

FORMATS_HELP = (
    "JSON (.jsonl, .ndjson, .json), delimited text (.csv, .tsv, .txt), Parquet, Arrow or Excel "
    "(.xlsx), each also compressed (.gz, .zst, .bz2, .xz); a folder of parts, a pattern in "
    "quotes, or - for standard input."
)
JUDGMENTS_HELP = (
    f"{FORMATS_HELP} Columns: a and b (the grades of two lists, from the first rank) and answer "
    "(a, b, tie, good or bad); where known, query, judge and weight."
)
SEVERAL_HELP = "Several files are read as one."

JudgmentFilesArgument = Annotated[
    list[str], Argument(metavar="JUDGMENTS", help=f"{JUDGMENTS_HELP} {SEVERAL_HELP}")
]
JudgmentsAndMeasuresArgument = Annotated[
    list[str],
    Argument(
        metavar="JUDGMENTS|MEASURE",
        help=f"{JUDGMENTS_HELP} {SEVERAL_HELP} Then measures: presets (zipf, rbp:0.8), measure "
        "files (learned.json, learned.json:utility) or measures in full; by default every preset.",
    ),
]
"""What :func:`split_measures` divides."""

scale_option = partial(
    Option,
    metavar="BEST,...,WORST",
    help="The grades, best first: 2,1,0 or perfect,good,bad or perfect=3,good=1,bad=0. Not needed "
    "where the grades in the file are numbers.",
)
ranks_option = partial(Option, "--K", min=1, max=MAX_RANKS, metavar="K")
number_option = partial(Option, metavar="N", min=0, max=MAX_COUNT)

LENGTH_HELP = "Length of the lists; longer lists are refused."

ScaleOption = Annotated[str | None, scale_option()]
RanksOption = Annotated[int | None, ranks_option(help=LENGTH_HELP)]
SeedOption = Annotated[int, Option(min=0, metavar="N", help="Seed of the random numbers.")]

USUAL_BYTES = 650
"""Memory per judgment that commands take besides the judgments themselves."""

MOST_IN_MEMORY = 2**30
"""Bytes of judgments as they are read, about 20 each, from which on they must be packed first."""


@dataclass(frozen=True)
class JudgmentOptions:
    """The options on reading judgments; a field added here is an option of every command.

    Reading files
    -------------
    documents
        Lists rank K documents that have no grades.
    qrels : FILE
        Grades of documents, where the lists hold document ids.
    run : FILE
        A run that the judgments name (run_a, run_b); its first K documents are used. May be
        repeated.
    columns : FIELD=COLUMN,...
        The columns that hold the fields named above, where they have other names:
        a=left,b=right,answer=verdict; answers of several raters: answer=ann+bob; where sides were
        shuffled: a_shown_on=COLUMN; ignore=COLUMN leaves one out.
    answers : VALUE=ANSWER,...
        What answers mean: left=a,right=b,same=tie; out leaves judgments out, =tie makes empty
        answers ties. Not needed for words and signs that can mean only one thing.
    unjudged : worst|drop|GRADE
        Grade of listed documents that have none: the worst one, or another; drop takes them out of
        the lists.
    null_values : VALUE,...
        What lists hold where a document has no grade, such as -1, besides null.
    drop_judge : NAME
        Leave out what this judge said. May be repeated.
    strict
        Refuse columns that are not fields.
    encoding : NAME
        Encoding of text, such as latin-1; UTF-16 is recognised by its byte order mark.
    """

    scale: Annotated[str | None, scale_option(rich_help_panel=READING)] = None
    n_ranks: Annotated[int | None, ranks_option(help=LENGTH_HELP, rich_help_panel=READING)] = None
    documents: bool = False
    qrels: str | None = None
    run: list[str] | None = None
    columns: str | None = None
    answers: str | None = None
    unjudged: str = "worst"
    null_values: str | None = None
    drop_judge: list[str] | None = None
    strict: bool = False
    encoding: str = "utf-8"

    def reading(self) -> dict[str, Any]:
        """Return what is given as arguments of the readers; read the qrels and runs it names."""
        given = {
            name: value
            for name, value in vars(self).items()
            if name not in ("qrels", "run", "drop_judge")
            and value != getattr(JudgmentOptions, name)
        }
        if self.null_values:
            given["null_values"] = tuple(self.null_values.split(","))
        refuse_together({"--qrels": self.qrels}, {"--documents": self.documents})
        if self.run and not self.qrels:
            raise InputError("--run without --qrels", "add --qrels with the documents' grades")
        if self.qrels:
            from dcglearn.measures.scale import as_scale

            grades = dcglearn.DocumentGrades.read(self.qrels, self.run or [], as_scale(self.scale))
            given["document_grades"] = grades
        return given

    def read_options(self) -> ReadOptions:
        """Return the options as those of the readers."""
        from dcglearn.judgments.options import ReadOptions

        return ReadOptions(**self.reading())

    def open(self, files: list[str]) -> JudgmentTable | PackedPairs:
        """Read judgments as codes, with progress; packed ones stay in their files."""
        from dcglearn.judgments.read import open_judgments

        options, name = self.read_options(), name_files(files)
        with reporting(f"reading {name} (judgments)") as advance:
            opened = open_judgments(files, options, advance)
        if isinstance(opened, dcglearn.PackedPairs) and self.drop_judge:
            raise InputError("--drop-judge does not apply to packed pairs", "leave it out", name)
        return opened

    def hold(self, files: list[str], few: int = 0) -> Preferences | PackedPairs:
        """Read judgments into memory; packed ones, if they are not few, stay in their files."""
        opened = self.open(files)
        if isinstance(opened, dcglearn.PackedPairs) and len(opened) > few:
            return opened
        return self.in_memory(opened)

    def load(self, files: list[str], bytes_each: int = USUAL_BYTES) -> Preferences:
        """Read judgments, for which a command takes so many bytes each, into memory."""
        return self.in_memory(self.open(files), bytes_each)

    def in_memory(
        self, opened: JudgmentTable | PackedPairs, bytes_each: int = USUAL_BYTES
    ) -> Preferences:
        """Return judgments that were opened as arrays; report what was taken and left out."""
        if isinstance(opened, dcglearn.PackedPairs):
            with reporting("reading packed judgments") as advance:
                return opened.preferences(bytes_each=bytes_each, advance=advance)
        if opened.nbytes > MOST_IN_MEMORY:
            size = f"{opened.nbytes / 2**20:,.0f} MiB"
            raise InputError(
                f"{len(opened):,} judgments take {size} as they are read",
                "pack them first: dcglearn pack",
                opened.name,
            )
        with reporting("arranging judgments"):
            preferences = opened.preferences()
        return preferences[self.kept(preferences)] if self.drop_judge else preferences

    def kept(self, preferences: Preferences) -> NDArray[np.bool_]:
        """Return which judgments are of no judge that ``--drop-judge`` names; say how many are."""
        from dcglearn.judgments.judges import of_judges

        names = self.drop_judge or ()
        dropped = of_judges(preferences, names)
        if dropped.any():
            judgments = counted(dropped.sum(), "judgment")
            warn_of_input(f"{judgments} of {', '.join(names)} left out")
        return ~dropped


@dataclass(frozen=True)
class LearnerOptions:
    """The options on learning from judgments.

    Parameters
    ----------
    C : C|cv
        Cost of a missed margin; cv chooses it by cross-validation over queries.
    margin
        Margin by which the better list should win: 1, or the number of ranks at which the lists
        differ.
    solver
        Solver of the quadratic program.
    use
        The learned measure to use: gains and discounts (dcg), or one weight per grade and rank
        (utility).
    """

    C: str = "1.0"
    margin: Literal["unit", "hamming"] = "unit"
    solver: Literal["auto", "newton", "osqp", "clarabel"] = "auto"
    use: Literal["dcg", "utility"] = "dcg"

    def parameters(self) -> dict[str, Any]:
        """Return what is learned with, as arguments of the library."""
        C: Any = self.C if self.C == "cv" else parse_number(self.C)
        if C != "cv" and not C > 0:
            raise InputError(f"--C is {self.C!r:.40}", "use a finite number above 0, or cv")
        return {"C": C, "margin": self.margin, "solver": self.solver}


def refuse_together(*groups: Mapping[str, object]) -> None:
    """Refuse options of different groups that are given together, by name."""
    given = [
        [name for name, value in group.items() if value is not None and value is not False]
        for group in groups
    ]
    names = [found[0] for found in given if found]
    if len(names) > 1:
        raise InputError(f"{names[0]} with {names[1]}", "use one of them")


def name_files(files: Sequence[str]) -> str:
    """Return what to call files that are read as one."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


def files_named(texts: Iterable[str]) -> list[Path]:
    """Return the files that arguments name: paths, patterns, folders, and within measures."""
    found = []
    for text in texts:
        names = [text, *re.findall(r"[^\s()=]+\.json", text, re.IGNORECASE)]
        names += glob.glob(text, recursive=True)  # noqa: PTH207 - Path's are relative
        found += [Path(name) for name in names if os.path.exists(name)]  # noqa: PTH110 - any text
    return [*found, *(file for path in found if path.is_dir() for file in path.rglob("*"))]


def measures_for_judgments(
    names: Sequence[str], preferences: Preferences | PackedPairs
) -> list[dcglearn.NamedMeasure]:
    """Return the named measures on the scale of the judgments; without names, every preset."""
    scale, n_ranks = preferences.scale, preferences.n_ranks
    wanted = names or [*dcglearn.usual_presets(scale, n_ranks)]
    return [dcglearn.measure_for(name, scale, n_ranks) for name in wanted]


def split_measures(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide arguments into files of judgments and measures, each of which may be mixed.

    The first argument is a file of judgments, and so are folders, patterns (``*``), ``-``, names
    of a format, and other files that are not measure files, unless a preset has their name.
    """
    first, *others = arguments
    files = [first, *filter(_is_of_judgments, others)]
    return files, [*filterfalse(_is_of_judgments, others)]


def _is_of_judgments(text: str) -> bool:
    from dcglearn.base.tables.sources import format_of_name
    from dcglearn.measures.measure import begins_as_measure
    from dcglearn.measures.names import is_measure_file_name
    from dcglearn.measures.presets import PRESETS

    if text == "-":
        return True
    if not text or text.partition(":")[0] in PRESETS:
        return False
    path = Path(text)
    if is_measure_file_name(text):
        return path.is_file() and not begins_as_measure(path)
    return "(" not in text and ("*" in text or format_of_name(text) is not None or path.exists())


def check_distinct(names: Sequence[str]) -> None:
    """Refuse a measure that is named twice."""
    from dcglearn.measures.names import repeated_name

    if repeated := repeated_name(names):
        raise InputError(f"the measure {repeated} is named twice", "name it once")


def seeded(seed: int) -> np.random.Generator:
    """Return the generator of the random numbers of a seed."""
    import numpy as np

    return np.random.default_rng(seed)
