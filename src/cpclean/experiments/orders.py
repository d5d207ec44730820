"""What cleaning row by row buys: certain predictions, and accuracy on points never seen.

For every space, rows are cleaned in the order of CPClean and in random orders, with the candidate
nearest to the truth as the answer. At each share of rows cleaned: which share of the validation
points is certain, and how much of the gap between default cleaning and the closest-candidate
world is closed on test points, by the default-filled world and by the vote over worlds.
"""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cpclean.cleaning.board import Board
from cpclean.cleaning.question import Question
from cpclean.cleaning.session import CleaningSession
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Floats
from cpclean.experiments.all_spaces import QUICK, space_of, table_names
from cpclean.experiments.fresh import USUAL, Sizes
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.markdown import markdown_table
from cpclean.experiments.measures import MODEL, Gap, filled
from cpclean.experiments.spaces import Space
from cpclean.experiments.store import Figures, Store, with_versions
from cpclean.queries.certain import is_certain
from cpclean.report.drawn import side_by_side
from cpclean.report.picture_files import write_picture
from cpclean.report.pictures import Curve, Lines, Picture

if TYPE_CHECKING:
    from rich.console import Console

KEYS = ("table", "strategy", "seed")
GRID = tuple(number / 40 for number in range(41))  # shares of the rows with holes
CURVES = ("certain", "world", "vote")
BOUND = "any order"
AT_ONCE = {"cpclean": 1, "cpclean, 10 at once": 10}  # questions that a session is asked for


def measured(space: Space, strategy: str, seed: int, grid: Sequence[float] = GRID) -> Figures:
    """One order of cleaning: a list for each of CURVES, one entry per share of `grid`.

    Also the number of answers until all validation points were certain, or of all rows, and the
    seconds of processor time that the session took.
    """
    dirty = len(space.table.dataset.dirty_rows)
    if strategy == BOUND:
        return {"rows": dirty, "answers": rows_that_matter(space)}
    counts = [round(share * dirty) for share in grid]
    gap = Gap(space)
    if strategy in AT_ONCE:
        run = _by_session(space, counts, AT_ONCE[strategy])
    else:
        run = _at_random(space, counts, seed)
    found: dict[str, list[float]] = {name: [] for name in CURVES}
    for stage in run:
        found["certain"].append(stage.certain)
        found["world"].append(gap.closed(filled(space, stage.data)))
        found["vote"].append(gap.closed(stage.data))
    texts = {name: json.dumps([round(one, 6) for one in values]) for name, values in found.items()}
    return {**texts, "rows": dirty, "answers": stage.answers, "seconds": round(stage.seconds, 3)}


def rows_that_matter(space: Space) -> int:
    """How many rows every order has to clean before all validation points are certain.

    These are the rows that leave a point uncertain if they alone are not cleaned.
    """
    clean = space.table.dataset
    dirty = clean.dirty_rows.tolist()
    for row in dirty:
        clean = clean.pin(row, int(space.truth[row]))
    board = Board(clean, space.task.points, MODEL)
    found = 0
    for row in dirty:
        without = board.copy()
        without.change(row, None)
        found += not without.all_certain
    return found


@dataclass(frozen=True)
class _Stage:
    """How far an order of cleaning has come."""

    data: IncompleteDataset
    certain: float  # share of the validation points
    answers: int
    seconds: float


def _by_session(space: Space, counts: Sequence[int], at_once: int) -> Iterator[_Stage]:
    """With several questions at once, all of them are answered before the next ones are asked."""
    start = time.process_time()
    session = CleaningSession(space.table.dataset, space.task.points, MODEL.n_neighbors)
    seconds = time.process_time() - start
    questions: list[Question] = []
    for count in counts:
        start = time.process_time()
        while len(session.history) < count and not session.done:
            questions = questions or session.ask(at_once)[::-1]
            row = questions.pop().row
            session.tell(row, int(space.truth[row]))
        seconds += time.process_time() - start
        yield _Stage(session.data, session.certain_share, len(session.history), seconds)


def _at_random(space: Space, counts: Sequence[int], seed: int) -> Iterator[_Stage]:
    """Without a session: nobody asks what a random order expects to gain."""
    data = space.table.dataset
    order = np.random.default_rng(seed).permutation(data.dirty_rows)
    done, answers = 0, 0
    for count in counts:
        for row in order[done:count].tolist():
            data = data.pin(row, int(space.truth[row]))
        done = count
        certain = float(is_certain(data, space.task.points, MODEL.n_neighbors).mean())
        answers = answers if certain == 1.0 and answers else count
        yield _Stage(data, certain, answers, 0.0)


# -- all of them ----------------------------------------------------------------------------------


def reproduce(
    folder: Path | None, out: Path, runs: int, quick: bool, console: Console, n_jobs: int = 1
) -> tuple[str, bool]:
    """Measure, write CSV and pictures; a table in Markdown, and whether it is complete."""
    sizes = QUICK if quick else USUAL
    settings = {"data": "generated" if folder is None else "published", "grid": GRID,
                "neighbors": MODEL.n_neighbors, **asdict(sizes)}  # fmt: skip
    store = Store(out, "cleaning", KEYS, with_versions(settings))
    finished = run_jobs(list(_jobs(folder, runs, sizes)), store, console, n_jobs)
    lines = store.lines()
    write_csv(lines, out / "cleaning_curves.csv")
    for table in dict.fromkeys(line["table"] for line in lines):
        own = [line for line in lines if line["table"] == table]
        write_picture(picture(table, own), out / f"cleaning_{table}.svg")
    text = markdown(lines)
    (out / "cleaning.md").write_text(text, encoding="utf-8")
    return text, finished


def _jobs(folder: Path | None, runs: int, sizes: Sizes) -> Iterator[Job]:
    for table in table_names(folder):
        orders = [(strategy, 0) for strategy in (*AT_ONCE, BOUND)]
        orders += [("random", seed) for seed in range(runs)]
        for strategy, seed in orders:
            work = partial(_measure, folder, table, sizes, strategy, seed)
            yield Job((table, strategy, str(seed)), work)


def _measure(folder: Path | None, table: str, sizes: Sizes, strategy: str, seed: int) -> Figures:
    return measured(space_of(folder, table, sizes), strategy, seed)


def curves(lines: Sequence[Mapping[str, str]], strategy: str, name: str) -> Floats:
    """One row per run, shape (n_runs, len(GRID))."""
    return np.array([json.loads(line[name]) for line in lines if line["strategy"] == strategy])


def rows_needed(lines: Sequence[Mapping[str, str]], strategy: str, share: float) -> float:
    """The share of rows cleaned at which a certain share is reached, mean over runs.

    Between two measured places it is interpolated.
    """
    found = []
    for curve in curves(lines, strategy, "certain"):
        reached = curve >= share - 1e-12
        at = int(np.argmax(reached))
        if at == 0:
            found.append(GRID[0] if reached[0] else math.nan)
            continue
        low, high = curve[at - 1], curve[at]
        found.append(GRID[at - 1] + (GRID[at] - GRID[at - 1]) * (share - low) / (high - low))
    return float(np.mean(found)) if found else math.nan


def write_csv(lines: Sequence[Mapping[str, str]], file: Path) -> None:
    """All curves, one line per place: for spreadsheets and other tools."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*KEYS, "cleaned_share", "certain_share", "gap_world", "gap_vote"])
        for line in lines:
            if line["strategy"] == BOUND:
                continue
            columns = [json.loads(line[name]) for name in CURVES]
            for share, *values in zip(GRID, *columns, strict=True):
                writer.writerow([*(line[key] for key in KEYS), share, *values])


def markdown(lines: Sequence[Mapping[str, str]]) -> str:
    """A table in Markdown: what CPClean needs, beside random order."""
    head = [
        "table", "rows with holes", "all certain after", "at least", "10 at once", "random",
        "90 % certain after", "10 at once", "random",
        "gap at 5 % (world / vote)", "at 20 %", "at the end", "session",
    ]  # fmt: skip
    rows = []
    for table in dict.fromkeys(line["table"] for line in lines):
        own = [line for line in lines if line["table"] == table]
        main = [line for line in own if line["strategy"] == "cpclean"]
        if len({line["strategy"] for line in own}) == len(AT_ONCE) + 2:  # all are measured
            rows.append(_row(table, main[0], own))
    return markdown_table(head, rows, 1)


def _row(table: str, main: Mapping[str, str], own: Sequence[Mapping[str, str]]) -> list[str]:
    rows, answers = int(main["rows"]), int(main["answers"])
    others = ("cpclean, 10 at once", "random")
    world, vote = (curves(own, "cpclean", name)[0] for name in ("world", "vote"))
    gaps = [
        "no gap" if np.isnan(world[at]) else f"{world[at]:.0%} / {vote[at]:.0%}"
        for at in (2, 8, -1)
    ]
    return [
        table,
        f"{rows:,}",
        f"{answers:,} ({answers / rows:.0%})",
        *(f"{int(line['answers']) / rows:.0%}" for line in own if line["strategy"] == BOUND),
        *(f"{rows_needed(own, other, 1.0):.0%}" for other in others),
        *(f"{rows_needed(own, other, 0.9):.0%}" for other in ("cpclean", *others)),
        *gaps,
        f"{float(main['seconds']):.1f} s CPU",
    ]


def picture(table: str, lines: Sequence[Mapping[str, str]]) -> str:
    """Certain share and gap closed against the share of rows cleaned, as SVG."""
    panels = []
    for name, title, parts in (
        ("certain", "share of validation points that are certain", {"certain": ""}),
        ("gap", "gap closed on test points", {"world": ", default-filled world", "vote": ", vote"}),
    ):
        found = [
            curve
            for part, suffix in parts.items()
            for strategy in ((*AT_ONCE, "random") if name == "certain" else ("cpclean", "random"))
            if (curve := _curve(lines, strategy, part, suffix)) is not None
        ]
        if found:
            across = "share of rows with holes cleaned"
            drawing = Lines(tuple(found), across, title, x_percent=True, from_zero=True)
            panels.append(Picture(name, title, "", drawing))
    return side_by_side(f"{table}: cleaning row by row", panels)


def _curve(
    lines: Sequence[Mapping[str, str]], strategy: str, name: str, suffix: str
) -> Curve | None:
    """The mean of a strategy's runs and the band that they are in; None if not all is measured."""
    runs = curves(lines, strategy, name)
    if not len(runs) or np.isnan(runs).any():
        return None
    label = strategy.replace("cpclean", "CPClean")
    label += f", mean of {len(runs)}" if strategy == "random" else ""
    dashes = {"cpclean": "solid", "random": "dashdot"} if name != "vote" else {"random": "dot"}
    band = [tuple(edge.tolist()) for edge in (runs.min(axis=0), runs.max(axis=0))]
    low, high = band if len(runs) > 1 else (None, None)
    mean = tuple(runs.mean(axis=0).tolist())
    return Curve(label + suffix, tuple(GRID), mean, low, high, dashes.get(strategy, "dash"))
