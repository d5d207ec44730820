"""The predictions of points: how certain, how open and, where labels are known, how right."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cpclean.analysis.certain_words import level_words
from cpclean.analysis.summary import usual_label
from cpclean.analysis.words import count, percent
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.view import SessionView
from cpclean.data.rows import Floats
from cpclean.data.task import Task
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Model
from cpclean.queries.shares import world_shares
from cpclean.queries.sureness import LEVEL, OPEN, SURE, sure_by, verdict_words


@dataclass(frozen=True)
class Predictions:
    """The shares of the classes for some points, and whether each point is certain, or sure.

    A point with holes is certain if every world predicts the same label for all its completions.

    Attributes
    ----------
    shares : ndarray of shape (n_points, n_classes)
    certain : ndarray of bool, shape (n_points,)
    n_split : int
        Points that are open only because of their own holes: each completion has a certain label,
        but not all of them the same. No answer about a row helps there.
    sure : ndarray of bool, shape (n_points,), or None
        Whether one label holds at least `level` of the prior mass; None if that is not known.
    level : float
    until_sure : bool
        Whether sure predictions are settled, too, as in a session with a level.
    """

    shares: Floats
    certain: npt.NDArray[np.bool_]
    n_split: int = 0
    sure: npt.NDArray[np.bool_] | None = None
    level: float = LEVEL
    until_sure: bool = False

    @classmethod
    def of(cls, view: SessionView) -> Predictions:
        """Those of a session's validation points."""
        shares = view.shares
        settled = view.certain
        certain = settled & ((shares > 0).sum(axis=1) == 1)
        # That all draws of a point agree proves nothing about it, and a session does not look at
        # completions that weigh nothing.
        if not view.points.is_exact or (view.points.weight == 0).any():
            model = view.model
            certain &= is_certain(view.data, view.points, model.n_neighbors, model.metric)
        level = view.sure or LEVEL
        sure = sure_by(shares, view.data, view.points, view.model, level)
        n_split = int((settled & ~certain).sum())
        return cls(shares, certain, n_split, sure, level, view.sure is not None)

    @property
    def n_points(self) -> int:
        return len(self.certain)

    @property
    def n_certain(self) -> int:
        return int(self.certain.sum())

    @property
    def verdicts(self) -> npt.NDArray[np.str_]:
        """Whether each prediction is "certain", "sure" or "open"."""
        sure = np.zeros_like(self.certain) if self.sure is None else self.sure
        return verdict_words(self.certain, sure)

    @property
    def n_sure(self) -> int:
        """Predictions that are sure and not certain."""
        return int((self.verdicts == SURE).sum())

    @property
    def n_open(self) -> int:
        """Predictions that are neither."""
        return self.n_points - self.n_certain - self.n_sure

    @property
    def n_settled(self) -> int:
        """Predictions that are certain or, where that settles them, sure."""
        return self.n_certain + (self.n_sure if self.until_sure else 0)

    @property
    def winners(self) -> Floats:
        """The share of the label that wins, shape (n_points,)."""
        return np.asarray(self.shares.max(axis=1))

    @property
    def words(self) -> str:
        """How open the predictions are, in two sentences."""
        winners = self.winners[self.verdicts == OPEN]
        certain = f"{self.n_certain:,} of {count(self.n_points, 'prediction')} "
        certain += "is certain" if self.n_certain == 1 else "are certain"
        if self.n_sure:
            are = "is" if self.n_sure == 1 else "are"
            certain += f", {self.n_sure:,} more {are} {level_words(self.level)}"
        certain += "."
        if not len(winners):
            return certain
        if len(winners) == 1:
            return (
                f"{certain} The open one has {percent(winners[0])} of the prior behind its label."
            )
        clear = int((winners >= 0.9).sum())
        have = "has" if clear == 1 else "have"
        return (
            f"{certain} Of the {len(winners):,} open ones, {clear:,} {have} 90% of the prior or "
            "more behind one label."
        )


@dataclass(frozen=True)
class OpenPredictions:
    """How many open predictions have a winner whose share is from `low` to `high`."""

    low: float
    high: float
    number: int


def by_winner(found: Predictions) -> list[OpenPredictions]:
    """The open predictions, the clearest first; what is emptier than the last one is left out."""
    winners: Floats = found.winners[found.verdicts == OPEN]
    least = 1 / max(2, found.shares.shape[1])
    edges = [edge / 10 for edge in range(int(least * 10), 11)]
    # Rounding may take a share below the least there is, and what is open may round to 1.
    places = np.clip(np.digitize(winners, edges) - 1, 0, len(edges) - 2)
    times = np.bincount(places, minlength=len(edges) - 1).tolist()
    lowest = min([at for at, one in enumerate(times) if one] or [len(times) - 1])
    groups = zip(pairwise(edges), times, strict=True)
    return [OpenPredictions(low, high, one) for (low, high), one in groups][lowest:][::-1]


@dataclass(frozen=True)
class Accuracy:
    """How often the predictions are right, where the true labels are known.

    Attributes
    ----------
    all, certain, sure, open : float or None
        Of all predictions and of those that are certain, sure or open; None if there are none.
    least, most : float
        However the holes are filled, no fewer and no more of all predictions are right.
    usual : float
        Of all, if the most frequent label of the training rows were predicted always.
    """

    all: float
    certain: float | None
    open: float | None
    least: float
    most: float
    usual: float
    sure: float | None = None


def accuracy_of(task: Task, model: Model, most: int | None = None) -> float:
    """How often the vote over worlds is right, for a task whose labels are known.

    With `most`, so many of the points are asked about at most, evenly spaced.
    """
    points, labels = task.points, task.labels
    assert labels is not None
    if most is not None and points.n_points > most:
        some = np.linspace(0, points.n_points - 1, most).astype(np.int64)
        points, labels = points.take(some), labels[some]
    shares = world_shares(task.dataset, points, model.n_neighbors, model.metric)
    return float(np.mean(task.dataset.classes[shares.argmax(axis=1)] == labels))


def accuracy(session: CleaningSession, found: Predictions) -> Accuracy | None:
    """How often a session's predictions are right; None if the labels are not known."""
    if session.y_val is None:
        return None
    labels = session.data.classes[found.shares.argmax(axis=1)]
    right, certain = np.asarray(labels == session.y_val), found.certain
    sure, open_ = (found.verdicts == one for one in (SURE, OPEN))
    return Accuracy(
        all=float(right.mean()),
        certain=float(right[certain].mean()) if certain.any() else None,
        open=float(right[open_].mean()) if open_.any() else None,
        sure=float(right[sure].mean()) if sure.any() else None,
        least=float((right & certain).mean()),
        most=1.0 - float((~right & certain).mean()),
        usual=float(np.mean(session.y_val == usual_label(session))),
    )
