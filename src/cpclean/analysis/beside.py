"""How accurate other models are that people fit to a table with holes, on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from cpclean.baselines.rivals import boosting, neighbors_of_means
from cpclean.data.columns import Column
from cpclean.data.frames import columns_from
from cpclean.data.task import Task

# As `cpclean.baselines.rivals` names them, and as people do.
BOOSTING, IMPUTED = "gradient boosting on NaN", "15-NN, SimpleImputer"
WORDS = {BOOSTING: "gradient boosting", IMPUTED: "15 neighbours with means in the holes"}
# What boosting does with categories is chosen by one fold: somebody waits.
_MODELS: dict[str, Callable[..., Any]] = {
    BOOSTING: partial(boosting, folds=1),
    IMPUTED: neighbors_of_means,
}
# Of more training rows, so many are learnt from: it is a comparison, not a model to be used.
MOST_ROWS = 20_000
# Categories that name rows: more than this share of the cells are different.
NAMING = 0.5


def accuracies_beside(
    task: Task, follow: Callable[[str], None] = lambda words: None
) -> dict[str, float]:
    """The share of points whose label each of the other models predicts; by their names.

    Nothing if the points have no labels or were not given as rows, or if all training rows have
    the same label. Columns without a value, and texts that are different in most rows, are left out
    for them.

    Parameters
    ----------
    task : Task
        Over a table.
    follow : function of words, optional
        Called before each model is fitted.
    """
    table, labels = task.table, task.labels
    codes = task.dataset.codes
    if table is None or labels is None or task.raw_points is None or len(set(codes.tolist())) < 2:
        return {}
    used = [at for at, column in enumerate(table.columns) if not _says_nothing(column)]
    own = [table.columns[at] for at in used]
    if not own:
        return {}
    kinds = {column.name: column.kind for column in own}
    given = columns_from(task.raw_points[list(kinds)], kinds)
    rows = np.arange(len(codes))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:MOST_ROWS])
    # Doubted cells are holes here, too.
    X, y = _frame(own, table.holes[:, used]).iloc[rows], codes[rows]
    points = _frame(given, np.column_stack([column.missing for column in given]))
    found = {}
    for name, words in WORDS.items():
        follow(words)
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns without a value, classes of few rows
            said = _MODELS[name](X, y).fit(X, y).predict(points)
        found[name] = float(np.mean(task.dataset.classes[said] == labels))
    return found


def _says_nothing(column: Column) -> bool:
    """Whether nobody would give this column to a model: no value in it, or texts that name rows.

    Gradient boosting learns names of rows by heart; whoever compares leaves them out.
    """
    if column.missing.all():
        return True
    return column.kind == "categorical" and len(column.frequencies) > NAMING * column.n_observed


def one_thread() -> AbstractContextManager[Any]:
    """While this lasts, scikit-learn's models are fitted in one thread.

    The threads of gradient boosting wait for each other at every split of every tree. Over tables
    as small as these they save little; on a machine that has other work to do, they take more than
    ten times as long as one.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


def _frame(columns: Sequence[Column], holes: Any) -> Any:
    """Floats, and text for categories; null where there are holes."""
    import pandas as pd

    found = {}
    for column, hidden in zip(columns, holes.T, strict=True):
        if column.kind == "categorical":
            texts = pd.Series([str(one) for one in column.values.tolist()], dtype=object)
            found[column.name] = texts.mask(hidden, None)
        else:
            found[column.name] = np.where(hidden, np.nan, column.values)
    return pd.DataFrame(found)
