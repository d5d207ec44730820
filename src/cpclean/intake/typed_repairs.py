"""Candidates that a person types for the holes of a column, with | between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cpclean.data.columns import Column
from cpclean.data.repairs import default_values
from cpclean.data.values import in_words, typed_value
from cpclean.intake.choices import Choices
from cpclean.intake.sentences import refusal
from cpclean.intake.typed_values import with_point


def typed_repairs(columns: Iterable[Column], choices: Choices) -> dict[str, list[Any]]:
    """The candidates that were typed, for each column; the others have the default ones."""
    if isinstance(choices.repairs, str):
        return {}
    return {
        column.name: typed_candidates(column, choices.repairs[column.name], choices)
        for column in columns
        if column.name in choices.repairs and column.name != choices.label
    }


def typed_candidates(column: Column, words: str, choices: Choices) -> list[Any]:
    """The candidates of a column, as the column holds them; an error if it cannot."""
    parts = [one.strip() for one in words.split("|") if one.strip()]
    if column.kind == "categorical" and parts:
        known = {str(value): value for value in column.frequencies}
        return [known.get(one, one) for one in parts]
    decimal = "." if choices.layout is None else choices.layout.decimal
    parts = [with_point(column, one, decimal) for one in parts]
    odd = [one for one in parts if typed_value(column, one) is None]
    if odd or not parts:
        raise refusal(
            "candidates",
            column.name,
            kind=column.kind,
            example=_example(column),
            got=(odd or [words])[0][:40],
        )
    return parts


def _example(column: Column) -> str:
    values = default_values(column)[:3] if column.n_observed else ()
    return " | ".join(in_words(column.shown(value)) for value in values) or "1 | 2"
