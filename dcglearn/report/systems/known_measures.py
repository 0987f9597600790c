"""The measures that have names: presets, rules of discounts, and those of other tools."""

from __future__ import annotations

from typing import Any

from dcglearn.interop.tool_measures import TOOL_MEASURES
from dcglearn.measures.discounts import DISCOUNT_RULES
from dcglearn.measures.presets import PRESETS
from dcglearn.report.tables import Table

_OPENING = """\
A measure is a preset, with nDCG(...) around it and @ 10 after it where wanted; in full,
nDCG({2: 3, 1: 1, 0: 0}, log2) @ 10; or a file, learned.json. r is the value of a grade, i
the rank. Quote names with brackets in a shell."""


OTHER_MEASURES = {
    "P@10": ("share of relevant documents among the first 10", "P_10, precision@10"),
    "AP, AP@10": ("mean precision at the ranks of relevant documents", "map, map_cut_10"),
    "RR, RR@10": ("1 / rank of the first relevant document", "recip_rank, mrr@10"),
    "R@1000": ("share of the relevant documents among the first 1000", "recall_1000"),
    "Rprec": ("precision at rank R, with R relevant documents", "r-precision"),
    "Bpref": ("order of judged documents; Buckley & Voorhees 2004", "bpref"),
    "infAP": ("AP of pools judged in part; Yilmaz & Aslam 2006", ""),
    "Success@5": ("whether a relevant document is among the first 5", "success_5, hit_rate@5"),
    "IPrec@0.1": ("largest precision from a recall of .1 on", "iprec_at_recall_0.10"),
    "SetP, SetR, SetF, SetAP": ("of the whole run, without order", "set_P, set_recall, ..."),
    "ERR@20": (
        "sum_i R_i / i prod_{j < i} (1 - R_j); Chapelle et al. 2009",
        "ERR({2: 0.9, 1: 0.3, 0: 0})@20, ERR(learned.json)@20",
    ),
    "RBP(p=0.8)": (
        "(1 - p) sum_i p^(i - 1) r_i / r_max, and the residual; Moffat & Zobel 2008",
        "RBP({2: 1, 1: 0.5, 0: 0}, p=0.8), rbp.80",
    ),
}
"""The measures that are not a DCG: what they are, and other forms of their names."""


def known_measures_text() -> str:
    """Return the tables of presets, rules of discounts, other measures and those of tools."""
    content = known_measures_to_json()
    captions = {
        "presets": "Presets: gain and discount",
        "discounts": "Rules of discounts, for measures in full",
        "others": "Other measures, in evaluate; all but ERR take "
        "(rel=2) for: relevant from grade 2 up",
        "tools": "Measures of other tools, and what computes the same here",
    }
    tables = [Table.of(content[key], caption).text() for key, caption in captions.items()]
    return "\n\n".join([_OPENING, *tables])


def known_measures_to_json() -> dict[str, list[dict[str, Any]]]:
    """Return presets, rules of discounts, other measures and those of tools: lists of rows."""
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
    others = [
        {"measure": name, "value": value, "also": also}
        for name, (value, also) in OTHER_MEASURES.items()
    ]
    tools = [
        {"tool": one.tool, "its measure": one.theirs, "-m here": one.ours, "options": one.options}
        for one in TOOL_MEASURES
    ]
    return {"presets": presets, "discounts": discounts, "others": others, "tools": tools}


_PARAMETERS = {"jk": "b", "linear-discount": "n", "rbp": "p", "binary": "t"}
"""How the formulas call the parameter of a preset."""
