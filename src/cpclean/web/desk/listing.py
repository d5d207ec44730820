"""The table of all rows with holes: which state each is in, who said what, filtered and sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from cpclean.data.table import IncompleteTable
from cpclean.errors import CPCleanError
from cpclean.storage.events import Event, Lease
from cpclean.storage.ledger import RowState
from cpclean.web.desk.cell_views import said_text
from cpclean.web.desk.engine import Now
from cpclean.web.desk.views import QuestionView, RowsView, RowView

STATES = ("all", "open", "held", "answered", "skipped", "disputed", "waiting")
SORTS = ("gain", "number", "state", "who", "said")
ORDERS = ("asc", "desc")
MOST_PER_PAGE = 500

View = TypeVar("View", RowView, QuestionView)


class ListingError(CPCleanError, ValueError):
    """A page of rows was asked for in a way that there is not."""


def row_views(
    rows: Iterable[int],
    numbers: Callable[[int], int],
    holes: Callable[[int], list[str]],
    now: Now | None,
    leases: Iterable[Lease],
) -> list[RowView]:
    """All rows with holes, as they are now."""
    held: dict[int, list[str]] = {}
    for lease in leases:
        held.setdefault(lease.row, []).append(lease.who)
    return [_row_view(row, numbers(row), holes(row), now, held.get(row, [])) for row in rows]


def _row_view(
    row: int, number: int, holes: list[str], now: Now | None, holders: list[str]
) -> RowView:
    told = None if now is None else now.ledger.rows.get(row)
    state = "open" if told is None else {"settled": "answered"}.get(told.state, told.state)
    still_open = now is None or row in now.place
    held_by = holders if still_open and state != "skipped" else []
    if held_by and state == "open":
        state = "held"  # what is known of the others says more: disputed, and held by whom
    who = [] if told is None else [one.who for one in told.words]
    gain = 0.0 if now is None or state == "skipped" else float(now.gains[row])
    said = said_of(now, told)
    return RowView(row, number, state, gain, who or held_by, holes, said, held_by)


def said_of(now: Now | None, told: RowState | None) -> str | None:
    """What is settled about a row, in a line; what is not is for nobody else to see.

    Whoever is still to be asked should say what they know, not what others said before.
    """
    if now is None or told is None or told.state != "settled":
        return None
    known = now.session.view.known.get(told.row)
    if known is not None:
        return said_text(_of_holes(now, told.row, known), _table(now))
    answers = [_answered(now, one) for one in told.words if one.kind != "skip"]
    return " / ".join(dict.fromkeys(answers)) or None


def own_word(now: Now | None, row: int, who: str | None) -> str | None:
    """What a person said of a row that is not settled yet; None if nothing, or if it is settled."""
    told = None if now is None else now.ledger.rows.get(row)
    if now is None or told is None or told.state == "settled":
        return None
    mine = [one for one in told.words if one.who == who and one.kind != "skip"]
    return _answered(now, mine[0]) if mine else None


def with_own(view: View, now: Now | None, who: str | None) -> View:
    """The same for a person, who may see the own answer while others may not."""
    own = own_word(now, view.row, who)
    return view if own is None else replace(view, said=own)


def _answered(now: Now, event: Event) -> str:
    raw = event.value
    if event.candidate is not None:
        raw = now.session.view.candidates(event.row)[event.candidate]
    return said_text(raw or {}, _table(now))


def _table(now: Now) -> IncompleteTable | None:
    return now.session.view.table


def _of_holes(now: Now, row: int, raw: dict[Any, Any]) -> dict[Any, Any]:
    cells = now.session.view.cells(row)
    return {name: value for name, value in raw.items() if name in cells} or raw


def page_of(
    found: list[RowView], state: str, sort: str, order: str, page: int, per_page: int, search: str
) -> RowsView:
    """The rows that are wanted, a page of them."""
    for name, given, known in (
        ("state", state, STATES),
        ("sort", sort, SORTS),
        ("order", order, ORDERS),
    ):
        if given not in known:
            raise ListingError(f"{name} must be one of {', '.join(known)}; got {given[:40]!r}.")
    if page < 1 or not 1 <= per_page <= MOST_PER_PAGE:
        raise ListingError(
            f"page must be at least 1 and per_page from 1 to {MOST_PER_PAGE}; got {page} and "
            f"{per_page}."
        )
    words = search.casefold().split()
    kept = [
        one for one in found if _is_in(one, state) and all(word in _searched(one) for word in words)
    ]
    kept.sort(key=lambda one: one.number)
    if sort == "gain":
        kept.sort(key=lambda one: one.gain, reverse=order == "desc")
    elif sort == "number":
        kept.sort(key=lambda one: one.number, reverse=order == "desc")
    else:
        key = {"state": lambda one: one.state, "who": lambda one: ", ".join(one.who).casefold(),
               "said": lambda one: (one.said or "").casefold()}[sort]  # fmt: skip
        kept.sort(key=key, reverse=order == "desc")
    pages = max(1, -(-len(kept) // per_page))
    page = min(page, pages)
    start = (page - 1) * per_page
    return RowsView(
        kept[start : start + per_page], len(kept), page, pages, sort, order, state, search
    )


def _is_in(row: RowView, state: str) -> bool:
    """Whether a filter keeps a row: one that is held is found by that, too."""
    return state in ("all", row.state) or (state == "held" and bool(row.held_by))


def _searched(row: RowView) -> str:
    parts = [str(row.number), row.state, row.said or "", *row.who, *row.held_by, *row.holes]
    return "\n".join(parts).casefold()
