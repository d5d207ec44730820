"""The settings of a session, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import is_whole
from cpclean.errors import CPCleanError, offenders
from cpclean.queries.sureness import checked_level

# How likely answers are when gains are computed: as the data says, or all alike.
PRIOR, UNIFORM = "prior", "uniform"


def usual_strategy(sure: float | None) -> str:
    """What is asked about next where nobody says, until points are sure or until all are certain.

    Terminal and page ask so; `CleaningSession` itself has the paper's strategy.
    """
    return "roots"  # for both, as docs/results/sure.md has measured


def usual_gains_by(sure: float | None) -> str:
    """How likely answers are in gains: by what settles points, so that fewer answers are needed."""
    return UNIFORM if sure is None else PRIOR


def checked_limits(
    budget: Any, target_share: Any, min_gain: Any
) -> tuple[int | None, float, float]:
    """The limits at which a session stops."""
    if budget is not None and (not is_whole(budget) or budget < 0):
        raise CPCleanError(f"budget must be None or an int of at least 0; got {budget!r}.")
    for name, limit, most in (
        ("target_share", target_share, 1.0),
        ("min_gain", min_gain, math.inf),
    ):
        number = isinstance(limit, int | float | np.number) and not isinstance(limit, bool)
        if not number or not 0 <= limit <= most:
            upper = f" and at most {most:g}" if most < math.inf else ""
            raise CPCleanError(f"{name} must be a number of at least 0{upper}; got {limit!r}.")
    return budget, float(target_share), float(min_gain)


def checked_sure(sure: Any) -> float | None:
    """The level at which points are settled that are not certain, or None."""
    return None if sure is None else checked_level(sure, "sure")


def checked_gains_by(gains_by: Any, sure: Any) -> str:
    """How likely answers are when gains are computed."""
    if not isinstance(gains_by, str) or gains_by not in (PRIOR, UNIFORM):
        raise CPCleanError(f'gains_by must be "{PRIOR}" or "{UNIFORM}"; got {gains_by!r}.')
    if gains_by == UNIFORM and sure is not None:
        raise CPCleanError(
            f'gains_by must be "{PRIOR}" in a session with sure={sure!r}: a point is sure by the '
            'prior, so that gains by another one would not lead there; got "uniform".'
        )
    return gains_by


def checked_seed(random_state: Any) -> int:
    """The seed, drawn if it is None."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole(random_state) or random_state < 0:
        raise CPCleanError(f"random_state must be None or an int >= 0; got {random_state!r}.")
    return int(random_state)


def checked_labels(y_val: Any, n_points: int, classes: npt.NDArray[Any]) -> Any:
    """The labels of the validation points, or None."""
    if y_val is None:
        return None
    labels = np.asarray(y_val)
    if labels.shape != (n_points,):
        raise CPCleanError(
            f"y_val must have one label per validation point, {n_points} in all; "
            f"got shape {labels.shape}."
        )
    if not np.isin(labels, classes).any():
        raise CPCleanError(
            f"y_val must have labels of the data, {offenders(map(repr, classes.tolist()))}"
            f"; got {offenders(map(repr, dict.fromkeys(labels.tolist())))}."
        )
    return labels
