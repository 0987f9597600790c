"""Names that people type for measures: those of papers and of other tools.

``nDCG@10``, trec_eval's ``ndcg_cut.10`` and ``ndcg``, ranx's ``ndcg_burges@10``, ir_measures'
``nDCG(dcg='exp-log2')@10`` and scikit-learn's ``ndcg_score`` are the nDCG or DCG of a preset. A
name without gains means linear ones, as in trec_eval, ir_measures, ranx and scikit-learn. With
gains, ``ndcg.1=3,2=7`` and ``nDCG(gains={1:3,2:7})@10`` are an nDCG in full; grade 0 gains 0.
"""

from __future__ import annotations

import re

from dcglearn.base.errors import InputError
from dcglearn.naming.other_names import parse_other_name

_NAME = re.compile(
    r"(?P<form>n?dcg)(?:_(?P<gains>burges)|_cut|_score)?"
    r"(?:\(dcg=(?P<quote>['\"])(?P<dcg>log2|exp-log2)(?P=quote)\))?"
    r"(?:\s*[@._]\s*(?P<cutoff>[0-9]+))?",
    re.IGNORECASE,
)

_WITH_GAINS = (
    re.compile(r"ndcg\.(?P<gains>-?\d+=[^,=]+(?:,-?\d+=[^,=]+)*)(?P<cutoff>)", re.IGNORECASE),
    re.compile(r"ndcg\(gains=\{(?P<gains>[^{}]*)\}\)(?:\s*@\s*(?P<cutoff>\d+))?", re.IGNORECASE),
)
_GAIN = re.compile(r"\s*(-?\d+)\s*[=:]\s*([^=:]+?)\s*")
_SEVERAL = re.compile(r"(ndcg_cut)[._]([0-9]+(?:,[0-9]+)+)", re.IGNORECASE)

_GIVEN_NAME = re.compile(r"\s*([A-Za-z][\w .+-]*?)\s*=(?!=)\s*(\S.*)")


def resolve_alias(text: str) -> str | None:
    """Return the measure, in this package's words, that a name of another tool means.

    Parameters
    ----------
    text : str

    Returns
    -------
    str or None
        None for other text.

    Raises
    ------
    InputError
        If the name means several measures.

    Examples
    --------
    >>> resolve_alias("ndcg.1=3,2=7")
    'nDCG({2: 7, 1: 3, 0: 0}, log2)'
    >>> resolve_alias("nDCG@10"), resolve_alias("ndcg_cut_10"), resolve_alias("dcg_burges@5")
    ('nDCG(linear-log2) @ 10', 'nDCG(linear-log2) @ 10', 'exponential-log2 @ 5')
    """
    match = _NAME.fullmatch(text.strip())
    if match is None:
        return _with_gains(text.strip())
    exponential = match["gains"] or match["dcg"] == "exp-log2"
    preset = "exponential-log2" if exponential else "linear-log2"
    cut = f" @ {int(match['cutoff'])}" if match["cutoff"] else ""
    return f"nDCG({preset}){cut}" if match["form"].lower() == "ndcg" else f"{preset}{cut}"


def _with_gains(text: str) -> str | None:
    """Return an nDCG in full for a name that gives gains; None for other text."""
    if (several := _SEVERAL.fullmatch(text)) is not None:
        each = " and ".join(f"{several[1]}.{cutoff}" for cutoff in several[2].split(","))
        raise InputError("names several measures", f"write one at a time: {each}", text)
    match = next(filter(None, (form.fullmatch(text) for form in _WITH_GAINS)), None)
    if match is None:
        return None
    pairs = [_GAIN.fullmatch(one) for one in match["gains"].split(",")]
    if not all(pairs):
        return None
    gains = {0: "0"} | {int(pair[1]): pair[2] for pair in pairs if pair}
    listed = ", ".join(f"{grade}: {gains[grade]}" for grade in sorted(gains, reverse=True))
    return f"nDCG({{{listed}}}, log2)" + (f" @ {match['cutoff']}" if match["cutoff"] else "")


def refuse_other_measures(text: str) -> None:
    """Refuse the name of a measure that is not a DCG, such as AP or ERR.

    Parameters
    ----------
    text : str

    Raises
    ------
    InputError
        Naming the measure.
    """
    try:
        other = parse_other_name(text) is not None
    except InputError:  # one that is written wrongly
        other = True
    if other:
        raise InputError(
            "is not a DCG",
            "dcglearn evaluate computes it; here a DCG is needed, such as nDCG@10, zipf or rbp:0.8",
            text,
        )


def split_given_name(text: str) -> tuple[str | None, str]:
    """Split ``name=measure`` into the name that a person gives and the measure.

    Parameters
    ----------
    text : str

    Returns
    -------
    name : str or None
        None where there is no name.
    measure : str

    Examples
    --------
    >>> split_given_name("mine = learned.json"), split_given_name("nDCG(dcg='log2')@5")
    (('mine', 'learned.json'), (None, "nDCG(dcg='log2')@5"))
    """
    match = None if _WITH_GAINS[0].fullmatch(text) else _GIVEN_NAME.fullmatch(text)
    return (None, text) if match is None else (match[1], match[2])
