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
QUERIES = ROOT / "src/cpclean/queries"
# Compiled into the kernels of other files.
SHARED_KERNELS = (
    "kernel_arrays.py",
    "kernel_kinds.py",
    "_terms.py",
    "_alike.py",
    "_bits.py",
    "_squares.py",
    "_leaf_lists.py",
    "_minmax.py",
)
# About half of the work each; names of functions below.
SHARES = (
    ("certain", "tallies", "residues", "products", "walks"),
    ("races", "cells", "leaves", "cosines", "other metrics", "trees"),
)


def is_cold() -> bool:
    """Whether some file of kernels has nothing compiled since it was edited."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" or "NUMBA_CACHE_DIR" in os.environ:
        return False
    shared = _shared_since()
    return any(
        all(index.stat().st_mtime < max(file.stat().st_mtime, shared) for index in _compiled(file))
        for file in _kernels()
    )


def warm_up() -> None:
    """Compile what is missing; what goes wrong here goes wrong in the tests again, with words."""
    shared = _shared_since()
    for file in _kernels():
        for index in _compiled(file):
            if index.stat().st_mtime < shared:  # Numba itself does not see what has changed
                index.unlink(missing_ok=True)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    started = [
        subprocess.Popen([sys.executable, __file__, *names], env={**os.environ, "PYTHONPATH": path})
        for names in SHARES
    ]
    for process in started:
        process.wait()


def _shared_since() -> float:
    """When something was edited last that is compiled into the kernels of other files."""
    return max((QUERIES / name).stat().st_mtime for name in SHARED_KERNELS)


def _kernels() -> list[Path]:
    return [*QUERIES.glob("_[a-z]*.py"), ROOT / "src/cpclean/data/spaces/_tree_kernels.py"]


def _compiled(file: Path) -> list[Path]:
    return list(file.parent.glob(f"__pycache__/{file.stem}.*.nbi"))


def main(names: list[str]) -> None:
    import numpy as np

    import cpclean
    from cpclean import Cell, FactoredRow, IncompleteDataset
    from cpclean.data.spaces.learning import random_trees
    from cpclean.data.spaces.trees import Trees

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

    def leaves() -> None:
        nodes = ([0, -1, -1], [1.0, 0, 0], [1, -1, -1], [2, -1, -1])
        among = data(2).in_space(Trees([0, 3], *nodes, n_features=2))
        session = cpclean.CleaningSession(among, X, n_neighbors=2)
        session.tell(session.data.dirty_rows[0], candidate=0)
        cpclean.is_certain(among, X)
        rows = [[[1.0, 2.0], [2.0, 1.0]], *([[row % 3.0, 1.0]] for row in range(5))]
        mostly_clean = IncompleteDataset(rows, np.arange(6) % 2)
        cpclean.is_certain(mostly_clean.in_space(among.space), X)

    def trees() -> None:
        grown = random_trees(data(2), n_trees=2)
        grown.reachable(data(2).arrays)
        grown.apply(X)

    def products() -> None:
        rows = [np.arange(16.0).reshape(2, 8) % (2 + row) for row in range(12)]
        table = IncompleteDataset(rows, np.arange(12) % 2)
        cpclean.is_certain(table, np.eye(8))
        cpclean.is_certain(table, np.arange(8.0)[:, None] * np.eye(8)[0])  # points that are alike

    work = {
        "certain": lambda: cpclean.is_certain(data(2), X),
        "races": lambda: (cpclean.world_shares(data(2), X), cpclean.expected_entropies(data(2), X)),
        "tallies": lambda: (cpclean.world_shares(data(3), X), cpclean.world_counts(data(3), X)),
        "residues": lambda: cpclean.world_counts(data(2), X),
        "walks": lambda: (
            cpclean.world_shares(data(2), X, 9),
            cpclean.expected_entropies(data(2), X, 9),
        ),
        "cosines": lambda: (
            cpclean.is_certain(data(2), X, 3, "cosine"),
            cpclean.world_shares(data(2), X, 3, "cosine"),
        ),
        "other metrics": lambda: (
            cpclean.is_certain(data(2), X, 3, "manhattan"),
            cpclean.world_shares(data(2), X, 3, "manhattan"),
        ),
        "products": products,
        "cells": cells,
        "leaves": leaves,
        "trees": trees,
    }
    for name in names:
        work[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
