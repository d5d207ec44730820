"""From a task to a cleaning session over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cpclean.cli.options import Training, Validation

if TYPE_CHECKING:
    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.table import IncompleteTable
    from cpclean.data.task import Task


def table_of(task: Task) -> IncompleteTable:
    """The table of a task that was opened from a file."""
    assert task.table is not None, "files contain tables"
    return task.table


def open_session(
    task: Task, training: Training, strategy: str = "cpclean", seed: int = 0, **limits: Any
) -> CleaningSession:
    """A session without answers; rows are those of the table, not of the file."""
    from cpclean.cleaning.session import CleaningSession

    return CleaningSession(
        table_of(task),
        task.points,
        training.neighbors,
        strategy,
        task.labels,
        seed,
        metric=training.metric,
        **limits,
    )


def belongings(
    task: Task, training: Training, validation: Validation, strategy: str
) -> dict[str, Any]:
    """What a log of answers belongs to: this table, these points and these settings."""
    from cpclean.projects.fingerprint import answers_belong, fingerprint
    from cpclean.queries.model import Model

    return answers_belong(
        fingerprint(table_of(task), task.raw_points),
        label=training.label,
        model=Model(training.neighbors, training.metric),
        repairs=training.repairs,
        prior=training.prior,
        strategy=strategy,
        seed=validation.seed,
    )
