"""Trust on a table of one's own: trials on its complete rows, with holes as it has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.analysis.hole_pattern import LEAST_COMPLETE, HolePattern
from cpclean.analysis.trial_rows import Trial, Trials
from cpclean.analysis.trial_run import Figures, TrialSettings, measured
from cpclean.analysis.trust_words import Figure, TrustFindings
from cpclean.data.columns import Column
from cpclean.data.domains import DomainTable, plain_frame
from cpclean.data.frames import columns_from
from cpclean.data.rows import is_whole
from cpclean.data.table import IncompleteTable
from cpclean.errors import CPCleanError, TableError, offenders
from cpclean.intake.sentences import refusal
from cpclean.progress_bar import Shown, progress_bar
from cpclean.queries.model import Metric
from cpclean.queries.sureness import LEVEL, checked_level

# The first is the one by which terminal and page ask.
STRATEGIES = ("roots", "cpclean", "relative", "random")
N_TRIALS = 5
MOST_ROWS = 2000
VAL_SHARE = 0.2
# However many candidates rows have, trials have so many rows if the table has them.
_LEAST_ROWS = 100


@dataclass(frozen=True)
class TrialSizes:
    """How many trials, of how many rows at most, of which a share is predicted."""

    n_trials: int = N_TRIALS
    most_rows: int = MOST_ROWS
    val_share: float = VAL_SHARE


def trust(
    frame: Any,
    label: Any,
    points: Any = None,
    *,
    space: Any = "forest",
    n_neighbors: int | None = None,
    metric: Metric | None = None,
    repairs: Any = "default",
    prior: Any = "label",
    sure: float = LEVEL,
    strategies: Iterable[str] = STRATEGIES,
    kinds: Mapping[str, str] | None = None,
    null_tokens: Iterable[str] = (),
    max_exact: int | None = None,
    n_draws: int | None = None,
    drop_unlabelled: bool = False,
    n_trials: int = N_TRIALS,
    most_rows: int = MOST_ROWS,
    val_share: float = VAL_SHARE,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Shown = None,
) -> TrustFindings:
    """Try everything on the complete rows of a table, where the truth is known.

    In each trial, complete rows get holes as the table has them: the holes of a row are copied as a
    whole, from a row of the same label, and each label keeps its share of rows with holes. Some
    rows are held out to be predicted; they get holes in the same way. Then everything is compared
    with the values that were there.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or 2-d array
        The table, with holes.
    label : str or sequence
        The name of the label column, or one label per row.
    points : frame, optional
        Rows to predict: the rows that are held out get holes as these have them, instead of holes
        as the table has them.
    space, repairs, prior, kinds, null_tokens, max_exact, n_draws, drop_unlabelled
        As in `IncompleteTable`. With fewer than 30 training rows, the space is the plain one.
    n_neighbors, metric : optional
        As in `CleaningSession`; by default 15 neighbours among leaves, 3 in the plain space.
    sure : float
        The level at which predictions are sure.
    strategies : iterable of {"roots", "cpclean", "relative", "random"}
        The orders of cleaning that are compared. The first one is that of the sentence.
    n_trials : int
        How many trials; figures are their means.
    most_rows : int
        How many complete rows a trial has at most, those that are held out included. If their
        holes have many candidates, cleaning is tried on some of them only; if very many, the trial
        has fewer rows. The notes say how many.
    val_share : float
        The share of them that is held out. Cleaning is tried for at most 200 of these.
    random_state : int
        The seed: the same one gives the same figures.
    n_jobs : int, optional
        Threads; the figures do not depend on it.
    progress : bool, or function of words and a share, optional
        Whether to show a progress bar; by default on a terminal. A function is told instead.

    Returns
    -------
    TrustFindings
        Its text is a sentence and three tables. After Ctrl-C, of what was measured until then.

    Notes
    -----
    A label *keeps* if it is the one that the true rows give in the same space, to a point whose
    true values are known, too. What is certain keeps its label if all true values are among the
    candidates of their holes; where they lie between the candidates, it may not.

    What holes have to do with the values that they hide is not known of any table, so it is not
    imitated. Nor do complete rows have to be like the others.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from cpclean import trust
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"size": rng.normal(size=80).round(1), "hue": list("rgbw") * 20})
    >>> frame["big"] = frame["size"] > 0
    >>> frame.loc[::5, "hue"] = None
    >>> found = trust(frame, "big", n_trials=2, strategies=["cpclean"])
    >>> found.n_trials, found.n_complete
    (2, 64)
    """
    settings = TrialSettings(
        space=space,
        n_neighbors=n_neighbors,
        metric=metric,
        table={"repairs": repairs, "prior": prior, "max_exact": max_exact, "n_draws": n_draws},
        sure=checked_level(sure, "sure"),
        strategies=_checked_strategies(strategies),
        n_jobs=n_jobs,
    )
    sizes = _checked_sizes(n_trials, most_rows, val_share, random_state)
    if isinstance(frame, DomainTable):
        raise refusal("trust_domains")
    table = IncompleteTable(
        frame, label, kinds=kinds, null_tokens=null_tokens, drop_unlabelled=drop_unlabelled
    )
    return trials_of(table, points, settings, sizes, random_state, progress=progress)


def trials_of(
    table: IncompleteTable,
    points: Any,
    settings: TrialSettings,
    sizes: TrialSizes,
    random_state: int = 0,
    *,
    progress: Shown = None,
) -> TrustFindings:
    """The same for a table that is there already; what a trial does with its rows is in settings.

    Parameters
    ----------
    table : IncompleteTable
        In any space; only its columns and holes are looked at.
    points : frame or None
        Rows that lend their holes to those that are held out, with the nulls of the table.
    settings : TrialSettings
    sizes : TrialSizes
    random_state : int
    progress : bool, or function of words and a share, optional
        What a function raises ends the trials.

    Returns
    -------
    TrustFindings
    """
    trials = _trials(table, points, table.null_tokens)
    made, found, interrupted = _course(trials, settings, sizes, random_state, progress)
    return TrustFindings(
        level=settings.sure,
        strategies=settings.strategies,
        figures=_figures(found),
        n_rows=table.n_rows,
        n_complete=len(trials.pattern.complete),
        share_with_holes=trials.pattern.share,
        n_trials=sum(map(bool, found)),
        n_train=_mean([len(one.train) for one in made]),
        n_points=_mean([len(one.points) for one in made]),
        train_with_holes=_mean([one.train.n_with_holes for one in made]),
        points_with_holes=_mean([one.points.n_with_holes for one in made]),
        interrupted=interrupted,
        left_out=_left_out(trials),
    )


def _course(
    trials: Trials, settings: TrialSettings, sizes: TrialSizes, seed: int, progress: Shown
) -> tuple[list[Trial], list[Figures], bool]:
    """All trials, what was measured in each, and whether Ctrl-C ended them early."""
    made: list[Trial] = []
    found: list[Figures] = []
    first = trials.trial(sizes.most_rows, sizes.val_share, np.random.default_rng([seed, 0]))
    size = len(first.train) + len(first.points)
    predicted, cleaned = (max(_LEAST_ROWS, share * size) for share in settings.fitting(first, seed))
    if predicted < size:
        sizes = replace(sizes, most_rows=int(predicted))
    share = cleaned / min(size, predicted)
    done, total = 0, sizes.n_trials * settings.steps
    with progress_bar(total, "Trying", shown=progress, transient=True) as follow:

        def step(words: str) -> None:
            nonlocal done
            follow(done, f"Trial {len(made)} of {sizes.n_trials}: {words}")
            done += 1

        try:
            for number in range(sizes.n_trials):
                rng = np.random.default_rng([seed, number])
                made.append(trials.trial(sizes.most_rows, sizes.val_share, rng))
                found.append({})
                part = made[-1].part(share)
                measured(made[-1], part, settings, seed + number, found[-1], step)
        except KeyboardInterrupt:
            if not any(found):
                raise
            return made, found, True
    return made, found, False


def _trials(table: IncompleteTable, points: Any, null_tokens: Iterable[str]) -> Trials:
    """What trials of a table are made of: its columns that play a part."""
    inside = [feature is not None for feature in table.space.features]
    columns = tuple(column for column, one in zip(table.columns, inside, strict=True) if one)
    pattern = HolePattern(table.holes[:, inside], table.dataset.codes)
    pattern.check([column.name for column in columns])
    own = None if points is None else _point_pattern(points, columns, null_tokens)
    return Trials(columns, pattern, table.dataset.classes, own)


def _point_pattern(
    points: Any, columns: tuple[Column, ...], null_tokens: Iterable[str]
) -> HolePattern:
    given = {column.name: column for column in columns_from(plain_frame(points), None, null_tokens)}
    if absent := [column.name for column in columns if column.name not in given]:
        raise TableError(
            "points must have the columns of the table; missing columns: "
            f"{offenders(map(repr, absent))}.",
            field="points",
        )
    holes = np.column_stack([given[column.name].missing for column in columns])
    return HolePattern(holes, np.zeros(len(holes), dtype=np.int64))


def _left_out(trials: Trials) -> tuple[Any, ...]:
    """The labels without a complete row."""
    there = np.unique(trials.pattern.codes[trials.pattern.complete])
    return tuple(np.delete(trials.classes, there).tolist())


def _figures(found: list[Figures]) -> tuple[Figure, ...]:
    names = dict.fromkeys(name for one in found for name in one)
    return tuple(
        Figure(name, tuple(_known(one[name]) for one in found if name in one)) for name in names
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _mean(sizes: list[int]) -> float:
    return float(np.mean(sizes))


def _checked_strategies(strategies: Iterable[str]) -> tuple[str, ...]:
    named = tuple(dict.fromkeys([strategies] if isinstance(strategies, str) else strategies))
    for one in named:
        if one not in STRATEGIES:
            raise CPCleanError(
                f"strategies must be some of {', '.join(STRATEGIES)}; got {one!r}.",
                field="strategies",
            )
    return named


def _checked_sizes(n_trials: Any, most_rows: Any, val_share: Any, random_state: Any) -> TrialSizes:
    for name, number, lowest in (
        ("n_trials", n_trials, 1),
        ("most_rows", most_rows, LEAST_COMPLETE),
        ("random_state", random_state, 0),
    ):
        if not is_whole(number) or number < lowest:
            raise CPCleanError(
                f"{name} must be an int of at least {lowest}; got {number!r}.", field=name
            )
    if isinstance(val_share, bool) or not isinstance(val_share, float) or not 0 < val_share < 1:
        raise CPCleanError(
            f"val_share must be a number between 0 and 1, both excluded; got {val_share!r}.",
            field="val_share",
        )
    return TrialSizes(int(n_trials), int(most_rows), val_share)
