"""What each column of a table is, and what was decided about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy.typing as npt

from cpclean.data.columns import Column
from cpclean.data.decisions import Decision
from cpclean.errors import TableWarning, offenders, warn_caller


@dataclass(frozen=True)
class ColumnReport:
    """What a column is, and what was decided about it."""

    name: str
    kind: str
    holes: int
    distinct: int
    decision: Decision

    @property
    def treatment(self) -> str:
        """The decision and its reason, in words."""
        return self.decision.words


def report_html(title: str, columns: Iterable[ColumnReport]) -> str:
    """The report as a table for a notebook."""
    lines = "".join(
        f"<tr><td>{escape(one.name)}</td><td>{one.kind}</td><td>{one.holes}</td>"
        f"<td>{one.distinct}</td><td>{escape(one.treatment)}</td></tr>"
        for one in columns
    )
    return (
        f"<p>{escape(title)}</p><table><thead><tr><th>column</th><th>kind</th>"
        f"<th>holes</th><th>distinct</th><th>treatment</th></tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


def warn_about(
    known: Sequence[Column], proposed: Mapping[int, Any], classes: npt.NDArray[Any]
) -> None:
    """Warn of columns without any value, and of labels that are all the same."""
    empty = [
        column.name
        for number, column in enumerate(known)
        if not column.n_observed and number not in proposed
    ]
    if empty:
        warn_caller(
            TableWarning(
                f"no value is observed in column {offenders(map(repr, empty))}: it is ignored."
            ),
        )
    if len(classes) == 1:
        warn_caller(
            TableWarning(
                f"all rows have the label {classes[0]!r}: every prediction will be certain."
            ),
        )
