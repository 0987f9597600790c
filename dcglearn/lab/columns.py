"""The columns that a table can hold, and all else that a config and its experiment may name.

The lines are descriptions of keys, and first ones of docstrings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import BaseModel

from dcglearn.base.errors import InputError, did_you_mean
from dcglearn.lab.decorators import OPEN_AXES
from dcglearn.lab.registry import JUDGMENT_MODEL, NAMES, STUDY, ExperimentCode
from dcglearn.lab.setting import PROGRAMS, Setting, described
from dcglearn.lab.success import PARAMETERS
from dcglearn.measures.dcg import DCG

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
            problem = f"the table already has a column {one.name!r}"
            raise InputError(problem, "give the result another name", one.place)
    known = {name for setting in settings for name in columns_of(setting, code)}
    for column in code.columns:
        if column not in known:
            near, names = did_you_mean(column, sorted(known)), ", ".join(sorted(known))
            problem = f"COLUMNS names {column!r}, and no cell of this config computes it"
            raise InputError(problem, f"{near}Known: {names}", str(code.path))


def vocabulary(code: ExperimentCode, config: type[BaseModel]) -> dict[str, dict[str, str]]:
    """Return what may be named, with what it is, under headings."""
    names = {axis: dict(shipped) for axis, shipped in NAMES.items()}
    for one in code.functions:
        given = [f"{name} = {value!r}" for name, value in one.options.items()]
        given += [f"reads {file.name}" for file in one.files]
        options = f" ({', '.join(given)})" if given else ""
        names[one.axis][one.name] = f"{one.about}{options} [{one.place}]"
    for axis in OPEN_AXES.values():
        own = f"a function of your own: ({axis.arguments}) -> {axis.returns}"
        names[axis.name][f"@{axis.name}"] = own
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
            f"{axis.key or axis.name}: {axis.about}": names[axis.name]
            for axis in OPEN_AXES.values()
        },
    }
