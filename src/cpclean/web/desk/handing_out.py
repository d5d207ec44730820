"""Questions out: which row a person gets, for how long, and what is shown of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.storage.events import Lease
from cpclean.web.desk.allotting import Allotting, handed_by
from cpclean.web.desk.cell_views import RowCells, line_of, spare_cells
from cpclean.web.desk.details import Detail, detail_of
from cpclean.web.desk.engine import Engine, Now
from cpclean.web.desk.listing import own_answer, settled_text
from cpclean.web.desk.project_rows import ProjectRows
from cpclean.web.desk.views import CommentView, HolderView, NextView, QuestionView

# Rows of the ranking that are searched first for a free one.
FIRST = 100
# After this time, a row that somebody has open is also given to a person for whom nothing is free.
PATIENCE_SECONDS = 60.0
OTHERS_ARE_ASKED = "others are asked"  # in the cells of a row that are not for this person
MANY = 10_000  # people who may be asked the same gold question at the same time


class HandingOut:
    """Hands out questions, each to as many people as are needed for its row.

    Parameters
    ----------
    storage : Storage
    project : Project
    rows : ProjectRows
    engine : Engine
    allotting : Allotting
    lease_seconds : float
    """

    def __init__(
        self,
        storage: Storage,
        project: Project,
        rows: ProjectRows,
        engine: Engine,
        allotting: Allotting,
        lease_seconds: float,
    ) -> None:
        self._storage, self._table, self._rows = storage, project.table, rows
        self._engine, self._lease_seconds = engine, lease_seconds
        self._allotting = allotting
        self._gold: dict[int, Detail] = {}
        self._cells = RowCells(project.table)

    def best(self, who: str) -> QuestionView | None:
        """The best free question, held for this person; None if there is none."""
        now = self._engine.now
        if now is None or not now.ranking:
            return None
        rows = self._allotting.rows_for(now, who)
        lease = (
            self._held(now, who)
            or (self._golden(now, who) if rows else None)
            or self._new(now, who, rows)
            or self._beside(now, who, rows)
        )
        return None if lease is None else self._view(now, who, lease.row, lease)

    def about(self, who: str, row: int) -> QuestionView:
        """The question about a row; held if it can be asked and nobody else holds it."""
        now = self._engine.ready_now()
        return self._view(now, who, row, self._lease_of(now, who, row), whole=True)

    def look(self, row: int) -> QuestionView:
        """The question about a row, for nobody in particular."""
        return self._view(self._engine.ready_now(), "", row, None)

    def _held(self, now: Now, who: str) -> Lease | None:
        """What this person holds already; what has been settled meanwhile is given back."""
        best: Lease | None = None
        for lease in self._storage.leases():
            if lease.who != who:
                continue
            if not self._allotting.may_hold(now, who, lease.row):
                self._storage.release(lease)
            elif best is None or now.place.get(lease.row, -1) < now.place.get(best.row, -1):
                best = lease
        return None if best is None else self._storage.renew(best, self._lease_seconds)

    def _golden(self, now: Now, who: str) -> Lease | None:
        """A gold question, if it is time for one."""
        found = self._allotting.gold_for(now, who)
        if not found:
            return None
        return self._storage.lease(found, who, self._lease_seconds, MANY, now.ledger.last)

    def _new(self, now: Now, who: str, rows: list[int]) -> Lease | None:
        for some in (rows[:FIRST], rows[FIRST:]):
            if some:
                places = now.ledger.places(some)
                found = self._storage.lease(some, who, self._lease_seconds, places, now.ledger.last)
                if found is not None:
                    return found
        return None

    def _beside(self, now: Now, who: str, rows: list[int]) -> Lease | None:
        """If nothing is free: a row that somebody has had open for long, and may have left."""
        mine, at = set(rows), self._storage.now()
        held = [one for one in self._storage.leases() if one.row in mine]
        patience = timedelta(seconds=max(0.0, self._lease_seconds - PATIENCE_SECONDS))
        left = [one for one in held if one.until - at < patience and one.who != who]
        left.sort(key=lambda one: one.until)
        holders = Counter(one.row for one in held)
        for row in dict.fromkeys(one.row for one in left):
            places = {row: holders[row] + 1}
            found = self._storage.lease([row], who, self._lease_seconds, places, now.ledger.last)
            if found is not None:
                return found
        return None

    def _lease_of(self, now: Now, who: str, row: int) -> Lease | None:
        """A lease of that row, if it can be asked about and is free."""
        mine = [one for one in self._storage.leases() if one.row == row and one.who == who]
        gold = row in now.ledger.truths
        if row not in now.place and not (gold and (mine or row not in now.ledger.rows)):
            return None
        if mine:
            return self._storage.renew(mine[0], self._lease_seconds)
        return self._storage.lease([row], who, self._lease_seconds, now.ledger.places([row]))

    def _view(
        self, now: Now, who: str, row: int, lease: Lease | None, whole: bool = False
    ) -> QuestionView:
        detail, number = self._detail(now, row, whole), self._rows.numbers[row]
        rows = self._rows
        state = now.ledger.rows.get(row)
        # Whoever is asked a gold question is asked as if nobody had answered it.
        if row in now.ledger.truths and lease is not None and state is not None:
            state = None if who not in state.people else state
        others = [] if state is None else [one.who for one in state.words if one.who != who]
        settled = state is not None and state.state == "settled"
        said = own_answer(now, row, who) or settled_text(now, state)
        asked = self._allotting.columns(now, who, row) or detail.holes
        known_cells = {
            **dict.fromkeys(detail.holes, OTHERS_ARE_ASKED),
            **detail.known.rough,
            **detail.known.raw,
        }
        known = {**detail.known.rough, **detail.known.raw}
        if said is None and (state is None or who not in state.people) and known:
            said = line_of(known, self._table)
        return QuestionView(
            row=number,
            number=number,
            cells=self._cells.of(row, asked, known_cells) + spare_cells(self._rows.spare, number),
            candidates=list(detail.candidates),
            gain=float(now.gains[row]),
            near=detail.near,
            lease_id=None if lease is None else lease.id,
            lease_seconds=0.0 if lease is None else self._lease_seconds,  # from this moment on
            others=others,
            said=said,
            version=self._engine.version,
            n_candidates=detail.n_candidates,
            settled=settled,
            title=rows.title(row),
            line=rows.line(row),
            link=rows.link(row),
            comments=[
                CommentView(one.who, one.at.strftime("%Y-%m-%d %H:%M"), one.comment)
                for one in now.comments.get(row, ())
                if one.number not in now.ledger.undone
            ],
            handed_by=handed_by(now.ledger.rows.get(row), who),
            seen=now.ledger.last,
            holders=[] if lease is not None else self._holders(row, who),
        )

    def _holders(self, row: int, who: str) -> list[HolderView]:
        """Who else has a row open, and for how long."""
        at = self._storage.now()
        return [
            self._holder(one, at)
            for one in self._storage.leases()
            if one.row == row and one.who != who
        ]

    def _holder(self, lease: Lease, at: datetime) -> HolderView:
        row, seconds = lease.row, max(0.0, (lease.until - at).total_seconds())
        number = self._rows.numbers[row]
        return HolderView(lease.who, seconds, number, number, self._rows.title(row))

    def held_by_others(self, who: str) -> list[HolderView]:
        """The rows for a person that others have open, those that end first in front."""
        now, at = self._engine.now, self._storage.now()
        rows = set() if now is None else set(self._allotting.rows_for(now, who))
        held = [one for one in self._storage.leases() if one.row in rows and one.who != who]
        return [self._holder(one, at) for one in sorted(held, key=lambda one: one.until)]

    def all_held(self) -> list[HolderView]:
        """All rows that anybody has open, those that end first in front."""
        at, leases = self._storage.now(), self._storage.leases()
        return [self._holder(one, at) for one in sorted(leases, key=lambda one: one.until)]

    def take_over(self, who: str, row: int) -> bool:
        """Take a row over from whoever holds it; whether it is this person's now."""
        leases = [one for one in self._storage.leases() if one.row == row]
        if any(one.who == who for one in leases):
            return True
        now = self._engine.ready_now()
        for one in sorted(leases, key=lambda one: one.until):
            if self._storage.take_over(one, who, self._lease_seconds) is not None:
                return True
        return self._lease_of(now, who, row) is not None

    def next_rows(self, who: str, most: int) -> list[NextView]:
        """The rows that a person will probably be asked about next."""
        now = self._engine.now
        if now is None:
            return []
        leases = self._storage.leases()
        mine, rows = {one.row for one in leases if one.who == who}, self._rows
        return [
            NextView(
                row=rows.numbers[row],
                number=rows.numbers[row],
                title=rows.title(row),
                line=rows.line(row),
                link=rows.link(row),
                columns=self._allotting.columns(now, who, row)
                or self._allotting.open_cells(now, row),
                handed_by=handed_by(now.ledger.rows.get(row), who),
                held=row in mine,
            )
            for row in self._allotting.next_rows(now, who, leases, most)
        ]

    def _detail(self, now: Now, row: int, whole: bool) -> Detail:
        """Worked out ahead, or else now: what the candidates would settle only if it is wanted."""
        if row in now.ledger.truths:
            return self._gold_detail(now, row)
        found = self._engine.details.get(row)
        if found is None:
            found = detail_of(now.view, row, now.version)
            found = found.with_settles() if whole else found
        return found

    def _gold_detail(self, now: Now, row: int) -> Detail:
        """A gold question as it looked at the start: the session knows it since."""
        found = self._gold.get(row)
        if found is None:
            found = self._gold[row] = detail_of(now.start, row, now.version).with_settles()
        standing = self._engine.standing(now)
        return replace(found, near=min(found.near, standing.points - standing.settled))
