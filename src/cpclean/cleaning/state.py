"""What a session knows, all of it in one value: a session goes from one to the next or stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cpclean.cleaning.answers import Entry
from cpclean.cleaning.board import Board
from cpclean.cleaning.subject import Known


@dataclass(frozen=True)
class Record:
    """One answer, and what it did.

    Attributes
    ----------
    row : int
    gain : float
        The fall of the mean entropy that was expected from cleaning the row; with strategy
        "cells", from the best of the cells that are known now.
    certain_share : float
        The share of validation points that are certain, after the answer.
    entropy : float
        The mean entropy of the validation points, after the answer, in nats.
    seconds : float
        How long the session took to take the answer in.
    kind : {"answer", "correction", "same"}
        "same" is an answer that was known; it is not kept, unless the row was skipped since.
        "correction" is any other answer about a row of which something was said before.
    settled : int
        How many validation points became certain.
    unsettled : tuple of int
        The validation points that were certain and are not any more: only a value outside the
        row's candidates, or a correction, can do that.
    """

    row: int
    gain: float
    certain_share: float
    entropy: float
    seconds: float
    kind: str
    settled: int
    unsettled: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """The board, and how it came about. Never changed in place: a Ctrl-C leaves it whole."""

    board: Board
    known: Mapping[int, Known] = field(default_factory=dict)
    skipped: frozenset[int] = frozenset()
    log: tuple[Entry, ...] = ()
    records: tuple[Record | None, ...] = ()  # beside the log; None for what was skipped

    @property
    def history(self) -> list[Record]:
        return [record for record in self.records if record is not None]
