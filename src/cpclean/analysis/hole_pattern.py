"""The holes of a table, copied onto its complete rows: where truth and hole are both known.

The holes of a row are copied as a whole, so that columns that are missing together stay together.
They come from rows of the same label, and each label keeps its share of rows with holes: a table
whose holes depend on the label is imitated in that, too. What holes have to do with the values
that they hide cannot be seen in any table, and is not imitated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cpclean.data.incomplete import Ints
from cpclean.data.rows import Bools
from cpclean.errors import offenders
from cpclean.intake.notes import IntakeError
from cpclean.intake.sentences import refusal

# With fewer complete rows than this, a few predictions of a tiny table are all there is to see.
LEAST_COMPLETE = 20


@dataclass(frozen=True, eq=False)
class HolePattern:
    """Where a table has holes, and the labels of its rows.

    Attributes
    ----------
    holes : ndarray of bool, shape (n_rows, n_columns)
        In columns that play a part.
    codes : ndarray of int, shape (n_rows,)
        The class number of each row.
    """

    holes: Bools
    codes: Ints

    @cached_property
    def complete(self) -> Ints:
        """The rows without holes."""
        return np.flatnonzero(~self.holes.any(axis=1))

    @cached_property
    def copied(self) -> Ints:
        """The rows whose holes can be copied: some cell of theirs is known."""
        return np.flatnonzero(self.holes.any(axis=1) & ~self.holes.all(axis=1))

    @cached_property
    def share(self) -> float:
        """The share of rows with holes among those that are complete or copied."""
        return len(self.copied) / max(1, len(self.copied) + len(self.complete))

    def sample(self, size: int, rng: np.random.Generator) -> Ints:
        """Complete rows in random order, at most so many.

        Every label has the share of them that it has in the whole table, as far as its complete
        rows go; if holes are more frequent in some labels, complete rows alone would mislead.
        """
        rows = rng.permutation(self.complete)
        size = min(size, len(rows))
        wanted = np.bincount(self.codes) / len(self.codes) * size
        kept = np.concatenate(
            [
                own[: max(2, round(float(wanted[code])))]
                for code in range(len(wanted))
                if len(own := rows[self.codes[rows] == code])
            ]
        )
        return rng.permutation(kept if len(kept) >= min(size, LEAST_COMPLETE) else rows[:size])

    def punched(self, codes: Ints, rng: np.random.Generator) -> Bools:
        """Holes for complete rows of these labels, shape (len(codes), n_columns).

        The holes of as many rows as possible are copied before any is copied again.
        """
        found = np.zeros((len(codes), self.holes.shape[1]), dtype=bool)
        for code in np.unique(codes).tolist():
            (own,) = np.nonzero(codes == code)
            masks = self.copied[self.codes[self.copied] == code]
            n_complete = int((self.codes[self.complete] == code).sum())
            exact = len(own) * len(masks) / max(1, len(masks) + n_complete)
            size = int(exact) + int(rng.random() < exact - int(exact))
            if size:
                chosen = np.resize(rng.permutation(masks), size)
                found[rng.permutation(own)[:size]] = self.holes[chosen]
        return found

    def check(self, names: Sequence[str]) -> None:
        """Refuse a table without holes, or with too few complete rows; names are its columns'."""
        if not len(self.copied):
            raise refusal("nothing_to_copy")
        labels = np.bincount(self.codes[self.complete], minlength=1)
        if len(self.complete) < LEAST_COMPLETE or np.count_nonzero(labels > 1) < 2:
            raise self._too_few(names)

    def _too_few(self, names: Sequence[str]) -> IntakeError:
        """The error that says which columns to leave out for more complete rows."""
        facts: dict[str, Any] = {
            "count": len(self.complete),
            "total": len(self.holes),
            "least": LEAST_COMPLETE,
        }
        left, others = self.holes.copy(), 0
        dropped: list[str] = []
        while others < LEAST_COMPLETE and len(dropped) < len(names) - 1:
            left_alone = left & (left.sum(axis=1) == 1)[:, None]
            best = int(left_alone.sum(axis=0).argmax())
            if not left_alone[:, best].any():  # rows have two holes and more: the emptiest column
                best = int(left.sum(axis=0).argmax())
            if not left[:, best].any():
                break
            left[:, best] = False
            dropped.append(names[best])
            others = int((~left.any(axis=1)).sum())
        if others < LEAST_COMPLETE:
            return refusal("few_complete", **facts)
        if len(dropped) == 1:
            return refusal("few_complete_column", dropped[0], **facts, others=others)
        return refusal(
            "few_complete_columns", **facts, others=others, names=offenders(map(repr, dropped), 8)
        )
