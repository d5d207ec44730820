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

from cpclean.data.priors import SMOOTHING, LabelPrior
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.experiments.all_spaces import QUICK, SPACE_KEYS, each_space
from cpclean.experiments.fresh import RATE, TABLES, USUAL, Sizes
from cpclean.experiments.inject import INJECTIONS, STRENGTH
from cpclean.experiments.jobs import Job, run_jobs
from cpclean.experiments.markdown import markdown_table
from cpclean.experiments.measures import (
    MODEL,
    TINY_GAP,
    closed,
    vote_accuracy,
    world_accuracy,
)
from cpclean.experiments.space_files import Labels
from cpclean.experiments.spaces import Space
from cpclean.experiments.store import Figures, Store, with_versions
from cpclean.queries.model import Model
from cpclean.queries.shares import world_shares

if TYPE_CHECKING:
    from rich.console import Console

SMOOTHINGS = (0.0, 1.0, 3.0, 10.0, 30.0)
VOTES = ("uniform", "observed", "label", "tuned", "holoclean")
WORLDS = ("clean", "closest", "default")


# -- one space ------------------------------------------------------------------------------------


def smoothing_scores(
    build: Callable[[Any], IncompleteTable],
    X_val: Floats,
    y_val: Labels,
    smoothings: Iterable[float] = SMOOTHINGS,
    model: Model = MODEL,
) -> dict[float, float]:
    """The Brier score on validation points of the vote with "label", for each smoothing.

    The Brier score is the mean squared distance between the shares and the true label, the lower
    the better; it shows a difference with fewer points than the accuracy needs.

    Parameters
    ----------
    build : function
        From a prior to the training table with that prior.
    X_val, y_val : ndarray
        Complete points, encoded, and their labels; not those that the result is judged by.
    smoothings : iterable of float
        What to choose from.
    model : Model
        How many nearest rows vote, and what is near.
    """
    scores = {}
    for smoothing in smoothings:
        data = build(LabelPrior(smoothing)).dataset
        truth = y_val[:, None] == data.classes[None, :]
        shares = world_shares(data, X_val, model.n_neighbors, model.metric)
        scores[smoothing] = float(((shares - truth) ** 2).sum(axis=1).mean())
    return scores


def best_smoothing(scores: Mapping[float, float]) -> float:
    """The smoothing of the lowest score; of those equal but for rounding, the smallest."""
    return min(scores, key=lambda smoothing: (round(scores[smoothing], 9), smoothing))


def compare_priors(space: Space, model: Model = MODEL) -> dict[str, float]:
    """Test accuracies of the three worlds and of the vote with each prior, and what they cost."""
    started = time.perf_counter()
    worlds = {"clean": space.clean, "closest": space.closest_world(), "default": space.default}
    found = {name: world_accuracy(rows, space, model) for name, rows in worlds.items()}
    scores = smoothing_scores(space.build, space.X_val, space.y_val, model=model)
    smoothing = best_smoothing(scores)
    priors = {name: name for name in VOTES if name != "tuned"} | {"tuned": LabelPrior(smoothing)}
    for name, prior in priors.items():
        data = space.build(prior).dataset
        found[name] = vote_accuracy(data, space.X_test, space.y_test, model)
    return found | {
        "smoothing": smoothing,
        "rows": space.table.n_rows,
        "dirty_rows": len(space.table.dataset.dirty_rows),
        "seconds": round(time.perf_counter() - started, 2),
    }


# -- all of them ----------------------------------------------------------------------------------


def jobs_for(folder: Path | None, seeds: int, sizes: Sizes) -> list[Job]:
    """The cells of the table: published spaces once, injected ones for every seed."""
    spaces = each_space(folder, seeds, sizes, INJECTIONS)
    return [Job(key, partial(_compare, make)) for key, make in spaces]


def reproduce(
    folder: Path | None, out: Path, seeds: int, quick: bool, console: Console, n_jobs: int = 1
) -> tuple[str, bool]:
    """Fill the table, or until Ctrl-C; its Markdown, and whether it is complete."""
    sizes = QUICK if quick else USUAL
    store = Store(out, "priors", SPACE_KEYS, _settings(folder, sizes))
    finished = run_jobs(jobs_for(folder, seeds, sizes), store, console, n_jobs)
    text = markdown(store.lines())
    (out / "priors.md").write_text(text, encoding="utf-8")
    return text, finished


def _settings(folder: Path | None, sizes: Sizes) -> dict[str, Any]:
    return with_versions(
        {
            "data": "generated" if folder is None else "published and injected",
            "rate": RATE,
            "neighbors": MODEL.n_neighbors,
            "strength": STRENGTH,
            "smoothing": SMOOTHING,
            "smoothings": list(SMOOTHINGS),
            **asdict(sizes),
        }
    )


def _compare(make: Callable[[], Space]) -> Figures:
    return compare_priors(make())


# -- the table in Markdown ------------------------------------------------------------------------


def markdown(lines: Sequence[dict[str, str]]) -> str:
    """Means over seeds, ± their standard deviation; in brackets, the share of the gap closed."""
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for line in lines:
        groups.setdefault((line["table"], line["holes"]), []).append(line)
    head = ("table", "holes", "seeds", *WORLDS, *VOTES, "smoothing")
    rows = [
        (table, holes, str(len(group)), *_figures(group))
        for (table, holes), group in sorted(groups.items(), key=_in_order)
    ]
    return f"{markdown_table(head, rows, len(head))}\n{_LEGEND}\n"


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


def _spread(values: Floats) -> str:
    mean = f"{values.mean():.3f}"
    return mean if len(values) < 2 else f"{mean} ± {values.std(ddof=1):.3f}"
