"""Names of measures that are not a DCG: P, AP, RR, R, Bpref, ERR, RBP and their like.

They are written as in ir_measures, ``AP(rel=2)@10``, or as trec_eval and ranx write them:
``map_cut_10``, ``P_10``, ``recip_rank``, ``mrr@10``. ERR and RBP also take numbers per grade,
``ERR({2: 0.9, 1: 0.3, 0: 0})@20``, or a measure file, ``RBP(learned.json, p=0.8)``. ``rbp`` in
small letters is the preset, a DCG.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcglearn.base.checks import checked_count, checked_number
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.measures.parsing import parse_full_name

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

_CUTOFF_NEEDED = {"P": 10, "R": 1000, "Success": 5, "IPrec": 0.1}
"""Those that need a cutoff, with one for an example; the cutoff of IPrec is a recall."""

_CUTOFF_ALLOWED = {*_CUTOFF_NEEDED, "AP", "RR", "ERR", "RBP"}

SPELLINGS = {
    "map": "AP",
    "map_cut": "AP",
    "precision": "P",
    "mrr": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "recall": "R",
    "r-precision": "Rprec",
    "hit_rate": "Success",
    "iprec_at_recall": "IPrec",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "set_map": "SetAP",
}
"""Names in trec_eval and ranx, without their cutoff, and what they are called here."""


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()


_HEADS = {_plain(name): name for name in OTHER_OPTIONS} | {
    _plain(name): head for name, head in SPELLINGS.items()
}
_SHORT = re.compile(r"([A-Za-z][A-Za-z_-]*?)\s*(?:[@._]\s*([0-9][0-9.,]*))?")
_CALL = re.compile(r"([A-Za-z][A-Za-z_-]*)\s*\((.*)\)\s*(?:@\s*(\S+))?", re.DOTALL)
_FILE = re.compile(r"\s*([^\[\]{}()=,]+\.json(?::\w*)?)\s*(?:,(.*))?", re.IGNORECASE | re.DOTALL)
_BEGUN = re.compile(r"\s*([A-Za-z][A-Za-z_-]*?)\s*[@:.(]")
_NUMBER = re.compile(r"\s*[0-9.]+\s*")


@dataclass(frozen=True)
class OtherName:
    """The parts of the name of a measure that is not a DCG.

    Attributes
    ----------
    head : str
        A key of :data:`OTHER_OPTIONS`.
    cutoff : int, float or None
        A recall for IPrec, otherwise a number of ranks.
    options : mapping
        Keyword arguments, in the order of :data:`OTHER_OPTIONS`.
    numbers : list or dict, optional
        A number for each grade: for ERR and RBP.
    path : str, optional
        The measure file that holds them.
    """

    head: str
    cutoff: int | float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    numbers: Any = None
    path: str | None = None


def parse_other_name(text: str) -> OtherName | None:
    """Return the parts of the name of a measure that is not a DCG.

    Parameters
    ----------
    text : str

    Returns
    -------
    OtherName or None
        None for the name of anything else.

    Raises
    ------
    InputError
        If it names such a measure, but a cutoff is missing or not allowed, or a keyword argument
        is unknown.

    Examples
    --------
    >>> parse_other_name("map_cut_10")
    OtherName(head='AP', cutoff=10, options={}, numbers=None, path=None)
    >>> parse_other_name("RR(rel=2)@10").options, parse_other_name("rbp:0.8")
    ({'rel': 2}, None)
    """
    found = _short_name(text.strip()) or _call(text.strip())
    if found is not None:
        return checked_name(found, text)
    begun = _BEGUN.match(text)
    if begun is not None and begun[1] != "rbp" and _plain(begun[1]) in _HEADS:
        head = _HEADS[_plain(begun[1])]
        example = f"{head}@{_CUTOFF_NEEDED[head]}" if head in _CUTOFF_NEEDED else f"{head}(rel=2)"
        raise InputError("cannot be read", f"write it like {example}", text)
    return None


def checked_name(name: OtherName, text: str) -> OtherName:
    """Check cutoff and keyword arguments of a measure that is not a DCG.

    Parameters
    ----------
    name : OtherName
    text : str
        What named it, for errors.

    Returns
    -------
    OtherName
        With its keyword arguments in order.

    Raises
    ------
    InputError
        If a cutoff is missing or not allowed, or a keyword argument is unknown.
    """
    head, cutoff = name.head, name.cutoff
    try:
        allowed = OTHER_OPTIONS[head]
        for key in name.options:
            if not is_one_of(key, allowed):
                raise unknown_name(f"argument of {head}", key, allowed)
        if cutoff is None and head in _CUTOFF_NEEDED:
            raise InputError("needs a cutoff", f"write it like {head}@{_CUTOFF_NEEDED[head]}")
        if cutoff is not None and head not in _CUTOFF_ALLOWED:
            raise InputError(f"{head} has no cutoff", "leave it out")
        if cutoff is not None and head == "IPrec":
            checked_number(cutoff, "the recall", 0, 1)
        elif cutoff is not None:
            checked_count(cutoff, "the cutoff")  # type: ignore[arg-type]  # it refuses fractions
        if (name.numbers is not None or name.path) and head not in ("ERR", "RBP"):
            raise InputError(f"{head} takes no numbers per grade", f"write it like {head}(rel=2)")
    except InputError as error:
        raise error.at(text) from error
    options = {key: name.options[key] for key in allowed if key in name.options}
    return OtherName(head, cutoff, options, name.numbers, name.path)


def _short_name(text: str) -> OtherName | None:
    match = _SHORT.fullmatch(text)
    if match is None or (head := _HEADS.get(_plain(match[1]))) is None:
        return None
    number = match[2]
    if match[1] == "rbp":  # the preset, but for ranx's rbp.80
        digits = re.fullmatch(r"rbp\.([0-9]+)", text)
        return digits and OtherName("RBP", None, {"p": float(f"0.{digits[1]}"), "rel": 1})
    if number is None:
        return OtherName(head)
    if "," in number:
        each = " and ".join(f"{head}@{one}" for one in number.split(",") if one)
        raise InputError("names several measures", f"write one at a time: {each}", text)
    value = float(number) if number.count(".") < 2 else None
    if value is None or number.endswith("."):
        raise InputError(f"the cutoff {number} is not a number", f"write it like {head}@10", text)
    if head == "SetF":
        return OtherName(head, None, {"beta": value})
    return OtherName(head, value if "." in number else int(number))


def _call(text: str) -> OtherName | None:
    match = _CALL.fullmatch(text)
    if match is None or (head := _HEADS.get(_plain(match[1]))) is None:
        return None
    inside, cut = match[2], match[3]
    if match[1] == "rbp" and _NUMBER.fullmatch(inside):
        return None  # the preset, as rbp:0.8
    file = _FILE.fullmatch(inside)
    rest = inside if file is None else file[2] or ""
    parsed = parse_full_name(
        f"{head}({rest}){'' if cut is None else f' @ {cut}'}", None, f"{head}(rel=2)@10"
    )
    given = parsed.arguments
    if len(given) > 1 or (given and file is not None):
        raise InputError("has too many arguments", "name all but the first, such as p=0.8", text)
    options, numbers = dict(parsed.options), given[0] if given else None
    if head == "RBP" and isinstance(numbers, float | int):
        options, numbers = {"p": numbers, **options}, None
    return OtherName(head, parsed.cutoff, options, numbers, file[1].strip() if file else None)
