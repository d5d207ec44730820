"""The shares of predictions that were sure after earlier answers, worked out one by one.

A session without a level does not look at them after every answer. Each is kept with the record of
the last answer before it: after an undo, other answers have other records.
"""

from __future__ import annotations

from cpclean.analysis.verdict_course import course_places, sure_after
from cpclean.cleaning.state import Record
from cpclean.cleaning.view import SessionView


class SureShares:
    """What is known so far; read by requests while the engine adds to it."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Record | None, float | None]] = {}

    def keep(self, view: SessionView) -> None:
        """Keep the present share, which somebody has asked the session for."""
        last = _last(view, len(view.history))
        self._found[id(last)] = (last, view.sure_share)

    def look(self, view: SessionView) -> bool:
        """Work out one share that is lacking; whether there was any."""
        if view.sure is not None or not view.history:
            return False
        for answers in course_places(len(view.history)):
            last = _last(view, answers)
            if not self._has(last):
                self._found[id(last)] = (last, sure_after(view, answers))
                return True
        return False

    def curve(self, view: SessionView) -> list[tuple[int, float]]:
        """The shares that were certain or sure after some numbers of answers."""
        found = []
        for answers in sorted({*course_places(len(view.history)), len(view.history)}):
            last = _last(view, answers)
            share = self._found[id(last)][1] if self._has(last) else None
            if share is not None:
                found.append((answers, share))
        return found

    def _has(self, last: Record | None) -> bool:
        return id(last) in self._found and self._found[id(last)][0] is last


def _last(view: SessionView, answers: int) -> Record | None:
    """The record of an answer; None before the first one."""
    return view.history[answers - 1] if answers else None
