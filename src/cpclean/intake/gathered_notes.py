"""What is to be said about the rows that were gathered from several files."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpclean.data.streamed.streamed_table import StreamedTable
from cpclean.data.table import IncompleteTable
from cpclean.errors import offenders
from cpclean.intake.checking import MIN_SORTED, tied_notes
from cpclean.intake.choices import Choices
from cpclean.intake.notes import Note
from cpclean.intake.predicting import RowsToPredict
from cpclean.intake.same_rows import rows_in_both
from cpclean.intake.source_file import SourceFile
from cpclean.intake.writing import as_pandas


def gathered_notes(
    near: IncompleteTable,
    table: StreamedTable,
    found: RowsToPredict,
    trained: SourceFile,
    choices: Choices,
) -> list[Note]:
    """Which points are training rows, and whether ties among rows go to one label.

    A row that equals a point is nearest to it, and was gathered, unless many others tie with it: so
    they are at least as many as are told.

    Parameters
    ----------
    near : IncompleteTable
        The rows that were gathered.
    table : StreamedTable
        The table of all rows.
    found : RowsToPredict
    trained : SourceFile
        What the files are called.
    choices : Choices
    """
    frame = as_pandas(near.frame_of((one, one.values) for one in near.columns))
    theirs = found.frame
    mine = frame.drop(columns=choices.label)
    if found.labels is not None:
        mine, theirs = frame, theirs.assign(**{choices.label: found.labels})
    is_sorted = table.n_rows >= MIN_SORTED and 1 < table.label_runs == len(table.classes)
    notes = tied_notes(frame, trained, choices) if is_sorted else []
    twins = rows_in_both(mine, theirs)
    (rows,) = np.nonzero(twins >= 0)
    if len(rows):
        there = np.sort(near.rows_kept)[twins[rows]]
        values: dict[str, Any] = {
            "file": found.file,
            "total": len(theirs),
            "count": len(rows),
            "trained": trained.called,
            "there": offenders(table.files.names(there.tolist())),
        }
        notes.append(Note("points_in_training", rows=tuple(rows.tolist()), values=values))
    return notes
