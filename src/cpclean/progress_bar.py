"""The progress bar that everything shows which may take longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console


class Follow(Protocol):
    """Tells the bar how far the work is."""

    def __call__(self, done: int, words: str | None = None) -> None:
        """So many steps are done; words, if there are any, replace those beside the bar."""


# Whether to show a bar, or who is told instead: what is going on, and the share that is done.
Shown = bool | Callable[[str, float], None] | None


@contextmanager
def progress_bar(
    total: int,
    words: str,
    *,
    console: Console | None = None,
    shown: Shown = None,
    transient: bool = False,
) -> Iterator[Follow]:
    """A bar with what is done, how much there is, and the time it will take.

    Parameters
    ----------
    total : int
        How many steps there are at most.
    words : str
        What is going on.
    console : rich.console.Console, optional
        Where to show it; standard error by default.
    shown : bool, or function of words and a share, optional
        Whether to show it; by default on a terminal. A function is told instead how far it is.
    transient : bool
        Whether it goes away at the end.

    Examples
    --------
    >>> with progress_bar(2, "counting", shown=False) as follow:
    ...     for step in range(2):
    ...         follow(step + 1)
    """
    if callable(shown):
        yield _told(shown, total, words)
        return
    terminal = sys.stderr.isatty() if console is None else console.is_terminal
    if shown is False or (shown is None and not terminal):
        yield lambda done, words=None: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    where = console or Console(stderr=True)
    with _others_paused(), Progress(*columns, console=where, transient=transient) as bar:
        watched = bar.add_task(escape(words), total=total)

        def follow(done: int, words: str | None = None) -> None:
            described = None if words is None else escape(words)
            bar.update(watched, completed=done, description=described)

        yield follow


class Paused(Protocol):
    """Something that is drawn on the terminal over and over."""

    def start(self) -> None:
        """Draw it."""

    def stop(self) -> None:
        """Draw it no more."""


_drawn: list[Paused] = []


@contextmanager
def beneath_bars(drawn: Paused) -> Iterator[None]:
    """Pause what is drawn meanwhile whenever a bar is shown: both would be in the same line."""
    _drawn.append(drawn)
    try:
        yield
    finally:
        _drawn.remove(drawn)


@contextmanager
def _others_paused() -> Iterator[None]:
    paused = list(_drawn)
    for one in paused:
        one.stop()
    try:
        yield
    finally:
        for one in paused:
            one.start()


def _told(listener: Callable[[str, float], None], total: int, words: str) -> Follow:
    """A function that is told how far the work is."""

    said = words

    def follow(done: int, words: str | None = None) -> None:
        nonlocal said
        said = words or said
        listener(said, min(1.0, done / max(1, total)))

    follow(0)
    return follow
