"""How little cleaning is enough: rows until points are sure or certain, and what sure is worth.

Three tables: rows that a session cleans until its points are settled, by strategy; the same until
they are certain, by strategy and by what gains are computed with; and, with nothing cleaned, how
often the label of a sure point is the one that the true table gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING

from cpclean.experiments import told_tables as told
from cpclean.experiments import until_settled as until
from cpclean.experiments.all_spaces import QUICK, table_names
from cpclean.experiments.calibration import LEVELS, calibration
from cpclean.experiments.fresh import RATE, USUAL, Sizes
from cpclean.experiments.inject import STRENGTH
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.store import Store, with_versions
from cpclean.experiments.sure_tables import (
    calibration_table,
    certain_table,
    pictures,
    rows_table,
)
from cpclean.experiments.told_tables import AGAIN, BY_CLASS, PUBLISHED_HOLES
from cpclean.experiments.until_settled import NEIGHBORS
from cpclean.queries.sureness import CERTAIN
from cpclean.report.picture_files import write_picture

if TYPE_CHECKING:
    from rich.console import Console

# Tables and holes that sessions clean, by space; the quickest first.
CLEANED = {
    "plain": (
        ("Supreme", PUBLISHED_HOLES),
        ("Bank", PUBLISHED_HOLES),
        ("Supreme", "random"),
        ("Bank", "random"),
        ("Puma", "random"),
        ("Puma", PUBLISHED_HOLES),
    ),
    "forest": (
        ("Supreme", PUBLISHED_HOLES),
        ("Bank", PUBLISHED_HOLES),
        ("Bank", "random"),
        *(("Bank", f"random{AGAIN}{draw}") for draw in (1, 2, 3)),
    ),
}
LARGE = ("Puma", PUBLISHED_HOLES)
INJECTED = ("random", "high", BY_CLASS)
PRIORS = ("label", "uniform", "observed")
# Until certain: the prior of the table, the strategy, and what gains are computed with.
ORDERS = (
    ("uniform", "cpclean", "prior"),
    ("uniform", "relative", "prior"),
    ("uniform", "roots", "prior"),
    ("label", "cpclean", "prior"),
    ("label", "cpclean", "uniform"),
    ("label", "relative", "prior"),
    ("label", "relative", "uniform"),
)


def reproduce(
    folder: Path | None, out: Path, quick: bool, console: Console, n_jobs: int = 1
) -> tuple[str, bool]:
    """Measure, write CSV and pictures; tables in Markdown, and whether they are complete."""
    table_names(folder)  # before anything is saved: a folder may lack the data
    sizes = QUICK if quick else USUAL
    settings = with_versions(_settings(folder, sizes))
    parts = {
        "sure_rows": (
            ("table", "holes", "space", "level", "strategy"),
            chain(_until_sure(folder), _until_proved(folder)),
        ),
        "sure_calibration": (("table", "holes", "space", "prior"), _calibration(folder)),
        "sure_certain": (
            ("table", "prior", "strategy", "gains_by"),
            _until_certain(folder, sizes),
        ),
    }
    stores, finished = {}, True
    for name, (keys, jobs) in parts.items():
        stores[name] = Store(out, name, keys, settings)
        finished = finished and run_jobs(list(jobs), stores[name], console, n_jobs)
    rows = stores["sure_rows"].lines()
    drawn = [line for line in rows if AGAIN not in line["holes"]]
    for name, text in pictures(drawn, LEVELS[0]):
        write_picture(text, out / f"sure_{name}.svg")
    text = "\n".join(
        (
            rows_table(rows),
            calibration_table(stores["sure_calibration"].lines()),
            certain_table(stores["sure_certain"].lines()),
        )
    )
    (out / "sure.md").write_text(text, encoding="utf-8")
    return text, finished


def _settings(folder: Path | None, sizes: Sizes) -> dict[str, object]:
    few = folder is None
    return {
        "data": "generated" if few else "published and injected",
        "cleaned_for": until.N_POINTS,
        "told_rows": told.FEW_TRAIN if few else told.TRAIN,
        "told_points": told.FEW_POINTS if few else told.POINTS,
        "neighbors": NEIGHBORS,
        "rate": RATE,
        "strength": STRENGTH,
        "levels": LEVELS,
        **asdict(sizes),
    }


def _until_sure(folder: Path | None) -> Iterator[Job]:
    for level, space in product(LEVELS, NEIGHBORS):
        for table, holes in CLEANED[space] if folder is not None else (("numbers", "random"),):
            if AGAIN in holes and level != LEVELS[0]:
                continue
            strategies: Iterable[str] = until.FEW_STRATEGIES
            if level == LEVELS[0] and (table, holes) != LARGE:
                if space == "plain":
                    strategies = until.STRATEGIES
                elif folder is not None:
                    strategies = until.FOREST_STRATEGIES
            for strategy in strategies:
                work = partial(until.until_sure, folder, table, holes, space, strategy, level)
                yield Job((table, holes, space, f"{level:g}", strategy), work)


def _until_proved(folder: Path | None) -> Iterator[Job]:
    """To compare with: the same points until they are certain."""
    for table, holes in CLEANED["plain"] if folder is not None else (("numbers", "random"),):
        work = partial(until.until_sure, folder, table, holes, "plain", "roots", None)
        yield Job((table, holes, "plain", CERTAIN, "roots"), work)


def _calibration(folder: Path | None) -> Iterator[Job]:
    injected = ("Supreme", "Bank", "Puma") if folder is not None else ("numbers",)
    tables = [(name, holes) for name in injected for holes in INJECTED]
    if folder is not None:
        tables = [(name, PUBLISHED_HOLES) for name in table_names(folder)] + tables
    for table, holes in tables:
        for space in NEIGHBORS:
            for prior in PRIORS:
                work = partial(calibration, folder, table, holes, space, prior)
                yield Job((table, holes, space, prior), work)


def _until_certain(folder: Path | None, sizes: Sizes) -> Iterator[Job]:
    for table in table_names(folder):
        for prior, strategy, gains_by in ORDERS:
            if prior == "label" and table in until.STOPPED_AT:
                continue
            work = partial(until.until_certain, folder, table, sizes, strategy, gains_by, prior)
            yield Job((table, prior, strategy, gains_by), work)
    table, holes = ("Supreme", PUBLISHED_HOLES) if folder is not None else ("numbers", "random")
    for strategy, gains_by in product(("cpclean", "roots"), ("prior", "uniform")):
        work = partial(until.until_certain_in_forest, folder, table, holes, strategy, gains_by)
        yield Job((f"{table}, forest", "label", strategy, gains_by), work)
