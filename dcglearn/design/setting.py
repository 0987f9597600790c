"""The setting of a cell: truth, lists, judge, learner, test.

The defaults are those of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6): 200 pairs of
permutations of [5,5,4,4,3,3,2,2,1,1], an exact judge, and the quadratic program of eq. 1.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import is_one_of, unknown_name
from dcglearn.families.vectors import FREE_FAMILY
from dcglearn.naming.presets import preset
from dcglearn.simulation.truths import grade_scale
from dcglearn.solver.c_path import C_GRID

LISTS = (
    "permutations",
    "drawn",
    "sorted-against-shuffled",
    "sorted-against-another",
    "documents",
    "queries",
)
"""Names of the list generators (see :mod:`dcglearn.design.sampling`)."""

JUDGMENT_MODEL = "judgment-model"

LEARNERS = ("qp", "qp-dcg", JUDGMENT_MODEL)
"""What is tested: the W of the quadratic program, the DCG factorised from it, or the intervals and
tests of a model of the judgment (:mod:`dcglearn.trials.certainty_cells`)."""

SAME = "same"
"""The value of ``test_lists`` for test pairs made like the training pairs."""

MAX_PAIRS = 1_000_000
_MAX_LOG_ODDS = 100.0


class Setting(BaseModel):
    """Everything that changes the result of a cell, except the seed and the repetition.

    Attributes
    ----------
    truth : str
        ``data-1``, ``data-2``, ``free``, a preset, a measure file, or a measure in full.
    lists : str
        The generator of the pairs of lists: one of :data:`LISTS`.
    base : list of int
        The list of grades that ``permutations``, ``sorted-against-shuffled`` and
        ``documents`` reorder; L is the best grade, 1 the worst.
    grades : int
        L, the number of grades.
    ranks : int, optional
        K, the number of ranks; by default the length of `base`. A smaller K truncates the
        reordered lists.
    probabilities : list of float, optional
        The probability of each grade, best first, for ``drawn``; uniform by default.
    queries : str or list of list of int, optional
        For ``queries``: a LETOR / SVMlight file in a config, the hash of its table of
        grade counts in a cell, or the table itself while the cell is computed.
    pairs : int
        The number of strict preferences to learn from.
    flips, wrong_grades : int
        How many preferences are reversed, and how many grades are then replaced.
    reliability : float
        The share of pairs that the judge orders as the truth does, above .5 and at most 1,
        before the bias, which lowers it.
    bias : float
        What being shown first is worth to the judge, in standard deviations of the true
        differences. Which list of a pair is shown first is random.
    learner : str
        One of :data:`LEARNERS`.
    margin : {"unit", "hamming"}
    C : float, "validation" or "cv"
        The cost of a violated margin; ``validation`` takes the value of `C_grid` that
        agrees best with `validation_pairs` independent pairs without errors, ``cv`` the one that
        five folds of the training pairs choose, as :func:`dcglearn.learning.choose_c.choose_C`
        does for a user, who has no pairs without errors.
    C_grid : list of float
    validation_pairs, test_pairs : int
    test_lists : str
        The generator of the test lists: one of :data:`LISTS`, or ``same``.
    against : list of str
        Presets whose precision is measured on the same test pairs.
    noise : {"logistic", "normal", "cauchy"}
        For ``judgment-model``, as all that follow: how answers depend on the difference. All
        noises are equally steep where the difference is 0.
    sensitivity : float
        The log odds that a judge prefers the best grade at rank 1 to the worst, lists being
        equal otherwise.
    lapses : float
        The share of answers given at random.
    ties : {"strict", "davidson"}
        Whether judges may answer that lists are equal, and the model says so too.
    clusters : int
        The number of queries, of uneven size; with 0, each judgment has a query of its own.
    unseen : float
        The standard deviation, in log odds, of what else than grades makes a list better;
        the same for all judgments of one pair of lists of a query.
    gains, discounts : str
        The families of the model.
    hypotheses : list of str
        What is tested, such as ``linear-free in free-free``: gains and discounts of the smaller
        and of the larger model, or ``positions`` for gains of each rank.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    truth: str = "data-1"
    lists: str = "permutations"
    base: list[int] = [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    grades: int = 5
    ranks: int | None = None
    probabilities: list[float] | None = None
    queries: str | list[list[int]] | None = None
    pairs: int = 200
    flips: int = 0
    wrong_grades: int = 0
    reliability: float = 1.0
    bias: float = 0.0
    learner: str = "qp"
    margin: Literal["unit", "hamming"] = "unit"
    C: float | Literal["validation", "cv"] = 1.0
    C_grid: list[float] = list(C_GRID)
    validation_pairs: int = 1000
    test_pairs: int = 5000
    test_lists: str = SAME
    against: list[str] = []
    noise: Literal["logistic", "normal", "cauchy"] = "logistic"
    sensitivity: float = 3.0
    lapses: float = 0.0
    ties: Literal["strict", "davidson"] = "strict"
    clusters: int = 0
    unseen: float = 0.0
    gains: str = FREE_FAMILY
    discounts: str = FREE_FAMILY
    hypotheses: list[str] = []

    @property
    def n_ranks(self) -> int:
        """The number of ranks, K."""
        return len(self.base) if self.ranks is None else self.ranks

    @property
    def documents(self) -> bool:
        """Whether documents without grades are ranked."""
        return self.lists == "documents"


def check_setting(setting: Setting) -> None:
    """Refuse a setting with values that do not make sense, alone or together.

    Parameters
    ----------
    setting : Setting

    Raises
    ------
    InputError
        The place is the key of the setting.

    Examples
    --------
    >>> check_setting(Setting(pairs=10, flips=11))
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: flips: 11 flips of 10 pairs; use 0 ... 10
    """
    checks = (_check_lists, _check_names, _check_sizes, _check_noise, _check_learner, _check_model)
    for check in checks:
        check(setting)


def unused_keys(setting: Setting) -> dict[str, str]:
    """Return the keys that have no effect in a setting, and what would give them an effect.

    Parameters
    ----------
    setting : Setting

    Returns
    -------
    dict from str to str
        For each key, the entry of a config under which it has an effect.

    Examples
    --------
    >>> list(unused_keys(Setting(C="validation")))[:2]
    ['probabilities', 'queries']
    """
    lists = {setting.lists, setting.test_lists}
    models = setting.learner == JUDGMENT_MODEL
    needs = {
        "probabilities": ("drawn" in lists, 'lists = "drawn"'),
        "queries": ("queries" in lists, 'lists = "queries"'),
        "C_grid": (isinstance(setting.C, str), 'C = "validation"'),
        "validation_pairs": (setting.C == "validation", 'C = "validation"'),
        **dict.fromkeys(_OF_QP, (not models, f'learner = "{LEARNERS[0]}"')),
        **dict.fromkeys(_OF_MODEL, (models, f'learner = "{JUDGMENT_MODEL}"')),
        "unseen": (models and setting.clusters > 0, "clusters above 0"),
    }
    if models:
        needs |= dict.fromkeys(
            ("C_grid", "validation_pairs"), (False, f'learner = "{LEARNERS[0]}"')
        )
    return {key: words for key, (met, words) in needs.items() if not met}


_OF_QP = (
    "flips",
    "wrong_grades",
    "reliability",
    "bias",
    "margin",
    "C",
    "test_pairs",
    "test_lists",
    "against",
)
_OF_MODEL = (
    "noise",
    "sensitivity",
    "lapses",
    "ties",
    "clusters",
    "gains",
    "discounts",
    "hypotheses",
)
"""Keys that have an effect for one kind of learner only."""


def _check_names(s: Setting) -> None:
    if not is_one_of(s.lists, LISTS):
        raise unknown_name("list generator", s.lists, LISTS, "lists")
    if not is_one_of(s.test_lists, (SAME, *LISTS)):
        raise unknown_name("list generator", s.test_lists, (SAME, *LISTS), "test_lists")
    if not is_one_of(s.learner, LEARNERS):
        raise unknown_name("learner", s.learner, LEARNERS, "learner")
    for name in s.against:
        try:
            preset(name, grade_scale(max(s.grades, 1)), max(s.n_ranks, 1))
        except InputError as error:
            raise error.at("against") from error
    if s.documents and s.against:
        raise InputError("presets need grades, and documents have none", "remove it", "against")


def _check_sizes(s: Setting) -> None:
    _within("grades", s.grades, 2, 100)
    for key, least in (("pairs", 1), ("validation_pairs", 1), ("test_pairs", 1)):
        _within(key, getattr(s, key), least, MAX_PAIRS)
    _within("ranks", s.n_ranks, 1, 1000)
    if s.documents and s.n_ranks > 127:
        raise InputError(f"{s.n_ranks} documents", "use up to 127", "ranks")


def _check_lists(s: Setting) -> None:
    wrong = [grade for grade in s.base if not 1 <= grade <= s.grades]
    if wrong or not s.base:
        problem = f"{wrong[0]} is not a grade" if wrong else "an empty list"
        raise InputError(problem, f"use grades from 1 to {s.grades}, the best", "base")
    reordering = {"permutations", "sorted-against-shuffled", "documents"}
    if {s.lists, s.test_lists} & reordering and s.n_ranks > len(s.base):
        raise InputError(
            f"K = {s.n_ranks} is larger than the base list of {len(s.base)}",
            "lengthen base, or lower ranks",
            "ranks",
        )
    if s.documents and s.n_ranks != len(s.base):
        raise InputError("all documents are ranked", "remove it", "ranks")
    if s.documents != (s.test_lists == "documents") and s.test_lists != SAME:
        raise InputError(
            f"{s.test_lists!r} lists cannot test what is learned from {s.lists!r} lists",
            "test documents on documents, and grades on grades",
            "test_lists",
        )
    if s.probabilities is not None and (
        len(s.probabilities) != s.grades
        or min(s.probabilities) < 0
        or not abs(sum(s.probabilities) - 1) <= 1e-9
    ):
        raise InputError(
            f"{s.probabilities}", f"give {s.grades} numbers that add up to 1", "probabilities"
        )
    if "queries" in (s.lists, s.test_lists) and not s.queries:
        raise InputError('lists = "queries" needs a file', "name a LETOR file", "queries")


def _check_noise(s: Setting) -> None:
    _within("flips", s.flips, 0, s.pairs, f"{s.flips} flips of {s.pairs} pairs")
    n_grades = 2 * s.pairs * s.n_ranks
    _within("wrong_grades", s.wrong_grades, 0, n_grades, f"{s.wrong_grades} of {n_grades} grades")
    if s.documents and s.wrong_grades:
        raise InputError("documents have no grades", "remove it", "wrong_grades")
    if not 0.5 < s.reliability <= 1:
        raise InputError(f"{s.reliability}", "use a number above .5, at most 1", "reliability")
    if not -100 <= s.bias <= 100:
        raise InputError(f"{s.bias}", "use -100 ... 100 standard deviations", "bias")


def _check_learner(s: Setting) -> None:
    for key, values in (("C", [] if isinstance(s.C, str) else [s.C]), ("C_grid", s.C_grid)):
        for C in values:
            if not (isinstance(C, float) and 0 < C < float("inf")):
                raise InputError(f"{C}", "use a finite number above 0", key)
    if not s.C_grid:
        raise InputError("an empty list", "give at least one value", "C_grid")
    if s.C == "cv" and s.pairs < 2:
        raise InputError("one pair cannot be divided into folds", "give C a value", "C")


def _check_model(s: Setting) -> None:
    if s.learner != JUDGMENT_MODEL:
        return
    if s.documents:
        raise InputError("documents have no grades", "draw lists of grades", "lists")
    if not 0 < s.sensitivity <= _MAX_LOG_ODDS:
        raise InputError(
            f"{s.sensitivity}", f"use log odds above 0, at most {_MAX_LOG_ODDS:g}", "sensitivity"
        )
    if not 0 <= s.lapses < 1:
        raise InputError(f"{s.lapses}", "use a share from 0 to below 1", "lapses")
    if not 0 <= s.unseen <= _MAX_LOG_ODDS:
        raise InputError(f"{s.unseen}", f"use log odds from 0 to {_MAX_LOG_ODDS:g}", "unseen")
    if s.ties != "strict" and s.noise != "logistic":
        raise InputError("ties are drawn with logistic noise", "leave one of them out", "ties")
    _within("clusters", s.clusters, 0, MAX_PAIRS)


def _within(key: str, value: int, low: int, high: int, problem: str = "") -> None:
    if not low <= value <= high:
        raise InputError(problem or f"{value}", f"use {low} ... {high}", key)
