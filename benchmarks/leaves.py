"""Leaves of a forest: fitting and predicting beside scikit-learn's forest with as many trees.

``python -m benchmarks.leaves ROWS POINTS`` is a fresh process that measures memory.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks import memory
from benchmarks.measure import in_fresh_process, interleaved, timed
from benchmarks.report import Line, compared
from benchmarks.run import Run
from cpclean import (
    CertainForestClassifier,
    CleaningSession,
    IncompleteDataset,
    world_counts,
    world_shares,
)
from cpclean.data.spaces.tree_arrays import nodes_of
from cpclean.data.spaces.trees import Trees
from cpclean.experiments.model_cases import published_training, published_validation

Floats = npt.NDArray[np.float64]

TREES, LEAF, POINTS, MISSING, MOST_HOLES = 100, 3, 1_000, 0.02, 3
FIT, SHARES, CERTAIN, DOUBLING, STEP = 2.0, 3.0, 2.0, 1.5, 1 / 5
GIGABYTES, MINUTE = 2.0, 60


def measure(run: Run) -> None:
    for rows in run.pick((2_000, 20_000), (1_000,)):
        _measure_forest(run, rows)
    _measure_doubling(run)
    _measure_memory(run)
    _measure_large(run)
    _measure_apply(run)
    _measure_session(run)


def generated(rows: int, points: int) -> tuple[Floats, npt.NDArray[np.int64], Floats, Floats]:
    """Rows of ten numbers, their labels, the same with up to three holes, and complete points."""
    X, y = make_classification(
        rows + points, 10, n_informative=6, n_redundant=0, flip_y=0.1, random_state=0
    )
    hidden = np.random.default_rng(0).random((rows, X.shape[1])) < MISSING
    hidden &= hidden.cumsum(axis=1) <= MOST_HOLES  # so that all worlds can be counted
    return X[:rows], y[:rows], np.where(hidden, np.nan, X[:rows]), X[rows:]


def _measure_forest(run: Run, rows: int) -> None:
    run.say(f"leaves of a forest, {rows:,} rows")
    X, y, holey, points = generated(rows, POINTS)
    on = f"{rows:,} rows x 10 columns, {TREES} trees, {POINTS:,} points"
    theirs = RandomForestClassifier(TREES, min_samples_leaf=LEAF, random_state=0)
    ours = CertainForestClassifier(n_trees=TREES, min_samples_leaf=LEAF)
    fits = interleaved(
        {"ours": lambda: ours.fit(holey, y), "theirs": lambda: theirs.fit(X, y)},
        min(run.repeat, 3),
    )
    run.report.add(compared("forest space: fit", on, fits["ours"], fits["theirs"], FIT))
    times = interleaved(
        {
            "theirs": lambda: theirs.predict_proba(points),
            "shares": lambda: ours.predict_proba(points),
            "certain": lambda: ours.is_certain(points),
        },
        run.repeat,
    )
    for name, measured, limit in (
        ("shares", "forest space: predict_proba", SHARES),
        ("certain", "forest space: is_certain", CERTAIN),
    ):
        run.report.add(compared(measured, on, times[name], times["theirs"], limit))
    data, few = ours.dataset_, ours.table_.points(points[:3])
    counts, shares = (query(data, few, ours.n_neighbors_) for query in (world_counts, world_shares))
    run.report.check(
        f"forest space, {rows:,} rows: shares are positive where worlds are counted",
        np.array_equal(counts > 0, shares > 0),
        f"{len(shares)} points",
    )


def _measure_doubling(run: Run) -> None:
    rows = run.pick(100_000, 4_000)
    run.say(f"leaves of a forest, {rows // 2:,} and {rows:,} rows")
    _, y, holey, points = generated(rows, run.pick(POINTS, 100))
    fitted = {
        part: CertainForestClassifier(15).fit(holey[:size], y[:size])
        for part, size in (("half", rows // 2), ("whole", rows))
    }
    for name in ("predict_proba", "is_certain"):
        calls = {part: partial(getattr(model, name), points) for part, model in fitted.items()}
        times = interleaved(calls, min(run.repeat, 3))
        run.report.add(
            compared(
                f"forest space: {name}, rows doubled",
                f"{rows // 2:,} and {rows:,} rows",
                times["whole"],
                times["half"],
                DOUBLING,
            )
        )


def _measure_memory(run: Run) -> None:
    rows, points = run.pick(100_000, 4_000), run.pick(POINTS, 100)
    run.say(f"leaves of a forest: memory at {rows:,} rows")
    found = in_fresh_process("benchmarks.leaves", rows, points)
    growth = memory.growth(found)
    run.report.add(
        Line(
            "forest space: fit, predict_proba and is_certain, memory growth",
            f"{rows:,} rows, {points:,} points",
            ours=memory.shown(found),
            yardstick=f"{found['before'] / 1e6:,.0f} MB before",
            target=f"≤ {GIGABYTES * 1000:,.0f} MB",
            met=growth <= GIGABYTES * 1000,
        )
    )


def _measure_large(run: Run) -> None:
    """Learning is bounded: each world of a large table is a sample of its rows."""
    rows = run.pick(1_000_000, 20_000)
    run.say(f"leaves of a forest: learning from {rows:,} rows")
    _, y, holey, _ = generated(rows, 1)
    cores = min(2, os.cpu_count() or 1)
    cpu, wall = timed(lambda: CertainForestClassifier(n_jobs=cores).fit(holey, y))
    run.report.add(
        Line(
            "forest space: fit, K chosen",
            f"{rows:,} rows x 10 columns",
            ours=f"{cpu:.1f} s CPU, {wall:.1f} s on {cores} cores",
            target=f"≤ {MINUTE} s CPU",  # so that it is a minute even on one core
            met=cpu <= MINUTE,
        )
    )


def _measure_apply(run: Run) -> None:
    """Our leaves are those of scikit-learn, row by row and tree by tree."""
    rows = run.pick(3_000_000, 50_000)
    run.say(f"leaves of {rows:,} rows, beside scikit-learn's")
    X, y, _, _ = generated(20_000, 1)
    forest = RandomForestClassifier(10, min_samples_leaf=LEAF, random_state=0).fit(X, y)
    trees = Trees.joined(nodes_of(forest), X.shape[1])
    rng = np.random.default_rng(2)
    asked = rng.permuted(X[rng.integers(len(X), size=rows)], axis=0)
    cut = forest.estimators_[0].tree_
    split = cut.feature >= 0
    at = rng.integers(int(split.sum()), size=rows // 10)  # on a threshold itself
    asked[np.arange(len(at)), cut.feature[split][at]] = cut.threshold[split][at]
    same = all(
        np.array_equal(trees.apply(part), forest.apply(part)) for part in np.array_split(asked, 10)
    )
    run.report.check(
        "leaves are those of RandomForestClassifier.apply",
        same,
        f"{rows:,} rows x {len(forest.estimators_)} trees",
    )


def _measure_session(run: Run) -> None:
    """A session among leaves, and the same one with distances that are given."""
    rows, n_points, steps = run.pick((1_200, 300, 20), (150, 30, 5))
    X, y, _, points = generated(rows, n_points)
    hidden = np.random.default_rng(1).random(X.shape) < 0.1
    hidden &= hidden.cumsum(axis=1) <= MOST_HOLES  # without draws, which differ between the two
    holey = np.where(hidden, np.nan, X)
    _compare_sessions(run, "generated", holey, y, points, steps)
    if run.source.folder is None:
        run.report.notes.append("A session on Bank, where every row has holes, needs --data-dir.")
        return
    bank, _, labels = published_training(run.source.folder, "Bank")
    asked, _ = published_validation(run.source.folder, "Bank")
    _compare_sessions(run, "Bank", bank[:rows], labels[:rows], asked[:n_points], steps)


def _compare_sessions(run: Run, name: str, holey: Any, y: Any, points: Any, steps: int) -> None:
    rows, n_points = len(holey), len(points)
    run.say(f"a session among leaves, {name}, {rows:,} rows")
    model = CertainForestClassifier(15).fit(holey, y)
    data, asked = model.dataset_, model.table_.points(points)
    trees = model.trees_
    codes = [trees.apply(data.candidates(row)) for row in range(rows)]
    flat, own = np.concatenate(codes), trees.apply(asked.vectors[asked.vector])
    distances = np.stack([(flat != one).sum(axis=1) for one in own]).astype(float)
    priors = [data.prior(row) for row in range(rows)]
    given = IncompleteDataset([one.astype(float) for one in codes], data.labels, priors)
    sessions = {
        "leaves": CleaningSession(data, asked.vectors[asked.vector], 15),
        "given": CleaningSession(given, distances, 15, metric="precomputed"),
    }
    told: dict[str, list[int]] = {name: [] for name in sessions}

    def step(name: str) -> None:
        question = sessions[name].ask()
        if question is not None:
            told[name].append(question.row)
            sessions[name].tell(question.row, candidate=0)

    times = interleaved({name: partial(step, name) for name in sessions}, steps)
    on = f"{name}, {rows:,} rows, {n_points} points, K = 15"
    run.report.add(compared("forest space: tell + ask", on, times["leaves"], times["given"], STEP))
    run.report.check(
        f"a session among leaves, {name}: it asks what one with given distances asks",
        told["leaves"] == told["given"],
        f"{len(told['leaves'])} questions",
    )


def _measure_here(rows: int, n_points: int) -> memory.Found:
    _, y, holey, points = generated(rows, n_points)

    def work() -> None:
        model = CertainForestClassifier(15).fit(holey, y)
        model.predict_proba(points)
        model.is_certain(points)

    return memory.of(work)


if __name__ == "__main__":
    print(json.dumps(_measure_here(int(sys.argv[1]), int(sys.argv[2]))))
