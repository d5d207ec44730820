"""cpclean rank: which rows or cells to clean first, for people who clean elsewhere."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.many_files import is_many
from cpclean.cli.options import (
    Training,
    Validation,
    sure_option,
    training_options,
    validation_options,
)
from cpclean.cli.output import SCREEN, for_people, output_options, ready, working, write
from cpclean.cli.questions import progress
from cpclean.cli.sessions import WayOfAsking, open_session, tell_completions, tell_draws
from cpclean.cli.tasks import files_given, open_given

if TYPE_CHECKING:
    from cpclean.analysis.ranking import Ranked
    from cpclean.data.task import Task
    from cpclean.intake.file_lines import FileLines


@click.command(short_help="Which rows to clean first, if you clean elsewhere.")
@training_options
@validation_options
@sure_option
@output_options
@click.option("--cells", is_flag=True, help="Rank single cells instead of whole rows.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the first N.")
@click.option("--values", is_flag=True, help="Add the known values of each row.")
def rank(
    training: Training,
    validation: Validation,
    sure: float | str | None,
    cells: bool,
    top: int | None,
    values: bool,
    format_: str | None,
    out: str | None,
) -> None:
    """Rows with missing values, ordered by how much cleaning them is expected to help.

    FILE is the training table, with holes. Every line has the number of a row in its file (0 is
    the first one below the header), the line of the file on which it begins (in text files and
    workbooks), its score, its gain, the number of candidates, and the columns with holes. Rows of
    several files are counted through all of them; then the file and the row in it are there, too.

    The gain is the expected fall of the predictions' mean entropy once the row is known, in nats; a
    gain of 0 means: no need to clean it. The order is by the score, in which doubt about many
    predictions counts more than much doubt about a few: the mean over predictions of the root of
    the share of their entropy that is expected to fall. Cells are ordered by their gain. With
    --sure, only predictions count that are neither certain nor that sure.

    \b
    Example:
      cpclean rank train.csv --label y --top 50 --out todo.csv
      cpclean rank train.csv --label y --val val.csv --cells --json
    """
    from cpclean.intake.file_lines import FileLines

    ready(out)
    with working("Looking at the predictions"):
        many = files_given(training, validation) if is_many(training.file) else None
        if many is not None:
            task, lines = many.task, FileLines()
        else:
            opened = open_given(training, validation, compared=True)
            task, lines = opened.task, opened.lines
        asking = WayOfAsking.of(sure, "cells" if cells else None)
        session = open_session(task, training, seed=validation.seed, **asdict(asking))
        from cpclean.analysis.ranking import ranking

        found = ranking(session)
        tell_draws(task, training)
        tell_completions(task)
    shown = found if top is None else found[:top]
    title = f"{progress(session)};\n{_what_helps(found, 'cells' if cells else 'rows')}"
    frame = _frame(shown, task, cells, lines)
    if many is not None:
        places = [many.table.where(row) for row in frame["row"].tolist()]
        frame.insert(1, "file", [os.path.basename(file) for file, _ in places])
        frame.insert(2, "row_in_file", [row for _, row in places])
    if values:
        frame = _with_values(frame, task, training, together=for_people(format_, out))
    write(frame, format_, out, title, top or SCREEN)


def _what_helps(found: list[Ranked], what: str) -> str:
    if not found:
        return f"no {what} have holes"
    return f"these {what} help most" if found[0].gain > 0 else f"no {what} have to be cleaned"


def _frame(found: list[Ranked], task: Task, cells: bool, lines: FileLines) -> Any:
    import pandas as pd

    columns: dict[str, Any] = {"row": [int(task.row_names[one.row]) for one in found]}
    if lines.numbers:
        columns["line"] = [lines.at(row) for row in columns["row"]]
    if cells:
        columns["column"] = [one.column for one in found]
    else:  # cells are in the order of their gains
        columns["score"] = [one.score for one in found]
    columns["gain"] = [one.gain for one in found]
    columns["candidates"] = [one.candidates for one in found]
    if not cells:
        columns["holes"] = [list(one.holes) for one in found]
    return pd.DataFrame(columns)


def _with_values(frame: Any, task: Task, training: Training, together: bool) -> Any:
    """With the values of the rows: one column for each, or all in one column for a screen."""
    import pandas as pd

    from cpclean.data.domains import plain_frame
    from cpclean.intake.formats import records

    if task.frame is None and task.table is not None:  # of several files
        places = [task.row_named[row] for row in frame["row"].tolist()]
        own = pd.DataFrame([task.table.row(place) for place in places])
        own[training.label] = task.dataset.labels[places]
    else:
        own = plain_frame(task.frame).drop(columns=list(training.drop))
        own = own.iloc[frame["row"]].reset_index(drop=True)
    if not together:
        return frame.join(own.rename(columns={name: f"value: {name}" for name in own.columns}))
    known = [
        ", ".join(f"{name} {value}" for name, value in row.items() if value is not None)
        for row in records(own)
    ]
    return frame.assign(values=known)
