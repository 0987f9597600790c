"""Functions that are not of this package, as they travel to workers with the cells that use them.

The code of a function of an experiment file travels in full: what it depends on, and nothing else
(:mod:`dcglearn.axes.closure`), with the data files that it declares. It is executed anew for each
call, so that nothing is kept from one cell to the next: what a process computed before changes no
result. A function of an installed
package does not travel: a worker uses its own copy, and says which one that is, as it does for this
package (:mod:`dcglearn.base.fingerprint`); so it does for every package that the code imports.
Modules that are not installed, such as those of a repository, are part of the hash, file by file.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from dcglearn.axes.closure import closure_of
from dcglearn.axes.data_files import DataFile
from dcglearn.base.errors import InputError

_COMPARED = {"dcglearn", "numpy", "scipy", "sklearn", "pydantic"}
"""Modules whose versions every worker compares already."""

_MISSING = "(missing)"

_Imports = Sequence[tuple[str, str, int]]


@dataclass(frozen=True)
class FileCode:
    """A function of an experiment file, with the part of the file that it depends on.

    Attributes
    ----------
    axis, name : str
        Its place in configs.
    function : str
        Its name in the file.
    file : str
        The file, as errors name it.
    line : int
    source : str
        What it depends on, on the lines of the file.
    digest : str
        The hash of the syntax of `source`, of modules that are not installed, and of `files`.
    modules : tuple of str
        What it imports besides Python's own modules.
    files : tuple of DataFile
        The data files that it reads.
    """

    axis: str
    name: str
    function: str
    file: str
    line: int
    source: str
    digest: str
    modules: tuple[str, ...] = ()
    files: tuple[DataFile, ...] = ()

    @property
    def identity(self) -> Any:
        """What a cell holds of it."""
        return self.digest

    def load(self) -> Callable[..., Any]:
        """Return the function from a fresh execution of its source, so that nothing is kept.

        What one call leaves behind would otherwise change what the next cell of the same process
        results in, and so the results of another number of workers.
        """
        found: Callable[..., Any] = vars(_executed(self.source, self.file))[self.function]
        return found

    def program(self) -> dict[str, str]:
        """Return the versions of what it imports, in this process."""
        return {module: _version_here(module) for module in self.modules}


@dataclass(frozen=True)
class PackageCode:
    """A function of an installed package; a worker needs the same package.

    Attributes
    ----------
    axis, name : str
        Its place in configs.
    function, module : str
        Its name, and the module it is defined in.
    file : str
        The file, as errors name it.
    line : int
    package, version : str
    digest : str
        The hash of what it depends on: in its module by name, in other modules by file.
    """

    axis: str
    name: str
    function: str
    module: str
    file: str
    line: int
    package: str
    version: str
    digest: str

    @property
    def identity(self) -> Any:
        """What a cell holds of it."""
        return {"package": self.package, "version": self.version, "digest": self.digest}

    def load(self) -> Callable[..., Any]:
        """Return the function of the package in this process."""
        here = package_digest(self.module, self.function)
        if here != self.digest:
            raise InputError(
                f"{self.package} here is not the one that was asked for", "install the same on both"
            )
        found: Callable[..., Any] = getattr(import_module(self.module), self.function)
        return found

    def program(self) -> dict[str, str]:
        """Return the version and the hash of the package in this process."""
        what = f"{self.package}'s {self.axis} {self.name}"
        here = package_digest(self.module, self.function)
        return {self.package: installed_version(self.package), what: here[:12]}


Code = FileCode | PackageCode


def program_of(codes: Sequence[Code]) -> dict[str, str]:
    """Return what the code of cells uses of this process, besides this package.

    Parameters
    ----------
    codes : sequence of FileCode or PackageCode

    Returns
    -------
    dict from str to str
        Versions and hashes, by what they are of.
    """
    return {what: which for code in codes for what, which in code.program().items()}


def file_code(
    axis: str,
    name: str,
    function: str,
    file: str,
    line: int,
    text: str,
    files: tuple[DataFile, ...] = (),
) -> FileCode:
    """Return the code of a function of an experiment file.

    Parameters
    ----------
    axis, name, function, file : str
    line : int
    text : str
        The content of the file.
    files : tuple of DataFile
        The data files that it reads.

    Returns
    -------
    FileCode

    Raises
    ------
    InputError
        If it uses ``__file__``, which is not there where the code travels, the module ``random``,
        which other threads of a worker use too, or ``default_rng()`` without a seed.
    """
    closure = closure_of(text, function)
    if "__file__" in closure.names:
        raise InputError(
            f"the {axis} {name} uses __file__, and its code travels to workers without the file",
            f'declare the file that it reads, @{axis}(reads={{"table": "data/table.csv"}}), or '
            "write its content into the code",
            file,
        )
    if any(module == "random" for module, _, _ in closure.imports):
        raise InputError(
            f"the {axis} {name} uses the module random, whose numbers depend on what ran before",
            "draw from rng",
            file,
        )
    if _draws_unseeded(closure.source):
        raise InputError(
            f"the {axis} {name} uses default_rng() without a seed, which draws others each time",
            "draw from rng",
            file,
        )
    digest = _with_own_modules(closure.digest, closure.imports, "", None)
    if files:
        parts = [digest, *(f"{one.option} {one.name} {one.digest}" for one in files)]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    roots = sorted({root for root in _roots(closure.imports, "") if not _is_known(root)})
    return FileCode(axis, name, function, file, line, closure.source, digest, tuple(roots), files)


def _draws_unseeded(source: str) -> bool:
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return any(
        not call.args
        and not call.keywords
        and getattr(call.func, "attr", getattr(call.func, "id", None)) == "default_rng"
        for call in calls
    )


@lru_cache(256)
def package_digest(module: str, function: str) -> str:
    """Return the hash of what a function of a package depends on, in this process.

    Parameters
    ----------
    module, function : str

    Returns
    -------
    str
        ``(missing)`` if it is not there.
    """
    spec = _spec(module)
    text = _text(spec)
    if spec is None or text is None:
        return _MISSING
    closure = closure_of(text, function)
    parent = spec.parent or ""
    return _with_own_modules(closure.digest, closure.imports, parent, module.partition(".")[0])


@lru_cache(256)
def installed_version(package: str) -> str:
    """Return the version of an installed package, or ``(missing)``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return _MISSING


def _executed(source: str, file: str) -> ModuleType:
    name, code = _compiled(source, file)
    module = ModuleType(name)
    sys.modules[name] = module  # data classes look their module up
    exec(code, vars(module))  # noqa: S102 - the user's
    return module


@lru_cache(256)
def _compiled(source: str, file: str) -> tuple[str, CodeType]:
    name = f"dcglearn_code_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    return name, compile(source, file, "exec", dont_inherit=True)


@lru_cache(256)
def _version_here(module: str) -> str:
    """Return the version of an importable module; the hash of its files if it is not installed."""
    spec = _spec(module)
    if spec is None:
        return _MISSING
    if _is_own(module):
        return _with_own_modules("", [(module, "", 0)], "", None)[:12]
    found = installed_version(module)
    if found != _MISSING:
        return found
    from importlib.metadata import packages_distributions  # deferred: it reads all packages

    names = packages_distributions().get(module, [])
    return ", ".join(f"{name} {installed_version(name)}" for name in sorted(set(names))) or "?"


def _with_own_modules(digest: str, imports: _Imports, parent: str, package: str | None) -> str:
    """Return a digest of a digest and of the modules that are not installed, or of the package."""
    texts: dict[str, str] = {}
    _collect(imports, parent, package, texts)
    if not texts:
        return digest
    parts = [digest, *(f"{name} {closure_of(texts[name], None).digest}" for name in sorted(texts))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _collect(imports: _Imports, parent: str, package: str | None, texts: dict[str, str]) -> None:
    for name in _modules(imports, parent):
        root = name.partition(".")[0]
        if name in texts or not (root == package or _is_own(root)):
            continue
        spec = _spec(name)
        text = _text(spec)
        if spec is not None and text is not None:
            texts[name] = text
            _collect(closure_of(text, None).imports, spec.parent or "", package, texts)


def _modules(imports: _Imports, parent: str) -> Iterator[str]:
    """Return the names of all modules that imports may load, and some that are not modules."""
    for module, name, level in imports:
        try:
            whole = resolve_name("." * level + module, parent) if level else module
        except ImportError:  # beyond the package
            continue
        parts = whole.split(".")
        yield from (".".join(parts[: n + 1]) for n in range(len(parts)))
        if name:
            yield f"{whole}.{name}"


def _roots(imports: _Imports, parent: str) -> set[str]:
    return {name.partition(".")[0] for name in _modules(imports, parent)}


def _is_known(root: str) -> bool:
    return root in sys.stdlib_module_names or root in _COMPARED


@lru_cache(256)
def _is_own(root: str) -> bool:
    """Return whether a module is a file that is not installed."""
    spec = None if _is_known(root) else _spec(root)
    if spec is None:
        return False
    places = [spec.origin or "", *(spec.submodule_search_locations or ())]
    return not any({"site-packages", "dist-packages"} & set(Path(one).parts) for one in places)


def _spec(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None


def _text(spec: ModuleSpec | None) -> str | None:
    """Return the source of a module; None if it has none."""
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        return Path(spec.origin).read_text("utf-8")
    except OSError:
        return None
