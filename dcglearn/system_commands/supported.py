"""What ``evaluate --supported`` prints and writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_outputs, write_text
from dcglearn.base.json_text import json_document
from dcglearn.base.progress import reporting
from dcglearn.system_commands.systems import evaluate_runs, files_of_measures
from dcglearn.terminal.output import print_json, print_text, terminal_width

if TYPE_CHECKING:
    from dcglearn.base.types import Floats
    from dcglearn.evaluation.evaluate import Evaluation
    from dcglearn.evaluation.rules import Rules
    from dcglearn.systems.supported import Supported


def print_supported(
    qrels: str,
    runs: list[str],
    measures: dict[str, str],
    rules: Rules,
    scale: str | None,
    out: list[str],
    seed: int,
    digits: int,
    json: bool,
    asked_too: Mapping[str, object],
) -> None:
    """Compare systems under the measures that were drawn around a learned one."""
    import numpy as np

    for option, value in asked_too.items():
        if value is not None:
            raise InputError(f"{option} with --supported", "leave one of them out")

    from dcglearn.system_report.supported import supported_json, supported_tables
    from dcglearn.systems.supported import supported_systems

    inputs = [qrels, *runs, *files_of_measures(measures.values())]
    check_outputs(out, inputs, (".json", ".csv", ".png", ".svg", ".pdf"))
    if len(measures) != 1:
        raise InputError("--supported without one measure", "give -m learned.json")
    if len(runs) < 2:
        raise InputError("--supported with one run", "give several")
    evaluation = evaluate_runs(qrels, runs, measures, rules, scale)
    gains, discounts = _drawn(evaluation)
    with reporting("comparing systems"):
        rng = np.random.default_rng(seed)
        found = supported_systems(evaluation, gains, discounts, rng)
    for path in out:
        _write(found, path)
    if json:
        print_json(supported_json(found))
        return
    systems, pairs = supported_tables(found, digits)
    print_text(systems.text(terminal_width()) + "\n\n" + pairs.text(terminal_width()))
    for path in out:
        print_text(f"wrote {path}")


def _drawn(evaluation: Evaluation) -> tuple[Floats, Floats]:
    """Return the drawn measures of the file, with a gain for each grade of the qrels."""
    from dcglearn.learning.record import LearnedRecord

    one = evaluation.measures[0]
    file = getattr(one, "file", None)
    record = LearnedRecord.read(file) if file is not None else None
    if file is None or record is None or record.draws is None or file.dcg is None:
        raise InputError(
            "holds no measures that the judgments support",
            "fit it again with --draws 1000",
            one.name,
        )
    labels = list(file.dcg.grades or evaluation.qrels.scale.labels)
    columns = [labels.index(label) for label in evaluation.qrels.scale.labels]
    return record.draws.gains[:, columns], record.draws.discounts


def _write(found: Supported, path: str) -> None:
    from dcglearn.figures.style import save
    from dcglearn.figures.supported_figure import draw_supported
    from dcglearn.system_report.supported import supported_json, supported_tables

    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        write_text(path, json_document(supported_json(found)) + "\n")
    elif suffix == ".csv":
        supported_tables(found)[0].write(path)
    else:
        save(draw_supported(found), path)
