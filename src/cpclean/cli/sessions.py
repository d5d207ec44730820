"""From a problem to a cleaning session over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpclean.cli.options import Training
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
