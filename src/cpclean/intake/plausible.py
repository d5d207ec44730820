"""Values that are unlike all others of their column: they are asked back once, then accepted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

import numpy as np

from cpclean.data.between import Between
from cpclean.data.columns import Column
from cpclean.data.table import IncompleteTable
from cpclean.data.values import in_words, is_mark

FEW = 8  # observed values that say too little about what is usual
_FACTORS = (10.0, 100.0, 1000.0, 0.1, 0.01, 0.001)
_MOST_COMPARED = 2000  # categories that a typed one may be a misspelling of


def unusual(table: IncompleteTable, values: Mapping[str, Any]) -> dict[str, str]:
    """What is strange about values, by column, each as a question to the person who typed it."""
    found = {}
    for name, value in values.items():
        column = table.columns[table.names.index(name)]
        if not isinstance(value, Between) and (words := _strange(column, value)):
            found[name] = words
    return found


def _strange(column: Column, value: Any) -> str:
    if is_mark(value) or column.n_observed < FEW:
        return ""
    if column.kind == "categorical":
        return _new_category(column, value)
    if column.kind not in ("numeric", "date"):
        return ""
    stored, observed = float(column.stored(value)), column.observed
    low, high = column.least, column.most
    if low <= stored <= high:
        return ""
    seen = f"so far they are from {in_words(column.shown(low))} to {in_words(column.shown(high))}"
    text = in_words(value)
    if column.kind == "date":
        now = float(column.stored(_now(column)))
        if stored > now >= high:
            return f"{text} is in the future. Is that right?"
    else:
        usual = np.percentile(observed, [5, 95])
        beyond = max(stored - high, low - stored) > (high - low) / 2
        for factor in _FACTORS if beyond else ():
            if usual[0] <= stored / factor <= usual[1] and stored:
                meant = in_words(stored / factor)
                return f"{text} is unlike all other values; {seen}. Did you mean {meant}?"
        if stored < 0 <= low:
            return f"{text} is negative, and no other value is. Is that right?"
    if stored > high + (high - low) or stored < low - (high - low):
        return f"{text} is far outside of all other values; {seen}. Is that right?"
    return ""


def _now(column: Column) -> datetime:
    now = datetime.now(UTC)
    return now.replace(tzinfo=None) if column.zone is None else now.astimezone(column.zone)


def _new_category(column: Column, value: Any) -> str:
    known = column.frequencies
    if value in known or not isinstance(value, str):
        return ""
    texts = [str(one) for one, _ in known.most_common(_MOST_COMPARED)]
    close = get_close_matches(value, texts, n=1, cutoff=0.75)
    if not close:  # a value that nobody has seen yet; only what looks like a slip is asked back
        return ""
    return f"“{value}” is not among the values so far. Did you mean “{close[0]}”?"
