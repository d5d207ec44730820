"""The table of all rows with holes: state, people and answers, filtered and sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from cpclean.data.between import Between
from cpclean.storage.events import Event, Lease
from cpclean.storage.row_states import RowState
from cpclean.web.desk.cell_views import line_of
from cpclean.web.desk.engine import Now
from cpclean.web.desk.project_rows import ProjectRows
from cpclean.web.desk.views import RowsView, RowView

State = Literal[
    "all", "open", "held", "waiting", "answered", "rough", "skipped", "disputed", "handed"
]
Sort = Literal["gain", "number", "state", "who", "said"]
Order = Literal["asc", "desc"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class RowsWanted:
    """Which rows are wanted, in which order, and which page of them."""

    state: State = "all"
    sort: Sort = "gain"
    order: Order = "desc"
    page: Annotated[int, Meta(ge=1, le=10**6, description="a whole number from 1")] = 1
    per_page: Annotated[int, Meta(ge=1, le=500, description="a whole number from 1 to 500")] = 50
    search: Annotated[str, Meta(max_length=200, description="at most 200 characters")] = ""


def row_views(rows: ProjectRows, now: Now | None, leases: Iterable[Lease]) -> list[RowView]:
    """All rows with holes, as they are now."""
    held: dict[int, list[str]] = {}
    for lease in leases:
        held.setdefault(lease.row, []).append(lease.who)
    return [_row_view(rows, row, now, held.get(row, [])) for row in rows.dirty]


def _row_view(rows: ProjectRows, row: int, now: Now | None, holders: list[str]) -> RowView:
    found = None if now is None else now.ledger.rows.get(row)
    state = "open" if found is None else {"settled": "answered"}.get(found.state, found.state)
    if now is not None and state == "answered" and _is_rough(now, row, found):
        state = "rough"
    still_open = now is None or row in now.place or (row in now.ledger.truths and found is None)
    held_by = holders if still_open and state != "skipped" else []
    if held_by and state == "open":
        state = "held"  # other states say more: disputed, and held by whom
    who = [] if found is None else [one.who for one in found.words]
    gain = 0.0 if now is None or state == "skipped" else float(now.gains[row])
    return RowView(
        row=rows.numbers[row],
        number=rows.numbers[row],
        state=state,
        gain=gain,
        who=who or held_by,
        holes=rows.holes(row),
        said=settled_text(now, found),
        held_by=held_by,
        title=rows.title(row),
        line=rows.line(row),
        handed_to=None if found is None else found.handed_to,
    )


def _is_rough(now: Now, row: int, state: RowState | None) -> bool:
    """Whether a row is known only roughly; of a gold question, whether people say so."""
    if row not in now.ledger.truths or state is None or state.decided is None:
        return bool(now.view.rough_of(row))
    said = state.decided.value or {}
    return any(Between.of(value) is not None for value in said.values())


def settled_text(now: Now | None, state: RowState | None) -> str | None:
    """What is settled about a row, in one line; what is not is for nobody else to see.

    People who are still to be asked should answer what they know, not what others answered.
    """
    if now is None or state is None or state.state != "settled":
        return None
    one = now.view.known_of(state.row)
    known = {**one.rough, **one.raw}
    if known and state.row not in now.ledger.truths:  # which nobody is to learn from this
        cells = now.view.cells(state.row)
        holes = {name: value for name, value in known.items() if name in cells}
        return _line(now, holes or known)
    answers = [_answer_text(now, one) for one in state.words if one.kind != "skip"]
    return " / ".join(dict.fromkeys(answers)) or None


def own_answer(now: Now | None, row: int, who: str | None) -> str | None:
    """What a person answered about a row that is not settled yet; None if nothing."""
    state = None if now is None else now.ledger.rows.get(row)
    if now is None or state is None or state.state == "settled":
        return None
    mine = [one for one in state.words if one.who == who and one.kind != "skip"]
    return _answer_text(now, mine[0]) if mine else None


def _answer_text(now: Now, event: Event) -> str:
    raw = event.value
    if event.candidate is not None:
        raw = now.view.candidate(event.row, event.candidate)
    values = {name: Between.of(value) or value for name, value in (raw or {}).items()}
    return _line(now, values)


def _line(now: Now, values: Mapping[str, Any]) -> str:
    return line_of(values, now.view.table)


def page_of(found: Iterable[RowView], wanted: RowsWanted) -> RowsView:
    """The rows that are wanted, a page of them."""
    words = wanted.search.casefold().split()
    kept = [
        one
        for one in found
        if _is_in(one, wanted.state) and all(word in _searched(one) for word in words)
    ]
    kept.sort(key=lambda one: one.number)
    kept.sort(key=_KEYS[wanted.sort], reverse=wanted.order == "desc")
    pages = max(1, -(-len(kept) // wanted.per_page))
    page = min(wanted.page, pages)
    start = (page - 1) * wanted.per_page
    return RowsView(
        rows=kept[start : start + wanted.per_page],
        total=len(kept),
        page=page,
        pages=pages,
        sort=wanted.sort,
        order=wanted.order,
        state=wanted.state,
        search=wanted.search,
    )


_KEYS: dict[Sort, Callable[[RowView], Any]] = {
    "gain": lambda one: one.gain,
    "number": lambda one: one.number,
    "state": lambda one: one.state,
    "who": lambda one: ", ".join(one.who).casefold(),
    "said": lambda one: (one.said or "").casefold(),
}


def _is_in(row: RowView, state: str) -> bool:
    """Whether a filter keeps a row; a row that is held is found by that, whatever its state."""
    return state in ("all", row.state) or (state == "held" and bool(row.held_by))


def _searched(row: RowView) -> str:
    parts = [str(row.number), row.title, f"line {row.line}", row.state, row.said or ""]
    parts += [*row.who, *row.held_by, *row.holes]
    return "\n".join(parts).casefold()
