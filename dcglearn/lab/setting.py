"""The setting of a cell: truth, lists, judge, learner, test.

Truth, lists, judge, margin and learner are names of a registry (:mod:`dcglearn.lab.registry`):
those of this package, or functions of one's own (:mod:`dcglearn.lab.decorators`).

The defaults are those of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6): 200 pairs of
permutations of [5,5,4,4,3,3,2,2,1,1], an exact judge, and the quadratic program of eq. 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.inference.families import FREE_FAMILY
from dcglearn.lab.own_code import Code
from dcglearn.lab.registry import (
    CALIBRATED,
    JUDGMENT_MODEL,
    RANDOM,
    SHIPPED,
    STUDY,
    USUAL,
    Registry,
)
from dcglearn.lab.simulation.designs import DESIGNS
from dcglearn.lab.simulation.truths import grade_scale, named_truth
from dcglearn.learning.solve import C_GRID
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import preset

PROGRAMS = ("qp", "qp-dcg")
"""The learners that solve the quadratic program."""

SAME = "same"
"""The value of ``test_lists`` for test pairs made like the training pairs."""

MAX_PAIRS = 1_000_000

M = TypeVar("M", bound=BaseModel)

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=1, le=MAX_PAIRS)]


class Setting(BaseModel):
    """Everything that changes the result of a cell, except the seed and the repetition."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    truth: str = Field(
        "data-1",
        description="the measure by which lists are better: data-1, data-2, free, a preset, a "
        "measure file, a measure in full, or one's own",
    )
    lists: str = Field("permutations", description="the generator of the pairs of lists, by name")
    base: list[int] = Field(
        [5, 5, 4, 4, 3, 3, 2, 2, 1, 1],
        min_length=1,
        max_length=1000,
        description="the list of grades that permutations, sorted-against-shuffled and documents "
        "reorder; L is the best grade, 1 the worst",
    )
    grades: int = Field(5, ge=2, le=100, description="L, the number of grades")
    ranks: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="K, the number of ranks; by default the length of base; a smaller K truncates "
        "the reordered lists",
    )
    probabilities: list[Annotated[float, Field(ge=0)]] | None = Field(
        None,
        description="for drawn lists: the probability of each grade, best first; uniform by "
        "default",
    )
    queries: str | list[list[int]] | None = Field(
        None, description='for lists = "queries": the name of a LETOR / SVMlight file'
    )
    pairs: _Count = Field(200, description="how many strict preferences are learned from")
    judge: str = Field(
        CALIBRATED,
        description="the judge, by name; calibrated is described by reliability and bias",
    )
    policy: str = Field(
        RANDOM, description="which pairs are judged: as they are drawn, or chosen in rounds"
    )
    pool: _Count = Field(1000, description="how many pairs there are to choose from")
    flips: int = Field(0, ge=0, description="how many preferences are reversed")
    wrong_grades: int = Field(
        0, ge=0, description="how many grades are replaced, after the preferences are given"
    )
    reliability: float = Field(
        1.0,
        gt=0.5,
        le=1,
        description="the share of pairs that the judge orders as the truth does, before the bias, "
        "which lowers it",
    )
    bias: float = Field(
        0.0,
        ge=-100,
        le=100,
        description="what being shown first is worth to the judge, in standard deviations of the "
        "true differences; which list is shown first is random",
    )
    learner: str = Field("qp", description="the learner, by name")
    margin: str = Field(
        "unit", description="by how much the preferred list should win: unit, hamming, or one's own"
    )
    C: _Positive | Literal["validation", "cv"] = Field(
        1.0,
        description="the cost of a violated margin: a number; validation, the value of C_grid that "
        "agrees best with independent exact pairs; or cv, the one that five folds choose",
    )
    C_grid: list[_Positive] = Field(
        list(C_GRID), min_length=1, description="the values among which validation and cv choose"
    )
    validation_pairs: _Count = Field(
        1000, description="how many independent exact pairs validation uses"
    )
    test_pairs: _Count = Field(5000, description="how many exact pairs test what was learned")
    test_lists: str = Field(SAME, description="the generator of the test lists, by name, or same")
    against: list[str] = Field(
        [], description="presets whose precision is measured on the same test pairs"
    )
    noise: Literal["logistic", "normal", "cauchy"] = Field(
        "logistic",
        description="for judgment-model, as all that follow: how answers depend on the difference",
    )
    sensitivity: float = Field(
        3.0,
        gt=0,
        le=100,
        description="the log odds that a judge prefers the best grade at rank 1 to the worst",
    )
    lapses: float = Field(0.0, ge=0, lt=1, description="the share of answers given at random")
    ties: Literal["strict", "davidson"] = Field(
        "strict", description="whether judges may answer that lists are equal"
    )
    clusters: int = Field(
        0,
        ge=0,
        le=MAX_PAIRS,
        description="the number of queries, of uneven size; with 0 each judgment has its own",
    )
    unseen: float = Field(
        0.0,
        ge=0,
        le=100,
        description="the standard deviation, in log odds, of what else than grades makes a list "
        "better; the same for all judgments of one pair of lists of a query",
    )
    gains: str = Field(FREE_FAMILY, description="the family of gains, such as free or linear")
    discounts: str = Field(FREE_FAMILY, description="the family of discounts, such as log2")
    hypotheses: list[str] = Field(
        [],
        description="what is tested, such as linear-free in free-free: the smaller and the larger "
        "model; or positions, for gains of each rank",
    )
    design: str = Field("even", description="for study: the kind of study")
    options: dict[str, Any] = Field(
        {}, description="options of functions of one's own, by name: [setting.options]"
    )

    @property
    def n_ranks(self) -> int:
        """The number of ranks, K."""
        return len(self.base) if self.ranks is None else self.ranks

    @property
    def documents(self) -> bool:
        """Whether documents without grades are ranked."""
        return self.lists == "documents"

    @property
    def n_columns(self) -> int:
        """The number of columns of W: grades, or documents."""
        return self.n_ranks if self.documents else self.grades

    @property
    def lists_to_test_on(self) -> str:
        """The generator of the test lists."""
        return self.lists if self.test_lists == SAME else self.test_lists

    def true_measure(self, rng: np.random.Generator | None = None) -> Measure:
        """Return the truth, if it is one of this package; without a generator, any of its kind."""
        return named_truth(self.truth, self.n_ranks, self.grades, rng or np.random.default_rng(0))


def own_functions_used(
    setting: Setting, registry: Registry, columns: Sequence[str] = ()
) -> list[Code]:
    """Return the functions of one's own that the cells of a setting use."""
    axes = ["truth", "lists", "test_lists", "judge", "policy", "learner"]
    if setting.learner in PROGRAMS:
        axes.append("margin")
    if setting.learner in (STUDY, JUDGMENT_MODEL):
        axes, columns = [] if setting.learner == STUDY else axes[:2], ()
    named = [(axis.removeprefix("test_"), getattr(setting, axis)) for axis in axes]
    named += [("result", column) for column in columns]
    found = (registry.code(*one) for one in dict.fromkeys(named))
    return [code for code in found if code is not None]


_OF_LEARNED = "policy flips wrong_grades judge test_pairs test_lists against reliability bias"
_OF_MODEL = "noise sensitivity lapses ties clusters gains discounts hypotheses unseen"
_OF_STUDY = {"learner", "pairs", "design", "options"}
"""Keys that have an effect for one kind of learner only."""


def unused_keys(
    setting: Setting, registry: Registry = SHIPPED, columns: Sequence[str] = ()
) -> dict[str, str]:
    """Return the keys that have no effect in a setting, and what would give them an effect."""
    lists = {setting.lists, setting.test_lists}
    models, studies = (setting.learner == name for name in (JUDGMENT_MODEL, STUDY))
    program = f'learner = "{PROGRAMS[0]}"'
    rules = (
        ("drawn" in lists, 'lists = "drawn"', "probabilities"),
        ("queries" in lists, 'lists = "queries"', "queries"),
        (isinstance(setting.C, str), 'C = "validation"', "C_grid"),
        (setting.C == "validation", 'C = "validation"', "validation_pairs"),
        (setting.learner in PROGRAMS, program, "margin C C_grid validation_pairs"),
        (setting.judge == CALIBRATED, f'judge = "{CALIBRATED}"', "reliability bias"),
        (setting.policy != RANDOM, 'policy = "everything"', "pool"),
        (not models, program, _OF_LEARNED),
        (setting.clusters > 0, "clusters above 0", "unseen"),
        (models, f'learner = "{JUDGMENT_MODEL}"', _OF_MODEL),
        (not studies, program, " ".join(Setting.model_fields.keys() - _OF_STUDY)),
        (studies, f'learner = "{STUDY}"', "design"),
    )
    unused = {key: words for met, words, keys in rules if not met for key in keys.split()}
    used = {o for code in own_functions_used(setting, registry, columns) for o in code.options}
    for option in setting.options.keys() - used:
        unused[f"options.{option}"] = " or ".join(
            f'{"COLUMNS" if code.axis == "result" else code.axis} = "{code.name}"'
            for code in registry.codes
            if option in code.options
        )
    return unused


def check_setting(setting: Setting, registry: Registry = SHIPPED) -> None:
    """Refuse unknown names and values that do not go together."""
    for axis in ("lists", "judge", "policy", "margin", "learner"):
        registry.check(axis, getattr(setting, axis), axis)
    registry.check("lists", setting.test_lists, "test_lists", (SAME,))
    if setting.design not in DESIGNS:
        raise unknown_name("design", setting.design, DESIGNS, "design")
    with at_key("against"):
        for name in setting.against:
            preset(name, grade_scale(setting.grades), setting.n_ranks)
    if registry.code("truth", setting.truth) is None:
        with at_key("truth"):
            setting.true_measure()
    for wrong, problem, remedy, key in _conflicts(setting):
        if wrong:
            raise InputError(problem, remedy, key)


def valid(model: type[M], content: Mapping[str, Any], place: str = "") -> M:
    """Return a table of a config as its model; an InputError names the key, or the given place."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        # A misspelt key leaves the correct one missing; report the misspelling.
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        key, *inside = map(str, first["loc"])
        field = model.model_fields.get(key)
        if first["type"] == "extra_forbidden":
            table = getattr(field, "annotation", None) if inside else model
            known = getattr(table, "model_fields", {})
            raise unknown_name("key", (inside or [key])[-1], known, key * bool(inside)) from error
        about = f": {field.description}" if field is not None and field.description else ""
        if first["type"] == "missing":
            raise InputError(f"{key} is missing", f"add it{about}", place) from error
        wanted = first["msg"].removeprefix("Input should be ").removeprefix("a valid ")
        found = f"found {first['input']!r} ({type(first['input']).__name__})"
        raise InputError(found, f"expected {wanted}{about}", place or key) from error


@contextmanager
def at_key(key: str) -> Iterator[None]:
    """Name the key of a config in an error."""
    try:
        yield
    except InputError as error:
        raise error.at(key) from error


def _conflicts(s: Setting) -> Iterator[tuple[bool, str, str, str]]:
    """Yield what may be wrong: whether it is, the problem, the remedy and the key."""
    K, L, used = s.n_ranks, s.grades, {s.lists, s.test_lists}
    strange = next((grade for grade in s.base if not 1 <= grade <= L), None)
    remedy = f"use grades from 1 to {L}, the best"
    yield strange is not None, f"{strange} is not a grade", remedy, "base"
    long = bool(used & {"permutations", "sorted-against-shuffled", "documents"})
    problem = f"K = {K} is larger than the base list of {len(s.base)}"
    yield long and len(s.base) < K, problem, "lengthen base, or lower ranks", "ranks"
    yield s.documents and len(s.base) != K, "all documents are ranked", "remove it", "ranks"
    yield s.documents and K > 127, f"{K} documents", "use up to 127", "ranks"
    mixed = s.documents != (s.lists_to_test_on == "documents")
    problem = f"{s.test_lists!r} lists cannot test what is learned from {s.lists!r} lists"
    yield mixed, problem, "test documents on documents, and grades on grades", "test_lists"
    shares = s.probabilities or [1 / L] * L
    odd = len(shares) != L or abs(sum(shares) - 1) > 1e-9
    yield odd, f"{shares}", f"give {L} numbers that add up to 1", "probabilities"
    needs = "queries" in used and not s.queries
    yield needs, 'lists = "queries" needs a file', "name a LETOR file", "queries"
    yield s.flips > s.pairs, f"{s.flips} flips of {s.pairs} pairs", "lower it", "flips"
    chosen, few = s.policy != RANDOM, f"a pool of {s.pool} pairs for {s.pairs}"
    yield chosen and s.pool < s.pairs, few, "enlarge it", "pool"
    n_grades = 2 * s.pairs * K
    problem = f"{s.wrong_grades} of {n_grades} grades"
    yield s.wrong_grades > n_grades, problem, "lower it", "wrong_grades"
    for key, given in (("wrong_grades", s.wrong_grades), ("against", s.against)):
        yield s.documents and bool(given), "documents have no grades", "remove it", key
    graded = chosen or s.learner in (JUDGMENT_MODEL, USUAL)
    yield s.documents and graded, "documents have no grades", "draw lists of grades", "lists"
    alone = s.C == "cv" and s.pairs < 2
    yield alone, "one pair cannot be divided into folds", "give C a value", "C"
    both = s.ties != "strict" and s.noise != "logistic"
    yield both, "ties are drawn with logistic noise", "leave one of them out", "ties"
