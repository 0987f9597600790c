"""Reproduce all results, on a fresh machine too: ``python3 scripts/reproduce.py``.

Makes the environment, runs every experiment of ``configs/``, and writes tables, figures and the
page to ``results/``; an interrupted run continues where it stopped. Then it analyses real
side-by-side judgments, in ``results/side-by-side``. The judgments are read from the folder that
``--data`` names, otherwise from ``data/`` of this checkout or from ``../shared/data``; the
documentation says where they come from. Without them it analyses simulated judgments instead, in
``results/stand-in``. With ``--quick`` or ``--only``, only experiments are run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bootstrap import ROOT, prepare
from children import end_with_code, run_child, run_children

PUBLISHED = "ecir2015-crowd.csv"
KEPT = ("inspect.txt", "fit.txt", "agree.txt", "test.txt")
"""What commands print, by their names."""

PLACES = (ROOT / "data", ROOT.parent / "shared" / "data" / "side-by-side")


def main() -> int:
    """Run the experiments, then the study; return the first exit code that is not 0, or 0."""
    options = _options()
    places = [options.data] if options.data else PLACES
    found = next((place / PUBLISHED for place in places if (place / PUBLISHED).is_file()), None)
    if options.data and found is None:
        print(
            f"{options.data}: there is no {PUBLISHED} here; docs/judgments.md says where to get it",
            file=sys.stderr,
        )
        return 2
    python = str(prepare())
    out = options.out.resolve()
    arguments = ["reproduce", "--out", str(out), "--workers", options.workers]
    arguments += [f"--{one}" for one in ("quick", "replace", "long") if getattr(options, one)]
    arguments += ["--only", options.only] if options.only else []
    code = run_child([python, "-m", "dcglearn", *arguments], cwd=ROOT).returncode
    if code or not (options.quick or options.only):
        return code or _study_of(found, python, out)
    print("real judgments are not analysed; run without --quick and --only to analyse them")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="run a small part of every experiment")
    parser.add_argument("--only", metavar="5,6", help="figures or names of configs")
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    workers = "processes on this machine, or a Dask scheduler; by default one process per core"
    parser.add_argument("--workers", default=str(cores), metavar="N|tcp://HOST:PORT", help=workers)
    parser.add_argument("--long", action="store_true", help="also what takes more than minutes")
    parser.add_argument("--replace", action="store_true", help="replace results of other configs")
    parser.add_argument("--data", type=Path, help=f"folder that contains {PUBLISHED}")
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="folder of results")
    return parser.parse_args()


def _study_of(found: Path | None, python: str, results: Path) -> int:
    """Run the commands of a study, those of a line at the same time; keep what they write."""
    scripts, learned = ROOT / "scripts", "learned.json"
    comparison = [f"comparison{ending}" for ending in (".md", ".tex", ".csv", ".svg", ".png")]
    pictures, pages = ["learned.svg", "learned.png"], ["study.html", "study.md"]
    chosen = ["chosen.md", "chosen.svg", "chosen.png"]
    made = [learned, *pictures, *comparison, *pages, *chosen]
    dcglearn = ["-m", "dcglearn"]
    if found is not None:
        name, out, repetitions = "ecir2015.jsonl", results / "side-by-side", "50"
        make = [str(scripts / "prepare_ecir2015.py"), str(found.resolve()), "-o", name]
    else:
        print(f"{PUBLISHED} was not found; simulated judgments are analysed instead")
        name, out, repetitions = "stand-in.jsonl", results / "stand-in", "2"
        make = [*dcglearn, "simulate", name, "-n", "2000", "--seed", "1"]
    out.mkdir(parents=True, exist_ok=True)
    again = [str(scripts / "retrospective.py"), name, "--repetitions", repetitions]
    at_once = [
        [make],
        [
            [*dcglearn, "fit", name, "--intervals", "200", "-o", learned],
            [*dcglearn, "inspect", name],
            [*dcglearn, "test", name],
        ],
        [
            [*dcglearn, "compare", name, *_written(comparison)],
            [*dcglearn, "show", learned, *_written(pictures)],
        ],
        [[*dcglearn, "study", name, *_written(pages)], [*dcglearn, "agree", name]],
        [[*again, *_written(chosen)]],
        [[str(scripts / "provenance.py"), name, *made, *KEPT]],
    ]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for commands in at_once:
            runs = run_children(
                [[python, *command] for command in commands],
                cwd=folder,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            for command, run in zip(commands, runs, strict=True):
                print("$", " ".join(command))
                print(run.stdout, flush=True)
                if run.returncode:
                    return run.returncode
                if (kept := f"{command[2]}.txt") in KEPT:
                    (folder / kept).write_text(run.stdout, encoding="utf-8")
        for kept in (*made, *KEPT, "provenance.json"):
            shutil.copyfile(folder / kept, out / kept)
    print(f"results are in {out}")
    return 0


def _written(names: list[str]) -> list[str]:
    return [word for name in names for word in ("-o", name)]


if __name__ == "__main__":
    end_with_code(main)
