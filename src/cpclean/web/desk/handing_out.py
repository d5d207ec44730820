"""Questions out: which row a person gets, for how long, and what is shown of it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from cpclean.projects.project import Project
from cpclean.storage.contract import Storage
from cpclean.storage.events import Lease
from cpclean.storage.ledger import RowState
from cpclean.web.desk.cell_views import cells_of, line_of, spare_cells
from cpclean.web.desk.details import Detail, detail_of
from cpclean.web.desk.engine import Engine, Now
from cpclean.web.desk.listing import own_answer, settled_text
from cpclean.web.desk.project_rows import ProjectRows
from cpclean.web.desk.views import CommentView, QuestionView

# Rows of the ranking that are searched first for a free one.
FIRST = 200
# After this time, a row that somebody has open is also given to a person for whom nothing is free.
PATIENCE_SECONDS = 60.0


class HandingOut:
    """Hands out questions, each to as many people as are needed for its row.

    Parameters
    ----------
    storage : Storage
    project : Project
    rows : ProjectRows
    engine : Engine
    lease_seconds : float
    """

    def __init__(
        self,
        storage: Storage,
        project: Project,
        rows: ProjectRows,
        engine: Engine,
        lease_seconds: float,
    ) -> None:
        self._storage, self._table, self._rows = storage, project.table, rows
        self._engine, self._lease_seconds = engine, lease_seconds

    def best(self, who: str) -> QuestionView | None:
        """The best free question, held for this person; None if there is none."""
        now = self._engine.now
        if now is None or not now.ranking:
            return None
        lease = self._held(now, who) or self._new(now, who) or self._beside(now, who)
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
        allowed = set(now.ledger.ranking_for(who, now.ranking))
        best: Lease | None = None
        for lease in self._storage.leases():
            if lease.who != who:
                continue
            if lease.row not in allowed:
                self._storage.release(lease)
            elif best is None or now.place[lease.row] < now.place[best.row]:
                best = lease
        return None if best is None else self._storage.renew(best, self._lease_seconds)

    def _new(self, now: Now, who: str) -> Lease | None:
        rows = now.ledger.ranking_for(who, now.ranking)
        for some in (rows[:FIRST], rows[FIRST:]):
            if some:
                places = now.ledger.places(some)
                found = self._storage.lease(some, who, self._lease_seconds, places, now.ledger.last)
                if found is not None:
                    return found
        return None

    def _beside(self, now: Now, who: str) -> Lease | None:
        """If nothing is free: a row that somebody has had open for long, and may have left."""
        rows = set(now.ledger.ranking_for(who, now.ranking))
        at, held = self._storage.now(), [one for one in self._storage.leases() if one.row in rows]
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
        if row not in now.place:
            return None
        mine = [one for one in self._storage.leases() if one.row == row and one.who == who]
        if mine:
            return self._storage.renew(mine[0], self._lease_seconds)
        return self._storage.lease([row], who, self._lease_seconds, now.ledger.places([row]))

    def _view(
        self, now: Now, who: str, row: int, lease: Lease | None, whole: bool = False
    ) -> QuestionView:
        detail, number = self._detail(now, row, whole), self._rows.numbers[row]
        rows = self._rows
        state = now.ledger.rows.get(row)
        others = [] if state is None else [one.who for one in state.words if one.who != who]
        settled = state is not None and state.state == "settled"
        said = own_answer(now, row, who) or settled_text(now, state)
        known = {**detail.known.rough, **detail.known.raw}
        if said is None and (state is None or who not in state.people) and known:
            said = line_of(known, self._table)
        return QuestionView(
            row=row,
            number=number,
            cells=cells_of(self._table, row, detail.holes, detail.known.raw)
            + spare_cells(self._rows.spare, number),
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
            handed_by=_handed_by(state, who),
            seen=now.ledger.last,
        )

    def _detail(self, now: Now, row: int, whole: bool) -> Detail:
        """Worked out ahead, or else now: what the candidates would settle only if it is wanted."""
        found = self._engine.details.get(row)
        if found is None:
            found = detail_of(now.view, row, now.version)
            found = found.with_settles() if whole else found
        return found


def _handed_by(state: RowState | None, who: str) -> str:
    """Who handed a row over to a person; "" if nobody did."""
    if state is None or state.handed_to != who:
        return ""
    return next((one.who for one in reversed(state.words) if one.handed_to == who), "")
