"""Kernels over lists of gains: for each point, numbers of rows or cells and what each would tell.

Point p has the entries ptr[p]..ptr[p + 1] - 1 of numbers and gains. Everything is written into
arrays that are handed over, and nothing but a number is returned: such a call is safe in any
thread, whenever Ctrl-C arrives.
"""

from __future__ import annotations

from cpclean.queries.kernel_kinds import kernel


@kernel
def replace_lists(ptr, numbers, gains, points, sizes, own_numbers, own_gains, out_ptr, out_numbers,
                  out_gains):  # fmt: skip
    """All lists, with others for some points, which ascend and have so many entries each.

    Returns what all numbers of the others are below.
    """
    end = 0
    at = 0
    chosen = 0
    taken = 0
    for p in range(ptr.shape[0] - 1):
        out_ptr[p] = at
        if chosen < points.shape[0] and points[chosen] == p:
            for i in range(taken, taken + sizes[chosen]):
                out_numbers[at] = own_numbers[i]
                end = max(end, own_numbers[i] + 1)
                out_gains[at] = own_gains[i]
                at += 1
            taken += sizes[chosen]
            chosen += 1
        else:
            for i in range(ptr[p], ptr[p + 1]):
                out_numbers[at] = numbers[i]
                out_gains[at] = gains[i]
                at += 1
    out_ptr[ptr.shape[0] - 1] = at
    return end


@kernel
def add_up(ptr, numbers, gains, left_out, weights, sums, some, totals):
    """Add up the weighted gains of all points but those left out, by number.

    sums is 0 for every number, at first and at last. Fills some with the numbers, ascending, whose
    sum is not 0, and totals with these sums; returns how many they are.
    """
    for p in range(ptr.shape[0] - 1):
        if not left_out[p]:
            for i in range(ptr[p], ptr[p + 1]):
                sums[numbers[i]] += gains[i] * weights[p]
    count = 0
    for number in range(sums.shape[0]):
        if sums[number] != 0.0:
            some[count] = number
            totals[count] = sums[number]
            sums[number] = 0.0
            count += 1
    return count
