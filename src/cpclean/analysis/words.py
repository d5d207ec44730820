"""Numbers and raw values as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cpclean.data.large_counts import count_text

LONGEST_VALUE = 60
LONGEST_NAME = 24


def percent(share: float) -> str:
    """A share in percent that reads 100% or 0% only where it is exactly that.

    >>> percent(1.0), percent(0.99999), percent(0.5), percent(0.0004), percent(0.0)
    ('100%', '>99.9%', '50.0%', '<0.1%', '0%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}"


def about_percent(share: float) -> str:
    """The same for a share that is estimated.

    >>> about_percent(0.5), about_percent(0.9999)
    ('about 50.0%', '>99.9%')
    """
    words = percent(share)
    return words if words[0] in "<>" else f"about {words}"


# From which share on it is called so; exactly all and exactly none come first.
_SHARES = (
    (0.95, "nearly all"),
    (0.85, "about nine in ten"),
    (0.775, "about four in five"),
    (0.71, "about three in four"),
    (0.62, "about two in three"),
    (0.55, "more than half"),
    (0.45, "about half"),
    (0.38, "fewer than half"),
    (0.29, "about one in three"),
    (0.225, "about one in four"),
    (0.15, "about one in five"),
    (0.07, "about one in ten"),
    (0.0, "very few"),
)


def share_words(share: float) -> str:
    """A share as people say it, before its percentage.

    >>> [share_words(share) for share in (1.0, 0.999, 0.874, 0.675, 0.5, 0.03, 0.0)]
    ['all', 'nearly all', 'about nine in ten', 'about two in three', 'about half', 'very few', \
'none']
    """
    if share in (0, 1):
        return "all" if share else "none"
    return next(words for least, words in _SHARES if share >= least)


def words_first(share: float, *, estimated: bool = False) -> str:
    """A share as people say it, and its percentage behind it.

    >>> words_first(0.874), words_first(0.533, estimated=True), words_first(1.0)
    ('about nine in ten (87.4%)', 'about half (about 53.3%)', 'all (100%)')
    """
    return f"{share_words(share)} ({(about_percent if estimated else percent)(share)})"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun.

    >>> count(1, "row"), count(2500, "row"), count(0, "query", "queries"), count(5**30, "way")
    ('1 row', '2,500 rows', '0 queries', 'about 10^21.0 ways')
    """
    return f"{count_text(number)} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Sequence[str], most: int = 6) -> str:
    """Words in one line, the last of them after "and".

    >>> listed(["a", "b", "c"]), listed(["a"]), listed(list("abcdefgh"))
    ('a, b and c', 'a', 'a, b, c, d, e and 3 more')
    """
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """A text that is not longer than this; both ends stay, for names often differ at the end.

    >>> shortened("the shortest one", 9)
    'the s…one'
    """
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3 + 1 if longest > 4 else 0
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def shown(value: Any) -> str:
    """A raw value: numbers with a few digits, text cut where it is long.

    >>> shown(41.0), shown(0.123456789), shown(-1234.5678), shown(None), shown(True), shown("x")
    ('41', '0.1235', '-1234.57', 'missing', 'yes', 'x')
    """
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        whole = math.isfinite(value) and value.is_integer() and abs(value) < 1e15
        return f"{value:.0f}" if whole else f"{value:.{6 if abs(value) >= 1 else 4}g}"
    return shortened(str(value), LONGEST_VALUE)


def small(number: float) -> str:
    """A small number with two digits.

    >>> small(0.0), small(0.01234), small(0.0000123)
    ('0', '0.012', '1.2e-05')
    """
    return f"{number:.2g}"


def row_name(row: int, row_names: Sequence[Any] | Mapping[int, Any] | None) -> str:
    """A row as the reader knows it.

    >>> row_name(1, None), row_name(1, ["Ann", "Bob"])
    ('row 1', 'row Bob')
    """
    return f"row {row if row_names is None else row_names[row]}"
