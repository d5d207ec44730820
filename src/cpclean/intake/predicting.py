"""Rows to predict: from a file of their own, or held out; and what is to be said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.domains import plain_frame
from cpclean.data.incomplete import Ints
from cpclean.errors import offenders
from cpclean.intake.checking import check_finite, check_width
from cpclean.intake.choices import Choices, HoldOut, PointsFile, ToPredict
from cpclean.intake.holding import complete_rows, empty_columns, held_out
from cpclean.intake.notes import Note
from cpclean.intake.sentences import refusal
from cpclean.intake.source_file import SourceFile


@dataclass(frozen=True)
class RowsToPredict:
    """Complete rows, where they stand in their file, and their labels if they are known."""

    frame: Any
    numbers: Ints
    labels: npt.NDArray[Any] | None
    file: str
    held_out: bool
    notes: tuple[Note, ...] = ()


def rows_to_predict(
    frame: Any, source: SourceFile, choices: Choices, given: ToPredict
) -> RowsToPredict:
    """The rows that a table is to predict; the frame is without the columns that are dropped."""
    if isinstance(given, HoldOut):
        return _held_out(frame, source, choices, given)
    return _of_file(frame, choices, given)


def _held_out(frame: Any, source: SourceFile, choices: Choices, given: HoldOut) -> RowsToPredict:
    """Complete rows at random; the table keeps the rest."""
    if choices.domains:
        raise refusal("domains_points")
    complete = complete_rows(frame)
    wanted = round(given.share * len(frame))
    if not len(complete):
        raise refusal("none_complete", file=source.called)
    if not wanted:
        raise refusal(
            "share_of_none", share=given.share, percent=100 * given.share, count=len(frame)
        )
    labels = frame[choices.label]
    empty = frame.drop(columns=choices.label).isna().all(axis=1)  # nothing is learnt from these
    held = held_out(complete, labels.mask(empty), wanted, given.seed)
    if not len(held):
        raise refusal("labels_once", file=source.called)
    notes: tuple[Note, ...] = ()
    if wanted > len(complete):
        values = {"wanted": wanted, "complete": len(complete), "held": len(held)}
        notes = (Note("fewer_held", values=values),)
    points = frame.iloc[held].drop(columns=choices.label)
    return RowsToPredict(points, held, labels.iloc[held].to_numpy(), source.called, True, notes)


def _of_file(frame: Any, choices: Choices, given: PointsFile) -> RowsToPredict:
    """The complete rows of another file; columns that are empty in training may be so here."""
    source = given.source
    found = plain_frame(
        source.read(
            given.layout,
            null_tokens=choices.null_tokens,
            kinds=choices.kinds,
            domains=choices.domains,
        )
    )
    check_width(found, source, given.layout)
    found = found.drop(columns=[name for name in found.columns if str(name) in choices.drop])
    check_finite(found, source)
    notes, labels = [], None
    column = found.get(choices.label)
    found = found.drop(columns=choices.label, errors="ignore")
    needed = found.drop(columns=empty_columns(frame), errors="ignore")
    complete = np.flatnonzero(needed.notna().all(axis=1).to_numpy())
    if not len(complete):
        raise refusal("points_holes", file=source.called)
    about = {"file": source.called, "total": len(found)}
    if len(complete) < len(found):
        n_left_out = len(found) - len(complete)
        notes.append(Note("points_left_out", values={**about, "count": n_left_out}))
    if column is not None:
        known = column.iloc[complete].notna()
        labels = column.iloc[complete].to_numpy() if known.all() else None
        if known.any() and labels is None:
            notes.append(Note("points_unlabelled", values={**about, "count": int((~known).sum())}))
    return RowsToPredict(
        found.iloc[complete],
        complete,
        labels,
        source.called,
        False,
        tuple(notes),
    )


def as_classes(
    found: RowsToPredict, classes: Sequence[Any]
) -> tuple[npt.NDArray[Any] | None, list[Note]]:
    """Labels as the training table has them, those that it does not have as they are.

    A file of numbers alone is not read as one with text is: 1 and "1" are the same label.
    """
    if found.labels is None:
        return None, []
    known = set(classes)
    spelled = {str(one): one for one in classes}
    labels = [one if one in known else spelled.get(str(one), one) for one in found.labels.tolist()]
    odd = [one for one in labels if one not in known]
    if len(odd) == len(labels):
        got = offenders(map(repr, dict.fromkeys(labels)))
        raise refusal(
            "points_labels", file=found.file, known=offenders(map(repr, classes)), got=got
        )
    notes = []
    if odd:
        got = offenders(map(repr, dict.fromkeys(odd)))
        values = {"count": len(odd), "total": len(labels), "got": got}
        notes.append(Note("points_unknown", values=values))
    if len({type(one) for one in labels}) == 1:
        return np.array(labels), notes
    mixed = np.empty(len(labels), dtype=object)
    mixed[:] = labels
    return mixed, notes
