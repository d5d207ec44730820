"""From an uploaded file and what a person chose to a project."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.data.columns import KINDS, Column
from cpclean.data.frames import columns_from
from cpclean.data.holding import complete_rows, empty_columns, held_out
from cpclean.data.incomplete import Ints
from cpclean.data.reading import read_table
from cpclean.data.repairs import default_values
from cpclean.data.table import Bools, IncompleteTable
from cpclean.data.textfile import TextFile
from cpclean.errors import CPCleanError, TableError
from cpclean.report.words import count, listed
from cpclean.storage.project import Project, Settings
from cpclean.web.cells import text_of
from cpclean.web.forms import MOST_HOLES, FieldError, text, whole

PRIORS = (
    ("label", "as often as among rows of the same label"),
    ("observed", "as often as in the column"),
    ("uniform", "all alike"),
)
# Names that label columns often have, the likeliest first; otherwise nobody guesses.
_LABELS = ("label", "target", "class", "y", "outcome", "species")
_TYPED = ("share", "neighbors", "null", "target", "answers")
_MAYBE_NULL = ("?", "-", "--", "unknown", "missing")
MOST_COLUMNS = MOST_HOLES
LONGEST_VALUES = 2000  # characters of the candidates that are typed for a column
SEED = 0  # of the rows that are held out


@dataclass(frozen=True)
class Draft:
    """Files that were uploaded, under names of ours; `name` is what the person calls it."""

    id: str
    name: str
    path: Path
    points_name: str = ""
    points_path: Path | None = None

    def remove(self) -> None:
        """Delete the files."""
        for path in (self.path, self.points_path):
            if path is not None:
                path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Choice:
    """What a person chose in the second step; numbers stay text until they are used."""

    label: str = ""
    validation: str = "share"
    share: str = "20"
    neighbors: str = "3"
    prior: str = "label"
    null: str = ""
    target: str = "100"
    answers: str = "1"
    kinds: dict[str, str] = field(default_factory=dict)
    repairs: dict[str, str] = field(default_factory=dict)  # candidates of a column, with | between
    dropped: frozenset[str] = frozenset()

    @classmethod
    def first(cls, draft: Draft) -> Choice:
        """What is proposed for a file; an error if it cannot be read."""
        frame = read(draft, draft.path, cls())
        if len(frame.columns) > MOST_COLUMNS:
            raise TableError(
                f"{draft.name} has {len(frame.columns):,} columns; the most is {MOST_COLUMNS:,}. "
                "Leave out those that say nothing about the label."
            )
        names = {str(name).strip().lower(): str(name) for name in frame.columns}
        label = next((names[one] for one in _LABELS if one in names), "")
        return cls(label=label, validation="file" if draft.points_path else "share")

    def without_kinds(self) -> Choice:
        """The same with all kinds as they are detected."""
        return replace(self, kinds={})

    @property
    def null_tokens(self) -> tuple[str, ...]:
        """Texts that stand for nothing."""
        return tuple(self.null.split())


def choice_of(form: Mapping[str, Any], draft: Draft) -> Choice:
    """The choices as they were sent, whatever they are worth."""
    kinds, repairs, dropped = {}, {}, set()
    for at in range(MOST_COLUMNS):
        if f"column-{at}" not in form:
            break
        name, kind = text(form, f"column-{at}"), text(form, f"kind-{at}")
        if kind in KINDS:
            kinds[name] = kind
        if typed_values := text(form, f"values-{at}").strip():
            repairs[name] = typed_values[:LONGEST_VALUES]
        if text(form, f"drop-{at}"):
            dropped.add(name)
    by_file = text(form, "validation") == "file" and draft.points_path is not None
    prior = text(form, "prior")
    typed = {name: text(form, name)[:40] for name in _TYPED}
    return Choice(
        label=text(form, "label"),
        validation="file" if by_file else "share",
        prior=prior if prior in dict(PRIORS) else "label",
        kinds=kinds,
        repairs=repairs,
        dropped=frozenset(dropped),
        **typed,
    )


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


def look(draft: Draft, choice: Choice) -> Look:
    """The columns of a file under the choices so far."""
    notes: list[str] = []
    with _noted(notes):
        plain = read(draft, draft.path, choice.without_kinds())
        detected = columns_from(plain, {}, choice.null_tokens)
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
    shown = [
        _column_look(column, kinds[column.name], choice)
        for column in columns
        if column.name != choice.label
    ]
    names = [column.name for column in columns]
    return Look(names, shown, len(frame), with_holes, list(dict.fromkeys(notes)))


def _column_look(column: Column, detected: str, choice: Choice) -> ColumnLook:
    n_holes = int(column.missing.sum())
    doubt = column.treatment.removeprefix("kept, but ")
    return ColumnLook(
        column.name,
        detected,
        choice.kinds.get(column.name, ""),
        n_holes,
        _candidates(column) if n_holes else "no holes",
        f"It {doubt}; leave it out?" if doubt != column.treatment else "",
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
        own = _own_repairs(frame, choice)
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
                f"no row of {draft.name} has a hole in a column that counts: nothing has to be "
                "cleaned."
            )
        about = {
            "file": draft.name,
            "rows": rest[table.rows_kept].tolist(),
            "repairs": None if own else "default",
            "prior": choice.prior,
        }
        settings = Settings(
            n_neighbors=neighbors, answers_per_row=answers, target_share=target, about=about
        )
        return Project.make(
            table,
            points,
            _as_classes(labels, table),
            settings,
            whole_frame,
            TextFile.read(draft.path),
        )


def _own_repairs(frame: Any, choice: Choice) -> dict[str, list[Any]]:
    """The candidates that were typed, for each column; the others have the default ones."""
    columns = columns_from(frame, choice.kinds, choice.null_tokens)
    return {
        column.name: _typed(column, choice.repairs[column.name])
        for column in columns
        if column.name in choice.repairs and column.name != choice.label
    }


def _typed(column: Column, words: str) -> list[Any]:
    """Candidates with | between them, as the column holds them."""
    parts = [one.strip() for one in words.split("|") if one.strip()]
    if column.kind == "categorical":
        known = {str(value): value for value in column.frequencies}
        return [known.get(one, one) for one in parts]
    odd = [one for one in parts if not _fits(column, one)]
    if odd or not parts:
        raise FieldError(
            f"values of {column.name}", f"the candidates of {column.name!r} are {column.kind}, "
            f"with | between them, such as {_example(column)}; got {(odd or [words])[0][:40]!r}.",
        )  # fmt: skip
    return parts


def _fits(column: Column, words: str) -> bool:
    try:
        return bool(np.isfinite(column.stored(words)))
    except CPCleanError:
        return False


def _example(column: Column) -> str:
    values = default_values(column)[:3] if len(column.observed) else ()
    return " | ".join(text_of(column.shown(value)) for value in values) or "1 | 2"


def read(draft: Draft, path: Path, choice: Choice) -> Any:
    """A file of a draft; errors call it by the name that people know."""
    called = draft.name if path == draft.path else draft.points_name
    kinds = {} if path != draft.path else choice.kinds
    try:
        return read_table(path, null_tokens=choice.null_tokens, kinds=kinds)
    except CPCleanError as error:
        words = str(error).replace(repr(str(path)), called).replace(str(path), called)
        raise TableError(words) from error


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
            f"every row of {draft.points_name} has holes; rows to predict have to be complete."
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
