"""The part of a file that a function depends on, by name: what travels with a cell, and its hash.

A function needs the statements at the top level of its file that bind the names it uses; these need
others; and statements that change what is needed belong to it: ``table["x"] = 1``,
``names.append("x")``, ``np.seterr(all="raise")``. The rest of the file is left out, so that a
caption may change without any effect on results. Names are resolved by :mod:`symtable`, as Python
does. The hash is that of the syntax, without positions, comments and docstrings; it is the same in
all versions of Python that parse a statement alike.
"""

from __future__ import annotations

import ast
import hashlib
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class CodeClosure:
    """What a function depends on in its file.

    Attributes
    ----------
    source : str
        The statements, on the lines on which they are in the file; all other lines are empty.
    names : frozenset of str
        The global names that they use.
    imports : tuple of (str, str, int)
        Modules that they import: the module, the name taken from it or "", and the level of a
        relative import.
    digest : str
        SHA-256 of the syntax, in hexadecimal.
    """

    source: str
    names: frozenset[str]
    imports: tuple[tuple[str, str, int], ...]
    digest: str


@lru_cache(256)
def closure_of(text: str, name: str | None) -> CodeClosure:
    r"""Return what a name needs of a file.

    Parameters
    ----------
    text : str
        The content of the file.
    name : str or None
        A name that is bound at the top level; None for the whole file.

    Returns
    -------
    CodeClosure

    Examples
    --------
    >>> text = "import math\nTITLE = 'a'\ndef f(x):\n    return math.sqrt(x)\n"
    >>> closure_of(text, "f").source.splitlines()
    ['import math', '', 'def f(x):', '    return math.sqrt(x)']
    >>> closure_of(text, "f").digest == closure_of(text.replace("'a'", "'b'"), "f").digest
    True
    """
    statements = [_Statement.of(node) for node in ast.parse(text).body]
    needed = set(range(len(statements))) if name is None else _needed(statements, name)
    names = {used for n in needed for used in statements[n].uses} | ({name} if name else set())
    kept = [
        _reduced(statements[n].node, None if name is None else names)
        for n in sorted(needed)
        if not _is_text(statements[n].node)
    ]
    digest = hashlib.sha256("\n".join(_syntax(node) for node in kept).encode()).hexdigest()
    return CodeClosure(
        _laid_out(text, statements, kept),
        frozenset(names),
        tuple(sorted(set(_imports(kept)))),
        digest,
    )


@dataclass(frozen=True)
class _Statement:
    """A statement at the top level, the names it binds, and the global names it uses."""

    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]

    @classmethod
    def of(cls, node: ast.stmt) -> _Statement:
        table = symtable.symtable(ast.unparse(node), "<statement>", "exec")
        top = table.get_symbols()
        binds = {one.get_name() for one in top if one.is_assigned() or one.is_imported()}
        uses = {one.get_name() for one in top if one.is_referenced()} | set(_globals(table))
        return cls(node, frozenset(binds), frozenset(uses))

    @property
    def defines(self) -> bool:
        """Whether all that the statement does is to bind names."""
        if isinstance(self.node, ast.Assign):
            return all(_is_name(target) for target in self.node.targets)
        return isinstance(self.node, _Definition | _Import) or (
            isinstance(self.node, ast.AnnAssign) and _is_name(self.node.target)
        )

    @property
    def fixed(self) -> bool:
        """Whether what the statement binds cannot be changed by a call."""
        if isinstance(self.node, ast.Assign | ast.AnnAssign):
            return self.node.value is None or _is_constant(self.node.value)
        return isinstance(self.node, _Definition | _Import)

    @property
    def may_change(self) -> frozenset[str]:
        """The names of objects that evaluating the statement may change."""
        if not self.defines:
            return self.uses
        if isinstance(self.node, _Import):
            return frozenset()
        if isinstance(self.node, _Definition):
            evaluated: list[ast.AST] = list(self.node.decorator_list)
        else:
            evaluated = [node for node in ast.walk(self.node) if isinstance(node, ast.Call)]
        found = (one for part in evaluated for one in ast.walk(part) if isinstance(one, ast.Name))
        return frozenset(one.id for one in found)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    for child in table.get_children():
        yield from (one.get_name() for one in child.get_symbols() if one.is_global())
        yield from _globals(child)


def _needed(statements: list[_Statement], name: str) -> set[int]:
    """Return the numbers of the statements on which a name depends."""
    found = {
        n
        for n, one in enumerate(statements)
        if isinstance(one.node, ast.ImportFrom)
        and (one.node.module == "__future__" or one.node.names[0].name == "*")
    }
    names, size = {name}, -1
    while len(found) != size:
        size = len(found)
        bound = {n for n, one in enumerate(statements) if one.binds & names}
        changeable = {
            name for n in bound if not statements[n].fixed for name in statements[n].binds
        }
        for n, one in enumerate(statements):
            changed = one.may_change & (changeable if one.defines else names)
            if n in bound or (changed and not _is_text(one.node)):
                found.add(n)
                names |= one.uses
    return found


def _is_name(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_is_name(one) for one in target.elts)
    return isinstance(target, ast.Name)


def _is_constant(value: ast.expr) -> bool:
    """Return whether an expression is a number, a text, or a tuple of these."""
    if isinstance(value, ast.Tuple):
        return all(_is_constant(one) for one in value.elts)
    if isinstance(value, ast.UnaryOp):
        return _is_constant(value.operand)
    if isinstance(value, ast.BinOp):
        return _is_constant(value.left) and _is_constant(value.right)
    return isinstance(value, ast.Constant | ast.JoinedStr)


def _is_text(node: ast.AST) -> bool:
    """Return whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _reduced(node: ast.stmt, names: set[str] | None) -> ast.stmt:
    """Return an import of the needed names only; other statements as they are."""
    if names is None or not isinstance(node, _Import):
        return node
    kept = [
        one
        for one in node.names
        if one.name == "*" or (one.asname or one.name.partition(".")[0]) in names
    ]
    if len(kept) in (0, len(node.names)):  # none of a future import
        return node
    fields = {key: value for key, value in ast.iter_fields(node) if key != "names"}
    return ast.copy_location(type(node)(names=kept, **fields), node)


def _imports(nodes: list[ast.stmt]) -> Iterator[tuple[str, str, int]]:
    for node in (one for top in nodes for one in ast.walk(top)):
        if isinstance(node, ast.Import):
            yield from ((one.name, "", 0) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            yield from ((node.module or "", one.name, node.level) for one in node.names)


def _laid_out(text: str, statements: list[_Statement], kept: list[ast.stmt]) -> str:
    """Return the kept statements on their lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = [""] * len(lines)
    taken = [line for one in statements for line in _lines_of(one.node)]
    whole = {one.node for one in statements}
    for node in kept:
        own = _lines_of(node)
        if node in whole and all(taken.count(line) == 1 for line in (own[0], own[-1])):
            found[own[0] : own[-1] + 1] = lines[own[0] : own[-1] + 1]
        else:  # a part of an import, or several statements on one line
            before = f"{found[own[0]]}; " if found[own[0]] else ""
            found[own[0]] = before + ast.unparse(node)
    return "\n".join(found).rstrip() + "\n"


def _lines_of(node: ast.stmt) -> range:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return range(first - 1, node.end_lineno or node.lineno)


def _syntax(node: object) -> str:
    """Return the syntax of a node as text, without what does not change what it does."""
    if isinstance(node, list):
        return f"[{','.join(map(_syntax, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, _Definition) and len(node.body) > 1 and _is_text(node.body[0]):
        fields["body"] = node.body[1:]
    given = (f"{key}={_syntax(value)}" for key, value in fields.items() if value not in (None, []))
    return f"{type(node).__name__}({','.join(given)})"
