"""Which columns matter most, worked out in a thread of its own while people answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Thread

from cpclean.analysis.column_effects import (
    MOST_SECONDS,
    ColumnEffect,
    effects_in_session,
    settles_in_words,
)
from cpclean.cleaning.view import SessionView

REST_SECONDS = 10.0  # between two looks: while people answer, each takes time from the others

BEING_WORKED_OUT = "This is being worked out."
TOO_LONG = (
    f"This would take more than {MOST_SECONDS:g} seconds for this table, and is not worked out."
)
FAILED = "This could not be worked out; the log of the server says why."

log = logging.getLogger("cpclean.web")


@dataclass(frozen=True)
class ColumnsNow:
    """What each column with holes would settle, the most important one first.

    Attributes
    ----------
    effects : list of ColumnEffect
    n_open : int
        How many predictions were not settled.
    answers : int
        After how many answers.
    note : str
        Why there are no effects; "" if there are some.
    """

    effects: list[ColumnEffect]
    n_open: int
    answers: int
    note: str = ""

    def words(self) -> str:
        """What the first of them would settle; "" if there is none."""
        return settles_in_words(self.effects, self.n_open)


class ColumnLooks:
    """Looks at the columns, one after the other; `found` is the latest.

    Parameters
    ----------
    publish : function without arguments
        Called when there is a new one.
    """

    def __init__(self, publish: Callable[[], None]) -> None:
        self._publish = publish
        self.found = ColumnsNow([], 0, 0, BEING_WORKED_OUT)
        self._of: object = None  # the state that it is about
        self._at = -REST_SECONDS  # when the last look ended
        self._looking = False

    def look(self, view: SessionView) -> None:
        """Begin a look, if things have changed since the last one; this returns at once."""
        rested = time.monotonic() - self._at > REST_SECONDS
        if self._looking or self._of is view.version or not (rested or view.settled.all()):
            return
        self._looking, self._of = True, view.version
        Thread(target=self._look, args=(view,), name="cpclean columns", daemon=True).start()

    def _look(self, view: SessionView) -> None:
        try:
            with_holes = [one for one in effects_in_session(view) if one.holes]
            order = sorted(with_holes, key=lambda one: -one.settled_if_clean)
            note = "" if order else BEING_WORKED_OUT if view.settled.all() else TOO_LONG
            self.found = ColumnsNow(order, int((~view.settled).sum()), len(view.history), note)
        except Exception:  # people can do without
            log.exception("looking at the columns failed")
            if not self.found.effects:
                self.found = replace(self.found, note=FAILED)
        self._at, self._looking = time.monotonic(), False
        self._publish()
