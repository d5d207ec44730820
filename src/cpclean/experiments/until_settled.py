"""How many rows a session cleans until shares of its points are settled, with the truth told."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.settings import PRIOR, UNIFORM
from cpclean.cleaning.simulation import Person
from cpclean.experiments.all_spaces import space_of
from cpclean.experiments.fresh import Sizes
from cpclean.experiments.measures import MODEL
from cpclean.experiments.objectives import (
    NewlySettled,
    by_squares,
    every_point,
    root_of_gain,
    roots_first,
    squeeze,
)
from cpclean.experiments.store import Figures
from cpclean.experiments.told_tables import told_table

# Cleaned for so many points.
N_POINTS = 300
FEW_POINTS = 100  # until certain in the forest space
# Shares of the points: how many rows until these are settled?
SURE_AIMS = (0.8, 0.95, 1.0)
CERTAIN_AIMS = (0.5, 0.8, 1.0)
# On this table the last points take all rows, and minutes: it is stopped early.
STOPPED_AT = {"BabyProduct": 0.8}

ALL, SQUARES, NEWLY = "all points", "squares", "newly settled"
SQUEEZE, ROOT, FIRST = "squeeze", "root of gain", "roots first"
# What the sum over points counts, by strategy.
STRATEGIES = {
    ALL: "expected fall of entropy, all points",
    "cpclean": "the same, open points only",
    "relative": "divided by the point's entropy",
    SQUARES: "divided by the square of its entropy",
    "roots": "the root of what is divided by the entropy",
    SQUEEZE: "the root of what is divided by its square",
    ROOT: "the root of the expected fall of entropy",
    FIRST: "roots until nearly all points are settled, then the root of the fall",
    NEWLY: "chance that the answer settles the point",
}
_OF_POINTS: dict[str, Any] = {
    ALL: every_point,
    SQUARES: by_squares,
    SQUEEZE: squeeze,
    ROOT: root_of_gain,
    FIRST: roots_first,
}
# Where a session takes longer, only these; and in the forest space at the first level.
FEW_STRATEGIES = (ALL, "cpclean", "roots")
FOREST_STRATEGIES = (*FEW_STRATEGIES, SQUEEZE, ROOT, FIRST)
NEIGHBORS = {"plain": 3, "forest": 15}


def until_sure(
    folder: Path | None, table: str, holes: str, space: str, strategy: str, level: float | None
) -> Figures:
    """A session until all points are sure at a level, answered with true values.

    Without a level until they are certain, with gains as if all answers were equally likely.
    """
    told, n_neighbors = told_table(folder, table, holes), NEIGHBORS[space]
    data = told.table(space)
    points = data.points(told.points.iloc[:N_POINTS])
    chosen: Any = _OF_POINTS.get(strategy, strategy)
    if strategy == NEWLY and level is not None:
        chosen = NewlySettled(points, n_neighbors, level)
    gains_by = UNIFORM if level is None else PRIOR
    start = time.process_time()
    session = CleaningSession(data, points, n_neighbors, chosen, sure=level, gains_by=gains_by)
    return _cleaned(session, told.true, True, SURE_AIMS, start)


def until_certain(
    folder: Path | None, table: str, sizes: Sizes, strategy: str, gains_by: str, prior: str
) -> Figures:
    """A session until all points of a published space are certain.

    Parameters
    ----------
    folder, table, sizes
        As in `space_of`.
    strategy, gains_by
        As in `CleaningSession`.
    prior : {"uniform", "label"}
        With "uniform" the setting is that of the paper; with "label", answers are the same.
    """
    space = space_of(folder, table, sizes)
    start = time.process_time()
    session = CleaningSession(
        space.build(prior).dataset,
        space.task.points,
        MODEL.n_neighbors,
        strategy,
        target_share=STOPPED_AT.get(table, 1.0),
        gains_by=gains_by,
    )
    return _cleaned(session, space.truth, False, CERTAIN_AIMS, start)


def until_certain_in_forest(
    folder: Path | None, table: str, holes: str, strategy: str, gains_by: str
) -> Figures:
    """A session until few points are certain in the forest space, answered with true values."""
    told, n_neighbors = told_table(folder, table, holes), NEIGHBORS["forest"]
    data = told.table("forest")
    points = data.points(told.points.iloc[:FEW_POINTS])
    start = time.process_time()
    session = CleaningSession(data, points, n_neighbors, strategy, gains_by=gains_by)
    return _cleaned(session, told.true, True, CERTAIN_AIMS, start)


def _cleaned(
    session: CleaningSession, truth: Any, exact: bool, aims: Sequence[float], start: float
) -> Figures:
    """Answer until the session is done; what was settled after each answer, and what it took."""
    person = Person(session, truth, exact)
    rows = len(session.view.start.dirty_rows)
    shares = [session.settled_share]
    while (question := session.ask()) is not None:
        session.tell(question.row, **person.answer(question))
        shares.append(session.settled_share)
    return {
        "rows": rows,
        "answers": len(session.history),
        **{f"until_{aim:g}": answers_until(shares, aim) for aim in aims},
        "curve": json.dumps(every_hundredth(shares, rows)),
        "seconds": round(time.process_time() - start, 2),
    }


def answers_until(shares: Sequence[float], aim: float) -> int | str:
    """After how many answers a share is reached for the first time; "" if it never is."""
    reached = np.flatnonzero(np.asarray(shares) >= aim - 1e-12)
    return int(reached[0]) if len(reached) else ""


def every_hundredth(shares: Sequence[float], rows: int) -> list[float]:
    """The shares after 0, 1, 2, ... hundredths of the rows, and the last one for the rest."""
    places = [min(round(number * rows / 100), len(shares) - 1) for number in range(101)]
    return [round(float(shares[place]), 4) for place in places]
