"""Names from files stay text in terminals, tables and pictures."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dcglearn.base import progress
from dcglearn.base.text import latex_cell, markdown_cell, plain_text
from dcglearn.report.tables import Table
from helpers.commands import run_command

UNSEEN = [chr(27) + "[31m", chr(0x9B), "\n", "\r", "\t", chr(0x202E), chr(0x2028), "\udcff", chr(0)]


@pytest.mark.parametrize("unseen", UNSEEN)
def test_unseen_characters_become_visible(unseen: str) -> None:
    shown = plain_text(f"a{unseen}b")
    assert shown.isprintable()
    assert shown.startswith("a\\")
    table = Table((f"h{unseen}", "n"), [(f"c{unseen}", 1)], f"caption{unseen}")
    for text in (table.text(), table.markdown(), table.latex()):
        assert all(line.isprintable() for line in text.split("\n"))
    assert len(table.text().split("\n")) == 3


@pytest.mark.parametrize(
    "name", ["nDCG(linear-log2) @ 10", "DCG({2: 3, 1: 1}, log2)", "jk:2", "run_1", "R&D", "é 日本"]
)
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert plain_text(name) == markdown_cell(name) == name


@pytest.mark.parametrize(
    ("cell", "name", "shown"),
    [
        (markdown_cell, "<img src=x>", "&lt;img src=x>"),
        (markdown_cell, "a < b", "a < b"),
        (markdown_cell, "&lt;", "&amp;lt;"),
        (markdown_cell, "a|b", r"a\|b"),
        (markdown_cell, "$x$", r"\$x\$"),
        (markdown_cell, "_a_ b_c", r"\_a\_ b_c"),
        (markdown_cell, "*a* `b` ~~c~~", r"\*a\* \`b\` \~\~c\~\~"),
        (markdown_cell, "[a](http://b)", r"[a]\(http://b)"),
        (markdown_cell, r"\|", r"\\\|"),
        (latex_cell, r"\input{x}", r"\textbackslash{}input\{x\}"),
        (latex_cell, "$a_b$ & 5% #1", r"\$a\_b\$ \& 5\% \#1"),
        (latex_cell, "[1pt]", "{[}1pt]"),
        (latex_cell, "*", "{*}"),
    ],
)
def test_names_give_no_markup(cell: Callable[[str], str], name: str, shown: str) -> None:
    assert cell(name) == shown
    table = Table(("name",), [(name,)])
    if cell is markdown_cell:
        assert f"| {shown} |" in table.markdown()
    else:
        assert f"\n{shown} \\\\\n" in table.latex()


def test_progress_prints_names_as_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dcglearn.base.progress import reporting

    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    with reporting("reading \x1b[31m"):
        while not written.getvalue():
            pass
    assert written.getvalue().startswith("reading \\x1b[31m")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_names_that_the_encoding_lacks(tmp_path: Path, encoding: str) -> None:
    name = "日本é"
    (tmp_path / "qrels").write_text("q 0 d1 1\nq 0 d2 0\n")
    (tmp_path / name).write_text(f"q Q0 d1 1 1 {name}\n", "utf-8")
    env = {**os.environ, "PYTHONIOENCODING": encoding}

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_command([*arguments], tmp_path, env)

    shown = name.encode(encoding, "backslashreplace").decode(encoding)
    measure = f"DCG({{'{name}': 1, '0': 0}}, log2)"
    evaluated = ["evaluate", "qrels", name, "-m", "zipf"]
    assert f"\n{shown} " in command(*evaluated).stdout
    found = command(*evaluated, "--json")
    assert json.loads(found.stdout)["systems"][0]["system"] == name
    found = command("export", measure, "--to", "pandas")
    assert shown in found.stdout
    found = command("show", measure, "-o", f"{name}.png")
    assert (found.returncode, found.stderr) == (0, "")
    assert (tmp_path / f"{name}.png").is_file()
