"""The lists of a page: columns and settings, line by line."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from cpclean.analysis.words import count, percent, shown
from cpclean.cleaning.session import CleaningSession
from cpclean.data.column_report import ColumnReport


def column_lines(columns: Iterable[ColumnReport], n_rows: int) -> list[tuple[str, ...]]:
    """What each column is, how much of it is missing, and what was decided about it."""
    return [
        (one.name, one.kind, f"{one.holes:,}", percent(one.holes / max(1, n_rows)),
         f"{one.distinct:,}", one.treatment)
        for one in columns
    ]  # fmt: skip


def page_settings(
    session: CleaningSession, random_state: int, seconds: float, more: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """What was worked out, with what, and how long it took."""
    metric, strategy = session.metric, session.strategy
    named = {
        "nearest neighbours that vote": f"{session.n_neighbors}",
        "metric": metric if isinstance(metric, str) else getattr(metric, "__name__", "a function"),
        "strategy": strategy if isinstance(strategy, str) else "a function",
        "stops": _limits(session),
        **{name: shown(_plain(value)) for name, value in more.items()},
        "seed of the estimates": f"{random_state}",
        "cpclean": version("cpclean"),
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "time taken": f"{seconds:.1f} s",
    }
    return list(named.items())


def _limits(session: CleaningSession) -> str:
    limits = []
    if session.budget is not None:
        limits.append(f"after {count(session.budget, 'answer')}")
    if session.min_gain > 0:
        limits.append(f"below a gain of {session.min_gain:g} nats")
    share = percent(session.target_share)
    limits.append("when all are certain" if session.target_share == 1 else f"at {share} certain")
    return ", ".join(limits)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
