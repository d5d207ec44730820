"""What a model says about rows that it was not learnt from, many at a time.

`HoloCells.weights` says how the chances of the model become weights of candidates from wherever;
here it is done for all rows whose candidates are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cpclean.data.columns import OTHER, Column
from cpclean.data.holoclean.cell_values import stand_ins
from cpclean.data.holoclean.counts import Bools, Ints
from cpclean.data.holoclean.holo_model import CellDomains, HoloModel
from cpclean.data.rows import Floats

# Features held at a time, in doubles; a row has about nine times the square of its columns.
_BLOCK = 1_000_000


def codes_of_rows(model: HoloModel, columns: Sequence[Column]) -> Ints:
    """The codes of other rows, shape (n, n_columns); -1 for holes and unknown categories.

    A column of another kind than in the table says nothing.
    """
    found = np.full((len(columns[0].values), len(columns)), -1, dtype=np.int64)
    for b, (one, column) in enumerate(zip(model.attributes, columns, strict=True)):
        if one.kind == column.kind:
            found[:, b] = one.coded(column.values)
    return found


def weights_in_rows(model: HoloModel, a: int, rows: Ints, values: Sequence[Any]) -> Floats:
    """How likely each candidate of attribute `a` is in each row.

    Parameters
    ----------
    model : HoloModel
    a : int
    rows : ndarray of shape (n, n_columns)
        Codes of the rows, as `codes_of_rows` has them; that of `a` itself is not looked at.
    values : sequence
        Distinct candidates, as the column stores them.

    Returns
    -------
    ndarray of shape (n, len(values))
        Rows sum to 1.
    """
    if not model.attributes[a].size:
        return np.full((len(rows), len(values)), 1.0 / len(values))
    step = max(1, _BLOCK // (9 * rows.shape[1] ** 2))
    blocks = [rows[at : at + step] for at in range(0, len(rows), step)]
    parts = [_weights(model, a, block, tuple(values)) for block in blocks]
    return np.concatenate([np.zeros((0, len(values))), *parts])


def _weights(model: HoloModel, a: int, rows: Ints, values: tuple[Any, ...]) -> Floats:
    one = model.attributes[a]
    codes = one.coded(values)
    looked_at = _with(model.domains(a, rows), codes[codes >= 0], one.size, len(rows))
    first, weights = looked_at.starts[:-1], model.weights[a]
    features = model.features(a, rows, looked_at)
    scores = features @ weights
    # What was never observed has no features, "other" those that are left over.
    other = np.array([value is OTHER for value in values])
    fresh = np.where(codes < 0, 0.0, -np.inf) + np.zeros((len(rows), 1))
    left = np.where(_known(model, a, rows), 1.0 - np.add.reduceat(features, first), 0.0).clip(0.0)
    whole = np.diff(looked_at.starts) == one.size  # nothing is left that "other" could be
    fresh[:, other] = np.where(whole, -np.inf, left @ weights)[:, None]
    most = np.maximum(np.maximum.reduceat(scores, first), fresh.max(axis=1))
    raised = np.exp(scores - most[looked_at.cells])
    shares = np.add.reduceat(raised[:, None] * _split(model, a, values)[looked_at.values], first)
    shares += np.exp(fresh - most[:, None])
    total = shares.sum(axis=1, keepdims=True)
    uniform = 1.0 / len(values)
    return np.asarray(np.where(total > 0, shares / np.where(total > 0, total, 1.0), uniform))


def _with(domains: CellDomains, codes: Ints, size: int, n_rows: int) -> CellDomains:
    """The same domains with some codes in each of them."""
    every = (np.arange(n_rows)[:, None] * size + codes).ravel()
    keys = np.union1d(domains.cells * size + domains.values, every)
    return CellDomains(np.searchsorted(keys, np.arange(n_rows + 1) * size), keys % size)


def _known(model: HoloModel, a: int, rows: Ints) -> Bools:
    """Whether each attribute says something about `a` in each row."""
    known = np.ones(rows.shape, dtype=bool)
    for b, pair in enumerate(model.pairs[a]):
        if pair is not None:
            given = np.append(pair.given, 0)  # the last one is that of holes
            known[:, b] = given[rows[:, b]] > 0
    return known


def _split(model: HoloModel, a: int, values: tuple[Any, ...]) -> Floats:
    """Which part of the chance of every code each candidate takes, shape (size, len(values))."""
    one = model.attributes[a]
    codes = one.coded(values)
    split = np.equal.outer(np.arange(one.size), codes).astype(np.float64)
    for code in np.flatnonzero(~split.any(axis=1)).tolist():
        split[code] = stand_ins(one, code, values)
    return np.asarray(split / np.maximum(split.sum(axis=1, keepdims=True), 1.0))
