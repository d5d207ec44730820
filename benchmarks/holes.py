"""Holes everywhere: rows with so many holes that they are drawn, and points with holes.

Tables are generated: numbers that depend on a label and on each other, a fifth of all cells
missing. There is no yardstick in other libraries; lines compare with limits, with wider tables, and
points with holes with complete ones of the same table.
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from benchmarks.measure import ROOT, Times, interleaved, timed
from benchmarks.report import Line
from benchmarks.run import Run
from cpclean import (
    CertainKNeighborsClassifier,
    CleaningSession,
    IncompleteTable,
    Points,
    is_certain,
    share_errors,
    world_shares,
)

Floats = npt.NDArray[np.float64]

ROWS, POINTS, MISSING = 500, 100, 0.2
WIDTHS = (30, 60, 200)
PER_POINT, CERTAIN_PER_POINT, STEP, ERROR = 0.005, 0.001, 0.5, 0.01
MANY_DRAWS, SEEDS = 2_048, 10
LEARNT, INSPECT = 418, 15.0
SPACES = {
    "as it is by default": [],
    "plain space": ["--space", "plain", "--neighbors", "3", "--prior", "uniform"],
}
COMPLETIONS = (5, 25, 125)


def measure(run: Run) -> None:
    for width in run.pick(WIDTHS, WIDTHS[:1]):
        _measure_width(run, width)
    _measure_points(run)
    _measure_inspect(run)


def generated(rows: int, width: int, missing: float, seed: int = 0) -> tuple[Floats, npt.NDArray]:
    """Numbers in a few directions and noise, with holes; the labels that go with them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(rows, 4))
    X = hidden @ rng.normal(size=(4, width)) + rng.normal(size=(rows, width))
    labels = np.where(hidden[:, 0] + 0.5 * rng.normal(size=rows) > 0.0, "high", "low")
    X[rng.random(X.shape) < missing] = np.nan
    return X, labels


def many_holes() -> tuple[Floats, npt.NDArray]:
    """418 rows of 18 columns with up to 12 holes; behind them 500 points, half with up to three."""
    rng = np.random.default_rng(3)
    X, labels = generated(LEARNT + 500, 18, 0.0, seed=2)
    for row in range(len(X)):
        if row < LEARNT or rng.random() < 0.5:
            size = rng.integers(0, 13) if row < LEARNT else rng.integers(1, 4)
            X[row, rng.permutation(18)[:size]] = np.nan
    return X, labels


def _measure_width(run: Run, width: int) -> None:
    run.say(f"rows with many holes, {width} columns")
    X, labels = generated(ROWS, width, MISSING)
    model = CertainKNeighborsClassifier().fit(X, labels)
    complete, _ = generated(POINTS, width, 0.0, seed=1)
    on = f"{ROWS} rows x {width} columns, 20 % missing, {POINTS} points"
    times = interleaved(
        {
            "shares": lambda: model.predict_proba(complete),
            "certain": lambda: model.is_certain(complete),
        },
        min(run.repeat, 3),
    )
    first = width == WIDTHS[0]
    _per_point(run, "predict_proba", on, times["shares"], PER_POINT if first else None)
    _per_point(run, "is_certain", on, times["certain"], CERTAIN_PER_POINT if first else None)
    _measure_session(run, on, model, complete, first)
    if first:
        _measure_error(run, on, X, labels, complete, model)


def _shown(cpu: float, wall: float) -> str:
    return f"{1000 * cpu:.2f} ({1000 * wall:.2f}) ms"


def _per_point(run: Run, what: str, on: str, times: Times, limit: float | None) -> None:
    cpu, wall = times.best_cpu / POINTS, times.best_wall / POINTS
    run.report.add(
        Line(
            f"{what}, rows with many holes",
            on,
            ours=f"{_shown(cpu, wall)} per point",
            target="" if limit is None else f"≤ {1000 * limit:g} ms",
            met=None if limit is None else cpu <= limit,
        )
    )


def _measure_session(
    run: Run, on: str, model: CertainKNeighborsClassifier, complete: Floats, first: bool
) -> None:
    assert model.table_ is not None
    session = CleaningSession(model.table_, complete)
    question = session.ask()
    seconds = []
    for _ in range(run.pick(10, 3)):
        if question is None:
            break
        row = question.row
        number = question.numbers[0] or 0

        def step(row: int = row, number: int = number) -> None:
            session.tell(row, number)
            session.ask()

        seconds.append(timed(step))
        question = session.ask()
    cpu, wall = (median(part) for part in zip(*seconds, strict=True))
    run.report.add(
        Line(
            "tell + ask, rows with many holes",
            on,
            ours=_shown(cpu, wall),
            target=f"≤ {STEP:g} s" if first else "",
            met=cpu <= STEP if first else None,
        )
    )


def _measure_error(
    run: Run,
    on: str,
    X: Floats,
    labels: npt.NDArray,
    complete: Floats,
    model: CertainKNeighborsClassifier,
) -> None:
    """How far draws are from many, how far they say they are, and certainty without draws."""
    run.say("the error of draws")
    many = IncompleteTable(X, label=labels, n_draws=run.pick(MANY_DRAWS, 256), random_state=SEEDS)
    points = many.points(complete)
    best = world_shares(many.dataset, points)
    # Draws of one seed may be lucky.
    others = [IncompleteTable(X, label=labels, random_state=seed).dataset for seed in range(SEEDS)]
    error = float(np.mean([np.abs(world_shares(one, points) - best).mean() for one in others]))
    told = float(np.mean([share_errors(one, points).mean() for one in others]))
    table = model.table_
    assert table is not None
    run.report.add(
        Line(
            f"mean error of shares, {table.dataset.drawing.n_draws} draws, {SEEDS} seeds",
            on,
            yardstick=f"{many.dataset.drawing.n_draws:,} draws",
            ours=f"{error:.4f} (estimated: {told:.4f})",
            target=f"≤ {ERROR:g}",
            met=error <= ERROR,
        )
    )
    certain = is_certain(table.dataset, points)
    run.report.check(
        "certain points have one label in all draws",
        bool((best[certain].max(axis=1) == 1.0).all()),
        f"{int(certain.sum())} of {len(certain)} points certain",
    )


def _measure_points(run: Run) -> None:
    """A point with c completions against a complete one, in the same table.

    Completions at the ends of a column lie farther out than most points, where more rows are near.
    So they are compared with complete points at the same places too, in an order in which these
    share no work.
    """
    run.say("points with holes")
    rows = run.pick(3_000, 500)
    X, labels = generated(rows, 10, 0.03)
    model = CertainKNeighborsClassifier().fit(X, labels)
    complete, _ = generated(POINTS, 10, 0.0, seed=1)
    asked = {1: complete}
    for size, holes in zip(COMPLETIONS, (1, 2, 3), strict=True):
        asked[size] = complete.copy()
        asked[size][:, 3 : 3 + holes] = np.nan
    asked[0] = complete.copy()  # as many as are drawn
    asked[0][:, 2:8] = np.nan
    table = model.table_
    assert table is not None
    points = {size: table.points(one) for size, one in asked.items()}

    rng = np.random.default_rng(2)
    for size in COMPLETIONS:
        points[-size] = Points.of(rng.permutation(points[size].vectors))

    def shares(one: Points) -> Floats:
        return world_shares(table.dataset, one)

    times = interleaved(
        {str(size): (lambda one=one: shares(one)) for size, one in points.items()},
        min(run.repeat, 3),
    )
    base = times["1"].best_cpu
    for size in (*COMPLETIONS, 0):
        found = times[str(size)]
        count = size or len(points[0].owner) // POINTS
        ratio = found.best_cpu / base
        run.report.add(
            Line(
                f"a point with {count} {'completions' if size else 'draws'} / a complete one",
                f"{rows:,} rows x 10 columns, world_shares",
                yardstick=_shown(base / POINTS, times["1"].best_wall / POINTS),
                ours=_shown(found.best_cpu / POINTS, found.best_wall / POINTS),
                ratio=f"{ratio:.1f}",
                target=f"≤ {count}",
                met=ratio <= count,
            )
        )
    for size in COMPLETIONS:
        found, apart = times[str(size)], times[str(-size)]
        run.report.add(
            Line(
                f"a point with {size} completions / {size} complete ones at the same places",
                f"{rows:,} rows x 10 columns, world_shares",
                yardstick=_shown(apart.best_cpu / POINTS, apart.best_wall / POINTS),
                ours=_shown(found.best_cpu / POINTS, found.best_wall / POINTS),
                ratio=f"{found.best_cpu / apart.best_cpu:.2f}",
            )
        )
    some = points[25]
    written = Points.of(some.vectors[some.vector])
    mixed = np.add.reduceat(
        world_shares(table.dataset, written) * some.weight[:, None],
        np.arange(0, len(some.owner), 25),
    )
    off = float(np.abs(mixed - world_shares(table.dataset, some)).max())
    run.report.check("shares of completions are mixed by weight", off < 1e-12, f"off by {off:.1e}")


def _measure_inspect(run: Run) -> None:
    """`cpclean inspect` in a process of its own: many holes in rows, some in half of the points."""
    run.say("cpclean inspect")
    X, labels = many_holes()
    with tempfile.TemporaryDirectory() as folder:
        train, val = Path(folder, "train.csv"), Path(folder, "val.csv")
        for file, part in ((train, slice(0, LEARNT)), (val, slice(LEARNT, None))):
            with file.open("w", newline="") as out:
                write = csv.writer(out)
                write.writerow([*(f"v{n}" for n in range(18)), "y"])
                for values, label in zip(X[part], labels[part], strict=True):
                    cells = ["" if np.isnan(one) else f"{one:.4f}" for one in values]
                    write.writerow([*cells, label])
        command = [
            sys.executable,
            "-c",
            "from cpclean.cli import main; main()",
            "inspect",
            str(train),
            "--label",
            "y",
        ]
        for space, options in SPACES.items():
            _measure_command(run, space, [*command, "--val", str(val), *options])


def _measure_command(run: Run, space: str, command: list[str]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, wall = timed(lambda: subprocess.run(command, cwd=ROOT, check=True, capture_output=True))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    run.report.add(
        Line(
            f"cpclean inspect, many holes, {space}",
            "418 rows x 18 columns, up to 12 holes; 500 points, half with holes",
            ours=f"{cpu:.1f} s ({wall:.1f} s)",
            target=f"≤ {INSPECT:g} s",
            met=cpu <= INSPECT,
        )
    )
