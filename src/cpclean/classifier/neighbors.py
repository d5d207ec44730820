"""A scikit-learn classifier: fit a table with holes, predict by the vote over its worlds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from cpclean.data.completions import checked_completions
from cpclean.data.domains import DomainTable, plain_frame
from cpclean.data.frames import distinct_names, is_frame, names_of, unmasked
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.labels import encode_labels
from cpclean.data.large_counts import world_count_text
from cpclean.data.points import MAX_COMPLETIONS, Points
from cpclean.data.rows import Floats
from cpclean.data.streamed.streamed_table import StreamedTable
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.errors import QueryError, TableError, offenders
from cpclean.queries import certain, shares, sureness
from cpclean.queries.geometry import ask
from cpclean.queries.model import Metric, Model
from cpclean.queries.near_scan import checked_model, gather


class CertainKNeighborsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Nearest neighbours over all ways of filling the holes of a table.

    Each hole has candidate values with a prior; a world chooses one candidate for every hole. The
    prediction is the label that most prior mass predicts, and `is_certain` says for which points
    all worlds predict the same. Without holes there is only one world, and predictions are those
    of scikit-learn's `KNeighborsClassifier` wherever distances are distinct. Ties: at equal
    distance the row with the smaller number is nearer; at equal votes, and at equal shares, the
    class that sorts first wins. In another than the plain space many rows are at equal distances.
    There the rows of X are brought into a random order first, so that it does not matter whether X
    is sorted; a table or dataset of your own stays as it is.

    Training rows and points to predict may have holes. A point with holes stands for all ways of
    completing it, weighed by a prior that looks at no label: its shares are the mean over them,
    and it is certain if all of them are predicted the same in all worlds. A category that does not
    occur in training is equally far from all others, with a warning.

    Parameters
    ----------
    n_neighbors : int, default=3
        K, from 1 to the number of training rows.
    metric : str or callable, default="euclidean"
        "euclidean", "manhattan", "chebyshev", "cosine", "linear", "rbf", "hamming", or a function
        (x, t) -> distance in the encoded space.
    repairs, prior, kinds, scaling, null_tokens, space, max_exact, n_draws, random_state
        As in `IncompleteTable`. Columns of arrays are named x0, x1, ...; their numbers are scaled
        like those of frames, unless scaling="none".
    column_weights : dict from column name to float, optional
        How much a column counts; 0 leaves it out.
    completions : "observed", "uniform", "holoclean", function, or dict, default="observed"
        How likely each value of a point's hole is; see `IncompleteTable.points`.
    max_completions : int, default=125
        A point with more completions than this is represented by `n_draws` draws of them: shares
        are estimates then, and what is called certain is proved for all of its completions.
    n_jobs : int, optional
        Threads for predictions; -1 for all processors. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), sorted
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only where all columns have names
    table_ : IncompleteTable or None
        The table with its encoding; None after fitting an `IncompleteDataset`. If X and y were
        fitted in another than the plain space, its rows are in a random order, by `random_state`:
        `table_.rows_kept` has the number in X of each.
    dataset_ : IncompleteDataset
        The training rows in the encoded space, in the order of `table_`.
    is_exact_ : bool
        Whether no training row is represented by draws, so that shares of points are exact.
    n_neighbors_ : int
        How many neighbours vote.
    n_worlds_ : int
        The exact number of worlds, which Python prints up to 4,300 digits only.
    dirty_rows_ : ndarray of int
        The training rows with more than one candidate, as they are numbered in X.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean.classifier import CertainKNeighborsClassifier
    >>> X = pd.DataFrame({"size": [1, 2, None, 8, 9], "hue": ["red", "red", "red", "blue", None]})
    >>> y = ["no", "no", "no", "yes", "yes"]
    >>> model = CertainKNeighborsClassifier(n_neighbors=1, prior="uniform").fit(X, y)
    >>> model.n_worlds_, model.dirty_rows_.tolist()
    (15, [2, 4])
    >>> points = pd.DataFrame({"size": [1.5, 9.0], "hue": ["red", "red"]})
    >>> model.is_certain(points).tolist(), model.world_counts(points).tolist()
    ([True, False], [[15, 0], [11, 4]])
    >>> model.predict_proba(points).round(3).tolist()
    [[1.0, 0.0], [0.733, 0.267]]
    >>> model.verdicts(points).tolist(), model.verdicts(points, level=0.7).tolist()
    (['certain', 'open'], ['certain', 'sure'])
    """

    def __init__(
        self,
        n_neighbors: int = 3,
        metric: Metric = "euclidean",
        repairs: Any = "default",
        prior: Any = "label",
        *,
        kinds: Mapping[str, str] | None = None,
        scaling: str = "minmax",
        column_weights: Mapping[str, float] | None = None,
        completions: Any = "observed",
        max_completions: int = MAX_COMPLETIONS,
        null_tokens: Iterable[str] = (),
        space: Any = "plain",
        max_exact: int | None = None,
        n_draws: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors: Any = n_neighbors
        self.metric = metric
        self.repairs = repairs
        self.prior = prior
        self.kinds = kinds
        self.scaling = scaling
        self.column_weights = column_weights
        self.completions = completions
        self.max_completions = max_completions
        self.null_tokens = null_tokens
        self.space = space
        self.max_exact = max_exact
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the candidates of every hole, and encode the rows.

        Parameters
        ----------
        X : frame (pandas, polars, pyarrow), 2-d array, or one of cpclean's tables and datasets
            Nulls are holes. An IncompleteTable, StreamedTable or IncompleteDataset is used as it
            is: `repairs`, `prior` and the other options of tables are ignored. A DomainTable, which
            `read_csv(path, domains=True)` returns, has its own repairs. The files of a
            StreamedTable are read again for every prediction; `table_` and `dataset_` have one row.
        y : sequence of labels, of any sortable kind
            None for a table or dataset that has labels. For a DomainTable, the name of the label
            column is enough.
        """
        self.table_: IncompleteTable | None
        space = self._chosen_space()
        is_given = isinstance(X, IncompleteTable | IncompleteDataset | StreamedTable)
        if isinstance(X, DomainTable):
            X, y = self._new_table(X, y, space), None
        self._files = X if isinstance(X, StreamedTable) else None
        if isinstance(X, IncompleteTable | IncompleteDataset | StreamedTable):
            labels = self._take_over(X, y)
        else:
            labels = _checked_labels(y, type(self).__name__)
            self.table_ = self._table_of(X, labels, space)
            self.dataset_ = self.table_.dataset
        if isinstance(self.metric, str) and self.metric == "precomputed":
            raise QueryError('metric must not be "precomputed": a classifier measures distances.')
        self.n_neighbors_ = self._chosen_number(space)
        # A query that cannot be answered is refused now rather than at the first prediction.
        model = Model(self.n_neighbors_, self.metric)
        if self._files is None:
            ask(self.dataset_, np.empty((0, self.dataset_.n_features)), model)
        else:
            checked_model(self._files, self.n_neighbors_, self.metric)
        if self.table_ is not None:
            checked_completions(self.completions, self.table_.names)
        self.classes_ = encode_labels(labels)[1]
        self.is_exact_ = (self._files or self.dataset_).is_exact
        self.n_worlds_ = self.dataset_.n_worlds
        self.dirty_rows_ = self.dataset_.dirty_rows  # of files: those of the one row at hand
        if self.table_ is not None and not is_given:
            self.dirty_rows_ = np.sort(self.table_.rows_kept[self.dirty_rows_])
        return self

    def predict(self, X: Any, *, cluster: Any = None) -> npt.NDArray[Any]:
        """The label that most prior mass predicts; at equal shares, the one that sorts first.

        Parameters
        ----------
        X : frame or 2-d array with the columns of the training table, or Points
            Nulls are holes; see `completions`. After fitting an IncompleteDataset: vectors of its
            encoded space, without holes.
        cluster : str or dask.distributed.Client, optional
            Who answers, as in `cpclean.world_shares`.
        """
        shares = self.predict_proba(X, cluster=cluster)  # complains if nothing is fitted
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: Any, *, cluster: Any = None) -> Floats:
        """The share of prior mass that predicts each label, as in `cpclean.world_shares`.

        Columns are in the order of `classes_`. Here and below, X and cluster are as in `predict`.
        """
        return self._answers(shares.world_shares, X, cluster)

    def is_certain(self, X: Any, *, cluster: Any = None) -> npt.NDArray[np.bool_]:
        """Whether all worlds predict the same label for each point, however it is completed."""
        return self._answers(certain.is_certain, X, cluster)

    def possible_labels(self, X: Any, *, cluster: Any = None) -> npt.NDArray[np.bool_]:
        """The labels that at least one world predicts, shape (n_points, n_classes).

        For a point with holes: for at least one of its completions.
        """
        return self._answers(certain.possible_labels, X, cluster)

    def world_counts(self, X: Any, *, cluster: Any = None) -> npt.NDArray[Any]:
        """The exact number of worlds that predict each label, as Python ints.

        Worlds are counted once for every completion of a point.
        """
        return self._answers(shares.world_counts, X, cluster)

    def is_sure(
        self, X: Any, level: float = sureness.LEVEL, *, cluster: Any = None
    ) -> npt.NDArray[np.bool_]:
        """Whether one label holds at least a share `level` of the prior mass, as in `is_sure`.

        The estimated error of shares that come from draws is taken off. Certain points are sure.
        """
        return self._answers(partial(sureness.is_sure, level=level), X, cluster)

    def verdicts(
        self, X: Any, level: float = sureness.LEVEL, *, cluster: Any = None
    ) -> npt.NDArray[np.str_]:
        """What can be said about each prediction: "certain", "sure" or "open"."""
        return self._answers(partial(sureness.verdicts, level=level), X, cluster)

    def _chosen_space(self) -> Any:
        """The space of the table to be made."""
        return self.space

    def _chosen_number(self, space: Any) -> Any:
        """How many neighbours vote in the table that was made in a space."""
        return self.n_neighbors

    def _take_over(
        self, X: IncompleteTable | IncompleteDataset | StreamedTable, y: Any
    ) -> npt.NDArray[Any]:
        if y is not None:
            raise TableError(
                f"y must be None, because the {type(X).__name__} has labels; "
                f"got y of type {type(y).__name__}."
            )
        if isinstance(X, StreamedTable):
            self.table_, self.dataset_ = X.empty, X.empty.dataset
        else:
            self.table_ = X if isinstance(X, IncompleteTable) else None
            self.dataset_ = X.dataset if isinstance(X, IncompleteTable) else X
        names = () if self.table_ is None else self.table_.names
        self.n_features_in_ = len(names) or self.dataset_.n_features
        if names != _array_names(len(names)):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return _narrowed(self.dataset_.labels if self._files is None else self.dataset_.classes)

    def _table_of(self, X: Any, labels: npt.NDArray[Any], space: Any) -> IncompleteTable:
        X = self._checked_columns(X, fitting=True)
        check_consistent_length(X, labels)
        return self._new_table(X, labels, space)

    def _new_table(self, X: Any, label: Any, space: Any) -> IncompleteTable:
        # Imputers are fitted to the table, but a parameter has to stay as it was given.
        listed = isinstance(self.repairs, list | tuple)
        table = IncompleteTable(
            X,
            label=label,
            repairs=clone(self.repairs, safe=False) if listed else self.repairs,
            prior=self.prior,
            kinds=self.kinds,
            scaling=self.scaling,
            weights=self.column_weights,
            null_tokens=self.null_tokens,
            space=space,
            max_exact=self.max_exact,
            n_draws=self.n_draws,
            random_state=self.random_state,
        )
        # Among leaves many rows tie, and the order of X must not say which of them vote.
        return table if table.leaves is None else table.shuffled(self.random_state)

    def task(self, X: Any, y: Any = None) -> Task:
        """The training table and some points as one value, for sessions and reports.

        Parameters
        ----------
        X : as in `predict`
        y : true labels of X, optional
        """
        check_is_fitted(self)
        table = self.table_
        if table is None or isinstance(X, Points):
            asked = self._vectors(X)
            return Task.of(self._near(asked, table or self.dataset_), asked, y)
        seen, points = self._as_trained(table, X)
        asked = seen.points(points, self.completions, max_completions=self.max_completions)
        return replace(Task.of(self._near(asked, table), asked, y), raw_points=X)

    def _answers(
        self, query: Callable[..., npt.NDArray[Any]], X: Any, cluster: Any
    ) -> npt.NDArray[Any]:
        """What a query says about the points, asked about some of them at a time."""
        check_is_fitted(self)
        auto = isinstance(self.n_neighbors, str)
        asked = (self.n_neighbors_ if auto else self.n_neighbors, self.metric)
        hands = {"n_jobs": self.n_jobs, "cluster": cluster}
        found = [
            query(self._near(part, self.dataset_, cluster), part, *asked, **hands)
            for part in self._parts(X)
        ]
        return np.concatenate(found)

    def _near(self, points: Points, data: Any, cluster: Any = None) -> Any:
        """The data; of a table of files, the rows that matter to the points, in the same form."""
        if self._files is None:
            return data
        hands = {"n_jobs": self.n_jobs, "cluster": cluster}
        found = gather(self._files, points, self.n_neighbors_, self.metric, **hands)
        return found.dataset if isinstance(data, IncompleteDataset) else found

    def _parts(self, X: Any) -> Iterator[Points]:
        if self.table_ is None or isinstance(X, Points):
            return iter([self._vectors(X)])
        table, X = self._as_trained(self.table_, X)
        return table.points_in_parts(X, self.completions, max_completions=self.max_completions)

    def _vectors(self, X: Any) -> Points:
        """Points that are encoded already."""
        if isinstance(X, Points):
            return X
        allowed = {"ensure_all_finite": False, "ensure_min_samples": 0}
        return Points.of(validate_data(self, X, reset=False, **allowed))

    def _as_trained(self, table: IncompleteTable, X: Any) -> tuple[IncompleteTable, Any]:
        """Points with as many columns as in training, and a table with their names."""
        plain = plain_frame(X)
        if is_frame(plain) and table.label is not None:  # the label column may still be among them
            return table, X
        plain = self._checked_columns(plain, fitting=False)
        if not is_frame(plain) or table.names == _array_names(len(table.names)):
            # One of the two has no names: columns are matched in order, as in scikit-learn.
            table = copy(table)
            table.names = _names(plain)
        return table, X if isinstance(X, DomainTable) else plain

    def _checked_columns(self, X: Any, fitting: bool) -> Any:
        """X with the names and number of columns that scikit-learn requires, in two dimensions."""
        fewest = 2 if fitting else 0
        X = unmasked(X)
        if is_frame(X):
            distinct_names(X)
            if len(X) < fewest:
                raise TableError(f"at least {fewest} rows are needed to fit; got {len(X)}.")
            return validate_data(self, X, reset=fitting, skip_check_array=True)
        if isinstance(X, list | tuple):
            X = np.array(X, dtype=object)  # or numbers beside text would become text
        # Infinity is refused later, with its row and column.
        allowed = {"ensure_all_finite": False, "ensure_min_samples": fewest}
        X = validate_data(self, X, reset=fitting, dtype=None, **allowed)
        if X.dtype == object:
            odd = offenders(repr(cell) for cell in X.ravel() if not isinstance(cell, Hashable))
            if odd:
                raise TypeError(f"cells of the argument must be a string or a number; got {odd}.")
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _html_repr(self) -> str:
        """scikit-learn's diagram; once fitted, also a summary of the table."""
        diagram = str(super()._html_repr())
        if not hasattr(self, "classes_"):
            return diagram
        n_dirty, n_rows = len(self.dirty_rows_), self.dataset_.n_rows
        if self._files is not None:
            n_dirty, n_rows = self._files.n_dirty, self._files.n_rows
        summary = f"{n_dirty:,} of {n_rows:,} rows have holes: {world_count_text(self.n_worlds_)}."
        columns = "" if self.table_ is None else self.table_.to_html()
        return f"{diagram}<details><summary>{escape(summary)}</summary>{columns}</details>"

    def _get_fitted_attr_html(self, *args: Any, **kwargs: Any) -> Any:
        # The diagram prints attributes, but Python does not print ints that are so long.
        attributes = super()._get_fitted_attr_html(*args, **kwargs)
        attributes.pop("n_worlds_", None)
        return attributes


def _names(X: Any) -> tuple[str, ...]:
    if not is_frame(X):
        return _array_names(X.shape[1])
    return tuple(names_of(X))


def _array_names(size: int) -> tuple[str, ...]:
    return tuple(f"x{number}" for number in range(size))


def _checked_labels(y: Any, name: str) -> npt.NDArray[Any]:
    if y is None:
        raise TableError(
            f"{name} requires y to be passed, but the target y is None. "
            "Only IncompleteTable and IncompleteDataset have labels of their own."
        )
    if isinstance(y, str):
        raise TableError(
            f"y must be the labels, one per row; got the text {y!r}. If it is a column of X: "
            f"fit(IncompleteTable(X, label={y!r}))."
        )
    if isinstance(y, list | tuple):
        y = np.array(y, dtype=object)  # or numbers beside text would become text
    labels = _narrowed(column_or_1d(np.asarray(y), warn=True))
    encode_labels(labels)  # says which are null, or cannot be sorted
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    return labels


def _narrowed(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels in an array of objects, converted to a narrower dtype if there is one."""
    if labels.dtype != object:
        return labels
    plain = bool | int | float | np.number | np.bool_
    if all(isinstance(one, str) for one in labels) or all(isinstance(one, plain) for one in labels):
        return np.array(labels.tolist())
    return labels
