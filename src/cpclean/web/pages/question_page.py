"""What the page of a question shows: cells, choices, what was typed, and where it went wrong."""

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
from cpclean.web.desk.cell_views import said_text, text_of
from cpclean.web.desk.listing import own_word
from cpclean.web.desk.views import CellView, ProgressView, QuestionView
from cpclean.web.pages.forms import AnswerForm
from cpclean.web.pages.wording import why

MOST_BUTTONS = 12  # combinations of several holes that are listed; more are chosen hole by hole
MOST_CELLS = 12  # of a wide row, the others are folded away


@dataclass(frozen=True)
class Choice:
    """A value of one hole, how likely it is, and what it would settle about."""

    text: str
    prior: float
    settles: str = ""


def asked_of(
    desk: Any, question: QuestionView, sent: AnswerForm | None, who: str | None = None
) -> dict[str, Any]:
    """The values of the template of a question; `sent` is what came back with an error."""
    said = _said(question)
    if own := own_word(desk.engine.now, question.row, who):
        question = replace(question, said=own)
        said = f"You answered: {own}. Others are asked for this row, too."
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
        "why": "" if question.said else why(question),
        "held": question.lease_id is None and question.near > 0 and not question.said,
        "chosen": [
            one.number for one in question.candidates if question.said == said_text(one.cells)
        ],
        "label": _label(desk, question.row),
        "marks": _marks(desk, question.row, [cell.column for cell in asked]),
        "said": said,
    }


def _choices(
    desk: Any, question: QuestionView, asked: Sequence[CellView]
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
    """How many predictions a value settles, over the listed candidates that have it."""
    like = [
        one.settles
        for one in question.candidates
        if one.settles is not None and one.cells.get(column) == text
    ]
    if not like:
        return ""  # not worked out yet
    low, high = min(like), max(like)
    return "none" if not high else f"{high}" if low == high else f"{low}–{high}"


def _own_values(desk: Any, row: int) -> dict[str, list[Choice]]:
    """The values of each cell of a row whose candidates are all combinations; else nothing."""
    table = desk.project.table
    inside = table.options_in_space(row)
    if inside.joint:
        return {}
    priors = {_first(cell): cell.prior for cell in table.dataset.cells(row)}
    found = {}
    for number, values in zip(inside.cells, inside.values, strict=True):
        column, start = table.columns[number], table.encoding.features[number].start
        shares = np.asarray(priors.get(start, [1.0]), dtype=float)  # a cell of one value has none
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
    """The choices that say what was said of the row before; none if something else was."""
    found = {
        column: one.text
        for column, listing in choices.items()
        for one in listing
        if said_text({column: one.text}) in (question.said or "")
    }
    return found if found and said_text(found) == question.said else {}


def _marks(desk: Any, row: int, asked: Sequence[str]) -> list[str]:
    """What candidates mean that are no values of the table."""
    table = desk.project.table
    options = table.options_of(row)
    found = []
    for cell, values in zip(options.cells, options.values, strict=True):
        column = table.columns[cell]
        for mark in dict.fromkeys(one for one in values if is_mark(one)):
            if column.name in asked:
                stands = "that the cell is meant to be empty" if mark is ABSENT else (
                    "a value that is not listed: if you know it, type it instead"
                )  # fmt: skip
                found.append(f"“{text_of(mark, column)}” stands for {stands}.")
    return list(dict.fromkeys(found))


def _label(desk: Any, row: int) -> tuple[str, str]:
    """The name of the label column, and the label of the row: it tells much about its holes."""
    table = desk.project.table
    return str(table.label or "label"), text_of(table.dataset.labels[row])


def _said(question: QuestionView) -> str:
    if not question.said:
        return ""
    who = f"Answered by {listed(question.others)}" if question.others else "You answered"
    return f"{who}: {question.said}."


def candidate_like(desk: Any, sent: AnswerForm) -> int | None:
    """The candidate that has what was chosen in all holes; None if something was typed.

    What a page shows is rounded, a candidate is not: where one is meant, it is named.
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
        text = sent.picked.get(name, texts[0])  # of what was told before the desk takes no notice
        if text not in texts:
            return None
        number = number * len(texts) + texts.index(text)
    return number


def where(error: Exception, asked: Sequence[CellView], sent: AnswerForm | None) -> str | None:
    """The column that an error is about; None if it is about none."""
    if sent is None or sent.candidate is not None:
        return None
    if isinstance(error, CPCleanError) and error.column in {cell.column for cell in asked}:
        return error.column
    return asked[0].column if len(asked) == 1 else None


def all_certain(progress: ProgressView) -> bool:
    """Whether nobody has to answer anything more."""
    return progress.certain == progress.points > 0


def _effort(progress: ProgressView) -> str:
    """What it took: most of the work is what nobody had to do."""
    cleaned, total = f"{progress.answers:,}", f"{progress.rows_total:,}"
    return f"It took {cleaned} of {total} rows with holes."


def page_of(progress: ProgressView) -> dict[str, Any]:
    """What is shown while there is nothing to ask."""
    if all_certain(progress):
        return {
            "good": True, "wait": False, "heading": "You can stop now: every prediction is certain",
            "words": f"{_effort(progress)} Whatever the other holes hold, no answer would change "
            "a prediction.",
        }  # fmt: skip
    if progress.busy or progress.trouble:
        return {
            "good": False, "wait": True, "heading": "One moment",
            "words": progress.trouble or "The next question is being worked out.",
        }  # fmt: skip
    if progress.stopped or progress.rows_left == 0:
        return {
            "good": progress.done, "wait": False, "heading": "There is nothing more to ask",
            "words": progress.stopped or "Every row with holes was answered or skipped.",
        }  # fmt: skip
    return {
        "good": False, "wait": True, "heading": "Others are at it",
        "words": "All open questions are with other people. "
        "The next one that becomes free is shown here by itself.",
    }  # fmt: skip
