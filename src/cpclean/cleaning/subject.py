"""What is cleaned, as people see it: raw values of a table, or vectors of a dataset.

A session computes in the encoded space. The two classes here translate between that space and the
values in questions and answers. Both have the same methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from cpclean.cleaning.known import Known
from cpclean.cleaning.row_candidates import RowCandidates
from cpclean.data.between import Between
from cpclean.data.columns import Column
from cpclean.data.combinations import likeliest_number
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.nulls import is_null
from cpclean.data.points import Points
from cpclean.data.rows import Floats, as_floats
from cpclean.data.spaces.features import Feature
from cpclean.data.spaces.leaf_space import FITTED
from cpclean.data.spaces.tree_features import TreeSpace
from cpclean.data.table import IncompleteTable
from cpclean.data.values import (
    categories_of,
    in_words,
    is_mark,
    mark_text,
    plain_value,
    shown_alike,
    stored_value,
    usual_value,
)
from cpclean.errors import AnswerError, CPCleanError, offenders
from cpclean.queries.cell_gains import Span

_FILLS = ("default", "likely")


class ArraySubject:
    """An incomplete dataset: columns have numbers, values are vectors."""

    def __init__(self, data: IncompleteDataset) -> None:
        self.data = _as_given(data)
        self._cells: dict[int, dict[Any, Span]] = {}

    def frame_row(self, row: int) -> Any:
        return int(row)

    def points(self, X: Any) -> Any:
        return X

    def cells(self, row: int) -> dict[Any, Span]:
        """The uncertain cells of a row: those of a factored row, else each column that varies."""
        if row not in self._cells:
            stored = self.data.stored_row(row).cells
            if len(stored) == 1:
                cell = stored[0]
                varies = np.flatnonzero((cell.values != cell.values[0]).any(axis=0)) + cell.start
                self._cells[row] = {int(one): (int(one), int(one) + 1) for one in varies}
            else:
                self._cells[row] = {
                    one.start if one.stop == one.start + 1 else tuple(range(one.start, one.stop)): (
                        one.start,
                        one.stop,
                    )
                    for one in stored
                }
        return self._cells[row]

    def candidate(self, row: int, number: int) -> list[float]:
        found: list[float] = self.data.candidate(row, number).tolist()
        return found

    def some_candidates(self, row: int, numbers: Iterable[int]) -> list[Any]:
        return [self.data.candidate(row, number).tolist() for number in numbers]

    def cell_values(
        self, row: int, column: Any, places: Sequence[int], values: Floats
    ) -> list[Any]:
        if isinstance(column, tuple):
            return [tuple(one) for one in values.tolist()]
        return [float(one) for one in values[:, 0].tolist()]

    def answer_in(self, column: Any, value: Any) -> Any:
        return (
            dict(zip(column, value, strict=True)) if isinstance(column, tuple) else {column: value}
        )

    def chosen(self, row: int, candidate: int) -> Known:
        vector = self.data.candidate(row, candidate)
        return Known({}, dict(enumerate(vector.tolist())), int(candidate))

    def overlaid(self, candidate: Any, known: Known) -> Any:
        return [known.features.get(place, one) for place, one in enumerate(candidate)]

    def of_cell(self, candidate: Any, column: Any) -> Any:
        places = column if isinstance(column, tuple) else (column,)
        return {place: candidate[place] for place in places}

    def said(self, row: int, value: Any) -> Known:
        """What is known from a value: a whole vector, or a dict from column number to value."""
        if isinstance(value, Mapping):
            given = dict(value)
        else:
            vector = np.asarray(value, dtype=object)
            if vector.shape != (self.data.n_features,):
                raise AnswerError(
                    f"the value of row {row} must have {self.data.n_features} numbers, or be a "
                    f"dict from column number to value; got {value!r}."
                )
            given = dict(enumerate(vector.tolist()))
        _check_not_empty(given, row)
        known = Known()
        for column, one in given.items():
            place = _column_number(column, self.data.n_features, row)
            if (span := Between.of(one)) is not None:
                known.rough[place] = known.ranges[place] = _checked_ends(span, place, row)
                continue
            if isinstance(one, bool | str) or not isinstance(one, int | float | np.number):
                raise AnswerError(
                    f"the value of row {row}, column {place}, must be a number; got {one!r}."
                )
            if not math.isfinite(one):
                raise AnswerError(
                    f"the value of row {row}, column {place}, must be finite; got {one!r}. "
                    "If nobody knows the value, skip the row."
                )
            known.features[place] = float(one)
        return known

    def plain(self, known: Known) -> Any:
        """What is known, in plain values that can be saved as JSON."""
        if len(known.features) == self.data.n_features:
            return [known.features[place] for place in range(self.data.n_features)]
        rough = {str(place): one.plain() for place, one in known.rough.items()}
        return rough | {str(place): value for place, value in known.features.items()}

    def world(self, data: IncompleteDataset, known: Mapping[int, Known], fill: Any) -> Floats:
        """One vector for every row: known values, and `fill` for the rest."""
        vectors: Floats = data.arrays.base.copy()
        filled = None if isinstance(fill, str) and fill in _FILLS else self._checked_fill(fill)
        for row in data.dirty_rows.tolist():
            if filled is None:
                vectors[row] = data.candidate(row, likeliest_number(data.stored_cells(row)))
            else:
                vectors[row] = filled[row]
                for column, value in known.get(row, Known()).features.items():
                    vectors[row, column] = value
        return vectors

    def _checked_fill(self, fill: Any) -> Floats:
        shape = (self.data.n_rows, self.data.n_features)
        filled = np.empty(0) if isinstance(fill, str | None) else as_floats(fill, "fill")
        if filled.shape != shape:
            got = repr(fill) if isinstance(fill, str | None) else f"shape {filled.shape}"
            raise CPCleanError(
                f'fill must be "default", "likely" or an array of shape {shape}; got {got}.'
            )
        return filled

    def with_data(self, data: IncompleteDataset) -> IncompleteDataset | IncompleteTable:
        return data

    def check_refit(self) -> None:
        raise _no_refit("a dataset, whose space was given with it")

    def refitted(self, data: IncompleteDataset) -> IncompleteDataset:
        self.check_refit()
        return data


class TableSubject:
    """An incomplete table: columns have names, values are what stands in the table."""

    def __init__(self, table: IncompleteTable) -> None:
        self.table = table
        self.data = _as_given(table.dataset)

    def frame_row(self, row: int) -> Any:
        return self.table.frame_kind.label(self.table.rows_kept[row])

    def points(self, X: Any) -> Points:
        return self.table.session_points(X)

    def cells(self, row: int) -> dict[Any, Span]:
        found = {}
        for cell in self.table.options_of(row).cells:
            feature = self.table.space.features[cell]
            if feature is not None:
                found[self.table.names[cell]] = (feature.start, feature.stop)
        return found

    def candidate(self, row: int, number: int) -> dict[str, Any]:
        return self.table.candidate(row, number)

    def some_candidates(self, row: int, numbers: Iterable[int]) -> list[Any]:
        return list(self.table.some_candidates(row, numbers))

    def cell_values(
        self, row: int, column: Any, places: Sequence[int], values: Floats
    ) -> list[Any]:
        number = self.table.names.index(column)
        options = self.table.options_in_space(row)
        own, shown = options.values[options.cells.index(number)], self.table.columns[number].shown
        return [shown(own[place]) for place in places]

    def answer_in(self, column: Any, value: Any) -> Any:
        return {column: value}

    def chosen(self, row: int, candidate: int) -> Known:
        vector = self.data.candidate(row, candidate)
        raw = self.table.candidate(row, int(candidate))
        return Known(raw, dict(enumerate(vector.tolist())), int(candidate))

    def overlaid(self, candidate: Any, known: Known) -> Any:
        return {name: known.raw.get(name, value) for name, value in candidate.items()}

    def of_cell(self, candidate: Any, column: Any) -> Any:
        return {column: candidate[column]}

    def said(self, row: int, value: Any) -> Known:
        """What is known from a value: a dict from column name to value, for some cells or all."""
        if not (hasattr(value, "keys") and hasattr(value, "items")):  # a pandas row has them too
            raise AnswerError(
                f"the value of row {row} must be a dict from column name to value, as in "
                f"{_example(self, row)}; got {value!r}."
            )
        _check_not_empty(value, row)
        known = Known()
        for name, one in value.items():
            column, feature = self._column(name, row)
            if (span := Between.of(one)) is not None:
                self._narrow(known, row, column, span)
                continue
            stored = stored_value(one, column, feature, row)
            known.raw[column.name] = column.shown(stored)
            if feature is not None:
                vector = feature.encoded([stored])[0].tolist()
                known.features.update(enumerate(vector, feature.start))
        return known

    def _narrow(self, known: Known, row: int, column: Column, span: Between) -> None:
        """Add that the true value of a hole lies in a range: the candidates there remain."""
        options, number = self.table.options_in_space(row), self.table.names.index(column.name)
        what = f"the value of row {row}, column {column.name!r},"
        about: Any = {"column": column.name, "rows": (row,)}
        feature = self.table.space.features[number]
        if number not in options.cells or feature is None:
            raise AnswerError(f"{what} is a range, but there is no hole to narrow.", **about)
        if column.kind in ("categorical", "boolean"):
            raise AnswerError(
                f"{what} is a range, but the column has no order. Give the value itself.", **about
            )
        ends = [
            None if end is None else stored_value(end, column, feature, row)
            for end in (span.low, span.high)
        ]
        inside = _checked_ends(Between(*ends), column.name, row)
        values = options.values[options.cells.index(number)]
        own = np.array([one for one in values if not is_mark(one)])
        kept = own[inside.holds(own)]
        if not len(kept):
            raise AnswerError(
                f"{what} is a range in which none of its candidates lies; they are from "
                f"{in_words(column.shown(own.min()))} to {in_words(column.shown(own.max()))}. "
                "Give the value itself if it is known.",
                **about,
            )
        shown = (None if end is None else column.shown(end) for end in ends)
        known.rough[column.name] = Between(*shown)
        low, high = feature.encoded([kept.min(), kept.max()])[:, 0].tolist()
        known.ranges[feature.start] = Between(low, high)

    def _column(self, name: Any, row: int) -> tuple[Column, Feature | None]:
        if name not in self.table.names:
            raise AnswerError(
                f"the value of row {row} names column {name!r}, which the table does not have; "
                f"its columns are {offenders(map(repr, self.table.names))}."
            )
        number = self.table.names.index(name)
        return self.table.columns[number], self.table.space.features[number]

    def plain(self, known: Known) -> Any:
        """What is known, in plain values that can be saved as JSON."""
        rough = {
            name: Between(_plain_end(one.low), _plain_end(one.high)).plain()
            for name, one in known.rough.items()
        }
        return rough | {
            name: mark_text(value, categories_of(*self._column(name, 0)))
            if is_mark(value) else plain_value(value)
            for name, value in known.raw.items()
        }  # fmt: skip

    def world(self, data: IncompleteDataset, known: Mapping[int, Known], fill: Any) -> Any:
        """The table without holes, as a frame: known values, and `fill` for the rest."""
        if not isinstance(fill, str) or fill not in _FILLS:
            got = repr(fill) if isinstance(fill, str | None) else f"a {type(fill).__name__}"
            raise CPCleanError(f'fill must be "default" or "likely" for a table; got {got}.')
        columns = list(zip(self.table.columns, self.table.holes.T, strict=True))
        usual = [usual_value(column, column.values[~holes]) for column, holes in columns]
        likely: dict[int, dict[str, Any]] = {}
        if fill == "likely" or any(map(is_null, usual)):
            rows = data.dirty_rows.tolist()
            likely = {
                row: RowCandidates(self, data, row, known.get(row, Known())).likeliest()
                for row in rows
            }
        filled = []
        for (column, holes), common in zip(columns, usual, strict=True):
            values = column.values.copy()
            for row in np.flatnonzero(holes).tolist():
                guess = likely.get(row, {}).get(column.name)
                if guess is not None and (fill == "likely" or is_null(common)):
                    values[row] = column.stored(guess)
                elif column.missing[row]:  # else a value is there, but suspect
                    values[row] = common
            for row, one in known.items():
                if column.name in one.raw:
                    values[row] = column.stored(one.raw[column.name])
            filled.append(shown_alike(column, values))
        return self.table.frame_of(filled)

    def with_data(self, data: IncompleteDataset) -> IncompleteDataset | IncompleteTable:
        table = copy(self.table)
        table.dataset = data
        return table

    def check_refit(self) -> None:
        """Refuse to learn a space that is not learnt from the table."""
        leaves = self.table.leaves
        if leaves is None:
            raise _no_refit("a table in the plain space")
        if leaves.kind == FITTED:
            raise _no_refit("a table in the space of a fitted object")

    def refitted(self, data: IncompleteDataset) -> IncompleteDataset:
        """The data in a space that is learnt from it as the table's own space was."""
        self.check_refit()
        assert self.table.leaves is not None
        assert isinstance(self.table.space, TreeSpace)
        return data.in_space(self.table.leaves.trees(data, self.table.space, data.drawing.seed))


Subject = ArraySubject | TableSubject


def subject_of(data: Any) -> Subject:
    """The subject for a user's data."""
    if isinstance(data, IncompleteTable):
        return TableSubject(data)
    if isinstance(data, IncompleteDataset):
        return ArraySubject(data)
    raise CPCleanError(
        f"data must be an IncompleteTable or an IncompleteDataset; got {type(data).__name__}. "
        'Wrap a frame: IncompleteTable(frame, label="y").'
    )


def _no_refit(what: str) -> AnswerError:
    return AnswerError(
        f"refit learns the trees of a space anew, and this session is over {what}. Make the table "
        'with space="forest" to clean it among the leaves of a forest.'
    )


def _as_given(data: IncompleteDataset) -> IncompleteDataset:
    """The same data, in which rows that were pinned before cannot be unpinned."""
    if not len(data.pinned_rows):
        return data
    return IncompleteDataset.from_arrays(
        data.arrays, data.codes, data.classes, data.drawing, data.row_names, data.space
    )


def _column_number(column: Any, n_features: int, row: int) -> int:
    try:
        number = int(column)
    except (TypeError, ValueError):
        number = -1
    if isinstance(column, bool | float) or not 0 <= number < n_features:
        raise AnswerError(
            f"the value of row {row} names column {column!r}; columns are numbers from 0 to "
            f"{n_features - 1}."
        )
    return number


def _checked_ends(span: Between, column: Any, row: int) -> Between:
    what = f"the range of row {row}, column {column!r},"
    ends = [end for end in (span.low, span.high) if end is not None]
    for end in ends:
        if isinstance(end, bool | str) or not isinstance(end, int | float | np.number):
            raise AnswerError(f"{what} must have numbers as its ends; got {end!r}.")
        if not math.isfinite(end):
            raise AnswerError(f"{what} must have finite ends, or None for an open one; got {end}.")
    if not ends or (len(ends) == 2 and ends[0] > ends[1]):
        raise AnswerError(
            f"{what} must have an end, and its lower end must not be above the upper one; got "
            f"{span}."
        )
    return Between(*(None if end is None else float(end) for end in (span.low, span.high)))


def _plain_end(end: Any) -> Any:
    return None if end is None else plain_value(end)


def _check_not_empty(value: Any, row: int) -> None:
    if not len(value):
        raise AnswerError(
            f"the value of row {row} must name at least one column; got {value!r}. "
            "If nobody knows the value, skip the row."
        )


def _example(subject: TableSubject, row: int) -> str:
    names: Sequence[str] = list(subject.cells(row)) or subject.table.names
    return "{" + f"{names[0]!r}: ..." + "}"
