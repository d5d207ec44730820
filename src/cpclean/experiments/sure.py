"""Sure without cleaning: how often the label of a sure point is the one that the truth gives.

The truth is asked in two ways: in the same space, with the true rows in place of the rows with
holes, and by a random forest that is fitted to the true table. Then rows are cleaned in the order
of a session, with true values as answers, until nearly all points are sure, and certain.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.baselines.estimator import one_world
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.simulation import simulate
from cpclean.data.rows import Bools
from cpclean.data.table import IncompleteTable
from cpclean.experiments.fresh import RATE, generated_table
from cpclean.experiments.inject import inject
from cpclean.experiments.jobs import Job
from cpclean.experiments.markdown import markdown_table, named_tables
from cpclean.experiments.space_files import Labels, SpaceFiles
from cpclean.experiments.spaces import PUBLISHED
from cpclean.experiments.store import Figures
from cpclean.queries.model import Model
from cpclean.queries.shares import world_shares
from cpclean.queries.sureness import sure_by

KEYS = ("table", "space")
TABLES = ("Supreme", "Bank")
# Cleaned for so many points, until this share of them is sure.
N_CLEANED_FOR = 300
AIM = 0.95
SPACES = {
    "forest, K = 15": ("forest", 15),
    "random, K = 15": ("random", 15),
    "plain, K = 15": ("plain", 15),
    "plain, K = 3": ("plain", 3),
}


def jobs_for(folder: Path | None) -> list[Job]:
    """The cells of the table: one for each table and space."""
    tables = TABLES if folder is not None else ("numbers",)
    return [
        Job((table, space), partial(_measure, folder, table, space))
        for table in tables
        for space in SPACES
    ]


def sureness(
    dirty: Any, true: Any, labels: Labels, points: Any, y: Labels, space: str, n_neighbors: int
) -> Figures:
    """What is sure with nothing cleaned, and how often that is what the truth says.

    Parameters
    ----------
    dirty, true : pandas.DataFrame
        The training rows, with holes and without.
    labels : ndarray
        Of these rows.
    points, y : pandas.DataFrame and ndarray
        Complete points, and their labels.
    space, n_neighbors
        As in `IncompleteTable`; how many rows vote.
    """
    from sklearn.ensemble import RandomForestClassifier

    table = IncompleteTable(dirty, labels, space=space)
    data, X, rows = table.dataset, table.encode(points), table.encode(true)
    asked = table.points(points)
    shares = world_shares(data, asked, n_neighbors)
    sure = sure_by(shares, data, asked, Model(n_neighbors))
    said = data.classes[shares.argmax(axis=1)]
    truth = one_world(rows, data.labels).in_space(data.space)
    in_space = data.classes[world_shares(truth, X, n_neighbors).argmax(axis=1)]
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0).fit(rows, data.labels)
    of_forest = forest.predict(X)
    found: dict[str, Any] = {"points": len(y), "sure": float(sure.mean())}
    for name, some in (("sure", sure), ("open", ~sure)):
        found |= {
            f"{name}_same": _share(said == in_space, some),
            f"{name}_forest": _share(said == of_forest, some),
            f"{name}_right": _share(said == y, some),
        }
    return found


def cleaned_until(
    dirty: Any, true: Any, labels: Labels, points: Any, space: str, n_neighbors: int
) -> Figures:
    """The share of the rows that a session cleans until `AIM` of the points are sure, or certain.

    To a hundredth of the rows; NaN if that is not reached.

    Parameters
    ----------
    dirty, true, labels, points, space, n_neighbors
        As in `sureness`; only the first `N_CLEANED_FOR` points.
    """
    table = IncompleteTable(dirty, labels, space=space)
    asked = table.points(points.iloc[:N_CLEANED_FOR])
    session = CleaningSession(table, asked, n_neighbors)
    rows = len(table.dataset.dirty_rows)
    found = {"until_sure": float("nan"), "until_certain": float("nan")}
    while True:
        cleaned = len(session.history) / rows
        if np.isnan(found["until_sure"]):
            shares = world_shares(session.data, asked, n_neighbors)
            if sure_by(shares, session.data, asked, Model(n_neighbors)).mean() >= AIM:
                found["until_sure"] = cleaned
        if session.certain_share >= AIM:
            found["until_certain"] = cleaned
        if session.done or not np.isnan([*found.values()]).any():
            return {**found, "dirty_rows": rows}
        simulate(session, true, budget=max(1, rows // 100), exact=True, progress=False)


def _share(good: Bools, some: Bools) -> float:
    return float(good[some].mean()) if some.any() else float("nan")


def _measure(folder: Path | None, table: str, space: str) -> Figures:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if folder is None:
            whole = generated_table(table, 300)
            true, labels = whole.frame.iloc[:200], whole.labels[:200]
            dirty = inject(true, "random", RATE, 0).frame
            points, y = whole.frame.iloc[200:], whole.labels[200:]
            return _both(dirty, true, labels, points, y, *SPACES[space])
        files = SpaceFiles(folder / "spaces" / table / PUBLISHED[table])
        dirty, true = files.frame("X_train_dirty"), files.frame("X_train_clean")
        labels, y = files.labels("y_train"), files.labels("y_val")
        return _both(dirty, true, labels, files.frame("X_val"), y, *SPACES[space])


def _both(
    dirty: Any, true: Any, labels: Labels, points: Any, y: Labels, space: str, n_neighbors: int
) -> Figures:
    return {
        **sureness(dirty, true, labels, points, y, space, n_neighbors),
        **cleaned_until(dirty, true, labels, points, space, n_neighbors),
    }


def markdown(lines: Sequence[Mapping[str, str]]) -> str:
    """Two tables, a line per table and space: of sure points and others; and rows to clean."""
    parts = ("as true rows", "as true forest", "right")
    each = [f"{which}: {part}" for which in ("sure", "others") for part in parts]
    head = ("table", "space", "points", "sure", *each)
    names = ("sure", "sure_same", "sure_forest", "sure_right", "open_same", "open_forest",
             "open_right")  # fmt: skip
    agreement = [(*_named(line), line["points"], *_percents(line, names)) for line in lines]
    rows = [(*_named(line), line["dirty_rows"], *_percents(line, ("until_sure", "until_certain")))
            for line in lines]  # fmt: skip
    until = [f"cleaned until {AIM:.0%} are {word}" for word in ("sure", "certain")]
    effort = markdown_table(("table", "space", "rows with holes", *until), rows, 2)
    return named_tables(
        {"sure points": markdown_table(head, agreement, 2), "rows to clean": effort}
    )


def _named(line: Mapping[str, str]) -> tuple[str, str]:
    return line["table"], line["space"]


def _percents(line: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [f"{float(line[name]):.1%}" for name in names]
