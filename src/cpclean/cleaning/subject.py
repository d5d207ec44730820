"""What is cleaned, as people see it: raw values of a table, or vectors of a dataset.

A session works in the metric space; the two classes here translate between it and what a person
says. Both have the same methods.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.columns import ABSENT, OTHER, Column, is_null
from cpclean.data.encoding import Feature
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import AnswerError, CPCleanError, offenders
from cpclean.queries.cells import Span


@dataclass(frozen=True)
class Known:
    """What has been said of a row: raw values by column, and columns of the space.

    candidate is the number of the candidate that was said to be true, if that was all.
    """

    raw: dict[Any, Any] = field(default_factory=dict)
    features: dict[int, float] = field(default_factory=dict)
    candidate: int | None = field(default=None, compare=False)

    def and_(self, later: Known) -> Known:
        """Both; what is said later is right where they differ, and a candidate says all."""
        if later.candidate is not None:
            return later
        return Known({**self.raw, **later.raw}, {**self.features, **later.features})


class ArraySubject:
    """An incomplete dataset: columns have numbers, values are vectors."""

    def __init__(self, data: IncompleteDataset) -> None:
        self.data = data
        self._cells: dict[int, dict[Any, Span]] = {}

    def points(self, X: Any) -> Any:
        return X

    def cells(self, row: int) -> dict[Any, Span]:
        """The uncertain cells of a row: a factored row's own, else each column that varies."""
        if row not in self._cells:
            stored = self.data._stored_row(row).cells
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

    def candidates(self, row: int) -> list[Any]:
        return [vector.tolist() for vector in self.data.candidates(row)]

    def chosen(self, row: int, candidate: int) -> Known:
        vector = self.data.candidate(row, candidate)
        return Known({}, dict(enumerate(vector.tolist())), int(candidate))

    def overlaid(self, candidate: Any, known: Known) -> Any:
        return [known.features.get(place, one) for place, one in enumerate(candidate)]

    def of_cell(self, candidate: Any, column: Any) -> Any:
        places = column if isinstance(column, tuple) else (column,)
        return {place: candidate[place] for place in places}

    def said(self, row: int, value: Any) -> Known:
        """What a person's value says: a whole vector, or a dict from column number to value."""
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
        known = Known()
        for column, one in given.items():
            place = _column_number(column, self.data.n_features, row)
            if isinstance(one, bool | str) or not isinstance(one, int | float | np.number):
                raise AnswerError(
                    f"the value of row {row}, column {place}, must be a number; got {one!r}."
                )
            if not math.isfinite(one):
                raise AnswerError(
                    f"the value of row {row}, column {place}, must be finite; got {one!r}. "
                    "If nobody knows it, skip the row."
                )
            known.features[place] = float(one)
        return known

    def plain(self, value: Any) -> Any:
        """A value as JSON has it."""
        if isinstance(value, Mapping):
            return {str(column): float(one) for column, one in value.items()}
        return [float(one) for one in value]

    def world(self, data: IncompleteDataset, known: Mapping[int, Known], fill: Any) -> Floats:
        """Every row one vector: known rows as they are, others as `fill` says."""
        vectors: Floats = data._base.copy()
        for row in data.dirty_rows.tolist():
            if isinstance(fill, str):
                vectors[row] = data.candidate(row, int(np.argmax(data.prior(row))))
            else:
                vectors[row] = fill[row]
                for column, value in known.get(row, Known()).features.items():
                    vectors[row, column] = value
        return vectors

    def with_data(self, data: IncompleteDataset) -> IncompleteDataset | IncompleteTable:
        return data


class TableSubject:
    """An incomplete table: columns have names, values are what stands in the table."""

    def __init__(self, table: IncompleteTable) -> None:
        self.table = table
        self.data = table.dataset

    def points(self, X: Any) -> Floats:
        return self.table.encode(X)

    def cells(self, row: int) -> dict[Any, Span]:
        options = self.table.options.get(row)
        found = {}
        for cell in () if options is None else options.cells:
            feature = self.table.encoding.features[cell]
            if feature is not None:
                found[self.table.names[cell]] = (feature.start, feature.stop)
        return found

    def candidates(self, row: int) -> list[Any]:
        return list(self.table.candidates(row))

    def chosen(self, row: int, candidate: int) -> Known:
        vector = self.data.candidate(row, candidate)
        raw = self.table.candidates(row)[candidate]
        return Known(raw, dict(enumerate(vector.tolist())), int(candidate))

    def overlaid(self, candidate: Any, known: Known) -> Any:
        return {name: known.raw.get(name, value) for name, value in candidate.items()}

    def of_cell(self, candidate: Any, column: Any) -> Any:
        return {column: candidate[column]}

    def said(self, row: int, value: Any) -> Known:
        """What a person's value says: a dict from column name to value, of some cells or all."""
        if not isinstance(value, Mapping):
            raise AnswerError(
                f"the value of row {row} must be a dict from column name to value, as in "
                f"{_example(self, row)}; got {value!r}."
            )
        known = Known()
        for name, one in value.items():
            column, feature = self._column(name, row)
            if is_null(one):
                raise AnswerError(
                    f"the value of row {row}, column {name!r}, must not be null. "
                    "If nobody knows it, skip the row."
                )
            stored = column.stored(one)
            if column.kind == "categorical":
                stored = _known_spelling(stored, feature)
            elif not math.isfinite(stored):
                raise AnswerError(
                    f"the value of row {row}, column {name!r}, must be finite; got {one!r}."
                )
            known.raw[column.name] = column.shown(stored)
            if feature is not None:
                vector = feature.encoded([stored])[0].tolist()
                known.features.update(enumerate(vector, feature.start))
        return known

    def _column(self, name: Any, row: int) -> tuple[Column, Feature | None]:
        if name not in self.table.names:
            raise AnswerError(
                f"the value of row {row} names column {name!r}, which the table does not have; "
                f"its columns are {offenders(map(repr, self.table.names))}."
            )
        number = self.table.names.index(name)
        return self.table.columns[number], self.table.encoding.features[number]

    def plain(self, value: Any) -> Any:
        return {name: _plain(one) for name, one in value.items()}

    def world(self, data: IncompleteDataset, known: Mapping[int, Known], fill: Any) -> Any:
        """The table without holes, as a frame: answers first, then what `fill` says."""
        likely: dict[int, dict[str, Any]] = {}
        if isinstance(fill, str) and fill == "likely":
            for row in data.dirty_rows.tolist():
                vector = data.candidate(row, int(np.argmax(data.prior(row))))
                likely[row] = self._raw_of(row, vector, known.get(row, Known()))
        filled = []
        for number, column in enumerate(self.table.columns):
            values = column.values.copy()
            holes = np.flatnonzero(self.table.holes[:, number])
            usual = _usual(column, self.table.holes[:, number])
            for row in holes.tolist():
                if row in likely and column.name in likely[row]:
                    values[row] = column.stored(likely[row][column.name])
                elif not column.missing[row]:
                    continue  # doubted, but there
                else:
                    values[row] = usual
            for row, one in known.items():
                if column.name in one.raw:
                    values[row] = column.stored(one.raw[column.name])
            filled.append((column, values))
        return self.table.frame_of(filled)

    def _raw_of(self, row: int, vector: Floats, known: Known) -> dict[str, Any]:
        for number, one in enumerate(self.candidates(row)):
            own = self.data.candidate(row, number)
            own[list(known.features)] = list(known.features.values())
            if np.array_equal(own, vector):
                return dict(self.overlaid(one, known))
        return {}

    def with_data(self, data: IncompleteDataset) -> IncompleteDataset | IncompleteTable:
        table = copy(self.table)
        table.dataset = data
        return table


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


def _known_spelling(stored: Any, feature: Feature | None) -> Any:
    """A category as the table has it, where what was said only looks the same (1 and 1.0).

    "other" and "absent" stand for the candidates of that name, unless they are categories.
    """
    for category in () if feature is None else feature.categories:
        if category == stored:
            return category
    return {str(mark): mark for mark in (OTHER, ABSENT)}.get(stored, stored)


def _usual(column: Column, holes: npt.NDArray[np.bool_]) -> Any:
    """The mean of a column's trusted cells, or the most frequent category."""
    trusted = column.values[~holes]
    if column.kind != "categorical":
        return float(np.mean(trusted)) if len(trusted) else 0.0
    common = Counter(trusted.tolist()).most_common(1)
    return common[0][0] if common else None


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, bool | int | float | str) else str(value)


def _example(subject: TableSubject, row: int) -> str:
    names: Sequence[str] = list(subject.cells(row)) or subject.table.names
    return "{" + f"{names[0]!r}: ..." + "}"
