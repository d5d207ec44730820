"""Waiting for what comes about in another thread or process.

A test passes as soon as it has come about. The limit is only for what never does: it is far longer
than a busy machine takes, so that no test depends on how fast one is.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0  # seconds


def until(condition: Callable[[], object], what: str = "it", pause: float = 0.01) -> None:
    """Wait until a condition holds; it is looked at after every pause."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about within {PATIENCE:g} s"
        time.sleep(pause)
