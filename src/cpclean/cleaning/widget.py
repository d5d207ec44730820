"""A widget for notebooks: one question at a time, answered into the session itself.

The script beside this module, widget.js, draws `state` and sends what people do as messages. It
holds nothing: all that is known is in the session. Nothing is loaded from a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from cpclean.cleaning.asked_fields import asked, standing
from cpclean.cleaning.question import Question
from cpclean.data.between import Between
from cpclean.data.values import in_words
from cpclean.errors import AnswerError, CPCleanError
from cpclean.intake.plausible import unusual
from cpclean.intake.typed_values import values_typed


def _beside(name: str) -> str:
    return (files("cpclean.cleaning") / name).read_text("utf-8")


class SessionWidget(anywidget.AnyWidget):
    """What `CleaningSession.widget` returns; the last line of a cell shows it.

    Attributes
    ----------
    session : CleaningSession
        The session that it asks for, which every answer changes.
    state : dict
        What is shown, in values of JSON.
    """

    _esm = _beside("widget.js")
    _css = _beside("widget.css")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Any) -> None:
        if session.view.table is None:
            raise CPCleanError(
                "the widget asks for cells of a table, and this session is over vectors.",
                "Make the session of an IncompleteTable, or use ask and tell.",
            )
        super().__init__()
        self.session = session
        self._turn = 0
        self._question: Question | None = None
        self._doubted: tuple[int, dict[str, Any]] | None = None  # what was asked back, and where
        self.on_msg(self._receive)
        self.refresh()

    def refresh(self) -> None:
        """Show what is asked now; only needed if the session was changed elsewhere."""
        self._show("")

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person did in the widget.

        Parameters
        ----------
        message : dict
            {"do": "answer", "row": 3, "values": {"age": "41"}}, with texts as they were typed or,
            for what is known only roughly, {"between": [20, 40]}; {"do": "skip", "row": 3}; or
            {"do": "undo"}.
        """
        try:
            said, wrong = self._done(message), {}
        except CPCleanError as problem:
            said, wrong = "", {"column": problem.column or "", "words": _sentence(str(problem))}
        except BaseException:
            self._show("")  # whatever happens, the buttons have to work again
            raise
        self._show(said, wrong, message if wrong else {})

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, Mapping):
            self.act(content)

    def _done(self, message: Mapping[str, Any]) -> str:
        """Do it, and say in a sentence what was done."""
        what = message.get("do")
        if what == "undo":
            if not self.session.answers:
                raise AnswerError("there is nothing to undo.")
            (last,) = self.session.answers[-1:]
            self.session.undo()
            return f"Undone: {self._named(last['row'])}." if "row" in last else "Undone."
        row = message.get("row")
        if what == "skip":
            self.session.skip(row)
            return f"Not asked again: {self._named(row)}."
        if what != "answer":
            raise AnswerError(f"a message must say answer, skip or undo; got {what!r}.")
        view, row = self.session.view, self.session.question(row).row
        values = values_typed(view.table, row, list(view.cells(row)), message.get("values") or {})
        self._ask_back(row, values)
        self.session.tell(row, value=values)
        told = ", ".join(f"{name} = {_said(value)}" for name, value in values.items())
        return f"Saved: {self._named(row)}, {told}."

    def _ask_back(self, row: int, values: dict[str, Any]) -> None:
        """Ask once whether values that are unlike all others are right."""
        strange = unusual(self.session.view.table, values)
        again = self._doubted == (row, values)
        self._doubted = None if again or not strange else (row, values)
        if strange and not again:
            column, words = next(iter(strange.items()))
            raise AnswerError(f"{words} Save once more to keep it.", column=column)

    def _named(self, row: Any) -> str:
        own = self.session.frame_row(row)
        return f"row {row}" if own == row else f"row {row} (in the frame: {own})"

    def _show(
        self,
        said: str,
        wrong: Mapping[str, Any] | None = None,
        sent: Mapping[str, Any] | None = None,
    ) -> None:
        session, self._turn = self.session, self._turn + 1
        if not wrong:  # otherwise the same question again
            self._question = session.ask()
        question = self._question
        self.state = {
            "turn": self._turn,  # the same state twice is news, too
            "question": None if question is None else asked(session.view, question),
            "standing": standing(session.view),
            "stopped": session.stopped or "",
            "undoable": bool(session.answers),
            "said": said,
            "wrong": dict(wrong or {}),
            "sent": dict((sent or {}).get("values") or {}),
        }


def _said(value: Any) -> str:
    if not isinstance(value, Between):
        return in_words(value)
    low, high = (None if end is None else in_words(end) for end in (value.low, value.high))
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"between {low} and {high}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
