"""The one way from a table file and choices to a task, for the terminal and the page alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.data.domains import DomainTable, plain_frame
from cpclean.data.frames import columns_from
from cpclean.data.incomplete import Ints
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.errors import TableWarning
from cpclean.intake.checking import (
    check_columns,
    check_rows,
    check_width,
    check_words,
    leaves_notes,
    sorted_notes,
)
from cpclean.intake.choices import EASIER, Choices, ToPredict
from cpclean.intake.cleaned import Original
from cpclean.intake.file_lines import FileLines
from cpclean.intake.notes import Note
from cpclean.intake.predicting import RowsToPredict, as_classes, rows_to_predict
from cpclean.intake.sampling import Bounds, points_looked_at, rows_looked_at
from cpclean.intake.sentences import refusal
from cpclean.intake.source_file import SourceFile
from cpclean.intake.tidying import cells, tidied
from cpclean.intake.typed_repairs import typed_repairs

# Notes of our own, and warnings of rooms that know nothing of files.
Remark = Note | TableWarning


@dataclass(frozen=True)
class Opened:
    """A task out of a file.

    Attributes
    ----------
    task : Task
        Rows and points are named by their numbers in their files: 0 is the first below the header.
        Among leaves, training rows are in a random order, the same one each time.
    source : SourceFile
    original : Original
        What the cleaned table is written from.
    notes : tuple of Note or TableWarning
        What a person should know about it; `cpclean.intake.sentences.said` says it.
    held_out : bool
        Whether the points are rows of the same file.
    in_space : function from the name of a space to Task or None
        Makes the same task anew in another space; None if the table cannot have its leaves.
    """

    task: Task
    source: SourceFile
    original: Original
    notes: tuple[Remark, ...]
    held_out: bool
    in_space: Callable[[str], Task | None] = field(repr=False)

    @cached_property
    def lines(self) -> FileLines:
        """On which line of the file each of its rows begins."""
        return FileLines.of(self.original.text, len(self.original.frame), self.source.suffix)


def read_whole(source: SourceFile, choices: Choices) -> Any:
    """The training file as it stands: a pandas frame, or a DomainTable; refused if too wide."""
    given = source.read(
        choices.layout,
        null_tokens=choices.null_tokens,
        kinds=choices.kinds,
        domains=choices.domains,
    )
    check_width(plain_frame(given), source, choices.layout)
    return given


def open_task(
    source: SourceFile,
    choices: Choices,
    to_predict: ToPredict,
    *,
    for_session: bool = True,
    bounds: Bounds | None = None,
) -> Opened:
    """Read a training table, and what is to be predicted with it.

    Parameters
    ----------
    source : SourceFile
    choices : Choices
    to_predict : HoldOut or PointsFile
    for_session : bool
        Whether points with holes are for a session, which makes do with fewer completions.
    bounds : Bounds, optional
        How much of a large table is looked at, with a note on it; None: all of it.

    Examples
    --------
    >>> from cpclean.intake.choices import HoldOut
    >>> content = b"age,city,buys\\n40,A,no\\n,B,yes\\n30,B,no\\n65,A,yes\\n"
    >>> source = SourceFile("'small.csv'", ".csv", lambda: content)
    >>> opened = open_task(source, Choices("buys"), HoldOut(0.25))
    >>> opened.task.row_names.tolist(), opened.task.point_names.tolist()
    ([0, 1, 3], [2])
    """
    notes: list[Remark] = []
    with noted(notes):
        given = read_whole(source, choices)
        whole = plain_frame(given)
        check_columns(whole, choices)
        frame, about_cells, tidying = tidied(whole.drop(columns=list(choices.drop)), choices)
        left_out = check_rows(frame, source, choices)
        notes += [*check_words(whole, frame, source, choices), *about_cells, *left_out]
        found = rows_to_predict(frame, source, tidying, to_predict)
        gone = [row for note in left_out for row in note.rows]
        gone += found.numbers.tolist() if found.held_out else []
        rest = np.setdiff1d(np.arange(len(frame)), np.array(gone, dtype=np.int64))
        if bounds is not None:
            rest, found = _looked_at(frame, rest, found, choices, bounds)
        used_whole = whole.copy(deep=False)
        for name in frame.columns:
            used_whole[name] = frame[name]
        read = _Read(given, used_whole, frame, rest, found, for_session)
        without = leaves_notes(frame[choices.label].iloc[rest], choices)
        used = replace(choices, space="plain") if without else choices
        task, about_labels = _task(read, used)
        ordered = sorted_notes(frame.iloc[task.row_names], source, used)
        notes += [*without, *found.notes, *about_labels, *ordered]
    original = Original(whole, source.text(choices.layout), choices.domains, source.whole_columns)

    def in_space(space: str) -> Task | None:
        other = replace(choices, space=space, max_exact=None, n_draws=None)
        with noted([]):
            without = leaves_notes(frame[choices.label].iloc[rest], other)
            return None if without else _task(read, other)[0]

    return Opened(task, source, original, tuple(notes), found.held_out, in_space)


def _looked_at(
    frame: Any, rest: Ints, found: RowsToPredict, choices: Choices, bounds: Bounds
) -> tuple[Ints, RowsToPredict]:
    """The training rows and the rows to predict that are looked at, with a note if some are not."""
    features = frame.drop(columns=choices.label)
    used = rows_looked_at(
        features.iloc[rest], frame[choices.label].iloc[rest], bounds, choices.seed
    )
    kept = rest[used]
    asked = points_looked_at(found.frame, features.iloc[kept], bounds, choices.seed)
    n_rows, n_points = len(rest), len(found.numbers)
    if len(kept) == n_rows and len(asked) == n_points:
        return rest, found
    values = {"count": len(kept), "total": n_rows, "seen": len(asked), "to_predict": n_points,
              "sample": _sample(len(kept), n_rows, len(asked), n_points)}  # fmt: skip
    return kept, found.only(asked, Note("sampled", values=values))


def _sample(count: int, total: int, seen: int, to_predict: int) -> str:
    """Of which rows only some are looked at, in words.

    >>> _sample(1_303, 1_303, 114, 326), _sample(1_732, 13_710, 100, 3_427)
    ('114 of 326 rows to predict', '1,732 of 13,710 training rows and 100 of 3,427 rows to predict')
    """
    rows = f"{count:,} of {total:,} training rows" if count < total else ""
    points = f"{seen:,} of {to_predict:,} rows to predict" if seen < to_predict else ""
    return " and ".join(filter(None, [rows, points]))


@dataclass(frozen=True)
class _Read:
    """What a task is made of: the file as it was given, what is left of it, and the points."""

    given: Any
    whole: Any  # all columns, those that are used as they are used
    frame: Any
    rest: Ints
    found: RowsToPredict
    for_session: bool


def _task(read: _Read, choices: Choices) -> tuple[Task, list[Note]]:
    """The task in the space that was chosen, and notes on the labels of its points."""
    found = read.found
    table = _table(read, choices)
    labels, about_labels = as_classes(found, table.dataset.classes.tolist())
    asked = found.frame if found.domains is None else DomainTable(found.frame, found.domains)
    if read.for_session:
        points = table.session_points(asked)
    else:
        most = table.dataset.drawing.max_exact // EASIER
        points = table.points(asked, max_completions=max(1, most))
    task = Task.of(
        table,
        points,
        labels,
        row_names=read.rest[table.rows_kept],
        point_names=found.numbers,
        frame=read.given if isinstance(read.given, DomainTable) else read.whole,
    )
    return replace(task, raw_points=found.frame), about_labels


def _table(read: _Read, choices: Choices) -> IncompleteTable:
    given, frame, rest = read.given, read.frame, read.rest
    kinds = {name: kind for name, kind in choices.kinds.items() if name not in choices.drop}
    if isinstance(given, DomainTable):
        if choices.repairs != "default":
            raise refusal("domains_repairs")
        repairs: Any = given.repairs
    else:
        columns = (
            ()
            if isinstance(choices.repairs, str)
            else columns_from(frame, kinds, choices.null_tokens)
        )
        repairs = typed_repairs(columns, choices) or (
            choices.repairs if isinstance(choices.repairs, str) else "default"
        )
    used = frame if len(rest) == len(frame) else frame.iloc[rest]
    table = IncompleteTable(
        used,
        label=choices.label,
        repairs=repairs,
        prior=choices.prior,
        suspects=_suspects(used, choices),
        kinds=kinds,
        null_tokens=choices.null_tokens,
        space="plain" if choices.space == "plain" else LeafSpace(choices.space, n_jobs=-1),
        max_exact=choices.max_exact,
        n_draws=choices.n_draws,
        random_state=choices.seed,
        drop_unlabelled=choices.drop_unlabelled,
    )
    # Among leaves many rows tie, and files are often sorted by their label.
    return table if choices.space == "plain" else table.shuffled()


def _suspects(frame: Any, choices: Choices) -> Any:
    """Where features are doubted, as a frame of truths; None if none is."""
    found = cells(frame, choices.suspects)
    if not found:
        return None
    mask = frame.drop(columns=choices.label).notna() & False
    return mask.assign(**found)


@contextmanager
def noted(notes: list[Remark]) -> Iterator[None]:
    """Warnings about a table become notes, each once; others stay warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    told: set[str] = set()
    for one in seen:
        if not isinstance(one.message, TableWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        elif one.message.what not in told:
            told.add(one.message.what)
            notes.append(one.message)
