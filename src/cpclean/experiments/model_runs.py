"""One model on one case: its probabilities, what it proves, and what it costs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from cpclean.baselines.rivals import RIVALS, rival
from cpclean.classifier.forest import CertainForestClassifier
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import Bools, Floats
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.learning import N_WORLDS
from cpclean.data.spaces.tree_features import TreeSpace
from cpclean.data.spaces.trees import single
from cpclean.data.spaces.world_rows import Worlds
from cpclean.data.table import IncompleteTable
from cpclean.experiments.fresh import generated_table
from cpclean.experiments.inject import inject
from cpclean.experiments.model_cases import Case
from cpclean.experiments.space_files import Labels
from cpclean.experiments.store import Figures
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Model
from cpclean.queries.shares import world_shares
from cpclean.queries.sureness import sure_by

# No probability counts as less than this in the log loss, or one vote of 0 would decide it.
LEAST = 0.001

_TREES_PER_WORLD = 10


@dataclass(frozen=True)
class ModelRun:
    """What a model said about the test rows; `certain` and `sure` only of ours."""

    classes: Labels
    probabilities: Floats
    fit: float
    predict: float
    prove: float | None = None
    certain: Bools | None = None
    sure: Bools | None = None
    neighbors: int | None = None


def run_model(name: str, case: Case) -> ModelRun:
    """Fit a model by its name, and ask it about the test rows."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with warnings.catch_warnings(), threadpool_limits(1):  # CPU time is that of one core
        warnings.simplefilter("ignore")
        warm()
        return OURS[name](case) if name in OURS else _rival(name, case)


def model_names(holes: str) -> list[str]:
    """The models that are compared; published versions exist for published spaces."""
    ours = [name for name in OURS if holes == "published" or not name.endswith(VERSIONS)]
    return [*ours, *RIVALS]


def figures(run: ModelRun, y: Labels) -> Figures:
    """What is saved of a run."""
    right = run.classes[run.probabilities.argmax(axis=1)] == y
    found: dict[str, Any] = {
        "accuracy": float(right.mean()),
        "log_loss": log_loss(run.probabilities, run.classes, y),
        "points": len(y),
    }
    if run.certain is not None and run.sure is not None:
        found |= {
            "certain": float(run.certain.mean()),
            "sure": float(run.sure.mean()),
            "sure_points": int(run.sure.sum()),
            "sure_right": int(right[run.sure].sum()),
            "neighbors": run.neighbors,
        }
    seconds = {"fit": run.fit, "predict": run.predict, "prove": run.prove}
    return found | {name: round(value, 3) for name, value in seconds.items() if value is not None}


def log_loss(probabilities: Floats, classes: Labels, y: Labels) -> float:
    """The mean negative logarithm of the probability of the true label, none below `LEAST`.

    A label that the model has never seen counts as `LEAST`.
    """
    bounded = np.clip(probabilities, LEAST, None)
    bounded /= bounded.sum(axis=1, keepdims=True)
    truth = np.where(y[:, None] == classes[None, :], bounded, 0.0).sum(axis=1)
    return float(-np.log(np.maximum(truth, LEAST)).mean())


# -- ours -----------------------------------------------------------------------------------------


def _in_space(space: str, n_neighbors: int, published: bool, case: Case) -> ModelRun:
    started = time.process_time()
    table = case.table(space, published)
    fit = time.process_time() - started
    return _asked(table, table.dataset, n_neighbors, fit, case.X_test)


def _auto(case: Case) -> ModelRun:
    started = time.process_time()
    model = CertainForestClassifier().fit(case.X_train, case.y_train)
    fit = time.process_time() - started
    assert model.table_ is not None
    return _asked(model.table_, model.dataset_, model.n_neighbors_, fit, case.X_test)


def _asked(
    table: IncompleteTable, data: IncompleteDataset, n_neighbors: int, fit: float, frame: Any
) -> ModelRun:
    started = time.process_time()
    points = table.points(frame)
    shares = world_shares(data, points, n_neighbors)
    predict = time.process_time() - started
    started = time.process_time()
    certain = np.asarray(is_certain(data, points, n_neighbors))
    prove = time.process_time() - started
    sure = sure_by(shares, data, points, Model(n_neighbors))
    return ModelRun(data.classes, shares, fit, predict, prove, certain, sure, n_neighbors)


def _forest_of_worlds(case: Case) -> ModelRun:
    """The forest itself: trees fitted to drawn worlds, their probabilities averaged.

    Worlds and completions of points are those of the forest space; no neighbours vote.
    """
    from sklearn.ensemble import RandomForestClassifier

    started = time.process_time()
    table = case.table(LeafSpace("forest", n_trees=1))  # for its features; the trees come below
    data, features = table.dataset, table.space
    assert isinstance(features, TreeSpace)
    views = features.views
    worlds = Worlds(data, N_WORLDS, data.n_rows, 0, is_open=False)
    forests = []
    for number in range(N_WORLDS):
        columns = views[number % len(views)]
        rows, X = worlds.world(number, columns)
        model = RandomForestClassifier(_TREES_PER_WORLD, min_samples_leaf=3, random_state=number)
        forests.append((columns, model.fit(X, data.codes[rows])))
    fit = time.process_time() - started
    started = time.process_time()
    points = table.points(case.X_test)
    found = [model.predict_proba(single(points.vectors[:, columns])) for columns, model in forests]
    mixed = points.mixed(np.mean(found, axis=0))
    return ModelRun(data.classes, mixed, fit, time.process_time() - started)


VERSIONS = ", published versions"

OURS: dict[str, Callable[[Case], ModelRun]] = {
    "forest space, K = 15": partial(_in_space, "forest", 15, False),
    "forest space, K chosen": _auto,
    "random space, K = 15": partial(_in_space, "random", 15, False),
    "plain space, K = 15": partial(_in_space, "plain", 15, False),
    "plain space, K = 3": partial(_in_space, "plain", 3, False),
    f"forest space, K = 15{VERSIONS}": partial(_in_space, "forest", 15, True),
    f"random space, K = 15{VERSIONS}": partial(_in_space, "random", 15, True),
    f"plain space, K = 3{VERSIONS}": partial(_in_space, "plain", 3, True),
    "the forest itself, on worlds": _forest_of_worlds,
}


def _rival(name: str, case: Case) -> ModelRun:
    model = rival(name, case.X_train, case.y_train)  # its choices are not timed
    started = time.process_time()
    model.fit(case.X_train, case.y_train)
    fit = time.process_time() - started
    started = time.process_time()
    probabilities = model.predict_proba(case.X_test)
    predict = time.process_time() - started
    return ModelRun(model.classes_, np.asarray(probabilities), fit, predict)


@lru_cache(maxsize=1)
def warm() -> None:
    """Load or compile all kernels before anything is timed."""
    whole = generated_table("numbers", 40)
    frame = inject(whole.frame, "random", 0.2, 0).frame
    for space in ("plain", "forest", "random"):
        table = IncompleteTable(frame, whole.labels, space=space, max_exact=4, n_draws=4)
        for points in (table.points(whole.frame), table.points(frame)):
            shares = world_shares(table.dataset, points, 3)
            is_certain(table.dataset, points, 3)
            sure_by(shares, table.dataset, points, Model(3))
