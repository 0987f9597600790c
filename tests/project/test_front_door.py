"""What ``import dcglearn`` offers: typed, lazy, printable, picklable, complete."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpydoc.validate import validate

import dcglearn
from dcglearn.learning.identify import gram_matrices
from helpers.copies import copies_of

PACKAGE = Path(dcglearn.__file__).parent

QRELS = dcglearn.qrels_of({"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "b": 2, "c": 1}})
RUN = dcglearn.run_of({"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"b": 2, "c": 3}}, "one")
OTHER = dcglearn.run_of({"q1": {"a": 1, "b": 2, "c": 3}, "q2": {"b": 2, "c": 1}}, "two")
MEASURE = dcglearn.DCG([2, 1, 0], "log2", 3)


def test_every_exported_name_loads_and_is_listed() -> None:
    for name in dcglearn.__all__:
        assert getattr(dcglearn, name) is not None
    assert set(dcglearn.__all__) <= set(dir(dcglearn))
    with pytest.raises(AttributeError, match="DGC"):
        dcglearn.DGC  # noqa: B018 - the look-up itself is tested


def test_importing_it_loads_no_heavy_library() -> None:
    code = "import sys, dcglearn; print([m for m in ('numpy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def public_classes() -> list[type]:
    found = [getattr(dcglearn, name) for name in dcglearn.__all__]
    protocol = "_is_protocol"  # such a class has no objects of its own
    return [one for one in found if inspect.isclass(one) and not getattr(one, protocol, False)]


def public_functions() -> list[Any]:
    found = [getattr(dcglearn, name) for name in dcglearn.__all__]
    return [one for one in found if inspect.isfunction(one)]


def test_a_class_that_makes_an_argument_of_a_public_function_is_public() -> None:
    """So that names compose: whatever a function asks for can be made from what is exported."""
    classes = {
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }
    lacking = {}
    for function in public_functions():
        for parameter in inspect.signature(function).parameters.values():
            named = set(re.findall(r"\w+", str(parameter.annotation)))
            if unknown := (named & classes) - set(dcglearn.__all__):
                lacking[function.__name__] = unknown
    assert not lacking


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """One object of every public class, at least."""
    rng = np.random.default_rng(1)
    d = dcglearn
    lists = d.permuted_lists(60, rng, [0, 0, 1, 2])
    judged = d.Preferences.of(
        lists, ["a", "b", "tie"] * 20, d.Scale((2, 1, 0)), queries=[f"q{i % 12}" for i in range(60)]
    )
    rated = d.read_ratings(
        pd.DataFrame({"query": "q", "grades": [[2, 0], [1, 0]], "rating": [1, 0]})
    )
    learner = d.DCGLearner(n_grades=3).fit(judged.pairs)
    problem = d.Problem.of(judged.pairs, 3)
    table = d.advantage([0, 1, 2], [2, 1, 0], 3)
    found = d.evaluate(QRELS, [RUN, OTHER], [MEASURE])
    normalised = d.evaluate(QRELS, [RUN, OTHER], MEASURE.normalised() @ 3, rules=d.Rules("input"))
    conclusions = d.system_conclusions(normalised, 3, rng)
    index = d.index_qrels(QRELS)
    mean = d.mean_verdict([[0, 1]], [[1, 0]], [[0, 1]], "log2", 2, worst_gain="zero")
    packed = tmp_path_factory.mktemp("packed") / "pairs.parquet"
    with d.packed_writer(packed, judged.scale) as write:
        write(judged)
    parts = d.PackedPairs.of(packed)
    fitted = d.JudgmentModel(discounts="log2").fit(judged)
    drawn = d.drawn_lists(400, 3, [1 / 3] * 3, rng)
    many = d.side_by_side(MEASURE, drawn, judged.scale, rng)
    segments = d.compare_segments(many, [0, 1] * 200, fitted.model)
    made = d.made_candidates({"q": {f"d{i}": i % 3 for i in range(9)}}, 3, 60, rng)
    planned = d.plan(made, 3, rng, counts=[3])
    drawn_around = d.learn_dcg(judged).posterior.draw(10, rng)
    asked = d.usual_questions(judged, measures={"measure": MEASURE})
    return [
        fitted.model,
        fitted,
        fitted.gains()[1],
        d.link_test(fitted),
        held_out := d.held_out(fitted.model, judged, rng),
        *held_out.groups,
        asked[0],
        asked[0].test,
        segments,
        segments.compared[0],
        d.certainty_of(judged),
        d.learn_dcg(judged),
        made,
        planned,
        planned.questions(rng)[0],
        d.supported_systems(found, drawn_around.gains, drawn_around.discounts, rng),
        d.study_judgments(judged, "judgments.jsonl", rng),
        parts,
        d.Problem.packed(parts),
        d.Parameters(),
        fitted.model.fit(parts),
        d.DocumentGrades.of(QRELS, [RUN]),
        *d.system_pairs(found, MEASURE, 3),
        conclusions,
        conclusions.pairs[0],
        d.fit(problem),
        problem.sum_over_blocks(gram_matrices),
        MEASURE,
        d.LinearUtility([[1.0, 0.0], [0.5, 0.0]]),
        judged.scale,
        learner,
        d.learned_measure(learner, judged, "judgments.jsonl"),
        d.measure_for("linear-log2", judged.scale, 3),
        judged,
        rated,
        d.pairs_from_ratings(rated),
        d.inspect_judgments(judged),
        d.inspect_judgments(judged).summary,
        d.compare(judged, {"measure": MEASURE}, learner, rng),
        d.choose_C(learner.problem(judged.pairs), judged.pair_groups, rng, n_repeats=1),
        d.parameter_intervals(learner, judged, rng, 20),
        d.identify(problem),
        problem,
        d.solve(problem),
        learner.certificate_,
        QRELS,
        RUN,
        index,
        d.Rules(),
        d.ERR([1, 0]),
        d.RBP([1, 0]),
        found,
        d.compare_systems(found, "one", rng)[0],
        d.verdict(table),
        mean,
        d.beta_gamma_threshold([0.9, 0.5, 0.1], [3.0, -2.0, -2.0]),
        d.ranked_arrays([[1, 0, 2]], [[0.3, 0.2, 0.1]], 3),
        *d.compare_orderings(d.evaluate(QRELS, [RUN, OTHER], [MEASURE, "zipf"])),
        d.explain(MEASURE, d.DCG([3, 1, 0]) @ 3, [0, 1, 2], [2, 1, 0]),
        d.export(MEASURE, "lightgbm"),
        d.InputError("a problem", "a remedy", "a place"),
        d.SolverError("not solved"),
        d.InputWarning("a note"),
    ]


VALUES = [kind for kind in public_classes() if kind is not dcglearn.Lab]
"""Every public class but that of an open experiment, which is no value."""


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_public_objects_print_pickle_and_copy(kind: type, examples: list[Any]) -> None:
    of_kind = [one for one in examples if isinstance(one, kind)]
    assert of_kind, "add an example"
    for one in of_kind:
        shown = repr(one)
        assert " object at 0x" not in shown
        assert len(shown) < 1000
        assert [(type(other), repr(other)) for other in copies_of(one)] == [(type(one), shown)] * 3


def test_measures_are_taken_in_any_form(tmp_path: Path) -> None:
    d, pairs = dcglearn, [[[0, 2], [2, 0]], [[1, 2], [0, 2]]]
    path = tmp_path / "measure.json"
    d.write_measure(d.DCG([2, 1, 0]), path)
    forms: list[Any] = [d.DCG([2, 1, 0]), "DCG([2, 1, 0], log2)", path, str(path)]
    assert {d.agreement(one, pairs) for one in [*forms, d.read_measure(path)]} == {0.5}
    assert {d.explain(one, "DCG([3, 1, 0], log2)", [0, 2], [1, 1]).winners for one in forms} == {
        ("a", "a")
    }
    assert {d.export(one, "lightgbm").text for one in forms}
    assert d.export("linear-log2", "lightgbm", labels=(2, 1, 0)).text
    assert {float(d.sklearn_metric(one)([[2, 0, 1]], [[0.1, 0.2, 0.3]])) for one in forms}
    with pytest.raises(d.InputError, match="needs the grades and the number of ranks"):
        d.agreement("nDCG(zipf) @ 3", pairs)
    with pytest.raises(d.InputError, match="a measure of type int"):
        d.agreement(3, pairs)


def test_types_and_names_are_listed_alike() -> None:
    """``import *`` in an editor, which reads the stub, has the names that Python has."""
    stub = ast.parse(Path(dcglearn.__file__).with_suffix(".pyi").read_text("utf-8"))
    (listed,) = (ast.literal_eval(n.value) for n in stub.body if isinstance(n, ast.Assign))
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(dcglearn.__all__)


# --- what help(dcglearn.NAME) promises

MISSING = {"GL08": "docstring", "PR01": "parameter", "RT01": "result", "YD01": "yielded value"}
WRONG = {"PR02": "unknown parameter", "PR03": "order of parameters", "GL07": "order of sections"}


def public_objects() -> dict[str, Any]:
    """Return public functions, classes and their public methods by their names."""
    found: dict[str, Any] = {}
    for name in dcglearn.__all__:
        value = getattr(dcglearn, name)
        if inspect.isfunction(value):
            found[name] = value
        elif inspect.isclass(value):
            methods = {key for key in vars(value) if not key.startswith("_")}
            found[name] = value
            found |= {
                f"{name}.{key}": method
                for key, method in inspect.getmembers(value, inspect.isroutine)
                if key in methods
            }
    return found


OBJECTS = public_objects()


@pytest.mark.parametrize("name", OBJECTS)
def test_a_public_name_is_documented(name: str) -> None:
    """A function with every argument and its result; whatever else is documented is true."""
    function = inspect.isfunction(OBJECTS[name]) and "." not in name
    codes = WRONG | (MISSING if function else {"GL08": "docstring"})
    assert not [error for error in validate(f"dcglearn.{name}")["errors"] if error[0] in codes]
