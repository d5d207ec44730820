"""Generated incomplete data: stand-ins for the authors' spaces, many rows, many classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.row_arrays import RowArrays

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """What a stand-in has in common with one of the authors' spaces."""

    rows: int
    dirty: float  # share of rows with a hole
    levels: tuple[int, ...]  # values a numeric feature takes; 0 for a continuous one
    holes: tuple[int, ...] = ()  # numeric features that may be missing
    brands: int = 0  # categories of a categorical feature, the one that is missing if present
    likely_brands: int = 0  # how many of them are candidates
    repairs: int = 10


SHAPES = {
    "Supreme": Shape(1157, 0.967, (8, 2, 2, 2, 2, 27, 2), holes=(0, 5)),
    "Bank": Shape(1255, 0.982, (0, 0, 0, 0, 0, 0, 0, 4), holes=(4, 5)),
    "Puma": Shape(4755, 0.971, (0,) * 8, holes=(1, 2)),
    "BabyProduct": Shape(1834, 0.846, (2, 95, 166, 159, 149), brands=236, likely_brands=58),
}


@dataclass(frozen=True)
class Parts:
    """What an IncompleteDataset is made of, and points to ask about."""

    candidates: list[Floats]
    labels: npt.NDArray[Any]
    points: Floats
    truth: npt.NDArray[np.int64] | None = None  # the number of each row's true candidate


def like(name: str, n_points: int) -> Parts:
    """A space of the same shape as the authors' space of that name."""
    shape = SHAPES[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    total = shape.rows + n_points
    values = np.stack([_feature(rng, levels, total) for levels in shape.levels], axis=1)
    score = (values - values.mean(axis=0)) @ rng.normal(size=values.shape[1])
    labels = np.where(score + 0.3 * score.std() * rng.normal(size=total) > 0, "P", "N")
    dirty = rng.random(shape.rows) < shape.dirty
    table, points = values[: shape.rows], values[shape.rows :]
    if shape.brands:
        brand = np.minimum(rng.geometric(0.02, total) - 1, shape.brands - 1)
        candidates = [
            _with_brands(row, None if lost else int(own), shape)
            for row, own, lost in zip(table, brand, dirty, strict=False)
        ]
        points = np.hstack([points, np.eye(shape.brands)[brand[shape.rows :]]])
    else:
        usual = _quantiles(table)
        candidates = [
            _repaired(rng, row, usual, shape) if lost else row[None, :]
            for row, lost in zip(table, dirty, strict=True)
        ]
    return Parts(candidates, labels[: shape.rows], points)


def many_rows(rows: int, n_points: int, features: int = 10) -> Parts:
    """Two classes; a tenth of the rows lacks one cell, which has 5 candidate values."""
    rng = np.random.default_rng(10)
    table = rng.random((rows, features))
    labels = (table.sum(axis=1) + rng.normal(size=rows) > features / 2).astype(int)
    usual = _quantiles(table)
    lost = np.where(rng.random(rows) < 0.1, rng.integers(features, size=rows), -1)
    candidates = [
        row[None, :] if hole < 0 else _filled(row, [hole], usual[:, [hole]])
        for row, hole in zip(table, lost.tolist(), strict=True)
    ]
    return Parts(candidates, labels, rng.random((n_points, features)))


def tied_rows(rows: int, n_points: int) -> Parts:
    """Eight categorical columns of 3 to 5 values, one-hot; half of the rows lack one of them."""
    rng = np.random.default_rng(8)
    sizes = (3, 5, 4, 4, 3, 3, 3, 3)
    starts = np.cumsum([0, *sizes])
    codes = np.stack([rng.integers(size, size=rows + n_points) for size in sizes], axis=1)
    score = sum(rng.normal(size=size)[codes[:, at]] for at, size in enumerate(sizes))
    vectors = np.zeros((rows + n_points, starts[-1]))
    for at, start in enumerate(starts[:-1]):
        vectors[np.arange(len(vectors)), start + codes[:, at]] = 2**-0.5
    lost = np.where(rng.random(rows) < 0.5, rng.integers(len(sizes), size=rows), -1)
    candidates = []
    for row, hole in zip(vectors, lost.tolist(), strict=False):
        own = list(range(starts[hole], starts[hole + 1])) if hole >= 0 else []
        every = np.eye(len(own)) * 2**-0.5
        candidates.append(_filled(row, own, every) if own else row[None, :])
    return Parts(candidates, (score > np.median(score))[:rows].astype(int), vectors[rows:])


def arrays_of_many_rows(
    rows: int, n_points: int, features: int = 10
) -> tuple[RowArrays, npt.NDArray[np.int64], Floats]:
    """As `many_rows`, of normal numbers, as arrays: quick to build for a million rows."""
    rng = np.random.default_rng(11)
    base, points = rng.normal(size=(rows, features)), rng.normal(size=(n_points, features))
    score = base[:, 0] + base[:, 1] * base[:, 2] + 0.5 * rng.normal(size=rows)
    (dirty,) = np.nonzero(rng.random(rows) < 0.1)
    values = np.sort(rng.normal(size=(len(dirty), 5)), axis=1)
    column, at = rng.integers(features, size=len(dirty)), 5 * np.arange(len(dirty))
    base[dirty, column] = values[:, 0]
    n_cells = np.zeros(rows, dtype=np.int64)
    n_cells[dirty] = 1
    arrays = RowArrays(
        base=base,
        n_cells=n_cells,
        first_cell=np.cumsum(n_cells) - n_cells,
        cell_start=column,
        cell_stop=column + 1,
        cell_size=np.full(len(dirty), 5),
        values_at=at,
        weights_at=at,
        values=values.ravel(),
        weights=np.full(values.size, 0.2),
    )
    return arrays, (score > 0).astype(np.int64), points


def many_classes(rows: int, n_points: int, classes: int, features: int = 5) -> Parts:
    """Overlapping classes: many labels are near every point. Half of the rows are dirty."""
    rng = np.random.default_rng(100)
    centres = 0.5 * rng.normal(size=(classes, features))
    labels = np.concatenate([np.arange(classes), rng.integers(classes, size=rows - classes)])
    table = centres[labels] + rng.normal(size=(rows, features))
    usual = _quantiles(table)
    candidates = [
        _filled(row, [hole], usual[:, [hole]]) if rng.random() < 0.5 else row[None, :]
        for row, hole in zip(table, rng.integers(features, size=rows).tolist(), strict=True)
    ]
    points = centres[rng.integers(classes, size=n_points)] + rng.normal(size=(n_points, features))
    return Parts(candidates, labels, points)


def _feature(rng: np.random.Generator, levels: int, size: int) -> Floats:
    """Values in [0, 1]; few levels are unevenly frequent, so that whole rows repeat."""
    values = rng.random(size)
    return np.floor(values**5 * levels) / (levels - 1) if levels else values


def _quantiles(table: Floats) -> Floats:
    """Minimum, quartiles around the mean, maximum: 5 repairs per column."""
    low, first, third, high = np.quantile(table, [0, 0.25, 0.75, 1], axis=0)
    return np.stack([low, first, table.mean(axis=0), third, high])


def _filled(row: Floats, holes: list[int], repairs: Floats) -> Floats:
    versions = np.repeat(row[None, :], len(repairs), axis=0)
    versions[:, holes] = repairs
    return versions


def _repaired(rng: np.random.Generator, row: Floats, usual: Floats, shape: Shape) -> Floats:
    """One or two holes, filled together by each repair: the usual values, or near the truth."""
    n_holes = 1 + int(rng.random() < 0.4)
    holes = rng.choice(shape.holes, n_holes, replace=False).tolist()
    learnt = row[holes] + 0.1 * rng.normal(size=(shape.repairs - len(usual), n_holes))
    return _filled(row, holes, np.vstack([usual[:, holes], np.clip(learnt, 0.0, 1.0)]))


def _with_brands(row: Floats, own: int | None, shape: Shape) -> Floats:
    """The row with its own brand, or with every likely one and none at all."""
    if own is not None:
        return np.concatenate([row, np.eye(shape.brands)[own]])[None, :]
    brands = np.zeros((shape.likely_brands + 1, shape.brands))
    np.fill_diagonal(brands[:-1], 1.0)
    return np.hstack([np.tile(row, (len(brands), 1)), brands])
