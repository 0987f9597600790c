"""A threshold of delivery: what documents are worth, and what passes, in words and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dcglearn.base.numbers import counted
from dcglearn.filtering.beta_gamma import Threshold
from dcglearn.filtering.scored import Scored
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Label
from dcglearn.report.tables import Table


@dataclass(frozen=True)
class LinearWorth:
    """A credit for relevant documents and a debit for all others.

    Parameters
    ----------
    credit, debit : float
    relevant : tuple of str, int or float, or None
        The relevant grades; None for numbers above 0.

    Examples
    --------
    >>> LinearWorth(3.0, 2.0, ("good",)).to_json()
    {'credit': 3.0, 'debit': 2.0, 'relevant': ['good']}
    """

    credit: float
    debit: float
    relevant: tuple[Label, ...] | None

    def words(self, documents: Scored) -> str:
        """Return it in a line, with the number of relevant documents."""
        which = "above 0" if self.relevant is None else ", ".join(map(str, self.relevant))
        count = int(documents.relevant(self.relevant).sum())
        return (
            f"relevant (grade {which}): {count:,}, worth {format_number(self.credit)} each; "
            f"all others, unjudged ones included, {format_number(-self.debit)}"
        )

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON document."""
        return {
            "credit": self.credit,
            "debit": self.debit,
            "relevant": "above 0" if self.relevant is None else list(self.relevant),
        }


@dataclass(frozen=True)
class GradedWorth:
    """A gain per grade, minus a cost per document.

    Parameters
    ----------
    gains : mapping from grade to float
    cost : float

    Examples
    --------
    >>> GradedWorth({2: 1.0, 0: -0.5}, 0.1).to_json()
    {'gains': {'2': 1.0, '0': -0.5}, 'cost': 0.1}
    """

    gains: Mapping[Label, float]
    cost: float

    def words(self, documents: Scored) -> str:
        """Return it in a line; with unjudged documents, also the grade they count as."""
        gains = ", ".join(f"{label} {format_number(gain)}" for label, gain in self.gains.items())
        least = min(self.gains, key=lambda label: self.gains[label])
        text = f"gains by grade: {gains}; cost of a document {format_number(self.cost)}"
        return text if documents.judged.all() else f"{text}; unjudged documents count as {least}"

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON document."""
        return {
            "gains": {str(label): gain for label, gain in self.gains.items()},
            "cost": self.cost,
        }


@dataclass(frozen=True)
class ThresholdReport:
    """The threshold that was learned from scored documents.

    Parameters
    ----------
    file : str
        The name of the file of the documents.
    documents : Scored
    worth : LinearWorth or GradedWorth
    threshold : Threshold
    beta, gamma : float
        The parameters of the Beta-Gamma regulation.
    """

    file: str
    documents: Scored
    worth: LinearWorth | GradedWorth
    threshold: Threshold
    beta: float
    gamma: float

    def text(self) -> str:
        """Return it as a table, under what it was learned from."""
        rows = [
            (name, format_number(theta), count, f"{utility:.10g}")
            for name, theta, count, utility in self._passing()
        ]
        judged, beta = self.threshold.n_judged, self.beta
        lines = [
            f"{self.file}: {counted(len(self.documents), 'document')}, {judged:,} judged",
            self.worth.words(self.documents),
            f"alpha = {beta:g} + {1 - beta:g} exp(-{self.gamma:g} N) = "
            f"{self.threshold.alpha:.6f}, N = {judged:,}",
            "",
            Table(("threshold", "score", "documents pass", "utility"), rows).text(),
        ]
        if not self._pays():
            lines.append("no cut brings utility above 0: theta_opt is just above the highest score")
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON document."""
        passing = {
            name: {"score": theta, "documents": count, "utility": utility}
            for name, theta, count, utility in self._passing()
        }
        return {
            "file": self.file,
            "documents": len(self.documents),
            "judged": self.threshold.n_judged,
            "worth": self.worth.to_json(),
            "beta": self.beta,
            "gamma": self.gamma,
            "alpha": self.threshold.alpha,
            "pays": self._pays(),
            **passing,
        }

    def _passing(self) -> list[tuple[str, float, int, float]]:
        named = {
            "theta_opt": self.threshold.theta_optimal,
            "theta_zero": self.threshold.theta_zero,
            "theta": self.threshold.theta,
        }
        return [
            (name, theta, delivery.documents, delivery.utility)
            for name, theta in named.items()
            for delivery in [self.threshold.curve.passing(theta)]
        ]

    def _pays(self) -> bool:
        """Return whether delivering some of the training documents is worth more than none."""
        return self.threshold.curve.passing(self.threshold.theta_optimal).documents > 0
