"""Where the repository, the golden numbers and the published judgments are."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
PUBLISHED = "ecir2015-crowd.csv"
DATA = Path(os.environ.get("DCGLEARN_DATA", ROOT.parent / "shared" / "data"))


def published_judgments() -> Path | None:
    """Return the published file of real judgments, which is not part of this repository."""
    folders = (DATA / "side-by-side", ROOT / "data")
    return next((f / PUBLISHED for f in folders if (f / PUBLISHED).is_file()), None)
