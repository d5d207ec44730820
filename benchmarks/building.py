"""Building a large table with holes, and preparing it for queries.

The table is generated: seven columns of numbers and three of categories, a tenth of the rows with
holes. The yardstick reads the same frame with scikit-learn: fill holes with the mean or the mode,
scale, encode, into one dense array of doubles; it knows neither candidates nor priors. Both start
from the frame each time.

``python -m benchmarks.building WHO ROWS`` is the fresh process that measures memory.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import memory
from benchmarks.measure import in_fresh_process, interleaved
from benchmarks.report import Line, compared
from benchmarks.run import Run
from cpclean import Cell, FactoredRow, IncompleteDataset, IncompleteTable
from cpclean.data.columns import OTHER, Column
from cpclean.queries.prepared import prepared_rows

if TYPE_CHECKING:
    import pandas as pd

# Against filling, scaling and encoding with scikit-learn.
CPU, MEMORY = 1.0, 1.0
SAMPLE = 200


def measure(run: Run) -> None:
    rows = run.pick(300_000, 20_000)
    run.say(f"building a table of {rows:,} rows")
    frame = generated(rows)
    on = f"{rows:,} rows x 10 columns, 10 % with holes"
    times = interleaved({who: _call(who, frame) for who in CALLS}, min(run.repeat, 3))
    run.report.add(
        compared("IncompleteTable / filled and encoded", on, times["ours"], times["filled"], CPU)
    )
    run.say("memory of building a table")
    found: dict[str, Any] = {
        who: in_fresh_process("benchmarks.building", who, rows) for who in CALLS
    }
    ratio = memory.growth(found["ours"]) / memory.growth(found["filled"])
    run.report.add(
        Line(
            "the same, memory growth",
            on,
            ours=memory.shown(found["ours"]),
            yardstick=memory.shown(found["filled"]),
            ratio=f"{ratio:.2f}",
            target=f"≤ {MEMORY:g}",
            met=ratio <= MEMORY,
        )
    )
    run.say("checking the table row by row")
    _check(run, IncompleteTable(frame, label="y"))


def generated(rows: int) -> pd.DataFrame:
    """Numbers, whole numbers and categories; one or two holes in a tenth of the rows."""
    import pandas as pd

    rng = np.random.default_rng(14)
    columns: dict[str, Any] = {f"n{number}": rng.gamma(2.0, size=rows) for number in range(5)}
    columns["age"] = rng.integers(18, 90, rows).astype(float)
    columns["hours"] = rng.integers(0, 60, rows).astype(float)
    for number, levels in enumerate((3, 8, 25)):
        codes = np.minimum(rng.geometric(0.3, rows) - 1, levels - 1)
        columns[f"c{number}"] = np.array([f"level {one}" for one in range(levels)], object)[codes]
    score = columns["n0"] - columns["n1"] + rng.normal(size=rows)
    dirty = np.flatnonzero(rng.random(rows) < 0.1)
    for some in (dirty, dirty[rng.random(len(dirty)) < 0.4]):
        chosen = rng.integers(len(columns), size=len(some))
        for number, values in enumerate(columns.values()):
            values[some[chosen == number]] = None if values.dtype == object else np.nan
    return pd.DataFrame(columns).assign(y=np.where(score > 0.0, "high", "low"))


def _ours(frame: pd.DataFrame) -> Any:
    return IncompleteTable(frame, label="y")


def _filled(frame: pd.DataFrame) -> Any:
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    numbers = make_pipeline(SimpleImputer(), MinMaxScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)
    )
    chosen = [
        ("numbers", numbers, make_column_selector(dtype_include="number")),
        ("categories", categories, make_column_selector(dtype_exclude="number")),
    ]
    return ColumnTransformer(chosen).fit_transform(frame.drop(columns="y"))


CALLS: dict[str, Callable[[Any], Any]] = {"ours": _ours, "filled": _filled}


def _call(who: str, frame: pd.DataFrame) -> Callable[[], Any]:
    return lambda: CALLS[who](frame)


# -- agreement -------------------------------------------------------------------------------------


def _check(run: Run, table: IncompleteTable) -> None:
    """A sample of the rows, built one by one from the columns as they were read."""
    rng = np.random.default_rng(0)
    dirty = rng.choice(table.dataset.dirty_rows, SAMPLE, replace=False)
    rows = np.sort(np.concatenate([dirty, rng.choice(table.n_rows, SAMPLE, replace=False)]))
    expected = IncompleteDataset(list(map(_Slow(table).row, rows.tolist())), [0] * len(rows))
    actual = table.dataset.take(rows)
    run.report.check(
        f"{table.n_rows:,} rows: a sample of {len(rows)} built row by row is the same",
        expected.arrays.same_rows(actual.arrays),
        "to the bit",
    )
    boxes = prepared_rows(table.dataset).rows.boxes
    place = prepared_rows(table.dataset).place
    inside = all(
        (boxes.low[:, place[row]] == table.dataset.candidates(row).min(axis=0)).all()
        and (boxes.high[:, place[row]] == table.dataset.candidates(row).max(axis=0)).all()
        for row in dirty.tolist()
    )
    run.report.check(f"{table.n_rows:,} rows: boxes hold the candidates", inside, f"{SAMPLE} rows")


class _Slow:
    """A table with the default candidates and the prior "label", one row at a time."""

    def __init__(self, table: IncompleteTable) -> None:
        self._table = table
        self._seen = [column.values[~column.missing] for column in table.columns]
        self._lists = [_candidates(*one) for one in zip(table.columns, self._seen, strict=True)]
        self._known = [
            sorted(set(own.tolist())) if own.dtype == object else [] for own in self._seen
        ]
        self._priors: dict[tuple[int, int], Any] = {}

    def row(self, row: int) -> FactoredRow:
        base, cells, at = list[float](), [], 0
        for number, column in enumerate(self._table.columns):
            open_ = bool(column.missing[row])
            values = self._lists[number] if open_ else (column.values[row],)
            vectors = [self._vector(number, value) for value in values]
            base += vectors[0]
            if open_:
                span = range(at, at + len(vectors[0]))
                cells.append(Cell(span, vectors, self._prior(number, row)))
            at += len(vectors[0])
        return FactoredRow(base, cells)

    def _vector(self, number: int, value: Any) -> list[float]:
        if known := self._known[number]:
            return [1.0 / np.sqrt(2.0) if value == one else 0.0 for one in (*known, OTHER)]
        seen = self._seen[number]
        return [(value - seen.min()) * (1.0 / (seen.max() - seen.min()))]

    def _prior(self, number: int, row: int) -> Any:
        code = int(self._table.dataset.codes[row])
        if (number, code) not in self._priors:
            column, values = self._table.columns[number], self._lists[number]
            own = column.values[(self._table.dataset.codes == code) & ~column.missing]
            trust = len(own) / (len(own) + 1.0)
            weights = trust * _shares(values, own) + (1.0 - trust) * _shares(
                values, self._seen[number]
            )
            self._priors[number, code] = weights / weights.sum()
        return self._priors[number, code]


def _candidates(column: Column, seen: Any) -> tuple[Any, ...]:
    if column.kind != "categorical":
        points = (
            seen.min(),
            *np.percentile(seen, [25, 75]),
            mean(seen.tolist()),  # of fractions, rounded once
            seen.max(),
        )
        return tuple(sorted({float(one) for one in points}))
    times = {one: int((seen == one).sum()) for one in set(seen.tolist())}
    return (*sorted(times, key=lambda one: (-times[one], one))[:4], OTHER)


def _shares(values: tuple[Any, ...], seen: Any) -> Any:
    if seen.dtype == object:
        counts = [float((seen == value).sum()) for value in values]
        counts[-1] = len(seen) - sum(counts)
        return np.array(counts) / len(seen)
    middle = (np.array(values[1:]) + np.array(values[:-1])) / 2
    below = [((seen < one).sum() + (seen <= one).sum()) / 2 for one in middle]
    return np.diff(below, prepend=0.0, append=len(seen)) / len(seen)


if __name__ == "__main__":
    _call(sys.argv[1], generated(1_000))()  # loads modules before memory counts
    given = generated(int(sys.argv[2]))
    print(json.dumps(memory.of(_call(sys.argv[1], given))))
