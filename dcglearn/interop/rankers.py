"""A DCG for tools that learn to rank with boosted trees: LightGBM and XGBoost.

LightGBM sorts by label for the ideal, so gains must increase with the label. XGBoost (with
``ndcg_exp_gain`` off) takes the gains themselves as labels. Tested on both: LightGBM 4.7.0 and
XGBoost 3.2.0. What they cannot express is trained on by :mod:`dcglearn.interop.training`.
"""

from __future__ import annotations

from dcglearn.interop.requirements import (
    DOUBLE,
    SINGLE,
    Export,
    check_gains,
    check_log2,
    check_range,
    gains_by_label,
    labels_of,
    ndcg_notes,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number

_LIGHTGBM_LONGEST = 10_000
"""LightGBM refuses queries with more documents."""

_XGBOOST_LONGEST = 2**31 - 1
"""A cutoff that covers any group. Without one XGBoost cuts its nDCG at 32."""


def to_lightgbm(measure: DCG) -> Export:
    """Return parameters for LightGBM's lambdarank and ndcg.

    >>> print(to_lightgbm(DCG([3, 1, 0], "log2", 10, "ideal")).text.splitlines()[3])
        "label_gain": [0, 1, 3],
    """
    check_log2(measure, "LightGBM")
    check_range(measure, "LightGBM", DOUBLE)
    check_gains(measure, "LightGBM", ordered=True)
    notes = ndcg_notes(measure, "LightGBM")
    gains = ", ".join(format_number(gain) for gain in measure.gains[::-1])
    cut = measure.n_ranks or _LIGHTGBM_LONGEST
    level = "" if measure.n_ranks is None else f'    "lambdarank_truncation_level": {cut},\n'
    labels = {label: len(measure.gains) - 1 - i for i, label in enumerate(labels_of(measure))}
    text = (
        f"# {measure}\nPARAMS = {{\n"
        f'    "objective": "lambdarank",\n    "label_gain": [{gains}],\n'
        f'    "metric": "ndcg",\n    "eval_at": [{cut}],\n{level}}}\n'
        f"LABELS = {labels!r}  # the label of each grade\n"
    )
    if measure.n_ranks is not None:
        notes.append("LightGBM advises a lambdarank_truncation_level a little above eval_at.")
    return Export(
        text,
        (
            *notes,
            "A query without gains counts 1 in LightGBM and 0 in dcglearn.",
            "Documents with equal scores keep the order of the file.",
        ),
    )


def to_xgboost(measure: DCG) -> Export:
    """Return parameters for XGBoost's rank:ndcg and ndcg.

    >>> print(to_xgboost(DCG([1, 0.65, 0], "log2", 10, "ideal")).text.splitlines()[-1])
    LABELS = {2: 1.0, 1: 0.65, 0: 0.0}  # the label of each grade is its gain
    """
    check_log2(measure, "XGBoost")
    check_range(measure, "XGBoost", SINGLE)
    check_gains(measure, "XGBoost")
    notes = ndcg_notes(measure, "XGBoost")
    pairs = ""
    if measure.n_ranks is None:
        notes.append(
            f"XGBoost cuts an nDCG without a cutoff at 32, so {_XGBOOST_LONGEST} is written, which "
            "covers every group. Training compares the 32 best-ranked documents with the others; "
            "lambdarank_num_pair_per_sample changes that."
        )
    else:
        pairs = (
            '    "lambdarank_pair_method": "topk",\n'
            f'    "lambdarank_num_pair_per_sample": {measure.n_ranks},\n'
        )
    if any(gain % 1 for gain in measure.gains):
        notes.append("XGBoost before 3.1 refuses labels that are not whole.")
    text = (
        f"# {measure}\nPARAMS = {{\n"
        '    "objective": "rank:ndcg",\n    "ndcg_exp_gain": False,\n'
        f'    "eval_metric": "ndcg@{measure.n_ranks or _XGBOOST_LONGEST}-",\n{pairs}}}\n'
        f"LABELS = {gains_by_label(measure)!r}  # the label of each grade is its gain\n"
    )
    return Export(
        text,
        (
            *notes,
            "XGBoost stores labels as 32-bit floats: values differ from the 7th digit on.",
            "The minus in the metric's name makes a query without gains count 0.",
            "Documents with equal scores keep the order of the file.",
        ),
    )
