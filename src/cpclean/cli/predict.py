"""cpclean check and count: which predictions are certain, and how many worlds predict a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.mistakes import note
from cpclean.cli.options import (
    Training,
    Validation,
    level_of,
    sure_option,
    training_options,
    validation_options,
)
from cpclean.cli.output import for_people, output_options, ready, working, write
from cpclean.cli.sessions import tell_draws
from cpclean.cli.tasks import model_of, task_given
from cpclean.intake.notes import Note

if TYPE_CHECKING:
    from cpclean.data.points import Points
    from cpclean.data.task import Task

# Going through more combinations of a row than this is not proposed to anybody.
MOST_COUNTED = 10**6


@click.command(short_help="Which predictions are certain?")
@training_options
@validation_options
@sure_option
@output_options
def check(
    training: Training,
    validation: Validation,
    sure: float | str | None,
    format_: str | None,
    out: str | None,
) -> None:
    """Which predictions are certain: do all worlds agree on the label?

    FILE is the training table, with holes; a folder or a pattern such as "data/*.parquet" stands
    for many files, which need not fit into memory. There is one line for every row of --val, or for
    every row held out: its number in its file, whether it is certain, the label that most of the
    prior mass predicts, the verdict (certain; sure: one label holds at least the level of --sure,
    or 0.95, of the prior mass, its estimated error taken off; open), the share of the label, and
    the labels that at least one world predicts. A row to predict may have holes, too: it is certain
    if the label is the same however they are filled.

    \b
    Example:
      cpclean check train.csv --label y --val val.csv
      cpclean check train.csv --label y --sure 0.99 --json > verdicts.json
    """
    from cpclean.analysis.certain_words import Standing
    from cpclean.queries.certain import possible_labels
    from cpclean.queries.shares import world_shares
    from cpclean.queries.sureness import LEVEL, sure_by, verdict_words

    ready(out)
    task = opened_task(training, validation)
    model = model_of(task, training)
    asked = (task.dataset, task.points, model.n_neighbors, model.metric)
    classes = task.dataset.classes
    cluster = training.cluster
    with working("Looking at the predictions"):
        possible = possible_labels(*asked, cluster=cluster)
        shares, level = world_shares(*asked, cluster=cluster), level_of(sure) or LEVEL
        reached = sure_by(shares, task.dataset, task.points, model, level, cluster=cluster)
        tell_draws(task, training)
    certain = possible.sum(axis=1) == 1
    verdicts = verdict_words(certain, reached)
    standing = Standing.of_verdicts(verdicts, level)
    _told(
        task,
        {
            "certain": certain.tolist(),
            "verdict": verdicts.tolist(),
            "prediction": classes[shares.argmax(axis=1)].tolist(),
            "share": shares.max(axis=1).tolist(),
            "possible": [classes[row].tolist() for row in possible],
        },
        str(standing),
        format_,
        out,
    )


@click.command(short_help="How many worlds predict each label?")
@training_options
@validation_options
@output_options
@click.option("--shares", is_flag=True, help="Shares of the prior mass instead of exact counts.")
@click.option("--exact", is_flag=True, help="All digits of large counts, also on a screen.")
def count(
    training: Training,
    validation: Validation,
    shares: bool,
    exact: bool,
    format_: str | None,
    out: str | None,
) -> None:
    """How many worlds predict each label: exact integers, however large.

    FILE is the training table, with missing values. On a screen, large counts are powers of ten,
    unless --exact is given. In CSV and JSON, counts are text, because they have more digits than a
    float can hold. --shares weights the worlds by the prior. A row to
    predict that has holes is counted in every world and with every way of filling them. Counts
    need all combinations of a row's holes: where these are too many, shares take their place.

    \b
    Example:
      cpclean count train.csv --label y --val val.csv
      cpclean count train.csv --label y --shares --format csv
    """
    ready(out)
    task = opened_task(training, validation)
    counted = task.points.n_points * [False] if shares else countable(task)
    columns: dict[str, list[Any]] = {}
    with working("Counting worlds"):
        if any(counted):
            as_text = short_count if for_people(format_, out) and not exact else digits_of
            columns |= _counts(task, training, counted, as_text)
        if not all(counted):
            columns |= _shares(task, training, [not shares and one for one in counted])
            tell_draws(task, training)
    what = "Share of the prior mass" if not any(counted) else "Worlds"
    _told(task, columns, f"{what} behind each label", format_, out, right=tuple(columns))


def countable(task: Task) -> list[bool]:
    """For which points worlds can be counted; a note says why not for the others."""
    data, points = task.dataset, task.points
    if not data.is_exact:
        most = max(data.arrays.count(row) for row in data.drawn_rows.tolist())
        rows = tuple(sorted(task.row_names[data.drawn_rows].tolist()))
        values = {"count": len(rows), "limit": data.drawing.max_exact, "most": most}
        if most <= MOST_COUNTED:
            note(Note("uncounted_rows", None, rows, values))
        else:
            note(Note("uncountable_rows", None, rows, values))
        return [False] * points.n_points
    drawn = points.drawn.tolist()
    if points.cells is not None:
        from cpclean.intake.choices import EASIER

        most = EASIER * max(map(points.cells.count, drawn))
        rows = tuple(task.point_names[points.drawn].tolist())
        if most <= MOST_COUNTED:
            note(Note("uncounted_points", None, rows, {"count": len(rows), "most": most}))
        else:
            note(Note("uncountable_points", None, rows, {"count": len(rows)}))
    left_out = set(drawn)
    return [point not in left_out for point in range(points.n_points)]


def _counts(
    task: Task, training: Training, counted: list[bool], as_text: Callable[[int], str]
) -> dict[str, list[Any]]:
    """Exact counts as text; None for the points that are not counted."""
    from cpclean.queries.shares import world_counts

    points, model = _some(task.points, counted), model_of(task, training)
    asked = (task.dataset, points, model.n_neighbors, model.metric)
    found = iter(world_counts(*asked, cluster=training.cluster).tolist())
    lines = [next(found) if one else None for one in counted]
    return {
        f"worlds: {label}": [None if one is None else as_text(one[number]) for one in lines]
        for number, label in enumerate(task.dataset.classes)
    }


def _some(points: Points, kept: list[bool]) -> Points:
    """Those of the points that are kept, none of which is drawn."""
    import numpy as np

    from cpclean.data.points import Points

    entries = np.array(kept)[points.owner]
    owner = (np.cumsum(kept) - 1)[points.owner[entries]]
    vectors = points.vectors[points.vector[entries]]
    return Points.from_entries(vectors, owner, points.weight[entries])


def _shares(task: Task, training: Training, left_out: list[bool]) -> dict[str, list[Any]]:
    """Shares of the prior mass; None for the points that are left out."""
    from cpclean.queries.shares import world_shares

    model = model_of(task, training)
    asked = (task.dataset, task.points, model.n_neighbors, model.metric)
    found = world_shares(*asked, cluster=training.cluster)
    lines = [None if out else one for out, one in zip(left_out, found.tolist(), strict=True)]
    return {
        f"share: {label}": [None if one is None else one[number] for one in lines]
        for number, label in enumerate(task.dataset.classes)
    }


def digits_of(number: int) -> str:
    """All digits of a number; Python itself prints at most 4,300."""
    import sys

    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return str(number)
    finally:
        sys.set_int_max_str_digits(most)


def short_count(number: int) -> str:
    """A count for a screen: a large one as a power of ten."""
    import math

    return f"{number:,}" if number < 10**9 else f"10^{math.log10(number):.1f}"


def opened_task(training: Training, validation: Validation) -> Task:
    """The task, once it is known that it can be asked about."""
    from cpclean.queries.geometry import ask

    with working("Reading"):
        task = task_given(training, validation, for_session=False, compared=True)
        ask(task.dataset, task.points, model_of(task, training))
        return task


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
