"""A slow clock for what is given only some seconds."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

SLOWER = 20
LIMITED = ("column_effects", "forecast", "new_points", "reasons")


@pytest.fixture(autouse=True)
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Analyses come to their end on a busy machine, too; for a whole room, by its conftest.

    No time at all is as short as ever.
    """
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() / SLOWER)
    for module in LIMITED:
        monkeypatch.setattr(f"cpclean.analysis.{module}.time", clock)
