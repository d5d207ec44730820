"""Rows to predict: from a file of their own, or held out; and what is to be said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.domains import Domains, DomainTable, plain_frame
from cpclean.data.incomplete import Ints
from cpclean.data.rows import Bools
from cpclean.errors import offenders
from cpclean.intake.checking import check_finite, check_width
from cpclean.intake.choices import Choices, HoldOut, PointsFile, ToPredict
from cpclean.intake.holding import (
    columns_that_count,
    differ_in_holes,
    held_out,
    rows_with_holes,
)
from cpclean.intake.notes import Note
from cpclean.intake.same_rows import rows_in_both
from cpclean.intake.sentences import refusal
from cpclean.intake.source_file import SourceFile
from cpclean.intake.tidying import Tidying


@dataclass(frozen=True)
class RowsToPredict:
    """Rows with or without holes, where they stand in their file, and their labels if known."""

    frame: Any
    numbers: Ints
    labels: npt.NDArray[Any] | None
    file: str
    held_out: bool
    notes: tuple[Note, ...] = ()
    domains: Domains | None = None  # what their cells can be, where their file lists it

    def only(self, some: Ints, note: Note) -> RowsToPredict:
        """Some of the rows, and a note on that."""
        return replace(
            self,
            frame=self.frame.iloc[some],
            numbers=self.numbers[some],
            labels=None if self.labels is None else self.labels[some],
            notes=(*self.notes, note),
        )


def rows_to_predict(
    frame: Any, source: SourceFile, tidying: Tidying, given: ToPredict
) -> RowsToPredict:
    """The rows that a table is to predict; the frame is tidied, without dropped columns."""
    if isinstance(given, HoldOut):
        return _held_out(frame, source, tidying.choices, given)
    return _of_file(frame, source, tidying, given)


def _held_out(frame: Any, source: SourceFile, choices: Choices, given: HoldOut) -> RowsToPredict:
    """Rows at random, the same share of every label; the table keeps the rest."""
    if choices.domains:
        raise refusal("domains_points")
    labels, features = frame[choices.label], frame.drop(columns=choices.label)
    usable = labels.mask(features.isna().all(axis=1))  # nothing is learnt from the others
    held = held_out(usable, given.share, given.seed)
    if not len(held):
        sizes = usable.value_counts()
        if not (sizes > 1).any():
            raise refusal("labels_once", file=source.called)
        n_rows = int(sizes.sum())
        raise refusal("share_of_none", share=given.share, percent=100 * given.share, count=n_rows)
    with_holes = rows_with_holes(features, columns_that_count(features))
    notes = _about_held(held, with_holes, usable.notna().to_numpy())
    return RowsToPredict(
        features.iloc[held], held, labels.iloc[held].to_numpy(), source.called, True, notes
    )


def _about_held(held: Ints, with_holes: Bools, usable: Bools) -> tuple[Note, ...]:
    """How many rows were held out, and whether they are like the others."""
    others = usable.copy()
    others[held] = False
    n_holes = int(with_holes[held].sum())
    told = Note("held_out", values={"count": len(held), "holes": n_holes})
    if not differ_in_holes(with_holes[held], with_holes[others]):
        return (told,)
    there = {"others": int(others.sum()), "other_holes": int(with_holes[others].sum())}
    return told, Note("held_out_differs", values={**told.values, **there})


def _of_file(frame: Any, trained: SourceFile, tidying: Tidying, given: PointsFile) -> RowsToPredict:
    """All rows of another file, in its order."""
    source, choices = given.source, tidying.choices
    read = source.read(
        given.layout,
        null_tokens=choices.null_tokens,
        kinds=choices.kinds,
        domains=choices.domains,
    )
    found = plain_frame(read)
    check_width(found, source, given.layout)
    found = found.drop(columns=[name for name in found.columns if str(name) in choices.drop])
    found, about_cells = tidying.of(found)
    check_finite(found, source)
    labels, column = None, found.get(choices.label)
    features = frame.drop(columns=choices.label)
    points = _aligned(found.drop(columns=choices.label, errors="ignore"), features, source, trained)
    about = {"file": source.called, "total": len(found)}
    notes = [*_of(source, about_cells), *_about_holes(points, features, about)]
    if column is not None:
        known = column.notna()
        labels = column.to_numpy() if known.all() else None
        if known.any() and labels is None:
            notes.append(Note("points_unlabelled", values={**about, "count": int((~known).sum())}))
    if not choices.domains:
        mine, theirs = (frame, found) if labels is not None else (features, points)
        notes += _about_both(mine, theirs, trained, about)
    listed = read.repairs if isinstance(read, DomainTable) else None
    return RowsToPredict(
        points, np.arange(len(points)), labels, source.called, False, tuple(notes), listed
    )


def _of(source: SourceFile, notes: list[Note]) -> list[Note]:
    """Notes on cells that say which file they are about."""
    return [replace(one, values={**one.values, "where": f" of {source.called}"}) for one in notes]


def _aligned(points: Any, features: Any, source: SourceFile, trained: SourceFile) -> Any:
    """The points with the table's columns, in its order; a column may be empty, but not absent."""
    absent = [str(name) for name in features.columns if name not in points.columns]
    extra = offenders(repr(str(name)) for name in points.columns if name not in features.columns)
    files = {"file": source.called, "trained": trained.called}
    if absent:
        instead = f", and has {extra} instead" if extra else ""
        told = {**files, "names": offenders(map(repr, absent)), "instead": instead}
        raise refusal("points_lack", absent[0], (), **told)
    if extra:
        raise refusal("points_more", None, (), **files, names=extra)
    return points[list(features.columns)]


def _about_holes(points: Any, features: Any, about: Mapping[str, Any]) -> list[Note]:
    """How many points have holes, and of which nothing is known."""
    columns = columns_that_count(features)
    with_holes = rows_with_holes(points, columns)
    notes = []
    if with_holes.any():
        notes.append(Note("points_holes", values={**about, "count": int(with_holes.sum())}))
    empty = tuple(np.flatnonzero(points[columns].isna().all(axis=1)).tolist()) if columns else ()
    if empty:
        notes.append(Note("points_empty", rows=empty, values={**about, "count": len(empty)}))
    return notes


def _about_both(
    mine: Any, theirs: Any, trained: SourceFile, about: Mapping[str, Any]
) -> list[Note]:
    """Which points are training rows, too."""
    twins = rows_in_both(mine, theirs)
    (rows,) = np.nonzero(twins >= 0)
    if not len(rows):
        return []
    values = {
        **about,
        "count": len(rows),
        "trained": trained.called,
        "there": offenders(twins[rows].tolist()),
    }
    return [Note("points_in_training", rows=tuple(rows.tolist()), values=values)]


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
