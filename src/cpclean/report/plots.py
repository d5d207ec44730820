"""Plotly figures for notebooks.

They are light, or dark with ``dark=True``. The colours can be distinguished by colour-blind people,
and no information is in the colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cpclean.analysis.column_effects import ColumnEffect
from cpclean.analysis.forecast import compared, expected
from cpclean.analysis.missing import missing
from cpclean.analysis.predictions import Predictions
from cpclean.analysis.ranking import row_gains
from cpclean.analysis.verdict_course import SECONDS, verdict_course
from cpclean.classifier import CertainKNeighborsClassifier
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.session_looks import SessionLooks
from cpclean.cleaning.state import Record
from cpclean.data.streamed.streamed_table import StreamedTable
from cpclean.data.table import IncompleteTable
from cpclean.errors import CPCleanError
from cpclean.queries.sureness import LEVEL
from cpclean.report import compose
from cpclean.report.figures import figure
from cpclean.report.pictures import Picture


def plot_certainty(
    progress: SessionLooks | Sequence[Record],
    *,
    ahead: bool = True,
    truth: Any = None,
    n_random: int = 5,
    seconds: float = 5.0,
    random_state: int = 0,
    dark: bool = False,
) -> Any:
    """The share of settled predictions so far, and how it is expected to go on.

    In three bands: certain, sure and open. In a session with `sure`, sure ones are settled, too;
    without it, only certain ones are, and sure means at 0.95.

    Parameters
    ----------
    progress : CleaningSession, or its history
        A history is drawn as it is, as is that of a session over files; a forecast needs a
        session over a table in memory.
    ahead : bool
        Whether to add a forecast: copies of the session go on asking, and answers are drawn from
        the prior. The band runs from the lowest to the highest of the runs.
    truth : optional
        As in `simulate`. Adds what true answers bring in the session's order and in random order.
    n_random : int
        How many random orders.
    seconds : float
        When to stop the forecast; what there is by then is drawn. With a truth, the comparison may
        take ten times as long.
    random_state : int
    dark : bool

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from cpclean import CleaningSession, IncompleteDataset
    >>> from cpclean.report import plot_certainty
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> session = CleaningSession(data, [[0.0], [4.0]], n_neighbors=1)
    >>> [trace.name for trace in plot_certainty(session).data if trace.name]
    ['so far', 'expected from here (mean of 3 runs)']
    """
    if not isinstance(progress, CleaningSession):
        history = progress.history if isinstance(progress, SessionLooks) else progress
        return _shown(compose.certainty(_checked_history(history)), dark=dark)
    session = progress
    course = comparison = None
    if ahead:
        course = expected(session, seconds=seconds, random_state=random_state)
    if truth is not None:
        comparison = compared(
            session, truth, n_random, seconds=10 * seconds, random_state=random_state
        )
    picture = compose.certainty(
        session.history,
        session.view.settled_at_start,
        course,
        comparison,
        verdicts=verdict_course(session.view, min(seconds, SECONDS)),
        level=session.sure or LEVEL,
        until_sure=session.sure is not None,
    )
    return _shown(picture, dark=dark)


def plot_holes(
    table: IncompleteTable | StreamedTable | CleaningSession, *, dark: bool = False
) -> Any:
    """Where the holes of a table are: in which columns, and in which of them together.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> from cpclean.report import plot_holes
    >>> frame = pd.DataFrame({"age": [18, None, 65], "city": ["A", "B", None], "y": [0, 1, 1]})
    >>> plot_holes(IncompleteTable(frame, label="y")).data[0].x
    (0.3333333333333333, 0.3333333333333333)
    """
    found: Any = table.view.table if isinstance(table, SessionLooks) else table
    if not isinstance(found, IncompleteTable | StreamedTable):
        raise CPCleanError(
            f"plot_holes needs an IncompleteTable; got {type(table).__name__}"
            f"{'' if found is table else ' over a dataset, which has no columns of a table'}."
        )
    holes = missing(found)
    pictures = [compose.holes(holes), *([compose.patterns(holes)] if holes.together else [])]
    return _shown(*pictures, dark=dark)


def plot_gains(session: CleaningSession, n: int = 20, *, dark: bool = False) -> Any:
    """The n rows whose cleaning is expected to remove most doubt from the predictions."""
    return _shown(compose.gains(row_gains(session, n)), dark=dark)


def plot_columns(
    effects: Sequence[ColumnEffect], now: float | None = None, *, dark: bool = False
) -> Any:
    """The share of predictions that would be certain if one column alone were clean.

    Parameters
    ----------
    effects : list of ColumnEffect
        From `cpclean.analysis.column_effects.column_effects`.
    now : float, optional
        The share that is certain now, to compare with.
    """
    return _shown(compose.columns(effects, now), dark=dark)


def plot_shares(
    model: CertainKNeighborsClassifier | CleaningSession, X: Any = None, *, dark: bool = False
) -> Any:
    """How open predictions are: how many are certain, and the winner's share for the others.

    Parameters
    ----------
    model : CertainKNeighborsClassifier or CleaningSession
    X : points to predict, for a classifier
        A session has its own.
    """
    if isinstance(model, CleaningSession):
        if X is not None:
            raise CPCleanError("a session has its own validation points: leave out X.")
        return _shown(compose.shares(Predictions.of(model.view)), dark=dark)
    if X is None:
        raise CPCleanError("plot_shares needs points to predict for a classifier: X=...")
    found = Predictions(model.predict_proba(X), model.is_certain(X), sure=model.is_sure(X))
    return _shown(compose.shares(found), dark=dark)


def _shown(*pictures: Picture, dark: bool) -> Any:
    import plotly.graph_objects as go  # takes a while, and the page does not need it

    return go.Figure(figure(*pictures, dark=dark))


def _checked_history(history: Any) -> list[Record]:
    records = list(history) if isinstance(history, Iterable) else [history]
    if not all(isinstance(record, Record) for record in records):
        raise CPCleanError(
            "plot_certainty takes a CleaningSession or its history, a list of records; got "
            f"{type(history).__name__}."
        )
    return records
