"""From a task to a cleaning session over it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpclean.cli.mistakes import note
from cpclean.cli.options import Training, Validation, level_of
from cpclean.cli.tasks import model_of

if TYPE_CHECKING:
    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.table import IncompleteTable
    from cpclean.data.task import Task


def table_of(task: Task) -> IncompleteTable:
    """The table of a task that was opened from a file."""
    assert task.table is not None, "files contain tables"
    return task.table


def open_session(
    task: Task, training: Training, strategy: str = "cpclean", seed: int = 0, **more: Any
) -> CleaningSession:
    """A session without answers; rows are those of the table, not of the file."""
    from cpclean.cleaning.session import CleaningSession

    model = model_of(task, training)
    return CleaningSession(
        table_of(task),
        task.points,
        model.n_neighbors,
        strategy,
        task.labels,
        seed,
        metric=model.metric,
        cluster=training.cluster,
        **more,
    )


@dataclass(frozen=True)
class WayOfAsking:
    """When predictions are settled, and what is asked about next."""

    sure: float | None
    strategy: str
    gains_by: str

    @classmethod
    def of(
        cls, sure: float | str | None, strategy: str | None, log: str | Path | None = None
    ) -> WayOfAsking:
        """As options say; for the rest, as the log was begun with, or as usual in a new one."""
        from cpclean.cleaning.settings import PRIOR, usual_gains_by, usual_strategy
        from cpclean.storage.journal import begun_with

        begun = {} if log is None else begun_with(log)
        level = level_of(sure, begun.get("sure"))
        usual = begun.get("gains_by", PRIOR) if begun else usual_gains_by(level)
        named = strategy or begun.get("strategy") or usual_strategy(level)
        return cls(level, named, PRIOR if level is not None else usual)


def tell_level(asking: WayOfAsking, log: str | Path) -> None:
    """Print that the answers of a log were begun with another level, if they were."""
    from cpclean.analysis.certain_words import promise
    from cpclean.storage.journal import begun_with

    begun = begun_with(log)
    if begun and begun.get("sure") != asking.sure:
        note(
            f"{log} was begun until predictions are {promise(begun.get('sure'))}; now they are "
            f"settled when they are {promise(asking.sure)}. The answers are the same."
        )


def tell_draws(task: Task, training: Training) -> None:
    """Print how many rows are drawn, and how far that takes shares off; nothing if none are."""
    from cpclean.analysis.draw_errors import draws_note

    model = model_of(task, training)
    if (found := draws_note(task.dataset, task.points, model)) is not None:
        note(found)


def tell_completions(task: Task) -> None:
    """Print what a completion is, if some of the points have several."""
    from cpclean.analysis.certain_words import completions_words

    if words := completions_words(len(task.points.mixtures)):
        note(words)


def belongings(
    task: Task, training: Training, validation: Validation, asking: WayOfAsking
) -> dict[str, Any]:
    """What a log of answers belongs to: this table, these points and these settings."""
    from cpclean.projects.fingerprint import answers_belong, fingerprint

    return answers_belong(
        fingerprint(table_of(task), task.raw_points),
        label=training.label,
        model=model_of(task, training),
        repairs=training.repairs,
        prior=training.prior,
        strategy=asking.strategy,
        seed=validation.seed,
        sure=asking.sure,
        gains_by=asking.gains_by,
    )
