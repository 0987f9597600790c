"""What other tools compute under the names of measures, and what computes the same here.

Read in the tools' sources, and tested on the tools.
"""

from __future__ import annotations

from typing import NamedTuple


class ToolMeasure(NamedTuple):
    """A measure as its tool names it, and what ``-m`` and which options reproduce it."""

    tool: str
    theirs: str
    ours: str
    options: str


TOOL_MEASURES = (
    ToolMeasure("trec_eval", "ndcg_cut.10", "ndcg_cut.10", "--like trec_eval"),
    ToolMeasure("trec_eval", "ndcg", "ndcg", "--like trec_eval"),
    ToolMeasure("trec_eval", "ndcg.1=3,2=7", "nDCG({2: 7, 1: 3, 0: 0}, log2)", "--like trec_eval"),
    ToolMeasure("trec_eval", "map", "map", "--like trec_eval"),
    ToolMeasure("trec_eval", "P_10", "P_10", "--like trec_eval"),
    ToolMeasure("ir_measures", "RR(rel=2)", "RR(rel=2)", "--like ir_measures"),
    ToolMeasure("ir_measures", "nDCG@10", "nDCG@10", "--like ir_measures"),
    ToolMeasure(
        "ir_measures",
        "nDCG(gains={0:0,1:3,2:7})@10",
        "nDCG({2: 7, 1: 3, 0: 0}, log2) @ 10",
        "--like ir_measures",
    ),
    ToolMeasure(
        "ir_measures",
        "nDCG(dcg='exp-log2')@10",
        "nDCG(dcg='exp-log2')@10",
        "--like gdeval --worthless 0 --missing 0",
    ),
    ToolMeasure("gdeval", "ndcg@10", "nDCG(exponential-log2) @ 10", "--like gdeval"),
    ToolMeasure("gdeval", "err@20", "ERR@20", "--like gdeval"),
    ToolMeasure("ranx", "ndcg@10", "ndcg@10", "--like ranx"),
    ToolMeasure("ranx", "ndcg_burges@10", "ndcg_burges@10", "--like ranx"),
    ToolMeasure("ranx", "dcg@10", "dcg@10", "--like ranx"),
    ToolMeasure("ranx", "dcg_burges@10", "dcg_burges@10", "--like ranx"),
    ToolMeasure("scikit-learn", "ndcg_score, k=10", "nDCG@10", "--like sklearn"),
    ToolMeasure("scikit-learn", "dcg_score, k=10", "dcg@10", "--like sklearn"),
    ToolMeasure(
        "LightGBM", "ndcg, eval_at=10", "nDCG(exponential-log2) @ 10", "--ties input --worthless 1"
    ),
    ToolMeasure("XGBoost", "ndcg@10", "nDCG(exponential-log2) @ 10", "--ties input --worthless 1"),
    ToolMeasure("XGBoost", "ndcg@10-", "nDCG(exponential-log2) @ 10", "--ties input"),
)
