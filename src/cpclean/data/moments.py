"""Dates, durations and truths as numbers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from cpclean.data.nulls import NUMBER

# Durations as Python and pandas write them: "1 day, 2:00:00", "-1 days +23:00:00", "0:00:01.5".
_DURATION = re.compile(
    r"(?:(?P<days>[+-]?[0-9]+) days?)?,?\s*(?:\+?(?P<hours>[0-9]+):(?P<minutes>[0-9]+):"
    r"(?P<seconds>[0-9]+(?:\.[0-9]+)?))?"
)


def number_of(value: Any, kind: str) -> float:
    """A value of a column of this kind as the number it is stored as."""
    if kind == "date":
        return seconds(value)
    if kind == "duration":
        return duration_seconds(value)
    if kind == "boolean" and isinstance(value, str):
        truth = {"true": 1.0, "false": 0.0}.get(value.strip().lower())
        return float(value) if truth is None else truth
    return float(value)


def seconds(value: Any) -> float:
    """A date or time as seconds since 1970."""
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[us]").astype(np.int64)) / 1e6
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    return float(value)


def duration_seconds(value: Any) -> float:
    """A duration as seconds."""
    if isinstance(value, np.timedelta64):
        return float(value.astype("timedelta64[us]").astype(np.int64)) / 1e6
    if isinstance(value, timedelta):
        return value.total_seconds()
    if not isinstance(value, str) or NUMBER.fullmatch(value.strip()):
        return float(value)
    found = _DURATION.fullmatch(value.strip())
    if not found or not any(found.groups()):
        raise ValueError(f"{value!r} is not a duration")
    parts = {unit: float(text) for unit, text in found.groupdict().items() if text}
    return timedelta(**parts).total_seconds()
