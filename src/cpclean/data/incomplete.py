"""IncompleteDataset: rows with a certain label and a set of candidate feature vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.labels import encode_labels
from cpclean.data.rows import (
    Cell,
    FactoredRow,
    Floats,
    StoredCell,
    StoredRow,
    as_floats,
    check_finite,
    checked_weights,
    factored_row,
    is_whole,
    listed,
    narrowed,
    plain_row,
)
from cpclean.errors import DataError, UnknownRowError, offenders

__all__ = ["Cell", "FactoredRow", "IncompleteDataset"]

Ints = npt.NDArray[np.int64]


class IncompleteDataset:
    """Labelled rows, each with a non-empty set of candidate feature vectors.

    A *world* picks one candidate a row, independently. The data is immutable: `pin`, `given` and
    `unpin` return new datasets that share what did not change.

    Parameters
    ----------
    candidates : sequence of N array-likes of shape (m_i, n_features), or FactoredRow
        The candidate set of every row; the m_i may differ. A vector of shape (n_features,)
        is a row with one candidate.
    labels : sequence of N labels
        Certain, of any hashable and sortable kind.
    priors : sequence of N array-likes of shape (m_i,), or None
        How likely each candidate is; every vector sums to 1. None, for all rows or for one,
        means uniform. A factored row carries its priors in its cells.

    Attributes
    ----------
    n_rows, n_features, n_candidates : int
        `n_candidates` counts the candidates of all rows together.
    candidate_counts : ndarray of shape (n_rows,)
        Candidates of each row.
    dirty_rows : ndarray
        The rows with more than one candidate.
    pinned_rows : ndarray
        The rows about which `pin` or `given` know more than the data did.
    labels, classes, codes : ndarray
        `classes` is sorted, and `labels` equals `classes[codes]`.
    n_worlds : int
        The exact number of worlds.

    Examples
    --------
    >>> data = IncompleteDataset([[[0.0], [1.0]], [[2.0]]], ["no", "yes"])
    >>> data
    IncompleteDataset(2 rows x 1 feature, 2 classes, 1 dirty row, 3 candidates, 2 worlds)
    >>> data.pin(0, 1).n_worlds
    1
    """

    def __init__(
        self,
        candidates: Sequence[npt.ArrayLike | FactoredRow],
        labels: Any,
        priors: Sequence[npt.ArrayLike | None] | None = None,
    ) -> None:
        rows = _checked_rows(candidates, priors)
        self.codes, self.classes = encode_labels(labels)
        if len(self.codes) != len(rows):
            raise DataError(
                f"candidates and labels must have one entry a row; got {len(rows)} candidate sets "
                f"and {len(self.codes)} labels."
            )
        self._base = np.stack([row.base for row in rows])
        self._n_cells = np.array([len(row.cells) for row in rows], dtype=np.int64)
        self._first_cell = _starts(self._n_cells)
        nothing = np.empty(0, dtype=np.int64)
        self._cell_start, self._cell_stop, self._cell_size = nothing, nothing, nothing
        self._values_at, self._weights_at = nothing, nothing
        self._values, self._weights = np.empty(0), np.empty(0)
        self._append([cell for row in rows for cell in row.cells])
        self._pinned = np.zeros(len(rows), dtype=bool)
        self._unpinned = self
        self._freeze()

    # -- sizes ---------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return len(self._base)

    @property
    def n_features(self) -> int:
        return int(self._base.shape[1])

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def labels(self) -> npt.NDArray[Any]:
        return self.classes[self.codes]

    @cached_property
    def candidate_counts(self) -> Ints:
        counts = np.ones(self.n_rows, dtype=np.int64)
        for row in self.dirty_rows.tolist():
            counts[row] = math.prod(self._cell_size[self._cells_of(row)].tolist())
        counts.flags.writeable = False
        return counts

    @property
    def n_candidates(self) -> int:
        return int(self.candidate_counts.sum())

    @property
    def dirty_rows(self) -> Ints:
        return np.flatnonzero(self._n_cells)

    @property
    def pinned_rows(self) -> Ints:
        return np.flatnonzero(self._pinned)

    @cached_property
    def n_worlds(self) -> int:
        sizes = Counter(self.candidate_counts.tolist())
        return math.prod(size**times for size, times in sizes.items())

    # -- one row -------------------------------------------------------------------------

    def candidates(self, row: int) -> Floats:
        """The candidate vectors of a row, shape (m_i, n_features)."""
        row = self._row_number(row)
        expanded: Floats = self._base[row][None, :].copy()
        for cell in self._stored_cells(row):
            size = len(cell.values)
            before = len(expanded)
            expanded = np.repeat(expanded, size, axis=0)
            expanded[:, cell.start : cell.stop] = np.tile(cell.values, (before, 1))
        return expanded

    def candidate(self, row: int, number: int) -> Floats:
        """One candidate vector of a row, shape (n_features,)."""
        row = self._row_number(row)
        count = int(self.candidate_counts[row])
        if not is_whole(number) or not 0 <= number < count:
            raise UnknownRowError(
                f"row {row} has candidates 0 to {count - 1}; got candidate {number!r}."
            )
        vector: Floats = self._base[row].copy()
        for cell in reversed(list(self._stored_cells(row))):
            number, value = divmod(number, len(cell.values))
            vector[cell.start : cell.stop] = cell.values[value]
        return vector

    def prior(self, row: int) -> Floats:
        """The prior over a row's candidates, shape (m_i,)."""
        weights = np.ones(1)
        for cell in self._stored_cells(self._row_number(row)):
            weights = np.multiply.outer(weights, cell.weights).ravel()
        return weights

    def cells(self, row: int) -> tuple[Cell, ...]:
        """The uncertain cells of a row; one cell for a row given as plain candidates."""
        return tuple(
            Cell(tuple(range(cell.start, cell.stop)), cell.values.copy(), cell.weights.copy())
            for cell in self._stored_cells(self._row_number(row))
        )

    # -- immutable updates ---------------------------------------------------------------

    def pin(
        self, row: int, candidate: int | None = None, *, value: npt.ArrayLike | None = None
    ) -> IncompleteDataset:
        """The same data with one row cleaned: to one of its candidates, or to a new value.

        Parameters
        ----------
        row : int
        candidate : int, optional
            The number of the candidate that is true.
        value : array-like of shape (n_features,), optional
            The true vector itself; it need not be among the candidates.
        """
        row = self._row_number(row)
        if (candidate is None) == (value is None):
            raise DataError("pin takes the number of a candidate or a value: one of the two.")
        if candidate is not None:
            vector = self.candidate(row, candidate)
        else:
            vector = as_floats(value, "the pinned value")
            if vector.shape != (self.n_features,):
                raise DataError(
                    f"the pinned value must have shape ({self.n_features},); got {vector.shape}."
                )
            check_finite(vector, "the pinned value")
        return self._with_row(row, StoredRow(vector, ()), pinned=True)

    def given(self, row: int, known: Mapping[int, float]) -> IncompleteDataset:
        """The same data with some columns of a row known; its other cells stay as they are.

        The row keeps the candidates that agree with what is known. If none does, what is known
        takes the place of the candidates' own values in those columns. Nothing known before of
        the row matters.

        Parameters
        ----------
        row : int
        known : dict from column number to value

        Examples
        --------
        >>> data = IncompleteDataset([[[0.0, 5.0], [1.0, 6.0], [1.0, 7.0]], [[2.0, 2.0]]], [0, 1])
        >>> data.given(0, {0: 1.0}).candidates(0).tolist()
        [[1.0, 6.0], [1.0, 7.0]]
        """
        row = self._row_number(row)
        for column, value in known.items():
            if not is_whole(column) or not 0 <= column < self.n_features:
                raise DataError(
                    f"known columns must be ints in [0, {self.n_features - 1}]; got {column!r}."
                )
            number = as_floats(value, f"what is known of column {column}")
            if number.ndim:
                raise DataError(
                    f"what is known of column {column} must be one number; got {value!r}."
                )
            check_finite(number, f"what is known of column {column}")
        plain = {int(column): float(value) for column, value in known.items()}
        return self._with_row(row, narrowed(self._unpinned._stored_row(row), plain), pinned=True)

    def unpin(self, row: int) -> IncompleteDataset:
        """The same data with one row as it was before anything was known about it."""
        row = self._row_number(row)
        return self._with_row(row, self._unpinned._stored_row(row), pinned=False)

    def expanded(self) -> IncompleteDataset:
        """The same data with every factored row written out as plain candidates."""
        rows = range(self.n_rows)
        return IncompleteDataset(
            [self.candidates(row) for row in rows],
            self.labels,
            [self.prior(row) for row in rows],
        )

    def _with_row(self, row: int, stored: StoredRow, *, pinned: bool) -> IncompleteDataset:
        other = object.__new__(IncompleteDataset)
        other.__dict__.update(
            {name: kept for name, kept in self.__dict__.items() if name not in _DERIVED}
        )
        other._base = _changed(self._base, row, stored.base)
        other._n_cells = _changed(self._n_cells, row, len(stored.cells))
        other._pinned = _changed(self._pinned, row, pinned)
        count = math.prod(len(cell.values) for cell in stored.cells)
        other.__dict__["candidate_counts"] = _changed(self.candidate_counts, row, count)
        if not pinned:
            first = int(self._unpinned._first_cell[row])
            other._first_cell = _changed(self._first_cell, row, first)
        elif stored.cells:
            other._first_cell = _changed(self._first_cell, row, len(self._cell_start))
            other._append(stored.cells)
        other._freeze()
        return other

    def _append(self, cells: Sequence[StoredCell]) -> None:
        """Store more cells behind those that are there, whose numbers do not change."""
        starts = np.array([cell.start for cell in cells], dtype=np.int64)
        stops = np.array([cell.stop for cell in cells], dtype=np.int64)
        sizes = np.array([len(cell.values) for cell in cells], dtype=np.int64)
        self._values_at = np.append(
            self._values_at, len(self._values) + _starts(sizes * (stops - starts))
        )
        self._weights_at = np.append(self._weights_at, len(self._weights) + _starts(sizes))
        self._cell_start = np.append(self._cell_start, starts)
        self._cell_stop = np.append(self._cell_stop, stops)
        self._cell_size = np.append(self._cell_size, sizes)
        # A cell's values are stored column by column: kernels walk all values of one column.
        self._values = np.append(self._values, _joined([cell.values.T.ravel() for cell in cells]))
        self._weights = np.append(self._weights, _joined([cell.weights for cell in cells]))

    # -- plumbing ------------------------------------------------------------------------

    def _row_number(self, row: int) -> int:
        if not is_whole(row) or not 0 <= row < self.n_rows:
            raise UnknownRowError(
                f"row must be an int in [0, {self.n_rows - 1}] (the data has {self.n_rows} rows); "
                f"got {row if is_whole(row) else repr(row)}."
            )
        return int(row)

    def _cells_of(self, row: int) -> slice:
        first = int(self._first_cell[row])
        return slice(first, first + int(self._n_cells[row]))

    def _stored_cells(self, row: int) -> Iterator[StoredCell]:
        cells = self._cells_of(row)
        for number in range(cells.start, cells.stop):
            size = int(self._cell_size[number])
            start = int(self._cell_start[number])
            width = int(self._cell_stop[number]) - start
            at, weights_at = int(self._values_at[number]), int(self._weights_at[number])
            values = self._values[at : at + size * width].reshape(width, size).T
            yield StoredCell(start, values, self._weights[weights_at : weights_at + size])

    def _stored_row(self, row: int) -> StoredRow:
        return StoredRow(self._base[row], tuple(self._stored_cells(row)))

    def _freeze(self) -> None:
        for array in self.__dict__.values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: kept for name, kept in self.__dict__.items() if name not in _DERIVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()

    def __eq__(self, other: object) -> bool:
        """Same rows, cells, labels and priors, written in the same (plain or factored) form."""
        if not isinstance(other, IncompleteDataset):
            return NotImplemented
        return (
            np.array_equal(self._n_cells, other._n_cells)
            and np.array_equal(self._base, other._base)
            and np.array_equal(self.codes, other.codes)
            and self.classes.tolist() == other.classes.tolist()
            and all(
                mine.start == theirs.start
                and np.array_equal(mine.values, theirs.values)
                and np.array_equal(mine.weights, theirs.weights)
                for row in self.dirty_rows
                for mine, theirs in zip(
                    self._stored_cells(row), other._stored_cells(row), strict=True
                )
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [
            f"{_count(self.n_rows, 'row')} x {_count(self.n_features, 'feature')}",
            _count(self.n_classes, "class"),
            _count(len(self.dirty_rows), "dirty row"),
            _count(self.n_candidates, "candidate"),
            world_count_text(self.n_worlds),
        ]
        return f"IncompleteDataset({', '.join(parts)})"


# Values computed on demand; a changed copy must not inherit them.
_DERIVED = frozenset({"candidate_counts", "n_worlds", "_prepared"})


_SURE = np.ones(1)  # the prior of a single candidate


def _checked_rows(candidates: Any, priors: Any) -> list[StoredRow]:
    given = listed(candidates, "candidates must be a sequence with one candidate set a row")
    if not given:
        raise DataError("an incomplete dataset needs at least one row; got none.")
    if priors is not None:
        priors = listed(priors, "priors must be a sequence with one vector a row, or None")
    if priors is not None and len(priors) != len(given):
        raise DataError(
            f"priors must have one entry a row, {len(given)} in all; got {len(priors)}."
        )
    vectors = [
        None if isinstance(one, FactoredRow) else _vectors(one, row)
        for row, one in enumerate(given)
    ]
    _check_widths(vectors)
    plain = [one for one in vectors if one is not None]
    if plain and not np.isfinite(np.concatenate(plain)).all():
        for row, one in enumerate(vectors):
            if one is not None:
                check_finite(one, f"the candidates of row {row}")
    width = plain[0].shape[1] if plain else None
    rows = []
    for number, (one, array) in enumerate(zip(given, vectors, strict=True)):
        prior = None if priors is None else priors[number]
        if array is None:
            if prior is not None:
                raise DataError(
                    f"row {number} is factored: give its priors in its cells, and None in priors."
                )
            rows.append(factored_row(one, width, f"row {number}"))
            width = len(rows[-1].base)
        else:
            sure = prior is None and len(array) == 1
            weights = _SURE if sure else _weights(prior, len(array), number)
            rows.append(plain_row(array, weights))
    return rows


def _weights(prior: Any, size: int, row: int) -> Floats:
    return checked_weights(prior, size, f"the prior of row {row}")


def _vectors(one: Any, row: int) -> Floats:
    array = as_floats(one, f"the candidates of row {row}")
    if array.ndim == 0:
        raise DataError(
            f"the candidates of row {row} must have shape (m, n_features); got the number {array}. "
            "A row with one feature and one candidate is [[value]]."
        )
    if array.ndim == 1 and len(array):
        array = array[None, :]
    if array.size == 0 or len(array) == 0:
        raise DataError(
            f"row {row} has an empty candidate set; every row needs at least one candidate."
        )
    if array.ndim != 2:
        raise DataError(
            f"the candidates of row {row} must have shape (m, n_features); got {array.shape}."
        )
    return array


def _check_widths(vectors: list[Floats | None]) -> None:
    widths = {row: one.shape[1] for row, one in enumerate(vectors) if one is not None}
    if len(set(widths.values())) > 1:
        usual = Counter(widths.values()).most_common(1)[0][0]
        odd = offenders(f"row {row} ({w})" for row, w in widths.items() if w != usual)
        raise DataError(
            f"all candidates must have the same number of features; most have {usual}, but {odd}."
        )


def _changed(array: npt.NDArray[Any], row: int, value: Any) -> npt.NDArray[Any]:
    copy = array.copy()
    copy[row] = value
    return copy


def _starts(sizes: Ints) -> Ints:
    return np.array([0, *accumulate(sizes.tolist())], dtype=np.int64)[:-1]


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.empty(0)


def _count(number: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number} {noun if number == 1 else plural}"


def world_count_text(number: int) -> str:
    """A number of worlds for people.

    >>> world_count_text(5**90)
    'about 10^62.9 worlds'
    """
    return (
        _count(number, "world") if number < 10**6 else f"about 10^{math.log10(number):.1f} worlds"
    )
