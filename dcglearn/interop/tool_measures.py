"""What other tools compute under the names of measures, and what computes the same here.

Read in the tools' sources, and tested on the tools.
"""

from typing import NamedTuple


class ToolMeasure(NamedTuple):
    """A measure as its tool names it, and what ``-m`` and which options reproduce it."""

    tool: str
    theirs: str
    ours: str
    options: str


_TABLE = """
trec_eval|ndcg_cut.10|ndcg_cut.10|--like trec_eval
trec_eval|ndcg|ndcg|--like trec_eval
trec_eval|ndcg.1=3,2=7|nDCG({2: 7, 1: 3, 0: 0}, log2)|--like trec_eval
trec_eval|map|map|--like trec_eval
trec_eval|P_10|P_10|--like trec_eval
ir_measures|RR(rel=2)|RR(rel=2)|--like ir_measures
ir_measures|nDCG@10|nDCG@10|--like ir_measures
ir_measures|nDCG(gains={0:0,1:3,2:7})@10|nDCG({2: 7, 1: 3, 0: 0}, log2) @ 10|--like ir_measures
ir_measures|nDCG(dcg='exp-log2')@10|nDCG(dcg='exp-log2')@10|--like gdeval --worthless 0 --missing 0
gdeval|ndcg@10|nDCG(exponential-log2) @ 10|--like gdeval
gdeval|err@20|ERR@20|--like gdeval
ranx|ndcg@10|ndcg@10|--like ranx
ranx|ndcg_burges@10|ndcg_burges@10|--like ranx
ranx|dcg@10|dcg@10|--like ranx
ranx|dcg_burges@10|dcg_burges@10|--like ranx
scikit-learn|ndcg_score, k=10|nDCG@10|--like sklearn
scikit-learn|dcg_score, k=10|dcg@10|--like sklearn
LightGBM|ndcg, eval_at=10|nDCG(exponential-log2) @ 10|--ties input --worthless 1
XGBoost|ndcg@10|nDCG(exponential-log2) @ 10|--ties input --worthless 1
XGBoost|ndcg@10-|nDCG(exponential-log2) @ 10|--ties input
"""

TOOL_MEASURES = tuple(ToolMeasure(*row.split("|")) for row in _TABLE.strip().splitlines())
