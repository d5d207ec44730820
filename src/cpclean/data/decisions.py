"""What is decided about a column of a table, and how it is said."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cpclean.errors import TableError

# By their codes. What is "kept, but" has a place in the space, and a person may think otherwise.
WORDS = {
    "kept": "kept",
    "rounded": "kept, but rounded: whole numbers beyond 2**53",
    "row_number": "kept, but looks like a row number: whole numbers without gaps",
    "identifier": "kept, but looks like an identifier: {distinct} values, nearly all distinct",
    "many_categories": "kept, but has many categories: {distinct}",
    "candidates_differ": "kept: observed values do not differ, but candidates do",
    "taken": "kept: the space takes every column, also one whose values are all the same",
    "unobserved": "ignored: no value is observed",
    "constant": "ignored: every observed value is the same",
    "weightless": "left out: weight 0",
}
DOUBTS = ("rounded", "row_number", "identifier", "many_categories")
IGNORED = ("unobserved", "constant")


@dataclass(frozen=True)
class Decision:
    """What is decided about a column.

    Parameters
    ----------
    code : str
        One of `WORDS`.
    distinct : int
        How many different values it has, where that matters.

    Examples
    --------
    >>> Decision("many_categories", 60).words
    'kept, but has many categories: 60'
    >>> Decision("constant").kept
    False
    """

    code: str = "kept"
    distinct: int = 0

    @property
    def kept(self) -> bool:
        """Whether the column has a place in the space."""
        return self.code not in (*IGNORED, "weightless")

    @property
    def words(self) -> str:
        """The decision and its reason, for people."""
        return WORDS[self.code].format(distinct=self.distinct)

    @classmethod
    def from_words(cls, words: str) -> Decision:
        """The decision that is said so: tables were once stored with the words alone."""
        for code, pattern in WORDS.items():
            before, _, after = pattern.partition("{distinct}")
            found = re.fullmatch(f"{re.escape(before)}([0-9]*){re.escape(after)}", words)
            if found is not None:
                return cls(code, int(found[1] or 0))
        raise TableError(f"there is no decision about a column such as {words!r}.")
