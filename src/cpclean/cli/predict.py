"""cpclean check and count: which predictions are certain, and how many worlds predict a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.options import (
    Training,
    Validation,
    training_options,
    validation_options,
)
from cpclean.cli.output import for_people, output_options, ready, terminal, working, write
from cpclean.cli.sessions import table_of
from cpclean.cli.tasks import open_given

if TYPE_CHECKING:
    from cpclean.classifier import CertainKNeighborsClassifier
    from cpclean.data.task import Task


@click.command(short_help="Which predictions are certain?")
@training_options
@validation_options
@output_options
def check(training: Training, validation: Validation, format_: str | None, out: str | None) -> None:
    """Which predictions are certain: do all worlds agree on the label?

    FILE is the training table, with holes. There is one line for every row of --val, or for every
    row held out: its number in its file, whether it is certain, the label that most of the prior
    mass predicts, and the labels that at least one world predicts.

    \b
    Example:
      cpclean check train.csv --label y --val val.csv
      cpclean check train.csv --label y --json > certain.json
    """
    ready(out)
    task, classifier = fitted(training, validation)
    with working("Looking at the predictions"):
        possible = classifier.possible_labels(task.raw_points)
        predicted = classifier.predict(task.raw_points)
    classes = classifier.classes_
    certain = possible.sum(axis=1) == 1
    _told(
        task,
        {
            "certain": certain.tolist(),
            "prediction": predicted.tolist(),
            "possible": [classes[row].tolist() for row in possible],
        },
        f"{certain.sum()} of {len(certain)} predictions are certain",
        format_,
        out,
    )


@click.command(short_help="How many worlds predict each label?")
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
    """How many worlds predict each label: exact integers, however large.

    FILE is the training table, with missing values. In CSV and JSON, counts are text, because they
    have more digits than a float can hold. --shares weights the worlds by the prior.

    \b
    Example:
      cpclean count train.csv --label y --val val.csv
      cpclean count train.csv --label y --shares --format csv
    """
    ready(out)
    task, classifier = fitted(training, validation)
    with working("Counting worlds"):
        found = (classifier.predict_proba if shares else classifier.world_counts)(task.raw_points)
    as_text = digits_of if not for_people(format_, out) else short_count
    columns = {
        f"{'share' if shares else 'worlds'}: {label}": [
            one if shares else as_text(one) for one in found[:, number].tolist()
        ]
        for number, label in enumerate(classifier.classes_)
    }
    what = "Share of the prior mass" if shares else "Worlds (digits)"
    _told(task, columns, f"{what} behind each label", format_, out, right=tuple(columns))


def digits_of(number: int) -> str:
    """All digits of a number; Python itself prints at most 4,300."""
    import sys

    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return str(number)
    finally:
        sys.set_int_max_str_digits(most)


def short_count(number: int, gap: str | None = None) -> str:
    """A count for a screen; a long one is cut in the middle, with its number of digits."""
    digits = digits_of(number)
    if len(digits) <= 12:
        return digits
    if gap is None:
        gap = "..." if terminal().options.ascii_only else "…"
    return f"{digits[:4]}{gap}{digits[-4:]} ({len(digits)})"


def fitted(training: Training, validation: Validation) -> tuple[Task, CertainKNeighborsClassifier]:
    """The task, and a classifier fitted to its table."""
    from cpclean.classifier import CertainKNeighborsClassifier

    with working("Reading"):
        task = open_given(training, validation).task
        made = CertainKNeighborsClassifier(training.neighbors, metric=training.metric)
        return task, made.fit(table_of(task))


def _told(
    task: Task,
    columns: dict[str, Any],
    title: str,
    format_: str | None,
    out: str | None,
    right: tuple[str, ...] = (),
) -> None:
    import pandas as pd

    known = {} if task.labels is None else {"label": task.labels.tolist()}
    frame = pd.DataFrame({"row": task.point_names.tolist(), **columns, **known})
    write(frame, format_, out, title, right=right)
