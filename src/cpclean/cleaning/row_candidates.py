"""What a row can be under what is known: its likeliest candidates, and its cells one by one.

Candidates are combinations of the values of a row's cells. They are put together from the cells, as
many as are wanted: a row with 25 holes has too many to go through.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cpclean.cleaning.known import Known
from cpclean.data.combinations import likeliest, number_of
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats, StoredCell, StoredRow, in_ranges
from cpclean.queries.cell_gains import Span

# Candidates that a question lists: three holes of five values. Of more, the likeliest.
MOST_CANDIDATES = 5**3


class RawValues(Protocol):
    """What translates between vectors and the values that people see: a subject."""

    data: IncompleteDataset  # at the start

    def cells(self, row: int) -> Mapping[Any, Span]:
        """The uncertain cells of a row at the start, and the columns of the space they cover."""

    def some_candidates(self, row: int, numbers: Iterable[int]) -> list[Any]:
        """Candidates that a row had at the start."""

    def cell_values(
        self, row: int, column: Any, places: Sequence[int], values: Floats
    ) -> list[Any]:
        """The values of a cell, from their places at the start and as they are in the space now."""

    def answer_in(self, column: Any, value: Any) -> Any:
        """The answer that a cell has this value."""

    def overlaid(self, candidate: Any, known: Known) -> Any:
        """A candidate with what is known in its place."""


class KnownRows(Protocol):
    """What has rows as they are known now."""

    def stored_row(self, row: int) -> StoredRow:
        """A row as it is stored, read-only: its first candidate, and its cells."""


@dataclass(frozen=True)
class Listing:
    """Some candidates of a row, or some values of one of its cells.

    Attributes
    ----------
    candidates : list
        In raw values.
    numbers : list of int or None
        Their numbers at the start; None if the row did not have the candidate then.
    origins : list of int
        The numbers of the candidates at the start that they come from.
    prior : ndarray
        How likely each is; of all candidates together, this sums to 1.
    total : int
        How many candidates there are, listed or not.
    """

    candidates: list[Any]
    numbers: list[int | None]
    origins: list[int]
    prior: Floats
    total: int


@dataclass(frozen=True)
class CellValues:
    """An open cell of a row: what it can be.

    Attributes
    ----------
    column : name or number of a column
        A tuple of numbers for a cell over several columns of a dataset.
    values : list
        In raw values, the likeliest first; of equally likely ones, in the order of the candidates.
    prior : ndarray
        How likely each value is; sums to 1.
    """

    column: Any
    values: list[Any]
    prior: Floats


@dataclass(frozen=True)
class _Cell:
    """One cell, as it was at the start and as it is now."""

    given: StoredCell
    values: Floats  # that are left, or are known instead
    weights: Floats
    places: list[int]  # which of the given values each of them comes from
    as_given: bool  # whether these are given values


class RowCandidates:
    """The candidates of a row, of which something may be known.

    Parameters
    ----------
    subject : RawValues
    data : KnownRows
        Rows as they are known now, such as an `IncompleteDataset`.
    row : int
    known : Known
        What is known about the row.
    """

    def __init__(self, subject: RawValues, data: KnownRows, row: int, known: Known) -> None:
        self._subject, self._row, self._known = subject, row, known
        given, now = subject.data.stored_row(row), data.stored_row(row)
        self._cells = [_cell_now(one, now, known) for one in given.cells]
        self._sizes = [len(one.given.values) for one in self._cells]
        self._as_given = _elsewhere_as_given(given, known) and all(
            one.as_given for one in self._cells
        )

    @property
    def total(self) -> int:
        """How many there are."""
        return math.prod(len(one.values) for one in self._cells)

    def listing(self, most: int = MOST_CANDIDATES, *, every_value: bool = False) -> Listing:
        """All candidates in their order; of more than `most` the likeliest, from the top.

        With `every_value`, these are followed by the likeliest candidate with each value of each
        cell that none of them has.
        """
        weights = [one.weights for one in self._cells]
        if self.total <= most:
            places = list(itertools.product(*(range(len(one)) for one in weights)))
            prior = np.ones(1)
            for own in weights:
                prior = np.multiply.outer(prior, own).ravel()
        else:
            found, prior = likeliest(weights, most)
            if every_value:
                found, prior = _with_every_value(found, prior, weights)
            places = list(map(tuple, found.tolist()))
        origins = [self._origin(one) for one in places]
        return Listing(
            self._raw(origins),
            list(origins) if self._as_given else [None] * len(origins),
            origins,
            prior,
            self.total,
        )

    def likeliest(self) -> Any:
        """The likeliest candidate; the first of equals."""
        places = [int(np.argmax(one.weights)) for one in self._cells]
        return self._raw([self._origin(places)])[0]

    def of_cell(self, column: Any, most: int = MOST_CANDIDATES) -> Listing:
        """The same for one cell; values have no numbers."""
        values, places, prior = self._values(column)
        if len(values) > most:
            order = np.argsort(-prior, kind="stable")[:most].tolist()
        else:
            order = list(range(len(values)))
        return Listing(
            [self._subject.answer_in(column, values[at]) for at in order],
            [None] * len(order),
            [places[at] for at in order],
            prior[order],
            len(values),
        )

    def cells(self) -> list[CellValues]:
        """The cells that are open, in the order of their columns."""
        found = []
        for column in self._subject.cells(self._row):
            values, _, prior = self._values(column)
            if len(values) > 1:
                order = np.argsort(-prior, kind="stable")
                found.append(
                    CellValues(column, [values[at] for at in order.tolist()], prior[order])
                )
        return found

    def drawn(self, rng: np.random.Generator) -> Any:
        """A candidate that is as likely as the prior says, as its number or in raw values."""
        places = [_drawn_place(one.weights, rng) for one in self._cells]
        origin = self._origin(places)
        return origin if self._as_given else self._raw([origin])[0]

    def _origin(self, places: Sequence[int]) -> int:
        own = [one.places[place] for one, place in zip(self._cells, places, strict=True)]
        return number_of(own, self._sizes)

    def _raw(self, origins: Sequence[int]) -> list[Any]:
        found = self._subject.some_candidates(self._row, origins)
        return [self._subject.overlaid(one, self._known) for one in found]

    def _values(self, column: Any) -> tuple[list[Any], list[int], Floats]:
        """The different values of a cell as people see them, the first place and mass of each."""
        start, stop = self._subject.cells(self._row)[column]
        for one in self._cells if column not in self._known.raw else []:
            if one.given.start <= start and stop <= one.given.stop:
                own = one.values[:, start - one.given.start : stop - one.given.start]
                raw = self._subject.cell_values(self._row, column, one.places, own)
                return _merged(raw, one.places, one.weights)
        return [], [], np.zeros(0)  # it is known, or has one value only


def _merged(
    raw: list[Any], places: Sequence[int], weights: Floats
) -> tuple[list[Any], list[int], Floats]:
    """Equal values as one, whose mass is the sum of theirs."""
    found: dict[Any, int] = {}
    group, first = [], []
    for value, place in zip(raw, places, strict=True):
        if value not in found:
            found[value] = len(found)
            first.append(place)
        group.append(found[value])
    return list(found), first, np.bincount(group, weights).astype(np.float64)


def _with_every_value(
    places: Ints, prior: Floats, weights: Sequence[Floats]
) -> tuple[Ints, Floats]:
    more = []
    for cell, own in enumerate(weights):
        for value in np.setdiff1d(np.arange(len(own)), places[:, cell]).tolist():
            one = places[0].copy()
            one[cell] = value
            more.append(one)
    masses = [math.prod(map(np.ndarray.item, weights, one.tolist())) for one in more]
    return np.vstack([places, *more]), np.append(prior, masses)


def _cell_now(given: StoredCell, now: StoredRow, known: Known) -> _Cell:
    own = next((one for one in now.cells if one.start == given.start), None)
    values = now.base[None, given.start : given.stop] if own is None else own.values
    weights = np.ones(1) if own is None else own.weights
    columns = [column for column in known.features if given.start <= column < given.stop]
    ranges = {at: one for at, one in known.ranges.items() if given.start <= at < given.stop}
    if not columns and not ranges:
        return _Cell(given, values, weights, list(range(len(values))), True)
    wanted = np.array([known.features[column] for column in columns], dtype=np.float64)
    inside = [column - given.start for column in columns]
    possible = in_ranges(given, ranges)
    agree = possible & (given.values[:, inside] == wanted).all(axis=1)
    told = given.values.copy()
    told[:, inside] = wanted
    first: dict[bytes, int] = {}
    for place in [*np.flatnonzero(agree).tolist(), *np.flatnonzero(possible & ~agree).tolist()]:
        first.setdefault(told[place].tobytes(), place)
    return _Cell(
        given,
        values,
        weights,
        [first[one.tobytes()] for one in np.ascontiguousarray(values)],
        bool(agree.any()),
    )


def _elsewhere_as_given(given: StoredRow, known: Known) -> bool:
    """Whether what is known of columns without holes is what stands there."""
    inside = {column for one in given.cells for column in range(one.start, one.stop)}
    return all(
        given.base[column] == value
        for column, value in known.features.items()
        if column not in inside
    )


def _drawn_place(weights: Floats, rng: np.random.Generator) -> int:
    return int(rng.choice(len(weights), p=weights / weights.sum()))
