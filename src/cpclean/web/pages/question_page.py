"""What the page of a question shows: cells, choices, what was typed, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.analysis.words import listed
from cpclean.data.columns import ABSENT
from cpclean.data.rows import Cell
from cpclean.data.values import is_mark
from cpclean.errors import CPCleanError
from cpclean.web.desk.cell_views import line_of, text_of
from cpclean.web.desk.desk import Desk
from cpclean.web.desk.views import CellView, ProgressView, QuestionView
from cpclean.web.pages.forms import AnswerForm, sentence
from cpclean.web.pages.wording import why

MOST_BUTTONS = 12  # combinations of several holes that are listed; more are chosen hole by hole
MOST_CELLS = 12  # of a wide row, the others are folded away


@dataclass(frozen=True)
class Choice:
    """A value of one hole, how likely it is, and how many predictions it would settle."""

    text: str
    prior: float
    settles: str = ""


def asked_of(
    desk: Desk, question: QuestionView, sent: AnswerForm | None, who: str | None = None
) -> dict[str, Any]:
    """The values of the template of a question; `sent` is what came back with an error."""
    said = _said(question)
    if own := desk.own_answer(question.row, who):
        question = replace(question, said=own)
        said = f"You answered: {own}. Others are asked about this row, too."
    settled = "certain" if desk.project.settings.sure is None else "settled"
    asked = [cell for cell in question.cells if cell.hole]
    known = [cell for cell in question.cells if not cell.hole]
    many = max(question.n_candidates, len(question.candidates)) > MOST_BUTTONS
    by_column = many and len(asked) > 1
    choices = _choices(desk, question, asked) if by_column else {}
    first = max(0, MOST_CELLS - len(asked))
    shown = set(map(id, [*asked, *known[:first]]))
    return {
        "question": question,
        "asked": asked,
        "holes": [cell.column for cell in asked],
        "cells": [cell for cell in question.cells if id(cell) in shown],
        "rest": known[first:],
        "by_column": by_column,
        "choices": choices,
        "picked": _said_before(question, choices) if sent is None else sent.picked,
        "typed": {} if sent is None else sent.typed,
        "why": "" if question.said else why(question, settled),
        "held": question.lease_id is None and question.near > 0 and not question.said,
        "chosen": [
            one.number for one in question.candidates if question.said == line_of(one.cells)
        ],
        "label": _label(desk, question.row),
        "marks": _marks(desk, question.row, [cell.column for cell in asked]),
        "said": said,
    }


def _choices(
    desk: Desk, question: QuestionView, asked: Sequence[CellView]
) -> dict[str, list[Choice]]:
    """For each hole all its values, in their order, and how likely each is."""
    own = _own_values(desk, question.row)
    found = {}
    for cell in asked:
        choices = own[cell.column] if cell.column in own else _listed(question, cell.column)
        found[cell.column] = [
            replace(one, settles=_settles(question, cell.column, one.text)) for one in choices
        ]
    return found


def _settles(question: QuestionView, column: str, text: str) -> str:
    """How many predictions a value would settle, over the listed candidates that have it."""
    like = [
        one.settles
        for one in question.candidates
        if one.settles is not None and one.cells.get(column) == text
    ]
    if not like:
        return ""  # not worked out yet
    low, high = min(like), max(like)
    return "none" if not high else f"{high}" if low == high else f"{low}–{high}"


def _own_values(desk: Desk, row: int) -> dict[str, list[Choice]]:
    """The values of each cell of a row whose candidates are all combinations; else nothing."""
    table = desk.project.table
    inside = table.options_in_space(row)
    if inside.joint:
        return {}
    priors = {_first(cell): cell.prior for cell in table.dataset.cells(row)}
    found = {}
    for number, values in zip(inside.cells, inside.values, strict=True):
        column, feature = table.columns[number], table.space.features[number]
        assert feature is not None, "cells outside the space are left out"
        shares = np.asarray(priors.get(feature.start, [1.0]), dtype=float)  # none for one value
        found[column.name] = [
            Choice(text_of(column.shown(value), column), share)
            for value, share in zip(values, shares.tolist(), strict=True)
        ]
    return found


def _first(cell: Cell) -> int:
    return cell.column if isinstance(cell.column, int) else cell.column[0]


def _listed(question: QuestionView, column: str) -> list[Choice]:
    """The values that the listed candidates have in a column."""
    mass: dict[str, float] = {}
    for one in question.candidates:
        text = one.cells.get(column, "")
        mass[text] = mass.get(text, 0.0) + one.prior
    total = sum(mass.values()) or 1.0
    return [Choice(text, share / total) for text, share in mass.items()]


def _said_before(question: QuestionView, choices: dict[str, list[Choice]]) -> dict[str, str]:
    """The choices that say what was answered before; none if something else was."""
    found = {
        column: one.text
        for column, listing in choices.items()
        for one in listing
        if line_of({column: one.text}) in (question.said or "")
    }
    return found if found and line_of(found) == question.said else {}


def _marks(desk: Desk, row: int, asked: Sequence[str]) -> list[str]:
    """What candidates mean that are not values of the table."""
    table = desk.project.table
    options = table.options_of(row)
    found = []
    for cell, values in zip(options.cells, options.values, strict=True):
        column = table.columns[cell]
        for mark in dict.fromkeys(one for one in values if is_mark(one)):
            if column.name in asked:
                means = (
                    "means that the cell is meant to be empty"
                    if mark is ABSENT
                    else "stands for a value that is not listed. If you know it, type it instead"
                )
                found.append(f"“{text_of(mark, column)}” {means}.")
    return list(dict.fromkeys(found))


def _label(desk: Desk, row: int) -> tuple[str, str]:
    """The name of the label column, and the label of the row: it tells much about its holes."""
    table = desk.project.table
    return str(table.label or "label"), text_of(table.dataset.labels[row])


def _said(question: QuestionView) -> str:
    if not question.said:
        return ""
    who = f"Answered by {listed(question.others)}" if question.others else "You answered"
    return f"{who}: {question.said}."


def candidate_like(desk: Desk, sent: AnswerForm) -> int | None:
    """The candidate that has what was chosen in all holes; None if something was typed.

    A page shows rounded numbers, candidates are not rounded: where one is meant, it is named.
    """
    own = _own_values(desk, sent.row)
    known = {name: text for name, text in sent.values.items() if name in own}
    if not sent.picked or sent.values != sent.picked or known != sent.picked:
        return None
    if set(sent.typed) != set(sent.picked):
        return None  # a hole was left open
    number = 0
    for name, choices in own.items():  # in the order of the candidates: the last cell runs fastest
        texts = [one.text for one in choices]
        text = sent.picked.get(name, texts[0])  # the desk leaves out what is known already
        if text not in texts:
            return None
        number = number * len(texts) + texts.index(text)
    return number


def error_column(
    error: CPCleanError, asked: Sequence[CellView], sent: AnswerForm | None
) -> str | None:
    """The column beside whose field an error is shown; None if it is about no single one."""
    if sent is None or sent.candidate is not None:
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


def nothing_to_ask(progress: ProgressView) -> dict[str, Any]:
    """What is shown while there is nothing to ask."""
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
    return {
        "good": False,
        "wait": True,
        "heading": "All open questions are assigned",
        "words": "Other people are working on them. The next question that becomes free appears "
        "here by itself.",
    }
