"""How a project is cleaned: settings in plain values, checked before they are saved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from cpclean.cleaning.settings import (
    PRIOR,
    checked_gains_by,
    checked_limits,
    checked_seed,
    checked_sure,
)
from cpclean.data.rows import is_whole
from cpclean.errors import TableError
from cpclean.queries.geometry import METRICS
from cpclean.queries.model import Model

# Only what has a name can be saved; precomputed distances do not belong to a table.
_METRICS = tuple(name for name in METRICS if name != "precomputed")
_STRATEGIES = ("cpclean", "relative", "roots", "random", "cells", "cost")
# Settings that may change without the answers belonging to another project.
_CHANGEABLE = ("about", "budget", "target_share", "min_gain")
# Settings that are left out where they are as before there was a choice.
AS_BEFORE = {"sure": None, "gains_by": PRIOR}


@dataclass(frozen=True)
class Settings:
    """How a project is cleaned; the names are those of `CleaningSession`.

    Parameters
    ----------
    model : Model
        How many neighbours vote, and the metric.
    answers_per_row : int
        How many people have to give the same answer about a row.
    costs : list with one number per row, or dict from column to cost, optional
    sure : float, optional
        The level at which points are settled that are not certain.
    gains_by : {"prior", "uniform"}
    about : dict, optional
        Anything else that belongs to the project and that JSON can hold: the name of the file, the
        repairs and the prior that were chosen.

    Examples
    --------
    >>> from cpclean.queries.model import Model
    >>> Settings(Model(n_neighbors=1), answers_per_row=2).model.metric
    'euclidean'
    """

    model: Model = field(default_factory=Model)
    strategy: str = "cpclean"
    answers_per_row: int = 1
    random_state: int = 0
    budget: int | None = None
    target_share: float = 1.0
    min_gain: float = 0.0
    costs: Any = None
    about: Any = None
    sure: float | None = None
    gains_by: str = PRIOR

    def checked(self) -> Settings:
        """The same in plain values, or an error about what cannot be saved."""
        _check_named("metric", self.model.metric, _METRICS)
        _check_named("strategy", self.strategy, _STRATEGIES)
        budget, target_share, min_gain = checked_limits(
            self.budget, self.target_share, self.min_gain
        )
        if not is_whole(self.answers_per_row) or self.answers_per_row < 1:
            raise TableError(
                f"answers_per_row must be an int of at least 1; got {self.answers_per_row!r}."
            )
        if self.answers_per_row > 1 and self.strategy == "cells":
            raise TableError(
                'strategy "cells" asks about single cells, but people can only agree on whole '
                "rows: choose another strategy, or answers_per_row=1."
            )
        if self.about is not None and not isinstance(self.about, Mapping):
            raise TableError(f"about must be a dict or None; got {type(self.about).__name__}.")
        plain = self.plain()
        plain |= {
            "n_neighbors": _plain_number(self.model.n_neighbors),
            "answers_per_row": int(self.answers_per_row),
            "random_state": checked_seed(self.random_state),
            "budget": _plain_number(budget),
            "target_share": target_share,
            "min_gain": min_gain,
            "costs": self.costs.tolist() if hasattr(self.costs, "tolist") else self.costs,
            "sure": checked_sure(self.sure),
            "gains_by": checked_gains_by(self.gains_by, self.sure),
        }
        try:
            return Settings.from_plain(json.loads(json.dumps(plain, allow_nan=False)))
        except (TypeError, ValueError) as problem:
            raise TableError(
                f"the settings of a project must be something JSON can hold: {problem}."
            ) from problem

    def plain(self) -> dict[str, Any]:
        """All settings by name, as they are saved: the model's among the others."""
        others = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "model"}
        for name, before in AS_BEFORE.items():
            if others[name] == before:
                del others[name]
        return asdict(self.model) | others

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Settings:
        """The settings that `plain` gives."""
        own = {one.name for one in fields(Model)} & plain.keys()
        others = {name: one for name, one in plain.items() if name not in own}
        return cls(Model(**{name: plain[name] for name in own}), **others)

    @property
    def identifying(self) -> dict[str, Any]:
        """The settings that answers depend on, by name."""
        return {name: one for name, one in self.plain().items() if name not in _CHANGEABLE}


def _check_named(name: str, chosen: Any, names: tuple[str, ...]) -> None:
    if not isinstance(chosen, str) or chosen not in names:
        raise TableError(
            f"the {name} of a project must be one of {', '.join(names)}: only what has a name can "
            f"be saved; got {chosen!r}."
        )


def _plain_number(number: Any) -> Any:
    return int(number) if is_whole(number) else number
