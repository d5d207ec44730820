"""Ctrl-C while compiled code runs: the query ends at once, and the process lives on."""

import subprocess
import sys

import pytest
from systems import needs_posix

SCRIPT = """
import os, signal, threading, time
import numpy as np
from cpclean import IncompleteDataset, {query}

rng = np.random.default_rng(0)
data = IncompleteDataset(list(rng.random((4000, 4, 6))), rng.integers(0, 2, 4000))
X = rng.random((60_000, 6))
before = {query}(data, X[:100])
for wait in (0.2, 0.23, 0.26, 0.29):
    threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.process_time()
    try:
        {query}(data, X, n_jobs={n_jobs})
    except KeyboardInterrupt:  # the whole of it would take more than a minute
        print("interrupted", time.process_time() - start < 30)
assert np.array_equal({query}(data, X[:100]), before)
print("alive")
"""


@pytest.mark.slow
@needs_posix
def test_an_interrupt_ends_a_query_and_nothing_else():
    for query, n_jobs in (("world_shares", 1), ("is_certain", 2)):
        script = SCRIPT.format(query=query, n_jobs=n_jobs)
        run = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False
        )
        assert run.stdout.split("\n") == ["interrupted True"] * 4 + ["alive", ""], run.stderr
        assert run.returncode == 0
