"""How many rows an order at random would have cleaned for what a session has settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cpclean.analysis.forecast import Forecast, Run
from cpclean.cleaning.known import Known
from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.errors import CPCleanError
from cpclean.progress_bar import Shown, progress_bar


@dataclass(frozen=True)
class RandomOrder:
    """Several sessions in random order, each until as much is settled as in the session itself.

    Attributes
    ----------
    rows : tuple of int
        How many rows each of them cleaned.
    finished : bool
        Whether each came to its end; if not, it would have cleaned more rows than that.
    interrupted : bool
        Whether Ctrl-C ended them early.
    """

    rows: tuple[int, ...]
    finished: bool
    interrupted: bool = False

    @property
    def mean(self) -> float:
        return float(np.mean(self.rows))


def random_order(
    session: CleaningSession,
    n_runs: int = 3,
    seconds: float = 20.0,
    random_state: int = 0,
    *,
    progress: Shown = None,
) -> RandomOrder:
    """Clean rows in random order until as large a share of the points is settled as it is now.

    Rows are answered as in the session; where it has no answer, one is drawn from the prior. Where
    points have to be certain, `Effort.random_at_least` is a bound that needs no sessions, and often
    a good one; less so among leaves.

    Parameters
    ----------
    session : CleaningSession
    n_runs : int
    seconds : float
        After this much time the runs stop where they are; at least one answer each. After Ctrl-C
        they do so at once.
    progress : bool, or function of words and a share, optional
        Whether to show a progress bar; by default on a terminal. A function is told instead.

    Examples
    --------
    >>> from cpclean import IncompleteDataset
    >>> data = IncompleteDataset([[[0.0], [5.0]], [[1.0], [7.0]], [[6.0]]], ["a", "b", "b"])
    >>> session = CleaningSession(data, [[0.0]], n_neighbors=1, sure=0.9)
    >>> session.tell(0, candidate=0).settled
    1
    >>> random_order(session, n_runs=4, random_state=1).rows
    (2, 1, 2, 1)
    """
    if n_runs < 1:
        raise CPCleanError(f"n_runs must be at least 1; got {n_runs}.")
    fresh = session.from_start()
    fresh.budget, fresh.min_gain, fresh.target_share = None, 0.0, session.settled_share
    rngs = np.random.default_rng(random_state).spawn(n_runs)
    sessions = [fresh.in_random_order(rng) for rng in rngs]
    limit = len(session.view.questions.row) + len(session.known)
    runs = [
        Run(one, known_or_drawn(session, one, rng), limit)
        for one, rng in zip(sessions, rngs, strict=True)
    ]
    words, interrupted = "cleaning in random order", False
    try:
        with progress_bar(limit, words, shown=progress, transient=True) as follow:
            Forecast(runs).run(seconds, follow)
    except KeyboardInterrupt:
        if not all(one.known for one in sessions):
            raise
        interrupted = True
    finished = all(run.done for run in runs)
    return RandomOrder(tuple(len(one.known) for one in sessions), finished, interrupted)


def known_or_drawn(
    session: CleaningSession, asking: CleaningSession, rng: np.random.Generator
) -> Callable[[Question], dict[str, Any]]:
    """Answers to one session that another one knows, or that are as likely as the prior says."""

    def answer(question: Question) -> dict[str, Any]:
        known = known_answer(session, question.row, question.column)
        again = question.column is None and question.row in asking.known  # the rest is not known
        return question.drawn(rng) if known is None or again else known

    return answer


def known_answer(session: CleaningSession, row: int, column: Any = None) -> dict[str, Any] | None:
    """What a session knows about a row, or about one cell of it, as the arguments of `tell`.

    None if it knows nothing.
    """
    known = session.view.known_of(row)
    if column is not None:
        cell = column if isinstance(column, tuple) else (column,)
        raw = {name: known.raw[name] for name in cell if name in known.raw}
        known = Known(
            raw,
            {at: known.features[at] for at in cell if at in known.features},
            rough={name: known.rough[name] for name in cell if name in known.rough},
        )
    if not (known.raw or known.features or known.rough):
        return None
    if known.candidate is not None:
        return {"row": row, "candidate": known.candidate}
    return {"row": row, "value": session.view.setup.subject.plain(known)}
