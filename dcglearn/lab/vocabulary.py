"""What experiment files and configs may name: columns, keys, axes and options, parts of figures.

The lines are the first ones of docstrings, so that they are those of the reference.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator

from dcglearn.axes.decorators import OPEN_AXES
from dcglearn.axes.registry import SHIPPED, Entry, Registry
from dcglearn.design.columns import LEARNED_COLUMNS, MODEL_COLUMNS, STUDY_COLUMNS
from dcglearn.design.setting import Setting
from dcglearn.lab.claims import CLAIM_VERDICTS, Claim, Finding
from dcglearn.lab.plots import Figure, Plot, Series

CONFIG_KEYS = {
    "experiment": "the name of the file in experiments/, without .py",
    "figures": "the figures that it draws: numbers of the paper's, names of others",
    "seed": "a whole number; the same one gives the same results",
    "repetitions": "how often each point of the grid is drawn anew; up to 100,000",
    "[setting]": "what all cells have in common, where it is not the default",
    "[sweep]": "what varies: a list of values for each key of a setting",
    "[quick]": "shorter lists of [sweep], and repetitions, for a quick run",
    "[run]": 'workers = "1" and out = "results", which change no result',
}
"""What a config may hold at its top level."""

NamesUnderHeading = tuple[str, list[tuple[str, str]]]
"""A heading, and names with what they are."""


def vocabulary(registry: Registry = SHIPPED) -> list[NamesUnderHeading]:
    """Return what may be named, in sections.

    Parameters
    ----------
    registry : Registry, default that of this package
        With functions of one's own, if they are to be listed.

    Returns
    -------
    list of (str, list of (str, str))
        Each heading, with names and what they are.

    Examples
    --------
    >>> [heading for heading, _ in vocabulary()][0]
    'COLUMNS of an experiment file: results of learners'
    """
    results = [
        (entry.name, _described(entry)) for entry in registry.entries if entry.axis == "result"
    ]
    return [
        ("COLUMNS of an experiment file: results of learners", list(LEARNED_COLUMNS.items())),
        ("COLUMNS: computed where they are named", results),
        ('COLUMNS: with learner = "judgment-model"', list(MODEL_COLUMNS.items())),
        ('COLUMNS: with learner = "study"', list(STUDY_COLUMNS.items())),
        ("Keys of a config", list(CONFIG_KEYS.items())),
        ("[setting] of a config, and [sweep] with lists of values", _settings()),
        *_axes(registry),
        *(
            (f"{one.__name__}, of dcglearn.lab.{one.__module__.split('.')[-1]}", attributes_of(one))
            for one in (Figure, Plot, Series, Claim, Finding)
        ),
        ("Verdicts of a Finding", [(verdict, "") for verdict in CLAIM_VERDICTS]),
    ]


def _settings() -> list[tuple[str, str]]:
    """Return the keys of a setting with their defaults, and what they are."""
    about = {
        name: words
        for names, words in attributes_of(Setting)
        for name in names.partition(" (")[0].split(", ")
    }
    fields = Setting.model_fields.items()
    return [(f"{name} = {_as_toml(field.default)}", about[name]) for name, field in fields]


def _as_toml(value: object) -> str:
    if value is None:
        return "(not given)"
    return "[setting.options]" if isinstance(value, dict) else json.dumps(value)


def _axes(registry: Registry) -> Iterator[NamesUnderHeading]:
    for axis in OPEN_AXES.values():
        entries = [entry for entry in registry.entries if entry.axis == axis.name]
        own = (f"@{axis.name}", f"a function of your own: {axis.signature}")
        names = [] if axis.name == "result" else [(one.name, _described(one)) for one in entries]
        yield f"{axis.key}: {axis.about}", [*names, own]


def _described(entry: Entry) -> str:
    options = ", ".join(f"{name} = {value!r}" for name, value in entry.options.items())
    reads = ", ".join(file.name for file in getattr(entry.code, "files", ()))
    where = f" [{entry.place}]" if entry.code is not None else ""
    given = "; ".join(f"{what} {of}" for what, of in (("options", options), ("reads", reads)) if of)
    return f"{entry.about}{f' ({given})' if given else ''}{where}"


def attributes_of(described: type) -> list[tuple[str, str]]:
    """Return the attributes of a class and the first sentence on each, from its docstring.

    Parameters
    ----------
    described : type

    Returns
    -------
    list of (str, str)

    Examples
    --------
    >>> attributes_of(Finding)[0]
    ('verdict (str)', 'One of CLAIM_VERDICTS.')
    """
    text = inspect.getdoc(described) or ""
    body = text.partition("Attributes\n----------\n")[2].partition("\n\n")[0]
    found: list[tuple[str, str]] = []
    for line in body.splitlines():
        if not line.startswith(" "):
            found.append((line, ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}".strip())
    return [(re.sub(r" : (.*)", r" (\1)", name), _first_sentence(words)) for name, words in found]


def _first_sentence(words: str) -> str:
    plain = re.sub(r":[a-z]+:`~?(?:[\w.]+\.)?(\w+)`", r"\1", words).replace("``", "")
    return re.split(r"(?<=\.)\s", plain)[0]
