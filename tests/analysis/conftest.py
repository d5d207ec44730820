"""A session over a small table."""

from __future__ import annotations

from typing import Any

import pytest
from analysis.samples import frames
from clocks import slow_clock  # noqa: F401
from forests import small_forests  # noqa: F401

from cpclean import CleaningSession, IncompleteTable


@pytest.fixture(scope="module")
def tables() -> tuple[Any, Any, Any]:
    return frames()


@pytest.fixture
def session(tables: tuple[Any, Any, Any]) -> CleaningSession:
    dirty, _, val = tables
    table = IncompleteTable(dirty, label="buys")
    return CleaningSession(table, val, y_val=val["buys"].to_numpy())
