"""Experiment files: what their names mean, and their functions as they travel to workers.

An experiment file may hold or import marked functions (:mod:`dcglearn.lab.decorators`). Its whole
text travels, with the data files that a function declares. A worker executes it anew for each call,
so nothing is kept from one cell to the next. The hash of both is part of every cell that uses its
functions, without comments, docstrings, ``figures`` and functions whose name ends in ``claims``.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from dcglearn.asking.policies import POLICIES
from dcglearn.base.errors import InputError, errors_at, unknown_name
from dcglearn.base.files import guarded, read_text
from dcglearn.lab.decorators import MARK, Mark
from dcglearn.lab.provenance import sha256_of
from dcglearn.lab.simulation.judges import DESIGNS
from dcglearn.lab.simulation.truths import FREE, TRUTHS
from dcglearn.measures.presets import PRESETS

JUDGMENT_MODEL = "judgment-model"
USUAL = "usual"
STUDY = "study"
CALIBRATED = "calibrated"
RANDOM = "random"

NAMES: dict[str, Mapping[str, str]] = {
    "truth": {
        **{name: f"{preset} with grades L ... 1" for name, preset in TRUTHS.items()},
        FREE: "gains drawn independently at each rank",
        **{name: preset.formula for name, preset in PRESETS.items()},
    },
    "lists": {
        "permutations": "two permutations of the base list",
        "drawn": "independent grades, uniform or with given probabilities",
        "sorted-against-shuffled": "the base list in its best order, and a permutation of it",
        "sorted-against-another": "a list in its best order, and one of other grades",
        "documents": "two permutations of documents without grades",
    },
    "judge": {CALIBRATED: "as the truth says, with noise and bias as given"},
    "policy": {RANDOM: "pairs as they are drawn", **POLICIES},
    "margin": {"unit": "1 for each pair", "hamming": "the number of ranks where lists differ"},
    "learner": {
        "qp": "W of the quadratic program (eq. 1 of the paper)",
        "qp-dcg": "the DCG that is factorised from it",
        USUAL: "the DCG that starts from the usual measures",
        JUDGMENT_MODEL: "intervals and tests of a model of the judgment",
        STUDY: "what is concluded from the judgments of a design",
    },
    "design": {name: design.about for name, design in DESIGNS.items()},
    "result": {
        "gains": "learned gains on the scale of the truth (gains_1: the best grade's)",
        "gains_correlation": "correlation of learned and true gains",
        "discounts": "learned discounts on the scale of the truth (discounts_1: the first rank's)",
        "discounts_correlation": "correlation of learned and true discounts",
        "regret": "share of the true difference that is lost by trusting the learned order",
        "kendall_tau": "tau-b of the true and the learned order of the lists of 1,000 test pairs",
    },
}
"""The names of this package, by axis, with what each is."""


@dataclass(frozen=True)
class Code(Mark):
    """A function of an experiment file, with the text of the file, and of the one it is from.

    `contents` are those of the files that it reads, and `digest` is what a cell holds of it all.
    """

    function: str
    file: str
    place: str
    text: str
    imported: str
    digest: str
    about: str
    contents: Mapping[str, bytes] = field(compare=False)

    @property
    def in_words(self) -> str:
        """What it is, with its options and the files that it reads."""
        given = [f"{name} = {value!r}" for name, value in self.options.items()]
        given += [f"reads {name}" for _, name in sorted(self.reads.items())]
        options = f" ({', '.join(given)})" if given else ""
        return f"{self.about}{options} [{self.place}]"


@dataclass(frozen=True)
class ExperimentCode:
    """What an experiment file defines: the columns of a table, its figures, marked functions."""

    path: Path = Path("columns")
    columns: tuple[str, ...] = ()
    figures: Callable[..., Iterable[Any]] = lambda table: ()
    functions: tuple[Code, ...] = ()

    def names(self, axis: str) -> tuple[str, ...]:
        """Return the names of an axis: those of this package, and of functions of one's own."""
        return (*NAMES[axis], *(one.name for one in self.functions if one.axis == axis))

    def function(self, axis: str, name: str) -> Code | None:
        """Return the function of one's own that a name means; None if it is of this package."""
        found = (one for one in self.functions if (one.axis, one.name) == (axis, name))
        return next(found, None)


SHIPPED = ExperimentCode()
"""The names of this package alone."""


def search_folders(kind: str) -> list[Path]:
    """Return the folders that hold configs or experiments, the current folder's first."""
    package = Path(__file__).resolve().parents[1]
    places = Path(), package / "shipped", package.parent  # as installed, or in a checkout
    return [one / kind for one in places if (one / kind).is_dir()]


def experiment_code(name: str, config: Path) -> ExperimentCode:
    """Execute the file of an experiment, and read the data that its functions declare."""
    beside = config.resolve().parent.parent / "experiments"
    files = [place / f"{name}.py" for place in (beside, *search_folders("experiments"))]
    path = next(filter(Path.is_file, files), None)
    if path is None:
        known = {one.stem for file in files for one in file.parent.glob("*.py")}
        raise unknown_name("file in experiments/", name, known, "experiment")
    text = read_text(path)
    with own_code(str(path), "cannot be loaded ({})", "fix it"):
        module = executed(text, str(path))
    if lacking := {"COLUMNS", "figures"} - vars(module).keys():
        raise InputError(
            f"does not define {min(lacking)}",
            "define COLUMNS and figures(table), as the other experiments do",
            str(path),
        )
    columns = checked_columns(module.COLUMNS, str(path))
    return ExperimentCode(path, columns, module.figures, _marked_functions(module, text, path))


def _marked_functions(module: ModuleType, text: str, path: Path) -> tuple[Code, ...]:
    file, of_file = f"{path.parent.name}/{path.name}", syntax_digest(text)
    found: dict[tuple[str, str], Code] = {}
    marked = {one: key for key, one in vars(module).items() if hasattr(one, MARK)}
    for function, key in marked.items():  # each once, whatever else it is called
        mark: Mark = getattr(function, MARK)
        source, named = imported_source(function, module.__name__), (mark.axis, mark.name)
        line = 1 if source else inspect.unwrap(function).__code__.co_firstlineno
        place = f"{file}, line {line}"
        if named in found or mark.name in NAMES[mark.axis]:
            raise InputError(
                f"the {mark.axis} {mark.name!r} is already defined", "give it another name", place
            )
        contents = {}
        for option, name in sorted(mark.reads.items()):
            beside = path.resolve().parent.parent / name
            with errors_at(place), guarded(name):
                contents[option] = (beside if beside.exists() else Path(name)).read_bytes()
        read = tuple(
            (option, mark.reads[option], sha256_of(contents[option])) for option in contents
        )
        found[named] = Code(
            **vars(mark),
            function=key,
            file=file,
            place=place,
            text=text,
            imported=source,
            digest=sha256_of(repr((of_file, syntax_digest(source), read)).encode()),
            about=(inspect.getdoc(function) or "").partition("\n")[0],
            contents=contents,
        )
    return tuple(found.values())


def checked_columns(columns: Any, place: str) -> tuple[str, ...]:
    """Check the names of the columns of a table."""
    if not isinstance(columns, tuple | list) or not all(isinstance(one, str) for one in columns):
        raise InputError("COLUMNS is not a tuple of names", 'write COLUMNS = ("precision",)', place)
    return tuple(columns)


@contextmanager
def own_code(file: str, problem: str, remedy: str = "", place: str = "") -> Iterator[None]:
    """Name the innermost line of a file where its code fails; print to standard error meanwhile."""
    try:
        with redirect_stdout(sys.stderr):  # a command may print data
            yield
    except (Exception, SystemExit) as error:
        lines = [one for one in extract_tb(error.__traceback__) if one.filename == file]
        if lines:
            place = f"{file}, line {lines[-1].lineno}, in {lines[-1].name}"
        if isinstance(error, InputError):
            raise error.at(place or file) from error
        if isinstance(error, FileNotFoundError):
            remedy = remedy or "declare data with reads"
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(problem.format(cause), remedy, place or file) from error


def syntax_digest(text: str) -> str:
    """Return the hash of what a file computes, the same in all versions of Python."""
    kept = [
        node
        for node in ast.parse(text).body
        if not isinstance(node, ast.FunctionDef)
        or not (node.name == "figures" or node.name.endswith("claims"))
    ]
    return sha256_of(_syntax(kept).encode())


def _syntax(node: object) -> str:
    """Return syntax as text, without what does not change what it does."""
    if isinstance(node, list):  # a docstring is a statement that is a constant
        shown = (
            one
            for one in node
            if len(node) == 1
            or not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        )
        return f"[{','.join(map(_syntax, shown))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((key, value) for key, value in ast.iter_fields(node) if value not in (None, []))
    return f"{type(node).__name__}({','.join(f'{key}={_syntax(value)}' for key, value in fields)})"


def imported_source(function: object, module: str) -> str:
    """Return the text of the module from which an experiment file imports a function, or ""."""
    home = getattr(function, "__module__", module)
    return "" if home == module else inspect.getsource(sys.modules[home])


_compiled = lru_cache(256)(compile)


def executed(text: str, file: str) -> ModuleType:
    """Execute the text of a file as a module of its own."""
    module = ModuleType(f"experiment_{sha256_of(f'{file}{text}'.encode())[:16]}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # data classes look their module up
    exec(_compiled(text, file, "exec", dont_inherit=True), vars(module))  # noqa: S102 - the user's own file
    return module
