"""Answers from a file with the true values, in place of a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cpclean.analysis.words import percent
from cpclean.cli.mistakes import Mistake, note
from cpclean.cli.options import Training
from cpclean.cli.sessions import table_of
from cpclean.cli.tasks import read_frame
from cpclean.progress_bar import progress_bar

if TYPE_CHECKING:
    from cpclean.data.task import Task
    from cpclean.intake.file_lines import FileLines
    from cpclean.storage.saved_session import SavedSession

# If known cells differ in more than this share of the rows, the file has other rows.
_MOST_DIFFERENT = 0.5


def true_rows(file: str, training: Training, task: Task) -> Any:
    """The true features of the table's rows, from a file with the rows of the training file."""
    from cpclean.data.domains import plain_frame

    truth = read_frame(file, training)
    n_rows = len(plain_frame(task.frame))
    if len(truth) != n_rows:
        raise Mistake(
            f"{file} must have the same rows as {training.file}, in the same order; it has "
            f"{len(truth)} rows instead of {n_rows}."
        )
    from cpclean.errors import offenders

    names = list(table_of(task).names)
    if absent := [name for name in names if name not in truth.columns]:
        raise Mistake(
            f"{file} must have the same columns as {training.file}; missing columns: "
            f"{offenders(map(repr, absent))}."
        )
    rows = truth.iloc[task.row_names].reset_index(drop=True)
    _check_same(rows, file, training, task)
    return rows[names]


def _check_same(rows: Any, file: str, training: Training, task: Task) -> None:
    """Refuse other rows, or holes where the truth is wanted; note what differs."""
    import numpy as np

    from cpclean.data.frames import columns_from
    from cpclean.errors import offenders

    table = table_of(task)
    different = np.zeros(len(rows), dtype=bool)
    unknown: list[str] = []
    names = list(table.names)
    theirs = {column.name: column for column in columns_from(rows[names], None, training.null)}
    for number, mine in enumerate(table.columns):
        column, holes = theirs[mine.name], table.holes[:, number]
        both = ~holes & ~column.missing
        if table.space.features[number] is not None:
            lacking = np.sort(task.row_names[column.missing])
            unknown += [f"row {number}, {mine.name!r}" for number in lacking.tolist()]
        if column.kind == mine.kind:
            different[both] |= mine.values[both] != column.values[both]
    if unknown:
        raise Mistake(f"{file} must be complete; missing values: {offenders(unknown)}.")
    if table.label is not None and table.label in rows.columns:
        labels = np.array([str(one) for one in table.dataset.labels])
        different |= labels != rows[table.label].astype(str).to_numpy()
    if different.mean() > _MOST_DIFFERENT:
        raise Mistake(
            f"{file} must have the same rows as {training.file}, in the same order; cells that are "
            f"known in both differ in {int(different.sum())} of {len(different)} rows."
        )
    if different.any():
        where = offenders(np.sort(task.row_names[different]).tolist())
        note(
            f"cells that are known in both {training.file} and {file} differ in row {where}; those "
            f"of {training.file} are used."
        )


def answer_all(kept: SavedSession, task: Task, truth: Any, exact: bool, lines: FileLines) -> None:
    """Answer every question from the truth; on a terminal with a progress bar."""
    from cpclean.cleaning.simulation import Person
    from cpclean.cli.output import terminal

    person, session = Person(kept.session, truth, exact), kept.session
    total = len(session.history) + len(session.data.dirty_rows)
    total = total if session.budget is None else min(total, session.budget)

    def words() -> str:
        settled = "certain" if session.sure is None else "settled"
        return f"answers: {percent(session.settled_share)} {settled}"

    with progress_bar(total, words(), console=terminal(stderr=True)) as follow:
        while (question := session.ask()) is not None:
            number = int(task.row_names[question.row])
            kept.tell(question.row, **person.answer(question), **lines.remark(number))
            follow(len(session.history), words())
