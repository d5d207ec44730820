"""From the state of a session to an earlier one, also to one with other trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cpclean.cleaning.answers import put, replayed, roughly_after
from cpclean.cleaning.board import Board
from cpclean.cleaning.state import State
from cpclean.cleaning.subject import Subject
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.rows import is_whole
from cpclean.errors import CPCleanError


def refitted(
    state: State, subject: Subject, board: Callable[[IncompleteDataset, Any], Board]
) -> State:
    """The state with a space learnt from what is known now; as it is if that is nothing new.

    The state from before is kept, so that the refit can be undone without learning anything.
    """
    subject.check_refit()
    if state.known == state.learnt:
        return state
    return replace(
        state,
        board=board(subject.refitted(state.board.data), state.board.points),
        log=(*state.log, {"refit": True}),
        records=(*state.records, None),
        learnt=state.known,
        before_refits=(*state.before_refits, state),
    )


def undone(state: State, subject: Subject, n: Any) -> State:
    """The state before the last n entries of its log."""
    if not is_whole(n) or not 1 <= n <= len(state.log):
        raise CPCleanError(
            f"n must be an int from 1 to {len(state.log)} (the number of answers); got {n!r}."
            if state.log
            else "there is no answer to undo."
        )
    kept = state.log[:-n]
    while state.before_refits and len(kept) <= len(state.before_refits[-1].log):
        state = state.before_refits[-1]
    rows = dict.fromkeys(entry["row"] for entry in state.log[len(kept) :])
    # Of a long log, only what it says about these rows is needed.
    told, skips = replayed(subject, [entry for entry in kept if entry.get("row") in rows])
    known = {row: one for row, one in state.known.items() if row not in rows} | told
    skipped = (state.skipped - rows.keys()) | skips
    board, roughly = state.board.copy(), state.roughly
    for row in rows:
        if known.get(row) != state.known.get(row):
            put(board, subject, row, known.get(row))
        roughly = roughly_after(roughly, subject, row, known.get(row))
    return replace(
        state,
        board=board,
        known=known,
        skipped=skipped,
        log=kept,
        records=state.records[: len(kept)],
        roughly=roughly,
    )
