"""From an uploaded file and what a person chose to a project."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.analysis.words import count, listed
from cpclean.data.columns import Column
from cpclean.data.decisions import DOUBTS
from cpclean.data.frames import columns_from
from cpclean.data.incomplete import Ints
from cpclean.data.repairs import default_values
from cpclean.data.rows import Bools
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.data.values import typed_value
from cpclean.errors import TableError
from cpclean.intake.holding import complete_rows, empty_columns, held_out
from cpclean.intake.textfile import TextFile
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model
from cpclean.web.desk.cell_views import text_of
from cpclean.web.pages.drafts import Choice, Draft, read
from cpclean.web.pages.forms import FieldError, whole

_MAYBE_NULL = ("?", "-", "--", "unknown", "missing")
SEED = 0  # of the rows that are held out


# -- looking ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnLook:
    """A column as it is understood, and what a hole of it might hold."""

    name: str
    detected: str
    chosen: str
    holes: int
    candidates: str
    remark: str
    dropped: bool
    typed: str = ""  # candidates that take the place of these


@dataclass(frozen=True)
class Look:
    """What the second step shows of a file."""

    names: list[str]
    columns: list[ColumnLook]
    n_rows: int
    rows_with_holes: int
    notes: list[str]
    problem: FieldError | None = None  # the first candidates that were typed and do not fit


def look(draft: Draft, choice: Choice) -> Look:
    """The columns of a file under the choices so far."""
    notes: list[str] = []
    with _noted(notes):
        plain = read(draft, draft.path, choice.without_kinds())
        detected = columns_from(plain, {}, choice.null_tokens)
        names = {column.name for column in detected}  # others, if the file is read otherwise now
        known = {name: kind for name, kind in choice.kinds.items() if name in names}
        choice = replace(choice, kinds=known)
        frame = read(draft, draft.path, choice)
        columns = columns_from(frame, choice.kinds, choice.null_tokens)
    kinds = {column.name: column.kind for column in detected}
    features = [one for one in columns if one.name not in {choice.label, *choice.dropped}]
    holes = [column.missing for column in features]
    with_holes = int(np.any(holes, axis=0).sum()) if holes else 0
    if choice.label in frame.columns and (left_out := int(_unusable(frame, choice.label).sum())):
        rows = count(left_out, "row has", "rows have")
        notes.append(f"{rows} no label, or nothing else, and will be left out.")
    notes += [_maybe_null(column) for column in features if _maybe_null(column)]
    own, problem = _looked_repairs(features, draft, choice)
    shown = [
        _column_look(column, kinds[column.name], choice, own.get(column.name))
        for column in columns
        if column.name != choice.label
    ]
    return Look(
        [column.name for column in columns],
        shown,
        len(frame),
        with_holes,
        list(dict.fromkeys(notes)),
        problem,
    )


def _looked_repairs(
    columns: list[Column], draft: Draft, choice: Choice
) -> tuple[dict[str, list[Any]], FieldError | None]:
    """The candidates that were typed and fit, and the first ones that do not."""
    found, problem = {}, None
    for column in columns:
        try:
            if column.name in choice.repairs:
                found[column.name] = _typed(column, choice.repairs[column.name], draft, choice)
        except FieldError as error:
            problem = problem or error
    return found, problem


def _column_look(
    column: Column, detected: str, choice: Choice, own: list[Any] | None
) -> ColumnLook:
    n_holes = int(column.missing.sum())
    candidates = _candidates(column) if own is None else listed([str(one) for one in own], 8)
    doubt = column.decision.words.removeprefix("kept, but ")
    return ColumnLook(
        column.name,
        detected,
        choice.kinds.get(column.name, ""),
        n_holes,
        candidates if n_holes else "no holes",
        f"It {doubt}; leave it out?" if column.decision.code in DOUBTS else "",
        column.name in choice.dropped,
        choice.repairs.get(column.name, ""),
    )


def _candidates(column: Column) -> str:
    if not len(column.observed):
        return "no value anywhere: it plays no part"
    return listed([text_of(column.shown(value)) for value in default_values(column)], 8)


def _maybe_null(column: Column) -> str:
    """A remark on a text that often stands for nothing."""
    if column.kind != "categorical":
        return ""
    for value, times in column.frequencies.items():
        if str(value).strip().lower() in _MAYBE_NULL:
            return (
                f"Column {column.name!r} holds {str(value).strip()!r} {count(times, 'time')}. If "
                "it stands for nothing, say so under More settings."
            )
    return ""


# -- building --------------------------------------------------------------------------------------


def project_of(draft: Draft, choice: Choice) -> Project:
    """The project that a person has set up, or an error about what does not fit."""
    share = _number(choice.share, "share", 1, 90, "the share to hold out") / 100
    neighbors = _number(choice.neighbors, "neighbors", 1, 10_000, "the number of neighbours")
    target = _number(choice.target, "target", 1, 100, "the percent to stop at") / 100
    answers = _number(choice.answers, "answers", 1, 9, "the number of people to ask for each row")
    frame = read(draft, draft.path, choice)
    names = [str(name) for name in frame.columns]
    if choice.label not in names:
        raise FieldError("label", "choose the label column: what the others are to predict.")
    if choice.label in choice.dropped:
        raise FieldError("label", f"the label column {choice.label!r} cannot be left out.")
    whole_frame = frame
    frame = frame.drop(columns=[name for name in frame.columns if str(name) in choice.dropped])
    if len(frame.columns) < 2:
        raise FieldError("label", "besides the label, at least one column has to stay.")
    with _noted([]):
        own = _own_repairs(frame, draft, choice)
        held = np.empty(0, np.int64)
        if choice.validation == "file":
            points, labels = _given_points(draft, choice, empty_columns(frame))
        else:
            held = _held_out(frame, choice, share)
            points = frame.iloc[held].drop(columns=choice.label)
            labels = frame[choice.label].iloc[held].to_numpy()
        rest = np.setdiff1d(np.flatnonzero(~_unusable(frame, choice.label)), held)
        table = IncompleteTable(
            frame.iloc[rest],
            label=choice.label,
            repairs=own or "default",
            prior=choice.prior,
            kinds={
                name: kind
                for name, kind in choice.kinds.items()
                if name in frame.columns and name != choice.label
            },
            null_tokens=choice.null_tokens,
            drop_unlabelled=True,
        )
        if not len(table.dataset.dirty_rows):
            raise TableError(
                f"no row of {draft.name!r} has a hole in a column that counts: nothing has to be "
                "cleaned."
            )
        about = {
            "file": draft.name,
            "repairs": None if own else "default",
            "prior": choice.prior,
        }
        settings = Settings(
            Model(neighbors), answers_per_row=answers, target_share=target, about=about
        )
        task = Task.of(
            table,
            points,
            _as_classes(labels, table),
            row_names=rest[table.rows_kept],
            frame=whole_frame,
        )
        return Project.make(task, settings, text=_text(draft, choice))


def _text(draft: Draft, choice: Choice) -> TextFile | None:
    """The file byte by byte, so that the cleaned table differs in what was told only."""
    layout = choice.layout(draft)
    if layout is None:
        return None
    return TextFile.read(draft.path, layout.sep, layout.encoding, layout.decimal)


def _own_repairs(frame: Any, draft: Draft, choice: Choice) -> dict[str, list[Any]]:
    """The candidates that were typed, for each column; the others have the default ones."""
    columns = columns_from(frame, choice.kinds, choice.null_tokens)
    return {
        column.name: _typed(column, choice.repairs[column.name], draft, choice)
        for column in columns
        if column.name in choice.repairs and column.name != choice.label
    }


def _typed(column: Column, words: str, draft: Draft, choice: Choice) -> list[Any]:
    """Candidates with | between them, as the column holds them."""
    parts = [one.strip() for one in words.split("|") if one.strip()]
    if column.kind == "categorical":
        known = {str(value): value for value in column.frequencies}
        return [known.get(one, one) for one in parts]
    layout = choice.layout(draft)
    if column.kind == "numeric" and layout is not None and layout.decimal == ",":
        parts = [re.sub(r"^([+-]?[0-9]*),([0-9]+)$", r"\1.\2", one) for one in parts]
    odd = [one for one in parts if typed_value(column, one) is None]
    if odd or not parts:
        raise FieldError(
            f"values of {column.name}", f"the candidates of {column.name!r} are {column.kind}, "
            f"with | between them, such as {_example(column)}; got {(odd or [words])[0][:40]!r}.",
        )  # fmt: skip
    return parts


def _example(column: Column) -> str:
    values = default_values(column)[:3] if len(column.observed) else ()
    return " | ".join(text_of(column.shown(value)) for value in values) or "1 | 2"


# -- rows to predict -------------------------------------------------------------------------------


def _given_points(draft: Draft, choice: Choice, empty: list[Any]) -> tuple[Any, Any]:
    """Complete rows of the second file, and their labels if it has them."""
    assert draft.points_path is not None, "the choice was offered only with a file"
    known = {name: kind for name, kind in choice.kinds.items() if kind == "categorical"}
    frame = read(draft, draft.points_path, replace(choice, kinds=known))
    frame = frame.drop(columns=[name for name in frame.columns if str(name) in choice.dropped])
    labels = None
    if choice.label in frame.columns:
        labels = frame[choice.label]
        frame = frame.drop(columns=choice.label)
    complete = frame.drop(columns=empty, errors="ignore").notna().all(axis=1).to_numpy()
    if not complete.any():
        raise TableError(
            f"every row of {draft.points_name!r} has holes; rows to predict have to be complete."
        )
    if labels is not None:
        labels = labels[complete].to_numpy() if labels[complete].notna().all() else None
    return frame[complete], labels


def _held_out(frame: Any, choice: Choice, share: float) -> Ints:
    """Complete rows, at random, the same as in the terminal; the table keeps the rest."""
    complete = complete_rows(frame)
    wanted = max(1, round(share * len(frame)))
    labels = frame[choice.label].mask(_unusable(frame, choice.label))
    held = held_out(complete, labels, wanted, SEED)
    if not len(held):
        why = "every label is on one row only" if len(complete) else "no row is complete"
        why = why if labels.notna().any() else f"no row has a label in column {choice.label!r}"
        raise FieldError(
            "share", f"{why}, so that none can be held out. Give complete rows in a file of "
            "their own.",
        )  # fmt: skip
    return held


def _unusable(frame: Any, label: str) -> Bools:
    """The rows that are left out: without a label, or with nothing else."""
    nothing = frame.drop(columns=label).isna().all(axis=1)
    return np.asarray((frame[label].isna() | nothing).to_numpy(), dtype=bool)


def _as_classes(labels: Any, table: IncompleteTable) -> Any:
    """Labels as the table has them; None if there are others among them."""
    if labels is None:
        return None
    spelled = {str(one): one for one in table.dataset.classes.tolist()}
    found = [spelled.get(str(one)) for one in labels.tolist()]
    return None if any(one is None for one in found) else np.array(found)


def _number(given: str, where: str, low: int, high: int, what: str) -> int:
    found = whole(given.strip())
    if found is None or not low <= found <= high:
        raise FieldError(where, f"{what} is a whole number from {low} to {high:,}; got {given!r}.")
    return found


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Warnings become notes on the page."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    notes += _told(seen)


def _told(seen: Iterable[warnings.WarningMessage]) -> list[str]:
    kept = [str(one.message) for one in seen if issubclass(one.category, UserWarning)]
    return [words[:1].upper() + words[1:] for words in dict.fromkeys(kept)]
