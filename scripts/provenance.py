"""What made the results of a study: ``python scripts/provenance.py judgments.jsonl study.md ...``.

It is written to ``provenance.json`` of the current folder: the judgments, the software and the
SHA-256 of every file that is named after them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dcglearn.lab.provenance import PROVENANCE, hashes_of, made_with, sha256_of, write_provenance

if __name__ == "__main__":
    data, *kept = map(Path, sys.argv[1:])
    about = {"file": data.name, "sha256": sha256_of(data.read_bytes())}
    write_provenance({"data": about, "files": hashes_of(kept), **made_with()}, Path(PROVENANCE))
