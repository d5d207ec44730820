"""The common face of all baselines.

``fit(data, y=None)``
    data is one of five things, and decides how points are passed afterwards:

    * an IncompleteTable: points are frames or arrays with its columns;
    * an IncompleteDataset: points are vectors of its space. It has no columns, so its likeliest
      candidates serve as default cleaning;
    * a Task: points are those of its table or dataset;
    * a space: any object with a Task as `task`, whose points and labels are for validation, and
      whichever of these a method needs: `clean` (the true rows, encoded), `truth` (the number of
      every row's true candidate), `default` (the rows as cleaned by default, encoded), `versions`
      (a dict from name to rows, encoded). Points are vectors of its space, or frames;
    * a frame or array with holes, with its labels as y.
``predict(X)``, ``score(X, y)``
    Labels of complete points, and the share of them that is right. X may always be `Points`.
``repair(data)``
    Where the method repairs: the training rows without holes. A frame like the table's own, or
    vectors of shape (n_rows, n_features) where nothing else is known. Frames need no labels.
``scores(X, y)``
    Where rows are cleaned one after the other: a `CleaningCurve`, accuracy at numbers of cleaned
    rows.

So all of them are compared by ``method.fit(space).score(space.X_test, space.y_test)``. Neighbours
vote by the rules of all of cpclean: at equal distance the smaller row is nearer, at equal votes
the smaller class wins. ActiveClean alone has a model of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cpclean.baselines.source import Source, source_of
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.labels import encode_labels
from cpclean.data.rows import Floats, is_whole
from cpclean.errors import DataError, QueryError, offenders
from cpclean.queries.geometry import ask
from cpclean.queries.model import Metric, Model
from cpclean.queries.shares import world_shares


class Baseline(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Predicting and scoring as all baselines do it; subclasses define `fit` and `_codes`.

    Attributes
    ----------
    source_ : Source
        What the method is fitted to.
    classes_ : ndarray
    """

    source_: Source
    classes_: npt.NDArray[Any]
    n_features_in_: int

    @abstractmethod
    def _codes(self, X: Floats) -> Ints:
        """The class number of every point; X holds vectors of the space."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of every point; `cpclean.baselines.estimator` describes X."""
        points = self.points(X)
        return np.asarray(self.classes_[self._codes(points)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of points whose label is predicted."""
        points, truth = self.labelled(X, y)
        return float(np.average(self._codes(points) == truth, weights=sample_weight))

    def points(self, X: Any) -> Floats:
        """Complete points as vectors of the space."""
        check_is_fitted(self, "source_")
        return self.source_.encode(X)

    def labelled(self, X: Any, y: Any) -> tuple[Floats, Ints]:
        """Points as vectors, and the class numbers of their labels."""
        points = self.points(X)
        return points, label_codes(y, self.classes_, len(points), "y")


class NeighborBaseline(Baseline):
    """A baseline that predicts by nearest neighbours."""

    n_neighbors: int
    metric: Metric

    @property
    def model(self) -> Model:
        """The model that the parameters describe."""
        return Model(self.n_neighbors, self.metric)


def begin_fit(method: Baseline, data: Any, y: Any) -> Source:
    """What a method is to be fitted to; the method learns its classes and its width."""
    source = source_of(data, y)
    method.classes_ = source.dataset.classes
    method.n_features_in_ = source.dataset.n_features
    if isinstance(method, NeighborBaseline):
        check_model(source.dataset, method.model)
    return source


def check_model(data: IncompleteDataset, model: Model) -> None:
    """Refuse at once what could not be asked at the first prediction."""
    if model.precomputed:
        raise QueryError('metric must not be "precomputed": a baseline measures distances.')
    ask(data, np.empty((0, data.n_features)), model)


def label_codes(y: Any, classes: npt.NDArray[Any], size: int, what: str) -> Ints:
    """The class number of every label; -1 for labels that no training row has."""
    codes, own = encode_labels(y)
    if len(codes) != size:
        raise DataError(f"{what} must have one label per point, {size} in all; got {len(codes)}.")
    number = {label: code for code, label in enumerate(classes.tolist())}
    found = np.array([number.get(label, -1) for label in own.tolist()], dtype=np.int64)
    if size and found.max() < 0:
        raise DataError(
            f"{what} must have labels such as the data has, "
            f"{offenders(map(repr, classes.tolist()))}; got {offenders(map(repr, own.tolist()))}."
        )
    return np.asarray(found[codes])


def one_world(rows: Floats, labels: Any) -> IncompleteDataset:
    """Complete rows as a dataset with a single world."""
    return IncompleteDataset(list(rows[:, None, :]), labels)


def vote(data: IncompleteDataset, X: Floats, model: Model) -> Ints:
    """The class number that most prior mass predicts; in a single world, the k-NN prediction."""
    return np.asarray(world_shares(data, X, model.n_neighbors, model.metric).argmax(axis=1))


def fixed_seed(random_state: Any) -> int:
    """A seed that has to be given, so that every run can be repeated."""
    if not is_whole(random_state) or random_state < 0:
        raise DataError(f"random_state must be an int of at least 0; got {random_state!r}.")
    return int(random_state)


def checked_size(size: Any, name: str) -> int:
    """A number of runs, rounds or rows."""
    if not is_whole(size) or size < 1:
        raise DataError(f"{name} must be an int of at least 1; got {size!r}.")
    return int(size)
