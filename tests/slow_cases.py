"""Cases of a test of which only some are waited for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def rest_slow(cases: Iterable[Any], n: int = 1) -> list[Any]:
    """The first n cases in the default suite, the others in the slow one.

    For `pytest.mark.parametrize`, where the others repeat on more data what the first ones test.
    """
    return [
        case if place < n else pytest.param(*_listed(case), marks=pytest.mark.slow)
        for place, case in enumerate(cases)
    ]


def parts(every: Sequence[Any], few: int) -> list[Any]:
    """A few parts of a long sweep, or all of them where CPCLEAN_SWEEP is "all"."""
    if os.environ.get("CPCLEAN_SWEEP") == "all":
        return list(every)
    return list(every[:: -(-len(every) // few)])


def _listed(case: Any) -> Iterable[Any]:
    return case if isinstance(case, tuple) else (case,)
