"""A DCG as Python text that computes on tensors.

PyTorch has no nDCG, so the text is complete and does not import this package.
"""

from __future__ import annotations

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.interop.tools import ITSELF, Export, numeric_labels
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import split_parameter

DISCOUNT_TEXT = {
    "log2": "1 / math.log2(rank + 1)",
    "jk": "1 / max(1.0, math.log(rank) / math.log({n}))",
    "zipf": "1 / rank",
    "linear": "max(0.0, ({n} + 1 - rank) / {n})",
    "constant": "1.0",
    "rbp": "(1 - {n}) * {n} ** (rank - 1)",
}


def to_torch(measure: DCG) -> Export:
    """Return the text of a module that computes the measure on PyTorch tensors or NumPy arrays."""
    notes = ["Lists lie along the last axis; documents with equal scores keep their order."]
    discounts = () if isinstance(measure.discounts, str) else measure.discounts[: measure.n_ranks]
    rising = (np.diff(discounts, append=0.0) > 0).any()
    if measure.normalise and (rising or min(measure.gains) < 0):
        raise InputError(
            "the text for PyTorch sorts by gain for its ideal, which is wrong for gains below 0 "
            "and for discounts that increase or end below 0",
            ITSELF,
        )
    labels = numeric_labels(measure)
    if any(isinstance(label, str) for label in measure.labels):
        pairs = ", ".join(f"{name} is {n}" for name, n in zip(measure.labels, labels, strict=True))
        notes.append(f"Labels are numbers: {pairs}.")
    padding = "math.nan" if -1 in labels else "-1"
    if padding == "-1":
        notes.append("The label -1 means no document: use it to pad short lists.")
    at, listed = "DISCOUNTS[rank - 1]", ""
    if isinstance(measure.discounts, str):
        name, number = split_parameter(measure.discounts)
        at = DISCOUNT_TEXT[name].format(n=number)
    else:
        listed = f"DISCOUNTS = {list(discounts)}\n"
    if measure.n_ranks is not None:
        at += f" if rank <= {measure.n_ranks} else 0.0"
    text = _TORCH.format(
        measure=measure,
        gains=dict(zip(labels, measure.gains, strict=True)),
        discounts=listed,
        padding=padding,
        at=at,
        ideal=_IDEAL if measure.normalise else "    return found\n",
    )
    return Export(text, tuple(notes))


_TORCH = '''\
# {measure}
"""A measure on PyTorch tensors and NumPy arrays."""

import math

import numpy as np

GAINS = {gains}
{discounts}PADDING = {padding}


def discount(rank):
    """Return what a rank counts, 1 for the first."""
    return {at}


def gains(labels):
    """Return the gain of each label, 0 for padding, in 64 bits."""
    found = labels.double() * 0 if _is_torch(labels) else np.zeros(np.shape(labels))
    known = labels == PADDING
    for label, gain in GAINS.items():
        here = labels == label
        found = _filled(found, here, gain)
        known = known | here
    if not known.all():
        raise ValueError("a label has no gain")
    return found


def measure(scores, labels):
    """Return the value of each list; both of shape (..., documents)."""
    if _is_torch(labels):
        scores = scores.double()
    else:
        scores, labels = np.asarray(scores, float), np.asarray(labels)
    if bool((scores != scores).any()):
        raise ValueError("a score is not a number")
    ranked = gains(_padding_last(_by_score(scores, labels)))
    discounts = [discount(rank) for rank in range(1, ranked.shape[-1] + 1)]
    discounts = ranked.new_tensor(discounts) if _is_torch(ranked) else np.array(discounts)
    found = (ranked * discounts).sum(-1)
{ideal}

def _is_torch(values):
    return hasattr(values, "masked_fill")


def _filled(values, where, value):
    if _is_torch(values):
        return values.masked_fill(where, value)
    return np.where(where, value, values)


def _by_score(scores, labels):
    if _is_torch(labels):
        return labels.gather(-1, scores.argsort(stable=True, dim=-1, descending=True))
    return np.take_along_axis(labels, np.argsort(-scores, axis=-1, kind="stable"), -1)


def _padding_last(labels):
    if _is_torch(labels):
        return labels.gather(-1, (labels == PADDING).byte().argsort(stable=True, dim=-1))
    return np.take_along_axis(labels, np.argsort(labels == PADDING, axis=-1, kind="stable"), -1)
'''

_IDEAL = """\
    best = -(-ranked).sort(-1).values if _is_torch(ranked) else -np.sort(-ranked)
    ideal = (best * discounts).sum(-1)
    return found / _filled(ideal, ideal == 0, 1.0)  # 0 where nothing gains
"""
