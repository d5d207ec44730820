"""Single values in a form that JSON can hold, and back: the same value of the same type.

Text, ints, booleans and finite floats stand for themselves. Everything else is a dict with one key,
which names the kind: {"date": "2024-02-29"}. No pickle: reading runs no code.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from cpclean.data.columns import ABSENT, OTHER
from cpclean.errors import StorageError, TableError


def packed(value: Any, where: str) -> Any:
    """A value in a form that JSON can hold; errors name `where` it comes from."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    for name, write in _WRITERS.items():
        found = write(value, where)
        if found is not None:
            return {name: found}
    raise TableError(
        f"{where} has {str(value)[:40]!r} of type {type(value).__name__}, which cannot be saved. "
        "Convert it to text, a number, a boolean, a date or a duration first."
    )


def unpacked(stored: Any) -> Any:
    """The value that was packed."""
    if not isinstance(stored, dict):
        return stored
    (name, content), *more = stored.items()
    if more or name not in _READERS:
        raise StorageError(
            f"the saved project has a value of kind {name!r}, which this cpclean does not know. "
            "Upgrade cpclean."
        )
    return _READERS[name](content)


def packed_zone(zone: tzinfo | None, where: str) -> Any:
    """A time zone as its name, or as a fixed offset from UTC in seconds."""
    if zone is None:
        return None
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)  # the latter for pytz
    if isinstance(name, str):
        return name
    offset = zone.utcoffset(None)
    if offset is None:
        raise TableError(
            f"{where} has dates in the time zone {zone!r}, which cannot be saved because it has no "
            "name. Convert them to UTC, or to a zone of the zoneinfo module."
        )
    return offset.total_seconds()


def unpacked_zone(stored: Any) -> tzinfo | None:
    """The time zone that was packed."""
    if stored is None:
        return None
    if stored in ("UTC", 0):
        return UTC
    if not isinstance(stored, str):
        return timezone(timedelta(seconds=stored))
    try:
        return ZoneInfo(stored)
    except ZoneInfoNotFoundError as problem:
        raise StorageError(
            f"the saved project has dates in the time zone {stored!r}, which this machine does not "
            "know. Install the time zones: pip install tzdata."
        ) from problem


# -- kinds ---------------------------------------------------------------------------------------


def _mark(value: Any, where: str) -> Any:
    return {OTHER: "other", ABSENT: "absent"}.get(value) if _is_mark(value) else None


def _is_mark(value: Any) -> bool:
    return value is OTHER or value is ABSENT


def _null(value: Any, where: str) -> Any:
    """The nulls of pandas, without importing it."""
    name = type(value).__name__
    return name if name in ("NAType", "NaTType") else None


def _read_null(name: str) -> Any:
    import pandas

    return {"NAType": pandas.NA, "NaTType": pandas.NaT}[name]


def _check_nanoseconds(value: Any, nanoseconds: int, kind: str, where: str) -> None:
    if nanoseconds:
        raise TableError(
            f"{where} mixes types, and {value} in it has nanoseconds, which cannot be saved there. "
            f"Make it a column of {kind} only, or round to microseconds."
        )


def _datetime(value: Any, where: str) -> Any:
    if not isinstance(value, datetime):
        return None
    _check_nanoseconds(value, getattr(value, "nanosecond", 0), "dates", where)
    plain = datetime(*value.timetuple()[:6], value.microsecond, fold=value.fold)
    return [plain.isoformat(), packed_zone(value.tzinfo, where), value.fold]


def _read_datetime(content: Any) -> datetime:
    text, zone, fold = content
    return datetime.fromisoformat(text).replace(tzinfo=unpacked_zone(zone), fold=fold)


def _time(value: Any, where: str) -> Any:
    if not isinstance(value, time):
        return None
    return [value.replace(tzinfo=None).isoformat(), packed_zone(value.tzinfo, where)]


def _read_time(content: Any) -> time:
    return time.fromisoformat(content[0]).replace(tzinfo=unpacked_zone(content[1]))


def _duration(value: Any, where: str) -> Any:
    if not isinstance(value, timedelta):
        return None
    _check_nanoseconds(value, getattr(value, "nanoseconds", 0), "durations", where)
    return [value.days, value.seconds, value.microseconds]


def _numpy_time(value: Any, where: str) -> Any:
    if not isinstance(value, np.datetime64 | np.timedelta64):
        return None
    return [value.dtype.str, int(value.astype(np.int64))]


def _read_numpy_time(content: Any) -> Any:
    return np.array(content[1], dtype=np.int64).view(content[0])[()]


def _items(value: Any, where: str) -> Any:
    return [packed(one, where) for one in value] if isinstance(value, tuple) else None


def _list(value: Any, where: str) -> Any:
    return [packed(one, where) for one in value] if isinstance(value, list) else None


def _pairs(value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        return None
    return [[packed(key, where), packed(one, where)] for key, one in value.items()]


def _bytes(value: Any, where: str) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else None


def _decimal(value: Any, where: str) -> Any:
    return str(value) if isinstance(value, Decimal) else None


def _date(value: Any, where: str) -> Any:
    return value.isoformat() if isinstance(value, date) else None


def _complex(value: Any, where: str) -> Any:
    return [value.real.hex(), value.imag.hex()] if isinstance(value, complex) else None


# In this order: a datetime is a date too, and pandas' NaT is both.
_WRITERS: dict[str, Callable[[Any, str], Any]] = {
    "mark": _mark,
    "null": _null,
    "datetime": _datetime,
    "date": _date,
    "time": _time,
    "duration": _duration,
    "numpy time": _numpy_time,
    "decimal": _decimal,
    "complex": _complex,
    "bytes": _bytes,
    "tuple": _items,
    "list": _list,
    "dict": _pairs,
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "mark": lambda name: {"other": OTHER, "absent": ABSENT}[name],
    "null": _read_null,
    "datetime": _read_datetime,
    "date": date.fromisoformat,
    "time": _read_time,
    "duration": lambda parts: timedelta(*parts),
    "numpy time": _read_numpy_time,
    "decimal": Decimal,
    "complex": lambda parts: complex(*map(float.fromhex, parts)),
    "bytes": base64.b64decode,
    "tuple": lambda items: tuple(map(unpacked, items)),
    "list": lambda items: list(map(unpacked, items)),
    "dict": lambda pairs: {unpacked(key): unpacked(one) for key, one in pairs},
}
