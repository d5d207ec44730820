"""What is carried over when one row changes is what would be prepared anew."""

from __future__ import annotations

import pickle
from random import Random

import numpy as np
import pytest

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    expected_entropies,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.data.spaces.learning import random_trees
from cpclean.queries.leaf_rows import prepared_leaves
from cpclean.queries.prepared import prepare_changed, prepared_rows


def narrow(rng: Random, n_rows: int) -> IncompleteDataset:
    """Few numeric columns; more rows than a block holds, if wanted."""
    rows: list[object] = []
    for _ in range(n_rows):
        base = [float(rng.randint(-4, 4)) for _ in range(3)]
        if rng.random() < 0.5:
            rows.append([base])
        elif rng.random() < 0.5:
            rows.append([[float(rng.randint(-4, 4)) for _ in range(3)] for _ in range(3)])
        else:
            rows.append(FactoredRow(base, [Cell(0, [0.0, 1.0]), Cell(2, [-1.0, 3.0, 4.0])]))
    return IncompleteDataset(rows, [rng.randrange(3) for _ in range(n_rows)])


def wide(rng: Random, n_rows: int) -> IncompleteDataset:
    """A number and two one-hot groups, mostly zeros: summed sparsely."""
    rows: list[object] = []
    groups = (range(1, 21), range(21, 41))
    for _ in range(n_rows):
        base = np.zeros(41)
        base[0] = rng.randint(-2, 2)
        for group in groups:
            base[rng.choice(group)] = 1.0
        cells = []
        for group in groups:
            if rng.random() < 0.4:
                values = np.eye(20)[rng.sample(range(20), 4)]
                cells.append(Cell(group, values))
        rows.append(FactoredRow(base, cells) if cells else [base])
    return IncompleteDataset(rows, [rng.randrange(2) for _ in range(n_rows)])


def changed(data: IncompleteDataset, rng: Random) -> tuple[int, IncompleteDataset]:
    row = rng.randrange(data.n_rows)
    what = rng.random()
    if what < 0.4:
        return row, data.pin(row, rng.randrange(int(data.candidate_counts[row])))
    if what < 0.8:
        columns = rng.sample(range(data.n_features), rng.choice([1, 2]))
        return row, data.given(row, {column: float(rng.randint(-9, 9)) for column in columns})
    return row, data.unpin(row)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "linear", "cosine"])
@pytest.mark.parametrize("make", [narrow, wide])
@pytest.mark.parametrize("n_rows", [12, 320])
def test_carried_over_is_prepared_anew(make: object, n_rows: int, metric: str) -> None:
    rng = Random(n_rows)
    data = make(rng, n_rows)  # type: ignore[operator]
    for step in range(12):
        row, after = changed(data, rng)
        prepare_changed(data, after, row)
        data = after
        anew = pickle.loads(pickle.dumps(data))
        assert not anew.derived
        X = np.array([anew.candidate(rng.randrange(n_rows), 0) for _ in range(3)])
        X[:, 0] += rng.randint(-1, 1)
        if step % 3 == 0:
            assert (
                world_counts(data, X, 3, metric).tolist()
                == world_counts(anew, X, 3, metric).tolist()
            )
        for query in (possible_labels, world_shares, expected_entropies):
            assert query(data, X, 3, metric).tolist() == query(anew, X, 3, metric).tolist()
    sparse = prepared_rows(data).rows.sparse
    assert (len(sparse.at) > 0) == (make is wide)


@pytest.mark.parametrize("make", [narrow, wide])
def test_boxes_and_non_zeros_row_by_row(make: object) -> None:
    rng = Random(7)
    data = make(rng, 300)  # type: ignore[operator]
    for _ in range(20):  # cells of some rows stand behind all others, or belong to no row
        data = changed(data, rng)[1]
    rows = prepared_rows(data).rows
    for place, row in enumerate(rows.order.tolist()):
        candidates = data.candidates(row)
        assert rows.boxes.low[:, place].tolist() == candidates.min(axis=0).tolist()
        assert rows.boxes.high[:, place].tolist() == candidates.max(axis=0).tolist()
    for start, stop, low, high in zip(
        rows.block_at[:-1],
        rows.block_at[1:],
        rows.block_boxes.low.T,
        rows.block_boxes.high.T,
        strict=True,
    ):
        assert low.tolist() == rows.boxes.low[:, start:stop].min(axis=1).tolist()
        assert high.tolist() == rows.boxes.high[:, start:stop].max(axis=1).tolist()
    holed = rows.boxes.low != rows.boxes.high
    for block, own in enumerate(np.split(holed, rows.block_at[1:-1], axis=1)):
        assert rows.holed[block].tolist() == own.any(axis=1).tolist()
    if make is wide:
        arrays, sparse = data.arrays, rows.sparse
        assert len(sparse.at) == len(arrays.weights) + 1
        for cell in range(len(arrays.cell_size)):
            size, start = int(arrays.cell_size[cell]), int(arrays.cell_start[cell])
            width = int(arrays.cell_stop[cell]) - start
            at = int(arrays.values_at[cell])
            values = arrays.values[at : at + size * width].reshape(width, size).T
            for number, vector in enumerate(values, int(arrays.weights_at[cell])):
                own = slice(sparse.at[number], sparse.at[number + 1])
                (found,) = np.nonzero(vector)
                assert sparse.column[own].tolist() == (start + found).tolist()
                assert sparse.value[own].tolist() == vector[found].tolist()


def test_what_comes_out_of_a_pickle_is_read_only() -> None:
    # Else the kernels would be compiled anew for arrays that can be written to.
    data = narrow(Random(1), 12)
    among_leaves = data.in_space(random_trees(data, n_trees=2))
    for prepared in (prepared_rows(data), prepared_leaves(among_leaves)):
        found = pickle.loads(pickle.dumps(prepared))
        assert not any(array.flags.writeable for array in arrays_of(found.rows))


def arrays_of(parts: tuple[object, ...]) -> list[np.ndarray]:
    """All arrays in a tuple, and in tuples in it."""
    lists = [arrays_of(part) if isinstance(part, tuple) else [part] for part in parts]
    return [array for found in lists for array in found]
