"""How many validation points a session needs: rows cleaned and accuracy against their number."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.simulation import simulate
from cpclean.experiments.all_spaces import QUICK, space_of, table_names
from cpclean.experiments.fresh import USUAL, Sizes
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.markdown import markdown_table
from cpclean.experiments.measures import MODEL, Gap, filled
from cpclean.experiments.spaces import Space
from cpclean.experiments.store import Figures, Store, with_versions
from cpclean.report.drawn import side_by_side
from cpclean.report.picture_files import write_picture
from cpclean.report.pictures import DASHES, Curve, Lines, Picture

if TYPE_CHECKING:
    from rich.console import Console

KEYS = ("table", "points")
NUMBERS = (100, 200, 400, 600, 800, 1000, 1200, 1400)
FEW = (25, 50, 100)  # of generated tables


def measured(space: Space, n_points: int) -> Figures:
    """One session, until the first `n_points` validation points are certain."""
    start = time.process_time()
    session = CleaningSession(space.table.dataset, space.X_val[:n_points], MODEL.n_neighbors)
    simulate(session, space.truth, progress=False)
    gap = Gap(space)
    return {
        "rows": len(space.table.dataset.dirty_rows),
        "answers": len(session.history),
        "world": round(gap.closed(filled(space, session.data)), 6),
        "vote": round(gap.closed(session.data), 6),
        "seconds": round(time.process_time() - start, 3),
    }


def reproduce(
    folder: Path | None, out: Path, quick: bool, console: Console, n_jobs: int = 1
) -> tuple[str, bool]:
    """Measure, and draw; a table in Markdown, and whether it is complete."""
    sizes = QUICK if quick else USUAL
    settings = {"data": "generated" if folder is None else "published",
                "neighbors": MODEL.n_neighbors, **asdict(sizes)}  # fmt: skip
    store = Store(out, "validation", KEYS, with_versions(settings))
    finished = run_jobs(list(_jobs(folder, sizes)), store, console, n_jobs)
    lines = store.lines()
    if lines:
        write_picture(picture(lines), out / "validation.svg")
    text = markdown(lines)
    (out / "validation.md").write_text(text, encoding="utf-8")
    return text, finished


def _jobs(folder: Path | None, sizes: Sizes) -> Iterator[Job]:
    for table in table_names(folder):
        # The longest first: with several processes, none is left working alone at the end.
        for n_points in sorted(FEW if folder is None else NUMBERS, reverse=True):
            yield Job((table, str(n_points)), partial(_measure, folder, table, sizes, n_points))


def _measure(folder: Path | None, table: str, sizes: Sizes, n_points: int) -> Figures:
    space = space_of(folder, table, sizes, None)
    if n_points > len(space.X_val):
        return {"rows": len(space.table.dataset.dirty_rows), "answers": ""}
    return measured(space, n_points)


def markdown(lines: Sequence[Mapping[str, str]]) -> str:
    """A table in Markdown: rows cleaned and gap closed, for each number of points."""
    numbers = sorted({int(line["points"]) for line in lines})
    head = ["table", "rows with holes", *(f"{number:,} points" for number in numbers)]
    rows = []
    for table in dict.fromkeys(line["table"] for line in lines):
        own = {int(line["points"]): line for line in lines if line["table"] == table}
        total = int(next(iter(own.values()))["rows"])
        rows.append([table, f"{total:,}", *(_cell(own.get(number)) for number in numbers)])
    legend = "Share of rows cleaned until all validation points are certain; gap closed then."
    return f"{markdown_table(head, rows, 1)}\n{legend}\n"


def _cell(line: Mapping[str, str] | None) -> str:
    if line is None or not line["answers"]:
        return ""
    closed = _closed(line)
    return f"{_cleaned(line):.0%}; {'no gap' if closed != closed else f'{closed:.0%}'}"


def picture(lines: Sequence[Mapping[str, str]]) -> str:
    """Rows cleaned and gap closed against the number of points, as SVG."""
    done = [line for line in lines if line["answers"]]
    panels = []
    for name, title, value in (
        ("cleaned", "share of rows cleaned", _cleaned),
        ("gap", "gap closed on test points", _closed),
    ):
        found: list[Curve] = []
        for table in dict.fromkeys(line["table"] for line in done):
            own = sorted((one for one in done if one["table"] == table), key=_points)
            values = [value(one) for one in own]
            if not any(one != one for one in values):
                places = tuple(float(_points(one)) for one in own)
                dash = DASHES[len(found) % len(DASHES)]
                found.append(Curve(table, places, tuple(values), dash=dash))
        if found:
            drawing = Lines(tuple(found), "validation points", title, from_zero=True)
            panels.append(Picture(name, title, "", drawing))
    return side_by_side("Size of the validation set", panels)


def _points(line: Mapping[str, str]) -> int:
    return int(line["points"])


def _cleaned(line: Mapping[str, str]) -> float:
    return int(line["answers"]) / int(line["rows"])


def _closed(line: Mapping[str, str]) -> float:
    return float(line["world"])
