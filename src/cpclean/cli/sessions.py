"""From a task to a cleaning session over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cpclean.cli.mistakes import note
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


def tell_draws(task: Task, training: Training) -> None:
    """Print how many rows are drawn, and how far that takes shares off; nothing if none are."""
    from cpclean.analysis.draw_errors import draws_note
    from cpclean.queries.model import Model

    model = Model(training.neighbors, training.metric)
    if (found := draws_note(task.dataset, task.points, model)) is not None:
        note(found)


def tell_completions(task: Task) -> None:
    """Print what a completion is, if some of the points have several."""
    from cpclean.analysis.certain_words import completions_words

    if words := completions_words(len(task.points.mixtures)):
        note(words)


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
