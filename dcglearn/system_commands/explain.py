"""The command that explains why two measures differ: explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.terminal.inputs import naming, needs_scale, preset_without_grades, scale_of
from dcglearn.terminal.options import JsonOption, RanksOption, ScaleOption
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    from dcglearn.base.types import Grades
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.names import NamedMeasure


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
    from dcglearn.coherence.clearest_example import SHORT, example_depth
    from dcglearn.coherence.explain import explain as explain_difference
    from dcglearn.system_report.explanation import ExplanationReport

    if (a is None) != (b is None):
        lone = "--a without --b" if b is None else "--b without --a"
        raise InputError(lone, "give both, or neither for an example")
    declared, measures = _on_one_scale((first, second), scale, n_ranks or SHORT)
    if a is not None and b is not None:
        lists: tuple[Grades, Grades] | None = _lists(a, b, declared, n_ranks)
    else:
        lists = _example(measures, n_ranks)
    if lists is None:
        if json:
            texts = [str(named.measure) for named in measures]
            print_json({"first": texts[0], "second": texts[1], "lists": None})
        else:
            depth = n_ranks or example_depth(*(named.measure for named in measures))
            ranks = counted(depth, "rank")
            print_text(f"No two lists of {ranks} are ordered differently by the two measures.")
        return
    result = explain_difference(measures[0].measure, measures[1].measure, *lists)
    found = ExplanationReport(result, measures, lists, declared)
    if json:
        print_json(found.to_json())
        return
    if a is None:
        print_text("An example on which they differ most:\n")
    print_text(found.text())


def _on_one_scale(
    names: tuple[str, str], text: str | None, n_ranks: int
) -> tuple[Scale, list[NamedMeasure]]:
    """Return the measures on the declared scale, or on that of the first that has its own."""
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.names import measure_for_documents, measure_on_scale, parse_measure

    scale = None if text is None else Scale.parse(text)
    files: dict[str, NamedMeasure] = {}  # a file that is a pipe can be read only once
    for name in names:
        if scale is None and not needs_scale(name):
            named = parse_measure(name)
            scale = scale_of(named.measure)
            files |= {name: named} if named.file is not None else {}
    if scale is None:
        raise preset_without_grades(names[0])
    measures = (files.get(name) or measure_for_documents(name, scale, n_ranks) for name in names)
    return scale, [measure_on_scale(measure, scale) for measure in measures]


def _lists(a: str, b: str, scale: Scale, n_ranks: int | None) -> tuple[Grades, Grades]:
    import numpy as np

    from dcglearn.measures.scale import NO_DOCUMENT

    rows = []
    for option, text in (("--a", a), ("--b", b)):
        labels = [part.strip() for part in text.split(",")]
        with naming(option):
            rows.append([NO_DOCUMENT if one == "-" else scale.index(one) for one in labels])
            if set(rows[-1]) == {NO_DOCUMENT}:
                raise InputError("an empty list", "give at least one grade")
    width = n_ranks or max(map(len, rows))
    if max(map(len, rows)) > width:
        raise InputError(f"a list has more than {width} grades", "raise --K, or cut the list")
    first, second = (np.array(row + [NO_DOCUMENT] * (width - len(row)), np.int8) for row in rows)
    return first, second


def _example(measures: list[NamedMeasure], n_ranks: int | None) -> tuple[Grades, Grades] | None:
    """Return the lists on which the measures differ most, or None if they never differ."""
    from dcglearn.coherence.clearest_example import DEEPEST, clearest_example, example_depth

    first, second = (named.measure for named in measures)
    depth = example_depth(first, second)
    if (n_ranks or depth) > DEEPEST:
        raise InputError(
            f"an example of {n_ranks or depth} ranks, and it can have at most {DEEPEST}",
            "lower --K, or give lists by --a and --b",
        )
    example = clearest_example(first, second, n_ranks)
    return None if example is None else (example[0], example[1])
