"""Errors that say where, what is wrong and what to do.

A message reads ``place: problem; remedy``, in that order, so that the reader can open the
place, see the fault and fix it.
"""

from __future__ import annotations

import warnings

from dcglearn.base.plain_text import plain_text

LONGEST_PART = 1000
"""Characters of a place, a problem or a remedy that are printed; the middle of more is left out."""


class InputError(ValueError):
    """The input cannot be used as it is.

    It is a ``ValueError``, which is what array libraries raise. The command line prints it
    without a traceback and exits with code 2.

    Parameters
    ----------
    problem : str
        What is wrong, with the offending value.
    remedy : str, optional
        What to do about it. Arguments are named in backquotes.
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
        place, problem, remedy = map(_short, (self.place, self.problem, self.remedy))
        before = f"{place}: " if place else ""
        after = f"; {remedy}" if remedy else ""
        return plain_text(f"{before}{problem}{after}")

    def at(self, place: str) -> InputError:
        """Return the same error with an outer place put before its own.

        Parameters
        ----------
        place : str
            The outer place, such as a file and a line.

        Returns
        -------
        InputError

        Examples
        --------
        >>> print(InputError("is empty", place="line 3").at("judgments.jsonl"))
        judgments.jsonl, line 3: is empty
        """
        inner = f", {self.place}" if self.place else ""
        return InputError(self.problem, self.remedy, f"{place}{inner}")


class InputWarning(UserWarning):
    """The input is used, but perhaps not as its author meant.

    The command line prints the message on standard error, in one line.
    """


def warn_of_input(message: str) -> None:
    """Warn that the input is used as its author may not have meant.

    Parameters
    ----------
    message : str
        One line.
    """
    warnings.warn(message, InputWarning, stacklevel=4)


class SolverError(RuntimeError):
    """A solver did not reach the optimum, so its answer is not used.

    The message holds the solver's status, its number of iterations and its residuals.
    """


def _short(text: str) -> str:
    """Leave out the middle of a long text, such as a number of 4,000 digits."""
    half = LONGEST_PART // 2
    return text if len(text) <= LONGEST_PART else f"{text[:half]} ... {text[-half:]}"
