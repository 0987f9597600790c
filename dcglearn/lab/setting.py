"""The setting of a cell: truth, lists, judge, learner, test.

Truth, lists, judge, margin and learner are names of :mod:`dcglearn.lab.registry`.

The defaults are those of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6): 200 pairs of
permutations of [5,5,4,4,3,3,2,2,1,1], an exact judge, and the quadratic program of eq. 1.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dcglearn.base.errors import InputError, check_name, errors_at, unknown_name
from dcglearn.inference.families import FREE_FAMILY
from dcglearn.lab.decorators import OPEN_AXES, is_option_value
from dcglearn.lab.registry import (
    CALIBRATED,
    JUDGMENT_MODEL,
    NAMES,
    RANDOM,
    SHIPPED,
    STUDY,
    USUAL,
    Code,
    ExperimentCode,
)
from dcglearn.lab.simulation.judges import Noise
from dcglearn.lab.simulation.truths import grade_scale, named_truth
from dcglearn.learning.solve import C_GRID
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure, MeasurePart
from dcglearn.measures.presets import preset
from dcglearn.measures.scale import MAX_GRADES

PROGRAMS = ("qp", "qp-dcg")
"""The learners that solve the quadratic program."""

NAMED_KEYS = ("lists", "test_lists", "judge", "policy", "margin", "learner")
"""Keys whose values are names of this package, or of functions of one's own; truth may be more."""

OPTION = "options."
"""What the keys of options of functions of one's own begin with."""

M = TypeVar("M", bound=BaseModel)

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Natural = Annotated[int, Field(ge=0)]
_Count = Annotated[int, Field(ge=1, le=1_000_000)]


CHECKED = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)
"""How tables of a config are checked; what a key is stands below it."""


class Setting(BaseModel):
    """Everything that changes the result of a cell, except the seed and the repetition."""

    model_config = CHECKED

    truth: str = "data-1"
    """the measure by which lists are better: data-1, data-2, free, a preset, a measure file, a
    measure in full, or one's own"""
    lists: str = "permutations"
    """the generator of the pairs of lists, by name"""
    base: list[int] = Field([5, 5, 4, 4, 3, 3, 2, 2, 1, 1], min_length=1)
    """the list of grades that permutations, sorted-against-shuffled and documents reorder; L is the
    best grade, 1 the worst"""
    grades: int = Field(5, ge=2, le=100)
    """L, the number of grades"""
    ranks: int | None = Field(None, ge=1)
    """K, the number of ranks; by default the length of base; a smaller K truncates the reordered
    lists"""
    probabilities: list[Annotated[float, Field(ge=0)]] | None = None
    """for drawn lists: the probability of each grade, best first; uniform by default"""
    pairs: _Count = 200
    """how many strict preferences are learned from"""
    judge: str = CALIBRATED
    """the judge, by name; calibrated is described by reliability and bias"""
    policy: str = RANDOM
    """which pairs are judged: as they are drawn, or chosen in rounds"""
    pool: _Count = 1000
    """how many pairs there are to choose from"""
    flips: _Natural = 0
    """how many preferences are reversed"""
    wrong_grades: _Natural = 0
    """how many grades are replaced, after the preferences are given"""
    reliability: float = Field(1.0, gt=0.5, le=1)
    """the share of pairs that the judge orders as the truth does, before the bias, which lowers
    it"""
    bias: float = Field(0.0, ge=-100, le=100)
    """what being shown first is worth to the judge, in standard deviations of the true differences;
    which list is shown first is random"""
    learner: str = "qp"
    """the learner, by name"""
    margin: str = "unit"
    """by how much the preferred list should win: unit, hamming, or one's own"""
    C: _Positive | Literal["validation", "cv"] = 1.0
    """the cost of a violated margin: a number; validation, the value of C_grid that agrees best
    with independent exact pairs; or cv, the one that five folds choose"""
    C_grid: list[_Positive] = Field(list(C_GRID), min_length=1)
    """the values among which validation and cv choose"""
    validation_pairs: _Count = 1000
    """how many independent exact pairs validation uses"""
    test_pairs: _Count = 5000
    """how many exact pairs test what was learned"""
    test_lists: str | None = None
    """the generator of the test lists, by name; by default that of the training lists"""
    against: list[str] = []
    """presets whose precision is measured on the same test pairs"""
    noise: Noise = "logistic"
    """for judgment-model, as all that follow: how answers depend on the difference"""
    sensitivity: float = Field(3.0, gt=0, le=100)
    """the log odds that a judge prefers the best grade at rank 1 to the worst"""
    lapses: float = Field(0.0, ge=0, lt=1)
    """the share of answers given at random"""
    ties: Literal["strict", "davidson"] = "strict"
    """whether judges may answer that lists are equal"""
    clusters: _Natural = 0
    """the number of queries, of uneven size; with 0 each judgment has its own"""
    unseen: float = Field(0.0, ge=0, le=100)
    """the standard deviation, in log odds, of what else than grades makes a list better; the same
    for all judgments of one pair of lists of a query"""
    gains: str = FREE_FAMILY
    """the family of gains, such as free or linear"""
    discounts: str = FREE_FAMILY
    """the family of discounts, such as log2"""
    hypotheses: list[str] = []
    """what is tested, such as linear-free in free-free: the smaller and the larger model; or
    positions, for gains of each rank"""
    design: str = "even"
    """for study: the kind of study"""
    options: dict[str, Any] = {}
    """options of functions of one's own, by name: [setting.options]"""

    @model_validator(mode="before")
    @classmethod
    def _options_in_a_table(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Accept ``options.NAME`` for an entry of the table of options."""
        plain = {key: value for key, value in given.items() if not key.startswith(OPTION)}
        options = {key.removeprefix(OPTION): given[key] for key in given if key not in plain}
        return plain | ({"options": options} if options else {})

    @property
    def n_ranks(self) -> int:
        """The number of ranks, K."""
        return self.ranks or len(self.base)

    @property
    def documents(self) -> bool:
        """Whether documents without grades are ranked."""
        return self.lists == "documents"

    @property
    def used(self) -> MeasurePart:
        """Which measure of a fit is used."""
        return "dcg" if self.learner == "qp-dcg" else "utility"

    @property
    def learns(self) -> bool:
        """Whether cells learn a measure, which is tested."""
        return self.learner not in (JUDGMENT_MODEL, STUDY)

    @property
    def n_columns(self) -> int:
        """The number of columns of W: grades, or documents."""
        return self.n_ranks if self.documents else self.grades

    def true_measure(self, rng: np.random.Generator | None = None) -> Measure:
        """Return the truth, if it is one of this package; without a generator, any of its kind."""
        return named_truth(self.truth, self.n_ranks, self.grades, rng or np.random.default_rng(0))


def own_functions_used(setting: Setting, code: ExperimentCode) -> list[Code]:
    """Return the functions of one's own that the cells of a setting use."""
    named = {
        (key.removeprefix("test_"), getattr(setting, key))
        for key in {"truth", *NAMED_KEYS} - _without_effect(setting).keys()
    }
    if setting.learns:
        named |= {("result", column) for column in code.columns}
    return [one for one in code.functions if (one.axis, one.name) in named]


LEARNED_COLUMNS = {
    "precision": "share of exact test pairs that the learned measure orders correctly; ties half",
    "similarity": "correlation of the learned W with the true one, as the paper measures it",
    "identifiable": "similarity of the parts that pairs can determine",
    "offset": "similarity after 100 is added to both, which makes it meaningless",
    "margin_correlation": "correlation of the margin and the true difference, if the margin varies",
    "chosen_C": "the C that was used",
    "precision:PRESET": "precision of each preset of `against`",
}
"""What cells that learn a measure result in."""

MODEL_COLUMNS = {
    "coverage": "share of 95% intervals that contain the truth",
    "coverage:gains": "the same, of gains",
    "coverage:discounts": "the same, of discounts",
    "determined": "share of numbers that the judgments decide",
    "bounded": "share of their intervals that are bounded",
    "width": "mean width of these",
    "middle_gain": "estimate of the middle gain minus the truth",
    "lapse_share": "estimated share of answers at random",
    "p:link": "p of the test of the noise",
    "p:HYPOTHESIS": "p of each of `hypotheses`",
}
"""What cells of the model of the judgment result in."""

STUDY_COLUMNS = {
    "determined": "whether judgments determine the middle gain",
    "coverage": "whether its 95% interval contains the truth, where they do",
    "size:gains": "whether p is below .05 for the true gains",
    "size:discounts": "the same for the true discounts",
    "size:measure": "the same for the true measure",
    "size:side": "the same where the side does not matter",
    "size:positions": "the same where gains do not depend on the rank",
    "size:additivity": "the same where documents add up",
    "power:gains": "whether p is below .05 for the other one of linear gains and 2^g - 1",
    "power:discounts": "the same for constant discounts",
    "recommended": "whether a measure is recommended",
    "right": "whether it has the true families, if there is one",
    "false_stop": "whether true gains or discounts are rejected: a study says to stop using them",
    "no_dcg": "whether documents are said not to add up",
    "link": "whether answers are said to depend on the difference otherwise than the model says",
}
"""What cells of studies result in: 1 or 0."""


PARAMETERS = {"gains", "gains_correlation", "discounts", "discounts_correlation"}
"""Results that there are only where the truth is a DCG."""

_OF_LEARNED = "policy flips wrong_grades judge test_pairs test_lists against reliability bias"
_OF_MODEL = "noise sensitivity lapses ties clusters gains discounts hypotheses unseen"
_OF_STUDY = {"learner", "pairs", "design", "options"}
"""Keys that have an effect for one kind of learner only."""


def unused_keys(setting: Setting, code: ExperimentCode = SHIPPED) -> dict[str, str]:
    """Return the keys that have no effect in a setting, and what would give them an effect."""
    unused = _without_effect(setting)
    used = {option for one in own_functions_used(setting, code) for option in one.options}
    for option in setting.options.keys() - used:
        unused[f"options.{option}"] = " or ".join(
            f'{"COLUMNS" if one.axis == "result" else one.axis} = "{one.name}"'
            for one in code.functions
            if option in one.options
        )
    return unused


def _without_effect(setting: Setting) -> dict[str, str]:
    models, studies = (setting.learner == name for name in (JUDGMENT_MODEL, STUDY))
    program = f'learner = "{PROGRAMS[0]}"'
    rules = (
        ("drawn" in (setting.lists, setting.test_lists), 'lists = "drawn"', "probabilities"),
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
    return {key: words for met, words, keys in rules if not met for key in keys.split()}


def check_setting(setting: Setting, code: ExperimentCode) -> None:
    """Refuse unknown names and values that do not go together."""
    for key in (*NAMED_KEYS, "design"):
        axis, name = key.removeprefix("test_"), getattr(setting, key)
        if name is not None:
            check_name(name, axis, code.names(axis), key)
    known = {option for one in code.functions for option in one.options}
    for option, value in setting.options.items():
        check_name(option, "option", known, "options")
        if not is_option_value(value):
            raise InputError(
                f"found {value!r}",
                "give a number, a text, true, false, or a list",
                f"options.{option}",
            )
    with errors_at("against"):
        for name in setting.against:
            preset(name, grade_scale(setting.grades), setting.n_ranks)
    if code.function("truth", setting.truth) is None:
        with errors_at("truth"):
            setting.true_measure()
    for wrong, problem, remedy, key in _conflicts(setting):
        if wrong:
            raise InputError(problem, remedy, key)


def columns_of(setting: Setting, code: ExperimentCode) -> set[str]:
    """Return the columns that the cells of a setting can result in."""
    if setting.learner == STUDY:
        return set(STUDY_COLUMNS)
    if setting.learner == JUDGMENT_MODEL:
        return {*MODEL_COLUMNS, *(f"p:{name}" for name in setting.hypotheses)}
    lacking = set() if setting.learner in PROGRAMS else {"chosen_C"}
    if setting.margin == "unit":
        lacking.add("margin_correlation")
    if not code.function("truth", setting.truth) and not isinstance(setting.true_measure(), DCG):
        lacking |= PARAMETERS
    presets = (f"precision:{name}" for name in setting.against)
    return {*LEARNED_COLUMNS, *presets, *code.names("result")} - lacking


def check_result_columns(settings: Iterable[Setting], code: ExperimentCode) -> None:
    """Refuse a column that no cell has, and a result of one's own with the name of another."""
    taken = {*LEARNED_COLUMNS, *MODEL_COLUMNS, *STUDY_COLUMNS, *Setting.model_fields, "repetition"}
    for one in code.functions:
        if one.axis == "result" and one.name in taken:
            raise InputError(
                f"the table already has a column {one.name!r}",
                "give the result another name",
                one.place,
            )
    known = {name for setting in settings for name in columns_of(setting, code)}
    for column in code.columns:
        check_name(column, "result of these cells", known, f"{code.path}, COLUMNS")


def vocabulary(code: ExperimentCode, config: type[BaseModel]) -> dict[str, dict[str, str]]:
    """Return what may be named, with what it is, under headings."""
    return {
        "COLUMNS of an experiment file: results of learners": LEARNED_COLUMNS,
        'COLUMNS: with learner = "judgment-model"': MODEL_COLUMNS,
        'COLUMNS: with learner = "study"': STUDY_COLUMNS,
        "Keys of a config": described(config),
        "[setting] of a config, and [sweep] with lists of values": {
            f"{name} = {json.dumps(Setting.model_fields[name].default)}": about
            for name, about in described(Setting).items()
        },
        **{
            f"{axis.name}: {axis.about}": {
                **NAMES[axis.name],
                **{one.name: one.in_words for one in code.functions if one.axis == axis.name},
                f"@{axis.name}": f"a function of your own: ({axis.arguments}) -> {axis.returns}",
            }
            for axis in OPEN_AXES
        },
    }


def valid(model: type[M], content: Mapping[str, Any]) -> M:
    """Return a table of a config as its model; an InputError names the key."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        # A misspelt key leaves the correct one missing; report the misspelling.
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        key = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            raise unknown_name("key", key, model.model_fields) from error
        about = described(model)[key]
        if first["type"] == "missing":
            raise InputError(f"{key} is missing", f"add it: {about}") from error
        wanted = first["msg"].removeprefix("Input should be ").removeprefix("a valid ")
        found = f"found {first['input']!r} ({type(first['input']).__name__})"
        raise InputError(found, f"expected {wanted}: {about}", key) from error


def described(model: type[BaseModel]) -> dict[str, str]:
    """Return the keys of a table with what each is, in one line."""
    fields = model.model_fields.items()
    return {name: " ".join((field.description or "").split()) for name, field in fields}


def _conflicts(s: Setting) -> Iterator[tuple[object, str, str, str]]:
    """Yield what may be wrong: whether it is, the problem, the remedy and the key."""
    K, L, used, chosen = s.n_ranks, s.grades, {s.lists, s.test_lists}, s.policy != RANDOM
    yield {*s.base} - {*range(1, L + 1)}, f"{s.base}", f"use grades from 1 to {L}, the best", "base"
    short = len(s.base) < K and used & {"permutations", "sorted-against-shuffled"}
    problem = f"K = {K} is larger than the base list of {len(s.base)}"
    yield short, problem, "lengthen base, or lower ranks", "ranks"
    yield s.documents and len(s.base) != K, "all documents are ranked", "remove it", "ranks"
    mixed = s.documents != ((s.test_lists or s.lists) == "documents")
    problem = f"{s.test_lists!r} lists cannot test what is learned from {s.lists!r} lists"
    yield mixed, problem, "test documents on documents, and grades on grades", "test_lists"
    shares = s.probabilities or [1 / L] * L
    odd = len(shares) != L or abs(sum(shares) - 1) > 1e-9
    yield odd, f"{shares}", f"give {L} numbers that add up to 1", "probabilities"
    yield s.flips > s.pairs, f"{s.flips} flips of {s.pairs} pairs", "lower it", "flips"
    few = f"a pool of {s.pool} pairs for {s.pairs}"
    yield chosen and s.pool < s.pairs, few, "enlarge it", "pool"
    graded = s.wrong_grades or s.against or chosen or s.learner in (JUDGMENT_MODEL, USUAL)
    many = f"{K} documents"
    yield s.documents and K > MAX_GRADES, many, f"use a base of up to {MAX_GRADES}", "base"
    alone = s.C == "cv" and s.pairs == 1 and s.learner in PROGRAMS
    problem = "one pair cannot be divided into folds"
    yield alone, problem, "learn from more, or choose C otherwise", "C"
    remedy = "draw other lists, or learn by the program, without wrong_grades, against and policy"
    yield s.documents and graded, "documents have no grades", remedy, "lists"
