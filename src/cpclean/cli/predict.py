"""cpclean check and count: are predictions certain, and how many worlds are behind each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.options import (
    Training,
    Validation,
    training_options,
    validation_options,
)
from cpclean.cli.output import check_writable, output_options, write
from cpclean.cli.tables import Problem, open_problem

if TYPE_CHECKING:
    from cpclean.classifier import CertainKNeighborsClassifier


@click.command()
@training_options
@validation_options
@output_options
def check(training: Training, validation: Validation, format_: str | None, out: str | None) -> None:
    """Which predictions are certain: do all worlds agree on the label?

    FILE is the training table, with holes. Every row of --val, or of the rows held out, gets one
    line: its number in its file, whether it is certain, the label that most of the prior mass
    predicts, and the labels that at least one world predicts.

    \b
    Example:
      cpclean check train.csv --label y --val val.csv
      cpclean check train.csv --label y --json > certain.json
    """
    ready(out)
    problem, classifier = fitted(training, validation)
    points = problem.points
    possible = classifier.possible_labels(points)
    classes = classifier.classes_
    certain = possible.sum(axis=1) == 1
    _told(
        problem,
        {
            "certain": certain.tolist(),
            "prediction": classifier.predict(points).tolist(),
            "possible": [" ".join(str(one) for one in classes[row]) for row in possible],
        },
        f"{certain.sum()} of {len(certain)} predictions are certain",
        format_,
        out,
    )


@click.command()
@training_options
@validation_options
@output_options
@click.option("--shares", is_flag=True, help="Shares of the prior mass instead of exact counts.")
def count(
    training: Training,
    validation: Validation,
    shares: bool,
    format_: str | None,
    out: str | None,
) -> None:
    """How many worlds predict each label: exact whole numbers, however large.

    FILE is the training table, with holes. Counts are text in CSV and JSON: they have more
    digits than a float can hold. --shares weighs the worlds by the prior.

    \b
    Example:
      cpclean count train.csv --label y --val val.csv
      cpclean count train.csv --label y --shares --format csv
    """
    ready(out)
    problem, classifier = fitted(training, validation)
    found = (classifier.predict_proba if shares else classifier.world_counts)(problem.points)
    as_text = (
        (lambda values: values.tolist()) if shares else (lambda values: list(map(str, values)))
    )
    columns = {
        f"{'share' if shares else 'worlds'}: {label}": as_text(found[:, number])
        for number, label in enumerate(classifier.classes_)
    }
    what = "Share of the prior mass" if shares else "Worlds"
    _told(problem, columns, f"{what} behind each label", format_, out)


def ready(out: str | None) -> None:
    """Complain about a place that cannot be written to before the work, not after it."""
    from pathlib import Path

    if out is not None:
        check_writable(Path(out).expanduser())


def fitted(
    training: Training, validation: Validation
) -> tuple[Problem, CertainKNeighborsClassifier]:
    """The problem, and the classifier that answers about its points."""
    from cpclean.classifier import CertainKNeighborsClassifier

    problem = open_problem(training, validation)
    made = CertainKNeighborsClassifier(training.neighbors, metric=training.metric)
    return problem, made.fit(problem.table)


def _told(
    problem: Problem, columns: dict[str, Any], title: str, format_: str | None, out: str | None
) -> None:
    import pandas as pd

    known = {} if problem.labels is None else {"label": problem.labels.tolist()}
    frame = pd.DataFrame({"row": problem.point_rows.tolist(), **columns, **known})
    write(frame, format_, out, title)
