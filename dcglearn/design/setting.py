"""The setting of a cell: truth, lists, judge, learner, test.

Truth, lists, judge, margin and learner are names of a registry (:mod:`dcglearn.axes.registry`):
those below, or functions of one's own (:mod:`dcglearn.axes.decorators`).

The defaults are those of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6): 200 pairs of
permutations of [5,5,4,4,3,3,2,2,1,1], an exact judge, and the quadratic program of eq. 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from dcglearn.axes.registry import (
    CALIBRATED,
    JUDGMENT_MODEL,
    SHIPPED,
    STUDY,
    USUAL,
    Entry,
    Registry,
)
from dcglearn.base.errors import InputError, unknown_name
from dcglearn.inference.families import FREE_FAMILY
from dcglearn.learning.solve import C_GRID
from dcglearn.naming.presets import preset
from dcglearn.simulation.designs import DESIGNS
from dcglearn.simulation.truths import grade_scale

LISTS = SHIPPED.names("lists")
"""Names of the list generators of this package (see :mod:`dcglearn.design.sampling`)."""

LEARNERS = SHIPPED.names("learner")
"""What is tested: the W of the quadratic program, the DCG factorised from it, the DCG that starts
from the usual measures, or the intervals and tests of a model of the judgment
(:mod:`dcglearn.trials.certainty_cells`)."""

PROGRAMS = ("qp", "qp-dcg")
"""The learners that solve the quadratic program."""

SAME = "same"
"""The value of ``test_lists`` for test pairs made like the training pairs."""

MAX_PAIRS = 1_000_000
_MAX_LOG_ODDS = 100.0


class Setting(BaseModel):
    """Everything that changes the result of a cell, except the seed and the repetition.

    Attributes
    ----------
    truth : str
        The measure by which lists are better: ``data-1``, ``data-2``, ``free``, a preset, a
        measure file, a measure in full, or one's own.
    lists : str
        The generator of the pairs of lists, by name. This package has :data:`LISTS`.
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
        For lists of ``queries``: a LETOR / SVMlight file. In a cell it is the hash of its table
        of grade counts, or the table itself while the cell is computed.
    pairs : int
        The number of strict preferences to learn from.
    judge : str
        The judge, by name: ``calibrated`` is described by `reliability` and `bias`.
    flips : int
        How many preferences are reversed.
    wrong_grades : int
        How many grades are replaced by others, after the preferences are given.
    reliability : float
        The share of pairs that the judge orders as the truth does, above .5 and at most 1,
        before the bias, which lowers it.
    bias : float
        What being shown first is worth to the judge, in standard deviations of the true
        differences. Which list of a pair is shown first is random.
    learner : str
        The learner, by name. This package has :data:`LEARNERS`.
    margin : str
        By how much the preferred list should win, by name: ``unit``, ``hamming``, or one's own.
    C : float, "validation" or "cv"
        The cost of a violated margin: a number, ``validation`` or ``cv``. ``validation`` takes the
        value of `C_grid` that agrees best with `validation_pairs` independent pairs without
        errors, ``cv`` the one that five folds of the training pairs choose, as
        :func:`dcglearn.learning.resample.choose_C` does for a user, who has no such pairs.
    C_grid : list of float
        The values among which ``validation`` and ``cv`` choose.
    validation_pairs : int
        The number of independent pairs without errors for ``validation``.
    test_pairs : int
        The number of pairs without errors on which what was learned is tested.
    test_lists : str
        The generator of the test lists, by name, or ``same``.
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
        The families of the model, such as ``free``, ``linear``, ``log2``.
    hypotheses : list of str
        What is tested, such as ``linear-free in free-free``: gains and discounts of the smaller
        and of the larger model, or ``positions`` for gains of each rank.
    design : str
        For ``study``: the kind of study, one of :data:`dcglearn.simulation.designs.DESIGNS`.
    options : dict
        Options of functions of one's own, by name: ``[setting.options]``.
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
    judge: str = CALIBRATED
    flips: int = 0
    wrong_grades: int = 0
    reliability: float = 1.0
    bias: float = 0.0
    learner: str = "qp"
    margin: str = "unit"
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
    design: str = "even"
    options: dict[str, Any] = {}

    @property
    def n_ranks(self) -> int:
        """The number of ranks, K."""
        return len(self.base) if self.ranks is None else self.ranks

    @property
    def documents(self) -> bool:
        """Whether documents without grades are ranked."""
        return self.lists == "documents"


def check_setting(setting: Setting, registry: Registry = SHIPPED) -> None:
    """Refuse a setting with values that do not make sense, alone or together.

    Parameters
    ----------
    setting : Setting
    registry : Registry, default that of this package
        What names mean.

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
    _check_lists(setting)
    _check_names(setting, registry)
    for check in (_check_sizes, _check_noise, _check_learner, _check_model):
        check(setting)


def own_functions_used(
    setting: Setting, registry: Registry, columns: Sequence[str] = ()
) -> list[Entry]:
    """Return the functions of one's own that the cells of a setting use.

    Parameters
    ----------
    setting : Setting
    registry : Registry
    columns : sequence of str
        The results that are asked for.

    Returns
    -------
    list of Entry
    """
    found = dict.fromkeys(_names_used(setting, columns))
    entries = (registry.get(axis, name) for axis, name in found)
    return [entry for entry in entries if entry is not None and entry.code is not None]


def _names_used(setting: Setting, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    if setting.learner == STUDY:
        return
    yield from (("truth", setting.truth), ("lists", setting.lists))
    if setting.learner == JUDGMENT_MODEL:
        return
    yield from (("lists", setting.test_lists), ("judge", setting.judge))
    yield ("learner", setting.learner)
    if setting.learner in PROGRAMS:
        yield ("margin", setting.margin)
    yield from (("result", column) for column in columns)


def unused_keys(
    setting: Setting, registry: Registry = SHIPPED, columns: Sequence[str] = ()
) -> dict[str, str]:
    """Return the keys that have no effect in a setting, and what would give them an effect.

    Parameters
    ----------
    setting : Setting
    registry : Registry, default that of this package
        What names mean.
    columns : sequence of str
        The results that are asked for; they may have options.

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
    program = f'learner = "{LEARNERS[0]}"'
    solves = setting.learner in PROGRAMS
    needs = {
        "probabilities": ("drawn" in lists, 'lists = "drawn"'),
        "queries": ("queries" in lists, 'lists = "queries"'),
        "C_grid": (isinstance(setting.C, str), 'C = "validation"'),
        "validation_pairs": (setting.C == "validation", 'C = "validation"'),
        **dict.fromkeys(_OF_LEARNED, (not models, program)),
        **dict.fromkeys(_OF_JUDGE, (setting.judge == CALIBRATED, f'judge = "{CALIBRATED}"')),
        **dict.fromkeys(_OF_MODEL, (models, f'learner = "{JUDGMENT_MODEL}"')),
        "unseen": (models and setting.clusters > 0, "clusters above 0"),
    }
    if not solves:
        needs |= dict.fromkeys(_OF_QP, (False, program))
    if models:
        needs |= dict.fromkeys(_OF_JUDGE, (False, program))
    studies = setting.learner == STUDY
    if studies:
        others = Setting.model_fields.keys() - {"learner", "pairs", "design", "options"}
        needs |= dict.fromkeys(sorted(others), (False, program))
    needs["design"] = (studies, f'learner = "{STUDY}"')
    used = {o for one in own_functions_used(setting, registry, columns) for o in one.options}
    for option in setting.options:
        needs[f"options.{option}"] = (option in used, _with_option(option, registry))
    return {key: words for key, (met, words) in needs.items() if not met}


def _with_option(option: str, registry: Registry) -> str:
    """Return the entry of a config under which an option has an effect."""
    owners = (entry for entry in registry.entries if option in entry.options)
    owner = next(owners, None)
    if owner is None:
        return "an option of a function that is used"
    if owner.axis == "result":
        return f'COLUMNS = ("{owner.name}",) in the experiment file'
    return f'{owner.axis} = "{owner.name}"'


_OF_LEARNED = ("flips", "wrong_grades", "judge", "test_pairs", "test_lists", "against")
_OF_JUDGE = ("reliability", "bias")
_OF_QP = ("margin", "C", "C_grid", "validation_pairs")
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
"""Keys that have an effect for one kind of learner, or of judge, only."""


def _check_names(s: Setting, registry: Registry) -> None:
    registry.check("lists", s.lists, "lists")
    registry.check("lists", s.test_lists, "test_lists", (SAME,))
    for axis in ("judge", "margin", "learner"):
        registry.check(axis, getattr(s, axis), axis)
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
    if s.learner == STUDY and s.design not in DESIGNS:
        raise unknown_name("design", s.design, DESIGNS, "design")
    if s.documents and s.learner in (JUDGMENT_MODEL, USUAL):
        raise InputError("documents have no grades", "draw lists of grades", "lists")
    if s.learner != JUDGMENT_MODEL:
        return
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
