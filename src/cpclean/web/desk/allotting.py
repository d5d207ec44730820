"""Who is asked about which rows, and about which of their cells."""

from __future__ import annotations

from itertools import islice

from cpclean.storage.events import Lease
from cpclean.storage.row_states import RowState
from cpclean.web.desk.engine import Now
from cpclean.web.desk.gold import gold_order, is_gold
from cpclean.web.desk.project_rows import ProjectRows
from cpclean.web.desk.team_settings import TeamSettings


class Allotting:
    """The rows for each person, the best first.

    An expert is asked about rows in which at least one open cell is theirs, and answers those
    cells; the others stay open for others. Where several people have to agree on a row, all its
    open cells have to be theirs.

    Parameters
    ----------
    rows : ProjectRows
    team : TeamSettings
    """

    def __init__(self, rows: ProjectRows, team: TeamSettings) -> None:
        self._rows, self._team = rows, team

    def rows_for(self, now: Now, who: str) -> list[int]:
        """The rows that a person may be asked about, the best first; not gold ones."""
        columns = self._team.experts.columns_of(who)
        found = now.ledger.ranking_for(who, now.ranking)
        if columns is None:
            return found
        return [row for row in found if self._suits(now, row, columns)]

    def may_hold(self, now: Now, who: str, row: int) -> bool:
        """Whether a row that a person holds is still theirs to answer."""
        if row in now.ledger.truths:
            asked = not _has_spoken(now, row, who)
        else:
            asked = row in now.place and bool(now.ledger.ranking_for(who, [row]))
        if not asked:
            return False
        columns = self._team.experts.columns_of(who)
        return columns is None or self._suits(now, row, columns)

    def columns(self, now: Now, who: str, row: int) -> list[str] | None:
        """The open cells that a person is asked for; None for all, also if none is theirs."""
        own = self._team.experts.columns_of(who)
        found = [name for name in self.open_cells(now, row) if own is not None and name in own]
        return found or None

    def left_to_others(self, now: Now | None, who: str, row: int) -> list[str]:
        """The cells that a skip is about, if others are asked about the rest; else none."""
        if now is None or now.ledger.answers_per_row > 1:
            return []
        own = self.columns(now, who, row)
        state = now.ledger.rows.get(row)
        others = {} if state is None else state.partly_skipped
        skipped = {name for one in others.values() for name in one}
        left = [name for name in self.open_cells(now, row) if name not in skipped]
        return own if own is not None and not set(left) <= set(own) else []

    def open_cells(self, now: Now, row: int) -> list[str]:
        """The cells of a row that nobody has answered; of a gold question, all that were."""
        holes = self._rows.holes(row)
        if row in now.ledger.truths:
            return holes
        known = now.view.known_of(row)
        return [name for name in holes if name not in known.raw and name not in known.rough]

    def for_nobody(self, now: Now) -> int:
        """How many rows no expert is asked about."""
        experts = self._team.experts
        if not experts:
            return 0
        own = [frozenset(one) for one in experts.columns.values()]
        return sum(not any(self._suits(now, row, one) for one in own) for row in now.ranking)

    def _suits(self, now: Now, row: int, columns: frozenset[str]) -> bool:
        cells = self.open_cells(now, row)
        if now.ledger.answers_per_row > 1:
            return columns.issuperset(cells)
        return not columns.isdisjoint(cells)

    # -- gold ------------------------------------------------------------------------------

    def gold_for(self, now: Now, who: str, number: int | None = None) -> list[int]:
        """The gold rows to try next, the first one first; none if it is another's turn.

        `number` counts the person's questions; by default the next one. What was handed over to
        this person comes whenever it is.
        """
        truths = now.ledger.truths
        if not truths:
            return []
        columns = self._team.experts.columns_of(who)
        left = [
            row
            for row in truths
            if not _has_spoken(now, row, who)
            and (columns is None or self._suits(now, row, columns))
        ]
        handed = [row for row in left if handed_by(now.ledger.rows.get(row), who)]
        if number is None:
            number = n_spoken(now, who)
        if not is_gold(who, number, self._team.gold_rate):
            return handed
        return [*handed, *(row for row in gold_order(who, left) if row not in handed)]

    # -- ahead -----------------------------------------------------------------------------

    def next_rows(self, now: Now, who: str, leases: list[Lease], most: int) -> list[int]:
        """The rows that a person will probably be asked about next, in order."""
        mine = [one.row for one in leases if one.who == who and self.may_hold(now, who, one.row)]
        found = sorted(mine, key=lambda row: now.place.get(row, -1))[:1]
        held: dict[int, int] = {}
        for one in leases:
            if one.who != who:
                held[one.row] = held.get(one.row, 0) + 1
        ranking = self.rows_for(now, who)
        free = (
            row
            for row in ranking
            if row not in found and (row not in held or held[row] < now.ledger.places([row])[row])
        )
        start = n_spoken(now, who)
        ordinary = list(islice(free, most))
        for number in range(start + len(found), start + most):
            gold = [row for row in self.gold_for(now, who, number) if row not in found]
            if gold and (ordinary or mine):
                found.append(gold[0])
            elif ordinary:
                found.append(ordinary.pop(0))
        return found


def n_spoken(now: Now, who: str) -> int:
    """How many rows a person has answered or skipped."""
    return now.ledger.answers.get(who, 0) + now.ledger.skips.get(who, 0)


def handed_by(state: RowState | None, who: str) -> str:
    """Who handed a row over to a person; "" if nobody did."""
    if state is None or state.handed_to != who:
        return ""
    return next((one.who for one in reversed(state.words) if one.handed_to == who), "")


def _has_spoken(now: Now, row: int, who: str) -> bool:
    state = now.ledger.rows.get(row)
    return state is not None and who in state.people and not handed_by(state, who)
