"""The command that explains why two measures differ: explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.cli.inputs import naming, needs_scale, preset_without_grades, scale_of
from dcglearn.cli.options import JsonOption, RanksOption, ScaleOption
from dcglearn.cli.output import print_json, print_text

if TYPE_CHECKING:
    from dcglearn.base.types import Grades
    from dcglearn.measures.measure import Measure
    from dcglearn.measures.names import NamedMeasure
    from dcglearn.measures.scale import Scale


def explain(
    first: Annotated[
        str,
        typer.Argument(metavar="MEASURE", help="A measure file, a preset, or a measure in full."),
    ],
    second: Annotated[
        str, typer.Argument(metavar="MEASURE", help="The measure to compare it with.")
    ],
    a: Annotated[
        str | None,
        typer.Option(
            "--a",
            metavar="GRADES",
            help="Grades of a list from the first rank, such as 2,0,1; - for an empty rank.",
        ),
    ] = None,
    b: Annotated[
        str | None, typer.Option("--b", metavar="GRADES", help="The list to compare it with.")
    ] = None,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    json: JsonOption = False,
) -> None:
    """Explain why two measures differ, on two lists or an example.

    Without lists, the example is the one on which the measures differ most.
    """
    from dcglearn.coherence.explain import SHORT, example_depth
    from dcglearn.coherence.explain import explain as explain_difference
    from dcglearn.report.systems.explanation import explanation_text, explanation_to_json

    if (a is None) != (b is None):
        lone = "--a without --b" if b is None else "--b without --a"
        raise InputError(lone, "give both, or neither for an example")
    declared, measures = _on_one_scale((first, second), scale, n_ranks or SHORT)
    pair = measures[0].measure, measures[1].measure
    depth = n_ranks or example_depth(*pair)
    lists = _example(*pair, n_ranks) if a is None or b is None else _lists(a, b, declared, n_ranks)
    if lists is None:
        if json:
            print_json({"first": str(pair[0]), "second": str(pair[1]), "lists": None})
        else:
            ranks = counted(depth, "rank")
            print_text(f"No two lists of {ranks} are ordered differently by the two measures.")
        return
    found = explain_difference(*pair, *lists), measures, lists, declared
    if json:
        print_json(explanation_to_json(*found))
    else:
        opening = "An example on which they differ most:\n\n" if a is None else ""
        print_text(opening + explanation_text(*found))


def _on_one_scale(
    names: tuple[str, str], text: str | None, n_ranks: int
) -> tuple[Scale, list[NamedMeasure]]:
    """Return the measures on the declared scale, or on that of the first that has its own."""
    from dcglearn.measures.names import measure_for_documents, measure_on_scale, parse_measure
    from dcglearn.measures.scale import Scale

    stated = {name: parse_measure(name) for name in names if not needs_scale(name)}
    if text is None and not stated:
        raise preset_without_grades(names[0])
    measures = [stated.get(name) for name in names]
    own = next((one.measure for one in measures if one is not None), None)
    scale = scale_of(own) if text is None and own is not None else Scale.parse(text or "")
    return scale, [
        measure_for_documents(name, scale, n_ranks) if one is None else measure_on_scale(one, scale)
        for name, one in zip(names, measures, strict=True)
    ]


def _lists(a: str, b: str, scale: Scale, n_ranks: int | None) -> tuple[Grades, Grades]:
    """Return two lists of grades, padded to one length."""
    import numpy as np

    from dcglearn.measures.scale import NO_DOCUMENT

    rows = []
    for option, text in (("--a", a), ("--b", b)):
        labels = [part.strip() for part in text.split(",")]
        with naming(option):
            rows.append([NO_DOCUMENT if one == "-" else scale.index(one) for one in labels])
    longest = max(map(len, rows))
    if n_ranks is not None and longest > n_ranks:
        raise InputError(f"a list has more than {n_ranks} grades", "raise --K, or cut the list")
    missing = [[NO_DOCUMENT] * ((n_ranks or longest) - len(row)) for row in rows]
    first, second = (np.array(row + more, np.int8) for row, more in zip(rows, missing, strict=True))
    return first, second


def _example(first: Measure, second: Measure, n_ranks: int | None) -> tuple[Grades, Grades] | None:
    """Return the lists on which the measures differ most, or None if they never differ."""
    from dcglearn.coherence.explain import DEEPEST, clearest_example, example_depth

    depth = n_ranks or example_depth(first, second)
    if depth > DEEPEST:
        raise InputError(
            f"an example of {depth} ranks, and it can have at most {DEEPEST}",
            "lower --K, or give lists by --a and --b",
        )
    found = clearest_example(first, second, n_ranks)
    return None if found is None else (found[0], found[1])
