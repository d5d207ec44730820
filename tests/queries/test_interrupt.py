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


STORM = """
import random, signal, threading, time
import numpy as np
from cpclean.data.threads import at_once
from cpclean.queries import _near

main, seen, over = threading.main_thread().ident, [0, 0], []
ptr, codes = np.array([0, 3, 5]), np.array([0, 1, 0, 1, 1])
expected = [one.tolist() for one in _near.local_labels(ptr, codes, 2)]

def storm():
    rng = random.Random(0)
    while not over:
        time.sleep(0.0005 * rng.random())
        if seen[1]:
            seen[1] = 0
            signal.pthread_kill(main, signal.SIGINT)

storming = threading.Thread(target=storm, daemon=True)
storming.start()
while seen[0] < 2000:
    try:
        seen[1] = 1
        while True:
            found = at_once(lambda: _near.local_labels(ptr, codes, 2))
    except KeyboardInterrupt:
        seen[0] += 1
        assert [one.tolist() for one in found] == expected
over.append(True)
storming.join()
print("alive")
"""


@pytest.mark.slow
@needs_posix
def test_kernels_in_the_main_thread_bear_a_storm_of_interrupts() -> None:
    """What a kernel returns is handed over in Python: an error raised there would be lost."""
    run = subprocess.run(
        [sys.executable, "-c", STORM], capture_output=True, text=True, timeout=300, check=False
    )
    assert (run.returncode, run.stdout) == (0, "alive\n"), run.stderr
