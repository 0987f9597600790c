"""The main job, on a fresh machine too: ``python3 scripts/reproduce.py``.

Makes the environment, then runs the study of real side-by-side judgments and writes its
tables and figures to ``results/side-by-side``. The judgments are looked for in ``data/``
of this checkout and in ``../shared/data``, or where ``--data`` says; the README tells
where they come from. Without them a simulated stand-in is studied, in ``results/stand-in``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bootstrap import ROOT, prepare

PUBLISHED = "ecir2015-crowd.csv"
PLACES = (ROOT / "data", ROOT.parent / "shared" / "data" / "side-by-side")


def main() -> int:
    """Run the study; return the exit code of the first step that fails, or 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help=f"folder that holds {PUBLISHED}")
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="folder of results")
    options = parser.parse_args()
    places = [options.data] if options.data else PLACES
    found = next((place / PUBLISHED for place in places if (place / PUBLISHED).is_file()), None)
    if options.data and found is None:
        print(f"{options.data}: holds no {PUBLISHED}; see the README", file=sys.stderr)
        return 2
    python = str(prepare())
    with tempfile.TemporaryDirectory() as folder:
        if found is not None:
            judgments = Path(folder) / "ecir2015.jsonl"
            out = options.out / "side-by-side"
            make = [str(ROOT / "scripts" / "prepare_ecir2015.py"), str(found), "-o", str(judgments)]
        else:
            print(f"no {PUBLISHED} here: a simulated stand-in is studied instead")
            judgments = Path(folder) / "stand-in.jsonl"
            out = options.out / "stand-in"
            make = ["-m", "dcglearn", "simulate", str(judgments), "-n", "2000", "--seed", "1"]
        return _study(python, make, judgments, out)


def _study(python: str, make: list[str], judgments: Path, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    name, learned = judgments.name, "learned.json"
    comparison = [f"comparison{ending}" for ending in (".md", ".tex", ".csv", ".svg", ".png")]
    made = ["provenance.json", learned, "learned.svg", "learned.png", *comparison]
    steps: list[tuple[list[str], str]] = [
        (make, ""),
        (["-m", "dcglearn", "inspect", name], "inspect.txt"),
        (["-m", "dcglearn", "fit", name, "--intervals", "200", "-o", learned], "fit.txt"),
        (["-m", "dcglearn", "show", learned, "-o", "learned.svg"], ""),
        (["-m", "dcglearn", "show", learned, "-o", "learned.png"], ""),
        (["-m", "dcglearn", "agree", name], "agree.txt"),
        (["-m", "dcglearn", "compare", name, *(p for c in comparison for p in ("-o", c))], ""),
        (["-m", "dcglearn.study.provenance", name, "-o", "provenance.json"], ""),
    ]
    for arguments, keep in steps:
        print("$", " ".join(arguments), flush=True)
        run = subprocess.run(
            [python, *arguments],
            cwd=judgments.parent,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            check=False,
        )
        print(run.stdout)
        if run.returncode:
            return run.returncode
        if keep:
            (judgments.parent / keep).write_text(run.stdout, encoding="utf-8")
            made.append(keep)
    for file in made:  # all steps went well: now the results are replaced
        shutil.copyfile(judgments.parent / file, out / file)
    print(f"results are in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
