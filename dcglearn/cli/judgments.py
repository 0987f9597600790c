"""Commands on judgments: what they say, a measure learned from them, and which to ask for next.

inspect, study, fit, test, compare, agree, show, pack, pairs, plan, judge and simulate.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

import dcglearn
from dcglearn import report
from dcglearn.base.errors import InputError, naming
from dcglearn.base.files import check_outputs, checked_suffix, json_document, read_text, write_text
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.options import (
    FORMATS_HELP,
    JUDGMENTS_HELP,
    SEVERAL_HELP,
    JudgmentFilesArgument,
    JudgmentOptions,
    JudgmentsAndMeasuresArgument,
    LearnerOptions,
    RanksOption,
    ScaleOption,
    SeedOption,
    check_distinct,
    measures_for_judgments,
    name_files,
    number_option,
    ranks_option,
    refuse_together,
    seeded,
    split_measures,
)
from dcglearn.cli.output import print_text

MAX_MODELLED = 1_000_000
"""More packed judgments are tested without reading them into memory."""

share_option = partial(Option, min=0.0, max=1.0, metavar="SHARE")


@command()
def inspect(files: JudgmentFilesArgument, judgments: JudgmentOptions) -> Answer:
    """Describe a file of judgments and what it can determine."""
    from dcglearn.learning.record import as_json

    opened, documents = judgments.open(files), judgments.documents
    noun = "document" if documents else "grade"
    data, known = judgments.in_memory(opened), None
    with reporting(f"inspecting {counted(len(data), 'judgment')}"):
        found = dcglearn.inspect_judgments(data, documents)
        if found.summary.strict:
            problem = dcglearn.Problem.of(
                data.pairs, data.n_grades, weights=data.pair_weights, monotone=not documents
            )
            found_out = dcglearn.identify(problem)
            known = {
                **as_json(found_out),
                "statements": found_out.undetermined(data.scale.labels, noun),
            }
    content = {
        "file": name_files(files),
        f"{noun}s": data.scale.labels,
        **found.to_json(),
        "reading": opened.counts(),
        "identifiability": known,
    }
    scale = report.scale_text(data.scale, judgments.scale is not None, documents)
    return Answer(lambda: content, lambda: report.inspection_page(content, found, scale))


@command(
    "Write the page (.html, .md, .txt), or the recommended measure with all numbers (.json).",
    without=["documents"],
)
def study(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions,
    measure: str | None = None,
    on_qrels: str | None = None,
    on_run: list[str] | None = None,
    seed: SeedOption = 0,
) -> Answer:
    """Say on one page what judgments prove.

    Parameters
    ----------
    measure, -m : MEASURE
        The measure in use now; by default (2^g - 1) / log2(rank + 1).
    on_qrels : QRELS
        Grades of documents, for --on-run.
    on_run : RUN
        A run, of two or more: say how many of their comparisons end otherwise with the recommended
        measure.
    """
    from dcglearn.judgments.read import MODEL_BYTES

    runs = on_run or []
    if bool(on_qrels) != (len(runs) > 1):
        raise InputError("--on-qrels and two --on-run belong together", "give both, or neither")
    prefs = name_files(files)
    data = judgments.load(files, MODEL_BYTES)
    named = measures_for_judgments([measure], data) if measure else []
    in_use = {one.name: one.measure for one in named}
    with naming(prefs), reporting("studying (steps)") as advance:
        found = dcglearn.study_judgments(data, Path(prefs).name, seeded(seed), in_use, advance)
    if on_qrels:
        with naming(on_qrels), reporting("comparing runs"):
            found = replace(found, changed=report.changed_comparisons(found, on_qrels, runs))
    return Answer(
        lambda: report.study_json(found),
        lambda: report.study_page(found, "txt"),
        lambda path: dcglearn.write_study(found, path),
    )


@command("Write the measure to a .json file.")
def fit(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions,
    learner: LearnerOptions,
    prior: str = "usual",
    intervals: Annotated[int, number_option()] = 0,
    draws: Annotated[int, Option(min=0, max=100_000)] = 0,
    no_certainty: bool = False,
    seed: SeedOption = 0,
    workers: str = "1",
) -> Answer:
    """Learn gains and discounts from judgments or packed pairs.

    Parameters
    ----------
    prior : usual|MEASURE|none
        What learning starts from, and departs from on evidence: the usual measures, one measure (a
        preset, a file), or none, which gives the DCG nearest to the learned weights.
    intervals
        Add the range of gains and discounts in 95% of N fits to resampled queries.
    draws : N
        Add N measures that the judgments allow, each as often as it is probable, for evaluate
        --supported (1,000 are plenty).
    no_certainty
        Leave out intervals, which take most of the time of a million judgments.
    workers : N|tcp://HOST:PORT
        Processes that read packed pairs (1: threads of this one), or the address of a Dask
        scheduler.
    """
    from dcglearn.measures.measure import measure_document

    prefs, parameters = name_files(files), learner.parameters()
    held = judgments.hold(files)
    with naming(prefs):
        content = dcglearn.fit_file(
            held,
            **parameters,
            prior=prior,
            use=learner.use,
            intervals=intervals,
            draws=draws,
            certainty=not no_certainty,
            seed=seed,
            workers=workers,
            documents=judgments.documents,
            source=Path(prefs).name,
            progress=True,
        )
    strict = content.about["learned_from"]["strict"]
    scale = report.scale_text(held.scale, judgments.scale is not None, judgments.documents)
    return Answer(
        lambda: measure_document(content),
        lambda: report.learned_text(content, report.held_text(prefs, held, strict, scale)),
        lambda path: dcglearn.write_measure(content, path),
        remark=f"; commands given this file use its {'DCG' if learner.use == 'dcg' else 'W'}",
    )


@command(without=["documents"])
def test(
    files: Annotated[
        list[str],
        Argument(
            metavar="JUDGMENTS",
            help=f"{JUDGMENTS_HELP} Of several files, the first and the rest are compared.",
        ),
    ],
    judgments: JudgmentOptions,
    gains: str | None = None,
    discounts: str | None = None,
    measure: str | None = None,
    larger_gains: str | None = None,
    larger_discounts: str | None = None,
    larger_positions: bool = False,
    by: str | None = None,
) -> Answer:
    """Test a measure, or compare groups of judgments.

    Parameters
    ----------
    gains : FAMILY
        Test these gains: linear, exponential, power:free ...
    discounts : FAMILY
        Test these discounts: log2, zipf, rbp:free ...
    measure, -m : MEASURE
        Test this measure.
    larger_gains : FAMILY
        Family of the gains of the larger model that is tested against; free by default.
    larger_discounts : FAMILY
        Family of the discounts of the larger model; free by default.
    larger_positions
        The larger model has gains of its own at every rank.
    by : FIELD
        Compare the groups that this field or column names.
    """
    from dcglearn.inference.families import families_in_words, parse_families

    several, file = len(files) > 1, files[0]
    families = {"--gains": gains, "--discounts": discounts}
    larger_families = {"--larger-gains": larger_gains, "--larger-discounts": larger_discounts}
    refuse_together({"--measure": measure}, families, {"--by": by}, {"several files": several})
    refuse_together({"--larger-positions": larger_positions}, larger_families)
    if any(larger_families.values()) and not (gains or discounts or measure or by or several):
        raise InputError(
            "--larger-gains or --larger-discounts without --gains or --discounts",
            "name what is tested",
        )
    larger = dcglearn.JudgmentModel(
        **parse_families(larger_families), position_dependent=larger_positions
    )
    if by or several:
        with naming(file), reporting(f"reading {name_files(files)} (judgments)") as advance:
            everyone, groups = dcglearn.read_groups(files, by, advance, **judgments.reading())
        kept = judgments.kept(everyone)  # judges are dropped from all files together
        with naming(file), reporting("comparing groups"):
            segments = dcglearn.compare_segments(everyone[kept], groups[kept].tolist(), larger)
        return Answer(
            lambda: report.segments_json(segments), lambda: report.segments_text(segments)
        )

    given = parse_families(families)
    data = judgments.hold(files, MAX_MODELLED)
    with naming(file), reporting("testing (judgments read)"):
        if measure:
            with naming("--measure"):
                (one,) = measures_for_judgments([measure], data)
            tested = dcglearn.JudgmentModel(measure=one.measure)
            found = [dcglearn.ask(data, tested, larger, one.name)]
        elif given or larger_positions:
            tested = replace(larger, position_dependent=False, **given)
            name = families_in_words(families, larger_families)
            found = [dcglearn.ask(data, tested, larger, name)]
        else:
            found = [*dcglearn.usual_questions(data, larger)]
    return Answer(
        lambda: [report.question_json(one) for one in found], lambda: report.questions_text(found)
    )


@command(
    "Write the table (.md, .tex, .csv, .txt, .json) or the figure (.png, .svg, .pdf).",
    without=["documents"],
)
def compare(
    arguments: JudgmentsAndMeasuresArgument,
    judgments: JudgmentOptions,
    learner: LearnerOptions,
    folds: Annotated[int, Option(min=2)] = 10,
    repeats: Annotated[int, number_option(min=1)] = 10,
    against: str | None = None,
    seed: SeedOption = 0,
) -> Answer:
    """Compare learned measures with others, by cross-validation.

    Parameters
    ----------
    folds : N
        Folds, by query.
    repeats
        Divisions into folds, averaged.
    against : MEASURE
        The measure that all are compared with; by default the learned one.
    """
    from dcglearn.learning.record import LearnedRecord

    parameters = dcglearn.Parameters(**learner.parameters())
    files, names = split_measures(arguments)
    check_distinct(names)
    prefs = name_files(files)
    data = judgments.load(files)
    named = measures_for_judgments(names, data)
    if against is not None and against not in [one.name for one in named]:
        named += measures_for_judgments([against], data)
    with naming(prefs), reporting("comparing (folds)") as advance:
        found = dcglearn.compare(
            data,
            {one.name: one.measure for one in named},
            parameters,
            seeded(seed),
            learner.use,
            folds,
            against=against,
            n_repeats=repeats,
            advance=advance,
        )

    table = report.comparison_table(found)
    lines = [table.text()]
    if (data.weights != data.weights[:1]).any():
        lines.append("Agreement is weighted; the counts of CSV and JSON are not.")
    for one in named:
        record = LearnedRecord.read(one.file) if one.file else None
        if record and record.learned_from.file in (Path(name).name for name in (prefs, *files)):
            lines.append(
                f"{one.name} was itself learned from {record.learned_from.file}: its agreement is "
                "too high"
            )
    content = {"file": prefs, **found.to_json()}
    return Answer(
        lambda: content,
        lambda: "\n".join(lines),
        table=table,
        draw=lambda: report.draw_comparison(found, f"Measures compared on {Path(prefs).name}"),
    )


@command()
def agree(arguments: JudgmentsAndMeasuresArgument, judgments: JudgmentOptions) -> Answer:
    """Count how often measures agree with judgments."""
    from dcglearn.judgments.preferences import query_counts
    from dcglearn.learning.agreement import judged_agreement

    files, names = split_measures(arguments)
    prefs = name_files(files)
    if judgments.documents and not names:
        raise InputError("presets need grades, and documents have none", "name a learned measure")
    data = judgments.load(files)
    named = measures_for_judgments(names, data)
    data = data[data.weights > 0]
    if not data.strict.any():
        raise InputError("no strict preference has a weight above 0", "add an answer a or b", prefs)
    strict, weighted = int(data.strict.sum()), bool((data.weights != data.weights[0]).any())
    n_queries, alone = query_counts(data.queries[data.strict])
    content = {
        "file": prefs,
        "judgments": len(data),
        "strict": strict,
        "ties": len(data) - strict,
        "queries": n_queries,
        "without_query": alone,
        "rows": [
            {
                "measure": one.name,
                **judged_agreement(one.measure, data)._asdict(),
                "in full": report.in_full(one),
            }
            for one in named
        ],
    }
    return Answer(lambda: content, lambda: report.agreement_table(content, weighted).text())


@command("Draw it, beside the usual measures, to a .png, .svg or .pdf file.")
def show(
    measure: str,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
) -> Answer:
    """Show a measure: its numbers, and a figure with the usual ones.

    Parameters
    ----------
    measure : MEASURE
        A measure file, a preset with --scale, or a measure in full.
    """
    from dcglearn.measures.measure import as_measure_file, measure_document
    from dcglearn.measures.names import named_measure

    named = named_measure(measure, scale, n_ranks)
    content = named.file or as_measure_file(named.measure)
    return Answer(
        lambda: measure_document(content),
        lambda: report.measure_text(named, content, n_ranks),
        draw=lambda: report.draw_measure_file(
            content, f"{Path(named.name).name}: {report.in_full(named)}"
        ),
    )


@command(without=["documents", "drop_judge"])
def pack(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions,
    out: str,
) -> None:
    """Pack judgments into a file that is read in parts.

    Parameters
    ----------
    out : OUT
        The .parquet file to write.
    """
    from dcglearn.judgments.packed import is_packed

    if len(files) > 1 and Path(out).exists() and not is_packed(out):
        raise InputError(
            "is there, and holds no packed pairs",
            "name the file to write last; one that is not there yet, or of packed pairs",
            out,
        )
    opened = judgments.open(files)
    done = ties = 0
    with (
        reporting(f"packing {counted(len(opened), 'judgment')}") as advance,
        dcglearn.packed_writer(out, opened.scale) as write,
    ):
        for part in opened.batches():
            write(part)
            done, ties = done + len(part), ties + (~part.strict).sum()
            advance(done, len(opened))
    left = f", {ties:,} of them without a preference" if ties else ""
    print_text(f"wrote {out}: {counted(done, 'judgment')}{left}")


@command(without=["documents", "qrels", "run", "answers", "drop_judge"])
def pairs(
    files: Annotated[
        list[str],
        Argument(
            metavar="RATINGS",
            help=f"{FORMATS_HELP} Columns: grades (of a list, from the first rank) and rating, "
            f"score or satisfaction; where known, query, judge and weight. {SEVERAL_HELP}",
        ),
    ],
    judgments: JudgmentOptions,
    out: str,
    rating: str | None = None,
    within: Literal["query", "judge", "all"] = "query",
    min_difference: float = 0.0,
    no_ties: bool = False,
    equal_weights: bool = False,
    at_most: Annotated[int | None, number_option(min=1)] = None,
    seed: Annotated[int | None, Option(min=0)] = None,
) -> Answer:
    """Make judgments of pairs of lists that were rated one by one.

    Parameters
    ----------
    out, -o : FILE
        The file to write: JSON lines, CSV or Parquet.
    rating : FIELD
        The column of the rating; by default rating, score or satisfaction.
    within
        Pair lists of one query, of one query and judge, or all lists.
    min_difference : X
        Leave out pairs whose ratings differ by less; equal ones are ties.
    no_ties
        Leave out pairs of equal ratings.
    equal_weights
        Give every pair the weight 1, not 2/n in a query with n lists.
    at_most
        Draw N of the pairs if there are more; they get all of the weight.
    seed : N
        Draw which list is shown as a; by default a and b win in turn.
    """
    from dcglearn.judgments.writing import check_judgment_format

    check_judgment_format(out)
    name = name_files(files)
    with reporting(f"reading {name}") as advance:
        rated = dcglearn.read_ratings(files, rating, advance=advance, **judgments.reading())
    with naming(name):
        found = dcglearn.pairs_from_ratings(
            rated, within, min_difference, not no_ties, equal_weights, at_most, seed
        )
    made = found.preferences
    dcglearn.write_preferences(made, out)
    strict = int(made.strict.sum())
    content = {
        "file": out,
        "judgments": len(made),
        "strict": strict,
        "ties": len(made) - strict,
        "weight": float(made.weights.sum()),
        "identical": int((made.lists[:, 0] == made.lists[:, 1]).all(axis=1).sum()),
        "lists": found.lists,
        "groups": found.groups,
        "possible": found.possible,
        "left_out": {
            "lists_without_id": found.without_id,
            "lists_alone": found.alone,
            "equal": found.equal,
            "small": found.small,
            "not_drawn": found.not_drawn,
        },
    }
    sides = f"{'in turn' if seed is None else 'drawn'}; a wins {int((made.answers == 0).sum()):,}"
    return Answer(
        lambda: content, lambda: report.rating_pairs_text(content, within, equal_weights, sides)
    )


@command("Write the questions (.jsonl), or the widths as a figure (.png, .svg, .pdf).")
def plan(
    qrels: Annotated[str | None, Argument()] = None,
    runs: Annotated[list[str] | None, Argument()] = None,
    lists: str | None = None,
    n_ranks: Annotated[int | None, ranks_option(max=100)] = None,
    ask: str = "everything",
    judged: list[str] | None = None,
    asked: list[str] | None = None,
    questions: Annotated[int, number_option("--questions", "-n", min=1, max=10_000)] = 100,
    most_per_query: Annotated[int, number_option()] = 3,
    repeat: Annotated[float, share_option()] = 0.0,
    to_within: list[str] | None = None,
    scale: ScaleOption = None,
    seed: SeedOption = 0,
) -> Answer:
    """Choose the pairs whose answers say most.

    Parameters
    ----------
    qrels : QRELS
        The grades of documents, as for evaluate.
    runs : RUN
        Two or more runs: what they rank first is compared. Without runs, lists are made of the
        judged documents of each query.
    lists : QUESTIONS
        Choose from pairs of lists in a .jsonl file: question, query, a, b, of any length.
    n_ranks
        The length of the lists, 5 by default.
    ask : WHAT
        everything, order (of lists), gains, discounts, 'gain 1', 'discount 3', or two measures to
        decide between: linear-log2:exponential-log2.
    judged : JUDGMENTS
        Answers so far. May be repeated.
    asked : QUESTIONS
        The questions so far: answers that do not belong to them, or whose lists were edited, are
        counted and left out. May be repeated.
    questions
        The number of questions.
    most_per_query
        Ask at most N questions about one query, whose answers are alike (0: no limit).
    repeat
        Ask this share of the questions once more, to see who contradicts themselves.
    to_within : NAME=HALF
        Say how many answers make an interval so narrow: gains=.05 is +-.05 for each gain. May be
        repeated.
    """
    from dcglearn.asking.questions import read_answers

    rng = seeded(seed)
    with naming(lists or qrels or "plan"), reporting("reading or making pairs of lists"):
        if lists is not None and n_ranks is not None:
            raise InputError("--K with --lists", "leave it out: lists of a file have a length")
        if lists is not None and qrels is None:
            candidates = dcglearn.candidates_of_questions(dcglearn.read_questions(lists), scale)
        elif lists is not None or qrels is None:
            raise InputError("neither or both of QRELS and --lists", "give one of them")
        elif runs:
            candidates = dcglearn.candidates_of_runs(qrels, runs, n_ranks or 5, scale)
        else:
            n_made = max(20 * questions, 5_000)
            candidates = dcglearn.made_candidates(qrels, n_ranks or 5, n_made, rng, scale)
    with reporting("reading answers"):
        answers = read_answers(judged or [], asked or [], candidates.scale)
    with reporting("choosing questions"):
        found = dcglearn.plan(
            candidates, questions, rng, ask=ask, judged=answers, most_per_query=most_per_query
        )
    widths, chosen = found.widths_named(to_within or []), found.questions(rng, repeat)
    return Answer(
        lambda: report.plan_json(found, widths),
        lambda: report.plan_text(found, widths),
        lambda path: dcglearn.write_questions(path, chosen),
        draw=lambda: report.draw_plan(found),
    )


@command()
def judge(
    questions: str,
    out: str,
    documents: str | None = None,
    queries: str | None = None,
    instruction: str | None = None,
    judges: str | None = None,
    overlap: Annotated[float | None, share_option()] = None,
    to: Literal["page", "label-studio"] = "page",
    seed: SeedOption = 0,
) -> None:
    """Write the page on which judges answer questions.

    Parameters
    ----------
    questions : QUESTIONS
        The .jsonl file that dcglearn plan wrote.
    out, -o : FILE
        The .html page to write, or the .json file of tasks for Label Studio.
    documents : FILE
        What is shown of documents: the columns id, title, text (or snippet) and url; by default
        their ids.
    queries : FILE
        The text of queries: the columns id and text; by default their ids.
    instruction : FILE
        What judges are asked, in Markdown.
    judges : NAME,...
        Write a page for each judge: page-ann.html. By default one page asks for the name.
    overlap
        The share of the questions that all of the judges get, 0.1 by default; the others are for
        one judge each.
    to : TARGET
        One of page or label-studio.
    """
    from dcglearn.asking import questions as page

    tasks = to == "label-studio"
    refuse_together(
        {"--to label-studio": tasks}, {"--judges": judges, "--instruction": instruction}
    )
    if overlap is not None and judges is None:
        raise InputError("--overlap without --judges", "name the judges")
    pages = page.files_of_judges(out, judges)
    labelling = str(Path(out).with_suffix(".xml"))
    checked_suffix(out, [".json" if tasks else ".html"])
    written = [out, labelling] if tasks else [*pages.values()]
    read = [one for one in (questions, documents, queries, instruction) if one is not None]
    check_outputs(written, read, (".html", ".json", ".xml"))
    asked = page.read_questions(questions)
    shown, batch = page.shown_questions(asked, documents, queries), page.batch_name(asked)
    if tasks:
        write_text(out, json_document(page.label_studio_tasks(shown, seed)) + "\n")
        write_text(labelling, read_text(page.FOLDER / "label_studio.xml"))
        print_text(f"wrote {out}: {counted(len(shown), 'task')} of batch {batch}")
        print_text(f"wrote {labelling}: the labelling configuration of the project")
        return
    text = read_text(page.FOLDER / "instruction.md" if instruction is None else instruction)
    parts = page.questions_of_judges(shown, [*pages], 0.1 if overlap is None else overlap, seed)
    for name, path in pages.items():
        write_text(path, page.judge_page(parts[name], batch, text, name, seed))
        print_text(f"wrote {path}: {counted(len(parts[name]), 'question')} of batch {batch}")


@command()
def simulate(
    out: str,
    n: Annotated[int, number_option("--judgments", "-n", min=1)] = 500,
    truth: str = "linear-log2",
    scale: ScaleOption = "2,1,0",
    n_ranks: Annotated[int, ranks_option()] = 5,
    permute: bool = False,
    seed: SeedOption = 0,
) -> None:
    """Write simulated side-by-side judgments to try things on.

    Parameters
    ----------
    out : OUT
        The file to write: JSON lines, CSV or Parquet.
    n
        Number of judgments.
    truth : MEASURE
        The measure that the judge follows: a preset, or a measure in full.
    n_ranks
        Length of the lists.
    permute
        Both lists of a pair hold the same grades, permuted.
    """
    grades, rng = dcglearn.Scale.parse(scale or "2,1,0"), seeded(seed)
    if len(grades) < 2:
        raise InputError(f"--scale {grades} holds one grade", "name at least two")
    lists = dcglearn.drawn_lists(n, n_ranks, [1 / len(grades)] * len(grades), rng)
    if permute:
        lists[:, 1] = rng.permuted(lists[:, 0], axis=1)
    measure = dcglearn.measure_for(truth, grades, n_ranks).measure
    preferences = dcglearn.side_by_side(measure, lists, grades, rng)
    dcglearn.write_preferences(preferences, out)
    print_text(
        f"wrote {out}: {counted(len(preferences), 'judgment')} by a simulated judge who follows "
        f"{truth}, {preferences.strict.sum():,} strict"
    )
