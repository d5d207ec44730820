"""Tables of files that need not fit into memory: time and peak memory, each in a new process.

``python -m benchmarks.streamed FILE N_POINTS`` is one such process: it makes a StreamedTable,
gathers the rows near the points, and asks whether they are certain and which share each label has.
With ``--in-memory`` it asks an IncompleteTable of all rows instead. Both print what they found.
``--write FILE N_ROWS`` makes such a file, and ``--scan FILE N_POINTS ...`` prints what gathering
costs for each number of points, on one thread.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.report import Line
from benchmarks.run import Run

N_COLUMNS = 10
DIRTY = 0.1
GROUP = 250_000
# Targets: peak memory of the process; CPU seconds per million rows; peak of the larger table
# against that of the smaller one.
MOST_BYTES, MOST_SECONDS, MOST_GROWTH = 1e9, 6.0, 1.15


def measure(run: Run) -> None:
    n_points = run.pick(1_000, 50)
    sizes = run.pick((2_000_000, 10_000_000), (20_000, 60_000))
    found: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in sizes:
            on = f"{n_rows:,} rows x {N_COLUMNS} columns, {n_points:,} points"
            run.say(f"streamed, {on}")
            file = Path(folder) / f"{n_rows}.parquet"
            _in_process("--write", str(file), str(n_rows))
            found[n_rows] = own = _in_process(str(file), str(n_points))
            each = own["seconds"] / (n_rows / 1e6)
            run.report.add(
                Line(
                    "streamed: CPU per million rows",
                    on,
                    ours=f"{each:.2f} s",
                    target=f"≤ {MOST_SECONDS:g} s",
                    met=None if run.quick else each <= MOST_SECONDS,
                )
            )
            run.report.add(
                Line(
                    "streamed: peak memory",
                    f"{on}; {own['gathered']:,} rows gathered",
                    ours=f"{own['peak'] / 1e6:,.0f} MB",
                    target=f"≤ {MOST_BYTES / 1e6:,.0f} MB",
                    met=None if run.quick else own["peak"] <= MOST_BYTES,
                )
            )
            if n_rows == sizes[0]:
                whole = _in_process(str(file), str(n_points), "--in-memory")
                run.report.add(
                    Line(
                        "the same table in memory",
                        on,
                        ours=f"{whole['seconds'] / (n_rows / 1e6):.2f} s per million, "
                        f"{whole['peak'] / 1e6:,.0f} MB",
                    )
                )
                same = whole["answers"] == own["answers"]
                run.report.check(f"streamed, {on}: the answers", same, "bit for bit")
            file.unlink()
    growth = found[sizes[1]]["peak"] / found[sizes[0]]["peak"]
    run.report.add(
        Line(
            "streamed: peak of the larger table",
            f"{sizes[1]:,} against {sizes[0]:,} rows",
            ours="",
            ratio=f"{growth:.2f}",
            target=f"≤ {MOST_GROWTH:g}",
            met=None if run.quick else growth <= MOST_GROWTH,
        )
    )


def _in_process(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.streamed", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# -- in the process --------------------------------------------------------------------------------


def write(path: str, n_rows: int) -> None:
    """A Parquet file of numbers, with holes in one row of ten; labels depend on the columns."""
    import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
    import pyarrow.parquet as pq  # type: ignore[import-untyped, unused-ignore]

    rng, writer = np.random.default_rng(0), None
    for start in range(0, n_rows, GROUP):
        size = min(GROUP, n_rows - start)
        table = pa.table(_columns(rng, size))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    assert writer is not None
    writer.close()
    print(json.dumps({"rows": n_rows}))


def _columns(rng: np.random.Generator, size: int, share: float = DIRTY) -> dict[str, Any]:
    import pyarrow as pa

    X = rng.normal(size=(size, N_COLUMNS)) + rng.integers(0, 4, (size, 1))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=size) > 3).astype(np.int64)
    dirty = rng.random(size) < share
    holes = np.zeros((size, N_COLUMNS), dtype=bool)
    holes[np.flatnonzero(dirty), rng.integers(0, N_COLUMNS, int(dirty.sum()))] = True
    columns = {f"x{one}": pa.array(X[:, one], mask=holes[:, one]) for one in range(N_COLUMNS)}
    return {**columns, "y": pa.array(y)}


def ask(path: str, n_points: int, in_memory: bool) -> None:
    """Ask about points, and print the answers, CPU seconds and peak memory."""
    from cpclean import IncompleteTable, StreamedTable, gather, is_certain, world_shares

    rng = np.random.default_rng(1)
    columns = _columns(rng, n_points, 0.0)
    del columns["y"]
    points = _frame(columns)
    with tempfile.TemporaryDirectory() as folder:  # compiled code is loaded
        small = f"{folder}/small.parquet"
        _write_small(small)
        table = StreamedTable(small, "y")
        near = gather(table, points.slice(0, 5))
        world_shares(near.dataset, table.points(points.slice(0, 5)))
    start, gathered = time.process_time(), 0
    if in_memory:
        import pyarrow.parquet as pq

        whole = IncompleteTable(pq.read_table(path), "y")
        asked, data = whole.points(points), whole.dataset
    else:
        table = StreamedTable(path, "y")
        asked = table.points(points)
        near = gather(table, asked)
        gathered, data = near.n_rows, near.dataset
    certain, shares = is_certain(data, asked), world_shares(data, asked)
    answers = hashlib.sha256(certain.tobytes() + shares.tobytes()).hexdigest()
    seconds = time.process_time() - start
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak": memory.peak(),
                "gathered": gathered,
                "answers": answers,
                "certain": float(certain.mean()),
            }
        )
    )


def scan(path: str, numbers: list[int]) -> None:
    """What making the table, and gathering for numbers of points, cost in CPU time and bytes."""
    import pickle

    from cpclean import StreamedTable
    from cpclean.queries.near_scan import checked_model, scanned

    start = time.process_time()
    table = StreamedTable(path, "y")
    print(json.dumps({"rows": table.n_rows, "made": time.process_time() - start}))
    for n_points in [numbers[0], *numbers]:  # the first time, compiled code is loaded
        columns = _columns(np.random.default_rng(1), n_points, 0.0)
        del columns["y"]
        points = table.points(_frame(columns))
        start = time.process_time()
        found = scanned(table, points, checked_model(table, None, None), n_jobs=1)
        told = {
            "points": n_points,
            "seconds": time.process_time() - start,
            "gathered": len(found.some_rows.numbers),
            "bytes": len(pickle.dumps(found, pickle.HIGHEST_PROTOCOL)),
            "peak": memory.peak(),
        }
        print(json.dumps(told), flush=True)


def _write_small(path: str) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_frame(_columns(np.random.default_rng(2), 500)), path)


def _frame(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "--scan":
        scan(sys.argv[2], list(map(int, sys.argv[3:])))
    else:
        ask(sys.argv[1], int(sys.argv[2]), "--in-memory" in sys.argv)
