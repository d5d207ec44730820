"""What can be asked, and what it costs to answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.known import Known
from cpclean.cleaning.subject import Subject
from cpclean.data.incomplete import Ints
from cpclean.data.row_arrays import runs
from cpclean.data.rows import Floats
from cpclean.errors import CPCleanError, offenders
from cpclean.queries.cell_gains import Span


@dataclass(frozen=True)
class Questions:
    """Everything that can be asked: rows with holes, or their cells; row by row."""

    row: Ints
    column: tuple[Any, ...]  # None if the question is about a whole row
    spans: tuple[Span, ...]  # of the cells; empty if questions are about whole rows

    @property
    def cells(self) -> dict[int, list[Span]]:
        """The cells of each row that can be asked about."""
        found: dict[int, list[Span]] = {}
        for row, span in zip(self.row.tolist(), self.spans, strict=True):
            found.setdefault(row, []).append(span)
        return found

    @cached_property
    def numbers(self) -> Ints:
        """The number of each question in a board's gains: of its row, or of its cell."""
        return np.arange(len(self.row)) if self.spans else self.row

    def about(self, rows: npt.ArrayLike) -> Ints:
        """The numbers of all questions about some rows, row by row."""
        first = np.searchsorted(self.row, rows, side="left")
        return runs(first, np.searchsorted(self.row, rows, side="right") - first)

    def about_row(self, row: int) -> range:
        """The numbers of all questions about a row."""
        return range(int(self.row.searchsorted(row)), int(self.row.searchsorted(row, "right")))

    def known_cells(self, known: Mapping[int, Known]) -> list[int]:
        """The numbers of the cells that are known, be it roughly."""
        return [
            number
            for row, one in known.items()
            for number in self.about([row]).tolist()
            if self.spans[number][0] in one.narrowing
        ]


def questions_of(subject: Subject, by_cell: bool) -> Questions:
    """The questions about a subject: its rows with holes, or their cells."""
    rows = subject.data.dirty_rows
    if not by_cell:
        return Questions(rows, (None,) * len(rows), ())
    cells = [
        (row, name, span) for row in rows.tolist() for name, span in subject.cells(row).items()
    ]
    return Questions(
        np.array([row for row, _, _ in cells], dtype=np.int64),
        tuple(name for _, name, _ in cells),
        tuple(span for _, _, span in cells),
    )


def checked_costs(costs: Any, subject: Subject, questions: Questions) -> Floats:
    """The cost of every question; 1 each by default."""
    if costs is None:
        return np.ones(len(questions.row))
    if isinstance(costs, Mapping):
        found = _by_column(costs, subject, questions)
    else:
        try:
            per_row = np.asarray(costs, dtype=np.float64)
        except (TypeError, ValueError):
            per_row = np.empty(0)
        if per_row.shape != (subject.data.n_rows,):
            got = f"shape {per_row.shape}" if per_row.size else repr(costs)
            raise CPCleanError(
                f"costs must be one number per row, {subject.data.n_rows} in all, or a dict from "
                f"column to cost; got {got}."
            )
        found = per_row[questions.row]
    bad = np.flatnonzero(~(found > 0) | ~np.isfinite(found))
    if len(bad):
        rows, got = offenders(questions.row[bad].tolist()), offenders(found[bad].tolist())
        raise CPCleanError(f"costs must be finite and above 0; got {got} for row {rows}.")
    return found


def _by_column(costs: Mapping[Any, Any], subject: Subject, questions: Questions) -> Floats:
    columns = {name for row in set(questions.row.tolist()) for name in subject.cells(row)}
    if lacking := sorted(map(repr, columns - costs.keys())):
        raise CPCleanError(
            f"costs must name every column with holes; missing: {offenders(lacking)}."
        )
    try:
        cost = {name: float(costs[name]) for name in columns}
    except (TypeError, ValueError) as problem:
        raise CPCleanError(
            f"costs must be one number per column; got {dict(costs)!r}."
        ) from problem
    if bad := {name: one for name, one in cost.items() if not 0 < one < math.inf}:
        raise CPCleanError(f"costs must be finite and above 0; got {bad}.")
    return np.array(
        [
            # A row without cells has equal candidates: there is nothing to gain at any cost.
            sum(cost[name] for name in subject.cells(row)) or 1.0 if column is None
            else cost[column]
            for row, column in zip(questions.row.tolist(), questions.column, strict=True)
        ]
    )  # fmt: skip
