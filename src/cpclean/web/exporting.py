"""Out again: the table with what was told in it, and the log."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.values import categories_of, is_mark, mark_text
from cpclean.data.columns import is_null
from cpclean.errors import CPCleanError
from cpclean.storage.base import Event
from cpclean.storage.journal import VERSION
from cpclean.storage.ledger import Ledger
from cpclean.storage.project import Project

SUFFIXES = (".csv", ".tsv", ".json", ".parquet", ".xlsx")
FILLS = ("default", "likely")


class ExportError(CPCleanError, ValueError):
    """A table cannot be written in the way that was asked for."""


def table_bytes(
    project: Project, session: CleaningSession, numbers: list[int], suffix: str, fill: str | None
) -> bytes:
    """The table as it was given, with what was told in the place of holes.

    Parameters
    ----------
    numbers : list of int
        Where each row of the project stands in the frame that was given.
    suffix : {".csv", ".tsv", ".json", ".parquet", ".xlsx"}
    fill : {"default", "likely"} or None
        What nobody told: guessed as `CleaningSession.world` does; None leaves it as it is.
    """
    if suffix not in SUFFIXES:
        raise ExportError(f"a table is written as {', '.join(SUFFIXES)}; got {suffix[:20]!r}.")
    if fill is not None and fill not in FILLS:
        raise ExportError(f"fill must be one of {', '.join(FILLS)} or left out; got {fill[:20]!r}.")
    return _written(_cleaned(project, session, numbers, fill), suffix)


def _cleaned(
    project: Project, session: CleaningSession, numbers: list[int], fill: str | None
) -> Any:
    """A pandas frame: the one that was given, held out rows included, or the project's rows."""
    import pandas as pd

    given = getattr(project.frame, "frame", project.frame)
    if given is None:
        given = session.world("default")  # the table's own columns, in their order
        numbers = list(range(project.n_rows))
        given = _with_holes(_as_pandas(given), project)
    frame = _as_pandas(given).copy()
    told = _told(project, session, fill)
    for name in frame.columns:
        cells = {numbers[row]: value for row, value in told.get(str(name), {}).items()}
        whole = _is_whole(frame[name])
        frame[name] = _placed(frame[name], cells, "Int64" if whole else None)
    assert isinstance(frame, pd.DataFrame)
    return frame


def _with_holes(frame: Any, project: Project) -> Any:
    for number, name in enumerate(project.table.names):
        frame[name] = frame[name].astype(object).mask(project.table.holes[:, number], None)
    return frame


def _as_pandas(frame: Any) -> Any:
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()
    if isinstance(frame, np.ndarray):
        import pandas as pd

        return pd.DataFrame(frame, columns=[f"x{place}" for place in range(frame.shape[1])])
    return frame.reset_index(drop=True)


def _told(
    project: Project, session: CleaningSession, fill: str | None
) -> dict[str, dict[int, Any]]:
    """What stands in the place of holes, by column and row."""
    told: dict[str, dict[int, Any]] = {}
    table = project.table
    if fill is not None:
        world = _as_pandas(session.world(fill))
        for name, holes in zip(table.names, table.holes.T, strict=True):
            values = world[name].tolist()
            rows = np.flatnonzero(holes).tolist()
            told[name] = {row: values[row] for row in rows if not is_null(values[row])}
    for row, known in session.known.items():
        for name, value in known.items():
            column = table.columns[table.names.index(name)]
            if is_mark(value):
                value = mark_text(value, categories_of(column, None))
            told.setdefault(name, {})[row] = value
    return told


def _is_whole(series: Any) -> bool:
    """Whether a column of whole numbers became one of floats for its holes alone."""
    if str(series.dtype) != "float64" or not series.isna().any():
        return False
    there = series.dropna().to_numpy()
    return bool(len(there) and np.isfinite(there).all() and (there == np.floor(there)).all())


def _placed(series: Any, cells: Mapping[int, Any], whole: str | None) -> Any:
    """A column with values in some of its cells, in its own dtype where that can hold them."""
    import pandas as pd

    if not cells and whole is None:
        return series
    items = series.astype(object).tolist()
    sample = next((one for one in items if not is_null(one)), None)
    for row, value in cells.items():
        items[row] = _like(value, sample)
    items = [None if is_null(one) else one for one in items]
    own = None if isinstance(series.dtype, pd.CategoricalDtype) else series.dtype
    for dtype in (whole, own):
        try:
            if dtype is not None:
                return pd.Series(items, index=series.index, dtype=dtype)
        except (TypeError, ValueError):  # a mean among whole numbers, a word among numbers
            continue
    return pd.Series(items, index=series.index)


def _like(value: Any, sample: Any) -> Any:
    """A told value in the type of the values beside it."""
    if isinstance(value, datetime):
        if isinstance(sample, str):
            midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
            return str(value.date()) if midnight else value.isoformat()
        if isinstance(sample, date) and not isinstance(sample, datetime):
            return value.date()
    if isinstance(sample, str) and not isinstance(value, str | datetime | timedelta):
        return str(value)
    return value


def _written(frame: Any, suffix: str) -> bytes:
    if suffix in (".csv", ".tsv"):
        text: str = frame.to_csv(index=False, sep="\t" if suffix == ".tsv" else ",")
        return text.encode()
    if suffix == ".json":
        text = frame.to_json(orient="records", date_format="iso", force_ascii=False)
        return text.encode()
    into = io.BytesIO()
    try:
        if suffix == ".parquet":
            frame.to_parquet(into, index=False)
        else:
            frame.to_excel(into, index=False)
    except ImportError as problem:
        raise ExportError(
            f'writing {suffix} needs a package that is not here: pip install "cpclean[files]".'
        ) from problem
    return into.getvalue()


# -- the log ---------------------------------------------------------------------------------------


def log_text(project: Project, ledger: Ledger, events: list[Event]) -> str:
    """What the log says when all is told, as JSON lines that `cpclean.storage.journal` reads."""
    header = {"cpclean": "answers", "version": VERSION, "belongs": project.belongs}
    lines: list[Any] = [header]
    for entry, number in zip(ledger.log, ledger.numbers, strict=True):
        event = events[number - 1]
        lines.append({**entry, **_remarks(event)})
    return _lines(lines)


def events_text(events: Iterable[Event]) -> str:
    """Every event, also those that were taken back, as JSON lines."""
    found = []
    for event in events:
        one: dict[str, Any] = {"number": event.number, "kind": event.kind, "row": event.row}
        if event.kind == "undo":
            one["undoes"] = event.undoes
        elif event.candidate is not None:
            one["candidate"] = event.candidate
        elif event.value is not None:
            one["value"] = event.value
        found.append({**one, **_remarks(event), "request_id": event.request_id})
    return _lines(found)


def _remarks(event: Event) -> dict[str, Any]:
    return {"who": event.who, "at": event.at.isoformat(), "seconds": event.seconds}


def _lines(found: Iterable[Any]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)
