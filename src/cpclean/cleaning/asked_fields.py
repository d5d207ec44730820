"""A question as fields to fill in, in values that JSON can hold: what a widget shows."""

from __future__ import annotations

from typing import Any

from cpclean.cleaning.question import Question
from cpclean.cleaning.view import SessionView
from cpclean.data.columns import ABSENT, OTHER, Column
from cpclean.data.rough_ranges import ranges_of
from cpclean.data.table import IncompleteTable
from cpclean.data.units import unit_of
from cpclean.data.values import NEEDS, categories_of, in_words, is_mark, mark_text

MOST_CHIPS = 8  # categories side by side; of more, there is a list to search
LONGEST_CHIP = 24
MOST_CATEGORIES = 5_000  # in a list: the most frequent
LONGEST = 300  # characters of a cell


def asked(view: SessionView, question: Question) -> dict[str, Any]:
    """What is asked about which row, its other cells, and a field for each hole.

    Parameters
    ----------
    view : SessionView
        Of a session over a table.
    question : Question
    """
    table = view.table
    assert table is not None
    row, own = question.row, question.frame_row
    names = [cell.column for cell in question.cells]
    return {
        "row": row,
        "where": f"Row {row}" if own == row else f"Row {row}, in the frame: {own}",
        "holes": names,
        "fields": [_field(table, row, _column(table, name)) for name in names],
        "cells": [
            {"column": name, "text": text}
            for name, text in _other_cells(view, table, row)
            if name not in names
        ],
        "label": {"column": str(table.label or "label"), "text": _short(view.label(row))},
    }


def standing(view: SessionView) -> dict[str, Any]:
    """How far a session is: counts of points, and a sentence."""
    verdicts = view.verdicts.tolist()
    counts = {name: verdicts.count(name) for name in ("certain", "sure", "open")}
    level = f"{100 * (view.sure or 0.95):.4g}%"
    total, rows, answers = len(verdicts), len(view.open_rows), len(view.history)
    said = [f"{counts['certain']:,} of {_many(total, 'prediction')} certain"]
    if counts["sure"]:
        said.append(f"{counts['sure']:,} more {level} sure")
    said.append(f"{counts['open']:,} open")
    left = f"{_many(answers, 'answer')} so far, {_many(rows, 'row')} left to ask about"
    return {"counts": counts, "words": f"{', '.join(said)}; {left}."}


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _column(table: IncompleteTable, name: str) -> Column:
    return table.columns[table.names.index(name)]


def _other_cells(view: SessionView, table: IncompleteTable, row: int) -> list[tuple[str, str]]:
    """The cells of a row in words, with what is known of them by now."""
    known = view.known.get(row, {})
    values = {name: known.get(name, value) for name, value in table.row(row).items()}
    return [
        (name, "missing" if value is None else _short(value, _column(table, name)))
        for name, value in values.items()
    ]


def _field(table: IncompleteTable, row: int, column: Column) -> dict[str, Any]:
    """The field of a hole: its control, what can be chosen, and what is known only roughly."""
    options, number = table.options_in_space(row), table.names.index(column.name)
    own = options.values[options.cells.index(number)]
    marks = {
        mark: mark_text(mark, categories_of(column, None))
        for mark in (ABSENT, OTHER)
        if any(one is mark for one in own)
    }
    choices = _choices(column)
    if ABSENT in marks:
        choices.append({"value": marks[ABSENT], "text": marks[ABSENT]})
    ranges = [
        {"value": {"between": one.between}, "text": one.text}
        for one in ranges_of(table, row, column.name)
    ]
    if OTHER in marks:
        ranges.append({"value": marks[OTHER], "text": "something else, which I can’t say"})
    return {
        "column": column.name,
        "control": _control(column, choices),
        "hint": _hint(column),
        "unit": unit_of(column.name) if column.kind == "numeric" else "",
        "choices": choices,
        "ranges": ranges,
    }


def _choices(column: Column) -> list[dict[str, str]]:
    if column.kind == "boolean":
        return [{"value": "true", "text": "yes"}, {"value": "false", "text": "no"}]
    if column.kind != "categorical":
        return []
    common = column.frequencies.most_common(MOST_CATEGORIES)
    texts = sorted((in_words(value) for value, _ in common), key=str.casefold)
    return [{"value": text, "text": text} for text in texts]


def _control(column: Column, choices: list[dict[str, str]]) -> str:
    if choices:
        short = all(len(one["text"]) <= LONGEST_CHIP for one in choices)
        return "chips" if short and len(choices) <= MOST_CHIPS else "list"
    return "number" if column.kind == "numeric" else "text"


def _hint(column: Column) -> str:
    if column.kind == "categorical" and column.n_observed:
        return f"one of {_many(len(column.frequencies), 'value')} so far, or another"
    if column.kind in ("categorical", "boolean") or not column.n_observed:
        return NEEDS[column.kind]
    ends = (column.shown(column.least), column.shown(column.most))
    return f"{NEEDS[column.kind]}; so far from {in_words(ends[0])} to {in_words(ends[1])}"


def _short(value: Any, column: Column | None = None) -> str:
    if is_mark(value) and column is not None:
        return mark_text(value, categories_of(column, None))
    text = " ".join(in_words(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
