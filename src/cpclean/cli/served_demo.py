"""The project of `cpclean serve --demo`: wines, and the paper records in which people look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cpclean.cli.options import Training
    from cpclean.projects.project import Project

STORY = (
    "A demo: which grape a wine is made of is predicted from its analyses, some of which the "
    "laboratory skipped. But there are paper records: open that of this bottle, type what it says, "
    "and see how many predictions are certain then."
)


def demo_project(training: Training, seed: int, space: str, **settings: Any) -> Project:
    """The project; `settings` are further ones of `Settings`."""
    from cpclean.cli.wines import wines
    from cpclean.data.task import Task
    from cpclean.projects.project import Project, Settings
    from cpclean.queries.model import usual_model

    example = wines(seed, space)
    about: dict[str, Any] = {
        "file": "wines (demo)",
        "records": example.records(seed),
        "story": STORY,
    }
    model = usual_model(example.table.dataset, training.neighbors, training.metric)
    # With the numbers of the bottles, by which people find the paper record of a wine.
    frame = example.truth.mask(example.table.holes)
    frame.insert(0, "bottle", [f"no. {1000 + row}" for row in range(len(frame))])
    frame[str(example.table.label)] = example.table.dataset.labels
    task = Task.of(example.table, example.points, example.labels, frame=frame)
    return Project.make(task, Settings(model, about=about, **settings))
