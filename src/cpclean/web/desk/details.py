"""What a question shows: a row's candidates, how likely each is, and what it would settle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.cleaning.known import Known
from cpclean.cleaning.question import Question
from cpclean.cleaning.view import SessionView
from cpclean.data.rows import Floats
from cpclean.web.desk.cell_views import text_of
from cpclean.web.desk.views import CandidateView

# Of more candidates, the likeliest are listed; of several holes, also one for each value.
MOST_LISTED = 12


@dataclass(frozen=True)
class Detail:
    """A row as a session sees it.

    Attributes
    ----------
    holes : tuple of str
        The cells that are asked for.
    known : Known
        What was answered about the row before.
    candidates : tuple of CandidateView
    near : int
        Uncertain points to which the row can be near.
    n_candidates : int
        How many there are, including those that are not listed.
    version : int
        The version of `Now` that it was worked out for.
    """

    row: int
    holes: tuple[str, ...]
    known: Known
    candidates: tuple[CandidateView, ...]
    near: int
    n_candidates: int
    version: int
    places: tuple[int | None, ...]  # where the candidates stand in the session's question
    question: Question | None  # None for a row that is settled, and when nothing is left to ask

    def with_settles(self) -> Detail:
        """The same with what each candidate would settle, which takes a look for each.

        It can be kept for long: the question would keep all that was known when it was asked.
        """
        if self.question is None:
            return self
        found = [
            one if place is None else replace(one, settles=len(self.question.settles(place)))
            for one, place in zip(self.candidates, self.places, strict=True)
        ]
        return replace(self, candidates=tuple(found), question=None)


def detail_of(view: SessionView, row: int, version: int) -> Detail:
    """A row with its candidates; for a settled row, all that it might have been."""
    known, question = view.known_of(row), None
    if view.n_candidates(row) == 1:
        found, holes = view.listing_at_start(row), tuple(view.cells(row))
    else:
        found, holes = (
            view.listing(row),
            tuple(name for name in view.cells(row) if name not in known.raw),
        )
        question = view.question(row)
    table = view.table
    columns = {} if table is None else dict(zip(table.names, table.columns, strict=True))
    listed = _listed(found.candidates, found.prior, holes)
    candidates = [
        CandidateView(
            found.origins[place],
            {name: text_of(found.candidates[place][name], columns.get(name)) for name in holes},
            float(found.prior[place]),
        )
        for place in listed
    ]
    asked = 0 if question is None else len(question.candidates)
    return Detail(
        row=row,
        holes=holes,
        known=known,
        candidates=tuple(candidates),
        near=0 if question is None else len(question.points),
        n_candidates=found.total,
        version=version,
        places=tuple(place if place < asked else None for place in listed),
        question=question,
    )


def _listed(shown: list[Any], prior: Floats, holes: tuple[str, ...]) -> list[int]:
    """The places of the candidates that people see: the likeliest, if there are many.

    Several holes are then answered one by one, so that each value of each hole must be there.
    """
    if len(shown) <= MOST_LISTED:
        return list(range(len(shown)))
    ranked: list[int] = np.argsort(-prior, kind="stable").tolist()
    listed, seen = ranked[:MOST_LISTED], set[Any]()
    for place in ranked if len(holes) > 1 else []:
        values = {(name, shown[place][name]) for name in holes}
        if not values <= seen and place not in listed:
            listed.append(place)
        seen |= values
    return listed
