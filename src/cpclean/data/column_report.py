"""What each column of a table is, and what was decided about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from cpclean.data.decisions import Decision


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
