"""Tables to fit, frames of every library, and agreement with the queries."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from cpclean import is_certain, possible_labels, world_counts, world_shares
from cpclean.errors import QueryError

METHODS = ("predict", "predict_proba", "is_certain", "possible_labels", "world_counts")


def mixed_columns(n_rows=60, seed=0, holes=0.2):
    """Columns of several kinds as plain lists, None where there is a hole, and labels."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n_rows)
    columns = {
        "size": (rng.normal(size=n_rows) + label).tolist(),
        "hue": [("red", "green", "blue")[code] for code in (rng.integers(0, 2, n_rows) + label)],
        "old": rng.choice([True, False], n_rows).tolist(),
        "rooms": rng.integers(1, 9, n_rows).tolist(),
    }
    for values in columns.values():
        for row in np.flatnonzero(rng.random(n_rows) < holes):
            values[row] = None
    for row in range(n_rows):  # a row of which nothing is known is no row
        if all(values[row] is None for values in columns.values()):
            columns["rooms"][row] = 5
    return columns, np.array(["no", "yes"])[label]


def mixed_frames(holes=0.2):
    """A frame with holes, its labels, and a frame of complete points."""
    columns, y = mixed_columns(holes=holes)
    points, _ = mixed_columns(40, seed=1, holes=0.0)
    return pd.DataFrame(columns), y, pd.DataFrame(points)


def holey_array(n_rows=50, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 3)) + y[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 2] = y  # no row is all holes
    return X, y, rng.normal(size=(30, 3)) + 0.5


def as_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def as_pyarrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def as_arrow_dtypes(columns):
    pytest.importorskip("pyarrow")
    return pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow")


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas categories": lambda columns: pd.DataFrame(columns).astype({"hue": "category"}),
    "pandas arrow": as_arrow_dtypes,
    "polars": as_polars,
    "pyarrow": as_pyarrow,
}


def assert_agrees(model, X, points, **options):
    """All methods against the functions, asked of the encoded points directly."""
    asked = (model.dataset_, points, model.n_neighbors)
    shares = world_shares(*asked, **options)
    assert_array_equal(model.predict_proba(X), shares)
    assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert_array_equal(model.is_certain(X), is_certain(*asked, **options))
    assert_array_equal(model.possible_labels(X), possible_labels(*asked, **options))
    if model.dataset_.is_exact:
        assert model.world_counts(X).tolist() == world_counts(*asked, **options).tolist()
    else:
        with pytest.raises(QueryError, match="worlds are counted by going through all candidates"):
            model.world_counts(X)
