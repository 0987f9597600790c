"""Functions of one's own as they travel to workers: the whole text of their file.

A worker compiles the text once and executes it anew for each call, so that nothing is kept from one
cell to the next. The hash of the file's syntax is part of every cell that uses one of its
functions. It leaves out comments, docstrings, ``figures`` and functions whose name ends in
``claims``: what a figure shows may change without any effect on cells. Data files that a function
declares travel with the text, and their hashes are part of its hash.
"""

from __future__ import annotations

import ast
import inspect
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.lab.provenance import sha256_of

LARGEST = 8 << 20
"""The largest file that travels with cells, in bytes."""

_PARSING = threading.Lock()
"""Two threads of a worker must not parse at once: Python 3.11 counts the depth of both together."""


@dataclass(frozen=True)
class DataFile:
    """A file that a function reads, and the parameter that receives the path of a copy."""

    option: str
    name: str
    content: bytes


@dataclass(frozen=True)
class Code:
    """A function of an experiment file, with the text of the file, and of the one it is from."""

    axis: str
    name: str
    function: str
    file: str
    line: int
    text: str
    imported: str = ""
    files: tuple[DataFile, ...] = ()
    about: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def place(self) -> str:
        """The file and the line of the function."""
        return f"{self.file}, line {self.line}"

    @property
    def digest(self) -> str:
        """What a cell holds of it."""
        read = tuple((one.option, one.name, sha256_of(one.content)) for one in self.files)
        parts = syntax_digest(self.text), syntax_digest(self.imported), read
        return sha256_of(repr(parts).encode())


@lru_cache(256)
def syntax_digest(text: str) -> str:
    """Return the hash of what a file computes, the same in all versions of Python."""
    with _PARSING:
        tree = ast.parse(text)
    kept = [node for node in tree.body if not _only_shows(node)]
    return sha256_of(_syntax(kept).encode())


def _only_shows(node: ast.stmt) -> bool:
    name = node.name if isinstance(node, ast.FunctionDef) else ""
    return name == "figures" or name.endswith("claims")


def _syntax(node: object) -> str:
    """Return syntax as text, without what does not change what it does."""
    if isinstance(node, list):
        shown = (one for one in node if not (len(node) > 1 and _is_text(one)))
        return f"[{','.join(map(_syntax, shown))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((key, value) for key, value in ast.iter_fields(node) if value not in (None, []))
    return f"{type(node).__name__}({','.join(f'{key}={_syntax(value)}' for key, value in fields)})"


def _is_text(node: object) -> bool:
    """Return whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def imported_source(function: object, module: str) -> str:
    """Return the text of the module from which an experiment file imports a function, or ""."""
    home = getattr(function, "__module__", module)
    return "" if home == module else inspect.getsource(sys.modules[home])


def executed(text: str, file: str) -> ModuleType:
    """Execute the text of a file as a module of its own."""
    name, code = _compiled(text, file)
    module = ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module  # data classes look their module up
    exec(code, vars(module))  # noqa: S102 - the user's own file
    return module


@lru_cache(256)
def _compiled(text: str, file: str) -> tuple[str, CodeType]:
    name = f"experiment_{sha256_of(f'{file}{text}'.encode())[:16]}"
    return name, compile(text, file, "exec", dont_inherit=True)


@contextmanager
def copied(files: Sequence[DataFile]) -> Iterator[dict[str, Path]]:
    """Write data files for one call; yield their paths, by the parameters of the function."""
    if not files:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="dcglearn-reads-") as folder:
        paths = {}
        for file in files:
            paths[file.option] = Path(folder, file.option, Path(file.name).name)
            paths[file.option].parent.mkdir()
            paths[file.option].write_bytes(file.content)
        yield paths


def data_files(reads: Mapping[str, str], root: Path, place: str) -> tuple[DataFile, ...]:
    """Read the files that a function declares, named from a folder or from the current one."""
    found = []
    for option, name in sorted(reads.items()):
        path = root / name if (root / name).exists() else Path(name)
        declared = f"declares that it reads {name!r}, which"
        try:
            content = path.read_bytes()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            remedy = "name it from the folder of configs/"
            raise InputError(f"{declared} cannot be read ({why})", remedy, place) from error
        if len(content) > LARGEST:
            problem = f"{declared} has more than {LARGEST >> 20} MiB"
            raise InputError(problem, "make it smaller", place)
        found.append(DataFile(option, name, content))
    return tuple(found)
