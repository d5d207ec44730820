"""The state of a session in one value, which every answer replaces as a whole."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from cpclean.cleaning.answers import Entry, roughly_after
from cpclean.cleaning.board import Board, Change
from cpclean.cleaning.known import Known
from cpclean.cleaning.once import once
from cpclean.cleaning.subject import Subject


@dataclass(frozen=True)
class Record:
    """One answer, and what it did.

    Attributes
    ----------
    row : int
    gain : float
        How much cleaning the row was expected to lower the mean entropy; with strategy "cells",
        the best of the cells that are known now.
    certain_share : float
        The share of validation points that are certain, after the answer.
    entropy : float
        The mean entropy of the validation points, after the answer, in nats.
    seconds : float
        How long the session took to process the answer.
    kind : {"answer", "correction", "same"}
        "same" is an answer that was known already; it is not in `answers`, unless the row was
        skipped in between. "correction" is any other answer about a row that has been answered.
    settled : int
        How many validation points became settled: certain or, in a session with `sure`, that sure.
    unsettled : tuple of int
        The validation points that were settled and are not any more. A certain one only after a
        value that was not a candidate of the row, or after a correction; a sure one after any
        answer that was not expected.
    settled_share : float
        The share of validation points that are settled, after the answer.
    """

    row: int
    gain: float
    certain_share: float
    entropy: float
    seconds: float
    kind: str
    settled: int
    unsettled: tuple[int, ...]
    settled_share: float


@dataclass(frozen=True)
class State:
    """The board and the answers behind it; never changed in place, so that Ctrl-C is harmless."""

    board: Board
    known: Mapping[int, Known] = field(default_factory=dict)
    skipped: frozenset[int] = frozenset()
    log: tuple[Entry, ...] = ()
    records: tuple[Record | None, ...] = ()  # beside the log; None for a skip or a refit
    learnt: Mapping[int, Known] = field(default_factory=dict)  # known when the space was learnt
    before_refits: tuple[State, ...] = ()
    # Rows of which all cells are known, but not all of them exactly.
    roughly: frozenset[int] = frozenset()

    @property
    def history(self) -> list[Record]:
        return [record for record in self.records if record is not None]

    @once
    def n_answers(self) -> int:
        """How many records there are; counted on from answer to answer."""
        return len(self.history)

    def told(
        self, subject: Subject, row: int, now: Known, board: Board, entry: Entry, record: Record
    ) -> State:
        """The state after an answer: what is known about its row now, and the board with it."""
        after = State(
            board,
            {**self.known, row: now},
            self.skipped - {row},
            (*self.log, entry),
            (*self.records, record),
            self.learnt,
            self.before_refits,
            roughly_after(self.roughly, subject, row, now),
        )
        return after._counted(self.n_answers + 1)

    def _counted(self, n_answers: int) -> State:
        self.__dict__["n_answers"] = n_answers
        return self


def record_of(
    board: Board, row: int, kind: str, start: float, gain: float = 0.0, change: Change | None = None
) -> Record:
    """The record of an answer that a board has taken in since `start`."""
    return Record(
        row,
        gain,
        board.certain_share,
        board.mean_entropy,
        time.perf_counter() - start,
        kind,
        0 if change is None else len(change.settled),
        () if change is None else tuple(change.unsettled.tolist()),
        board.settled_share,
    )
