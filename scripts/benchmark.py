"""Compare this package with others as problems grow by tens: ``benchmark.py SUBCOMMAND``.

* ``solvers``: pairs to a confirmed W, beside OSQP, Clarabel and LinearSVC
* ``files``: ``dcglearn fit`` from a file, beside tools that only read it
* ``evaluators``: runs to nDCG@10, beside pytrec_eval, ir_measures and ranx
* ``rankers``: what LightGBM and XGBoost learn for a learned measure

Each writes its section of ``results/benchmark/README.md``. Run it with ``.venv/bin/python``.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import itertools
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import meter
import numpy as np

import dcglearn
from dcglearn.lab.experiment_figures import draw_figure
from dcglearn.lab.plots import Figure, Plot, series_of
from dcglearn.lab.repetitions import mean_interval
from dcglearn.report.figures.style import save

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "results" / "benchmark" / "README.md"
SEED, CUTOFF, LIMIT = 1, 10, 600.0
Row = Sequence[object]


# Pairs to W
def pairs_of(n: int, K: int, L: int) -> Iterator[dcglearn.Pairs]:
    """Draw pairs of lists, ordered by a linear DCG over log2; a tenth of them is reversed."""
    rng, truth = np.random.default_rng(SEED), dcglearn.DCG(list(range(L, 0, -1)), "log2")
    while n:
        lists = dcglearn.drawn_lists(min(1 << 20, 2 * n + 100), K, [1 / L] * L, rng)
        pairs = dcglearn.true_pairs(truth, lists)[:n]  # without pairs of equal lists
        wrong = rng.permutation(len(pairs))[: len(pairs) // 10]
        pairs[wrong] = pairs[wrong, ::-1]
        n -= len(pairs)
        yield pairs


def this_solver(solver: Any, n: int, K: int, L: int, C: float) -> Callable[[], float]:
    """Return the work of this package: checks, encoding, optimum and certificate."""
    pairs = np.concatenate([*pairs_of(n, K, L)])
    return lambda: relative_gap(dcglearn.solve(dcglearn.Problem.of(pairs, L, C=C), solver))


def relative_gap(solution: Any) -> float:
    """Return the duality gap as a share of the objective."""
    return float(solution.certificate.gap / solution.certificate.objective)


def from_packed(n: int, K: int, L: int, C: float) -> Callable[[], float]:
    """Return the same of pairs in a file, which are read again at every pass."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "pairs.parquet")
    with dcglearn.packed_writer(path, dcglearn.Scale(tuple(range(L, 0, -1)))) as write:
        for pairs in pairs_of(n, K, L):
            write(pairs)

    def work() -> float:
        packed = dcglearn.PackedPairs.of(Path(folder.name, "pairs.parquet"))
        return relative_gap(dcglearn.solve(dcglearn.Problem.packed(packed, C=C), "newton"))

    return work


def linear_svc(n: int, K: int, L: int, C: float) -> Callable[[], str]:
    """Return LinearSVC's: without monotone constraints, and with every other row reversed."""
    from scipy.sparse import csr_array
    from sklearn.svm import LinearSVC

    pairs, labels = np.concatenate([*pairs_of(n, K, L)]), np.where(np.arange(n) % 2, -1.0, 1.0)

    def work() -> str:
        columns = (np.arange(0, K * L, L, dtype=np.int32) + pairs).ravel()
        data = (labels[:, None] * np.repeat([1.0, -1.0], K)).ravel()
        rows = np.arange(0, 2 * K * n + 1, 2 * K, dtype=np.int32)
        X = csr_array((data, columns, rows), (n, K * L))
        X.sum_duplicates()
        with warnings.catch_warnings(action="ignore"):  # that it stopped is in the answer
            svc = LinearSVC(
                loss="squared_hinge", dual=False, fit_intercept=False, C=C / 2, tol=1e-8
            )
            svc.fit(X, labels)
        return "step limit" if svc.n_iter_ >= svc.max_iter else ""

    return work


def loaded(prepare: Callable[..., Callable[[], Any]], *case: Any) -> Callable[[], Any]:
    """Solve a small problem first, which loads the libraries; then prepare this one."""
    prepare(20, *case[1:])()
    return prepare(*case)


SOLVERS: dict[str, tuple[Callable[..., Any], int, float]] = {
    "dcglearn": (partial(this_solver, "newton"), 0, 5e9),
    "OSQP": (partial(this_solver, "osqp"), 0, 5e7),
    "Clarabel": (partial(this_solver, "clarabel"), 0, 5e7),
    "LinearSVC": (linear_svc, 0, 5e8),
    "dcglearn, from a file": (from_packed, 10**6, 5e9),
}
"""How each is prepared, from how many pairs on, and up to which n K L it fits into memory."""


def solvers(options: argparse.Namespace) -> tuple[str, list[Row]]:
    """Solve simulated problems of 100 pairs and more, until a solver would take too long."""
    rows: list[Row] = []
    curves: dict[str, dict[int, float]] = {}
    for K, L, C in ((10, 5, 1.0), (10, 5, 100.0), (5, 3, 1.0), (100, 5, 1.0)):
        slow = set[str]()
        for n in tens(100, options.most or 10**7):
            tasks = {
                name: partial(meter.call, loaded, prepare, n, K, L, C, limit=LIMIT)
                for name, (prepare, least, largest) in SOLVERS.items()
                if name not in slow and least <= n <= largest / (K * L)
            }
            found = meter.compare(tasks, options.rounds if n <= 10**5 else 1)
            slow |= {name for name, (taken, *_) in found.items() if 10 * taken.seconds > LIMIT}
            rows += meter.rows_of(f"K = {K}, L = {L}, C = {C:g}: {n:,} pairs", found)
            if (K, L, C) == (10, 5, 1.0):
                for name, (taken, *_) in found.items():
                    curves.setdefault(name, {})[n] = taken.seconds
    draw(curves, options.page.parent)
    return (
        "Lists of K uniform grades out of L, ordered by the DCG with gains L ... 1 over "
        "log2(i + 1); a tenth of the pairs is reversed. The answer is the duality gap relative to "
        "the objective, which includes the certificate. LinearSVC solves the problem without "
        "monotone constraints, and makes its sparse X.\n\n"
        "![Seconds over the number of pairs](figure.svg)\n\n"
        + meter.machine("numpy", "scipy", "cvxpy", "osqp", "clarabel", "scikit-learn"),
        rows,
    )


def draw(curves: dict[str, dict[int, float]], folder: Path) -> None:
    """Draw the seconds of each solver over the number of pairs."""
    series = tuple(
        series_of(name, {n: mean_interval([seconds]) for n, seconds in points.items()})
        for name, points in curves.items()
    )
    plot = Plot("pairs; K = 10, L = 5, C = 1", "seconds", series, log_x=True)
    drawing = draw_figure(Figure("S1", "Pairs to the optimum", plot, ()))
    drawing.axes[0].set_yscale("log")
    drawing.axes[0].autoscale(axis="y")
    save(drawing, folder / "figure.svg")


# Files to gains
SUFFIXES = (".jsonl", ".csv", ".parquet")
READERS = {
    "pandas": ("read_json({!r}, lines=True)", "read_csv({!r})", "read_parquet({!r})"),
    "polars": ("read_ndjson({!r})", "read_csv({!r})", "read_parquet({!r})"),
    "duckdb": ("sql('create table t as from \\'' + {!r} + '\\'')",) * 3,
}


def files(options: argparse.Namespace) -> tuple[str, list[Row]]:
    """Fit files of 1,000 judgments and more; others only read them."""
    rows, sizes = list[Row](), tens(1000, options.most or 10**6)
    with tempfile.TemporaryDirectory() as folder:
        for n, (kind, suffix) in itertools.product(sizes, enumerate(SUFFIXES)):
            path = f"{folder}/judgments{suffix}"
            dcglearn.write_preferences(judgments_of(n), path)
            fit = [sys.executable, "-m", "dcglearn", "fit", path]
            tasks = {"dcglearn fit": partial(meter.command, fit)}
            tasks["without intervals"] = partial(meter.command, [*fit, "--no-certainty"])
            for name in filter(importlib.util.find_spec, READERS):
                code = f"import {name}; {name}.{READERS[name][kind].format(path)}"
                tasks[f"{name}, reading"] = partial(meter.command, [sys.executable, "-c", code])
            found = meter.compare(tasks, options.rounds)
            rows += meter.rows_of(f"{suffix[1:]}: {n:,} judgments", found)
    about = "Two lists of 10 grades, 5,000 queries and 50 judges; with the start of Python.\n\n"
    return about + meter.machine("numpy", "pandas", "polars", "duckdb", "pyarrow"), rows


def judgments_of(n: int) -> dcglearn.Preferences:
    """Return judgments by a DCG over log2, with noise and without ties."""
    rng, scale = np.random.default_rng(SEED), dcglearn.Scale((4, 3, 2, 1, 0))
    truth = dcglearn.DCG([4, 3, 2, 1, 0], "log2")
    lists = dcglearn.drawn_lists(n, 10, [0.2] * 5, rng)
    return dcglearn.side_by_side(truth, lists, scale, rng, 0.6, 0.0, n_queries=5000, n_judges=50)


# Runs to nDCG@10
def write_runs(folder: Path, n_runs: int, queries: int, documents: int, suffix: str) -> None:
    """Write qrels of grades 0-3, of a third of the documents, and runs."""
    rng = np.random.default_rng(SEED)
    judged = max(10, documents // 3)
    grades = rng.choice(4, (queries, judged), p=[0.7, 0.15, 0.1, 0.05])
    quality = np.pad(1.0 + grades, ((0, 0), (0, 2 * documents - judged)))
    pools = [rng.choice(10**9, 2 * documents, replace=False).tolist() for _ in range(queries)]
    with (folder / "qrels").open("w") as file:
        for q, pool in enumerate(pools):
            rows = zip(pool, grades[q].tolist(), strict=False)
            file.writelines(f"{q} 0 clueweb12-{one:09d} {grade}\n" for one, grade in rows)
    for number in range(n_runs):
        lines = []
        for q, pool in enumerate(pools):
            scores = np.round(quality[q] + rng.normal(0, 1.5, len(pool)), 4)
            for rank, i in enumerate(np.argsort(-scores)[:documents], 1):
                lines.append(f"{q} Q0 clueweb12-{pool[i]:09d} {rank} {scores[i]} s{number}\n")
        content = "".join(lines).encode()
        path = folder / f"run{number:02d}{suffix}"
        path.write_bytes(gzip.compress(content) if suffix else content)


def by_dcglearn(qrels: Path, runs: list[Path]) -> list[float]:
    """Return this package's mean of each run, with trec_eval's choices."""
    measure = f"nDCG(linear-log2) @ {CUTOFF}"
    return dcglearn.evaluate(qrels, runs, measure, rules="trec_eval").means()[:, 0].tolist()


def by_pytrec_eval(qrels: Path, runs: list[Path]) -> list[float]:
    """Return trec_eval's, by its Python binding."""
    import pytrec_eval

    with qrels.open() as file:
        judged = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {f"ndcg_cut.{CUTOFF}"})
    means = []
    for path in runs:
        with gzip.open(path, "rt") if path.suffix else path.open() as file:
            found = evaluator.evaluate(pytrec_eval.parse_run(file))
        means.append(float(np.mean([one[f"ndcg_cut_{CUTOFF}"] for one in found.values()])))
    return means


def by_ir_measures(qrels: Path, runs: list[Path]) -> list[float]:
    """Return ir_measures'."""
    import ir_measures

    measure = ir_measures.nDCG @ CUTOFF
    evaluator = ir_measures.evaluator([measure], ir_measures.read_trec_qrels(str(qrels)))
    read = ir_measures.read_trec_run
    return [float(evaluator.calc_aggregate(read(str(path)))[measure]) for path in runs]


def by_ranx(qrels: Path, runs: list[Path]) -> list[float]:
    """Return ranx's."""
    from ranx import Qrels, Run, evaluate

    judged = Qrels.from_file(str(qrels), kind="trec")
    read = [Run.from_file(str(path), kind="gz" if path.suffix else "trec") for path in runs]
    return [float(evaluate(judged, run, f"ndcg@{CUTOFF}", make_comparable=True)) for run in read]


def evaluator_of(evaluate: Callable[..., list[float]], folder: Path) -> Callable[[], str]:
    """Return the work of an evaluator, which has seen one run before: it is loaded and compiled."""
    runs = sorted(folder.glob("run*"))
    evaluate(folder / "qrels", runs[:1])
    return lambda: f"nDCG@10 {np.mean(evaluate(folder / 'qrels', runs)):.4f}"


EVALUATORS = (by_dcglearn, by_pytrec_eval, by_ir_measures, by_ranx)


def evaluators(options: argparse.Namespace) -> tuple[str, list[Row]]:
    """Evaluate one file of 100 queries and more, then many compressed files."""
    shapes = [(1, n, 100, "") for n in tens(100, options.most or 10**4)]
    shapes += [(3, 53, 100, ".gz") if options.most else (63, 53, 1000, ".gz")]
    rows: list[Row] = []
    for n_runs, queries, documents, suffix in shapes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_runs(folder, n_runs, queries, documents, suffix)
            tasks = {
                one.__name__[3:]: partial(meter.call, evaluator_of, one, folder, limit=LIMIT)
                for one in EVALUATORS
            }
            found = meter.compare(tasks, options.rounds)
        kind = "files, gzip" if suffix else "file"
        rows += meter.rows_of(f"{n_runs} {kind}: {queries:,} queries x {documents:,}", found)
    about = "Every evaluator has evaluated one run in the same process before.\n\n"
    return about + meter.machine("pyarrow", "pytrec_eval-terrier", "ir_measures", "ranx"), rows


# Learned measures to rankers
WAYS = ("its own", "its own, learned gains", "dcglearn's")
FOLDS = 5


class Queries(NamedTuple):
    """Features, labels and the sizes of queries."""

    X: Any
    labels: Any
    sizes: Any

    def only(self, kept: Any) -> Queries:
        """Return some of the queries, by a mask."""
        rows = np.repeat(kept, self.sizes)
        return Queries(self.X[rows], self.labels[rows], self.sizes[kept])

    def values(self, measure: dcglearn.DCG, scores: Any) -> Any:
        """Return the measure of each query under scores of its documents."""
        metric, ends = dcglearn.ranking_metric(measure), np.cumsum(self.sizes)[:-1]
        queries = zip(np.split(self.labels, ends), np.split(scores, ends), strict=True)
        return np.array([metric(one, by, None, [len(one)])[1] for one, by in queries])


def read_queries(folder: Path) -> Queries:
    """Read LightGBM's examples/lambdarank, training and test queries together."""
    from scipy import sparse
    from sklearn.datasets import load_svmlight_files

    names = [str(folder / f"rank.{part}") for part in ("train", "test")]
    X, labels, X_rest, rest = load_svmlight_files(names)
    sizes = [np.loadtxt(f"{name}.query", dtype=int) for name in names]
    both = sparse.vstack([X, X_rest]).tocsr()
    return Queries(both, np.concatenate([labels, rest]), np.concatenate(sizes))


def learned_measures(rated: Path) -> Iterator[tuple[str, dcglearn.DCG, dcglearn.DCG]]:
    """Yield who judged, the measure that is learned, and its gains with 1/log2(i + 1)."""
    rng, scale = np.random.default_rng(0), dcglearn.Scale((4, 3, 2, 1, 0))
    lists = dcglearn.drawn_lists(5_000, 5, [0.05, 0.1, 0.25, 0.35, 0.25], rng)
    truth = dcglearn.preset("constant", scale, 5)
    users = dcglearn.pairs_from_ratings(rated, "all", ties=False, at_most=60_000).preferences
    for title, judged in (
        ("satisfied users", users),
        ("simulated user, five ranks alike", dcglearn.side_by_side(truth, lists, scale, rng)),
    ):
        measure = dcglearn.learn_dcg(judged).dcg.normalised()
        yield title, measure, replace(measure, discounts="log2")


def exported(measure: dcglearn.DCG, tool: str) -> dict[str, Any]:
    """Run the text that is exported for a tool."""
    module: dict[str, Any] = {}
    exec(dcglearn.export(measure, tool).text, module)  # noqa: S102 - text of this package
    return module


def by_lightgbm(queries: Queries, way: str, measure: dcglearn.DCG, log2: dcglearn.DCG) -> Any:
    """Train 100 trees; return what scores documents."""
    import lightgbm

    params: dict[str, Any] = {"objective": "lambdarank"}
    if way == WAYS[1]:
        params = exported(log2, "lightgbm")["PARAMS"]
    elif way == WAYS[2]:
        params = {"objective": dcglearn.lambdarank_objective(measure)}
    params |= {"learning_rate": 0.05, "num_leaves": 7, "verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(queries.X, queries.labels, group=queries.sizes)
    booster = lightgbm.train(params | {"metric": "none"}, data, 100)
    return partial(booster.predict, raw_score=True)


def by_xgboost(queries: Queries, way: str, measure: dcglearn.DCG, log2: dcglearn.DCG) -> Any:
    """Train 100 trees; XGBoost's own second derivatives are twice those of the objective."""
    import xgboost

    labels, objective, twice = queries.labels, None, 2
    params: dict[str, Any] = {"objective": "rank:ndcg"}
    if way == WAYS[1]:
        text = exported(log2, "xgboost")
        params, labels = text["PARAMS"], [text["LABELS"][int(one)] for one in labels]
    elif way == WAYS[2]:
        objective, twice = dcglearn.lambdarank_objective(measure), 1
    params |= {"eta": 0.05 * twice, "lambda": 0.5 * twice, "min_child_weight": 0.5 * twice}
    data = xgboost.DMatrix(queries.X, label=labels, group=queries.sizes)
    params |= {"max_depth": 3, "nthread": 1}
    booster = xgboost.train(params, data, 100, obj=objective)
    return lambda X: booster.predict(xgboost.DMatrix(X))


def rankers(options: argparse.Namespace) -> tuple[str, list[Row]]:
    """Cross-validate what each tool learns, by its own objective and by this package's."""
    data, rounds, rows = options.data, options.rounds, list[Row]()
    queries = read_queries(data / "lambdarank")
    n = len(queries.sizes)
    for title, measure, log2 in learned_measures(data / "satisfaction" / "tiangong-fsd.jsonl"):
        for tool, train in {"LightGBM": by_lightgbm, "XGBoost": by_xgboost}.items():
            held_out = np.zeros((len(WAYS), n))
            for repeat in range(rounds):
                folds = np.random.default_rng(repeat).permutation(n) % FOLDS
                for fold, (row, way) in itertools.product(range(FOLDS), enumerate(WAYS)):
                    score = train(queries.only(folds != fold), way, measure, log2)
                    outside = queries.only(folds == fold)
                    held_out[row, folds == fold] += outside.values(measure, score(outside.X))
            for way, values in zip(WAYS, held_out / rounds, strict=True):
                lead = values - held_out[0] / rounds
                mean, half = lead.mean(), 1.96 * lead.std(ddof=1) / np.sqrt(n)
                text = f"{mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f})" if half else ""
                rows.append((title, tool, way, f"{values.mean():.4f}", text))
    about = (
        f"{n} queries of LightGBM's examples/lambdarank in {FOLDS} folds, {rounds} times, 100 "
        "trees. The measure is learned from users' satisfaction (github.com/xuanyuan14, "
        "Reformulation-Aware-Metrics), or from a simulated user.\n\n"
    )
    return about + meter.machine("lightgbm", "xgboost-cpu", "numpy"), rows


MEASURED = ("case", "tool", *meter.HEAD)
LED = ("judge", "tool", "objective", "held out", "lead over its own (95% interval)")
SECTIONS = {
    "solvers": (solvers, "From pairs to the optimum", MEASURED),
    "files": (files, "From a file to gains", MEASURED),
    "evaluators": (evaluators, "From runs to nDCG@10", MEASURED),
    "rankers": (rankers, "Rankers for a learned measure", LED),
}


def tens(least: int, most: float) -> list[int]:
    """Return 100, 1,000, ... up to `most`, and `least` in any case."""
    return [least, *itertools.takewhile(most.__ge__, (least * 10**k for k in range(1, 9)))]


def write_section(page: Path, name: str, about: str, rows: Iterable[Row]) -> None:
    """Write a section of the page, and leave the others as they are."""
    _, title, columns = SECTIONS[name]
    lines = [columns, (":--",) * len(columns), *rows]
    table = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    text = page.read_text("utf-8") if page.exists() else "# Benchmarks\n"
    parts = {one.partition("\n")[0]: one for one in text.split("\n## ")[1:]}
    parts[title] = f"{title}\n\n`scripts/benchmark.py {name}`. {about}\n\n{table}\n"
    kept = [f"\n## {parts[one].rstrip()}\n" for _, one, _ in SECTIONS.values() if one in parts]
    page.write_text(text.split("\n## ")[0].rstrip() + "\n" + "".join(kept), "utf-8")
    print(f"wrote {page}")


def main() -> None:
    """Run one of the benchmarks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("name", choices=SECTIONS)
    parser.add_argument("--most", type=float, help="the largest problem")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions; medians count (3)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    options.page.parent.mkdir(parents=True, exist_ok=True)
    write_section(options.page, options.name, *SECTIONS[options.name][0](options))


if __name__ == "__main__":
    main()
