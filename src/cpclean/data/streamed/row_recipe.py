"""What was learnt of a large table, applied to some of its rows: candidates, priors, the space.

A recipe is all that is needed to encode any rows of the table, here or in another process: it can
be pickled, and it is small, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.cell_priors import CellPriors
from cpclean.data.columns import Column
from cpclean.data.drawing import Drawing
from cpclean.data.encoded_rows import encoded_rows
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.proposals import in_space
from cpclean.data.ragged import Ragged
from cpclean.data.row_arrays import RowArrays
from cpclean.data.row_options import TableOptions
from cpclean.data.row_order import random_order
from cpclean.data.rows import Bools, Ints
from cpclean.data.spaces.filled_space import FilledSpace
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.streamed.class_counts import ClassCounts
from cpclean.data.streamed.pieces import Piece
from cpclean.data.streamed.row_batches import Batch, BatchReader, rows_at_once
from cpclean.data.whole_facts import WholeFacts
from cpclean.errors import TableError


@dataclass(frozen=True)
class SomeRows:
    """Some rows of a large table, as they stand in the files and in the space.

    Attributes
    ----------
    numbers : ndarray of int
        The numbers of the rows in the table.
    columns : tuple of Column
        Their values.
    codes : ndarray of int
        Their classes.
    arrays : RowArrays
        Their candidates in the space.
    seed : int or None
        They are in the random order of this seed, or by their numbers.
    """

    numbers: Ints
    columns: tuple[Column, ...]
    codes: Ints
    arrays: RowArrays
    seed: int | None = None

    def take(self, places: Ints) -> SomeRows:
        """Some of the rows."""
        columns = tuple(replace(one, values=one.values[places]) for one in self.columns)
        own = self.numbers[places], columns, self.codes[places], self.arrays.take(places)
        return SomeRows(*own, self.seed)

    @classmethod
    def joined(cls, parts: list[SomeRows]) -> SomeRows:
        """All rows of several lots, each row once, in their order."""
        numbers = np.concatenate([one.numbers for one in parts])
        columns = tuple(
            replace(own[0], values=np.concatenate([one.values for one in own]))
            for own in zip(*(one.columns for one in parts), strict=True)
        )
        every = cls(
            numbers,
            columns,
            np.concatenate([one.codes for one in parts]),
            RowArrays.joined([one.arrays for one in parts]),
            parts[0].seed,
        )
        if every.seed is None and (np.diff(numbers) > 0).all():
            return every
        once = np.unique(numbers, return_index=True)[1]
        if every.seed is not None:
            once = once[random_order(numbers[once], every.seed)]
        return every.take(once)


@dataclass(frozen=True)
class RowRecipe:
    """How rows of a table become rows of a dataset.

    Attributes
    ----------
    reader : BatchReader
    columns : tuple of Column
        They stand for the columns of the whole table.
    lists : tuple of Ragged
        The candidates of the holes of each column.
    space : TableSpace
    trees : FilledSpace or None
        Where distances are measured, if not between the vectors.
    prior : the user's choice
    counts : ClassCounts
    classes : ndarray
    drawing : Drawing
    memory : int
        Bytes that work on a batch may take.
    seed : int, optional
        Rows are in the random order of this seed; None: in that of the files.
    """

    reader: BatchReader
    columns: tuple[Column, ...]
    lists: tuple[Ragged, ...]
    space: TableSpace
    trees: FilledSpace | None
    prior: Any
    counts: ClassCounts
    classes: npt.NDArray[Any]
    drawing: Drawing
    memory: int
    seed: int | None = None

    @property
    def at_once(self) -> int:
        """How many rows are worked on at a time."""
        width = max(self.space.n_features, len(self.columns))
        return rows_at_once(self.memory, width)

    def rows(self, piece: Piece) -> Iterator[SomeRows]:
        """The rows of a piece, some at a time."""
        for batch in self.reader.batches(piece, self.at_once):
            yield self.encoded(batch)

    def encoded(self, batch: Batch) -> SomeRows:
        """Rows as they were read, in the space."""
        codes = codes_among(self.classes, batch)
        holes = np.column_stack([column.missing for column in batch.columns])
        options = self.options(holes)
        inside = np.array([feature is not None for feature in self.space.features])
        priors = CellPriors(self.prior, self.columns, codes, ~holes, self.counts)
        base = self.space.encode_with_holes(batch.columns)
        arrays = encoded_rows(base, in_space(options, inside), self.space, priors)
        found = SomeRows(batch.rows, tuple(batch.columns), codes, arrays, self.seed)
        return found if self.seed is None else SomeRows.joined([found])

    def options(self, holes: Bools) -> TableOptions:
        """What the holes of some rows can be."""
        listed = holes & np.array([len(own) > 0 for own in self.lists])
        zeros = {
            cell: np.zeros(int(own.sum()), dtype=np.int64) for cell, own in enumerate(listed.T)
        }
        return TableOptions.of_holes(listed, zeros, self.lists)

    def dataset(self, rows: SomeRows, whole: WholeFacts | None = None) -> IncompleteDataset:
        """Rows as a dataset of their own, or as one that stands for all rows."""
        return IncompleteDataset.from_arrays(
            rows.arrays, rows.codes, self.classes, self.drawing, rows.numbers, self.trees, whole
        )

    def sizes(self) -> Ints:
        """How many values a hole of each column has in the space."""
        inside = [feature is not None for feature in self.space.features]
        sizes = [int(own.sizes[0]) if len(own) else 1 for own in self.lists]
        return np.where(inside, sizes, 1)


def codes_among(classes: npt.NDArray[Any], batch: Batch) -> Ints:
    """The class of each row of a batch."""
    place = {one: code for code, one in enumerate(classes.tolist())}
    try:
        own = np.array([place[one] for one in batch.labels], dtype=np.int64)
    except KeyError as problem:
        raise TableError(
            f"the files have changed: the label {problem.args[0]!r} was not there before. "
            "Make the table anew."
        ) from None
    return own[batch.codes] if len(own) else np.empty(0, dtype=np.int64)
