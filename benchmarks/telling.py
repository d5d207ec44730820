"""Sessions over many rows: a board on the rows near its points, against one on the whole table.

A step is what telling an answer and asking the next question take: on the board, and in a session
with all that it does around it. Of a session's steps, the share of CPU time in kernels is told.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from copy import copy
from functools import partial
from statistics import median
from typing import TypeVar

import numpy as np

from benchmarks.generated import arrays_of_many_rows
from benchmarks.kernel_clock import kernel_clock
from benchmarks.report import Line, milliseconds
from benchmarks.run import Run
from cpclean import CleaningSession, IncompleteDataset
from cpclean.cleaning.board import Board
from cpclean.data.row_arrays import RowArrays
from cpclean.queries.model import Model

Result = TypeVar("Result")
MODEL = Model(3)
STEP = 0.1  # target: of the whole table's time
IN_KERNELS = 0.5  # target: of a step's CPU time
ASKED = 10


def measure(run: Run) -> None:
    rows, n_points, n_steps = run.pick(1_000_000, 20_000), run.pick(1_000, 100), run.pick(15, 5)
    on = f"{rows:,} rows x 10 columns, {n_points:,} points"
    run.say(f"telling, {on}")
    parts, labels, points = arrays_of_many_rows(rows, n_points)
    small = _data(*arrays_of_many_rows(6_000, 5)[:2])
    for gather in (True, False):  # compiled code is loaded
        _steps(Board(small, points[:5], MODEL, gather=gather), 2)
    boards: dict[bool, Board] = {}
    first = {True: math.inf, False: math.inf}
    for gather in (False, True, True, False):

        def build(data: IncompleteDataset, gather: bool = gather) -> Board:
            return Board(data, points, MODEL, gather=gather)

        # Afresh, for what is prepared counts.
        seconds, boards[gather] = _timed(partial(build, _data(parts, labels)))
        first[gather] = min(first[gather], seconds)
    _add(run, "first look", on, first, None)
    steps = {gather: _steps(board, n_steps) for gather, board in boards.items()}
    _add(run, "tell + ask", on, {which: median(one[0]) for which, one in steps.items()}, STEP)
    same = steps[True][1] == steps[False][1]
    run.report.check(f"{on}: the same questions and gains", same, f"{n_steps} steps, bit for bit")
    session = CleaningSession(_data(parts, labels), points, MODEL.n_neighbors)
    session.ask()
    _add_session(run, on, session, run.pick(100, 5))
    seconds, found = _timed(lambda: session.ask(ASKED))
    run.report.add(Line(f"ask({ASKED})", on, ours=f"{milliseconds(seconds)} ms"))
    run.report.check(f"{on}: questions of ask({ASKED})", len(found) == ASKED, f"{ASKED} questions")


def _data(arrays: RowArrays, labels: np.ndarray) -> IncompleteDataset:
    return IncompleteDataset.from_arrays(arrays, labels, np.array([0, 1]))


def _timed(call: Callable[[], Result]) -> tuple[float, Result]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def _steps(board: Board, n_steps: int) -> tuple[list[float], list[tuple[int, float]]]:
    """CPU seconds of each step, and the row asked about with its gain."""
    asked = board.ground.start.dirty_rows
    seconds, questions = [], []
    board.gains(asked)
    for _ in range(n_steps):
        start = time.process_time()
        gains = board.gains(asked)
        best = int(gains.argmax())
        row = int(asked[best])
        (cell,) = board.ground.start.stored_row(row).cells
        board.change(row, {cell.start: float(cell.values[-1, 0])})
        board.gains(asked)
        seconds.append(time.process_time() - start)
        questions.append((row, float(gains[best])))
    return seconds, questions


def _add_session(run: Run, on: str, session: CleaningSession, most: int) -> None:
    """The steps of a session, up to so many, and how much of them is spent in kernels."""
    _session_steps(session, most)  # all that is needed is compiled
    steps = [median(_session_steps(session, most)) for _ in range(run.pick(5, 1))]
    run.report.add(Line("session: tell + ask", on, ours=f"{milliseconds(min(steps))} ms"))
    shares = []
    for _ in range(run.pick(5, 1)):
        seconds = sum(_session_steps(session, most))
        with kernel_clock() as clock:
            _session_steps(session, most)
        shares.append(clock.seconds / seconds)
    run.report.add(
        Line(
            "session: share of a step in kernels",
            on,
            ours=f"{median(shares):.2f}",
            target=run.pick(f"≥ {IN_KERNELS:g}", ""),
            met=run.pick(median(shares) >= IN_KERNELS, None),
        )
    )


def _session_steps(session: CleaningSession, most: int) -> list[float]:
    """CPU seconds of each step of a copy of a session, until it stops."""
    session, seconds = copy(session), []
    question = session.ask()
    while question is not None and len(seconds) < most:
        answer = question.answer(len(question.candidates) - 1)
        start = time.process_time()
        session.tell(**answer)
        question = session.ask()
        seconds.append(time.process_time() - start)
    return seconds


def _add(run: Run, what: str, on: str, seconds: dict[bool, float], target: float | None) -> None:
    ratio, held = seconds[True] / seconds[False], run.pick(target, None)
    run.report.add(
        Line(
            f"{what}, gathered / whole",
            on,
            ours=f"{milliseconds(seconds[True])} ms",
            yardstick=f"{milliseconds(seconds[False])} ms",
            ratio=f"{ratio:.2f}",
            target="" if held is None else f"≤ {held:g}",
            met=None if held is None else ratio <= held,
        )
    )
