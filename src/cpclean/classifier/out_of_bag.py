"""How many neighbours: chosen by rows of the table that some trees have not seen.

A tree is fitted to a part of the rows. For a row outside, its leaf says how the tree does on new
rows, so the row's neighbours are found by such trees alone, and their votes are compared with its
label: no second forest, and no row is held out.

Only rows without holes are asked about: the holes of the others are filled with a look at the
label, which would flatter, small numbers of neighbours most. Where too few rows are without holes,
nothing is found out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpclean.data.drawing import uniforms
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Bools, Ints
from cpclean.data.spaces.trees import Leaves
from cpclean.queries.kernel_arrays import FIRST_CANDIDATE, SIZE
from cpclean.queries.leaf_rows import prepared_leaves

# What is tried, and what is taken unless another number is better by more than chance.
NUMBERS = (5, 9, 15, 21, 31, 51)
USUAL = 15

# Rows that are asked about, and rows that are looked at around them.
_ASKED, _AROUND = 1_000, 20_000
# Rows without holes are enough from this number on, or if they are half of a small table.
_ENOUGH = 100


def accuracies(
    data: IncompleteDataset, in_bag: Bools, numbers: Sequence[int] = NUMBERS, seed: int = 0
) -> dict[int, Bools]:
    """For each number of neighbours, whether the vote is right about each row that is asked about.

    Nothing, if too few rows are without holes.

    Parameters
    ----------
    data : IncompleteDataset
        Among the leaves of the trees; its holes are filled by one draw.
    in_bag : ndarray of bool, shape (n_rows, n_trees)
        Which rows each tree has seen, by the names of rows in the data: it may have been reordered
        since the trees were learnt.
    numbers : sequence of int
        Those below the number of rows are tried.
    seed : int
        Of the draw, and of the rows that are asked about in a large table.
    """
    tried = [number for number in numbers if number < data.n_rows]
    if not tried:
        return {}
    chance = uniforms(seed, np.arange(data.n_rows), np.zeros(data.n_rows, dtype=np.int64), 2)[:, 0]
    around = np.sort(np.argsort(chance)[:_AROUND])
    codes, labels = _one_world(data, seed)[around], data.codes[around]
    in_bag = in_bag[data.row_names[around]]
    asked = np.flatnonzero(data.candidate_counts[around] == 1)
    if len(asked) < min(_ENOUGH, len(around) / 2):
        return {}
    asked = np.sort(asked[np.argsort(chance[around][asked])[:_ASKED]])
    right = np.zeros((len(tried), len(asked)), dtype=bool)
    for number, row in enumerate(asked.tolist()):
        unseen = np.flatnonzero(~in_bag[row])
        if not len(unseen):
            continue
        shared = (codes[:, unseen] == codes[row, unseen]).sum(axis=1)
        shared[row] = -1
        most = tried[-1]
        near = np.argsort(-shared, kind="stable")[:most]
        votes = np.cumsum(labels[near][:, None] == np.arange(data.n_classes), axis=0)
        for at, n_neighbors in enumerate(tried):
            right[at, number] = votes[n_neighbors - 1].argmax() == labels[row]
    return dict(zip(tried, right, strict=True))


def best_number(found: dict[int, Bools], n_rows: int) -> int:
    """The usual number, or one that is better by more than a standard error."""
    usual = min(USUAL, n_rows)
    if usual not in found:
        return max(found, key=lambda number: (found[number].mean(), number), default=usual)
    best = usual
    for number, right in found.items():
        gain = right.astype(float) - found[usual]
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
        if gain.mean() > error + 1e-12 and right.mean() > found[best].mean():
            best = number
    return best


def _one_world(data: IncompleteDataset, seed: int) -> Leaves:
    """The leaves of every row, with its holes filled by one draw."""
    rows = prepared_leaves(data.sampled).rows
    first, size = rows.spans[:, FIRST_CANDIDATE], rows.spans[:, SIZE]
    place: Ints = np.zeros(data.n_rows, dtype=np.int64)
    names = np.arange(data.n_rows)
    chance = uniforms(seed, names, np.ones(data.n_rows, dtype=np.int64), 2)[:, 0]
    for row in np.flatnonzero(size > 1).tolist():
        prior = rows.weights[first[row] : first[row] + size[row]]
        place[row] = np.searchsorted(np.cumsum(prior), chance[row] * prior.sum(), side="right")
    return rows.codes[first + np.minimum(place, size - 1)]
