"""The cleaned table: the file as it was, with what was told in the place of holes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.options import Training
from cpclean.cli.output import write_file
from cpclean.cli.tables import Problem, read_frame
from cpclean.cli.texts import is_text, laid_out_for, layout_of

if TYPE_CHECKING:
    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.columns import Column

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")

# What stands in a cell, by column and by the row's number in the file.
Told = dict[str, dict[int, Any]]


@dataclass(frozen=True)
class Original:
    """A training file as it stands: all of its rows and columns, those that are dropped too."""

    frame: Any
    texts: Any  # every cell as the file writes it, the header on top; None if it is no text file
    whole: dict[str, str]  # dtypes of columns that pandas reads as floats for their holes alone
    domains: bool
    lines: bool  # whether row 0 is line 2 of the file, row 1 line 3, and so on
    training: Training

    def written(self, out: str, problem: Problem, told: Told) -> None:
        """Write it with what is told; cells that nobody told of stay as they are."""
        if self.texts is None or not is_text(out):
            write_file(self._as_values(told), out)
            return
        texts = self._as_text(problem, told)
        layout = laid_out_for(out, self.training, layout_of(self.training.file, self.training))
        places = {name: list(self.frame.columns).index(name) for name in told}
        new = [str(texts.iloc[row, places[name]]) for name, cells in told.items() for row in cells]
        if not layout.can_write(new):
            click.echo(
                f"Note: {layout.encoding} does not have all letters of the answers, so that "
                f"{out} is UTF-8.",
                err=True,
            )
            layout = replace(layout, encoding="utf-8")
        write_file(texts, out, layout)

    def _as_text(self, problem: Problem, told: Told) -> Any:
        """Told cells are spelt as the column spells its values; all others are not touched."""
        texts = self.texts.iloc[1:].reset_index(drop=True)
        for name, cells in told.items():
            place = list(self.frame.columns).index(name)
            column = problem.table.columns[problem.table.names.index(name)]
            seen = texts[place].iloc[problem.rows].tolist()
            spelt = _spelling(column, seen, self.training.decimal)
            values = texts[place].tolist()
            for row, value in cells.items():
                values[row] = _bracketed(spelt(value)) if self.domains else spelt(value)
            texts[place] = values
        texts.columns = self.texts.iloc[0].tolist()
        return texts

    def _as_values(self, told: Told) -> Any:
        frame = self.frame.copy()
        for name in frame.columns:
            frame[name] = _placed(frame[name], told.get(name, {}), self.whole.get(name))
        return frame


def read_original(training: Training) -> Original:
    """The training file once more, as it stands."""
    import pandas as pd

    found = read_frame(training.file, training)
    frame = found.frame if training.domains else found
    texts = None
    if is_text(training.file):
        layout = layout_of(training.file, training)
        texts = pd.read_csv(
            Path(training.file).expanduser(), sep=layout.sep, encoding=layout.encoding,
            header=None, dtype=str, na_filter=False,
        ).fillna("")  # fmt: skip
        if texts.shape != (len(frame) + 1, len(frame.columns)):
            texts = None
    whole = _whole_columns(training.file, frame, texts)
    lines = _has_lines(training.file, len(frame))
    return Original(frame, texts, whole, training.domains, lines, training)


def _has_lines(file: str, n_rows: int) -> bool:
    """Whether every row of a file is a line: none is empty, no cell has a line end in it."""
    if file.lower().endswith((".csv", ".tsv")):
        content = Path(file).expanduser().read_bytes()
        return content.count(b"\n") + (not content.endswith(b"\n")) == n_rows + 1
    return file.lower().endswith(".xlsx")


def told_of(session: CleaningSession, problem: Problem, fill: str | None) -> Told:
    """What was told, and what `fill` guesses for the rest, if it is to."""
    number = problem.rows.tolist()
    told: Told = {}
    if fill is not None:
        world = session.world(fill)
        for name, holes in zip(problem.table.names, problem.table.holes.T, strict=True):
            values = world[name].tolist()
            cells = {number[row]: values[row] for row in holes.nonzero()[0].tolist()}
            told[name] = {row: value for row, value in cells.items() if not _null(value)}
    for row, known in session.known.items():
        for name, value in known.items():
            told.setdefault(name, {})[number[row]] = value
    return {name: cells for name, cells in told.items() if cells}


def _null(value: Any) -> bool:
    from cpclean.data.columns import is_null

    return is_null(value)


# -- as text -----------------------------------------------------------------------------------


def _spelling(column: Column, texts: list[str], decimal: str) -> Callable[[Any], str]:
    """How the column of a file writes a value: as it has written it before, or much like that."""
    from cpclean.cleaning.values import categories_of, is_mark, mark_text

    there = [
        (value, text)
        for value, text, hole in zip(column.values.tolist(), texts, column.missing, strict=True)
        if not hole
    ]
    before: dict[Any, str] = {}
    for value, text in there:
        before.setdefault(value, text)
    whole = all(_WHOLE.fullmatch(text) for _, text in there)
    days = all(len(text.strip()) <= len("2024-05-31") for _, text in there)

    def spelt(value: Any) -> str:
        if is_mark(value):
            return mark_text(value, categories_of(column, None))
        stored = column.stored(value)
        if stored in before:
            return before[stored]
        if column.kind == "numeric":
            if whole and float(stored).is_integer():
                return str(int(stored))
            return repr(float(stored)).replace(".", decimal)
        if column.kind == "date":
            moment = column.shown(stored)
            return str(moment.date()) if days and _is_midnight(moment) else moment.isoformat()
        if column.kind == "duration":
            return str(column.shown(stored))
        return str(value)

    return spelt


def _is_midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)


def _bracketed(text: str) -> str:
    """A value where explicit domains would take it for a list."""
    return re.sub(r"([\\|\[\]])", r"\\\1", text) if text.startswith("[") else text


# -- as values ---------------------------------------------------------------------------------


def _placed(series: Any, cells: Mapping[int, Any], whole: str | None) -> Any:
    """A column with values in some of its cells, in its own dtype where that can hold them."""
    import pandas as pd

    if not cells and whole is None:
        return series
    items = series.astype(object).tolist()
    sample = next((one for one in items if not _null(one)), None)
    for row, value in cells.items():
        items[row] = _like(value, sample)
    items = [None if _null(one) else one for one in items]
    if isinstance(series.dtype, pd.CategoricalDtype):
        new = [one for one in dict.fromkeys(items) if one is not None]
        listed = list(dict.fromkeys([*series.cat.categories, *new]))
        items = pd.Categorical(items, categories=listed, ordered=series.cat.ordered)
        return pd.Series(items, index=series.index)
    for dtype in (whole, series.dtype):
        try:
            if dtype is not None:
                return pd.Series(items, index=series.index, dtype=dtype)
        except (TypeError, ValueError):  # a mean among whole numbers
            continue
    return pd.Series(items, index=series.index)


def _like(value: Any, sample: Any) -> Any:
    """A told value in the type of the values beside it."""
    from cpclean.cleaning.values import is_mark

    if is_mark(value):
        return str(value)
    if isinstance(value, datetime):
        if isinstance(sample, str):
            return str(value.date()) if _is_midnight(value) else value.isoformat()
        if isinstance(sample, date) and not isinstance(sample, datetime):
            return value.date()
    if isinstance(sample, Decimal) and isinstance(value, int | float):
        return Decimal(str(value))
    if isinstance(sample, str) and not isinstance(value, str | datetime | timedelta):
        return str(value)
    return value


def _whole_columns(file: str, frame: Any, texts: Any) -> dict[str, str]:
    """Columns of whole numbers that pandas made floats of, for floats can be missing."""
    floats = [name for name in frame.columns if frame[name].dtype == "float64"]
    if texts is not None:
        cells = {name: texts[list(frame.columns).index(name)].iloc[1:] for name in floats}
        return {
            name: "Int64"
            for name, column in cells.items()
            if all(_WHOLE.fullmatch(one) for one in column[frame[name].notna().to_numpy()])
        }
    if file.lower().endswith(".parquet"):
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
        import pyarrow.types as kinds  # type: ignore[import-untyped]

        fields = {field.name: field.type for field in pq.read_schema(Path(file).expanduser())}
        return {
            name: f"{'U' if kinds.is_unsigned_integer(fields[name]) else ''}Int"
            f"{fields[name].bit_width}"
            for name in floats
            if name in fields and kinds.is_integer(fields[name])
        }
    # A sheet does not tell whole numbers from others.
    return {name: "Int64" for name in floats if (frame[name].dropna() % 1 == 0).all()}
