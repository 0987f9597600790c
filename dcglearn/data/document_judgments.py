"""Judgments that name documents, or runs, become judgments of graded lists.

``{"query": "q1", "a": ["d3", "d1"], "b": ["d2"], "answer": "a"}`` needs the qrels;
``{"query": "q1", "run_a": "one", "run_b": "two", "answer": "a"}`` the runs too, of which the
first K documents are meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.data.qrels_runs import Run, distinct_names, read_qrels, read_run, scale_of_qrels
from dcglearn.data.record_formats import IgnoredInput
from dcglearn.measures.scale import Label, Scale, canonical_label

RUN_FIELDS = ("run_a", "run_b")


@dataclass(frozen=True)
class DocumentGrades:
    """What documents and runs mean.

    Attributes
    ----------
    scale : Scale
        Of the qrels.
    grades : dict
        From query to document to grade.
    runs : dict
        From a run's name to query to documents, best first.
    n_ranks : int or None
        K, how many documents of a run are meant.
    counts : Counter
        How many documents of the judgments nobody had judged; they count as the worst grade.
    """

    scale: Scale
    grades: dict[str, dict[str, Label]]
    runs: dict[str, dict[str, list[str]]]
    n_ranks: int | None
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(
        cls,
        qrels: str | Path,
        runs: Sequence[str | Path] = (),
        n_ranks: int | None = None,
        ignored: IgnoredInput | None = None,
        scale: Scale | None = None,
    ) -> DocumentGrades:
        """Read qrels and runs.

        Parameters
        ----------
        qrels : path-like
        runs : sequence of path-like
        n_ranks : int, optional
            K; needed with runs.
        ignored : IgnoredInput, optional
            As for :func:`dcglearn.data.qrels_runs.read_qrels`.
        scale : Scale, optional
            The grades, best first; by default those of the qrels.

        Returns
        -------
        DocumentGrades

        Raises
        ------
        InputError
            If a file cannot be read, or K is missing.
        """
        if runs and n_ranks is None:
            raise InputError("runs without K", "say with --K how many documents of a run are meant")
        known = read_qrels(qrels, ignored)
        grades: dict[str, dict[str, Label]] = {query: {} for query in known.queries}
        for query, document, number in zip(
            known.query.tolist(), known.documents.to_pylist(), known.number.tolist(), strict=True
        ):
            grades[known.queries[query]][document] = canonical_label(number)
        read = distinct_names([read_run(path, ignored) for path in runs], runs)
        ranked = {run.name: _first_documents(run, n_ranks or 0) for run in read}
        return cls(scale_of_qrels(known) if scale is None else scale, grades, ranked, n_ranks)

    def graded_record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a judgment with lists of grades.

        Parameters
        ----------
        record : dict
            With ``a`` and ``b`` as lists of ids, or ``run_a`` and ``run_b``.

        Raises
        ------
        InputError
            If a query or run is unknown, or a document stands twice in a list.
        """
        query = record.get("query")
        if query is None or str(query) not in self.grades:
            problem = '"query" is missing' if query is None else f"the query {query} has no qrels"
            raise InputError(problem, "documents are looked up by query")
        found = {name: value for name, value in record.items() if name not in RUN_FIELDS}
        for side, run_field in zip("ab", RUN_FIELDS, strict=True):
            documents = record.get(side)
            if record.get(run_field) is not None:
                if documents:
                    raise InputError(f'"{side}" and "{run_field}"', "give one of them")
                documents = self._documents(record[run_field], str(query), run_field)
            if isinstance(documents, list):
                found[side] = self._graded(documents, str(query), side)
        return found

    def check_any_judged(self) -> None:
        """Refuse judgments of which no document is judged.

        Raises
        ------
        InputError
            Most likely they hold grades.
        """
        if 0 < self.counts["documents"] == self.counts["unjudged"]:
            raise InputError(
                f"none of the {self.counts['documents']:,} documents is in the qrels",
                "give the qrels that go with them; where lists hold grades, leave out --qrels",
            )

    def _documents(self, name: object, query: str, run_field: str) -> list[str]:
        if not _is_id(name):
            raise InputError(f'"{run_field}": {name!r} is no name', "write text")
        if not self.runs:
            raise InputError(f'"{run_field}": the run {name}, and no run', "give its file: --run")
        if str(name) not in self.runs:
            raise unknown_name("run", str(name), self.runs, f'"{run_field}"')
        documents = self.runs[str(name)].get(query)
        if not documents:
            raise InputError(f"the run {name} holds nothing for the query {query}", "leave it out")
        return documents

    def _graded(self, documents: list[Any], query: str, side: str) -> list[Label | None]:
        strange = [one for one in documents if one is not None and not _is_id(one)]
        if strange:
            raise InputError(f'"{side}": {strange[0]!r} is no document', "write its id")
        named = [str(document) for document in documents if document is not None]
        if len(set(named)) < len(named):
            twice = next(document for document in named if named.count(document) > 1)
            raise InputError(f'"{side}": the document {twice} stands twice', "keep one")
        grades = self.grades[query]
        self.counts["documents"] += len(named)
        self.counts["unjudged"] += sum(document not in grades for document in named)
        return [
            None if document is None else grades.get(str(document), self.scale.labels[-1])
            for document in documents
        ]


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _first_documents(run: Run, n_ranks: int) -> dict[str, list[str]]:
    """Return the documents of each query by falling score, as the run has equal ones."""
    found: dict[str, list[tuple[float, int, str]]] = {query: [] for query in run.queries}
    for row, (query, document, score) in enumerate(
        zip(run.query.tolist(), run.documents.to_pylist(), run.number.tolist(), strict=True)
    ):
        found[run.queries[query]].append((-score, row, document))
    return {query: [d for *_, d in sorted(rows)[:n_ranks]] for query, rows in found.items()}
