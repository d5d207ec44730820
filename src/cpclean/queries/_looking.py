"""Kernels between those that look at points: what they find is sorted and put together.

Everything is written into arrays that are handed over, and nothing but a number is returned: such
a call is safe in any thread, whenever Ctrl-C arrives.
"""

from __future__ import annotations

from cpclean.queries.kernel_arrays import N_CELLS, SIZE
from cpclean.queries.kernel_kinds import kernel


@kernel
def n_candidates(spans, rows):
    """How many candidates some rows have together, as a float: they may be very many."""
    total = 0.0
    for i in range(rows.shape[0]):
        total += spans[rows[i], SIZE]
    return total


@kernel
def sort_out(row_ptr, rows, spans, label_ptr, dirty, order):
    """Which rows around points have cells, and which points have two labels around them.

    order has these points first, and those of more labels last. Returns how many have two.
    """
    for i in range(rows.shape[0]):
        dirty[i] = spans[rows[i], N_CELLS] > 0
    n_two = 0
    last = label_ptr.shape[0] - 1
    for p in range(label_ptr.shape[0] - 1):
        n_labels = label_ptr[p + 1] - label_ptr[p]
        if n_labels == 2:
            order[n_two] = p
            n_two += 1
        elif n_labels > 2:
            last -= 1
            order[last] = p
    order[label_ptr.shape[0] - 1] = last
    return n_two


@kernel
def put_together(label_ptr, present, two, shares, found, entropies, labels, tops):
    """The entropy of each point, its likeliest label and the share of it; for up to two labels.

    shares and found, which has entropies, are those of the points of two.
    """
    for p in range(label_ptr.shape[0] - 1):
        entropies[p] = 0.0
        labels[p] = present[label_ptr[p]]
        tops[p] = 1.0
    for i in range(two.shape[0]):
        p = two[i]
        second = shares[i, 1] > shares[i, 0]
        entropies[p] = found[i]
        labels[p] = present[label_ptr[p] + second]
        tops[p] = shares[i, 1 if second else 0] / (shares[i, 0] + shares[i, 1])


@kernel
def keep_gains(sizes, rows, gains, doubtful, possible, certain, out_sizes, out_rows, out_gains):
    """Which points are certain, and the gains of the others that are not 0; returns their number.

    sizes say how many gains each point has, and possible which labels each doubtful one may have:
    certain are those with a single one.
    """
    for p in range(certain.shape[0]):
        certain[p] = False
    for i in range(doubtful.shape[0]):
        n_labels = 0
        for label in range(possible.shape[1]):
            n_labels += possible[i, label]
        certain[doubtful[i]] = n_labels == 1
    start = 0
    count = 0
    for p in range(sizes.shape[0]):
        before = count
        for i in range(start, start + sizes[p]):
            if gains[i] != 0.0 and not certain[p]:
                out_rows[count] = rows[i]
                out_gains[count] = gains[i]
                count += 1
        start += sizes[p]
        out_sizes[p] = count - before
    return count
