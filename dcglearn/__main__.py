"""The program: ``dcglearn`` or ``python -m dcglearn``."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command line and run it; Ctrl-C is handled while it loads, too."""
    try:
        from dcglearn.cli import main as run
    except KeyboardInterrupt:
        print("dcglearn: interrupted; nothing half-written is left", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
