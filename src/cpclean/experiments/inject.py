"""Holes made on purpose in a complete table: which cells are hidden, and by what rule.

"random"     every cell alike, completely at random
"important"  the paper's scheme: columns in proportion to the accuracy that k-NN loses without them
"high"       not at random: the higher a value in its column, the likelier it is hidden

The paper calls its scheme "missing not at random", but the chance there depends on the column
alone, never on the value. "high" does what the name says. Categories have no order: for "high" the
rarer ones count as higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.frames import columns_from
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError

Bools = npt.NDArray[np.bool_]

INJECTIONS = ("random", "important", "high")

# "high": the highest value of a column is exp(STRENGTH) times as likely to be hidden as the lowest.
STRENGTH = 4.0
# A column keeps at least this share of its cells, or nothing could be learnt about it.
KEPT_OF_COLUMN = 0.05
# The most rows on which the accuracy lost without a column is measured.
_LOSS_ROWS = 2000
# Far below any logarithm of a weight: a column of weight 0 is hidden only when no other is left.
_LAST = -1e6


@dataclass(frozen=True)
class Injected:
    """A frame with holes, and where they are: True in `mask` is a hidden cell."""

    frame: Any
    mask: Bools


def inject(
    frame: Any,
    kind: str = "random",
    rate: float = 0.2,
    seed: int = 0,
    labels: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
) -> Injected:
    """Hide a share of a frame's cells; no row and no column is hidden as a whole.

    Parameters
    ----------
    frame : pandas.DataFrame
        Features without nulls, of any types.
    kind : {"random", "important", "high"}
        The rule, as described above.
    rate : float
        Exactly this share of all cells is hidden, rounded to whole cells.
    seed : int
        The same seed hides the same cells.
    labels : sequence, optional
        One per row; needed for "important", unless there are weights.
    weights : sequence of float, optional
        How likely the cells of each column are hidden, in proportion; for "random" and "high" all
        columns alike by default.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": range(10), "city": list("AABBCCDDEE")})
    >>> injected = inject(frame, "random", rate=0.2, seed=1)
    >>> int(injected.mask.sum()), int(injected.frame.isna().sum().sum())
    (4, 4)
    """
    if kind not in INJECTIONS:
        raise DataError(f"kind must be one of {', '.join(INJECTIONS)}; got {kind!r}.")
    columns = columns_from(frame)
    if any(column.missing.any() for column in columns):
        raise DataError("holes can be injected into a complete table only; this one has nulls.")
    if kind == "important" and weights is None:
        if labels is None:
            raise DataError('kind="important" needs labels, or the weights of the columns.')
        weights = np.maximum(accuracy_losses(frame, labels), 0.0).tolist()
    chances = _log_weights(weights, len(columns))[None, :].repeat(len(frame), axis=0)
    if kind == "high":
        chances = chances + STRENGTH * np.column_stack([_heights(column) for column in columns])
    mask = hidden_cells(chances, rate, np.random.default_rng(seed))
    return Injected(frame.mask(mask), mask)


def inject_by_class(
    frame: Any, labels: npt.ArrayLike, rate: float = 0.2, seed: int = 0
) -> Injected:
    """Hide cells whose value and label say so: high values of every other class, low of the rest.

    No prior that is learnt from observed values can be right then: those of a class that are left
    say the opposite of those that are hidden.

    Parameters
    ----------
    frame, rate, seed
        As in `inject`.
    labels : sequence
        One per row; classes are taken in ascending order.
    """
    columns = columns_from(frame)
    heights = np.column_stack([_heights(column) for column in columns])
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    chances = STRENGTH * np.where((codes % 2 == 0)[:, None], heights, 1.0 - heights)
    mask = hidden_cells(chances, rate, np.random.default_rng(seed))
    return Injected(frame.mask(mask), mask)


def hidden_cells(chances: Floats, rate: float, rng: np.random.Generator) -> Bools:
    """Draw cells without replacement, each in proportion to exp(chance).

    The order of log-weights plus Gumbel noise is that of such draws. The cell that would be drawn
    last of its row is never drawn, nor are the last ones of a column.
    """
    keys = chances + rng.gumbel(size=chances.shape)
    n_rows, n_columns = keys.shape
    kept = max(2, int(np.ceil(KEPT_OF_COLUMN * n_rows)))
    barred = keys <= np.sort(keys, axis=0)[min(kept, n_rows) - 1]
    barred |= keys == keys.min(axis=1, keepdims=True)
    wanted = round(rate * keys.size)
    if not 0.0 <= rate <= 1.0 or wanted > (~barred).sum():
        most = (~barred).sum() / keys.size
        raise DataError(
            f"rate must be a share of cells in [0, {most:.2f}], so that every row and column of "
            f"the {n_rows} x {n_columns} table keeps some; got {rate}."
        )
    mask = np.zeros(keys.size, dtype=bool)
    drawn = np.argsort(np.where(barred, np.inf, -keys), axis=None, kind="stable")[:wanted]
    mask[drawn] = True
    return mask.reshape(keys.shape)


def accuracy_losses(frame: Any, labels: npt.ArrayLike, n_neighbors: int = 3) -> Floats:
    """The accuracy that k-NN loses without each column, one row left out at a time."""
    from sklearn.neighbors import KNeighborsClassifier

    frame, known = frame.iloc[:_LOSS_ROWS], np.asarray(labels)[:_LOSS_ROWS]
    table = IncompleteTable(frame, label=known)
    space, codes = table.encode(frame), np.unique(known, return_inverse=True)[1]

    def accuracy(kept: Bools) -> float:
        if not kept.any():
            return float(np.bincount(codes).max() / len(codes))
        model = KNeighborsClassifier(n_neighbors).fit(space[:, kept], codes)
        nearest = model.kneighbors(return_distance=False)  # a row is no neighbour of its own
        votes = np.stack([(codes[nearest] == code).sum(axis=1) for code in range(codes.max() + 1)])
        return float((votes.argmax(axis=0) == codes).mean())

    everything = np.ones(space.shape[1], dtype=bool)
    whole = accuracy(everything)
    losses = []
    for feature in table.space.features:
        kept = everything.copy()
        if feature is not None:
            kept[feature.start : feature.stop] = False
        losses.append(whole - accuracy(kept))
    return np.array(losses)


def _log_weights(weights: npt.ArrayLike | None, size: int) -> Floats:
    given = np.ones(size) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != (size,) or not np.isfinite(given).all() or (given < 0).any():
        raise DataError(
            f"weights must be {size} numbers, one per column, finite and not negative; got {given}."
        )
    if not given.any():  # no column matters more than another
        return np.zeros(size)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(given), _LAST)


def _heights(column: Any) -> Floats:
    """How high each value ranks in its column, from 0 to 1; equal values have equal ranks."""
    if column.kind == "categorical":
        values = np.array([-column.frequencies[value] for value in column.values], dtype=np.float64)
    else:
        values = column.values
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(times) - (times + 1) / 2
    return np.asarray(middle[place] / max(1, len(values) - 1))
