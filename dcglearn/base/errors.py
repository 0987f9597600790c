"""Errors that say where, what is wrong and what to do.

A message reads ``place: problem; remedy``, in that order, so that the person
who reads it can open the place, see the fault and mend it.
"""

from __future__ import annotations


class InputError(ValueError):
    """The input cannot be used as it is.

    A ``ValueError``, so code that follows the array libraries' conventions
    catches it as one. The command line prints it without a traceback and ends
    with exit code 2.

    Parameters
    ----------
    problem : str
        What is wrong, with the offending value.
    remedy : str, optional
        What to do about it.
    place : str, optional
        File and line, row, or key.

    Examples
    --------
    >>> raise InputError("the answer is 'c'", "write a, b or tie", "judgments.jsonl, line 3")
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: judgments.jsonl, line 3: the answer is 'c'; write a, b or tie
    """

    def __init__(self, problem: str, remedy: str = "", place: str = "") -> None:
        self.problem, self.remedy, self.place = problem, remedy, place
        super().__init__(problem, remedy, place)

    def __str__(self) -> str:
        before = f"{self.place}: " if self.place else ""
        after = f"; {self.remedy}" if self.remedy else ""
        return _one_line(f"{before}{self.problem}{after}")

    def at(self, place: str) -> InputError:
        """Return the same error, found at `place` (an inner place is kept after it).

        Parameters
        ----------
        place : str
            The outer place, such as a file and a line.

        Returns
        -------
        InputError
        """
        inner = f", {self.place}" if self.place else ""
        return InputError(self.problem, self.remedy, f"{place}{inner}")


def _one_line(text: str) -> str:
    """Keep a message on one line, and what a file holds from steering a terminal.

    >>> print(_one_line("a" + chr(7) + "b").replace(chr(92), "/"))
    a/x07b
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class SolverError(RuntimeError):
    """A solver did not reach the optimum; its answer is not used.

    The message holds the solver's status, its iterations and the residuals.
    """
