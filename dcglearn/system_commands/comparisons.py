"""Which systems the command evaluate compares, and how the comparisons are printed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.progress import reporting
from dcglearn.terminal.choices import CompareChoice, CorrectChoice, PrintFormat
from dcglearn.terminal.output import print_note

if TYPE_CHECKING:
    from dcglearn.evaluation.evaluate import Evaluation
    from dcglearn.evaluation.rules import Rules
    from dcglearn.report.tables import Table
    from dcglearn.statistics.significance import PairedTest
    from dcglearn.systems.compare_systems import SystemComparison

MOST_UNASKED = 50
"""So many comparisons are made unasked; and so many pairs are printed one by one."""


def refuse_without_comparison(compared: bool, options: Mapping[str, object]) -> None:
    """Refuse options of comparisons where nothing is compared."""
    given = [name for name, value in options.items() if value is not None]
    if given and not compared:
        raise InputError(
            f"{given[0]} without a comparison",
            "leave it out (--test none, --per-query and a single run compare nothing)",
        )
    if options.get("--compare") == "all" and options.get("--baseline") is not None:
        raise InputError("--compare all with --baseline", "use one of them")


def check_topics(difference: float | None, n_runs: int, rules: Rules, form: PrintFormat) -> None:
    """Refuse ``--topics`` where no difference has a variance, or nothing would show it."""
    if difference is None:
        return
    if n_runs < 2 or rules.unjudged == "bounds":
        what = "one run" if n_runs < 2 else "--unjudged bounds"
        raise InputError(f"--topics with {what}", "give two or more runs with single values")
    if form != "text":
        raise InputError(f"--topics is printed as text or JSON, not as {form}", "leave one out")
    if not 0 < difference < math.inf:
        raise InputError(f"--topics is {difference:g}", "give a difference above 0, such as 0.02")


def compare_as_asked(
    evaluation: Evaluation,
    compare: CompareChoice | None,
    baseline: str | None,
    correct: CorrectChoice | None,
    test: PairedTest,
    resamples: int | None,
    seed: int,
) -> list[SystemComparison]:
    """Compare systems; without an option that asks for it, only where they are few."""
    import numpy as np

    from dcglearn.statistics.significance import RESAMPLES
    from dcglearn.systems.compare_systems import compare_all_pairs, compare_systems

    names = evaluation.systems
    if baseline is not None and baseline not in names:
        raise unknown_name("--baseline", baseline, names)
    asked = any(one is not None for one in (compare, baseline, correct, resamples))
    many = (len(names) - 1) * len(evaluation.comparable().measures)
    if many > MOST_UNASKED and not asked:
        print_note(
            f"no tests: {many:,} comparisons with {names[0]} are made on request only: --compare "
            "baseline, --baseline OTHER for another system, --compare all for all pairs"
        )
        return []
    if evaluation.rules.unjudged == "bounds" and not asked:
        print_note("no tests: --unjudged bounds gives no single value to compare")
        return []
    _check_comparable(evaluation)
    rng = np.random.default_rng(seed)
    draws, family = resamples or RESAMPLES, correct or "measure"
    with reporting("comparing systems") as advance:
        if compare == "all":
            return compare_all_pairs(evaluation, rng, test, draws, family, advance)
        base = baseline or names[0]
        return compare_systems(evaluation, base, rng, test, draws, family, advance)


def _check_comparable(evaluation: Evaluation) -> None:
    """Refuse comparisons that have no meaning."""
    if evaluation.rules.unjudged == "bounds":
        raise InputError(
            "--unjudged bounds gives no single value to compare",
            "add --test none, or use another value of --unjudged",
        )
    if len(evaluation.queries) < 2:
        raise InputError("one query is too few for a test", "add --test none, or more queries")


def tables_of_comparisons(
    evaluation: Evaluation, comparisons: Sequence[SystemComparison]
) -> list[Table]:
    """Return the tables to print: one of all comparisons, or digests of many pairs."""
    from dcglearn.system_report.all_pairs import all_pairs_tables
    from dcglearn.system_report.system_comparisons import comparisons_table
    from dcglearn.systems.compare_systems import has_several_baselines

    if not comparisons:
        return []
    if _are_many_pairs(comparisons):
        return all_pairs_tables(evaluation, comparisons)
    several = has_several_baselines(comparisons)
    whose = "of all pairs" if several else f"from {comparisons[0].baseline}"
    return [comparisons_table(comparisons, f"Differences {whose}")]


def words_of_comparisons(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Return what the tables say, one sentence per line."""
    from dcglearn.system_report.all_pairs import all_pairs_in_words
    from dcglearn.system_report.system_comparisons import comparisons_in_words

    if not _are_many_pairs(comparisons):
        return comparisons_in_words(comparisons)
    words = all_pairs_in_words(comparisons)
    return [*words, f"each of the {len(comparisons):,} comparisons: --format csv, or --json"]


def _are_many_pairs(comparisons: Sequence[SystemComparison]) -> bool:
    from dcglearn.systems.compare_systems import has_several_baselines

    return len(comparisons) > MOST_UNASKED and has_several_baselines(comparisons)
