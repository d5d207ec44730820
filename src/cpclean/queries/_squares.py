"""Kernels that bound distances that are sums of squares, row by row or for a block of rows.

They find what `_near._bound` finds under the Euclidean metric, bit for bit, and are quicker where
few columns of a block have holes. They are compiled into `_near`: after an edit here, delete the
`__pycache__` folder of this package. (The tests do so by themselves.)
"""

from __future__ import annotations

from cpclean.queries.kernel_kinds import part


@part
def bound_squares(low, high, holed, block, X, p, start, count, near, far):
    """Bounds of the distances to all rows of a block.

    Up to the first column that is holed, rows end where they begin.
    """
    for r in range(count):
        near[r] = 0.0
    both = True
    for f in range(X.shape[1]):
        x = X[p, f]
        lows = low[f, start : start + count]
        if holed[block, f]:
            if both:
                for r in range(count):
                    far[r] = near[r]
            both = False
            highs = high[f, start : start + count]
            for r in range(count):
                under = x - lows[r]
                over = highs[r] - x
                reach = under if under > over else over
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                near[r] += gap * gap
                far[r] += reach * reach
        elif both:
            for r in range(count):
                gap = x - lows[r]
                near[r] += gap * gap
        else:
            for r in range(count):
                gap = x - lows[r]
                near[r] += gap * gap
                far[r] += gap * gap
    if both:
        for r in range(count):
            far[r] = near[r]


@part
def bound_few(base, low, high, order, holed, block, X, p, row, count, near, far):
    """Bounds of the distances to some rows of a block; leaves their numbers in row.

    row has their places in the order, and then the rows themselves. In columns that are not holed
    rows are where their first candidate is.
    """
    for i in range(count):
        at = row[i]
        row[i] = order[at]
        nearer = 0.0
        farther = 0.0
        for f in range(X.shape[1]):
            if holed[block, f]:
                under = X[p, f] - low[f, at]
                over = high[f, at] - X[p, f]
                reach = under if under > over else over
                gap = under if under < over else over
                gap = gap if gap < 0.0 else 0.0
                nearer += gap * gap
                farther += reach * reach
            else:
                gap = X[p, f] - base[row[i], f]
                nearer += gap * gap
                farther += gap * gap
        near[i] = nearer
        far[i] = farther
