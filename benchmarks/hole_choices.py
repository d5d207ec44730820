"""What was chosen for rows with many holes: exact up to where, how many draws, which values.

Draws are measured on the table of holes.py, exactness on another generated one, small enough to go
through all candidates of its rows. Five points against all observed values of a column are measured
on real tables with the holes they have, and with more of them in the training rows, in the plain
space and among the leaves of a forest: test accuracy, the share of predictions that are 95 % sure
(the largest share, less its estimated error, is at least 0.95), and how many of these are right.
"""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import holes
from benchmarks.holes import SEEDS, Floats, generated
from benchmarks.measure import interleaved, timed
from benchmarks.report import Line
from benchmarks.run import Run
from cpclean import (
    IncompleteDataset,
    IncompleteTable,
    Points,
    read_csv,
    share_errors,
    world_shares,
)
from cpclean.cleaning.board import Board
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.queries.model import Model

ROWS, WIDTH, POINTS = 300, 20, 50
DRAWS = (64, 128, 160, 256)
LIMITS = (125, 625, 3_125, 15_625)
COMPLETIONS = ((125, 64), (25, 16), (5, 6), (1, 4))
MOST_HOLES = 6  # of five values each: 15,625 candidates

LABELS = {"CreditData": "Status", "Chile": "vote", "Adult": "Income"}
REPAIRS = ("default", "observed")
SPLITS = 5
MOST_ROWS, SURE = 4_000, 0.95
# The share of training cells that are hidden besides the holes of the table: spaces with K and
# most points.
HIDDEN = {
    0.0: (("plain", 3, MOST_ROWS), ("plain", 15, MOST_ROWS), ("forest", 15, MOST_ROWS)),
    0.2: (("plain", 3, 400), ("forest", 15, 100)),
}


def measure(run: Run) -> None:
    _measure_draws(run)
    _measure_limits(run)
    _measure_sessions(run)
    if run.source.folder is None:
        run.report.notes.append("Five points against observed values need the tables: --data-dir.")
        return
    for hidden, several in HIDDEN.items():
        for name in LABELS:
            for case in several:
                _measure_values(run, run.source.folder, name, hidden, *case)


def _measure_draws(run: Run) -> None:
    """How far shares are off with so many draws: the mean over seeds."""
    run.say("the number of draws")
    X, labels = generated(holes.ROWS, holes.WIDTHS[0], holes.MISSING)
    asked, _ = generated(holes.POINTS, holes.WIDTHS[0], 0.0, seed=1)

    def shares(n_draws: int, seed: int) -> Floats:
        table = IncompleteTable(X, label=labels, n_draws=n_draws, random_state=seed)
        return world_shares(table.dataset, table.points(asked))

    most = run.pick(holes.MANY_DRAWS, 256)
    many = shares(most, SEEDS)
    for n_draws in run.pick(DRAWS, DRAWS[:1]):
        off = [np.abs(shares(n_draws, seed) - many).mean() for seed in range(SEEDS)]
        run.report.add(
            Line(
                f"mean error of shares, {n_draws} draws",
                f"{holes.ROWS} rows x {holes.WIDTHS[0]} columns, {SEEDS} seeds",
                yardstick=f"{most:,} draws",
                ours=f"{np.mean(off):.4f} ({min(off):.4f} to {max(off):.4f})",
            )
        )


def _measure_limits(run: Run) -> None:
    """The same table with more and more of its rows drawn."""
    run.say("where exactness stops paying")
    X, labels = generated(ROWS, WIDTH, 0.2)
    whole, _ = generated(ROWS, WIDTH, 0.0)  # the same numbers
    X = np.where(np.isnan(X).cumsum(axis=1) > MOST_HOLES, whole, X)
    limits = run.pick(LIMITS, LIMITS[:2])
    tables = {limit: IncompleteTable(X, label=labels, max_exact=limit) for limit in limits}
    points = tables[limits[0]].points(generated(POINTS, WIDTH, 0.0, seed=1)[0])
    times = interleaved(
        {
            str(limit): (lambda data=table.dataset: world_shares(data, points))
            for limit, table in tables.items()
        },
        min(run.repeat, 3),
    )
    exact = world_shares(tables[limits[-1]].dataset, points)
    for limit, table in tables.items():
        off = 0.0
        if limit < limits[-1]:  # draws of one seed may be lucky
            seeds = [
                IncompleteTable(X, label=labels, max_exact=limit, random_state=seed).dataset
                for seed in range(SEEDS)
            ]
            off = float(np.mean([np.abs(world_shares(one, points) - exact) for one in seeds]))
        found = times[str(limit)]
        run.report.add(
            Line(
                f"world_shares, max_exact={limit:,}",
                f"{ROWS} rows x {WIDTH} columns, {len(table.dataset.drawn_rows)} rows drawn",
                yardstick="all rows exact",
                ours=f"{1000 * found.best_cpu / POINTS:.2f} ms per point, off by {off:.4f}",
            )
        )


def _measure_sessions(run: Run) -> None:
    """What a session finds at its first look, with fewer and fewer completions of its points."""
    X, labels = holes.many_holes()
    learnt = slice(0, holes.LEARNT)
    for space, neighbors in (("plain", 3), ("forest", 15)):
        run.say(f"completions in sessions, {space} space")
        table = IncompleteTable(X[learnt], label=labels[learnt], space=space)
        boards: list[Board] = []
        for most, n_draws in run.pick(COMPLETIONS, COMPLETIONS[1:]):
            points = table.points(X[holes.LEARNT :], max_completions=most, n_draws=n_draws)
            cpu, _ = timed(partial(_look, boards, table.dataset, points, neighbors))
            gains, best = boards[-1].gains(), boards[0].gains()
            alike = np.corrcoef(gains, best)[0, 1]
            kept = best[np.argsort(-gains)[:10]].sum() / np.sort(best)[-10:].sum()
            off = boards[-1].mean_entropy / boards[0].mean_entropy - 1.0
            run.report.add(
                Line(
                    f"a session's first look, {most} completions or {n_draws} draws",
                    f"{space} space, K = {neighbors}, {len(points.vectors):,} completions in all",
                    ours=f"{cpu:.2f} s; entropy {off:+.1%}, gains correlate {alike:.4f}, the first "
                    f"ten rows have {kept:.1%} of the most that ten can have",
                )
            )


def _look(boards: list[Board], data: IncompleteDataset, points: Points, neighbors: int) -> None:
    boards.append(Board(data, points, Model(neighbors)))


def _measure_values(
    run: Run, folder: Path, name: str, hidden: float, space: str, neighbors: int, most: int
) -> None:
    """Five points against all observed values, on the same splits."""
    file = folder / "tables" / name / "data.csv"
    if not file.exists():
        run.report.notes.append(f"The table {name} is absent.")
        return
    label = LABELS[name]
    frame = read_csv(file).drop(columns="rownames", errors="ignore").dropna(subset=[label])
    frame = frame.sample(min(run.pick(MOST_ROWS, 600), len(frame)), random_state=0)
    n_rows = len(frame) - len(frame) // 3
    n_test = min(len(frame) - n_rows, most)
    found: dict[str, list[tuple[float, ...]]] = {repairs: [] for repairs in REPAIRS}
    for split in range(run.pick(SPLITS, 1)):
        run.say(f"{name}, {hidden:.0%} hidden, {space} space, K = {neighbors}, split {split}")
        rng = np.random.default_rng(split)
        order = rng.permutation(len(frame))
        train, test = frame.iloc[order[:n_rows]], frame.iloc[order[n_rows:][:n_test]]
        train = train.mask((rng.random(train.shape) < hidden) & (train.columns != label))
        for repairs, scores in found.items():
            scores.append(_scored(train, test, label, repairs, space, neighbors))
    for repairs, scores in found.items():
        right, sure, sure_right, seconds = map(mean, zip(*scores, strict=True))
        run.report.add(
            Line(
                f"accuracy, repairs={repairs!r}, {space} space, K = {neighbors}",
                f"{name}{f', {hidden:.0%} hidden' if hidden else ''}, {n_rows:,} rows, "
                f"{n_test:,} points, {len(scores)} splits",
                ours=f"{right:.3f}; {sure:.1%} sure, {sure_right:.1%} of them right",
                ratio=f"{1000 * seconds / n_test:.2f} ms per point",
            )
        )


def _scored(
    train: Any, test: Any, label: str, repairs: str, space: str, neighbors: int
) -> tuple[float, float, float, float]:
    """Accuracy, the share that is sure, the share of these that is right, and CPU seconds."""
    table = IncompleteTable(train, label=label, repairs=repairs, space=space)
    truth = test[label].to_numpy()
    shares: list[Floats] = []

    def ask() -> None:
        parts = table.points_in_parts(test)
        shares.extend(world_shares(table.dataset, points, neighbors) for points in parts)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        cpu, _ = timed(ask)
        parts = table.points_in_parts(test)
        errors = [share_errors(table.dataset, points, neighbors) for points in parts]
    share = np.concatenate(shares)
    best = share.argmax(axis=1)
    off = np.take_along_axis(np.concatenate(errors), best[:, None], axis=1)[:, 0]
    right = table.dataset.classes[best] == truth
    sure = share.max(axis=1) - off >= SURE
    return float(right.mean()), float(sure.mean()), float(right[sure].mean()), cpu
