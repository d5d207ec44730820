"""A table of mixed types with real holes: fit and predict_proba against scikit-learn's pipeline.

Adult, or a generated table of the same shape. The pipeline fills holes with the mean or the mode,
scales, encodes, and searches by brute force, on one thread; ours reads the same frame. Both start
from the frame each time.

``python -m benchmarks.tables WHO ROWS POINTS [FOLDER]`` is the fresh process that measures memory.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import memory
from benchmarks.measure import in_fresh_process, interleaved
from benchmarks.report import Line, compared
from benchmarks.run import Run
from cpclean import CertainKNeighborsClassifier

if TYPE_CHECKING:
    import pandas as pd

K = 3


@dataclass(frozen=True)
class Task:
    """Training rows, some with holes, and complete rows to predict."""

    name: str
    X: pd.DataFrame
    y: Any
    points: pd.DataFrame
    truth: Any


def measure(run: Run) -> None:
    rows, n_points = run.pick(26_000, 2_000), run.pick(2_000, 200)
    run.say("mixed table: reading")
    task = _task(rows, n_points, run.source.folder)
    run.say(f"{task.name}: timing")
    times = interleaved({who: _call(who, task) for who in CALLS}, min(run.repeat, 3))
    on = f"{task.name}, {rows:,} rows, {n_points:,} points"
    measured = "fit + predict_proba / pipeline"
    run.report.add(compared(measured, on, times["ours"], times["pipeline"], None))
    run.say(f"{task.name}: memory")
    folder = [] if run.source.folder is None else [run.source.folder]
    found: dict[str, Any] = {
        who: in_fresh_process("benchmarks.tables", who, rows, n_points, *folder) for who in CALLS
    }
    run.report.add(
        Line(
            "the same, memory growth",
            on,
            ours=memory.shown(found["ours"]),
            yardstick=memory.shown(found["pipeline"]),
            ratio=f"{memory.growth(found['ours']) / memory.growth(found['pipeline']):.2f}",
        )
    )
    run.say(f"{task.name}: checking")
    _check(run, task)


def _ours(task: Task) -> Any:
    fitted = CertainKNeighborsClassifier(n_neighbors=K).fit(task.X, task.y)
    return fitted.predict_proba(task.points)


def _pipeline(task: Task) -> Any:
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.impute import SimpleImputer
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    encode = ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(), MinMaxScaler()),
                make_column_selector(dtype_include="number"),
            ),
            (
                "categories",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"),
                    OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                ),
                make_column_selector(dtype_exclude="number"),
            ),
        ]
    )
    model = make_pipeline(encode, KNeighborsClassifier(K, algorithm="brute"))
    with ThreadpoolController().limit(limits=1):
        return model.fit(task.X, task.y).predict_proba(task.points)


CALLS: dict[str, Callable[[Task], Any]] = {"ours": _ours, "pipeline": _pipeline}


def _call(who: str, task: Task) -> Callable[[], Any]:
    return lambda: CALLS[who](task)


def _task(rows: int, n_points: int, folder: Path | None) -> Task:
    from cpclean import read_csv

    file = None if folder is None else folder / "tables" / "Adult" / "data.csv"
    if file is not None and file.exists():
        name, frame = "Adult", read_csv(file)
        label = "Income"
    else:
        name, frame = "mixed (generated)", _generated(rows + 2 * n_points)
        label = "y"
    complete = frame.notna().all(axis="columns").to_numpy()
    order = np.random.default_rng(0).permutation(len(frame))
    chosen = order[complete[order]][:n_points]
    train = np.setdiff1d(order, chosen)[:rows]
    features = frame.drop(columns=label)
    return Task(
        name,
        features.iloc[train],
        frame[label].iloc[train].to_numpy(),
        features.iloc[chosen],
        frame[label].iloc[chosen].to_numpy(),
    )


def _generated(rows: int) -> pd.DataFrame:
    """Six numbers and eight categorical columns, three of which have holes, as in Adult."""
    import pandas as pd

    rng = np.random.default_rng(12)
    frame = pd.DataFrame(rng.gamma(2.0, size=(rows, 6)).round(1)).rename(columns="n{}".format)
    for number, levels in enumerate((7, 16, 7, 14, 6, 5, 2, 41)):
        codes = np.minimum(rng.geometric(2.0 / (levels + 1), rows) - 1, levels - 1)
        texts = np.array([f"c{code}" for code in range(levels)], dtype=object)[codes]
        frame[f"c{number}"] = np.where((rng.random(rows) < 0.03) & (number % 3 == 0), None, texts)
    score = frame["n0"] - frame["n1"] + (frame["c6"] == "c0") + rng.normal(size=rows)
    return frame.assign(y=np.where(score > 0.8, "high", "low"))


def _check(run: Run, task: Task) -> None:
    """With a uniform prior, probabilities are exact counts divided by the number of worlds."""
    fitted = CertainKNeighborsClassifier(n_neighbors=K, prior="uniform").fit(task.X, task.y)
    open_ = np.flatnonzero(~fitted.is_certain(task.points))[:5]
    points = task.points.iloc[np.union1d(open_, np.arange(5))]
    counts = fitted.world_counts(points)
    exact = np.array([[int(one) / fitted.n_worlds_ for one in each] for each in counts])
    off = float(np.abs(fitted.predict_proba(points) - exact).max())
    run.report.check(
        f"{task.name}: predict_proba = world_counts / n_worlds", off <= 1e-12, f"off by {off:.1e}"
    )
    ours, pipeline = (
        float((np.unique(task.y)[CALLS[who](task).argmax(axis=1)] == task.truth).mean())
        for who in ("ours", "pipeline")
    )
    run.report.notes.append(
        f"{task.name}: accuracy {ours:.3f} of the vote over worlds, {pipeline:.3f} of the pipeline."
    )


if __name__ == "__main__":
    given = _task(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4:] else None)
    _call(sys.argv[1], given)()  # compiles, and loads modules, before memory counts
    print(json.dumps(memory.of(_call(sys.argv[1], given))))
