"""Values that options can take.

They repeat what the library accepts, so that help and completion need not load it; a test
compares the two.
"""

from __future__ import annotations

from typing import Literal

CompareChoice = Literal["baseline", "all"]
CorrectChoice = Literal["measure", "all", "none"]
EncodingChoice = Literal["grades", "documents"]
ExportTarget = Literal[
    "trec_eval",
    "ir_measures",
    "pyterrier",
    "ranx",
    "scikit-learn",
    "lightgbm",
    "xgboost",
    "torch",
    "pandas",
    "json",
]
LikeChoice = Literal["trec_eval", "ir_measures", "ranx", "sklearn", "gdeval"]
MarginChoice = Literal["unit", "hamming"]
MissingChoice = Literal["0", "out"]
PoolChoice = Literal["all", "own"]
SolverChoice = Literal["auto", "newton", "osqp", "clarabel"]
TestChoice = Literal["randomisation", "t", "none"]
TiesChoice = Literal["docid", "mean", "input"]
UnjudgedChoice = Literal["nothing", "worst", "removed", "bounds"]
UseChoice = Literal["dcg", "utility"]
WithinChoice = Literal["query", "judge", "all"]
JudgeTarget = Literal["page", "label-studio"]
WorthlessChoice = Literal["0", "1", "out"]
