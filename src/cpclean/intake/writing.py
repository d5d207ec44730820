"""The cleaned table: the original one, with known values in the place of holes.

A text file stays as it is except for the known cells, which are spelt as their column spells
values. A frame keeps its dtypes, where they can hold the known values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.moments import seconds
from cpclean.data.nulls import is_null
from cpclean.intake.textfile import TextFile

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+\s*")
_POINT = re.compile(r"\s*[+-]?[0-9]*\.[0-9]+\s*")
# The spellings of false and true.
_TRUTHS = (("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"))
# A moment, as ISO 8601 has it: what is between day and time, seconds, their fraction, the zone.
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:([^0-9])[0-9]{2}:[0-9]{2}(?:(:[0-9]{2})([.,][0-9]+)?)?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)

# The known values of cells, by column and by the row's number in the original table.
KnownCells = dict[str, dict[int, Any]]


def as_pandas(frame: Any) -> Any:
    """A frame of any library, or an array, as one of pandas whose rows are numbered from 0."""
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()
    if isinstance(frame, np.ndarray):
        import pandas as pd

        return pd.DataFrame(frame, columns=[f"x{place}" for place in range(frame.shape[1])])
    return frame.reset_index(drop=True)


# -- as text -----------------------------------------------------------------------------------


def fits(text: TextFile, frame: Any) -> bool:
    """Whether a text file has the rows and columns of the frame that was read from it."""
    try:
        return bool(text.cells.shape == (len(frame) + 1, len(frame.columns)))
    except ValueError:  # it can be read only with options that the frame was read with
        return False


def text_with(
    text: TextFile,
    frame: Any,
    columns: Sequence[Column],
    rows: Sequence[int],
    known: KnownCells,
    domains: bool = False,
) -> TextFile | None:
    """A text file with known cells; None if its cells are not those of the frame.

    A category such as "NA" is written as it is: no spelling keeps pandas from reading it as a hole,
    except with keep_default_na=False.

    Parameters
    ----------
    text : TextFile
    frame : pandas.DataFrame
        What was read from it, all columns included.
    columns : sequence of Column
        Made of some rows and columns of the frame.
    rows : sequence of int
        Where each of their rows stands in the frame.
    known : dict from column to dict from row of the frame to value
    domains : bool
        Whether the file lists what cells can be, as `cpclean.data.domains` describes.
    """
    if not fits(text, frame):
        return None
    names = [str(name) for name in frame.columns]
    own = {column.name: column for column in columns}
    cells: dict[tuple[int, int], str] = {}
    for name, values in known.items():
        place = names.index(name)
        spelt = spelling_in(text, place, own[name], rows)
        for row, value in values.items():
            written = spelt(value)
            cells[row + 1, place] = _bracketed(written) if domains else written
    return text.with_cells(cells)


def spelling_in(
    text: TextFile, place: int, column: Column, rows: Sequence[int]
) -> Callable[[Any], str]:
    """How a text file writes the values of a column.

    Parameters
    ----------
    text : TextFile
    place : int
        Of the column in the file.
    column : Column
    rows : sequence of int
        Where each row of the column stands in the file, from 0 below the header.
    """
    seen = text.cells[place].iloc[1:].to_numpy()[np.asarray(rows)].tolist()
    decimal = _decimal_of(seen, text.decimal) if column.kind == "numeric" else text.decimal
    return _spelling(column, seen, decimal, np.argsort(rows).tolist())


def _spelling(
    column: Column, texts: list[str], decimal: str, order: Iterable[int]
) -> Callable[[Any], str]:
    """How the column of a file writes a value: as it has written it first, or much like that."""
    values, holes = column.values.tolist(), column.missing.tolist()
    there = [(values[row], texts[row]) for row in order if not holes[row]]
    before: dict[Any, str] = {}
    for value, text in there:
        before.setdefault(value, text)
    whole = not there or any(_WHOLE.fullmatch(text) for _, text in there)
    numbers = column.kind == "numeric" or (
        column.kind in ("date", "duration")
        and bool(there)
        and all(_says(text, value, decimal) for value, text in there)
    )
    dates = _dates_like([text for _, text in there] if column.kind == "date" else [])

    def spelt(value: Any) -> str:
        stored = column.stored(value)
        if stored in before:
            return before[stored]
        if numbers:
            if whole and float(stored).is_integer():
                return str(int(stored))
            return repr(float(stored)).replace(".", decimal)
        if column.kind == "categorical":
            return str(value)
        shown = column.shown(stored)
        if column.kind == "date":
            return dates(shown)
        if column.kind == "boolean" and isinstance(shown, bool):
            return _truth_like(next(iter(before.values()), ""), shown)
        return str(shown)

    return spelt


def _decimal_of(texts: list[str], usual: str) -> str:
    """The decimal sign of a column of numbers: a file may have columns with either."""
    commas = sum(_COMMA.fullmatch(text) is not None for text in texts)
    points = sum(_POINT.fullmatch(text) is not None for text in texts)
    return usual if commas == points else "," if commas > points else "."


def _says(text: str, number: float, decimal: str) -> bool:
    """Whether a text is a number: dates and durations may be written as seconds."""
    try:
        return float(text.replace(decimal, ".")) == number
    except ValueError:
        return False


def _truth_like(sample: str, value: bool) -> str:
    """A truth value in the spelling of another one."""
    found = re.fullmatch(r"(\w+)([.,]0*)?", sample.strip())
    word, decimals = (found[1], found[2] or "") if found else ("", "")
    for pair in _TRUTHS:
        if word.lower() in pair:
            like = pair[value].upper() if word.isupper() else pair[value]
            return (like.capitalize() if word.istitle() and len(word) > 1 else like) + decimals
    return str(value)


@dataclass(frozen=True)
class _Shape:
    """How a text writes a moment; without `sep` it is a day."""

    sep: str = ""
    seconds: bool = False
    fraction: str = ""  # with the sign before it
    zone: str = ""

    @classmethod
    def of(cls, text: str) -> _Shape | None:
        found = _MOMENT.fullmatch(text.strip())
        if found is None:
            return None
        sep, seconds, fraction, zone = (part or "" for part in found.groups())
        # What the digits are does not matter.
        return cls(sep, bool(seconds), re.sub("[0-9]", "0", fraction), zone)

    def written(self, moment: datetime) -> str:
        """A moment, without what the shape has no place for; one without a zone is UTC."""
        if self.zone:
            zone = datetime.fromisoformat(f"2000-01-01T00:00{self.zone}").tzinfo
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(zone)
        day, time = str(moment.date()), moment.time().isoformat("microseconds")
        if not self.sep:
            return day
        clock = time[: len("10:00:00")] if self.seconds else time[: len("10:00")]
        digits = max(len(self.fraction) - 1, 0)
        after = self.fraction[:1] + f"{moment.microsecond:06}".ljust(digits, "0")[:digits]
        return f"{day}{self.sep}{clock}{after}{self.zone}"


def _dates_like(texts: Iterable[str]) -> Callable[[datetime], str]:
    """How dates are written beside others: in the commonest of their shapes that loses nothing."""
    found = Counter(shape for shape in map(_Shape.of, texts) if shape is not None)
    shapes = [shape for shape, _ in found.most_common()] or [_Shape()]
    if timed := [shape for shape in shapes if shape.sep]:
        shapes.append(replace(timed[0], seconds=True))
        shapes.append(replace(timed[0], seconds=True, fraction=".000000"))

    def spelt(moment: datetime) -> str:
        for shape in shapes:
            try:
                text = shape.written(moment)
                if seconds(text) == seconds(moment):
                    return text
            except OverflowError:  # the first and last day of all have no other zones
                continue
        return moment.isoformat()

    return spelt


def _bracketed(text: str) -> str:
    """A value where explicit domains would take it for a list."""
    return re.sub(r"([\\|\[\]])", r"\\\1", text) if text.startswith("[") else text


# -- as values ---------------------------------------------------------------------------------


def frame_with(frame: Any, known: KnownCells, whole: Mapping[str, str]) -> Any:
    """A pandas frame with known cells.

    Parameters
    ----------
    whole : dict from column to dtype
        Columns that are floats for their holes alone, as `whole_columns` finds them.
    """
    made = frame.copy()
    for name in made.columns:
        made[name] = _placed(made[name], known.get(str(name), {}), whole.get(str(name)))
    return made


def whole_columns(frame: Any, text: TextFile | None = None) -> dict[str, str]:
    """Columns of whole numbers that pandas made floats of, for floats can be missing.

    Parameters
    ----------
    text : TextFile, optional
        The file that the frame was read from: it distinguishes 1 from 1.0.
    """
    found = {}
    for place, name in enumerate(frame.columns):
        there = frame[name].notna().to_numpy()
        if frame[name].dtype != "float64" or there.all() or not there.any():
            continue
        if text is not None:
            texts = text.cells[place].iloc[1:].to_numpy()[there]
            whole = all(_WHOLE.fullmatch(one) for one in texts)
        else:
            whole = bool((frame[name].to_numpy()[there] % 1 == 0).all())
        if whole:
            found[str(name)] = "Int64"
    return found


def _placed(series: Any, cells: Mapping[int, Any], whole: str | None) -> Any:
    """A column with values in some of its cells, in its own dtype where that can hold them."""
    import pandas as pd

    if not cells and whole is None:
        return series
    items = series.astype(object).tolist()
    sample = next((one for one in items if not is_null(one)), None)
    moments = any(isinstance(value, datetime) for value in cells.values())
    dates = _dates_like(one for one in items if moments and isinstance(one, str))
    for row, value in cells.items():
        items[row] = _like(value, sample, dates)
    items = [None if is_null(one) else one for one in items]
    if isinstance(series.dtype, pd.CategoricalDtype):
        new = [one for one in dict.fromkeys(items) if one is not None]
        listed = list(dict.fromkeys([*series.cat.categories, *new]))
        items = pd.Categorical(items, categories=listed, ordered=series.cat.ordered)
        return pd.Series(items, index=series.index)
    for dtype in (whole, series.dtype):
        try:
            if dtype is not None:
                return pd.Series(items, index=series.index, dtype=dtype)
        except (TypeError, ValueError, OverflowError):  # a mean among whole numbers
            continue
    return pd.Series(items, index=series.index)


def _like(value: Any, sample: Any, dates: Callable[[datetime], str]) -> Any:
    """A known value in the type of the values beside it."""
    if isinstance(value, bool) and isinstance(sample, str):
        return _truth_like(sample, value)
    if isinstance(value, datetime):
        if isinstance(sample, str):
            return dates(value)
        if isinstance(sample, date) and not isinstance(sample, datetime):
            return value.date()
    if isinstance(sample, Decimal) and isinstance(value, int | float):
        return Decimal(str(value))
    if isinstance(sample, str) and not isinstance(value, str | datetime | timedelta):
        return str(value)
    return value
