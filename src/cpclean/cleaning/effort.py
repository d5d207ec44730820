"""Proof of effort: which answers had to be, and which turn out to have been avoidable."""

from __future__ import annotations

from dataclasses import dataclass

from cpclean.cleaning.hindsight import Hindsight
from cpclean.cleaning.state import State
from cpclean.progress_bar import Follow, Shown, progress_bar


@dataclass(frozen=True)
class Effort:
    """What the answers of a session were good for, now that they are known.

    All of it is about the points that are settled now: certain or, in a session with `sure`, that
    sure. Made by `CleaningSession.effort`; `cpclean.analysis.effort_words` puts it into words.

    Attributes
    ----------
    answered : tuple of int
        The rows about which something is known, in the order of the last answer about each.
    kept : tuple of int
        Rows whose answers settle the same points without all others, and of which none can be left
        out: what is left if answers are dropped one by one, the last one first, as long as every
        point stays settled. There may be smaller sets.
    avoidable : tuple of int
        The other answered rows.
    needed : tuple of int or None
        Rows that every order has to clean, whatever is true of the rows about which nothing is
        known. All of them are in `kept`. None in a session with `sure`.
    n_rows : int
        How many rows have holes, or had an answer.
    all_settled : bool
        Whether all validation points are settled, so that this is about the whole work.
    at_least : int or None
        How many rows every order has to clean, at least: the needed ones, and more where every
        order can choose among rows, but not do without any of them. None in a session with `sure`.

    Notes
    -----
    *Why needed rows are needed.* Cleaning a row takes worlds away, so a point that is certain stays
    certain: what one set of rows settles, every larger set does. So a row r is needed if cleaning
    all the others is not enough. Let a point be certain of label L now, and let b be a candidate of
    r such that no world predicts L if r is b, the answers about all other rows are kept, and rows
    without an answer are open. Clean all rows but r: the others are as they are answered, or any of
    what they could be. If r is as answered, the label is L, because that is certain; if r is b, it
    is not L. So the point is not certain, whatever the other rows are. That each row called needed
    is needed is proved this way; if nothing is left unanswered, all needed rows are found (for a
    row with more than 64 candidates, in the plain space; elsewhere 64 of them are tried, and each
    that is found is a proof).

    *Why more rows than those.* Where either of two answers would have done, neither row is needed,
    but one of them is. `cpclean.cleaning.every_order` finds such conditions point by point, and
    how many rows they ask for together.

    *Why there are none with* `sure`. A sure point can become open again after more answers. So that
    all rows but r do not settle a point does not mean that fewer rows cannot, and nothing follows
    about every order: all sets of rows would have to be tried. No short cut can be expected. Let
    K = 1, and let every row i, of label 1, be next to point A with prior p_i, next to B with prior
    q_i, or else far away, as all answers say; each point also has a clean row of label 0 a little
    farther off. One row r more is next to B with prior 1/2. Without an answer about r, while the
    rows of a set U have none either, A is sure of label 0 if the product of all 1 - p_i over U is
    at least the level, and B, which must be sure of label 1 then, is so if the product of all
    1 - q_i is at most 2 (1 - level). Whether there is such a set U is a knapsack problem: r is
    needed if there is none. For the same reason, rows are dropped in several passes there, until
    none can be dropped; without `sure` a row that cannot be dropped once can never be.

    A value that was not a candidate of its row counts as one in hindsight, with a prior of 0:
    without it, the worlds of a row that is not cleaned would all be wrong.
    """

    answered: tuple[int, ...]
    kept: tuple[int, ...]
    avoidable: tuple[int, ...]
    needed: tuple[int, ...] | None
    n_rows: int
    all_settled: bool
    at_least: int | None = None

    @property
    def random_at_least(self) -> float | None:
        """How many rows an order at random has to clean at least, on average.

        None in a session with `sure`; `cpclean.analysis.random_order` estimates it there.
        """
        # The last of m needed rows comes at place t in C(t - 1, m - 1) of the C(n, m) ways to
        # place them among n rows, all equally likely. The mean of t is m (n + 1) / (m + 1): the
        # n - m other rows fall into the m + 1 gaps before, between and after the needed ones, each
        # gap with the same mean (n - m) / (m + 1), and only those in the last gap are spared:
        # n - (n - m) / (m + 1) = m (n + 1) / (m + 1).
        if self.needed is None:
            return None
        size = len(self.needed)
        return max(size * (self.n_rows + 1) / (size + 1), float(self.at_least or 0))


def effort_of(state: State, *, progress: Shown = None) -> Effort:
    """What the answers behind a state were good for; see `Effort`."""
    told = [entry["row"] for entry in state.log if "row" in entry and "skip" not in entry]
    last_first = list(dict.fromkeys(reversed(told)))
    start = Hindsight.of(state.board, last_first)
    needed = at_least = None
    words, total = "looking back", 2 * len(last_first)
    with progress_bar(total, words, shown=progress, transient=True) as follow:
        droppable = last_first
        if start.level is None:
            droppable = []
            needed, at_least = _needed(start, last_first, droppable, follow)
        avoidable = _dropped(start, droppable, len(last_first), follow)
    answered = tuple(reversed(last_first))
    given = state.board.data.unpinned
    open_rows = set(given.dirty_rows.tolist())
    return Effort(
        answered,
        tuple(row for row in answered if row not in avoidable),
        tuple(row for row in answered if row in avoidable),
        None if needed is None else tuple(row for row in answered if row in needed),
        len(open_rows.union(answered)) + given.n_dirty_in_all - len(open_rows),
        state.board.all_settled,
        at_least,
    )


def _needed(
    start: Hindsight, rows: list[int], droppable: list[int], follow: Follow
) -> tuple[set[int], int]:
    """The rows that are needed, and how many every order has to clean.

    Those that can be dropped one at a time are added to a list.
    """
    counted = start.every_order(rows)
    found = set(counted.needed)
    for done, row in enumerate(rows):
        follow(done)
        if row in found:
            continue
        if start.without(row) is not None:
            droppable.append(row)
        elif row in counted.left and start.depends_on(row):
            found.add(row)
    return found, counted.at_least(found)


def _dropped(start: Hindsight, rows: list[int], begin: int, follow: Follow) -> set[int]:
    """Drop rows one by one, in this order, as long as every point stays settled."""
    now, left, dropped = start, list(rows), set[int]()
    while left:
        kept = []
        for number, row in enumerate(left):
            after = now.without(row)
            if after is None:
                kept.append(row)
            else:
                now = after
                dropped.add(row)
            follow(begin + number)
        if start.level is None or len(kept) == len(left):
            break
        left = kept
    return dropped
