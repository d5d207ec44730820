"""Kernel for Q1: which labels does at least one world predict?

Label l is possible iff there is a threshold in the total order such that, counting rows nearer than
it, with c = rows of label l that can be nearer, and for each other label m: a_m = rows that must be
nearer, b_m = rows that can be nearer, cap_m = c - 1 if m < l else c (votes that m may get):

    c >= 1,   a_m <= cap_m for all m,   and   sum a_m <= K - c <= sum min(b_m, cap_m).

Rows of label l sit at their nearest candidate without loss; the others fill the remaining K - c
places without outvoting l. One sweep over the rows' nearest and farthest candidates, from near to
far, finds every threshold that matters:

1. *Count.* A row's nearest candidate is one more row that can be nearer, its farthest one more that
   must be; where both are at one position, they count together.
2. *Stop* when more than K rows must be nearer: no later threshold holds.
3. *Test* every label not yet found possible; when all are, stop.

Cost: O(R) steps per point for R near rows, each O(labels^2) at worst and O(labels) as a rule.
Integers only: no answer of Q1 depends on a sum of floats.

`sweep` is compiled into the kernels of `_extremes`, too, whose compilation cache does not see edits
here: after changing it, delete the `__pycache__` folder. (The tests do so by themselves.)
"""

from __future__ import annotations

import numpy as np

from cpclean.queries.kernel_kinds import kernel, part


@part
def _wins(label, can, must, n_neighbors, total_can, total_must):
    """Step 3: whether this threshold lets a label win; can and must count rows per label."""
    votes = can[label]
    places = n_neighbors - votes
    if votes < 1 or total_must - must[label] > places or total_can - can[label] < places:
        return False
    room = 0
    for other in range(can.shape[0]):
        if other != label:
            cap = votes - 1 if other < label else votes
            if must[other] > cap:
                return False
            room += min(can[other], cap)
    return room >= places


@part
def sweep(event, n_events, side, present, n_neighbors, tally, found):
    """Mark the possible labels of one point in found (classes); returns whether all are.

    side numbers the label of every near row, present names these labels. tally is scratch.
    """
    n_labels = present.shape[0]
    can, must = tally[0, :n_labels], tally[1, :n_labels]
    for label in range(n_labels):
        can[label] = must[label] = 0
    total_can = 0
    total_must = 0
    missing = 0
    for label in present:
        missing += not found[label]
    for e in range(n_events):
        # Step 1: one more row that can be nearer, or that must be.
        code = event[e]
        joined = code < 0
        if joined:
            code = -1 - code
        label = side[code >> 1]
        if code & 1:
            must[label] += 1
            total_must += 1
        else:
            can[label] += 1
            total_can += 1
        if joined:
            continue
        # Step 2: too many rows must be nearer.
        if total_must > n_neighbors:
            break
        # Step 3: labels that this threshold lets win.
        for label in range(n_labels):
            if not found[present[label]] and _wins(label, can, must, n_neighbors, total_can,
                                                   total_must):  # fmt: skip
                found[present[label]] = True
                missing -= 1
        if missing == 0:
            break
    return missing == 0


@kernel
def possible(near_ptr, side, label_ptr, present, event_ptr, event, n_neighbors, out):
    """Mark the possible labels of every point of a block in out (points, classes).

    side numbers the label of every near row within its point, present names these labels;
    events come from `extremes`.
    """
    tally = np.empty((2, out.shape[1]), np.int64)
    for p in range(out.shape[0]):
        begin, end = event_ptr[p], event_ptr[p + 1]
        sweep(event[begin:end], end - begin, side[near_ptr[p] : near_ptr[p + 1]],
              present[label_ptr[p] : label_ptr[p + 1]], n_neighbors, tally, out[p])  # fmt: skip
