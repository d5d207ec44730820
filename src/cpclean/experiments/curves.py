"""What cleaning row by row buys: certain predictions, and accuracy on points never seen.

For every space, rows are cleaned in the order of CPClean and in random orders, with the candidate
nearest to the truth as the answer. At each share of rows cleaned: which share of the validation
points is certain, and how much of the gap between default cleaning and the closest-candidate
world is closed on test points, by the default-filled world and by the vote over worlds.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.simulate import simulate
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats
from cpclean.errors import DataError
from cpclean.experiments.charts import Line, Panel, chart
from cpclean.experiments.spaces import PUBLISHED, Space, load_space
from cpclean.experiments.store import Result, Store, Task, run_tasks
from cpclean.queries.certain import is_certain
from cpclean.queries.shares import world_shares

if TYPE_CHECKING:
    from rich.console import Console

NEIGHBORS = 3
KEYS = ("table", "strategy", "seed")
GRID = tuple(number / 40 for number in range(41))  # shares of the rows with holes
CURVES = ("certain", "world", "vote")
RANDOM_RUNS = 20


def measured(space: Space, strategy: str, seed: int, grid: Sequence[float] = GRID) -> Result:
    """One order of cleaning: a list for each of CURVES, one entry a share of `grid`.

    Besides: the number of answers until all validation points were certain, or of all rows,
    and the seconds that the session took.
    """
    dirty = len(space.table.dataset.dirty_rows)
    counts = [round(share * dirty) for share in grid]
    run = _by_session(space, counts) if strategy == "cpclean" else _at_random(space, counts, seed)
    found: dict[str, list[float]] = {name: [] for name in CURVES}
    told, seconds = 0, 0.0
    for data, certain, told, seconds in run:  # noqa: B007
        found["certain"].append(certain)
        found["world"].append(_gap(space, _filled(space, data)))
        found["vote"].append(_gap(space, data))
    texts = {name: json.dumps([round(one, 6) for one in values]) for name, values in found.items()}
    return {**texts, "rows": dirty, "answers": told, "seconds": round(seconds, 3)}


def _by_session(
    space: Space, counts: Sequence[int]
) -> Iterator[tuple[IncompleteDataset, float, int, float]]:
    start = time.perf_counter()
    session = CleaningSession(space.table.dataset, space.X_val, NEIGHBORS)
    seconds = time.perf_counter() - start
    for count in counts:
        start = time.perf_counter()
        simulate(session, space.truth, count - len(session.history), progress=False)
        seconds += time.perf_counter() - start
        yield session.data, session.certain_share, len(session.history), seconds


def _at_random(
    space: Space, counts: Sequence[int], seed: int
) -> Iterator[tuple[IncompleteDataset, float, int, float]]:
    """Without a session: nobody asks what a random order expects to gain."""
    data = space.table.dataset
    order = np.random.default_rng(seed).permutation(data.dirty_rows)
    done, told = 0, 0
    for count in counts:
        for row in order[done:count].tolist():
            data = data.pin(row, int(space.truth[row]))
        done = count
        certain = float(is_certain(data, space.X_val, NEIGHBORS).mean())
        told = told if certain == 1.0 and told else count
        yield data, certain, told, 0.0


def _filled(space: Space, data: IncompleteDataset) -> IncompleteDataset:
    """The default world, with the rows that are known filled in."""
    rows = space.default.copy()
    known = np.setdiff1d(np.arange(data.n_rows), data.dirty_rows)
    rows[known] = data._base[known]
    return IncompleteDataset(list(rows[:, None, :]), data.labels)


def accuracy(space: Space, data: IncompleteDataset) -> float:
    """Test accuracy of the vote over the worlds of some data."""
    shares = world_shares(data, space.X_test, NEIGHBORS)
    return float((data.classes[shares.argmax(axis=1)] == space.y_test).mean())


def _gap(space: Space, data: IncompleteDataset) -> float:
    """The share of the gap between default cleaning and the closest-candidate world."""
    worst, best = _ends(space)
    return (accuracy(space, data) - worst) / (best - worst)


_ENDS: dict[int, tuple[float, float]] = {}


def _ends(space: Space) -> tuple[float, float]:
    if id(space) not in _ENDS:
        _ENDS.clear()
        labels = space.table.dataset.labels
        worlds = (space.default, space.closest_world())
        worst, best = (
            accuracy(space, IncompleteDataset(list(rows[:, None, :]), labels)) for rows in worlds
        )
        _ENDS[id(space)] = worst, best
    return _ENDS[id(space)]


# -- all of them ----------------------------------------------------------------------------------


def reproduce(
    data_dir: Path, out: Path, runs: int, console: Console, tables: Sequence[str] = ()
) -> tuple[str, bool]:
    """Measure, write CSV and pictures, and tell in words; False if Ctrl-C ended it."""
    store = Store(out, "cleaning", KEYS, {"neighbors": NEIGHBORS, "n_val": 1000, "grid": GRID})
    finished = run_tasks(list(_tasks(data_dir, runs, tables or tuple(PUBLISHED))), store, console)
    lines = store.lines()
    write_csv(lines, out / "cleaning_curves.csv")
    for table in dict.fromkeys(line["table"] for line in lines):
        own = [line for line in lines if line["table"] == table]
        (out / f"cleaning_{table}.svg").write_text(picture(table, own), encoding="utf-8")
    return told(lines), finished


def _tasks(data_dir: Path, runs: int, tables: Sequence[str]) -> Iterator[Task]:
    loaded: dict[str, Space] = {}

    def work(table: str, strategy: str, seed: int) -> Result:
        if table not in loaded:
            loaded.clear()
            loaded[table] = load_space(data_dir / "spaces" / table / PUBLISHED[table])
        return measured(loaded[table], strategy, seed)

    for table in tables:
        if table not in PUBLISHED:
            raise DataError(f"table must be one of {', '.join(PUBLISHED)}; got {table!r}.")
        yield Task((table, "cpclean", "0"), partial(work, table, "cpclean", 0))
        for seed in range(runs):
            yield Task((table, "random", str(seed)), partial(work, table, "random", seed))


def curves(lines: Sequence[Mapping[str, str]], strategy: str, name: str) -> Floats:
    """One row a run, shape (n_runs, len(GRID))."""
    return np.array([json.loads(line[name]) for line in lines if line["strategy"] == strategy])


def rows_needed(lines: Sequence[Mapping[str, str]], strategy: str, share: float) -> float:
    """The share of rows cleaned at which a certain share is reached, mean over runs.

    Between two measured places it is interpolated.
    """
    found = []
    for curve in curves(lines, strategy, "certain"):
        at = int(np.argmax(curve >= share - 1e-12))
        if at == 0:
            found.append(GRID[0])
            continue
        low, high = curve[at - 1], curve[at]
        found.append(GRID[at - 1] + (GRID[at] - GRID[at - 1]) * (share - low) / (high - low))
    return float(np.mean(found))


def write_csv(lines: Sequence[Mapping[str, str]], file: Path) -> None:
    """All curves, one line a place: for spreadsheets and other tools."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*KEYS, "cleaned_share", "certain_share", "gap_world", "gap_vote"])
        for line in lines:
            columns = [json.loads(line[name]) for name in CURVES]
            for share, *values in zip(GRID, *columns, strict=True):
                writer.writerow([*(line[key] for key in KEYS), share, *values])


def told(lines: Sequence[Mapping[str, str]]) -> str:
    """A table in Markdown: what CPClean needs, beside random order."""
    head = (
        "| table | rows with holes | all certain after | random | 90 % certain after | random "
        "| gap at 5 % (world / vote) | at 20 % | at the end | session |"
    )
    text = [head, "| --- |" + " ---: |" * (head.count("|") - 2)]
    for table in dict.fromkeys(line["table"] for line in lines):
        own = [line for line in lines if line["table"] == table]
        main = [line for line in own if line["strategy"] == "cpclean"]
        if not main or len(own) == len(main):
            continue
        text.append(_told(table, main[0], own))
    return "\n".join(text) + "\n"


def _told(table: str, main: Mapping[str, str], own: Sequence[Mapping[str, str]]) -> str:
    rows, answers = int(main["rows"]), int(main["answers"])
    world, vote = (curves(own, "cpclean", name)[0] for name in ("world", "vote"))
    gaps = [f"{world[at]:.0%} / {vote[at]:.0%}" for at in (2, 8, -1)]
    cells: list[Any] = [
        table,
        f"{rows:,}",
        f"{answers:,} ({answers / rows:.0%})",
        f"{rows_needed(own, 'random', 1.0):.0%}",
        f"{rows_needed(own, 'cpclean', 0.9):.0%}",
        f"{rows_needed(own, 'random', 0.9):.0%}",
        *gaps,
        f"{float(main['seconds']):.1f} s",
    ]
    return "| " + " | ".join(cells) + " |"


def picture(table: str, lines: Sequence[Mapping[str, str]]) -> str:
    """Certain share and gap closed against the share of rows cleaned, as SVG."""
    panels = []
    for title, names in (
        ("share of validation points that are certain", {"certain": ""}),
        ("gap closed on test points", {"world": ", default-filled world", "vote": ", vote"}),
    ):
        found = []
        for name, suffix in names.items():
            for strategy in ("cpclean", "random"):
                runs = curves(lines, strategy, name)
                if not len(runs):
                    continue
                label = "CPClean" if strategy == "cpclean" else f"random, mean of {len(runs)}"
                spread = (runs.min(axis=0), runs.max(axis=0)) if len(runs) > 1 else None
                found.append(
                    Line(label + suffix, GRID, runs.mean(axis=0).tolist(), spread, name == "vote")
                )
        panels.append(Panel(title, found))
    return chart(f"{table}: cleaning row by row", "share of rows with holes cleaned", panels)
