"""Rival models: what people fit to a table with holes instead, as scikit-learn pipelines.

Each is built for training rows, takes frames with nulls, and returns probabilities in the
order of its `classes_`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline

from cpclean.data.frames import columns_from
from cpclean.data.rows import Floats

Labels = npt.NDArray[Any]

N_NEIGHBORS = 15
# One-hot columns of a column at most, the most frequent categories; others have none.
MOST_ONE_HOT = 30
# Categories that gradient boosting can tell apart.
MOST_CODES = 250
# Columns that IterativeImputer looks at for a hole.
_NEAREST_FEATURES = 20


class Filled(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Holes filled by the mean, or by the most frequent category, of the column.

    Parameters
    ----------
    by_class : bool
        Whether the rows that it is fitted to are filled by their own class. Other rows have no
        label, and are filled by the whole column.
    """

    def __init__(self, by_class: bool = False) -> None:
        self.by_class = by_class

    def fit(self, X: Any, y: Any = None) -> Self:
        self.kinds_ = _kinds(X)
        self.values_ = self._values(X)
        return self

    def transform(self, X: Any) -> Any:
        return self._with(X, self.values_)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        self.fit(X)
        if not self.by_class:
            return self.transform(X)
        import pandas as pd

        parts = []
        for label in np.unique(y):
            own = X[np.asarray(y) == label]
            observed = {name: value for name, value in self._values(own).items() if value == value}
            parts.append(self._with(own, {**self.values_, **observed}))
        return pd.concat(parts).loc[X.index]

    def _values(self, X: Any) -> dict[str, Any]:
        return {
            name: X[name].mean() if number else _by_frequency(X[name], 1, default=np.nan)[0]
            for name, number in self.kinds_.items()
        }

    @staticmethod
    def _with(X: Any, values: Mapping[str, Any]) -> Any:
        filled = X.copy()
        for name, value in values.items():
            filled[name] = X[name].where(X[name].notna(), value)
        return filled


class FrameCoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A frame as floats; a hole is NaN in all of its columns.

    Parameters
    ----------
    one_hot : bool
        Numbers to mean 0 and variance 1, and a column for each category; otherwise numbers as they
        are, and codes of categories in alphabetical order.
    """

    def __init__(self, one_hot: bool = True) -> None:
        self.one_hot = one_hot

    def fit(self, X: Any, y: Any = None) -> Self:
        self.kinds_ = _kinds(X)
        self.empty_ = [name for name in self.kinds_ if X[name].isna().all()]
        most = MOST_ONE_HOT if self.one_hot else MOST_CODES
        self.categories_ = {
            name: sorted(_by_frequency(X[name], most), key=str)
            for name, number in self.kinds_.items()
            if not number
        }
        self.scales_ = {
            name: (X[name].mean(), X[name].std(ddof=0) or 1.0) if self.one_hot else (0.0, 1.0)
            for name, number in self.kinds_.items()
            if number
        }
        return self

    def transform(self, X: Any) -> Floats:
        parts = []
        for name, number in self.kinds_.items():
            column = X[name]
            if name in self.empty_:  # there is nothing to split it by, or to fill it with
                parts.append(np.zeros(len(X)))
                continue
            if number:
                mean, scale = self.scales_[name]
                parts.append((column.to_numpy(dtype=np.float64, na_value=np.nan) - mean) / scale)
                continue
            missing = column.isna().to_numpy()
            alike = [(column == value).to_numpy(dtype=bool, na_value=False)
                     for value in self.categories_[name]]  # fmt: skip
            if self.one_hot:
                parts += [np.where(missing, np.nan, one.astype(np.float64)) for one in alike]
            else:
                codes = np.full(len(X), np.nan)
                for code, one in enumerate(alike):
                    codes[one] = code
                parts.append(codes)
        return np.column_stack(parts)


def _kinds(X: Any) -> dict[str, bool]:
    """Whether each column is one of numbers."""
    return {column.name: column.kind == "numeric" for column in columns_from(X)}


def _by_frequency(column: Any, most: int, default: Any = None) -> list[Any]:
    counts = column.dropna().value_counts()
    order = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return [value for value, _ in order[:most]] or ([] if default is None else [default])


# -- the pipelines ---------------------------------------------------------------------------------


ROUNDS = 100  # of gradient boosting, as scikit-learn has it


def boosting(X: Any, y: Labels, folds: int = 3) -> Pipeline:
    """Gradient boosting that treats holes itself.

    Categories as its categorical features, or in alphabetical order as numbers: what does better in
    3 folds of the training rows, or in the first of them alone.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    known = [not number for number in _kinds(X).values()]
    if not any(known):
        return _boosting(None)
    parts = list(StratifiedKFold(3).split(X, y))[:folds]
    scores = [cross_val_score(_boosting(one), X, y, cv=parts).mean() for one in (known, None)]
    return _boosting(known if scores[0] >= scores[1] else None)


def _boosting(categorical: list[bool] | None) -> Pipeline:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS, categorical_features=categorical, random_state=0
    )
    return make_pipeline(FrameCoder(one_hot=False), model)


def forest(X: Any, y: Labels) -> Pipeline:
    """A random forest on means and most frequent categories."""
    from sklearn.ensemble import RandomForestClassifier

    return make_pipeline(Filled(), FrameCoder(), RandomForestClassifier(random_state=0))


def neighbors_of_means(X: Any, y: Labels) -> Pipeline:
    """k-NN on means and most frequent categories, which is what SimpleImputer fills in."""
    return make_pipeline(Filled(), FrameCoder(), _neighbors(X))


def neighbors_of_class_means(X: Any, y: Labels) -> Pipeline:
    """k-NN on means and most frequent categories of the row's class."""
    return make_pipeline(Filled(by_class=True), FrameCoder(), _neighbors(X))


def neighbors_after_knn(X: Any, y: Labels) -> Pipeline:
    """k-NN after KNNImputer."""
    from sklearn.impute import KNNImputer

    return make_pipeline(FrameCoder(), KNNImputer(), _neighbors(X))


def neighbors_after_rounds(X: Any, y: Labels) -> Pipeline:
    """k-NN after IterativeImputer, which looks at 20 columns for each hole at most."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    rounds = IterativeImputer(
        n_nearest_features=_NEAREST_FEATURES, skip_complete=True, random_state=0
    )
    return make_pipeline(FrameCoder(), rounds, _neighbors(X))


def _neighbors(X: Any) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(min(N_NEIGHBORS, len(X)))


RIVALS: dict[str, Callable[[Any, Labels], Pipeline]] = {
    "gradient boosting on NaN": boosting,
    "random forest, means": forest,
    "15-NN, SimpleImputer": neighbors_of_means,
    "15-NN, KNNImputer": neighbors_after_knn,
    "15-NN, IterativeImputer": neighbors_after_rounds,
    "15-NN, class means": neighbors_of_class_means,
}
BOOSTING = next(iter(RIVALS))


def rival(name: str, X: Any, y: Labels) -> Pipeline:
    """A rival by its name, not fitted yet; what it has to choose is chosen by these rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds without a class
        return RIVALS[name](X, y)
