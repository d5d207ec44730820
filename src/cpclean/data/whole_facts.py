"""What of a large table matters to a few of its rows that stand for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cpclean.data.row_arrays import RowArrays


@dataclass(frozen=True)
class WholeFacts:
    """Facts about all rows of a table, some of which may be elsewhere.

    What is found about points near the rows at hand is then the same, bit for bit, as with all
    rows: `cpclean.queries.near_scan` finds the rows.

    Attributes
    ----------
    n_rows : int
    largest, smallest : float
        Of all values in the space, without sign; the smallest of those that are not 0.
    lightest : float
        The smallest weight of any value of a cell.
    most_values, most_cells : int
        The largest number of values of a cell, and of cells of a row.
    is_exact : bool
        Whether no row is represented by draws.
    spare : int or None
        How many rows beyond the nearest are at hand for each point; None if nobody has to ask.
    n_other_worlds : int
        In how many ways the rows elsewhere can be filled.
    n_other_open : int
        How many of the rows elsewhere have more than one candidate.
    """

    n_rows: int = 0
    largest: float = 0.0
    smallest: float = np.inf
    lightest: float = 1.0
    most_values: int = 1
    most_cells: int = 0
    is_exact: bool = True
    spare: int | None = None
    n_other_worlds: int = 1
    n_other_open: int = 0

    @classmethod
    def of(cls, arrays: RowArrays, smallest: float) -> WholeFacts:
        """Those of some rows, whose smallest number is known."""
        numbers = (arrays.base, arrays.values)
        return cls(
            n_rows=len(arrays.base),
            largest=max(float(np.abs(one).max(initial=0.0)) for one in numbers),
            smallest=smallest,
            lightest=float(arrays.weights.min(initial=1.0)),
            most_values=int(arrays.cell_size.max(initial=1)),
            most_cells=int(arrays.n_cells.max(initial=0)),
        )

    def and_(self, other: WholeFacts) -> WholeFacts:
        """Those of both together."""
        return WholeFacts(
            self.n_rows + other.n_rows,
            max(self.largest, other.largest),
            min(self.smallest, other.smallest),
            min(self.lightest, other.lightest),
            max(self.most_values, other.most_values),
            max(self.most_cells, other.most_cells),
            self.is_exact and other.is_exact,
            self.spare,
            self.n_other_worlds * other.n_other_worlds,
            self.n_other_open + other.n_other_open,
        )

    def uniform(self) -> WholeFacts:
        """The same if all values of a cell are equally likely."""
        return replace(self, lightest=1.0 / self.most_values)

    def elsewhere(self, n_worlds: int = 1, n_open: int = 0) -> WholeFacts:
        """The same with so many ways to fill the rows elsewhere, so many of which are open."""
        return replace(self, n_other_worlds=n_worlds, n_other_open=n_open)
