"""Cases of a test of which only some are waited for."""

from __future__ import annotations

from collections.abc import Iterable
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


def _listed(case: Any) -> Iterable[Any]:
    return case if isinstance(case, tuple) else (case,)
