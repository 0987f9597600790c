"""The program: ``dcglearn`` or ``python -m dcglearn``."""

import os
import sys

from dcglearn.base.process import end_like_ctrl_c, interrupted_code, prepare_command


def main() -> None:
    """Load the command line and run it; Ctrl-C and SIGTERM are handled while it loads, too."""
    prepare_command()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # those that wait for small sums spin
    try:
        end_like_ctrl_c()
        from dcglearn.cli import main as run
    except KeyboardInterrupt:
        print("dcglearn: interrupted; nothing half-written is left", file=sys.stderr)
        sys.exit(interrupted_code())
    run()


if __name__ == "__main__":
    main()
