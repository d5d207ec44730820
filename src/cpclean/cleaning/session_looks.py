"""What a session shows of itself; `CleaningSession` adds what asks and what answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.notebook_view import session_html
from cpclean.cleaning.state import Record
from cpclean.cleaning.view import SessionView
from cpclean.data.between import Between
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats
from cpclean.errors import CPCleanError
from cpclean.queries.model import Metric


class SessionLooks(ABC):
    """The properties of a session, all of them taken from its view."""

    @property
    @abstractmethod
    def view(self) -> SessionView:
        """A read-only view of the current state; it stays the same when more answers come in."""

    @property
    def n_neighbors(self) -> int:
        return self.view.model.n_neighbors

    @property
    def metric(self) -> Metric:
        return self.view.model.metric

    @property
    def data(self) -> IncompleteDataset:
        """The data as it is known now."""
        return self.view.data

    @property
    def certain(self) -> npt.NDArray[np.bool_]:
        """Whether each validation point is certain; one with holes, in all its completions."""
        return self.view.certain

    @property
    def certain_share(self) -> float:
        """The share of validation points that are certain, completion by completion."""
        return self.view.certain_share

    @property
    def settled(self) -> npt.NDArray[np.bool_]:
        """Whether each validation point is settled: certain or, with `sure`, that sure."""
        return self.view.settled

    @property
    def verdicts(self) -> npt.NDArray[np.str_]:
        """What can be said about each validation point: "certain", "sure" or "open".

        Sure at the level of the session, or at 0.95 in a session without one.
        """
        return self.view.verdicts

    @property
    def sure(self) -> float | None:
        """The level at which points are settled, if they need not be certain."""
        return self.view.sure

    @property
    def sure_share(self) -> float:
        """The share of validation points that are sure, certain ones included.

        At the level of the session, or at 0.95 in a session without one.
        """
        return self.view.sure_share

    @property
    def settled_share(self) -> float:
        """The share of validation points that are settled, completion by completion."""
        return self.view.settled_share

    @property
    def certain_points(self) -> float:
        """The share of validation points all of whose completions are certain."""
        return self.view.certain_points

    @property
    def is_exact(self) -> bool:
        """Whether nothing is estimated from draws, neither of rows nor of points."""
        return self.view.is_exact

    @property
    def mean_entropy(self) -> float:
        """The mean entropy of the validation points and their completions, in nats."""
        return self.view.mean_entropy

    @property
    def history(self) -> list[Record]:
        return self.view.history

    @property
    def known(self) -> dict[int, dict[Any, Any]]:
        """What is known about each row, by column; for a dataset, by column number."""
        return self.view.known

    @property
    def rough(self) -> dict[int, dict[Any, Between]]:
        """What is known only roughly, by row and column, as a `Between`."""
        return self.view.rough

    @property
    def stopped(self) -> str | None:
        """Why there is nothing more to ask, in words; None while there is."""
        return self.view.stopped

    @property
    def done(self) -> bool:
        return self.stopped is not None

    @abstractmethod
    def frame_row(self, row: int) -> Any:
        """What the frame, or the file, calls a row."""

    def widget(self) -> Any:
        """A widget that asks the questions of this session inside a notebook.

        It needs anywidget: ``pip install 'cpclean[notebook]'``. Answers go into this very session,
        so that the cells after it see them. If other cells have changed the session,
        ``widget.refresh()`` shows what is asked now.

        Returns
        -------
        SessionWidget
        """
        try:
            from cpclean.cleaning.widget import SessionWidget
        except ModuleNotFoundError as problem:
            raise CPCleanError(
                "the widget needs anywidget, which is not installed: "
                "pip install 'cpclean[notebook]'."
            ) from problem
        return SessionWidget(self)

    def _repr_html_(self) -> str:
        return session_html(self)

    def gains(self) -> Floats:
        """How much cleaning each row is expected to lower the mean entropy, shape (n_rows,).

        Only points that are not settled count. With strategy "cells", the gain of a row is that of
        its best cell.
        """
        return self.view.gains.copy()
