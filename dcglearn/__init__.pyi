"""The public names, with their types; ``__init__.py`` loads each when it is first used."""

# Measures
from .measures.dcg import DCG as DCG
from .measures.utility import LinearUtility as LinearUtility
from .measures.measure import Measure as Measure
from .measures.scale import Scale as Scale
from .measures.scale import Label as Label
from .measures.presets import preset as preset
from .measures.presets import usual_presets as usual_presets
from .measures.agreement import agreement as agreement
from .measures.measure import MeasureFile as MeasureFile
from .measures.measure import read_measure as read_measure
from .measures.measure import write_measure as write_measure
from .measures.names import NamedMeasure as NamedMeasure
from .measures.names import measure_for as measure_for
from .measures.names import measure_for_documents as measure_for_documents

# Judgments
from .judgments.preferences import Preferences as Preferences
from .judgments.read import read_preferences as read_preferences
from .judgments.read import read_groups as read_groups
from .judgments.writing import write_preferences as write_preferences
from .judgments.reading.documents import DocumentGrades as DocumentGrades
from .judgments.preferences import query_folds as query_folds
from .judgments.ratings import Ratings as Ratings
from .judgments.ratings import read_ratings as read_ratings
from .judgments.ratings import RatingPairs as RatingPairs
from .judgments.ratings import pairs_from_ratings as pairs_from_ratings
from .judgments.inspection import Summary as Summary
from .judgments.inspection import Inspection as Inspection
from .judgments.inspection import inspect_judgments as inspect_judgments
from .judgments.packed import PackedPairs as PackedPairs
from .judgments.packed import packed_writer as packed_writer

# Asking
from .asking.candidates import Candidates as Candidates
from .asking.candidates import candidates_of_questions as candidates_of_questions
from .asking.candidates import candidates_of_runs as candidates_of_runs
from .asking.candidates import made_candidates as made_candidates
from .asking.plan import Plan as Plan
from .asking.plan import plan as plan
from .asking.questions import PairQuestion as PairQuestion
from .asking.questions import read_questions as read_questions
from .asking.questions import write_questions as write_questions

# Learning
from .learning.learner import DCGLearner as DCGLearner
from .learning.problem import Parameters as Parameters
from .learning.solve import Fit as Fit
from .learning.solve import fit as fit
from .inference.compare import MeasureComparison as MeasureComparison
from .inference.compare import compare as compare
from .learning.record import ParameterIntervals as ParameterIntervals
from .learning.resample import parameter_intervals as parameter_intervals
from .learning.record import ChosenC as ChosenC
from .learning.resample import choose_C as choose_C
from .learning.record import Identifiability as Identifiability
from .learning.identify import identify as identify
from .inference.fit_file import fit_file as fit_file
from .inference.fit_file import learned_measure as learned_measure
from .learning.problem import Problem as Problem
from .learning.solve import Solution as Solution
from .learning.solve import solve as solve
from .learning.record import Certificate as Certificate
from .learning.identify import GramMatrices as GramMatrices

# Certainty
from .inference.usual import LearnedDCG as LearnedDCG
from .inference.usual import learn_dcg as learn_dcg
from .inference.estimate import JudgmentModel as JudgmentModel
from .inference.estimate import JudgmentFit as JudgmentFit
from .learning.record import Estimated as Estimated
from .inference.tests import LikelihoodRatio as LikelihoodRatio
from .inference.tests import likelihood_ratio as likelihood_ratio
from .inference.questions import Question as Question
from .inference.questions import ask as ask
from .inference.questions import usual_questions as usual_questions
from .inference.fit_file import Certainty as Certainty
from .inference.fit_file import certainty_of as certainty_of
from .inference.segments import SegmentComparison as SegmentComparison
from .inference.segments import Segments as Segments
from .inference.segments import compare_segments as compare_segments
from .inference.calibration import ReliabilityGroup as ReliabilityGroup
from .inference.calibration import HeldOut as HeldOut
from .inference.calibration import held_out as held_out
from .inference.tests import LinkTest as LinkTest
from .inference.tests import link_test as link_test
from .report.study.facts import Study as Study
from .report.study.facts import study_judgments as study_judgments
from .report.study.page import write_study as write_study

# Systems
from .collections.runs import Qrels as Qrels
from .collections.runs import Run as Run
from .collections.runs import read_qrels as read_qrels
from .collections.runs import read_run as read_run
from .collections.runs import qrels_of as qrels_of
from .collections.runs import run_of as run_of
from .collections.runs import IndexedQrels as IndexedQrels
from .collections.runs import index_qrels as index_qrels
from .systems.ranked import LIKE as LIKE
from .systems.ranked import Rules as Rules
from .measures.other_measures import ERR as ERR
from .measures.other_measures import RBP as RBP
from .systems.evaluate import Evaluation as Evaluation
from .systems.evaluate import evaluate as evaluate
from .report.systems.evaluations import write_evaluation as write_evaluation
from .systems.compare_systems import SystemComparison as SystemComparison
from .systems.compare_systems import compare_systems as compare_systems
from .systems.paired_tests import queries_needed as queries_needed
from .systems.compare_systems import OrderingComparison as OrderingComparison
from .systems.compare_systems import compare_orderings as compare_orderings
from .systems.conclusions import SystemPair as SystemPair
from .systems.conclusions import system_pairs as system_pairs
from .systems.conclusions import coherence_rules as coherence_rules
from .systems.conclusions import SystemConclusions as SystemConclusions
from .systems.conclusions import system_conclusions as system_conclusions
from .systems.supported import Supported as Supported
from .systems.supported import supported_systems as supported_systems
from .systems.conclusions import PairConclusion as PairConclusion
from .systems.ranked import ranked_arrays as ranked_arrays
from .systems.ranked import Ranked as Ranked
from .systems.scoring import score_runs as score_runs
from .systems.beta_gamma import Threshold as Threshold
from .systems.beta_gamma import beta_gamma_threshold as beta_gamma_threshold

# What holds whatever the parameters
from .coherence.verdict import advantage as advantage
from .coherence.verdict import Verdict as Verdict
from .coherence.verdict import verdict as verdict
from .coherence.verdict import smallest_change_of_gains as smallest_change_of_gains
from .coherence.verdict import smallest_change_of_discounts as smallest_change_of_discounts
from .coherence.mean_ndcg import MeanVerdict as MeanVerdict
from .coherence.mean_ndcg import mean_verdict as mean_verdict
from .coherence.explain import Explanation as Explanation
from .coherence.explain import explain as explain

# How alike two orders are
from .correlation.tau import kendall_tau as kendall_tau
from .correlation.tau import tau_ap as tau_ap
from .correlation.edrc import edrc as edrc
from .correlation.linear_ndcg import linear_ndcg as linear_ndcg
from .correlation.linear_ndcg import pairwise_loss as pairwise_loss

# Other tools
from .interop.export import export as export
from .interop.metrics import ir_measure as ir_measure
from .interop.metrics import sklearn_metric as sklearn_metric
from .interop.metrics import lambdarank_objective as lambdarank_objective
from .interop.metrics import ranking_metric as ranking_metric

# Simulation
from .lab.simulation.truths import named_truth as named_truth
from .lab.simulation.judges import drawn_lists as drawn_lists
from .lab.simulation.judges import permuted_lists as permuted_lists
from .lab.simulation.judges import side_by_side as side_by_side
from .lab.simulation.judges import true_pairs as true_pairs
from .lab.simulation.truths import similarity as similarity
from .lab.simulation.truths import identifiable_similarity as identifiable_similarity

# Experiments
from .lab.experiment import experiment as experiment
from .lab.experiment import Lab as Lab

# Errors and version
from .base.errors import InputError as InputError
from .base.errors import InputWarning as InputWarning
from .base.errors import SolverError as SolverError
from .base.version import __version__ as __version__

__all__ = [
    "DCG",
    "LinearUtility",
    "Measure",
    "Scale",
    "Label",
    "preset",
    "usual_presets",
    "agreement",
    "MeasureFile",
    "read_measure",
    "write_measure",
    "NamedMeasure",
    "measure_for",
    "measure_for_documents",
    "Preferences",
    "query_folds",
    "read_preferences",
    "read_groups",
    "write_preferences",
    "DocumentGrades",
    "Ratings",
    "read_ratings",
    "RatingPairs",
    "pairs_from_ratings",
    "Summary",
    "Inspection",
    "inspect_judgments",
    "PackedPairs",
    "packed_writer",
    "DCGLearner",
    "Parameters",
    "Fit",
    "fit",
    "fit_file",
    "MeasureComparison",
    "compare",
    "ParameterIntervals",
    "parameter_intervals",
    "ChosenC",
    "choose_C",
    "Identifiability",
    "identify",
    "learned_measure",
    "Problem",
    "Solution",
    "solve",
    "Certificate",
    "GramMatrices",
    "JudgmentModel",
    "LearnedDCG",
    "learn_dcg",
    "JudgmentFit",
    "Estimated",
    "LikelihoodRatio",
    "likelihood_ratio",
    "Question",
    "ask",
    "usual_questions",
    "Certainty",
    "certainty_of",
    "SegmentComparison",
    "Segments",
    "compare_segments",
    "ReliabilityGroup",
    "HeldOut",
    "held_out",
    "LinkTest",
    "link_test",
    "Study",
    "study_judgments",
    "write_study",
    "Qrels",
    "Run",
    "read_qrels",
    "read_run",
    "qrels_of",
    "run_of",
    "IndexedQrels",
    "index_qrels",
    "LIKE",
    "Rules",
    "ERR",
    "RBP",
    "Evaluation",
    "evaluate",
    "write_evaluation",
    "SystemComparison",
    "compare_systems",
    "queries_needed",
    "OrderingComparison",
    "compare_orderings",
    "SystemPair",
    "system_pairs",
    "coherence_rules",
    "SystemConclusions",
    "system_conclusions",
    "Supported",
    "supported_systems",
    "Candidates",
    "candidates_of_questions",
    "candidates_of_runs",
    "made_candidates",
    "Plan",
    "plan",
    "PairQuestion",
    "read_questions",
    "write_questions",
    "PairConclusion",
    "ranked_arrays",
    "Ranked",
    "score_runs",
    "Threshold",
    "beta_gamma_threshold",
    "advantage",
    "Verdict",
    "verdict",
    "smallest_change_of_gains",
    "smallest_change_of_discounts",
    "MeanVerdict",
    "mean_verdict",
    "Explanation",
    "explain",
    "kendall_tau",
    "tau_ap",
    "edrc",
    "linear_ndcg",
    "pairwise_loss",
    "export",
    "ir_measure",
    "sklearn_metric",
    "lambdarank_objective",
    "ranking_metric",
    "named_truth",
    "drawn_lists",
    "permuted_lists",
    "side_by_side",
    "true_pairs",
    "similarity",
    "identifiable_similarity",
    "experiment",
    "Lab",
    "InputError",
    "InputWarning",
    "SolverError",
    "__version__",
]
