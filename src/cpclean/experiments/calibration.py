"""Calibration: how often the label of a sure point is the one that the true table gives."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from cpclean.baselines.estimator import one_world
from cpclean.data.rows import Bools
from cpclean.experiments.store import Figures
from cpclean.experiments.told_tables import Told, told_table
from cpclean.experiments.until_settled import NEIGHBORS
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Model
from cpclean.queries.shares import world_shares
from cpclean.queries.sureness import sure_by

LEVELS = (0.95, 0.99)


def calibration(folder: Path | None, table: str, holes: str, space: str, prior: str) -> Figures:
    """Of one table with nothing cleaned, in one space and with one prior."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # points may have categories that no row has
        return kept_labels(told_table(folder, table, holes), space, prior)


def kept_labels(told: Told, space: str, prior: str) -> Figures:
    """Which shares of the points are certain and sure, and how many keep their label.

    The truth is asked in the same space: with the true rows in place of those with holes. For
    every word, `<word>` is the number of points and `<word>_kept` of those that keep their label.

    Parameters
    ----------
    told : Told
    space, prior : str
        As in `IncompleteTable`.
    """
    table, n_neighbors = told.table(space, prior), NEIGHBORS[space]
    data, asked = table.dataset, table.points(told.points)
    shares = world_shares(data, asked, n_neighbors)
    truth = one_world(table.encode(told.true), data.labels).in_space(data.space)
    in_truth = world_shares(truth, table.encode(told.points), n_neighbors).argmax(axis=1)
    kept = shares.argmax(axis=1) == in_truth
    certain = is_certain(data, asked, n_neighbors)
    found: dict[str, int] = {"points": len(kept), **_counted("certain", certain, kept)}
    for level in LEVELS:
        sure = certain | sure_by(shares, data, asked, Model(n_neighbors), level)
        found |= _counted(f"sure_{level:g}", sure, kept)
        if level == LEVELS[0]:
            found |= _counted("open", ~sure, kept)
    return found


def _counted(word: str, some: Bools, kept: Bools) -> dict[str, int]:
    return {word: int(np.sum(some)), f"{word}_kept": int(np.sum(some & kept))}
