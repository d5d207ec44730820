"""Memory: queries have no array of the size of the table in any thread."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")

# How much a process grows by in its queries, at most, in bytes per row of its table.
GROWTH = """
import ctypes, sys, threading
from pathlib import Path
# No large pages: the system may put them in for small ones at any moment.
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE
import numpy as np
from cpclean import IncompleteDataset, expected_entropies, is_certain, world_shares
from cpclean.data.row_arrays import RowArrays

def made(n):
    # Every other row has a hole with two values and weights of its own.
    rng = np.random.default_rng(1)
    base = rng.random((n, 1))
    cells = n // 2
    values = np.column_stack([base[::2, 0], base[::2, 0] + 1e-5 * rng.random(cells)]).ravel()
    at = 2 * np.arange(cells)
    n_cells = np.zeros(n, dtype=np.int64)
    n_cells[::2] = 1
    arrays = RowArrays(
        base=base, n_cells=n_cells, first_cell=np.cumsum(n_cells) - n_cells,
        cell_start=np.zeros(cells, np.int64), cell_stop=np.ones(cells, np.int64),
        cell_size=np.full(cells, 2), values_at=at, weights_at=at, values=values,
        weights=np.full(2 * cells, 0.5),
    )
    return IncompleteDataset.from_arrays(arrays, rng.integers(0, 2, n), ["a", "b"])

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])

n = int(sys.argv[1])
X = np.random.default_rng(2).random((256, 1))
queries = is_certain, world_shares, expected_entropies
small, large = made(1000), made(n)
for query in queries:
    query(small, X, n_jobs=4)  # compiled, and in threads that have their own heaps
is_certain(large, X, n_jobs=4)  # what is prepared once
def grown(query, n_jobs):
    # The most that was there at any moment, of memory that is no file: files come and go.
    ctypes.CDLL(None).malloc_trim(0)
    before = most = status("RssAnon")
    over = threading.Event()

    def watch():
        nonlocal most
        while not over.wait(0.001):
            most = max(most, status("RssAnon"))

    watching = threading.Thread(target=watch)
    watching.start()
    query(large, X, n_jobs=n_jobs)
    over.set()
    watching.join()
    return (most - before) / n

for query in queries:
    # What a query needs, it needs every time.
    print(min(grown(query, 1) for _ in range(3)), grown(query, 4))
"""


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="the memory of a process cannot be read here")
def test_queries_need_little_beside_a_table_of_five_million_rows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROWTH, "5000000"], capture_output=True, text=True, check=True
    )
    certain, shares, gains = (map(float, line.split()) for line in done.stdout.splitlines())
    # In bytes per row. In one thread, and over four, whose heaps may grow by 17 MB each in a
    # moment; an array of 8 bytes in each would take up 32.
    for alone, together in (certain, shares):
        assert alone < 4
        assert together < 20
    alone, together = gains  # of which 8 are returned
    assert 8 < alone < 16
    assert 8 < together < 32
