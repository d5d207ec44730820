"""Kernel that groups a row's conditionals by the value of one cell.

Given that a cell has a certain value, the shares of the labels are the average, weighted by prior,
of the shares given each candidate with that value. For every cell of every row:

1. *Clear* the sums of as many groups as the cell has values.
2. *Group* the candidates by their value: add up prior mass, and prior times share per label.
3. *Compare* the entropy expected over the groups with the entropy before.

Cost: O(candidates x cells x labels) per row.
"""

from __future__ import annotations

import math

import numpy as np

from cpclean.queries.kernel_kinds import kernel, part


@part
def _entropy(shares, mass):
    total = 0.0
    for label in range(shares.shape[0]):
        share = shares[label] / mass
        if share > 0.0:
            total -= share * math.log(share)
    return max(total, 0.0)


@kernel
def cell_gains(index, rows, rank, at, beyond, before, gains):
    """What knowing each cell of some rows is expected to take from one point's entropy.

    index is a `CellIndex`; rank holds, for every candidate of the rows, its position or -1. at
    (positions, labels) and beyond (rows, labels) are the shares given each position, and given that
    the row lies beyond the last; before is the entropy. Fills gains, one per cell of the rows.
    """
    n_labels = at.shape[1]
    sums = np.empty((index.most_values, n_labels))
    mass = np.empty(index.most_values)
    out = 0
    first = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        size = index.size[row]
        for cell in range(index.n_cells[row]):
            codes = index.codes[index.codes_at[row] + cell * size :]
            prior = index.prior[index.prior_at[row] :]
            # Step 1: as many groups as there are values.
            n_groups = 0
            for j in range(size):
                n_groups = max(n_groups, codes[j] + 1)
            sums[:n_groups] = 0.0
            mass[:n_groups] = 0.0
            # Step 2: add every candidate to the group of its value.
            for j in range(size):
                place = rank[first + j]
                group = codes[j]
                mass[group] += prior[j]
                for label in range(n_labels):
                    share = at[place, label] if place >= 0 else beyond[i, label]
                    sums[group, label] += prior[j] * share
            # Step 3: what knowing the value is expected to leave.
            left = 0.0
            for group in range(n_groups):
                if mass[group] > 0.0:
                    left += mass[group] * _entropy(sums[group], mass[group])
            gains[out] = before - left
            out += 1
        first += size
