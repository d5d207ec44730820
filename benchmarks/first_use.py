"""The first minute: CPU seconds of first calls from an empty cache, and of every kernel in them.

``python -m benchmarks.first_use`` measures this version; with ``--beside FOLDER``, the ``src``
folder of another one, both take turns, and their ratios are printed. ``--here`` is the new process
in which one version is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

FIRST = ("is_certain", "world_shares", "expected_entropies", "a first question")


def measured(source: Path) -> dict[str, Any]:
    """CPU seconds of the first calls, and of the kernels compiled in them, of one version."""
    with tempfile.TemporaryDirectory() as cache:
        found = subprocess.run(
            [sys.executable, "-m", "benchmarks.first_use", "--here"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(found.stdout)  # type: ignore[no-any-return]


def measure_here() -> dict[str, Any]:
    """In a process in which nothing is compiled yet."""
    import numpy as np
    from numba.core import event

    import cpclean

    kernels: Counter[str] = Counter()
    running: list[tuple[str, float]] = []

    class Clock(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, event: Any) -> None:
            running.append((event.data["dispatcher"].py_func.__name__, time.process_time()))

        def on_end(self, event: Any) -> None:
            name, since = running.pop()
            if not running:  # what it calls is compiled within it
                kernels[name] += time.process_time() - since  # type: ignore[assignment]

    register: Any = event.register  # untyped
    register("numba:compile", Clock())
    rng = np.random.default_rng(0)
    rows, points = rng.random((60, 4)), rng.random((20, 4))
    candidates = [
        row[None, :] if at % 3 else np.where(np.arange(4) == at % 4, grid[:, None], row)
        for at, row in enumerate(rows)
        for grid in [np.linspace(0, 1, 5)]
    ]
    data = cpclean.IncompleteDataset(candidates, (rows[:, 0] + rows[:, 1] > 1).astype(int))
    calls: list[Callable[[], object]] = [
        lambda: cpclean.is_certain(data, points),
        lambda: cpclean.world_shares(data, points),
        lambda: cpclean.expected_entropies(data, points),
        lambda: cpclean.CleaningSession(data, points).ask(),
    ]
    seconds = []
    for call in calls:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return {"seconds": seconds, "kernels": dict(kernels.most_common())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="The src folder of another version.")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measure_here()))
        return
    versions = {"ours": ROOT / "src"} | ({"theirs": given.beside} if given.beside else {})
    rounds = [{name: measured(source) for name, source in versions.items()}
              for _ in range(given.repeat)]  # fmt: skip
    best = {
        name: [min(one[name]["seconds"][at] for one in rounds) for at in range(len(FIRST))]
        for name in versions
    }
    for at, call in enumerate(FIRST):
        print(_line(call, {name: seconds[at] for name, seconds in best.items()}))
    print(_line("until the first question", {name: sum(found) for name, found in best.items()}))
    print("\nseconds of each kernel, with all that is compiled within it, of this version:")
    for kernel, took in rounds[0]["ours"]["kernels"].items():
        print(f"{kernel:>26} {took:6.2f}")


def _line(call: str, seconds: dict[str, float]) -> str:
    each = " | ".join(f"{name} {took:6.2f} s" for name, took in seconds.items())
    ratio = f" | ratio {seconds['ours'] / seconds['theirs']:.2f}" if "theirs" in seconds else ""
    return f"{call:>26} | {each}{ratio}"


if __name__ == "__main__":
    main()
