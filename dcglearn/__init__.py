"""dcglearn: learn the gains and discounts of DCG from preferences between rankings.

The names people use are here; each loads its module when it is first asked for.

>>> import dcglearn
>>> dcglearn.DCG([1, 0.5, 0], "log2") @ 10
DCG([1, 0.5, 0], log2) @ 10
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_HOME = {
    "Rules": "evaluation.rules",
    "edrc": "correlation.edrc",
    "evaluate": "evaluation.systems",
    "explain": "coherence.explain",
    "index_qrels": "evaluation.lookup",
    "kendall_tau": "correlation.tau",
    "measure_on": "measures.names",
    "qrels_of": "data.qrels_runs",
    "read_qrels": "data.qrels_runs",
    "read_run": "data.qrels_runs",
    "run_of": "data.qrels_runs",
    "tau_ap": "correlation.tau",
    "threshold": "evaluation.filtering",
    "verdict": "coherence.verdict",
    "DCG": "measures.dcg",
    "DCGLearner": "learning.learner",
    "InputError": "base.errors",
    "LinearUtility": "measures.utility",
    "MeasureFile": "measures.files",
    "Preferences": "data.preferences",
    "Scale": "measures.scale",
    "SolverError": "base.errors",
    "agreement": "measures.agreement",
    "compare": "learning.compare",
    "export": "interop.export",
    "identifiable_similarity": "lab.similarity",
    "ir_measure": "interop.metrics",
    "learned_measure": "learning.record",
    "measure_for": "measures.names",
    "preset": "measures.presets",
    "query_folds": "data.preferences",
    "read_measure": "measures.files",
    "read_preferences": "data.judgment_files",
    "similarity": "lab.similarity",
    "sklearn_metric": "interop.metrics",
    "summarise": "data.summary",
    "usual_presets": "measures.presets",
    "write_measure": "measures.files",
    "write_preferences": "data.judgment_files",
}

__all__ = [*sorted(_HOME), "__version__"]

try:
    __version__ = version("dcglearn")
except PackageNotFoundError:  # run from a folder that is not installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"dcglearn.{_HOME[name]}"), name)
    raise AttributeError(f"module 'dcglearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
