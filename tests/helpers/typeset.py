"""Tables as pdflatex sets them."""

from __future__ import annotations

from pathlib import Path

from helpers.commands import run_program


def typeset(body: str, folder: Path, packages: str = "") -> str:
    """Set a document without an error; return what LaTeX says."""
    head = "\\documentclass{article}\n" + (f"\\usepackage{{{packages}}}\n" if packages else "")
    text = f"{head}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (folder / "paper.tex").write_text(text, "utf-8")
    words = ["-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = run_program(["pdflatex", *words], folder)
    log = (folder / "paper.log").read_text("latin-1")
    assert done.returncode == 0, log[-2000:]
    return log
