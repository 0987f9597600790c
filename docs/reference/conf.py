"""Settings of the reference, which ``nox -s reference`` builds into ``build/reference``."""

from __future__ import annotations

import re
from importlib.metadata import version as installed_version
from typing import Any

project = "dcglearn"
version = release = installed_version("dcglearn")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode", "numpydoc"]
templates_path = ["_templates"]
autosummary_ignore_module_all = False  # the names of dcglearn come from its rooms
autosummary_imported_members = True
html_theme = "furo"
html_title = f"dcglearn {version}"
html_show_copyright = False
html_show_sphinx = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the sections of a docstring state types and shapes
numpydoc_show_class_members = False  # autodoc lists the members already


def setup(app: Any) -> None:
    """Connect what follows to Sphinx; docstrings are changed before numpydoc reads them."""
    app.connect("autodoc-process-docstring", equations, priority=100)
    app.connect("autodoc-skip-member", skip)


def equations(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show indented equations as they are written, and vertical bars as such."""
    found: list[str] = []
    literal = False
    in_text = True  # up to the first section, such as Parameters
    for line in lines:
        in_text = in_text and not re.fullmatch(r"-{3,}", line)
        indented = line.startswith("   ")
        if in_text and indented and not literal and found and not found[-1].strip():
            literal = not _last(found).startswith(("*", "-", "`"))
            found += ["::", ""] if literal else []
        elif line.strip() and not indented:
            literal = False
        found.append(line if (literal and in_text) or ">>>" in line else _escaped(line))
    lines[:] = found


def _last(lines: list[str]) -> str:
    return next((line for line in reversed(lines) if line.strip()), "")


def _escaped(line: str) -> str:
    """Escape the vertical bars outside of double backquotes: ``|w|`` is not a substitution."""
    parts = line.split("``")
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "``".join(parts)


def skip(app: Any, kind: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what comes from elsewhere: imported functions, what scikit-learn adds."""
    elsewhere = not str(getattr(thing, "__module__", "dcglearn")).startswith("dcglearn")
    return True if elsewhere or "request" in name else None
