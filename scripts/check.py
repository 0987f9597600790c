"""Run lint, types and tests, on a fresh machine too: ``python3 scripts/check.py``.

Tests run in two processes. Arguments are passed to pytest: ``python3 scripts/check.py -k
certificate``.
"""

from __future__ import annotations

import sys

from bootstrap import ROOT, prepare
from children import end_with_code, run_child


def main() -> int:
    """Run every check, the tests last; return 0 if all of them passed."""
    python = str(prepare("dev"))
    checks = {
        "lint": ["ruff", "check", "."],
        "format": ["ruff", "format", "--check", "."],
        "types": ["mypy"],
        "tests": ["pytest", "--numprocesses=2", "--dist=worksteal", *sys.argv[1:]],
    }
    failed = []
    for name, command in checks.items():
        print(f"== {name}", flush=True)
        if run_child([python, "-m", *command], cwd=ROOT).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    end_with_code(main)
