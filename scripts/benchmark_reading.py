"""Time the way from a file of judgments to its DCG, beside other tools reading that file.

``python3 scripts/benchmark.py --files`` writes 10^6 simulated judgments of lists of 10 grades as
JSON lines, CSV and Parquet, with queries and judges. ``dcglearn fit`` learns from each, in a
process of its own, start of Python included; pandas and, where they are installed, polars and
DuckDB read the same file and do nothing with it. The table goes to
``results/benchmark/reading.md``.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

from dcglearn.base.files import write_text
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.writing import write_preferences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale
from dcglearn.report.tables import Table

K, L, QUERIES, JUDGES, SEED, NOISE = 10, 5, 5_000, 50, 1, 2.0
FORMATS = (".jsonl", ".csv", ".parquet")
PACKAGES = ("dcglearn", "duckdb", "numpy", "pandas", "polars", "pyarrow")
READERS = {
    "pandas": {
        ".jsonl": "import pandas; pandas.read_json({path!r}, lines=True)",
        ".csv": "import pandas; pandas.read_csv({path!r})",
        ".parquet": "import pandas; pandas.read_parquet({path!r})",
    },
    "polars": {
        ".jsonl": "import polars; polars.read_ndjson({path!r})",
        ".csv": "import polars; polars.read_csv({path!r})",
        ".parquet": "import polars; polars.read_parquet({path!r})",
    },
    "DuckDB": dict.fromkeys(
        FORMATS, "import duckdb; duckdb.sql('create table t as from \\'' + {path!r} + '\\'')"
    ),
}


def simulated_judgments(n: int) -> Preferences:
    """Return judgments by a DCG over log2 with noise."""
    rng = np.random.default_rng(SEED)
    lists = rng.integers(0, L, (n, 2, K), dtype=np.int8)
    scale = Scale(tuple(range(L - 1, -1, -1)))
    values = DCG(list(scale.values), "log2").score(lists)
    better = (values + rng.normal(0, NOISE, (n, 2))).argmax(axis=1)
    queries = [f"q{number}" for number in rng.integers(0, QUERIES, n)]
    judges = [f"judge {number}" for number in rng.integers(0, JUDGES, n)]
    answers = np.array(["a", "b"], object)[better]
    return Preferences.of(lists, answers, scale, queries=queries, judges=judges)


_MEASURE = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - begin
print(json.dumps([code, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
"""Run from a small process: the peak of a process is at least that of the one that starts it."""


def measure_process(command: list[str]) -> tuple[float, float, float]:
    """Return the seconds and the processor seconds that a process takes, and its peak MiB."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, *command], capture_output=True, text=True, check=True
    )
    code, seconds, processor, peak = json.loads(done.stdout)
    if code:
        raise RuntimeError(f"{' '.join(command)[:200]}: {done.stderr[-500:]}")
    return seconds, processor, peak


def compare_readers(folder: Path, n: int) -> Table:
    """Time all readers of all formats."""
    judgments = simulated_judgments(n)
    rows = []
    for suffix in FORMATS:
        path = folder / f"judgments{suffix}"
        write_preferences(judgments, path)
        commands = {"dcglearn fit": [sys.executable, "-m", "dcglearn", "fit", str(path)]}
        for name, reads in READERS.items():
            if importlib.util.find_spec(name.lower()) is not None:
                read = reads[suffix].format(path=str(path))
                commands[f"{name}, reading only"] = [sys.executable, "-c", read]
        for name, command in commands.items():
            seconds, processor, peak = measure_process(command)
            size = path.stat().st_size / 2**20
            cells = [f"{size:.0f}", name, f"{processor:.1f}", f"{seconds:.1f}", f"{peak:.0f}"]
            rows.append([suffix, *cells, f"{peak / size:.1f}"])
        path.unlink()
    names = ["file", "MiB", "", "processor seconds", "seconds", "peak MiB", "peak / file"]
    return Table(names, rows)


def peak_of_few(folder: Path) -> float:
    """Return the peak MiB of a fit of a few judgments in Parquet."""
    path = folder / "few.parquet"
    write_preferences(simulated_judgments(200), path)
    return measure_process([sys.executable, "-m", "dcglearn", "fit", str(path)])[2]


def write_reading_report(folder: Path, n: int) -> Path:
    """Time the readers and write the page; return its path."""
    with tempfile.TemporaryDirectory() as files:
        table = compare_readers(Path(files), n)
        floor = peak_of_few(Path(files))
    held = [name for name in PACKAGES if importlib.util.find_spec(name) is not None]
    versions = ", ".join(f"{name} {version(name)}" for name in held)
    path = folder / "reading.md"
    about = (
        f"# From a file to its DCG\n\n{n:,} judgments of two lists of {K} grades, {QUERIES:,} "
        f"queries and {JUDGES} judges. `dcglearn fit` reads the file, learns and prints; the "
        "others only read it. Processes of their own, with the start of Python. A fit of "
        f"200 judgments peaks at {floor:.0f} MiB: Python, NumPy, SciPy and Arrow.\n\n"
    )
    write_text(path, f"{about}{table.markdown()}\n\n{versions}; made by `scripts/benchmark.py`.\n")
    return path
