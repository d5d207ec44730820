"""Cells as people read and type them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from cpclean.data.between import Between
from cpclean.data.columns import Column
from cpclean.data.nulls import is_null
from cpclean.data.rough_ranges import ranges_of
from cpclean.data.table import IncompleteTable
from cpclean.data.units import unit_of
from cpclean.data.values import categories_of, in_words, is_mark, mark_text
from cpclean.web.desk.views import CellView, RangeView

LONGEST = 300  # characters of a value in a line with others
LONGEST_CELL = 5_000  # characters of a cell that are shown
MOST_CATEGORIES = 5_000  # that are listed for people who type a value: the most frequent


def text_of(value: Any, column: Column | None = None, most: int = LONGEST) -> str:
    """A value in a few characters; with its column, one that no category is mistaken for."""
    if isinstance(value, Between):
        return range_text(value)
    if column is not None and is_mark(value):
        return mark_text(value, categories_of(column, None))
    text = in_words(value) if isinstance(value, str | date) else " ".join(in_words(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def range_text(value: Between) -> str:
    """A rough answer in words.

    >>> range_text(Between(20, 40)), range_text(Between(high=20)), range_text(Between(40))
    ('20 to 40 (roughly)', 'at most 20 (roughly)', 'at least 40 (roughly)')
    """
    return f"{value.words(in_words)} (roughly)"


def line_of(values: Mapping[str, Any], table: IncompleteTable | None = None) -> str:
    """What is known about a row, in one line."""
    columns = {} if table is None else dict(zip(table.names, table.columns, strict=True))
    return ", ".join(
        f"{name} = {text_of(value, columns.get(name))}" for name, value in values.items()
    )


class RowCells:
    """The cells of the rows of a table, as they are asked for and shown.

    Parameters
    ----------
    table : IncompleteTable
    """

    def __init__(self, table: IncompleteTable) -> None:
        self._table = table
        self._asked: dict[str, CellView] = {}  # of columns that were asked for, without ranges

    def of(self, row: int, holes: Collection[str], known: Mapping[str, Any]) -> list[CellView]:
        """The cells of a row, in the table's order.

        Parameters
        ----------
        holes : names of the cells that are asked for
            One that is not empty is doubted; it shows nothing, for its value is a candidate.
        known : dict from column to value
            What was answered about the row before.
        """
        return [
            self._hole(row, column)
            if column.name in holes
            else _shown(column, known.get(column.name, column.shown(column.values[row])))
            for column in self._table.columns
        ]

    def _hole(self, row: int, column: Column) -> CellView:
        found = self._asked.get(column.name)
        if found is None:
            found = self._asked[column.name] = _asked(column)
        ranges = ranges_of(self._table, row, column.name)
        return replace(found, ranges=[RangeView(*one) for one in ranges])


def _shown(column: Column, value: Any) -> CellView:
    text = None if value is None else text_of(value, most=LONGEST_CELL)
    return CellView(column.name, column.kind, text, False)


def _asked(column: Column) -> CellView:
    """What can be answered for a hole of a column, in any row."""
    low = high = None
    categories: list[str] = []
    if column.kind == "categorical":
        common = column.frequencies.most_common(MOST_CATEGORIES)
        categories = sorted((text_of(value) for value, _ in common), key=str.casefold)
    elif column.kind == "boolean":
        categories = ["true", "false"]  # the first is yes
    elif column.n_observed:
        low, high = (text_of(column.shown(end)) for end in (column.least, column.most))
    unit = unit_of(column.name) if column.kind == "numeric" else ""
    return CellView(column.name, column.kind, None, True, low, high, categories, [], unit)


def spare_cells(columns: Mapping[str, Mapping[int, Any]], place: int) -> list[CellView]:
    """The cells of these columns in a row, by its number in what was given."""
    found = {name: values[place] for name, values in columns.items() if place in values}
    return [
        CellView(
            name, "spare", None if is_null(value) else text_of(value, most=LONGEST_CELL), False
        )
        for name, value in found.items()
    ]
