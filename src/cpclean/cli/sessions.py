"""From a problem to a cleaning session over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cpclean.cli.options import Training, Validation
from cpclean.cli.tables import Problem

if TYPE_CHECKING:
    from cpclean.cleaning.session import CleaningSession


def open_session(
    problem: Problem, training: Training, strategy: str = "cpclean", seed: int = 0
) -> CleaningSession:
    """A session that has heard nothing yet; rows are those of the table, not of the file."""
    from cpclean.cleaning.session import CleaningSession

    return CleaningSession(
        problem.table,
        problem.points,
        training.neighbors,
        strategy,
        problem.labels,
        seed,
        metric=training.metric,
    )


def belongings(
    problem: Problem, training: Training, validation: Validation, strategy: str
) -> dict[str, Any]:
    """What a log of answers belongs to: this table, these points and these settings."""
    from cpclean.projects.fingerprint import answers_belong, fingerprint
    from cpclean.queries.model import Model

    return answers_belong(
        fingerprint(problem.table, problem.points),
        label=training.label,
        model=Model(training.neighbors, training.metric),
        repairs=training.repairs,
        prior=training.prior,
        strategy=strategy,
        seed=validation.seed,
    )
