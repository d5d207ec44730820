"""What the page of a question shows: cells, fields, what was typed, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cpclean.analysis.words import listed
from cpclean.errors import CPCleanError
from cpclean.storage.events import REASONS
from cpclean.web.desk.cell_views import text_of
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.views import CellView, HolderView, ProgressView, QuestionView
from cpclean.web.desk.why_asked import why
from cpclean.web.pages.answer_fields import fields_of
from cpclean.web.pages.forms import AnswerForm, sentence

MOST_CELLS = 12  # of a wide row, the others are folded away
MOST_HOLES = 8  # that stand among the other cells, too; more would hide these
MOST_HOLDERS = 20  # rows that are offered to be taken over
MOST_PEOPLE = 200  # names that are offered to hand a row over to


def asked_of(
    desk: Desk,
    question: QuestionView,
    sent: AnswerForm | None,
    who: str | None = None,
    error: CPCleanError | None = None,
    strange: Mapping[str, str] | None = None,
    best: bool = True,
) -> dict[str, Any]:
    """The values of the template of a question; `sent` is what came back, with what is wrong.

    `best` is whether it is the best free question, rather than one that the person has chosen.
    """
    said = _said(question)
    if own := desk.own_answer(question.row, who):
        question = replace(question, said=own)
        said = f"You answered: {own}. Others are asked about this row, too."
    asked = [cell for cell in question.cells if cell.hole]
    known = [cell for cell in question.cells if not cell.hole]
    repeated = asked if len(asked) <= MOST_HOLES else []  # each has a field
    first = MOST_CELLS - len(repeated)
    shown = set(map(id, [*repeated, *known[:first]]))
    at = None if error is None else error_column(error, asked, sent)
    words = "" if error is None else sentence(str(error))
    holes = [cell.column for cell in asked]
    return {
        "question": question,
        "fields": fields_of(
            desk.project.table,
            desk.place_of(question.row),
            asked,
            sent,
            strange,
            {at: words} if at else {},
        ),
        "holes": holes,
        "cells": [cell for cell in question.cells if id(cell) in shown],
        "rest": known[first:],
        "error": words,
        "error_at": at,
        "why": why(question, desk.progress(), best),
        "held": question.lease_id is None and question.near > 0 and not question.said,
        "label": _label(desk, question.row),
        "said": said,
        "sent": sent,
        "file": desk.name,
        "reasons": REASONS,
        "record": desk.record(question.row),
        "story": desk.story,
        "image": desk.image(question.row),
        "people": [one for one in desk.people if one != who][:MOST_PEOPLE],
    }


def _label(desk: Desk, row: int) -> tuple[str, str]:
    """The name of the label column, and the label of the row: it tells much about its holes."""
    table = desk.project.table
    return str(table.label or "label"), text_of(table.dataset.labels[desk.place_of(row)])


def _said(question: QuestionView) -> str:
    if not question.said:
        return ""
    who = f"Answered by {listed(question.others)}" if question.others else "You answered"
    return f"{who}: {question.said}."


def error_column(
    error: CPCleanError, asked: Sequence[CellView], sent: AnswerForm | None
) -> str | None:
    """The column beside whose field an error is shown; None if it is about no single one."""
    if sent is None:
        return None
    columns = [cell.column for cell in asked]
    if error.column in columns:
        return error.column
    return columns[0] if len(columns) == 1 else None


def _effort(progress: ProgressView) -> str:
    """What it took: most of the work is what nobody had to do."""
    cleaned, total = f"{progress.answers:,}", f"{progress.rows_total:,}"
    return f"It took answers about {cleaned} of {total} rows with holes."


def _reason(progress: ProgressView) -> str:
    return sentence(f"{progress.stopped or 'every row with holes is answered or skipped'}.")


def nothing_to_ask(
    progress: ProgressView, holders: Sequence[HolderView] | None = None
) -> dict[str, Any]:
    """What is shown while there is nothing to ask.

    `holders` are the rows that others have open and that this person could take over; if there are
    none though rows are left, these are for others.
    """
    if progress.all_settled:
        what = "completion" if progress.points_with_holes else "prediction"
        then = "Whatever is in the other holes, no further answer would change a prediction."
        if not progress.all_certain:
            then = (
                f"For each prediction that is not certain, one label holds at least "
                f"{100 * progress.sure_level:.4g}% of what may be in the other holes."
            )
        promise = "certain" if progress.all_certain else progress.standing.promise
        return {
            "good": True,
            "wait": False,
            "heading": f"You can stop now: every {what} is {promise}",
            "words": f"{_effort(progress)} {then}",
        }
    if progress.busy or progress.trouble:
        return {
            "good": False,
            "wait": True,
            "heading": "One moment",
            "words": progress.trouble or "The next question is being worked out.",
        }
    if progress.stopped or progress.rows_left == 0:
        return {
            "good": progress.done,
            "wait": False,
            "heading": "There is nothing more to ask",
            "words": _reason(progress),
        }
    if holders is not None and not holders:
        return {
            "good": False,
            "wait": True,
            "heading": "There is nothing more to ask you",
            "words": "The rows that are left are for other people. If one is handed over to you, "
            "it appears here by itself.",
        }
    return {
        "good": False,
        "wait": True,
        "holders": (holders or [])[:MOST_HOLDERS],
        "heading": "All open questions are assigned",
        "words": "Other people are working on them. The next question that becomes free appears "
        "here by itself.",
    }
