"""The names that people type for measures: one grammar, and one table of aliases.

    HEAD(arguments) @ k        also HEAD_k, HEAD.k, HEADk

Capitals, ``-`` and ``_`` of a head do not count, so that trec_eval's ``ndcg_cut_10`` and
``recip_rank``, ir_measures' ``nDCG@10``, ranx's ``ndcg_burges@10`` and ``P5`` of a table are read.
What is not here is left to presets, measures in full and files (:mod:`dcglearn.measures.names`).
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from dcglearn.base.checks import checked_count, checked_number, checked_text
from dcglearn.base.errors import InputError, check_name, naming
from dcglearn.base.numbers import parse_number


class ParsedName(NamedTuple):
    """The parts of a name: arguments are literals, or the text of a rule, a name or a path."""

    head: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    cutoff: Any


def parse_full_name(text: str, n_arguments: int | None, example: str) -> ParsedName:
    """Split the full name of a measure into its parts."""
    checked_text(text, "a measure", example)
    try:
        node, cutoff = ast.parse(text.strip(), mode="eval").body, None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff, node = ast.literal_eval(node.right), node.left
        if not isinstance(node, ast.Call) or n_arguments not in (None, len(node.args)):
            raise ValueError
        arguments = tuple(_argument(argument) for argument in node.args)
        options = {str(word.arg): _argument(word.value) for word in node.keywords}
        return ParsedName(ast.unparse(node.func), arguments, options, cutoff)
    except InputError as error:
        raise InputError(f"{error.problem} in {text!r:.60}", error.remedy) from error
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(
            f"cannot read the measure {text!r:.60}", f"write it like {example}"
        ) from error


def _argument(node: ast.expr) -> Any:
    if isinstance(node, ast.Name | ast.Call):
        return ast.unparse(node)
    value = ast.literal_eval(node)
    if isinstance(node, ast.Dict) and len(value) < len(node.keys):
        raise InputError("a grade appears twice", "name each grade once")
    return value


_RELEVANT = ("rel", "judged_only")

OTHER_OPTIONS: dict[str, tuple[str, ...]] = {
    "P": _RELEVANT,
    "AP": _RELEVANT,
    "RR": _RELEVANT,
    "R": _RELEVANT,
    "Rprec": _RELEVANT,
    "Bpref": ("rel",),
    "infAP": ("rel",),
    "Success": _RELEVANT,
    "IPrec": _RELEVANT,
    "SetP": (*_RELEVANT, "relative"),
    "SetR": ("rel",),
    "SetF": (*_RELEVANT, "beta"),
    "SetAP": _RELEVANT,
    "ERR": ("max_rel", "top"),
    "RBP": ("p", "rel", "top"),
}
"""The measures that are not a DCG, and the keyword arguments of each."""

ALIASES = {
    "nDCG": "nDCG(linear-log2)",
    "ndcg_cut": "nDCG(linear-log2)",
    "ndcg_score": "nDCG(linear-log2)",
    "ndcg_burges": "nDCG(exponential-log2)",
    "DCG": "linear-log2",
    "dcg_score": "linear-log2",
    "dcg_burges": "exponential-log2",
    "map": "AP",
    "map_cut": "AP",
    "precision": "P",
    "mrr": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "recall": "R",
    "r-precision": "Rprec",
    "hit": "Success",
    "hit_rate": "Success",
    "iprec_at_recall": "IPrec",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "set_relative_P": "SetP(relative=True)",
}
"""Names in trec_eval, ranx, scikit-learn and tables of papers, and what they are called here."""

ELSEWHERE = {
    "trec_eval": "num_q num_ret num_rel num_rel_ret gm_map gm_bpref relative_P Rndcg "
    "ndcg_rel utility 11pt_avg relstring binG G Rprec_mult prefs_simp num_nonrel_judged_ret runid",
    "ranx": "hits f1",
    "ir_measures, with pyndeval,": "alpha_nDCG alpha_DCG ERR_IA nERR_IA AP_IA MAP_IA P_IA NRBP "
    "nNRBP StRecall STREC",
    "ir_measures": "Accuracy BPM Compat INSQ INST nERR SDCG",
}
"""The tools that have measures which are not computed here."""

_CUTOFF_NEEDED = {"P": 10, "R": 1000, "Success": 5, "IPrec": 0.1}
"""Those that need a cutoff, with one for an example; the cutoff of IPrec is a recall."""

_CUTOFF_ALLOWED = {*_CUTOFF_NEEDED, "AP", "RR", "ERR", "RBP"}


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()


_OURS = {_plain(name): ours for name, ours in ALIASES.items()} | {
    _plain(name): name for name in OTHER_OPTIONS
}
_THEIRS = {_plain(name): tool for tool, names in ELSEWHERE.items() for name in names.split()}
_NAME = re.compile(
    r"\s*(?P<head>(?:11)?[A-Za-z][A-Za-z_-]*?)"
    r"(?:(?P<mark>[._:]?)(?P<number>-?[0-9][^@()\s]*)|\s*\((?P<inside>.*)\))?"
    r"\s*(?:@\s*(?P<cutoff>[^()]*?))?\s*",
    re.DOTALL,
)
_FILE = re.compile(r"\s*([^\[\]{}()=,]+\.json(?::\w*)?)\s*(?:,(.*))?", re.IGNORECASE | re.DOTALL)
_GAINS = re.compile(r"-?\d+\s*[=:]\s*[^=:,]+(?:,\s*-?\d+\s*[=:]\s*[^=:,]+)*")
_GIVEN_NAME = re.compile(r"\s*([A-Za-z][\w .+-]*?)\s*=(?!=)\s*(\S.*)")


def resolve_alias(text: str) -> str | None:
    """Return the DCG, in this package's words, that a name of another tool means, or None."""
    name = _NAME.fullmatch(text)
    ours = "" if name is None else _OURS.get(_plain(name["head"]), "")
    if name is None or not ours or ours.partition("(")[0] in OTHER_OPTIONS:
        return None
    inside, number = name["inside"], name["number"]
    if number and "=" in number:
        inside, number = f"gains={number}", None
    if inside is not None:
        ours = _with_arguments(ours, re.sub(r"\s", "", inside))
    cutoff = _one_cutoff(name["head"], number, name["cutoff"], text)
    return f"{ours} @ {cutoff}" if ours and cutoff else ours or None


def _with_arguments(ours: str, inside: str) -> str:
    """Return the meaning of ``nDCG(dcg='exp-log2')`` or ``nDCG(gains={1: 3})``; "" for others."""
    key, _, value = inside.partition("=")
    if key == "dcg" and value.strip("'\"") in ("log2", "exp-log2"):
        return ours.replace("linear", "exponential") if "exp" in value else ours
    listed = value.removeprefix("{").removesuffix("}")
    if key != "gains" or not ours.startswith("nDCG") or not _GAINS.fullmatch(listed):
        return ""
    pairs = [re.split("[=:]", pair) for pair in listed.split(",")]
    gains = {0: "0"} | {int(grade): gain for grade, gain in pairs}
    ordered = ", ".join(f"{grade}: {gains[grade]}" for grade in sorted(gains, reverse=True))
    return f"nDCG({{{ordered}}}, log2)"


def _one_cutoff(head: str, number: str | None, cutoff: str | None, text: str) -> str | None:
    """Return the cutoff, which is written in one of two ways."""
    found = number if cutoff is None else cutoff
    if number is not None and cutoff is not None:
        raise InputError("has two cutoffs", f"write it like {head}@{cutoff}", text)
    if found and "," in found:
        each = " and ".join(f"{head}@{one}" for one in found.split(",") if one)
        raise InputError("names several measures", f"write one at a time: {each}", text)
    return found


def parse_other_name(text: str) -> ParsedName | None:
    """Return the parts of the name of a measure that is not a DCG; None for anything else.

    The one argument of ERR and RBP is a number per grade, or the path of a measure file.
    """
    name = _NAME.fullmatch(text)
    if name is None:
        return None
    plain = _plain(name["head"])
    if plain == "judged":
        remedy = "evaluate prints it beside every measure, for the cutoff of that measure"
        raise InputError("is a column of its own", remedy, text)
    if plain in _THEIRS:
        raise InputError("is not computed here", f"{_THEIRS[plain]} has it", text)
    head = _other_head(name)
    if head is None:
        return None
    number, mark = name["number"], name["mark"]
    options: dict[str, Any] = {"relative": True} if "relative" in plain else {}
    if number and head == "SetF":
        options["beta"] = parse_number(number)
    elif number and head == "RBP" and mark == ".":  # ranx's, which is of relevant documents
        options |= {"rel": 1, "p": parse_number(f"0.{number}")}
    elif number and head == "RBP" and mark == ":":
        options["p"] = parse_number(number)
    if options:
        number = None
    arguments: tuple[Any, ...] = ()
    if name["inside"] is not None:
        arguments, inside = _inside(head, name["inside"], text)
        options |= inside
    cutoff = _number(_one_cutoff(name["head"], number, name["cutoff"], text), head, text)
    with naming(text):
        _check(head, arguments, options, cutoff)
    ordered = {key: options[key] for key in OTHER_OPTIONS[head] if key in options}
    return ParsedName(head, arguments, ordered, cutoff)


def _other_head(name: re.Match[str]) -> str | None:
    """Return which measure that is not a DCG a name begins with; rbp and rbp:0.8 are presets."""
    head = _OURS.get(_plain(name["head"]), "").partition("(")[0]
    inside = re.fullmatch(r"\s*[0-9.]*\s*", name["inside"] or "")
    is_preset = name["head"] == "rbp" and inside is not None and name["mark"] in (None, "", ":")
    return None if is_preset or head not in OTHER_OPTIONS else head


def _number(cutoff: str | None, head: str, text: str) -> int | float | None:
    if cutoff is None:
        return None
    value = parse_number(cutoff)
    if value != value:  # nan
        example = f"{head}@{_CUTOFF_NEEDED.get(head, 10)}"
        raise InputError(f"the cutoff {cutoff} is not a number", f"write it like {example}", text)
    return value if "." in cutoff else int(value)


def _inside(head: str, inside: str, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments in brackets: numbers for grades or a measure file, and keywords."""
    file = _FILE.fullmatch(inside)
    rest = inside if file is None else file[2] or ""
    parsed = parse_full_name(f"{head}({rest})", None, f"{head}(rel=2)@10")
    arguments = (*(() if file is None else (file[1].strip(),)), *parsed.arguments)
    if len(arguments) > 1:
        raise InputError("has too many arguments", "name all but the first, such as p=0.8", text)
    if head == "RBP" and arguments and isinstance(arguments[0], float | int):
        return (), {"p": arguments[0], **parsed.options}
    return arguments, parsed.options


def _check(head: str, arguments: tuple[Any, ...], options: dict[str, Any], cutoff: Any) -> None:
    """Check cutoff, argument and keyword arguments of a measure."""
    for key in options:
        check_name(key, f"argument of {head}", OTHER_OPTIONS[head])
    if cutoff is None and head in _CUTOFF_NEEDED:
        raise InputError("needs a cutoff", f"write it like {head}@{_CUTOFF_NEEDED[head]}")
    if cutoff is not None:
        if head not in _CUTOFF_ALLOWED:
            raise InputError(f"{head} has no cutoff", "leave it out")
        if head == "IPrec":
            checked_number(cutoff, "the recall", 0, 1)
        else:
            checked_count(cutoff, "the cutoff")
    if arguments and head not in ("ERR", "RBP"):
        raise InputError(f"{head} takes no numbers per grade", f"write it like {head}(rel=2)")


def refuse_other_measures(text: str) -> None:
    """Refuse the name of a measure that is not a DCG, such as AP or ERR."""
    name = _NAME.fullmatch(text)
    if name is not None and _other_head(name) is not None:
        raise InputError(
            "is not a DCG",
            "dcglearn evaluate computes it; here a DCG is needed, such as nDCG@10, zipf or rbp:0.8",
            text,
        )
    parse_other_name(text)  # which refuses measures that are not computed here


def split_given_name(text: str) -> tuple[str | None, str]:
    """Split ``name=measure`` into the name that a person gives, if any, and the measure."""
    name = _NAME.fullmatch(text)
    is_measure = name is not None and "=" in (name["number"] or "") and resolve_alias(text)
    match = None if is_measure else _GIVEN_NAME.fullmatch(text)
    return (None, text) if match is None else (match[1], match[2])
