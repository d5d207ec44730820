"""Compiles the kernels before the tests start, each of them once.

Worker processes that all met a cold cache would compile every kernel each. Two processes share the
work instead; a kernel that both need and one has finished is read from the cache by the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# About half of the work each; names of functions below.
SHARES = (("certain", "tallies", "residues"), ("races", "cells"))


def is_cold() -> bool:
    """Whether some file of kernels has nothing compiled since it was edited."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" or "NUMBA_CACHE_DIR" in os.environ:
        return False
    queries = ROOT / "src/cpclean/queries"
    frozen = (queries / "kernel_arrays.py").stat().st_mtime  # its numbers are compiled in
    return any(not _compiled(file, frozen) for file in queries.glob("_[a-z]*.py"))


def _compiled(file: Path, frozen: float) -> bool:
    edited = max(file.stat().st_mtime, frozen)
    made = file.parent.glob(f"__pycache__/{file.stem}.*.nbi")
    return any(index.stat().st_mtime >= edited for index in made)


def warm_up() -> None:
    """Compile what is missing; what goes wrong here goes wrong in the tests again, with words."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    started = [
        subprocess.Popen([sys.executable, __file__, *names], env={**os.environ, "PYTHONPATH": path})
        for names in SHARES
    ]
    for process in started:
        process.wait()


def main(names: list[str]) -> None:
    import numpy as np

    import cpclean
    from cpclean import Cell, FactoredRow, IncompleteDataset

    X = np.arange(10, dtype=np.float64).reshape(5, 2) % 4

    def data(n_classes: int) -> IncompleteDataset:
        factored = FactoredRow([0.0, 0.0], [Cell(0, [1.0, 2.0]), Cell(1, [1.0, 2.0])])
        rows = [np.arange(6.0).reshape(3, 2) % (3 + row) for row in range(11)]
        return IncompleteDataset([factored, *rows], np.arange(12) % n_classes)

    def cells() -> None:
        session = cpclean.CleaningSession(data(2), X, strategy="cells")
        if question := session.ask():
            session.tell(question.row, candidate=0)
            session.ask()

    work = {
        "certain": lambda: cpclean.is_certain(data(2), X),
        "races": lambda: (cpclean.world_shares(data(2), X), cpclean.expected_entropies(data(2), X)),
        "tallies": lambda: (cpclean.world_shares(data(3), X), cpclean.world_counts(data(3), X)),
        "residues": lambda: cpclean.world_counts(data(2), X),
        "cells": cells,
    }
    for name in names:
        work[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
