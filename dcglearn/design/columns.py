"""The columns that a table can hold: what cells result in, by the names that ``COLUMNS`` lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dcglearn.axes.registry import JUDGMENT_MODEL, STUDY, USUAL, Registry
from dcglearn.base.errors import InputError, did_you_mean
from dcglearn.design.setting import Setting

LEARNED_COLUMNS = {
    "precision": "share of exact test pairs that the learned measure orders correctly; ties half",
    "similarity": "correlation of the learned W with the true one, as the paper measures it",
    "identifiable": "similarity of the parts that pairs can determine",
    "offset": "similarity after 100 is added to both, which makes it meaningless",
    "margin_correlation": "correlation of the margin and the true difference, if the margin varies",
    "chosen_C": "the C that was used",
    "draws": "pairs left out because the judge cannot tell the lists apart",
    "drawn": "pairs drawn in all",
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


def columns_of(setting: Setting, registry: Registry) -> set[str]:
    """Return the columns that the cells of a setting can result in.

    Parameters
    ----------
    setting : Setting
    registry : Registry

    Returns
    -------
    set of str
    """
    if setting.learner == JUDGMENT_MODEL:
        fixed = {name for name in MODEL_COLUMNS if name != "p:HYPOTHESIS"}
        return fixed | {f"p:{name}" for name in setting.hypotheses}
    if setting.learner == STUDY:
        return set(STUDY_COLUMNS)
    fixed = {name for name in LEARNED_COLUMNS if name != "precision:PRESET"}
    if setting.learner == USUAL or registry.is_own("learner", setting.learner):
        fixed -= {"chosen_C", "margin_correlation"}
    if setting.margin == "unit":
        fixed.discard("margin_correlation")
    presets = {f"precision:{name}" for name in setting.against}
    return fixed | presets | set(registry.names("result"))


def check_result_columns(
    columns: Sequence[str], settings: Iterable[Setting], registry: Registry, place: str
) -> None:
    """Refuse a column that no cell has.

    Parameters
    ----------
    columns : sequence of str
    settings : iterable of Setting
        The points of the grid.
    registry : Registry
    place : str
        The experiment file.

    Raises
    ------
    InputError
        With similar names.
    """
    known = {name for setting in settings for name in columns_of(setting, registry)}
    for column in columns:
        if column not in known:
            near = did_you_mean(column, sorted(known))
            raise InputError(
                f"COLUMNS names {column!r}, and no cell of this config computes it",
                f"{near}Known: {', '.join(sorted(known))}",
                place,
            )


def check_result_names(registry: Registry) -> None:
    """Refuse a result of one's own with the name of another column of the table.

    Parameters
    ----------
    registry : Registry

    Raises
    ------
    InputError
    """
    taken = {*LEARNED_COLUMNS, *MODEL_COLUMNS, *STUDY_COLUMNS, *Setting.model_fields, "repetition"}
    for entry in registry.entries:
        own = entry.axis == "result" and entry.code is not None
        if own and entry.name in taken:
            raise InputError(
                f"the table already has a column {entry.name!r}",
                "give the result another name",
                entry.place,
            )
