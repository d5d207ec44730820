"""The paper's Table 1 and Table 2: what the data is, and what each way of cleaning is worth.

Every way is set against default cleaning and the closest-candidate world, which is what a person
could make of the candidates. CPClean asks until all validation points are certain, answered with
the candidate nearest to the truth. Nothing about test points enters any choice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cpclean.baselines.activeclean import ActiveClean
from cpclean.baselines.boostclean import BoostClean
from cpclean.baselines.holoclean_fill import HoloClean
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.simulation import simulate
from cpclean.data.incomplete import IncompleteDataset
from cpclean.experiments.all_spaces import QUICK, SPACE_KEYS, each_space
from cpclean.experiments.fresh import USUAL
from cpclean.experiments.inject import INJECTIONS
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.markdown import markdown_table
from cpclean.experiments.measures import (
    MODEL,
    closed,
    filled,
    vote_accuracy,
    world_accuracy,
)
from cpclean.experiments.spaces import PUBLISHED, Space
from cpclean.experiments.store import Figures, Store, with_versions

if TYPE_CHECKING:
    from rich.console import Console

PRIORS = ("uniform", "observed", "label", "holoclean")
DRAWS = 5  # of ActiveClean, which cleans rows at random
# Kinds of injected holes that are measured; the paper's own is "important".
KINDS = ("important", "random")

# Names of accuracies, in the order of the table, and what they are called there.
COLUMNS = {
    "boostclean1": "BoostClean 1",
    "boostclean5": "BoostClean 5",
    "holoclean": "HoloClean",
    "activeclean": "ActiveClean *",
    "cpclean": "CPClean, end",
    "cpclean_early": "CPClean, early",
    **{f"{prior}_0": f"vote {prior}, 0 %" for prior in PRIORS},
    **{f"{prior}_early": f"vote {prior}, early" for prior in PRIORS},
    "chosen_early": "chosen, early",
}


def measured(space: Space, budget: float = 0.2) -> Figures:
    """Test accuracies of every method, and the rows that were cleaned.

    `budget` is the share of the rows with holes after which CPClean is looked at early.
    """
    start = time.process_time()
    data = space.table.dataset
    n_dirty = len(data.dirty_rows)
    early = round(budget * n_dirty)
    found: dict[str, Any] = {
        "clean": world_accuracy(space.clean, space),
        "closest": world_accuracy(space.closest_world(), space),
        "default": world_accuracy(space.default, space),
    }
    for rounds in (1, 5):
        method = BoostClean(rounds=rounds, n_neighbors=MODEL.n_neighbors).fit(space)
        found[f"boostclean{rounds}"] = method.score(space.X_test, space.y_test)
    found["holoclean"] = HoloClean(MODEL.n_neighbors).fit(space).score(space.X_test, space.y_test)
    session = CleaningSession(data, space.task.points, MODEL.n_neighbors)
    simulate(session, space.truth, early, progress=False)
    rows = [record.row for record in session.history]
    voters = {prior: space.build(prior).dataset for prior in PRIORS}
    found |= _early(space, session.data, rows, voters)
    simulate(session, space.truth, progress=False)
    answers = len(session.history)
    found["cpclean"] = _accuracy(space, filled(space, session.data))
    learnt = [
        ActiveClean(counts=sorted({0, answers}), random_state=draw).fit(space)
        for draw in range(DRAWS)
    ]
    curves = np.array([one.scores(space.X_test, space.y_test).mean for one in learnt])
    found["activeclean"] = float(curves[:, -1].mean())
    found["activeclean_0"] = float(curves[:, 0].mean())
    for prior, voter in voters.items():
        found[f"{prior}_0"] = _accuracy(space, voter)
    return {
        **{name: round(value, 6) if isinstance(value, float) else value
           for name, value in found.items()},
        "rows": data.n_rows,
        "dirty_rows": n_dirty,
        "features": len(space.table.columns),
        "missing": round(float(space.table.holes.mean()), 6),
        "answers": answers,
        "seconds": round(time.process_time() - start, 2),
    }  # fmt: skip


def _early(
    space: Space,
    data: IncompleteDataset,
    rows: Sequence[int],
    voters: Mapping[str, IncompleteDataset],
) -> dict[str, Any]:
    """Ways to predict once some rows are clean; validation points choose one of them."""
    ways = {"cpclean_early": filled(space, data)}
    for prior, known in voters.items():
        for row in rows:
            known = known.pin(row, int(space.truth[row]))
        ways[f"{prior}_early"] = known
    on_val = {name: vote_accuracy(way, space.X_val, space.y_val) for name, way in ways.items()}
    best = max(ways, key=lambda name: on_val[name])  # the first of equals
    found: dict[str, Any] = {name: _accuracy(space, way) for name, way in ways.items()}
    return {**found, "chosen_early": found[best], "chosen": best.removesuffix("_early")}


def _accuracy(space: Space, data: IncompleteDataset) -> float:
    return vote_accuracy(data, space.X_test, space.y_test)


# -- all of them ----------------------------------------------------------------------------------


def reproduce(
    folder: Path | None,
    out: Path,
    seeds: int,
    quick: bool,
    console: Console,
    budget: float = 0.2,
    n_jobs: int = 1,
) -> tuple[str, bool]:
    """Fill both tables, or until Ctrl-C; their Markdown, and whether they are complete."""
    sizes = QUICK if quick else USUAL
    settings = {"data": "generated" if folder is None else "published and injected",
                "neighbors": MODEL.n_neighbors, "budget": budget, **asdict(sizes)}  # fmt: skip
    spaces = each_space(folder, seeds, sizes, KINDS)
    jobs = [Job(key, partial(_measure, make, budget)) for key, make in spaces]
    store = Store(out, "paper", SPACE_KEYS, with_versions(settings))
    finished = run_jobs(jobs, store, console, n_jobs)
    text = f"{table_1(store.lines())}\n{table_2(store.lines(), budget)}"
    (out / "paper.md").write_text(text, encoding="utf-8")
    return text, finished


def _measure(make: Callable[[], Space], budget: float) -> Figures:
    return measured(make(), budget)


# -- in Markdown ----------------------------------------------------------------------------------


def _groups(lines: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], list[Mapping[str, str]]]:
    kinds = ("published", *INJECTIONS)
    found: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for line in sorted(lines, key=lambda one: kinds.index(one["holes"])):
        found.setdefault((line["table"], line["holes"]), []).append(line)
    return found


def table_1(lines: Sequence[Mapping[str, str]]) -> str:
    """What the data is."""
    head = ["table", "holes", "errors", "rows", "features", "rows with holes", "cells missing"]
    rows = []
    for (table, holes), group in _groups(lines).items():
        line = group[0]
        share = np.mean([int(one["dirty_rows"]) / int(one["rows"]) for one in group])
        missing = np.mean([float(one["missing"]) for one in group])
        size = [f"{int(line['rows']):,}", line["features"], f"{share:.0%}", f"{missing:.1%}"]
        rows.append([table, holes, _errors(table, holes), *size])
    return markdown_table(head, rows, 2)


def _errors(table: str, holes: str) -> str:
    """The paper's word for where holes come from."""
    return "real" if holes == "published" and PUBLISHED[table] == "real" else "synthetic"


def table_2(lines: Sequence[Mapping[str, str]], budget: float = 0.2) -> str:
    """What each way is worth: shares of the gap between default and closest."""
    names = [name.replace("early", f"{100 * budget:g} %") for name in COLUMNS.values()]
    head = ["table", "holes", "clean", "closest", "default", *names, "rows cleaned"]
    rows = []
    for (table, holes), group in _groups(lines).items():
        values = {
            name: np.array([float(line[name]) for line in group])
            for name in ("clean", "closest", "default", *COLUMNS)
        }
        gaps = values["closest"] - values["default"]
        cleaned = np.mean([int(line["answers"]) / int(line["dirty_rows"]) for line in group])
        rows.append(
            [
                table,
                holes,
                *(f"{values[name].mean():.3f}" for name in ("clean", "closest", "default")),
                *(closed(values[name] - values["default"], gaps) for name in COLUMNS),
                f"{cleaned:.0%}",
            ]
        )
    legend = _LEGEND.format(early=f"{100 * budget:g} %", draws=DRAWS)
    return f"{markdown_table(head, rows, 2)}\n{legend}\n"


_LEGEND = (
    "clean, closest and default are test accuracies; the other columns the share closed of the gap "
    "between default and closest, or points of accuracy where that gap is too small to divide by. "
    "CPClean is the default world with the rows filled in that were cleaned: at the end, when all "
    "validation points are certain, and at {early} of the rows with holes. The vote is that over "
    "worlds, with each prior, before anything is cleaned and at {early}. Chosen: of the five ways "
    "at {early}, the one most accurate on validation points. * ActiveClean has a model of its own, "
    "softmax regression, and cleans as many rows as CPClean does to the end; the mean of {draws} "
    "draws of rows."
)
