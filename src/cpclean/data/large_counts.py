"""Numbers of candidates and worlds for people: they may be beyond all bounds."""

from __future__ import annotations

import math


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "class"), counted(2, "class")
    ('1 class', '2 classes')
    """
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number} {noun if number == 1 else plural}"


def count_text(number: int) -> str:
    """A number for people, which may be very large.

    >>> count_text(625), count_text(5**30)
    ('625', 'about 10^21.0')
    """
    return f"{number:,}" if number < 10**9 else f"about 10^{math.log10(number):.1f}"


def world_count_text(number: int) -> str:
    """A number of worlds for people.

    >>> world_count_text(5**90)
    'about 10^62.9 worlds'
    """
    return (
        counted(number, "world") if number < 10**6 else f"about 10^{math.log10(number):.1f} worlds"
    )
