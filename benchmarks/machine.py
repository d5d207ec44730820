"""Where a run took place, in as many words as a reader needs to place its figures."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def described() -> str:
    cores = os.cpu_count() or 1
    software = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scikit-learn"))
    plural = "core" if cores == 1 else "cores"
    return f"{_cpu()}, {cores} {plural}; Python {platform.python_version()}, {software}"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
