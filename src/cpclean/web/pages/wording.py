"""Words on the pages: numbers, reasons and hints as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import jinja2

from cpclean.analysis.certain_words import completions_words
from cpclean.analysis.space_words import GIVEN_THE_SPACE, space_words
from cpclean.analysis.words import count, listed, percent, shortened
from cpclean.projects.project import Project
from cpclean.web.desk.views import CellView, ProgressView
from cpclean.web.pages.forms import sentence

_KINDS = {
    "numeric": "a number",
    "boolean": "true or false",
    "date": "a date, such as 2024-05-31",
    "duration": "a duration in seconds, or such as 1 days 02:00:00",
    "categorical": "a text",
}
MOST_NAMED = 4  # categories in a hint; the list beside the field has more
MILESTONES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


def takes(cell: CellView) -> str:
    """What can be typed into a hole.

    >>> takes(CellView("age", "numeric", None, True, "18", "65"))
    'a number; so far from 18 to 65'
    >>> takes(CellView("seen", "date", None, True, "2024-01-01", "2024-05-31"))
    'so far from 2024-01-01 to 2024-05-31'
    >>> takes(CellView("city", "categorical", None, True, categories=["Oslo", "Rome"]))
    'Oslo, Rome, or another value'
    >>> takes(CellView("city", "categorical", None, True, categories=[*"abcdefgh"]))
    'one of 8 values so far, or another'
    """
    if cell.kind == "categorical" and cell.categories:
        if len(cell.categories) > MOST_NAMED:
            return f"one of {len(cell.categories):,} values so far, or another"
        named = ", ".join(shortened(one) for one in cell.categories)
        return f"{named}, or another value"
    kind = _KINDS.get(cell.kind, "a value")
    if cell.low is None or cell.high is None:
        return kind
    if cell.kind == "date":  # the control shows how dates are typed here
        return f"so far from {cell.low} to {cell.high}"
    return f"{kind}; so far from {cell.low} to {cell.high}"


def space(project: Project) -> str:
    """The space in which distances are measured, and what certain means there."""
    neighbors = count(project.settings.model.n_neighbors, "neighbour")
    said = sentence(f"{space_words(project.table.leaves)}, {neighbors}.")
    return said if project.table.leaves is None else f"{said} {GIVEN_THE_SPACE}"


def estimate(answers: int) -> str:
    """About how many more answers."""
    return f"≈ {answers:,}" if answers else "0"


def seconds(taken: float | None) -> str:
    """The time that a person takes for an answer.

    >>> seconds(None), seconds(4.26), seconds(75), seconds(7300)
    ('–', '4.3 s', '75 s', '122 min')
    """
    if taken is None:
        return "–"
    return f"{taken:.1f} s" if taken < 10 else f"{taken:.0f} s" if taken < 600 else _minutes(taken)


def _minutes(taken: float) -> str:
    return f"{taken / 60:.0f} min"


def share_of(value: float, most: float) -> str:
    """How much one row helps beside the one that helps most, for those who see no bar.

    >>> share_of(0.0015, 0.003)
    '50% of the most'
    """
    return f"{100 * value / most:.0f}% of the most"


def order_of(strategy: str) -> str:
    """In which order rows are asked about."""
    if strategy in ("cpclean", "cells"):
        return "The row that helps most is asked about first."
    if strategy == "random":
        return "But questions come in random order."
    if strategy == "cost":
        return "What a row costs counts, too, for which is asked about first."
    return "How many predictions it helps counts, too, for which is asked about first."


def size(n_bytes: int) -> str:
    """A number of bytes.

    >>> size(50 * 2**20), size(800)
    ('50 MB', '1 kB')
    """
    return f"{n_bytes / 2**20:.0f} MB" if n_bytes >= 2**20 else f"{max(1, n_bytes // 1024)} kB"


def people(names: Sequence[str]) -> str:
    """Names in a row."""
    return listed(list(names)) if names else "–"


def answer(text: str | None) -> str:
    """What was answered about a row, if anything."""
    return text or "–"


def outlook(progress: ProgressView) -> str:
    """What the picture of the progress shows, in a sentence or two."""
    said = f"After {count(progress.answers, 'row')}, {progress.standing}."
    if progress.all_certain:
        return f"{said} No further answer can change a prediction."
    if progress.all_settled:
        return f"{said} Every prediction is {progress.standing.promise}."
    if progress.to_target is None:
        return said
    settled = "settled" if progress.until_sure else "certain"
    answers = "answer" if progress.to_go == "1" else "answers"
    return (
        f"{said} {progress.to_go} more {answers} should bring it to {percent(progress.target)} "
        f"{settled}."
    )


def milestones(progress: ProgressView) -> list[tuple[float, int]]:
    """Shares that are not reached yet, and how many more answers each is expected to take."""
    found = []
    for share in sorted({*MILESTONES, progress.target}):
        reached = next((at for at, mean in progress.expected if mean >= share - 1e-9), None)
        if reached is not None and share > progress.settled_share:
            rows = max(1, reached - progress.answers)
            found.append((share, rows * progress.answers_per_row))
    return found


def left(given: float) -> str:
    """A time that is left, in words.

    >>> left(540), left(61.0), left(12)
    ('9 minutes', '2 minutes', 'less than a minute')
    """
    return "less than a minute" if given < 60 else count(ceil(given / 60), "minute")


def ago(given: float) -> str:
    """When it was, in words.

    >>> ago(3), ago(130)
    ('just now', '2 minutes ago')
    """
    return "just now" if given < 60 else f"{count(int(given // 60), 'minute')} ago"


def add_words(templates: jinja2.Environment) -> None:
    """Give the templates these words as filters."""
    templates.filters |= {
        "percent": percent, "takes": takes, "estimate": estimate, "seconds": seconds,
        "share_of": share_of, "size": size, "people": people, "answer": answer,
        "listed": _all_listed, "completions": completions_words, "sentence": sentence, "left": left,
        "ago": ago,
    }  # fmt: skip


def _all_listed(words: Sequence[str]) -> str:
    return listed(list(words))
