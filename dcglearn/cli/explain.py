"""The command that explains why two measures differ: explain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.terminal.inputs import needs_scale, preset_without_grades, scale_of
from dcglearn.terminal.options import JsonOption, RanksOption, ScaleOption
from dcglearn.terminal.output import print_json, print_text

if TYPE_CHECKING:
    from dcglearn.base.types import Grades
    from dcglearn.coherence.explain import Explanation
    from dcglearn.measures.measure import Measure
    from dcglearn.measures.names import NamedMeasure
    from dcglearn.measures.scale import Scale

EXAMPLE_RANKS = 5
"""Ranks of an example, unless the lists or the measures have fewer."""

_REASONS = {
    "gains": "The gains are the reason: exchanging the gains reverses the verdict, exchanging the "
    "discounts does not.",
    "discounts": "The discounts are the reason: exchanging the discounts reverses the verdict, "
    "exchanging the gains does not.",
    "either": "Gains and discounts are each a reason: exchanging either reverses the verdict.",
    "both together": "Gains and discounts are the reason together: exchanging one of them does "
    "not reverse the verdict.",
}


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
    from dcglearn.coherence.explain import explain as explain_difference

    if (a is None) != (b is None):
        lone = "--a without --b" if b is None else "--b without --a"
        raise InputError(lone, "give both, or neither for an example")
    declared, measures = _on_one_scale((first, second), scale, n_ranks or EXAMPLE_RANKS)
    if a is not None and b is not None:
        lists: tuple[Grades, Grades] | None = _lists(a, b, declared, n_ranks)
    else:
        lists = _example(measures, n_ranks)
    if lists is None:
        if json:
            texts = [str(named.measure) for named in measures]
            print_json({"first": texts[0], "second": texts[1], "lists": None})
        else:
            print_text("The two measures order all short lists in the same way.")
        return
    result = explain_difference(measures[0].measure, measures[1].measure, *lists)
    if json:
        print_json(_as_json(result, measures, lists, declared))
        return
    if a is None:
        print_text("An example on which they differ most:\n")
    print_text(_in_words(result, measures, lists, declared))


def _on_one_scale(
    names: tuple[str, str], text: str | None, n_ranks: int
) -> tuple[Scale, list[NamedMeasure]]:
    """Return the measures on the declared scale, or on that of the first that has its own."""
    from dcglearn.measures.names import measure_for_documents, measure_on_scale, parse_measure
    from dcglearn.measures.scale import Scale

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
    from dcglearn.data.rankings import encode_list, pad_lists

    rows = []
    for option, text in (("--a", a), ("--b", b)):
        labels = [part.strip() for part in text.split(",")]
        try:
            rows.append(encode_list([None if x == "-" else x for x in labels], scale))
        except InputError as error:
            raise error.at(option) from error
    width = n_ranks or max(map(len, rows))
    if max(map(len, rows)) > width:
        raise InputError(f"a list has more than {width} grades", "raise --K, or cut the list")
    padded = pad_lists(rows, width)
    return padded[0], padded[1]


def _example(measures: list[NamedMeasure], n_ranks: int | None) -> tuple[Grades, Grades] | None:
    """Return the lists on which the measures differ most, or None if they never differ."""
    from dcglearn.coherence.explain import clearest_example

    if n_ranks is not None and n_ranks > EXAMPLE_RANKS:
        raise InputError(
            f"--K is {n_ranks}, and examples have at most {EXAMPLE_RANKS} ranks",
            "lower it, or give lists by --a and --b",
        )
    ranks = n_ranks or min(named.measure.n_ranks or EXAMPLE_RANKS for named in measures)
    first, second = (named.measure for named in measures)
    example = clearest_example(first, second, min(ranks, EXAMPLE_RANKS))
    return None if example is None else (example[0], example[1])


def _labels(row: Grades, scale: Scale) -> list[str]:
    return ["-" if grade < 0 else str(scale.labels[grade]) for grade in row.tolist()]


def _in_words(
    result: Explanation,
    measures: list[NamedMeasure],
    lists: tuple[Grades, Grades],
    scale: Scale,
) -> str:
    from dcglearn.measures.dcg import DCG

    lines = [_contributions_table(result, measures, lists, scale)]
    for named, difference, winner in zip(measures, result.differences, result.winners, strict=True):
        unit = " in DCG" if isinstance(named.measure, DCG) and named.measure.normalise else ""
        by = f", by {abs(difference):g}{unit}"
        words = "finds a and b equal" if winner == "equal" else f"prefers {winner}{by}"
        lines.append(f"{named.name} {words}: {named.measure}")
    lines.append("")
    if result.agree:
        lines.append("They agree on these lists.")
    elif result.reason:
        lines.append(_REASONS[result.reason])
    else:
        lines.append(
            "One of them has weights of its own at every rank, so its gains and discounts "
            "cannot be separated."
        )
    return "\n".join([*lines, *_verdict(measures[0].measure, lists, scale)])


def _contributions_table(
    result: Explanation,
    measures: list[NamedMeasure],
    lists: tuple[Grades, Grades],
    scale: Scale,
) -> str:
    from dcglearn.report.tables import Table

    a, b = (_labels(row, scale) for row in lists)
    first, second = result.contributions
    rows = [
        (str(rank), *values)
        for rank, values in enumerate(
            zip(a, b, first.tolist(), second.tolist(), strict=True), start=1
        )
    ]
    total = ("sum", "", "", float(first.sum()), float(second.sum()))
    columns = ("rank", "a", "b", measures[0].name, measures[1].name)
    caption = "Contribution of each rank, for a (+) or b (-), as a share of their absolute sum"
    return Table(columns, [*rows, total], caption, 3).text()


def _verdict(measure: Measure, lists: tuple[Grades, Grades], scale: Scale) -> list[str]:
    """Return what holds for every DCG, and the smallest change that reverses `measure`."""
    from dcglearn.coherence.advantage import advantage
    from dcglearn.coherence.smallest_change import smallest_change_of_gains
    from dcglearn.coherence.verdict import verdict
    from dcglearn.measures.dcg import DCG

    D = advantage(*lists, len(scale))
    winner = verdict(D, worst_gain="zero").winner
    words = {
        "a": "a is better for all falling gains and discounts",
        "b": "b is better for all falling gains and discounts",
        "equal": "they are equal for all falling gains and discounts",
        "depends": "which is better depends on the gains or the discounts",
    }
    lines = [f"With the worst grade worth 0, {words[winner]}."]
    if winner == "depends" and isinstance(measure, DCG) and _falls(measure.gains):
        c = measure.discounts_for(len(lists[0]))
        flip = smallest_change_of_gains(D, measure.gains, c)
        if flip is not None and flip.distance > 0:
            tie = ", ".join(
                f"{label}: {gain:.4g}" for label, gain in zip(scale.labels, flip.tie, strict=True)
            )
            lines.append(
                f"The first measure ties at gains {tie}; a small step further reverses its verdict."
            )
    return lines


def _falls(gains: Sequence[float]) -> bool:
    return all(x >= y for x, y in pairwise(gains))


def _as_json(
    result: Explanation,
    measures: list[NamedMeasure],
    lists: tuple[Grades, Grades],
    scale: Scale,
) -> dict[str, Any]:
    return {
        "first": str(measures[0].measure),
        "second": str(measures[1].measure),
        "lists": [_labels(row, scale) for row in lists],
        "leads": list(result.differences),
        "winners": list(result.winners),
        "shares by rank": result.contributions.tolist(),
        "reason": result.reason or None,
    }
