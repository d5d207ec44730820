"""What stands for nothing: nulls of any library, and the tokens that people write for them."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from cpclean.errors import TableError

# Tokens that people write for "nothing", for the null_tokens option.
COMMON_NULLS = ("?", "NA", "N/A", "null", "")

# A number as files write it: neither "nan" nor "inf" nor Python's "1_000".
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def is_null(value: Any) -> bool:
    """Whether a value stands for nothing: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to be compared
        return True
    except ValueError:  # an array, which is not nothing
        return False


def stripped(null_tokens: Any) -> tuple[str, ...]:
    """Null tokens without the blanks around them; a single text or number is a single token."""
    single = isinstance(null_tokens, str) or not hasattr(null_tokens, "__iter__")
    listed = [null_tokens] if single else list(null_tokens)
    numbers = int | float | np.number
    if odd := [one for one in listed if not isinstance(one, str | numbers) or is_null(one)]:
        raise TableError(
            f"null_tokens must be text or numbers, such as '?' or -999; got {odd[0]!r}."
        )
    return tuple(one.strip() if isinstance(one, str) else f"{one:.17g}" for one in listed)


@lru_cache(maxsize=64)
def token_numbers(tokens: tuple[str, ...]) -> frozenset[float]:
    """The numbers among null tokens: "-999" stands for -999 and -999.0 as well."""
    return frozenset(float(token) for token in tokens if NUMBER.fullmatch(token))


def is_token(item: Any, tokens: tuple[str, ...]) -> bool:
    """Whether a value is one of the null tokens: text after stripping, numbers as numbers."""
    if isinstance(item, str):
        return item.strip() in tokens
    if not tokens or isinstance(item, bool | np.timedelta64):
        return False
    return isinstance(item, int | float | np.number | Decimal) and item in token_numbers(tokens)
