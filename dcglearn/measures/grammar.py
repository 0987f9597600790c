"""The names that people type for measures: one grammar, and one table of aliases.

    HEAD(arguments) @ k        also HEAD_k, HEAD.k, HEADk

Capitals, ``-`` and ``_`` of a head do not count, so that trec_eval's ``ndcg_cut_10`` and
``recip_rank``, ir_measures' ``nDCG@10``, ranx's ``ndcg_burges@10`` and ``P5`` of a table are read.
Presets, measures in full and files are read by :mod:`dcglearn.measures.names`.
"""

import ast
import math
import re
from typing import Any, NamedTuple

from dcglearn.base.checks import checked_count, checked_number
from dcglearn.base.errors import InputError, check_name, naming
from dcglearn.base.numbers import parse_number, parse_whole


class ParsedName(NamedTuple):
    """The parts of a name: arguments are literals, or the text of a rule, a name or a path."""

    head: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    cutoff: Any


def parse_full_name(text: str, n_arguments: int | None, example: str) -> ParsedName:
    """Split the full name of a measure into its parts."""
    try:
        node, cutoff = ast.parse(text.strip(), mode="eval").body, None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            cutoff, node = ast.literal_eval(node.right), node.left
        if isinstance(node, ast.Name):
            node = ast.Call(node, [], [])
        if not isinstance(node, ast.Call) or n_arguments not in (None, len(node.args)):
            raise ValueError
        arguments = tuple(_argument(argument) for argument in node.args)
        options = {str(word.arg): _argument(word.value) for word in node.keywords}
        return ParsedName(ast.unparse(node.func), arguments, options, cutoff)
    except InputError:
        raise
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(
            f"cannot read the measure {text!r:.60}", f"write it like {example}"
        ) from error


def _argument(node: ast.expr) -> Any:
    if isinstance(node, ast.Name | ast.Call):
        return ast.unparse(node)
    value = ast.literal_eval(node)
    if isinstance(node, ast.Dict) and len(value) < len(node.keys):
        text = ast.unparse(node)
        raise InputError(f"a grade appears twice in {text:.60}", "name each grade once")
    return value


_RELEVANT = ("rel", "judged_only")

OTHER_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("P", "AP", "RR", "R", "Rprec", "Success", "IPrec", "SetAP"), _RELEVANT),
    "Bpref": ("rel",),
    "infAP": ("rel",),
    "SetP": (*_RELEVANT, "relative"),
    "SetR": ("rel",),
    "SetF": (*_RELEVANT, "beta"),
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
    "trec_eval has it": "num_q num_ret num_rel num_rel_ret gm_map gm_bpref relative_P Rndcg "
    "ndcg_rel utility 11pt_avg relstring binG G Rprec_mult prefs_simp num_nonrel_judged_ret runid",
    "ranx has it": "hits f1",
    "ir_measures, with pyndeval, has it": "alpha_nDCG alpha_DCG ERR_IA nERR_IA AP_IA MAP_IA P_IA "
    "NRBP nNRBP StRecall STREC",
    "ir_measures has it": "Accuracy BPM Compat INSQ INST nERR SDCG",
    "evaluate prints it beside every measure, for the cutoff of that measure": "judged",
}
"""Where measures are that are not computed under their name here."""

_CUTOFF_NEEDED = {"P": 10, "R": 1000, "Success": 5, "IPrec": 0.1}
"""Those that need a cutoff, with one for an example; the cutoff of IPrec is a recall."""

_CUTOFF_ALLOWED = {*_CUTOFF_NEEDED, "AP", "RR", "ERR", "RBP"}


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()


_OURS = {_plain(name): ours for name, ours in ALIASES.items()} | {
    _plain(name): name for name in OTHER_OPTIONS
}
_THEIRS = {_plain(name): where for where, names in ELSEWHERE.items() for name in names.split()}
_NAME = re.compile(
    r"\s*(?P<head>(?:11)?[A-Za-z][A-Za-z_-]*?)"
    r"(?:(?P<mark>[._:]?)(?P<number>-?[0-9][-0-9.,=]*)|\s*\((?P<inside>.*)\))?"
    r"\s*(?:@\s*(?P<cutoff>[^()]*?))?\s*",
    re.DOTALL,
)
_NUMBER_MEANS = {"SetF": "beta={}", "RBP.": "rel=1, p=0.{}", "RBP:": "p={}"}
"""What the number after a name, or after a name and a mark, is, where it is not a cutoff."""

_FORMULA = re.compile(r"dcg=['\"]?(exp-)?log2['\"]?")
_GAINS = re.compile(r"gains=\{?(-?\d+[=:][^=:,}]+(?:,-?\d+[=:][^=:,}]+)*)\}?")
_FILE = re.compile(r"(?<=\()\s*([^\[\]{}()=,]+\.json(?::\w*)?)\s*(?=[,)])", re.IGNORECASE)
_GIVEN_NAME = re.compile(
    r"\s*([A-Za-z][\w .+-]*?)\s*=(?!=)\s*(?!-?[\d.]+\s*(?:[,@]|$))(\S.*)"  # but ndcg.1=3,2=7
)


def split_cutoff(text: str) -> tuple[str, int | None]:
    """Split a name into the name and the cutoff at its end."""
    called, at, cutoff = text.rpartition("@")
    if not at or ")" in cutoff or cutoff.lower().endswith(".json"):
        return text, None
    number = parse_whole(cutoff.strip())
    if number is None:
        problem = f"the cutoff {cutoff.strip()!r:.40} is not a whole number"
        raise InputError(problem, "write it like zipf @ 10")
    return called.strip(), number


def canonical_name(text: str) -> str | None:
    """Return the name here of a measure of other tools, or that is not a DCG; None for others."""
    name = _NAME.fullmatch(text)
    ours = None if name is None else _OURS.get(_plain(name["head"]))
    if name is None or ours is None:
        return None
    head, mark, number, inside, cutoff = name.groups()
    if head == "rbp" and mark in (None, "", ":") and not (inside or "").strip(" .0123456789"):
        return None
    if number and "=" in number:
        inside, number = f"gains={number}", None
    meaning = _NUMBER_MEANS.get(ours) or _NUMBER_MEANS.get(f"{ours}{mark}")
    if number and meaning:
        inside, number = meaning.format(number), None
    if inside is not None:
        ours = _with_arguments(ours, inside)
    if ours is None:
        return None
    if number is not None and cutoff is not None:
        raise InputError("has two cutoffs", f"write it like {head}@{cutoff}", text)
    found = number or cutoff
    if found and "," in found:
        each = " and ".join(f"{head}@{one}" for one in found.split(",") if one)
        raise InputError("names several measures", f"write one at a time: {each}", text)
    if found and math.isnan(parse_number(found)):
        remedy = f"write it like {head}@{_CUTOFF_NEEDED.get(ours, 10)}"
        raise InputError(f"the cutoff {found} is not a number", remedy, text)
    return f"{ours} @ {found}" if found else ours


def _with_arguments(ours: str, inside: str) -> str | None:
    """Return a name with its arguments; of DCG, ``dcg='exp-log2'`` and ``gains={1: 3}`` only."""
    head, _, own = ours.removesuffix(")").partition("(")
    if head in OTHER_OPTIONS:
        return f"{head}({', '.join(filter(None, (own, inside)))})"
    given = re.sub(r"\s", "", inside)
    formula, listed = _FORMULA.fullmatch(given), _GAINS.fullmatch(given)
    if formula is not None:
        return ours.replace("linear", "exponential") if formula[1] else ours
    if listed is None or not ours.startswith("nDCG"):
        return None
    gains = {"0": "0"} | dict(re.split("[=:]", pair) for pair in listed[1].split(","))
    ordered = sorted(gains, key=int, reverse=True)
    return f"nDCG({{{', '.join(f'{grade}: {gains[grade]}' for grade in ordered)}}}, log2)"


def _other_head(ours: str | None) -> str | None:
    head = re.split(r"[( ]", ours or "")[0]
    return head if head in OTHER_OPTIONS else None


def resolve_alias(text: str) -> str | None:
    """Return the canonical name of the DCG that a name of another tool means, or None."""
    ours = canonical_name(text)
    return ours if _other_head(ours) is None else None


def parse_other_name(text: str) -> ParsedName | None:
    """Return the parts of the name of a measure that is not a DCG; None for anything else.

    The one argument of ERR and RBP is a number per grade, or the path of a measure file.
    """
    ours = canonical_name(text)
    head = _other_head(ours)
    if ours is None or head is None:
        return None
    with naming(text):
        quoted = _FILE.sub(lambda file: repr(file[1]), ours)
        _, arguments, options, cutoff = parse_full_name(quoted, None, "P(rel=2) @ 10")
        if len(arguments) > (head in ("ERR", "RBP")):
            raise InputError("has too many arguments", "name them, such as rel=2 or p=0.8")
        number = next(iter(arguments), None)
        if head == "RBP" and isinstance(number, float | int):
            arguments, options = (), {"p": number, **options}
        for key in options:
            check_name(key, f"argument of {head}", OTHER_OPTIONS[head])
        if cutoff is None and head in _CUTOFF_NEEDED:
            raise InputError("needs a cutoff", f"write it like {head}@{_CUTOFF_NEEDED[head]}")
        if cutoff is not None and head not in _CUTOFF_ALLOWED:
            raise InputError(f"{head} has no cutoff", "leave it out")
        if head == "IPrec":
            checked_number(cutoff, "the recall", 0, 1)
        elif cutoff is not None:
            checked_count(cutoff, "the cutoff")
    return ParsedName(head, arguments, options, cutoff)


def canonical_dcg_name(text: str) -> str:
    """Return a text, or the DCG that it is an alias of; refuse other measures, such as AP."""
    ours = canonical_name(text)
    if _other_head(ours) is not None:
        raise InputError(
            "is not a DCG",
            "dcglearn evaluate computes it; here a DCG is needed, such as nDCG@10, zipf or rbp:0.8",
            text,
        )
    name = _NAME.fullmatch(text)
    where = None if name is None else _THEIRS.get(_plain(name["head"]))
    if where is not None:
        raise InputError("is not a measure here", where, text)
    return ours or text


def split_given_name(text: str) -> tuple[str | None, str]:
    """Split ``name=measure`` into the name that a person gives, if any, and the measure."""
    match = _GIVEN_NAME.fullmatch(text)
    return (None, text) if match is None else (match[1], match[2])
