"""Candidates for the holes of a table: what a repair is, and the repair for a user's choice.

A repair proposes `Options` for every row with holes: a list of values for each hole (the candidates
of the row are all combinations), or whole versions of all holes of the row together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np

from cpclean.data.column_reading import column_from_objects
from cpclean.data.column_values import (
    ColumnValues,
    default_values,
    observed_values,
    quantiles,
    whole_domain,
)
from cpclean.data.columns import Column
from cpclean.data.domains import DomainTable
from cpclean.data.holoclean.cell_values import HoloCells, holo_cells
from cpclean.data.holoclean.holo_model import HoloSettings
from cpclean.data.ragged import Ragged
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.rows import Bools
from cpclean.data.table_versions import Imputers, Versions
from cpclean.errors import TableError

__all__ = [
    "ColumnValues",
    "HoloRepair",
    "Imputers",
    "Options",
    "Repair",
    "Versions",
    "default_values",
    "frame_and_repair",
    "observed_values",
    "quantiles",
    "repair_named",
    "whole_domain",
    "with_kinds_of_candidates",
]


class Repair(Protocol):
    """The one method that a repair of your own needs."""

    def propose(self, columns: Sequence[Column], holes: Bools) -> Mapping[int, Options]:
        """The options of every row that has a hole; holes has shape (rows, columns).

        Values are in the form in which columns store them (dates as seconds). Holes of a column
        without any observed value may be left out; without proposals such a column is ignored.
        """
        ...


def with_kinds_of_candidates(
    columns: Sequence[Column], repair: Any, kinds: Mapping[str, str]
) -> list[Column]:
    """Columns without any value take the kind of the candidates that are listed for them."""
    result = []
    for column in columns:
        undecided = not column.n_observed and column.kind == "numeric"
        if undecided and column.name not in kinds and hasattr(repair, "candidates_of"):
            listed = repair.candidates_of(column.name)
            kind = column_from_objects(column.name, listed).kind
            column = column_from_objects(column.name, [None] * len(column.values), kind)
        result.append(column)
    return result


@dataclass(frozen=True)
class HoloRepair(HoloSettings):
    """HoloClean's domains as candidates, and its probabilities as a prior.

    This is the repair and the prior "holoclean", with options: those of `HoloSettings`, and `best`,
    which makes the likeliest value the only candidate.
    """

    best: bool = False
    # The table looked at last, for a table asks for candidates first and for their prior later.
    _last: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def propose(self, columns: Sequence[Column], holes: Bools) -> Mapping[int, Options]:
        found = self._cells(columns, holes)
        holes = holes & np.array([cell in found for cell in range(len(columns))])
        return TableOptions.of_holes(
            holes,
            {cell: np.arange(int(own.sum())) for cell, own in enumerate(holes.T)},
            [
                found.domains(cell, best=self.best) if cell in found else Ragged.of([])
                for cell in range(len(columns))
            ],
        )

    def for_table(self, columns: Sequence[Column], trusted: Bools) -> HoloCells:
        """Weights of candidates, row by row; see `cpclean.data.priors.RowPrior`."""
        return self._cells(columns, ~trusted)

    @property
    def settings(self) -> HoloSettings:
        """The options of the model alone."""
        return HoloSettings(**{one.name: getattr(self, one.name) for one in fields(HoloSettings)})

    def _cells(self, columns: Sequence[Column], holes: Bools) -> HoloCells:
        last = list(self._last)
        if last and last[0] is columns and np.array_equal(last[1], holes):
            return last[2]  # type: ignore[no-any-return]
        found = holo_cells(columns, holes, self.settings)
        self._last[:] = [columns, holes, found]
        return found


def repair_named(repairs: Any) -> Repair:
    """The repair for a user's choice."""
    if isinstance(repairs, str) and repairs == "default":
        return ColumnValues()
    if isinstance(repairs, str) and repairs == "observed":
        return ColumnValues(others=observed_values)
    if isinstance(repairs, str) and repairs == "holoclean":
        return HoloRepair()
    if hasattr(repairs, "propose"):
        chosen: Repair = repairs
        return chosen
    if isinstance(repairs, Mapping):
        return ColumnValues(repairs)
    if isinstance(repairs, list | tuple) and repairs:
        return Imputers(repairs)
    raise TableError(
        'repairs must be "default", "observed", a list of imputers or completed frames, a dict '
        "from column to values or to a function, an object with propose(columns, holes), or "
        f'"holoclean"; got {repairs!r}.'
    )


def frame_and_repair(frame: Any, repairs: Any, prior: Any) -> tuple[Any, Repair]:
    """The frame itself and what finds the candidates of its holes, counted if the prior asks so."""
    if not isinstance(frame, DomainTable):
        return frame, _counted(repair_named(repairs), prior)
    if repairs is not frame.repairs and not (isinstance(repairs, str) and repairs == "default"):
        raise TableError(
            "a table with explicit domains brings its own candidates, but got "
            f"repairs={repairs!r} too. Leave repairs out, or pass the frame alone: table.frame."
        )
    return frame.frame, _counted(frame.repairs, prior)


def _counted(repair: Repair, prior: Any) -> Repair:
    if not (isinstance(prior, str) and prior == "frequency"):
        return repair
    if isinstance(repair, Imputers | Versions):
        return replace(repair, weigh="version")
    raise TableError(
        'prior="frequency" counts how often each candidate is proposed: repairs must be a list of '
        f"imputers or of completed frames then; got {type(repair).__name__}.",
        field="prior",
    )
