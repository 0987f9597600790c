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
    "Rules": "study.systems",
    "edrc": "measures.edrc",
    "evaluate": "study.systems",
    "explain": "measures.explain",
    "graded": "data.graded",
    "kendall_tau": "measures.correlation",
    "measure_on": "measures.naming",
    "qrels_of": "data.trec",
    "read_qrels": "data.trec",
    "read_run": "data.trec",
    "run_of": "data.trec",
    "tau_ap": "measures.correlation",
    "threshold": "measures.threshold",
    "verdict": "measures.coherence",
    "DCG": "measures.dcg",
    "DCGLearner": "learning.learner",
    "InputError": "base.errors",
    "LinearUtility": "measures.utility",
    "MeasureFile": "measures.files",
    "Preferences": "data.preferences",
    "Scale": "measures.scale",
    "SolverError": "base.errors",
    "agreement": "measures.agreement",
    "compare": "study.compare",
    "export": "measures.export",
    "identifiable_similarity": "study.evaluate",
    "ir_measure": "measures.handover",
    "learned_measure": "learning.learned",
    "measure_for": "measures.naming",
    "preset": "measures.presets",
    "query_folds": "data.preferences",
    "read_measure": "measures.files",
    "read_preferences": "data.tables",
    "similarity": "study.evaluate",
    "sklearn_metric": "measures.handover",
    "summarise": "data.summary",
    "usual_presets": "measures.presets",
    "write_measure": "measures.files",
    "write_preferences": "data.tables",
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
