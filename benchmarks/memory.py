"""Peak memory of a call in this process, beyond what the process held before it."""

from __future__ import annotations

import ctypes
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

STATUS = Path("/proc/self/status")


class Found(TypedDict):
    """Bytes before the call and at its peak; not exact where the system keeps one peak only."""

    before: float
    peak: float
    exact: bool


def of(call: Callable[[], object]) -> Found:
    exact = STATUS.exists() and _give_back() and _forget_peak()
    before = _status("VmRSS") if exact else _lifetime_peak()
    call()
    peak = _status("VmHWM") if exact else _lifetime_peak()
    return {"before": before, "peak": peak, "exact": exact}


def growth(found: Found) -> float:
    """In megabytes."""
    return (found["peak"] - found["before"]) / 1e6


def shown(found: Found) -> str:
    return f"{'' if found['exact'] else 'at least '}{growth(found):,.0f} MB"


def _give_back() -> bool:
    """Return freed memory to the system: reused, it would hide as much growth."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return False
    return True


def _forget_peak() -> bool:
    """Let the peak start from here, where the system can do that; building had its own."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(name: str) -> int:
    line = next(one for one in STATUS.read_text().splitlines() if one.startswith(name))
    return 1024 * int(line.split()[1])


def _lifetime_peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def peak() -> int:
    """The peak of this process so far, in bytes."""
    return _status("VmHWM") if STATUS.exists() else _lifetime_peak()
