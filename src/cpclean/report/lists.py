"""The lists of a page: columns and settings, line by line."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from cpclean.analysis.certain_words import promise
from cpclean.analysis.findings import PredictionLine
from cpclean.analysis.space_words import space_words
from cpclean.analysis.words import count, percent, shown
from cpclean.cleaning.session import CleaningSession
from cpclean.data.column_report import ColumnReport
from cpclean.data.spaces.trees import Trees


def column_lines(columns: Iterable[ColumnReport], n_rows: int) -> list[tuple[str, ...]]:
    """What each column is, how much of it is missing, and what was decided about it."""
    return [
        (one.name, one.kind, f"{one.holes:,}", percent(one.holes / max(1, n_rows)),
         f"{one.distinct:,}", one.treatment)
        for one in columns
    ]  # fmt: skip


def prediction_lines(lines: Sequence[PredictionLine]) -> list[tuple[str, ...]]:
    """The predictions one by one."""
    return [
        (one.name, one.label, percent(one.share), one.verdict)
        + (() if one.true_label is None else (one.true_label,))
        for one in lines
    ]


def page_settings(
    session: CleaningSession, random_state: int, seconds: float, more: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """What was worked out, with what, and how long it took."""
    strategy = session.strategy
    named = {
        **_space(session),
        "nearest neighbours that vote": f"{session.n_neighbors}",
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


def _space(session: CleaningSession) -> dict[str, str]:
    """In which space distances are measured, and how."""
    table, space, metric = session.view.table, session.data.space, session.metric
    words = space_words(None if table is None else table.leaves, space)
    if isinstance(space, Trees):
        return {"space": words, "distance": "number of trees that tell two rows apart"}
    named = metric if isinstance(metric, str) else getattr(metric, "__name__", "a function")
    given = table is None and space is None
    return {"space": "columns as given" if given else words, "metric": named}


def _limits(session: CleaningSession) -> str:
    limits = []
    if session.budget is not None:
        limits.append(f"after {count(session.budget, 'answer')}")
    if session.min_gain > 0:
        limits.append(f"below a gain of {session.min_gain:g} nats")
    share = percent(session.target_share)
    what = promise(session.sure)
    limits.append(f"when all are {what}" if session.target_share == 1 else f"at {share} {what}")
    return ", ".join(limits)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
