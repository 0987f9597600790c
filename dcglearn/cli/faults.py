"""The last net: how a fault of the program is described, and what is kept out of its process."""

from __future__ import annotations

import os
import traceback
from importlib.abc import MetaPathFinder

DEBUG = "DCGLEARN_DEBUG"
"""Environment variable that shows the traceback of a fault."""


class KeptOut(MetaPathFinder):
    """Lets imports of an installed library fail."""

    def __init__(self, library: str) -> None:
        self.library = library

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Leave other modules to other finders."""
        if fullname == self.library:
            raise ModuleNotFoundError(f"{fullname} is kept out of this process", name=fullname)


def describe_fault(error: Exception) -> str:
    """Describe a fault of the program in one line, after its traceback if that is wanted."""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(": ")
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        advice = "please report it with this traceback"
    else:
        advice = f"please report it with what the same command prints if {DEBUG}=1 is set"
    return f"unexpected error ({what}); {advice}"
