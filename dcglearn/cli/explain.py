"""The command that explains why two measures differ: explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.cli.inputs import preset_without_grades
from dcglearn.cli.options import JsonOption, RanksOption, ScaleOption
from dcglearn.cli.output import print_json, print_text

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
    from dcglearn.coherence.explain import clearest_example
    from dcglearn.coherence.explain import explain as explained

    if (a is None) != (b is None):
        lone = "--a without --b" if b is None else "--b without --a"
        raise InputError(lone, "give both, or neither for an example")
    grades, one, other = _on_one_scale(first, second, scale, n_ranks or EXAMPLE_RANKS)
    given = a is not None and b is not None
    if given:
        lists = _lists(str(a), str(b), grades, n_ranks)
    else:
        if n_ranks is not None and n_ranks > EXAMPLE_RANKS:
            raise InputError(
                f"--K is {n_ranks}, and examples have at most {EXAMPLE_RANKS} ranks",
                "lower it, or give lists by --a and --b",
            )
        ranks = n_ranks or min(
            (found.measure.n_ranks or EXAMPLE_RANKS for found in (one, other)),
            default=EXAMPLE_RANKS,
        )
        found = clearest_example(one.measure, other.measure, min(ranks, EXAMPLE_RANKS))
        if found is None:
            if json:
                print_json({"first": str(one.measure), "second": str(other.measure), "lists": None})
            else:
                print_text("The two measures order all short lists in the same way.")
            return
        lists = found[0], found[1]
    result = explained(one.measure, other.measure, *lists)
    if json:
        print_json(_as_json(result, one, other, lists, grades))
    else:
        print_text(_in_words(result, one, other, lists, grades, given))


def _on_one_scale(
    first: str, second: str, scale: str | None, n_ranks: int
) -> tuple[Scale, NamedMeasure, NamedMeasure]:
    """Return the two measures on the declared grades, or on those that one of them names."""
    from dcglearn.measures.names import is_measure_file_name, measure_for_documents, parse_measure
    from dcglearn.measures.scale import Scale

    grades = None if scale is None else Scale.parse(scale)
    for name in (first, second):
        if grades is None and (is_measure_file_name(name) or "[" in name or "{" in name):
            measure = parse_measure(name).measure
            grades = Scale(measure.grades or tuple(range(measure.n_grades))[::-1])
    if grades is None:
        raise preset_without_grades(first)
    return (
        grades,
        measure_for_documents(first, grades, n_ranks),
        measure_for_documents(second, grades, n_ranks),
    )


def _lists(a: str, b: str, grades: Scale, n_ranks: int | None) -> tuple[Grades, Grades]:
    from dcglearn.data.rankings import encode_list, pad_lists

    rows = []
    for option, text in (("--a", a), ("--b", b)):
        labels = [part.strip() for part in text.split(",")]
        try:
            rows.append(encode_list([None if x == "-" else x for x in labels], grades))
        except InputError as error:
            raise error.at(option) from error
    width = n_ranks or max(map(len, rows))
    if max(map(len, rows)) > width:
        raise InputError(f"a list has more than {width} grades", "raise --K, or cut the list")
    found = pad_lists(rows, width)
    return found[0], found[1]


def _labels(row: Grades, grades: Scale) -> list[str]:
    return ["-" if grade < 0 else str(grades.labels[grade]) for grade in row.tolist()]


def _in_words(
    result: Explanation,
    one: NamedMeasure,
    other: NamedMeasure,
    lists: tuple[Grades, Grades],
    grades: Scale,
    given: bool,
) -> str:
    from dcglearn.measures.dcg import DCG
    from dcglearn.report.tables import Table

    shown = [_labels(row, grades) for row in lists]
    lines = [] if given else ["An example on which they differ most:", ""]
    terms = result.contributions
    rows = [
        (str(rank), x, y, float(s), float(t))
        for rank, (x, y, s, t) in enumerate(zip(*shown, *terms, strict=True), start=1)
    ]
    total = ("sum", "", "", float(terms[0].sum()), float(terms[1].sum()))
    columns = ("rank", "a", "b", one.name, other.name)
    caption = "Contribution of each rank, for a (+) or b (-), as a share of their absolute sum"
    lines.append(Table(columns, [*rows, total], caption, 3).text())
    for found, lead, winner in zip((one, other), result.differences, result.winners, strict=True):
        unit = " in DCG" if isinstance(found.measure, DCG) and found.measure.normalise else ""
        words = "a and b equal" if winner == "equal" else f"{winner} better, by {abs(lead):g}{unit}"
        lines.append(f"{found.name} has {words}: {found.measure}")
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
    return "\n".join([*lines, *_certain(one.measure, lists, grades)])


def _certain(measure: Measure, lists: tuple[Grades, Grades], grades: Scale) -> list[str]:
    """Return what holds for all measures, and the smallest change that reverses the first."""
    from dcglearn.coherence.advantage import advantage
    from dcglearn.coherence.smallest_change import smallest_change_of_gains
    from dcglearn.coherence.verdict import verdict
    from dcglearn.measures.dcg import DCG

    D = advantage(*lists, len(grades))
    found = verdict(D, worst_gain="zero")
    words = {
        "a": "a is better for all falling gains and discounts",
        "b": "b is better for all falling gains and discounts",
        "equal": "they are equal for all falling gains and discounts",
        "depends": "which is better depends on the gains or the discounts",
    }
    lines = [f"With the worst grade worth 0, {words[found.winner]}."]
    falling = isinstance(measure, DCG) and all(
        x >= y for x, y in zip(measure.gains, measure.gains[1:], strict=False)
    )
    if found.winner == "depends" and falling and isinstance(measure, DCG):
        c = measure.discounts_for(len(lists[0]))
        flip = smallest_change_of_gains(D, measure.gains, c)
        if flip is not None and flip.distance > 0:
            tie = ", ".join(
                f"{label}: {gain:.4g}" for label, gain in zip(grades.labels, flip.tie, strict=True)
            )
            lines.append(f"Gains beyond {tie} reverse the verdict of the first measure.")
    return lines


def _as_json(
    result: Explanation,
    one: NamedMeasure,
    other: NamedMeasure,
    lists: tuple[Grades, Grades],
    grades: Scale,
) -> dict[str, Any]:
    return {
        "first": str(one.measure),
        "second": str(other.measure),
        "lists": [_labels(row, grades) for row in lists],
        "leads": list(result.differences),
        "winners": list(result.winners),
        "shares by rank": result.contributions.tolist(),
        "reason": result.reason or None,
    }
