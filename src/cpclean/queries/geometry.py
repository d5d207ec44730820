"""Questions checked once: the data, the points, the metric and the number of neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.data.rows import Floats, is_whole
from cpclean.data.spaces.filled_space import FilledSpace
from cpclean.data.spaces.fitted_map import FittedMap
from cpclean.data.spaces.trees import Trees
from cpclean.errors import QueryError, offenders
from cpclean.queries import kernel_arrays
from cpclean.queries.leaf_query import LeafQuery
from cpclean.queries.mapped_query import MappedQuery
from cpclean.queries.model import Metric, Model
from cpclean.queries.plain_query import PlainQuery
from cpclean.queries.prepared import check_size, prepared_rows
from cpclean.queries.query import Query

METRICS = {
    "euclidean": kernel_arrays.EUCLIDEAN,
    "rbf": kernel_arrays.EUCLIDEAN,  # exp(-g |x - t|^2) falls as |x - t| grows: the same order
    "manhattan": kernel_arrays.MANHATTAN,
    "chebyshev": kernel_arrays.CHEBYSHEV,
    "linear": kernel_arrays.LINEAR,
    "cosine": kernel_arrays.COSINE,
    "hamming": kernel_arrays.HAMMING,
    "precomputed": kernel_arrays.PRECOMPUTED,
}
# A vector with a 1 for every leaf that it is in, else 0, has these distances in the same order.
LEAF_METRICS = ("hamming", "euclidean", "rbf", "manhattan", "cosine", "linear")


def ask(data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model) -> Query:
    """Check a question once; every later step trusts it."""
    if not isinstance(data, IncompleteDataset):
        raise QueryError(
            f"data must be an IncompleteDataset or a table; got {type(data).__name__}. "
            "Wrap candidates and labels: IncompleteDataset(candidates, labels)."
        )
    n_neighbors = _checked_n_neighbors(model.n_neighbors, data.n_rows)
    metric, code = model.metric, _metric_code(model.metric)
    _check_space(data.space, metric)
    width = data.n_candidates if model.precomputed else data.n_features
    if isinstance(X, Points):
        _checked_points(X.vectors, width, metric)
        points = X
    else:
        points = Points.of(_checked_points(X, width, metric), merge=not model.precomputed)
    if isinstance(data.space, Trees):
        return LeafQuery.of(data, points, n_neighbors)
    if isinstance(data.space, FittedMap):
        own = kernel_arrays.HAMMING if data.space.is_leaves else code
        return MappedQuery.of(data, data.space, points, n_neighbors, own)
    if not data.is_exact and code == kernel_arrays.PRECOMPUTED:
        raise _not_measured(data)
    prepared = prepared_rows(data)
    if not callable(metric):
        check_size(prepared, points.vectors, code)
    return PlainQuery(
        data=data,
        n_neighbors=n_neighbors,
        rarest=prepared.rarest,
        points=points,
        vectors=points.vectors,
        drawn=None,
        prepared=prepared,
        metric=code,
        distance=metric if callable(metric) else None,
    )


def ask_both(data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model) -> Query:
    """Check a question about all worlds and, where rows are drawn, about draws as well."""
    query = ask(data, X, model)
    return query if data.is_exact else replace(query, drawn=ask(data.sampled, query.points, model))


def ask_shares(data: IncompleteDataset, X: Points | npt.ArrayLike, model: Model) -> Query:
    """Check a question about shares: it is asked of draws where rows have too many candidates."""
    given = data if model.precomputed else getattr(data, "sampled", data)
    return ask(given, X, model)


def _check_space(space: FilledSpace | None, metric: Metric) -> None:
    """Refuse a metric that does not fit the space."""
    if space is None:
        return
    named = isinstance(metric, str)
    if isinstance(space, FittedMap) and not space.is_leaves:
        if named and metric != "precomputed":
            return
        raise QueryError(
            "in the space of a fitted object, distances are measured between the vectors that it "
            "makes: metric must have a name, such as 'euclidean', and distances cannot be given; "
            f"got {metric!r}.",
            field="metric",
        )
    if not named or metric not in LEAF_METRICS:
        raise QueryError(
            "among the leaves of trees, distance is the number of trees that tell two vectors "
            f"apart: metric may be {', '.join(map(repr, LEAF_METRICS))}, which all have the same "
            f"order there; got {metric!r}.",
            field="metric",
        )


def _not_measured(data: IncompleteDataset) -> QueryError:
    rows = data.drawn_rows.tolist()
    return QueryError(
        "with a metric that is a function, or with distances that are given, every candidate has "
        f"to be looked at to find what is certain; row {offenders(rows)} has more than "
        f"{data.drawing.max_exact:,} (max_exact). Use a named metric, or raise max_exact.",
        field="metric",
    )


def _checked_n_neighbors(n_neighbors: Any, n_rows: int) -> int:
    if not is_whole(n_neighbors) or not 1 <= n_neighbors <= n_rows:
        raise QueryError(
            f"n_neighbors must be an int in [1, {n_rows}] (the number of training rows); "
            f"got {n_neighbors!r}.",
            field="n_neighbors",
        )
    return int(n_neighbors)


def _metric_code(metric: Any) -> int:
    if callable(metric):
        return kernel_arrays.PRECOMPUTED
    if not isinstance(metric, str) or metric not in METRICS:
        raise QueryError(
            f"metric must be one of {', '.join(sorted(METRICS))}, "
            f"or a function (x, t) -> distance; got {metric!r}."
        )
    return METRICS[metric]


def _checked_points(X: npt.ArrayLike, width: int, metric: Metric) -> Floats:
    try:
        given = np.asarray(X)
    except ValueError as problem:
        raise QueryError(
            f"X must have rows of equal length, one per query point; {problem}"
        ) from problem
    try:
        if given.dtype.kind in "USMmVc":
            raise TypeError(f"dtype {given.dtype}")
        points = np.asarray(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as problem:
        raise QueryError(
            f"X must be numbers; {problem}. Encode categories as numbers first."
        ) from problem
    if points.ndim != 2:
        raise QueryError(
            f"X must have two dimensions, one row per query point; got shape {points.shape}. "
            "For a single point use X.reshape(1, -1)."
        )
    if points.shape[1] != width:
        meant = (
            "a distance to every candidate, row after row"
            if metric == "precomputed"
            else "as many features as the training candidates"
        )
        columns = "1 column" if width == 1 else f"{width} columns"
        raise QueryError(f"X must have {columns} ({meant}); got {points.shape[1]}.")
    if not np.isfinite(points).all():
        bad = np.argwhere(~np.isfinite(points))
        places = offenders(tuple(int(i) for i in place) for place in bad)
        raise QueryError(
            f"X must be finite; got NaN or infinity at {places}. "
            "Query points must be complete; give the completions of one with holes as Points."
        )
    return points
