"""The progress bar that everything shows which may take longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console


class Follow(Protocol):
    """Tells the bar how far the work is."""

    def __call__(self, done: int, words: str | None = None) -> None:
        """So many steps are done; words, if there are any, replace those beside the bar."""


@contextmanager
def progress_bar(
    total: int,
    words: str,
    *,
    console: Console | None = None,
    shown: bool | None = None,
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
    shown : bool, optional
        Whether to show it; by default on a terminal.
    transient : bool
        Whether it goes away at the end.

    Examples
    --------
    >>> with progress_bar(2, "counting", shown=False) as follow:
    ...     for step in range(2):
    ...         follow(step + 1)
    """
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
    with Progress(*columns, console=where, transient=transient) as bar:
        watched = bar.add_task(escape(words), total=total)

        def follow(done: int, words: str | None = None) -> None:
            described = None if words is None else escape(words)
            bar.update(watched, completed=done, description=described)

        yield follow
