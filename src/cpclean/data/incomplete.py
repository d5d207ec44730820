"""IncompleteDataset: rows with a certain label and a set of candidate feature vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cpclean.data.between import Between
from cpclean.data.drawing import MAX_EXACT, N_DRAWS, Drawing
from cpclean.data.given_rows import (
    checked_arrays,
    checked_known,
    checked_row_numbers,
    checked_vector,
)
from cpclean.data.labels import encode_labels
from cpclean.data.large_counts import counted, world_count_text
from cpclean.data.row_arrays import MOST_COUNTED, RowArrays, n_candidates
from cpclean.data.rows import Cell, FactoredRow, Ints, StoredRow, emptied, narrowed
from cpclean.data.spaces.filled_space import FilledSpace
from cpclean.data.stored_rows import StoredRows
from cpclean.data.whole_facts import WholeFacts
from cpclean.errors import DataError

__all__ = ["Cell", "FactoredRow", "IncompleteDataset", "Ints"]


class IncompleteDataset(StoredRows):
    """Labelled rows, each with a non-empty set of candidate feature vectors.

    A *world* chooses one candidate of each row, independently. The data is immutable: `pin`,
    `given` and `unpin` return new datasets that share what did not change.

    Parameters
    ----------
    candidates : sequence of N array-likes of shape (m_i, n_features), or FactoredRow
        The candidate set of every row; the m_i may differ. A vector of shape (n_features,)
        is a row with one candidate.
    labels : sequence of N labels
        Of any hashable and sortable kind; labels are always known.
    priors : sequence of N array-likes of shape (m_i,), or None
        How likely each candidate is; every vector sums to 1. None, for all rows or for one,
        means uniform. The priors of a factored row are in its cells.
    max_exact, n_draws, random_state : int
        A row with more candidates than `max_exact` is represented by `n_draws` draws from its
        prior in shares and whatever depends on them; `random_state` is their seed. What is certain
        or possible is exact for all rows. See `cpclean.data.drawing`.

    Attributes
    ----------
    n_rows, n_features, n_candidates : int
        `n_candidates` counts the candidates of all rows together.
    candidate_counts : ndarray of shape (n_rows,)
        Candidates of each row; 2**62 where there are even more.
    dirty_rows : ndarray
        The rows with more than one candidate.
    pinned_rows : ndarray
        The rows that have been changed by `pin` or `given`.
    labels, classes, codes : ndarray
        `classes` is sorted, and `labels` equals `classes[codes]`.
    n_worlds : int
        The exact number of worlds.
    is_exact : bool
        Whether shares are exact, because no row is represented by draws.
    drawn_rows : ndarray
        The rows that are.
    space : FilledSpace or None
        Where distances are measured, if not between the vectors themselves; see `in_space`.

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
        *,
        max_exact: int = MAX_EXACT,
        n_draws: int = N_DRAWS,
        random_state: int = 0,
    ) -> None:
        drawing = Drawing(max_exact, n_draws, random_state)
        arrays = checked_arrays(candidates, priors)
        self.codes, self.classes = encode_labels(labels)
        if len(self.codes) != len(arrays.base):
            raise DataError(
                "candidates and labels must have one entry per row; got "
                f"{len(arrays.base)} candidate sets and {len(self.codes)} labels."
            )
        self._start(arrays, drawing)

    @classmethod
    def from_arrays(
        cls,
        arrays: RowArrays,
        codes: Ints,
        classes: npt.NDArray[Any],
        drawing: Drawing | None = None,
        row_names: Ints | None = None,
        space: FilledSpace | None = None,
        whole: WholeFacts | None = None,
    ) -> IncompleteDataset:
        """The dataset of arrays that are known to be valid; nothing is checked or copied.

        Parameters
        ----------
        arrays : RowArrays
            Read-only from now on, as are the other arrays.
        codes : ndarray of shape (n_rows,)
            The place of each row's label in `classes`.
        classes : ndarray
            Sorted; not every class needs a row.
        drawing : Drawing, optional
        row_names : ndarray of int, shape (n_rows,), optional
            What the draws of each row depend on; its number, if not given.
        space : FilledSpace, optional
            As in `in_space`.
        whole : WholeFacts, optional
            About the table that these rows stand for, if there are others.
        """
        data = object.__new__(cls)
        data.codes, data.classes, data.whole = codes, classes, whole
        data._start(arrays, drawing or Drawing(), row_names, space)
        return data

    def _start(
        self,
        arrays: RowArrays,
        drawing: Drawing,
        row_names: Ints | None = None,
        space: FilledSpace | None = None,
    ) -> None:
        """As data about which nothing is known yet."""
        self._arrays = arrays
        self.drawing, self.space = drawing, space
        self.row_names = np.arange(len(arrays.base)) if row_names is None else row_names
        self._pinned = np.zeros(len(arrays.base), dtype=bool)
        # Not this data itself: without a ring of references, memory is freed at once.
        self._given: IncompleteDataset | None = None
        self._freeze()

    # -- sizes ---------------------------------------------------------------------------

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def labels(self) -> npt.NDArray[Any]:
        return self.classes[self.codes]

    @property
    def pinned_rows(self) -> Ints:
        return np.flatnonzero(self._pinned)

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
        row = self.row_number(row)
        if (candidate is None) == (value is None):
            raise DataError("pin needs the number of a candidate or a value, one of the two.")
        if candidate is not None:
            vector = self.candidate(row, candidate)
        else:
            vector = checked_vector(value, self.n_features, "the pinned value")
        return self._with_row(row, StoredRow(vector, ()), pinned=True)

    def given(self, row: int, known: Mapping[int, float | Between]) -> IncompleteDataset:
        """The same data with some columns of a row known; its other cells stay as they are.

        The row keeps the candidates that agree with the known values and lie in known ranges. If
        none agrees, the values replace those of all candidates in these columns. What was known
        about the row before is discarded.

        Parameters
        ----------
        row : int
        known : dict from column number to value, or to Between

        Examples
        --------
        >>> data = IncompleteDataset([[[0.0, 5.0], [1.0, 6.0], [1.0, 7.0]], [[2.0, 2.0]]], [0, 1])
        >>> data.given(0, {0: 1.0}).candidates(0).tolist()
        [[1.0, 6.0], [1.0, 7.0]]
        """
        row = self.row_number(row)
        return self._with_row(row, self.row_given(row, known), pinned=True)

    def row_given(self, row: int, known: Mapping[int, float | Between]) -> StoredRow:
        """What `given` makes of a row."""
        plain, start = checked_known(known, self.n_features), self.unpinned.stored_row(row)
        if empty := emptied(start, plain):
            raise DataError(f"no candidate of row {row} lies in the ranges of columns {empty}.")
        return narrowed(start, plain)

    def known_as(self, row: int, stored: StoredRow) -> IncompleteDataset:
        """The same data with a row as it is stored elsewhere: valid, with the same features."""
        return self._with_row(self.row_number(row), stored, pinned=True)

    def knowing(self, rows: Mapping[int, StoredRow]) -> IncompleteDataset:
        """The same data with several rows as they are stored elsewhere: `known_as`, all at once.

        Examples
        --------
        >>> data = IncompleteDataset([[[0.0], [1.0]], [[2.0], [3.0]]], ["no", "yes"])
        >>> known = data.pin(0, 1).pin(1, 0)
        >>> data.knowing({row: known.stored_row(row) for row in known.pinned_rows}) == known
        True
        """
        if not rows:
            return self
        counts = [n_candidates(stored) for stored in rows.values()]
        arrays = self._arrays.with_stored(rows).frozen()
        return self._known(arrays, list(rows), counts, pinned=True)

    def unpin(self, row: int) -> IncompleteDataset:
        """The same data with one row as it was before anything was known about it."""
        row = self.row_number(row)
        return self._with_row(row, self.unpinned.stored_row(row), pinned=False)

    def uniform(self) -> IncompleteDataset:
        """The same data with equally likely values in every cell. Pinned rows stay pinned.

        Examples
        --------
        >>> data = IncompleteDataset([[[0.0], [1.0]]], ["a"], [[0.9, 0.1]])
        >>> data.uniform().prior(0).tolist()
        [0.5, 0.5]
        """
        other = self._over(self._arrays.equally_likely(), self.drawing, self.space)
        other.whole = None if self.whole is None else self.whole.uniform()
        if self._given is not None:
            other._pinned, other._given = self._pinned, self._given.uniform()
        return other

    def expanded(self) -> IncompleteDataset:
        """The same data with every factored row written out as plain candidates."""
        rows = range(self.n_rows)
        written = IncompleteDataset(
            [self.candidates(row) for row in rows],
            self.labels,
            [self.prior(row) for row in rows],
            max_exact=self.drawing.max_exact,
            n_draws=self.drawing.n_draws,
            random_state=self.drawing.seed,
        )
        return written.in_space(self.space)

    def in_space(self, space: FilledSpace | None) -> IncompleteDataset:
        """The same data, with distances between what a space makes of the vectors.

        Among the leaves of trees, two vectors are as far apart as the number of trees that send
        them to different leaves. All queries stay exact, given the space. Pinned rows stay pinned.

        Parameters
        ----------
        space : FilledSpace or None
            `Trees`, or a fitted object as a `FittedMap`, for vectors of `n_features` numbers. None
            stands for the vectors themselves.

        Examples
        --------
        >>> from cpclean.data.spaces.trees import Trees
        >>> data = IncompleteDataset([[[0.0], [1.0]], [[2.0]]], ["no", "yes"])
        >>> trees = Trees([0, 3], [0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], n_features=1)
        >>> data.in_space(trees).space
        Trees(1 trees, 3 nodes, 1 features)
        """
        if space is not None and space.n_features != self.n_features:
            raise DataError(
                f"a space must take vectors of {self.n_features} numbers, as the data has them; "
                f"got one for {space.n_features}."
            )
        other = self._over(self._arrays, self.drawing, space)
        if self._given is not None:
            other._pinned, other._given = self._pinned, self._given.in_space(space)
        return other

    def take(self, rows: npt.ArrayLike) -> IncompleteDataset:
        """Some rows of the data, in this order; all classes stay, whether or not a row has them.

        Pinned rows are taken as they are, and cannot be unpinned in the result.

        Parameters
        ----------
        rows : sequence of int
            Row numbers; they may be repeated.

        Examples
        --------
        >>> data = IncompleteDataset([[[0.0], [1.0]], [[2.0]], [[3.0], [4.0]]], ["a", "b", "a"])
        >>> some = data.take([2, 0])
        >>> some.candidates(0).tolist(), some.classes.tolist()
        ([[3.0], [4.0]], ['a', 'b'])
        """
        numbers = checked_row_numbers(rows, self.n_rows)
        return IncompleteDataset.from_arrays(
            self._arrays.take(numbers),
            self.codes[numbers],
            self.classes,
            self.drawing,
            self.row_names[numbers],
            self.space,
            None if self.whole is None else self.whole.elsewhere(),
        )

    def with_rows(self, rows: Mapping[int, StoredRow]) -> IncompleteDataset:
        """The same data with some rows replaced; the new ones count as unpinned.

        Parameters
        ----------
        rows : dict from row number to StoredRow
            With the features of this data, valid, such as `stored_row` returns.
        """
        numbered = {self.row_number(row): stored for row, stored in rows.items()}
        return self._over(self._arrays.with_stored(numbered), self.drawing, self.space)

    def _over(
        self, arrays: RowArrays, drawing: Drawing, space: FilledSpace | None
    ) -> IncompleteDataset:
        """The same rows by number and label, of which nothing is known yet."""
        return IncompleteDataset.from_arrays(
            arrays, self.codes, self.classes, drawing, self.row_names, space, self.whole
        )

    def _with_row(self, row: int, stored: StoredRow, *, pinned: bool) -> IncompleteDataset:
        arrays, first_cell = self._arrays, self._arrays.first_cell
        n_cells = _changed(arrays.n_cells, row, len(stored.cells))
        if not pinned:
            first_cell = _changed(first_cell, row, self.unpinned._arrays.first_cell[row])
        elif stored.cells:
            first_cell = _changed(first_cell, row, len(arrays.cell_start))
            arrays = arrays.with_cells(stored.cells).frozen()
        arrays = arrays.with_rows(_changed(arrays.base, row, stored.base), n_cells, first_cell)
        left = n_candidates(stored)
        other = self._known(arrays, row, left, pinned=pinned)
        if self.__dict__.get("is_exact") and left <= self.drawing.most_written:
            other.is_exact = True
        elif "sampled" in self.__dict__ and not self.is_exact and not other.is_exact:
            other.sampled = self._sampled_with(self.sampled, row, stored, pinned=pinned)
        return other

    def _known(self, arrays: RowArrays, rows: Any, counts: Any, *, pinned: bool) -> Self:
        """Data that differs in one row or several, which have so many candidates."""
        other = object.__new__(type(self))
        other.codes, other.classes = self.codes, self.classes
        other.drawing, other.row_names, other.space = self.drawing, self.row_names, self.space
        other.whole, other.derived = self.whole, {}
        other._arrays, other._given = arrays, self.unpinned
        other._pinned = _changed(self._pinned, rows, pinned)
        other.candidate_counts = _changed(self.candidate_counts, rows, counts)
        return other

    # -- draws ---------------------------------------------------------------------------

    @property
    def drawn_rows(self) -> Ints:
        return np.flatnonzero(self.candidate_counts > self.drawing.most_written)

    @cached_property
    def is_exact(self) -> bool:
        return not len(self.drawn_rows)

    @cached_property
    def sampled(self) -> IncompleteDataset:
        """The same data with draws in place of the rows that have too many candidates.

        Its shares are those of this data on average, for any number of holes. Without such rows it
        is this data itself.
        """
        if self.is_exact:
            return self
        if self._given is not None:
            drawn = {row: self._drawn_row(row, self.stored_row(row)) for row in self.pinned_rows}
            return self._given.sampled.knowing(drawn)
        arrays = self.drawing.drawn(self._arrays, self.drawn_rows, self.row_names)
        return self._like(arrays)

    def halves(self) -> tuple[IncompleteDataset, IncompleteDataset]:
        """`sampled` with the first half of all draws, and with the second half.

        The two are independent of each other: half the difference between their shares estimates
        the error of the shares of both together. Kept, as several questions ask for it.
        """
        if self.is_exact:
            return self, self
        if "halves" not in self.derived:
            halves = self.drawing.halves(self.sampled.arrays, self.drawn_rows)
            first, second = (self._like(arrays) for arrays in halves)
            self.derived["halves"] = first, second
        found: tuple[IncompleteDataset, IncompleteDataset] = self.derived["halves"]
        return found

    def _like(self, arrays: RowArrays) -> IncompleteDataset:
        """Other arrays of the same rows, none of which is to be drawn (again)."""
        return self._over(arrays, replace(self.drawing, max_exact=MOST_COUNTED), self.space)

    def _sampled_with(
        self, sampled: IncompleteDataset, row: int, stored: StoredRow, *, pinned: bool
    ) -> IncompleteDataset:
        """Sampled data with one row as it is known now."""
        if not pinned:
            return sampled._with_row(row, sampled.unpinned.stored_row(row), pinned=False)
        return sampled._with_row(row, self._drawn_row(row, stored), pinned=True)

    def _drawn_row(self, row: int, stored: StoredRow) -> StoredRow:
        return self.drawing.drawn_row(stored, int(self.row_names[row]))

    # -- for other modules ---------------------------------------------------------------

    @property
    def unpinned(self) -> IncompleteDataset:
        """The data as given, before `pin` and `given`."""
        return self if self._given is None else self._given

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """What other modules work out of this data and want to find again, by keys of their own.

        It belongs to this very object: changed data, copies and pickles start with none.
        """
        return {}

    # -- plumbing ------------------------------------------------------------------------

    def _freeze(self) -> None:
        self._arrays.frozen()
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
            self.classes.tolist() == other.classes.tolist()
            and self.drawing == other.drawing
            and np.array_equal(self.codes, other.codes)
            and self._arrays.same_rows(other.arrays)
            and _digest(self.space) == _digest(other.space)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [
            f"{counted(self.n_rows, 'row')} x {counted(self.n_features, 'feature')}",
            counted(self.n_classes, "class"),
            counted(len(self.dirty_rows), "dirty row"),
            counted(self.n_candidates, "candidate"),
            world_count_text(self.n_worlds),
        ]
        return f"IncompleteDataset({', '.join(parts)})"


# Values computed on demand; a changed copy must not inherit them.
_DERIVED = frozenset({"candidate_counts", "n_worlds", "derived", "is_exact", "sampled"})


def _digest(space: FilledSpace | None) -> str | None:
    return None if space is None else space.digest


def _changed(array: npt.NDArray[Any], row: Any, value: Any) -> npt.NDArray[Any]:
    copy = array.copy()
    copy[row] = value
    copy.setflags(write=False)
    return copy
