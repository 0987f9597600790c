"""Run lint, the rule of imports, types and tests, on any machine: ``python3 scripts/check.py``.

Tests run in two processes. Arguments are passed to pytest: ``check.py -k certificate``.
"""

from __future__ import annotations

import sys

from bootstrap import ROOT, prepare
from children import end_with_code, run_child


def main() -> int:
    """Run every check, the tests last; return 0 if all of them passed."""
    python = prepare("dev")
    module = [str(python), "-m"]
    checks = {
        "lint": [*module, "ruff", "check", "."],
        "format": [*module, "ruff", "format", "--check", "."],
        "imports": [str(python.with_name("lint-imports")), "--no-cache", "--no-logo"],
        "types": [*module, "mypy"],
        "tests": [*module, "pytest", "--numprocesses=2", "--dist=worksteal", *sys.argv[1:]],
    }
    failed = []
    for name, command in checks.items():
        print(f"== {name}", flush=True)
        if run_child(command, cwd=ROOT).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    end_with_code(main)
