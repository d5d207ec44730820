"""What a prior is worth: accuracy of the vote over worlds with no cleaning at all.

For every space the vote over worlds with each prior is set against default cleaning, against the
closest-candidate world, which is what a person could make of the candidates, and against the true
table. Nothing about test points enters a prior. "tuned" is "label" with the smoothing that does
best on validation points.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.priors import SMOOTHING, LabelPrior
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError
from cpclean.experiments.fresh import RATE, TABLES, USUAL, Sizes, made_space
from cpclean.experiments.inject import INJECTIONS, STRENGTH
from cpclean.experiments.spaces import PUBLISHED, Labels, Space, load_space
from cpclean.experiments.store import Result, Store, Task, run_tasks, with_versions
from cpclean.queries.shares import world_shares

if TYPE_CHECKING:
    from rich.console import Console

NEIGHBORS = 3
SMOOTHINGS = (0.0, 1.0, 3.0, 10.0, 30.0)
VOTES = ("uniform", "observed", "label", "tuned", "holoclean")
WORLDS = ("clean", "closest", "default")
KEYS = ("table", "holes", "seed")
GENERATED = ("numbers", "mixed")

# Where a person could gain less than this, a share of the gain would be a ratio of two noises.
TINY_GAP = 0.01

QUICK = Sizes(train=150, val=100, test=200)


# -- one space ------------------------------------------------------------------------------------


def vote_accuracy(data: IncompleteDataset, X: Floats, y: Labels, n_neighbors: int = 3) -> float:
    """The share of points whose label is the one that most prior mass predicts."""
    shares = world_shares(data, X, n_neighbors)
    return float((data.classes[shares.argmax(axis=1)] == y).mean())


def world_accuracy(rows: Floats, space: Space, n_neighbors: int = 3) -> float:
    """Test accuracy of one world, by the same tie rule."""
    world = IncompleteDataset([row[None, :] for row in rows], space.table.dataset.labels)
    return vote_accuracy(world, space.X_test, space.y_test, n_neighbors)


def smoothing_scores(
    build: Callable[[Any], IncompleteTable],
    X_val: Floats,
    y_val: Labels,
    smoothings: Iterable[float] = SMOOTHINGS,
    n_neighbors: int = NEIGHBORS,
) -> dict[float, float]:
    """The Brier score on validation points of the vote with "label", for each smoothing.

    The Brier score is the mean squared distance between the shares and the true label, the lower
    the better; it tells more from few points than the accuracy does.

    Parameters
    ----------
    build : function
        From a prior to the training table with that prior.
    X_val, y_val : ndarray
        Complete points, encoded, and their labels; not those that the result is judged by.
    smoothings : iterable of float
        What to choose from.
    n_neighbors : int
        How many nearest rows vote.
    """
    scores = {}
    for smoothing in smoothings:
        data = build(LabelPrior(smoothing)).dataset
        truth = y_val[:, None] == data.classes[None, :]
        distances = ((world_shares(data, X_val, n_neighbors) - truth) ** 2).sum(axis=1)
        scores[smoothing] = float(distances.mean())
    return scores


def best_smoothing(scores: Mapping[float, float]) -> float:
    """The smoothing of the lowest score; of those equal but for rounding, the smallest."""
    return min(scores, key=lambda smoothing: (round(scores[smoothing], 9), smoothing))


def compare_priors(space: Space, n_neighbors: int = NEIGHBORS) -> dict[str, float]:
    """Test accuracies of the three worlds and of the vote with each prior, and what they cost."""
    started = time.perf_counter()
    worlds = {"clean": space.clean, "closest": space.closest_world(), "default": space.default}
    found = {name: world_accuracy(rows, space, n_neighbors) for name, rows in worlds.items()}
    scores = smoothing_scores(space.build, space.X_val, space.y_val, n_neighbors=n_neighbors)
    smoothing = best_smoothing(scores)
    priors = {name: name for name in VOTES if name != "tuned"} | {"tuned": LabelPrior(smoothing)}
    for name, prior in priors.items():
        data = space.build(prior).dataset
        found[name] = vote_accuracy(data, space.X_test, space.y_test, n_neighbors)
    return found | {
        "smoothing": smoothing,
        "rows": space.table.n_rows,
        "dirty_rows": len(space.table.dataset.dirty_rows),
        "seconds": round(time.perf_counter() - started, 2),
    }


# -- all of them ----------------------------------------------------------------------------------


def tasks_for(folder: Path | None, seeds: int, sizes: Sizes) -> list[Task]:
    """The cells of the table: published spaces once, injected ones for every seed."""
    tasks = []
    if folder is not None:
        check_folder(folder)
        for name, kind in PUBLISHED.items():
            load = partial(load_space, folder / "spaces" / name / kind)
            tasks.append(Task((name, "published", ""), partial(_compare, load)))
    names: Sequence[str] = GENERATED if folder is None else list(TABLES)
    for seed in range(seeds):  # seed by seed: an interrupted run has something of every table
        for name in names:
            for kind in INJECTIONS:
                make = partial(made_space, folder, name, kind, seed, sizes)
                tasks.append(Task((name, kind, str(seed)), partial(_compare, make)))
    return tasks


def check_folder(folder: Path) -> None:
    """Refuse a folder that does not hold the data."""
    needed = [f"spaces/{name}/{kind}" for name, kind in PUBLISHED.items()]
    needed += [f"tables/{source.file}" for source in TABLES.values()]
    lacking = [name for name in needed if not (folder / name).exists()]
    if lacking:
        raise DataError(
            f"{folder} does not hold the data of the experiments: {lacking[0]} is missing"
            f"{f', and {len(lacking) - 1} more' if len(lacking) > 1 else ''}. Name the folder that "
            "holds spaces/ and tables/, or use --quick alone for generated tables."
        )


def reproduce(
    folder: Path | None, out: Path, seeds: int, quick: bool, console: Console, jobs: int = 1
) -> tuple[str, bool]:
    """Fill the table, as far as time allows; its Markdown, and whether it is complete."""
    sizes = QUICK if quick else USUAL
    tasks = tasks_for(folder, seeds, sizes)
    store = Store(out, "priors", KEYS, _settings(folder, sizes))
    finished = run_tasks(tasks, store, console, jobs)
    text = markdown(store.lines())
    (out / "priors.md").write_text(text, encoding="utf-8")
    return text, finished


def _settings(folder: Path | None, sizes: Sizes) -> dict[str, Any]:
    return with_versions(
        {
            "data": "generated" if folder is None else "published and injected",
            "rate": RATE,
            "neighbors": NEIGHBORS,
            "strength": STRENGTH,
            "smoothing": SMOOTHING,
            "smoothings": list(SMOOTHINGS),
            **asdict(sizes),
        }
    )


def _compare(make: Callable[[], Space]) -> Result:
    return compare_priors(make())


# -- the table in Markdown ------------------------------------------------------------------------


def markdown(lines: Sequence[dict[str, str]]) -> str:
    """Means over seeds, ± their standard deviation; in brackets, the share of the gap closed."""
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for line in lines:
        groups.setdefault((line["table"], line["holes"]), []).append(line)
    head = ("table", "holes", "seeds", *WORLDS, *VOTES, "smoothing")
    rows = [head, tuple("---" for _ in head)]
    for (table, holes), group in sorted(groups.items(), key=_in_order):
        rows.append((table, holes, str(len(group)), *_figures(group)))
    text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{text}\n\n{_LEGEND}\n"


_LEGEND = (
    "Test accuracy: mean over seeds ± standard deviation. In brackets the share closed of the gap "
    f"between default and closest. Where that gap is below {TINY_GAP} or below twice its standard "
    "error over the seeds, a share would be noise divided by noise: the difference to default "
    "stands instead, in points of accuracy."
)


def _in_order(item: tuple[tuple[str, str], Any]) -> tuple[bool, int, str, int]:
    (table, holes), _ = item
    place = list(TABLES).index(table) if table in TABLES else len(TABLES)
    kinds = ("published", *INJECTIONS)
    return holes != "published", place, table, kinds.index(holes)


def _figures(group: Sequence[dict[str, str]]) -> list[str]:
    values = {name: np.array([float(line[name]) for line in group]) for name in (*WORLDS, *VOTES)}
    gaps = values["closest"] - values["default"]
    texts = [_spread(values[name]) for name in WORLDS]
    texts += [f"{_spread(values[name])} ({closed(values[name] - values['default'], gaps)})"
              for name in VOTES]  # fmt: skip
    chosen = sorted({float(line["smoothing"]) for line in group})
    return [*texts, ", ".join(f"{smoothing:g}" for smoothing in chosen)]


def closed(gains: Floats, gaps: Floats) -> str:
    """The share of the gap that is closed; where there is hardly a gap, the gain itself.

    Both are differences to default cleaning, one a seed: of the vote, and of the closest world.
    """
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    if gaps.mean() < max(TINY_GAP, 2 * error):
        return f"{100 * gains.mean():+.1f} points"
    return f"{100 * gains.mean() / gaps.mean():.0f} %"


def _spread(values: Floats) -> str:
    mean = f"{values.mean():.3f}"
    return mean if len(values) < 2 else f"{mean} ± {values.std(ddof=1):.3f}"
