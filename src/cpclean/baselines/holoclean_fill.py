"""HoloClean, the imputation case: every hole filled with the value that its row makes likeliest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cpclean.baselines.estimator import fixed_seed
from cpclean.baselines.filling import Filled, by_rule
from cpclean.baselines.source import Source, brings_labels
from cpclean.baselines.worlds import World
from cpclean.data.columns import Column
from cpclean.data.frames import columns_from, is_frame, kind_of_frame
from cpclean.data.holoclean.cell_values import holo_cells
from cpclean.data.holoclean.holo_model import HoloSettings
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import TableError
from cpclean.queries.model import Metric


class HoloClean(World):
    """HoloClean's repair of a table, and k nearest neighbours in what it makes.

    Values are categories, numbers go into bins. A model learns from the observed cells how well
    the other cells of a row predict a value, and fills every hole with the likeliest one, a number
    with its bin's mean. `cpclean.data.holoclean.holo_model` has the steps; labels play no part.
    Nothing is learnt from doubted cells, and they are repaired as if they were holes. At equal
    probabilities the more frequent value is chosen, then the smaller number or the first text.

    The same model gives candidates and priors: `IncompleteTable(..., repairs="holoclean",
    prior="holoclean")`.

    Parameters
    ----------
    n_neighbors, metric
        As in `cpclean.world_shares`.
    bins : int, default=10
        The number of bins of a column of numbers.
    correlation : float, default=0.05
        Only attributes that correlate more than this with a hole's own propose values for it.
    share : float, default=0.1
        They propose the values that occur in more than this share of the rows like the hole's.
    fallback : int, default=10
        How many of the most frequent values are considered where none is proposed.
    decay : float, default=1.0
        How strongly large weights of the model are penalised; the more cells, the less.
    max_iter : int, default=100
        Maximum number of training steps.
    random_state : int, default=0
        Seed of the sample of cells that very large tables are trained on.

    Attributes
    ----------
    world_ : ndarray of shape (n_rows, n_features)
        The repaired training rows in the encoded space.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean.baselines.holoclean_fill import HoloClean
    >>> frame = pd.DataFrame({"city": ["Bern", "Bern", "Bern", "Rome", "Rome", "Rome"],
    ...                       "land": ["CH", "CH", None, "IT", "IT", None]})
    >>> HoloClean().repair(frame)["land"].tolist()
    ['CH', 'CH', 'CH', 'IT', 'IT', 'IT']
    >>> method = HoloClean(n_neighbors=1).fit(frame, [0, 0, 0, 1, 1, 1])
    >>> method.predict(frame.iloc[[0, 3]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        n_neighbors: int = 3,
        metric: Metric = "euclidean",
        *,
        bins: int = 10,
        correlation: float = 0.05,
        share: float = 0.1,
        fallback: int = 10,
        decay: float = 1.0,
        max_iter: int = 100,
        random_state: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.bins = bins
        self.correlation = correlation
        self.share = share
        self.fallback = fallback
        self.decay = decay
        self.max_iter = max_iter
        self.random_state = random_state

    def repair(self, data: Any, y: Any = None) -> Any:
        """The rows of a table or frame without holes, learnt from these rows themselves.

        Parameters
        ----------
        data : IncompleteTable, space, frame or 2-d array
            A frame or array needs no labels; all its columns are repaired.
        y : None, or labels
            Ignored; accepted because all baselines have this parameter.

        Returns
        -------
        A frame like the one passed, or an array for an array. Holes in a column without any value
        stay.
        """
        if brings_labels(data):
            return super().repair(data, y)
        columns = columns_from(data)
        missing = np.column_stack([column.missing for column in columns])
        filled = holo_cells(columns, missing, self._settings()).filled(columns)
        lists = {column.name: _shown(column) for column in filled}
        made = kind_of_frame(data).frame(lists, np.arange(len(missing)))
        return made if is_frame(data) else made.to_numpy()

    def _rows(self, source: Source) -> Floats:
        return self._table(source).space.encode(self._filled(self._table(source), source))

    def _filled(self, table: IncompleteTable, source: Source) -> Filled:
        answers = holo_cells(table.columns, table.holes, self._settings())
        return answers.filled(by_rule(table))  # a column without any value may have candidates

    def _table(self, source: Source) -> IncompleteTable:
        if source.table is None:
            raise TableError(
                "HoloClean learns from the columns of a table, but an IncompleteDataset has none. "
                "Pass the IncompleteTable, or a frame and its labels."
            )
        return source.table

    def _settings(self) -> HoloSettings:
        fixed_seed(self.random_state)  # under its own name here
        return HoloSettings(
            bins=self.bins,
            correlation=self.correlation,
            share=self.share,
            fallback=self.fallback,
            decay=self.decay,
            max_iter=self.max_iter,
            seed=self.random_state,
        )


def _shown(column: Column) -> list[Any]:
    """Values as a person knows them; whole numbers become floats where a mean is not whole."""
    values = column.values
    if column.whole:
        known = values[~np.isnan(values)]
        column = replace(column, whole=bool((known == np.floor(known)).all()))
    return [column.shown(value) for value in values]
