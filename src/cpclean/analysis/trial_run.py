"""What is measured in one trial: predictions, their labels in truth, rivals, rows to clean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.analysis.trial_rows import Trial
from cpclean.baselines.estimator import one_world
from cpclean.baselines.rivals import rival
from cpclean.cleaning.session import CleaningSession
from cpclean.cleaning.settings import usual_gains_by
from cpclean.cleaning.simulation import Person
from cpclean.data.points import Points
from cpclean.data.rows import Bools, Floats
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.table import IncompleteTable
from cpclean.intake.choices import EASIER, MIN_ROWS_OF_LEAVES
from cpclean.queries.certain import is_certain
from cpclean.queries.model import Metric, Model, usual_model
from cpclean.queries.shares import world_shares
from cpclean.queries.sureness import CERTAIN, OPEN, SURE, sure_by

# What people use instead; by their names in `cpclean.baselines.rivals`.
RIVALS = ("gradient boosting on NaN", "random forest, means", "15-NN, SimpleImputer")
OURS, OURS_TRUE = "cpclean", "cpclean, nothing missing"
# Predictions are made for at most so many completions of points, and cleaning is tried for at most
# so many points and completions: each takes as long as a complete point.
MOST_COMPLETIONS = 2500
SESSION_POINTS, SESSION_COMPLETIONS = 200, 300
# The share of settled predictions at which most people stop.
AIM = 0.95
# A trial's rows with holes have at most about so many candidates together, draws counted; and those
# of the rows that cleaning is tried on, where every answer takes another look at all of them.
MOST_CANDIDATES, MOST_CLEANED = 50_000, 3000
PREDICTIONS, ACCURACY, CLEANING = "predictions", "accuracy", "cleaning"

# From what a figure is about, beginning with its group, to its value.
Figures = dict[tuple[str, ...], float]


@dataclass(frozen=True)
class TrialSettings:
    """How tables of trials are made and asked; None: as usual in the space."""

    space: Any
    n_neighbors: int | None
    metric: Metric | None
    table: Mapping[str, Any]  # further arguments of IncompleteTable
    sure: float
    strategies: tuple[str, ...]
    n_jobs: int | None = None

    @property
    def steps(self) -> int:
        """How many steps `measured` takes."""
        return 1 + len(RIVALS) + 2 * len(self.strategies)

    def fitting(self, trial: Trial, seed: int) -> tuple[float, float]:
        """The shares of a trial's rows that can be predicted from, and cleaned, in bearable time.

        The more candidates rows with holes have, draws counted, the longer it takes. Shares above 1
        mean that more rows could be.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = replace(self, space="plain")  # candidates are the same in every space
            data = plain.opened(trial, seed)[0].dataset
        most, rows = data.drawing.n_draws, data.dirty_rows.tolist()
        n_candidates = max(1, sum(min(data.arrays.count(row), most) for row in rows))
        return MOST_CANDIDATES / n_candidates, MOST_CLEANED / n_candidates

    def opened(self, trial: Trial, seed: int) -> tuple[IncompleteTable, Model]:
        """The training rows with their holes; few of them are in the plain space."""
        space = self.space if len(trial.train) >= MIN_ROWS_OF_LEAVES else "plain"
        if space in ("forest", "random"):
            space = LeafSpace(space, n_jobs=self.n_jobs)
        kinds = {column.name: column.kind for column in trial.train.columns}
        table = IncompleteTable(
            trial.train.dirty,
            trial.train.labels,
            kinds=kinds,
            space=space,
            random_state=seed,
            **self.table,
        )
        return table, usual_model(table.dataset, self.n_neighbors, self.metric)


def measured(
    trial: Trial,
    cleaned: Trial,
    settings: TrialSettings,
    seed: int,
    found: Figures,
    step: Callable[[str], None],
) -> None:
    """Measure a trial, and add what is found as soon as it is.

    Parameters
    ----------
    trial : Trial
    cleaned : Trial
        The part of it that cleaning is tried on.
    settings : TrialSettings
    seed : int
        Of trees, draws and random orders.
    found : Figures
    step : function of words
        Called before each step.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # what there is to say was said about the whole table
        step("Predicting")
        table, model = settings.opened(trial, seed)
        found.update(_predictions(table, model, trial, settings))
        for name in RIVALS:
            step(f"Fitting {name}")
            found[ACCURACY, name] = _rival_accuracy(name, trial, int(found[PREDICTIONS, "made"]))
        if not settings.strategies:
            return
        if cleaned is not trial:
            table, model = settings.opened(cleaned, seed)
        points = first_of(
            table.session_points(cleaned.points.dirty.iloc[:SESSION_POINTS]), SESSION_COMPLETIONS
        )
        found[CLEANING, "predictions"] = float(points.n_points)
        found[CLEANING, "rows"] = float(len(cleaned.train))
        found[CLEANING, "rows with holes"] = float(cleaned.train.n_with_holes)
        for strategy in settings.strategies:
            for promise, level in ((SURE, settings.sure), (CERTAIN, None)):
                step(f"Cleaning until {promise}, {strategy}")
                session = _session(table, model, points, strategy, level, seed)
                shares = _settled_shares(session, cleaned)
                found[CLEANING, strategy, promise, "most"] = _first(shares, AIM)
                found[CLEANING, strategy, promise, "all"] = _first(shares, 1.0)


# -- predictions ----------------------------------------------------------------------------------


def _predictions(
    table: IncompleteTable, model: Model, trial: Trial, settings: TrialSettings
) -> Iterator[tuple[tuple[str, ...], float]]:
    data = table.dataset
    most = max(1, data.drawing.max_exact // EASIER)  # as commands do it
    asked = first_of(table.points(trial.points.dirty, max_completions=most), MOST_COMPLETIONS)
    query = {"n_jobs": settings.n_jobs}
    shares = world_shares(data, asked, model.n_neighbors, model.metric, **query)
    certain = np.asarray(is_certain(data, asked, model.n_neighbors, model.metric, **query))
    sure = certain | sure_by(shares, data, asked, model, settings.sure, settings.n_jobs)
    rows = table.encode(trial.train.true)
    truth = one_world(rows, data.labels).in_space(data.space)
    points = table.encode(trial.points.true.iloc[: asked.n_points])
    said = data.classes[shares.argmax(axis=1)]
    known = world_shares(truth, points, model.n_neighbors, model.metric, **query)
    in_truth = data.classes[known.argmax(axis=1)]
    y = trial.points.labels[: asked.n_points]
    yield (PREDICTIONS, "made"), float(asked.n_points)
    for name, some in ((CERTAIN, certain), (SURE, sure), (OPEN, ~sure)):
        yield (PREDICTIONS, name), float(some.mean())
        yield (PREDICTIONS, name, "kept"), _share(said == in_truth, some)
        yield (PREDICTIONS, name, "right"), _share(said == y, some)
    yield (PREDICTIONS, "listed"), _listed(table, rows)
    yield (ACCURACY, OURS), float((said == y).mean())
    yield (ACCURACY, OURS_TRUE), float((in_truth == y).mean())


def first_of(points: Points, most: int) -> Points:
    """The first points, with so many completions at most, or a single one."""
    if len(points.owner) <= most:
        return points
    return points.take(np.arange(max(1, int(points.owner[most]))))


def _share(true: Bools, among: Bools) -> float:
    return float(true[among].mean()) if among.any() else float("nan")


def _listed(table: IncompleteTable, rows: Floats) -> float:
    """The share of hidden cells whose true value is a candidate."""
    data, found = table.dataset, []
    for row in data.dirty_rows.tolist():
        for cell in data.cells(row):
            columns = np.atleast_1d(np.asarray(cell.column))
            gaps = np.abs(np.asarray(cell.values) - rows[row, columns]).sum(axis=1)
            found.append(bool(gaps.min() == 0.0))
    return float(np.mean(found)) if found else float("nan")


def _rival_accuracy(name: str, trial: Trial, n_points: int) -> float:
    X, y = trial.train.for_rivals, trial.train.codes  # scikit-learn takes few kinds of labels
    model = rival(name, X, y).fit(X, y)
    said = model.predict(trial.points.for_rivals.iloc[:n_points])
    return float((said == trial.points.codes[:n_points]).mean())


# -- cleaning -------------------------------------------------------------------------------------


def _session(
    table: IncompleteTable,
    model: Model,
    points: Points,
    strategy: str,
    sure: float | None,
    seed: int,
) -> CleaningSession:
    return CleaningSession(
        table,
        points,
        model.n_neighbors,
        strategy,
        random_state=seed,
        metric=model.metric,
        sure=sure,
        gains_by=usual_gains_by(sure),
    )


def _settled_shares(session: CleaningSession, trial: Trial) -> list[float]:
    """The share of settled points after each number of answers, which are the true values."""
    person, shares = Person(session, trial.train.true, exact=True), [session.settled_share]
    while (question := session.ask()) is not None:
        shares.append(session.tell(question.row, **person.answer(question)).settled_share)
    return shares


def _first(shares: list[float], aim: float) -> float:
    """After how many answers a share is reached."""
    reached = (n for n, share in enumerate(shares) if share >= aim - 1e-9)
    return float(next(reached, float("nan")))
