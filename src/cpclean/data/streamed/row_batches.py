"""Rows of files as columns, some at a time: read as `IncompleteTable` reads a whole frame."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.frames import columns_from
from cpclean.data.nulls import is_null
from cpclean.data.rows import Ints
from cpclean.data.streamed.pieces import Piece, TableSource
from cpclean.errors import TableError, TableWarning, offenders


@dataclass(frozen=True)
class Batch:
    """Some rows of a table.

    Attributes
    ----------
    columns : list of Column
        The features.
    codes, labels : ndarray and list
        The distinct labels, and which of them each row has.
    rows : ndarray of int
        The numbers of the rows in the table of all files.
    """

    columns: list[Column]
    codes: Ints
    labels: list[Any]
    rows: Ints

    def take(self, places: Ints) -> Batch:
        """Some of the rows."""
        columns = [replace(one, values=one.values[places]) for one in self.columns]
        return Batch(columns, self.codes[places], self.labels, self.rows[places])


@dataclass(frozen=True)
class BatchReader:
    """How rows of files become columns.

    Attributes
    ----------
    source : TableSource
    names : tuple of str
        The features, in the order of the files.
    label : str
    kinds : dict from column to kind
        The person's choices and, once they are known, the kinds of columns of text.
    null_tokens : tuple of str
    drop_unlabelled, drop_empty : bool
        Whether rows without a label, or with nothing but a label, are left out.
    """

    source: TableSource
    names: tuple[str, ...]
    label: str
    kinds: Mapping[str, str]
    null_tokens: tuple[str, ...]
    drop_unlabelled: bool
    drop_empty: bool = False

    def batches(self, piece: Piece, size: int) -> Iterator[Batch]:
        """The rows of a piece, at most `size` at a time."""
        first = piece.first
        for frame in self.source.frames(piece, (*self.names, self.label), size):
            rows = first + np.arange(len(frame))
            first += len(frame)
            if len(rows):
                yield self._batch(frame, rows, self.source.files[piece.file])

    def _batch(self, frame: Any, rows: Ints, file: str) -> Batch:
        try:
            with warnings.catch_warnings():  # said once, of all rows
                warnings.simplefilter("ignore", TableWarning)
                columns = columns_from(frame, self.kinds, self.null_tokens)
        except TableError as problem:
            counted = ", counted from the first of them" if problem.rows else ""
            raise TableError(
                f"in rows {rows[0]:,} to {rows[-1]:,} (file {file!r}){counted}: {problem.what}",
                problem.way_out,
                field=problem.field,
                column=problem.column,
                rows=rows[list(problem.rows)].tolist(),
            ) from problem
        codes, labels = distinct_values(columns.pop())
        null = np.array([*map(is_null, labels), True])[codes]
        if null.any() and not self.drop_unlabelled:
            lacking = rows[null].tolist()
            raise TableError(
                f"every row needs a label; missing in row {offenders(lacking)}, of rows "
                f"{rows[0]:,} to {rows[-1]:,} (file {file!r}).",
                "Pass drop_unlabelled=True to leave these rows out.",
                field="drop_unlabelled",
                rows=lacking,
            )
        left_out = null
        if self.drop_empty:
            left_out = null | np.logical_and.reduce([one.missing for one in columns])
        batch = Batch(columns, codes, labels, rows)
        return batch.take(np.flatnonzero(~left_out)) if left_out.any() else batch


def distinct_values(column: Column) -> tuple[Ints, list[Any]]:
    """The distinct values of a column as people know them, and which each row has; -1 for none."""
    if column.kind == "categorical":
        return column.categories.codes, list(column.categories.distinct)
    distinct, found = np.unique(column.values[~column.missing], return_inverse=True)
    codes = np.full(column.size, -1, dtype=np.int64)
    codes[~column.missing] = found.ravel()
    return codes, list(map(column.shown, distinct.tolist()))


def rows_at_once(memory: int, width: int) -> int:
    """How many rows of so many columns are worked on at a time, within a limit of memory."""
    return int(np.clip(memory // (_DOUBLES * 8 * max(width, 1)), _LEAST_ROWS, _MOST_ROWS))


# Doubles that a row takes up for each of its columns while it is read, encoded and searched.
_DOUBLES = 16
_LEAST_ROWS, _MOST_ROWS = 1 << 8, 1 << 17


def read_all(
    reader: BatchReader, pieces: Sequence[Piece], size: int, follow: Any
) -> Iterator[Batch]:
    """The rows of some pieces one after the other; `follow` is told how many were read."""
    done = 0
    for piece in pieces:
        for batch in reader.batches(piece, size):
            yield batch
            done += len(batch.rows)
            follow(done)
