"""One forest for the whole session, or one that is learnt anew from the answers.

Rows are cleaned in the order of a session, with true values as answers. At several moments the
trees that there are from the start are compared with those that would be learnt then, by points
that the session does not look at.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.simulation import simulate
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.data.table import IncompleteTable
from cpclean.experiments.fresh import RATE, generated_table
from cpclean.experiments.inject import inject
from cpclean.experiments.jobs import Job
from cpclean.experiments.markdown import markdown_table
from cpclean.experiments.model_cases import published_training, published_validation
from cpclean.experiments.space_files import Labels
from cpclean.experiments.store import Figures
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Model
from cpclean.queries.shares import world_shares
from cpclean.queries.sureness import sure_by

KEYS = ("table",)
TABLES = ("Supreme", "Bank")
K = 15
# Shares of the rows with holes that are cleaned by then.
MOMENTS = (0.1, 0.25, 0.5)
# Points that the session is for; the others are judged by.
N_CLEANED_FOR = 300
_NAMES = ("accuracy", "sure", "certain")


def jobs_for(folder: Path | None) -> list[Job]:
    """The cells of the table: one for each table."""
    tables = TABLES if folder is not None else ("numbers",)
    return [Job((table,), partial(_measure, folder, table)) for table in tables]


def _measure(folder: Path | None, table: str) -> Figures:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if folder is None:
            whole = generated_table(table, 240)
            true, labels = whole.frame.iloc[:120], whole.labels[:120]
            dirty = inject(true, "random", RATE, 0).frame
            return compared(dirty, true, labels, whole.frame[120:], whole.labels[120:], 30)
        dirty, true, labels = published_training(folder, table)
        return compared(dirty, true, labels, *published_validation(folder, table))


def compared(
    dirty: Any, true: Any, labels: Labels, points: Any, y: Labels, n_for: int = N_CLEANED_FOR
) -> Figures:
    """What each of the two is worth at each moment.

    Parameters
    ----------
    dirty, true : pandas.DataFrame
        The rows to learn from, with holes and without.
    labels : ndarray
        Of these rows.
    points, y : pandas.DataFrame and ndarray
        Complete points, and their labels.
    n_for : int
        How many of the points the session is for.
    """
    table = IncompleteTable(dirty, labels, space="forest")
    session = CleaningSession(table, points.iloc[:n_for], K)
    asked, truth = table.points(points.iloc[n_for:]), y[n_for:]
    rows = len(table.dataset.dirty_rows)
    found: dict[str, Any] = {"dirty_rows": rows, "points": len(truth)}
    found |= _judged("start", table.dataset, asked, truth)
    for moment in MOMENTS:
        more = round(moment * rows) - len(session.history)
        simulate(session, true, budget=max(1, more), exact=True, progress=False)
        again = copy(session)  # its own states; the session itself keeps its trees
        again.refit()
        found |= _judged(f"kept_{moment}", session.data, asked, truth)
        found |= _judged(f"refitted_{moment}", again.data, asked, truth)
    return found


def _judged(when: str, data: IncompleteDataset, points: Points, truth: Labels) -> Figures:
    shares = world_shares(data, points, K)
    return {
        f"{when}_accuracy": float((data.classes[shares.argmax(axis=1)] == truth).mean()),
        f"{when}_sure": float(sure_by(shares, data, points, Model(K)).mean()),
        f"{when}_certain": float(is_certain(data, points, K).mean()),
    }


def markdown(lines: Sequence[Mapping[str, str]]) -> str:
    """A line per table and moment."""
    each = [f"{name}, {which}" for name in _NAMES for which in ("kept", "learnt anew")]
    rows = []
    for line in lines:
        start = [cell for name in _NAMES for cell in (_shown(line, "start", name), "")]
        rows.append((line["table"], "0%", *start))
        for moment in MOMENTS:
            cells = [
                _shown(line, f"{which}_{moment}", name)
                for name in _NAMES
                for which in ("kept", "refitted")
            ]
            rows.append((line["table"], f"{moment:.0%}", *cells))
    return markdown_table(("table", "rows cleaned", *each), rows, 1)


def _shown(line: Mapping[str, str], when: str, name: str) -> str:
    value = float(line[f"{when}_{name}"])
    return f"{value:.3f}" if name == "accuracy" else f"{np.round(value, 3):.1%}"
