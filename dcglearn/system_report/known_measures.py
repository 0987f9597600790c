"""The measures that have names: presets, rules of discounts, and those of other tools."""

from __future__ import annotations

from typing import Any

from dcglearn.interop.tool_measures import TOOL_MEASURES
from dcglearn.measures.discounts import DISCOUNT_RULES
from dcglearn.naming.presets import PRESETS
from dcglearn.report.tables import Table

_OPENING = """\
A measure is a preset, with nDCG(...) around it and @ 10 after it where wanted; in full,
nDCG({2: 3, 1: 1, 0: 0}, log2) @ 10; or a file, learned.json. r is the value of a grade, i
the rank. Quote names with brackets in a shell."""


def known_measures_text() -> str:
    """Return the tables of presets, rules of discounts and measures of other tools."""
    content = known_measures_to_json()
    captions = {
        "presets": "Presets: gain and discount",
        "discounts": "Rules of discounts, for measures in full",
        "tools": "Measures of other tools, and what computes the same here",
    }
    tables = [
        Table(tuple(content[key][0]), [tuple(row.values()) for row in content[key]], caption).text()
        for key, caption in captions.items()
    ]
    return "\n\n".join([_OPENING, *tables])


def known_measures_to_json() -> dict[str, list[dict[str, Any]]]:
    """Return presets, rules of discounts and measures of other tools, each a list of rows."""
    presets = [
        {
            "preset": name if one.default is None else f"{name}:{_PARAMETERS[name]}",
            "formula": one.formula,
            "source": one.source,
        }
        for name, one in PRESETS.items()
    ]
    discounts = [
        {
            "rule": f"{name}({rule.parameter})" if rule.parameter else name,
            "formula": rule.formula,
            "source": rule.source,
        }
        for name, rule in DISCOUNT_RULES.items()
    ]
    tools = [
        {"tool": one.tool, "its measure": one.theirs, "-m here": one.ours, "options": one.options}
        for one in TOOL_MEASURES
    ]
    return {"presets": presets, "discounts": discounts, "tools": tools}


_PARAMETERS = {"jk": "b", "linear-discount": "n", "rbp": "p", "binary": "t"}
"""How the formulas call the parameter of a preset."""
