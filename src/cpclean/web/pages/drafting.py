"""From an uploaded file and a form to what the second step shows, and to a project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any

import numpy as np

from cpclean.analysis.words import listed
from cpclean.cleaning.settings import usual_gains_by, usual_strategy
from cpclean.data.columns import OTHER, Column
from cpclean.data.decisions import DOUBTS, IGNORED
from cpclean.data.domains import plain_frame
from cpclean.data.frames import columns_from
from cpclean.data.repairs import default_values
from cpclean.errors import CPCleanError, TableError
from cpclean.intake.checking import check_columns, check_rows, check_words, leaves_notes
from cpclean.intake.choices import Choices
from cpclean.intake.notes import IntakeError, Note
from cpclean.intake.open_task import Remark, noted, open_task, read_whole
from cpclean.intake.predicting import as_classes, rows_to_predict
from cpclean.intake.remarks import column_notes
from cpclean.intake.sentences import parts, said
from cpclean.intake.tidying import Tidying, tidied
from cpclean.intake.typed_repairs import typed_candidates
from cpclean.intake.writing import as_pandas
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import usual_model
from cpclean.web.desk.cell_views import text_of
from cpclean.web.desk.naming_rows import naming
from cpclean.web.desk.row_images import chosen_image
from cpclean.web.pages.drafts import Draft, Files, SetupForm, likely_label
from cpclean.web.pages.forms import FieldError, sentence

MOST_NOTES, LONGEST_NOTE = 50, 1000  # that stay with a project


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
class FileLook:
    """What the second step shows of a file."""

    names: list[str]
    label: str  # that was chosen, or else is likely by its name
    columns: list[ColumnLook]
    n_rows: int
    rows_with_holes: int
    notes: list[str]
    problem: CPCleanError | None = None  # the first candidates that were typed and do not fit


# -- looking ---------------------------------------------------------------------------------------


def look(draft: Draft, form: SetupForm, files: Files | None = None) -> FileLook:
    """The columns of a file under the choices so far; files that are open already are used."""
    files = files or draft.files()
    source, choices = files.table, form.choices(files)
    notes: list[Remark] = []
    with noted(notes):
        whole = read_whole(source, replace(choices, kinds={}))
        choices = _of_columns(choices, map(str, plain_frame(whole).columns))
        frame, about_cells, tidying = tidied(whole, choices)
        columns = detected = columns_from(_finite(frame), {}, choices.null_tokens)
        if choices.kinds:  # otherwise all is as it was detected
            frame, about_cells, tidying = tidied(read_whole(source, choices), choices)
            columns = columns_from(_finite(frame), choices.kinds, choices.null_tokens)
        notes += [*about_cells, *check_words(plain_frame(whole), frame, source, choices)]
    features = [one for one in columns if one.name not in {choices.label, *choices.drop}]
    holes = [column.missing for column in features]
    with_holes = int(np.any(holes, axis=0).sum()) if holes else 0
    remarks = column_notes(features)
    about = {one.column: one for one in remarks if one.code in DOUBTS}
    others = [one for one in remarks if one.code not in (*DOUBTS, *IGNORED)]
    own, problem = _looked_repairs(features, choices)
    kinds = {column.name: column.kind for column in detected}
    shown = [
        _column_look(column, kinds[column.name], form, own.get(column.name), about)
        for column in columns
        if column.name != choices.label
    ]
    shown.sort(key=lambda one: (one.dropped, not one.holes))  # what people have to look at first
    said_of_rows = _row_notes(frame, files, tidying, form)
    words = [_words(one, form.share) for one in (*said_of_rows, *notes, *others)]
    return FileLook(
        [column.name for column in columns],
        choices.label,
        shown,
        len(frame),
        with_holes,
        list(dict.fromkeys(words)),
        problem,
    )


def _of_columns(choices: Choices, names: Iterable[str]) -> Choices:
    """Without what was chosen about columns that the file does not have, as it is read now."""
    known = list(names)
    return replace(
        choices,
        label=choices.label if choices.label in known else likely_label(known),
        kinds={name: kind for name, kind in choices.kinds.items() if name in known},
        drop=tuple(name for name in choices.drop if name in known),
    )


def _finite(frame: Any) -> Any:
    """A frame to look at: infinite numbers are refused only when it is used."""
    return frame.replace([np.inf, -np.inf], np.nan)


def _row_notes(frame: Any, files: Files, tidying: Tidying, form: SetupForm) -> list[Note]:
    """What would be refused or left out if the person started now."""
    choices = tidying.choices
    if choices.label not in frame.columns:
        return []
    try:
        check_columns(frame, choices)
        frame = frame.drop(columns=list(choices.drop))
        left_out = check_rows(frame, files.table, choices)
        found = rows_to_predict(frame, files.table, tidying, form.to_predict(files))
        labels = frame[choices.label].dropna()
        gone = [row for note in left_out for row in note.rows]
        gone += found.numbers.tolist() if found.held_out else []
        learnt = labels.drop(labels.index.intersection(frame.index[gone]))
        about_labels = as_classes(found, labels.unique().tolist())[1]
        return [*left_out, *leaves_notes(learnt, choices), *found.notes, *about_labels]
    except IntakeError as error:
        return [error.note]
    except FieldError:  # told when the person starts
        return []


def _looked_repairs(
    columns: list[Column], choices: Choices
) -> tuple[dict[str, list[Any]], CPCleanError | None]:
    """The candidates that were typed and fit, and the first ones that do not."""
    found, problem = {}, None
    typed = {} if isinstance(choices.repairs, str) else choices.repairs
    for column in columns:
        try:
            if column.name in typed:
                found[column.name] = typed_candidates(column, typed[column.name], choices)
        except CPCleanError as error:
            problem = problem or error
    return found, problem


def _column_look(
    column: Column,
    detected: str,
    form: SetupForm,
    own: list[Any] | None,
    about: dict[str | None, Note],
) -> ColumnLook:
    n_holes = int(column.missing.sum())
    candidates = _candidates(column) if own is None else listed([str(one) for one in own], 8)
    note = about.get(column.name)
    return ColumnLook(
        column.name,
        detected,
        form.kinds.get(column.name, ""),
        n_holes,
        candidates if n_holes else "no holes",
        "" if note is None else sentence(parts(note, "page")[0]),
        column.name in form.dropped,
        form.repairs.get(column.name, ""),
    )


def _candidates(column: Column) -> str:
    if not column.n_observed:
        return "no value anywhere: it plays no part"
    values = [column.shown(one) for one in default_values(column)]
    if column.kind == "date" and _are_days(column):
        values = [one.date() if isinstance(one, datetime) else one for one in values]
    texts = ["any other" if one is OTHER else text_of(one, column) for one in values]
    return listed(texts, 8)


def _are_days(column: Column) -> bool:
    """Whether a column of dates has no times."""
    return all(
        isinstance(one, datetime) and one.time() == time.min
        for one in column.all_shown(column.observed[:1000])
    )


def kept_notes(notes: Iterable[Remark], share: float | str) -> dict[str, list[str]]:
    """What was said about the table when it was opened, for the `about` of its project.

    Parameters
    ----------
    notes : iterable of notes
    share : float or str
        The percentage of the rows that was to be held out, if any was.
    """
    kept = [_words(one, share)[:LONGEST_NOTE] for one in notes][:MOST_NOTES]
    return {"notes": kept} if kept else {}


def _words(note: Remark, share: float | str) -> str:
    """A note in words; of rows that are held out, also why."""
    words = sentence(said(note, "page"))
    if not isinstance(note, Note) or note.code != "held_out":
        return words
    of = f"{share:g}" if isinstance(share, float) else share
    return (
        f"{words} They are about {of}% of the rows of each label, chosen at random, because no "
        "file of rows to predict was given. They are not learnt from, and nobody is asked about "
        "their holes."
    )


# -- building --------------------------------------------------------------------------------------


def project_of(draft: Draft, form: SetupForm, files: Files | None = None) -> Project:
    """The project that a person has set up, or an error about what does not fit."""
    files = files or draft.files()
    numbers = {name: form.number(name) for name in ("share", "target", "answers")}
    n_neighbors = form.n_neighbors
    choices = form.choices(files)
    opened = open_task(files.table, choices, form.to_predict(files))
    if not len(opened.task.dataset.dirty_rows):
        raise TableError(
            f"no row of {draft.name!r} has a hole in a column that counts: nothing has to be "
            "cleaned."
        )
    names = as_pandas(plain_frame(opened.task.frame)).columns
    about = {
        "file": draft.name,
        "repairs": choices.repairs if isinstance(choices.repairs, str) else None,
        "prior": choices.prior,
        **kept_notes(opened.notes, form.share),
        **naming(form.named_by.split(","), form.link, names),
        **chosen_image(form.image, names, None),  # files of the table's folder are not uploaded
    }
    settings = Settings(
        usual_model(opened.task.dataset, n_neighbors),
        answers_per_row=numbers["answers"],
        target_share=numbers["target"] / 100,
        about=about,
        sure=form.level,
        strategy=usual_strategy(form.level),
        gains_by=usual_gains_by(form.level),
    )
    return Project.make(opened.task, settings, text=opened.original.text)
