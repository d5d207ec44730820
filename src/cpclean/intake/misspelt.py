"""Categories that are probably slips of the pen: rare, and one slip away from a frequent one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

# Shorter words are as often another word: "mild" and "mind".
_SHORTEST = 5
# A slip is rare: so many times at most, and so many times rarer than what was meant.
_TIMES, _RARER = 3, 10
# Among more categories, names of people or places, neighbours are usual.
_MOST = 200


def misspelt(frequencies: Mapping[Any, int]) -> dict[str, str]:
    """Rare categories, each with the frequent one that was probably meant.

    Exactly one word of them differs, by a letter that is lacking, added or another, or by two that
    have changed places; its first letter is the same. Codes and numbers are never slips.

    Parameters
    ----------
    frequencies : dict from category to how often it occurs

    Examples
    --------
    >>> misspelt({"female": 90, "male": 80, "femlae": 1, "A1": 50, "A2": 1})
    {'femlae': 'female'}
    """
    texts = {one: n for one, n in frequencies.items() if isinstance(one, str)}
    if len(texts) > _MOST:
        return {}
    rare = [one for one, n in texts.items() if n <= _TIMES]
    usual = sorted(texts, key=lambda one: -texts[one])
    found: dict[str, str] = {}
    for slip, meant in product(rare, usual):
        if slip not in found and texts[meant] >= _RARER * texts[slip] and _one_slip(slip, meant):
            found[slip] = meant
    return found


def _one_slip(slip: str, meant: str) -> bool:
    ours, theirs = slip.casefold().split(), meant.casefold().split()
    if len(ours) != len(theirs):
        return False
    apart = [(one, two) for one, two in zip(ours, theirs, strict=True) if one != two]
    return len(apart) == 1 and _near(*apart[0])


def _near(one: str, two: str) -> bool:
    """Whether two words of letters are one slip apart, behind their first letter."""
    short, long = sorted((one, two), key=len)
    if len(short) < _SHORTEST or not (one.isalpha() and two.isalpha()) or one[0] != two[0]:
        return False
    if len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    if short[at + 1 :] == long[at + 1 :]:
        return True
    swapped = short[at + 1 : at + 2] + short[at : at + 1]
    return swapped + short[at + 2 :] == long[at:]
