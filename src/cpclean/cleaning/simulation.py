"""Answers from a known truth, in place of a person."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.state import Record
from cpclean.cleaning.subject import TableSubject
from cpclean.cleaning.truth import checked_numbers, closest_candidates
from cpclean.data.frames import columns_from
from cpclean.data.rows import Floats, as_floats, is_whole
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.errors import CPCleanError
from cpclean.progress_bar import progress_bar


def simulate(
    session: CleaningSession,
    truth: Any,
    budget: int | None = None,
    *,
    exact: bool = False,
    progress: bool | None = None,
) -> list[Record]:
    """Let a session ask, and answer from a known truth until it is done.

    After Ctrl-C it returns early; the answers so far remain in the session.

    Parameters
    ----------
    session : CleaningSession
    truth : array or frame
        The number of the true candidate of every row; or the complete true rows, as a frame for a
        table, or an array of shape (n_rows, n_features) for a dataset.
    budget : int, optional
        At most this many answers.
    exact : bool
        Answer with the true values. By default the answer is the candidate of the row that is
        nearest to the truth; for a category that is not a candidate, it is "other", if that is
        one.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Returns
    -------
    list of Record
        The session's history.

    Examples
    --------
    >>> from cpclean import CleaningSession, IncompleteDataset, simulate
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> session = CleaningSession(data, [[0.0], [4.0]], n_neighbors=1)
    >>> [record.row for record in simulate(session, [1, 1, 0])]
    [0, 1]
    """
    if budget is not None and (not is_whole(budget) or budget < 0):
        raise CPCleanError(f"budget must be None or an int of at least 0; got {budget!r}.")
    person = Person(session, truth, exact)
    limit = len(session.view.questions.row) if budget is None else budget
    before = len(session.history)
    try:
        with progress_bar(limit, "cleaning", shown=progress) as follow:
            while budget is None or len(session.history) - before < budget:
                question = session.ask()
                if question is None:
                    break
                session.tell(question.row, **person.answer(question))
                follow(len(session.history) - before)
    except KeyboardInterrupt:
        size = len(session.history) - before
        answers = "1 answer" if size == 1 else f"{size} answers"
        print(f"interrupted after {answers}; nothing is lost.", file=sys.stderr)
    return session.history


class Person:
    """Knows the truth, in the form that `simulate` takes, and answers questions."""

    def __init__(self, session: CleaningSession, truth: Any, exact: bool) -> None:
        self._subject, self._exact = session.view.setup.subject, exact
        data = self._subject.data
        self._numbers: Any = None
        self._raw: list[Mapping[str, Any]] | None = None
        array = None if hasattr(truth, "columns") else np.asarray(truth)
        if array is not None and array.ndim == 1:
            if exact:
                raise CPCleanError("exact answers need the true rows, not candidate numbers.")
            self._numbers = checked_numbers(array, data)
            return
        if isinstance(self._subject, TableSubject):
            self._raw = _raw_rows(truth)
            with warnings.catch_warnings():  # such a category is "other", or answered as it is
                warnings.simplefilter("ignore", UnseenCategoryWarning)
                vectors = self._subject.table.encode(truth)
        else:
            vectors = as_floats(truth, "truth")
        if vectors.shape != (data.n_rows, data.n_features):
            raise CPCleanError(
                "truth must have one row per row of the data, shape "
                f"{(data.n_rows, data.n_features)}; got {vectors.shape}."
            )
        self._vectors: Floats = vectors
        if not exact:
            table = self._subject.table if isinstance(self._subject, TableSubject) else None
            self._numbers = closest_candidates(data, vectors, table)

    def answer(self, question: Question) -> dict[str, Any]:
        """The arguments of `tell` that answer a question."""
        row = question.row
        if self._exact and self._raw is not None:
            asked = self._subject.cells(row) if question.column is None else [question.column]
            return {"value": {name: self._raw[row][name] for name in asked}}
        if self._exact:
            if question.column is None:
                return {"value": self._vectors[row].tolist()}
            return {"value": self._subject.of_cell(self._vectors[row].tolist(), question.column)}
        number = int(self._numbers[row])
        if question.column is None:
            return {"candidate": number}
        candidate = self._subject.candidate(row, number)
        return {"value": self._subject.of_cell(candidate, question.column)}


def _raw_rows(truth: Any) -> list[Mapping[str, Any]]:
    columns = columns_from(truth)
    size = len(columns[0].values) if columns else 0
    return [
        {column.name: column.shown(column.values[row]) for column in columns} for row in range(size)
    ]
