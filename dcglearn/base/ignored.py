"""What a lenient reader ignores is counted, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class IgnoredInput:
    """Counts of what a lenient reader ignored, by reason.

    Attributes
    ----------
    counts : Counter
        Such as ``{"repeated key 'b'": 12}``.

    Examples
    --------
    Without it, a reader refuses the same input:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dcglearn.judgments.reading.judgment_files import read_preferences
    >>> ignored = IgnoredInput()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "judgments.jsonl")
    ...     _ = path.write_text('{"a": [1], "b": [0], "b": [0], "answer": "a"}')
    ...     _ = read_preferences(path, ignored=ignored)
    >>> dict(ignored.counts)
    {"repeated key 'b'": 1}
    """

    counts: Counter[str] = field(default_factory=Counter)
