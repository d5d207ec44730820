"""The fields of a question: one for each hole, with the control that fits its values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cpclean.data.columns import ABSENT, OTHER
from cpclean.data.table import IncompleteTable
from cpclean.web.desk.cell_views import text_of
from cpclean.web.desk.views import CellView
from cpclean.web.pages.forms import AnswerForm
from cpclean.web.pages.wording import takes

# Categories that are shown side by side; of more, or longer ones, there is a list to search.
MOST_CHIPS = 8
LONGEST_CHIP = 24


@dataclass(frozen=True)
class Choice:
    """Something to choose: what is sent, what is shown, and whether it was chosen before."""

    value: str
    text: str
    chosen: bool = False


@dataclass(frozen=True)
class AnswerField:
    """The field of one hole.

    Attributes
    ----------
    control : {"number", "date", "moment", "chips", "list", "text"}
        "moment" is a date with a time.
    hint : str
        What can be typed, and what was seen so far.
    typed : str
        What the field contains.
    chips, options, ranges : list
        Categories side by side; those of a list to search; rough answers.
    wrong, strange : str
        What is wrong with what was sent, or asked back about it.
    """

    column: str
    control: str
    hint: str
    unit: str = ""
    typed: str = ""
    chips: list[Choice] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    ranges: list[Choice] = field(default_factory=list)
    wrong: str = ""
    strange: str = ""

    @property
    def only_other(self) -> bool:
        """Whether all that can be said without a value is that it is none of those so far."""
        return bool(self.ranges) and bool(self.chips or self.options)

    @property
    def is_rough(self) -> bool:
        """Whether a rough answer was chosen before."""
        return any(one.chosen for one in self.ranges)


def fields_of(
    table: IncompleteTable,
    row: int,
    asked: Sequence[CellView],
    sent: AnswerForm | None = None,
    strange: Mapping[str, str] | None = None,
    wrong: Mapping[str, str] | None = None,
) -> list[AnswerField]:
    """The fields for the holes of a row, with what was sent if it comes back."""
    return [
        _field(table, row, cell, sent, (strange or {}).get(cell.column, ""),
               (wrong or {}).get(cell.column, ""))
        for cell in asked
    ]  # fmt: skip


def _field(
    table: IncompleteTable,
    row: int,
    cell: CellView,
    sent: AnswerForm | None,
    strange: str,
    wrong: str,
) -> AnswerField:
    name = cell.column
    typed, picked, rough = (
        ("", "", "")
        if sent is None
        else (sent.typed.get(name, ""), sent.picked.get(name, ""), sent.rough.get(name, ""))
    )
    marks = _marks(table, row, name)
    ranges = [Choice(json.dumps(one.between), one.text) for one in cell.ranges]
    ranges += [
        Choice(json.dumps(text), "something else, which I can’t say") for text in marks[OTHER]
    ]
    categories = [*cell.categories, *marks[ABSENT]]
    chips, control = list[Choice](), _control(cell, categories)
    if control == "chips":
        chips = [Choice(one, _shown(cell, one), one == picked) for one in categories]
    return AnswerField(
        column=name,
        control=control,
        hint=takes(cell),
        unit=cell.unit,
        typed=typed,
        chips=chips,
        options=categories if control == "list" else [],
        ranges=[Choice(one.value, one.text, one.value == rough) for one in ranges],
        wrong=wrong,
        strange=strange,
    )


def _control(cell: CellView, categories: Sequence[str]) -> str:
    if categories:
        short = all(len(one) <= LONGEST_CHIP for one in categories)
        return "chips" if short and len(categories) <= MOST_CHIPS else "list"
    if cell.kind == "date" and any(":" in (end or "") for end in (cell.low, cell.high)):
        return "moment"
    return {"numeric": "number", "date": "date"}.get(cell.kind, "text")


def _shown(cell: CellView, text: str) -> str:
    if cell.kind == "boolean":
        return {"true": "yes", "false": "no"}.get(text, text)
    return text


def _marks(table: IncompleteTable, row: int, name: str) -> dict[object, list[str]]:
    """The texts for candidates of a hole that are not values of the table."""
    options, number = table.options_in_space(row), table.names.index(name)
    column = table.columns[number]
    values = options.values[options.cells.index(number)] if number in options.cells else ()
    return {
        mark: [text_of(mark, column)] if any(one is mark for one in values) else []
        for mark in (ABSENT, OTHER)
    }
