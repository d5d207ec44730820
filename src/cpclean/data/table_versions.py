"""Whole repaired versions of a table as candidates: given, or made by imputers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.coding import coded, exactly_coded, objects
from cpclean.data.column_values import whole_domain
from cpclean.data.columns import Column
from cpclean.data.completed_frames import completed_version, is_completed
from cpclean.data.proposals import codes_of, merged
from cpclean.data.ragged import Ragged
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.rows import Bools, Ints
from cpclean.errors import TableError, offenders


@dataclass(frozen=True)
class Versions:
    """Whole repaired versions of the table: row i's candidates are row i of every version.

    Parameters
    ----------
    tables : sequence of sequence of Column
        The versions, with the same columns in the same order.
    weigh : {"distinct", "version"}
        Equal candidates of a row are merged; each distinct one weighs the same, or as much as the
        number of versions that proposed it.
    decimals : int
        Numbers equal to so many decimals count as equal.
    """

    tables: Sequence[Sequence[Column]]
    weigh: str = "distinct"
    decimals: int = 12

    def propose(self, columns: Sequence[Column], holes: Bools) -> Mapping[int, Options]:
        if self.weigh not in ("distinct", "version"):
            raise TableError(f'weigh must be "distinct" or "version"; got {self.weigh!r}.')
        expected = (len(holes), len(columns))
        shapes = {(len(table[0].values) if table else 0, len(table)) for table in self.tables}
        if shapes != {expected}:
            raise TableError(
                f"repairs need at least one version of the table, each of shape {expected}; "
                f"got {offenders(sorted(shapes)) or 'none'}."
            )
        lists, by_column = {}, []
        for cell, own in enumerate(holes.T):
            each = [table[cell].values[own] for table in self.tables]
            flat = np.stack(each, axis=1).ravel()
            lists[cell] = np.arange(int(own.sum()))
            by_column.append(Ragged.sized(flat, np.full(len(lists[cell]), len(each))))
        n_rows = int(holes.any(axis=1).sum())
        weights = None
        if self.weigh == "version":
            times = np.full(n_rows, len(self.tables))
            weights = Ragged.sized(np.ones(times.sum()), times)
        options = TableOptions.of_holes(holes, lists, by_column, weights, joint=True)
        return merged(options, np.ones(n_rows, dtype=bool), self._codes)

    def _codes(self, values: npt.NDArray[Any]) -> Ints:
        """Numbers for values, those that count as equal alike."""
        if values.dtype != object:
            return codes_of(np.round(values, self.decimals) + 0.0)
        codes, distinct = exactly_coded(values.tolist())
        keys = [
            round(one, self.decimals) + 0.0 if isinstance(one, float) else one for one in distinct
        ]
        return coded(keys).codes[codes]


@dataclass(frozen=True)
class Imputers:
    """Scikit-learn style imputers, or frames that others completed: one version of the table each.

    An imputer sees the numeric, boolean and date columns as numbers. Categorical columns take their
    most frequent category in every version, for most imputers cannot read them. The imputers
    themselves stay as they are: copies are fitted. A completed frame has the rows of the table's
    frame in the same order; where the table has a value, it has the same.

    Parameters
    ----------
    imputers : sequence of imputers, frames or 2-d arrays
    weigh : {"distinct", "version"}
        As in `Versions`. The prior "frequency" of a table takes "version".
    rows : sequence of int, optional
        Which rows of completed frames are those of the table; all by default.
    """

    imputers: Sequence[Any]
    weigh: str = "distinct"
    rows: Sequence[int] | None = None

    def of_rows(self, rows: Sequence[int], n_rows: int) -> Imputers:
        """The same for some rows only, numbered from 0; n_rows is the size of the whole table."""
        return self if len(rows) == n_rows else replace(self, rows=tuple(rows))

    def propose(self, columns: Sequence[Column], holes: Bools) -> Mapping[int, Options]:
        holes = holes & np.array([column.n_observed > 0 for column in columns])
        numeric = [n for n, column in enumerate(columns)
                   if column.kind != "categorical" and column.n_observed]  # fmt: skip
        table = np.column_stack(
            [np.where(holes[:, n], np.nan, columns[n].values) for n in numeric]
        ) if numeric else np.zeros((len(holes), 0))  # fmt: skip
        versions = []
        for number, imputer in enumerate(self.imputers):
            if is_completed(imputer):
                name = f"completed frame {number} of repairs"
                versions.append(completed_version(imputer, name, columns, holes, self.rows))
                continue
            if not hasattr(imputer, "fit_transform"):
                raise TableError(
                    "repairs must have fit_transform, as scikit-learn's imputers, or be completed "
                    f"frames; got {imputer!r}."
                )
            filled = table
            if numeric:
                filled = np.asarray(deepcopy(imputer).fit_transform(table), dtype=np.float64)
            if filled.shape != table.shape or np.isnan(filled).any():
                raise TableError(
                    f"{imputer!r} must fill every hole of a table of shape {table.shape}; "
                    f"got shape {filled.shape} with {int(np.isnan(filled).sum())} holes left."
                )
            versions.append(self._version(columns, numeric, filled))
        return Versions(versions, self.weigh).propose(columns, holes)

    def _version(
        self, columns: Sequence[Column], numeric: list[int], filled: npt.NDArray[np.float64]
    ) -> list[Column]:
        version = []
        for number, column in enumerate(columns):
            if number in numeric:
                values: npt.NDArray[Any] = filled[:, numeric.index(number)]
            else:
                values = column.values.copy()
                values[column.missing] = objects([*whole_domain(column), None][:1])
            version.append(Column(column.name, column.kind, values))
        return version
