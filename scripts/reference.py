"""Build the reference of everything public: ``python3 scripts/reference.py``.

Pages are written from the docstrings by Sphinx, into ``build/reference``: one for each group of
names that ``import dcglearn`` offers, in the order of ``dcglearn/__init__.pyi``, and one for the
modules that experiments import. A warning is an error.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import tempfile
from pathlib import Path

from bootstrap import ROOT, prepare
from children import end_with_code, run_child

STUB = ROOT / "dcglearn" / "__init__.pyi"


def main() -> int:
    """Build the reference; return Sphinx's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "reference")
    out = parser.parse_args().out.resolve()
    code = build(prepare("docs"), out)
    if not code:
        print(f"read {out / 'index.html'}")
    return code


def build(python: Path, out: Path, builder: str = "html") -> int:
    """Write the sources to a temporary folder and run Sphinx on them; a warning is an error.

    Parameters
    ----------
    python : Path
        The interpreter of the environment.
    out : Path
        The folder of the pages.
    builder : str
        Sphinx's builder; ``"dummy"`` checks what ``"html"`` writes, in half the time.

    Returns
    -------
    int
        Sphinx's exit code.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        shutil.copy(ROOT / "docs" / "reference" / "conf.py", source)
        for name, text in pages().items():
            (source / f"{name}.rst").write_text(text, "utf-8")
        command = [str(python), "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
        return run_child([*command, folder, str(out)], cwd=ROOT).returncode


def pages() -> dict[str, str]:
    """Return the source of every page by name."""
    groups = public_names(STUB.read_text("utf-8"))
    found = {_slug(title): _group_page(title, names) for title, names in groups.items()}
    found["own-experiments"] = _modules_page()
    lists = {"What dcglearn exports": [_slug(title) for title in groups]}
    lists["Modules"] = ["own-experiments"]
    toctrees = [_toctree(caption, names) for caption, names in lists.items()]
    return found | {
        "index": "\n".join([*_title("dcglearn"), ".. automodule:: dcglearn\n", *toctrees])
    }


def public_names(stub: str) -> dict[str, list[tuple[str, str]]]:
    """Return (module, name) of what the stub exports, by the comment above each group."""
    found: dict[str, list[tuple[str, str]]] = {}
    title = ""
    for line in stub.splitlines():
        if line.startswith("# "):
            title = line[2:]
        match = re.fullmatch(r"from \.([\w.]+) import (\w+) as \2", line)
        if match:
            found.setdefault(title, []).append((f"dcglearn.{match[1]}", match[2]))
    return found


def _group_page(title: str, names: list[tuple[str, str]]) -> str:
    lines = _title(title)
    for module, name in names:
        lines += [_directive(module, name)]
    return "\n".join(lines)


def _directive(module: str, name: str) -> str:
    """Return the directive that documents a name."""
    path = ROOT / Path(*module.split(".")).with_suffix(".py")
    kinds = {
        node.name: "autoclass" if isinstance(node, ast.ClassDef) else "autofunction"
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }
    kind = kinds.get(name, "autodata")
    return f".. {kind}:: dcglearn.{name}\n" + ("   :members:\n" if kind == "autoclass" else "")


def own_modules() -> list[str]:
    """Return the modules that the experiments import, and so experiments of one's own may."""
    files = [*(ROOT / "experiments").glob("*.py"), *(ROOT / "docs").glob("*.md")]
    text = "\n".join(path.read_text("utf-8") for path in files)
    return sorted(set(re.findall(r"from (dcglearn\.[\w.]+) import", text)))


def _modules_page() -> str:
    lines = _title("For experiments of your own")
    for module in own_modules():
        lines += [*_title(module, "-"), f".. automodule:: {module}\n   :members:\n"]
    return "\n".join(lines)


def _title(text: str, underline: str = "=") -> list[str]:
    return [text, underline * len(text), ""]


def _toctree(caption: str, names: list[str]) -> str:
    entries = "".join(f"   {name}\n" for name in names)
    return f".. toctree::\n   :caption: {caption}\n   :maxdepth: 1\n\n{entries}"


def _slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


if __name__ == "__main__":
    end_with_code(main)
