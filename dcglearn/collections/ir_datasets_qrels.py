"""Qrels by the name of a dataset of ir_datasets: ``ir_datasets:msmarco-passage/trec-dl-2019``.

ir_datasets (MacAvaney et al., SIGIR 2021) downloads what it has not got.
"""

from __future__ import annotations

from dcglearn.base.errors import InputError, did_you_mean

PREFIX = "ir_datasets:"


def names_dataset(path: object) -> bool:
    """Return whether text names a dataset of ir_datasets, and not a file.

    Parameters
    ----------
    path : object

    Returns
    -------
    bool

    Examples
    --------
    >>> names_dataset("ir_datasets:vaswani"), names_dataset("qrels.txt")
    (True, False)
    """
    return str(path).startswith(PREFIX)


def dataset_qrels(name: str) -> dict[str, dict[str, float]]:
    """Return the qrels of a dataset.

    Parameters
    ----------
    name : str
        ``ir_datasets:`` and the name of the dataset.

    Returns
    -------
    dict
        ``{query: {document: grade}}``.

    Raises
    ------
    InputError
        If ir_datasets is not installed, there is no such dataset, it has no qrels, they cannot be
        fetched, or a document appears twice for a query.
    """
    try:
        import ir_datasets
    except ModuleNotFoundError as error:
        raise InputError(
            "ir_datasets is not installed", "install it (pip install ir_datasets)", name
        ) from error
    known = name.removeprefix(PREFIX)
    try:
        dataset = ir_datasets.load(known)
    except KeyError as error:
        near = did_you_mean(known, ir_datasets.registry)
        raise InputError(
            "ir_datasets has no such dataset", f"{near}see https://ir-datasets.com", name
        ) from error
    if not dataset.has_qrels():
        raise InputError(
            "this dataset has no qrels", "name a part of it that has, as its page lists them", name
        )
    found: dict[str, dict[str, float]] = {}
    try:
        for judgment in dataset.qrels_iter():
            grades = found.setdefault(judgment.query_id, {})
            if judgment.doc_id in grades:
                raise InputError(
                    f"the document {judgment.doc_id} appears twice for the query "
                    f"{judgment.query_id}",
                    "write its qrels into a file, each document once",
                    name,
                )
            grades[judgment.doc_id] = judgment.relevance
    except (OSError, RuntimeError) as error:
        raise InputError(f"its qrels cannot be fetched ({error})", "try again", name) from error
    return found
