"""Validation points, kept up to date while rows become known.

A board holds for every point whether it is certain, its largest share and its entropy, and how much
each row is expected to lower that entropy once it is known. All of this depends on the data and the
point alone, bit for bit, not on the order in which the data changed.

A point is settled when it is certain or, on a board with a level, that sure. A certain point stays
certain while rows only lose candidates; a sure one may become open again.

A change of one row affects only the points that the row, before or after the change, can be near
to: a row that begins beyond a point's reach is among its nearest in no world. Memory: a few numbers
for every point and every row with holes near it.

Of a large table, a board looks at the rows that can be near its points, and at no others: see
`basis` and `gathered`. Nothing of the size of the table is copied when a row becomes known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.basis import Basis, Cells
from cpclean.cleaning.footing import errors_at, look_at, look_few, near_at, possible_at, shares_at
from cpclean.cleaning.gathered import Gathered
from cpclean.cleaning.ground import Features, Ground, KnownRow, known_row
from cpclean.cleaning.kept_query import KeptQuery
from cpclean.cleaning.point_gains import PointGains
from cpclean.cleaning.vector_facts import VectorFacts
from cpclean.cluster.hands import HERE, Hands
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.points import Points
from cpclean.data.rows import Floats, within
from cpclean.data.threads import at_once
from cpclean.queries.model import Model
from cpclean.queries.sureness import LEVEL, reaches

Bools = npt.NDArray[np.bool_]
# Numbers that are asked about, the names of a basis, and where each of these is asked about.
_Places = tuple[Ints, Ints, Ints]

# Looks at so few points, and so many points times rows, are over before a thread has begun; the
# first one is not brief, for something may have to be compiled.
_FEW, _BRIEF = 16, 2**18
# Shares that differ by less may be equal.
_CLEAR = 1e-9


@dataclass(frozen=True)
class Change:
    """How a change of one row changed the points, which are numbered as in X."""

    settled: Ints  # these became settled
    unsettled: Ints  # these were settled and are not any more


class Board:
    """The validation points under what is known of the data so far.

    Cleaning rows cannot fill the holes of a point, so each completion of a point counts as a point
    of its own, with its weight in the point: entropies, gains and the shares of points that are
    certain, sure or settled are weighted means over completions, and a completion is settled when
    it is for itself. A point counts as settled when all its completions are, though they may have
    different labels. Shares are those of the completions, mixed by weight.

    Rows with too many candidates are looked at twice: at all their candidates for what is certain,
    and at draws for entropies, gains and shares.

    Parameters
    ----------
    data : IncompleteDataset
    X : Points, or array-like of shape (n_points, n_features)
        Complete validation points.
    model : Model
    cells : dict from row to list of (start, stop), optional
        The cells of each row with holes, as columns of the space. If given, gains are computed for
        cells, numbered row by row, instead of rows.
    hands : Hands
        Who looks at the points; nothing else depends on it. Threads help at the first look only.
    sure : float, optional
        The level at which points that are not certain are settled, too.
    uniform : bool
        Take entropies and gains as if all candidates of a row were equally likely.
    gather : bool, optional
        Whether to work on the rows near the points; by default, if the table is large and they are
        few. Nothing else depends on it.
    """

    def __init__(
        self,
        data: IncompleteDataset,
        X: Points | npt.ArrayLike,
        model: Model,
        cells: Cells | None = None,
        hands: Hands = HERE,
        *,
        sure: float | None = None,
        uniform: bool = False,
        gather: bool | None = None,
    ) -> None:
        self.level = sure
        self._hands = replace(hands, n_jobs=None)
        self._basis = Basis.of(data, X, model, hands, uniform=uniform, gather=gather, cells=cells)
        self._facts = VectorFacts.none(self.points.vector_weights)
        self._places: _Places | None = None
        self._gains: tuple[VectorFacts, Ints, Floats] | None = None
        self._some: tuple[VectorFacts, Ints, tuple[Ints, Floats]] | None = None
        self._sure_now: Bools | None = None
        every = np.arange(len(self.weights))
        self._look(every, hands)
        self._gather_again(every)

    # -- looking ---------------------------------------------------------------------------

    @property
    def ground(self) -> Ground:
        """What is known about rows, without a copy of the table."""
        return self._basis.ground

    @property
    def gathered(self) -> Gathered | None:
        """The rows that the board looks at; None if these are all of them."""
        return self._basis.gathered

    @property
    def data(self) -> IncompleteDataset:
        """The data as it is known now; of a large table, put together when it is asked for."""
        return self._basis.data

    @property
    def points(self) -> Points:
        """The validation points as the session was given them."""
        return self._basis.votes.points

    @property
    def weights(self) -> Floats:
        """How much each distinct vector counts among the points."""
        return self._facts.weights

    @property
    def certain(self) -> Bools:
        """Whether each validation point is certain, in all its completions."""
        return self._of_points(self._facts.certain)

    @property
    def settled(self) -> Bools:
        """Whether each validation point is settled, in all its completions."""
        return self._of_points(self._facts.settled)

    @property
    def sure(self) -> Bools:
        """Whether each validation point is sure, at the board's level, in all its completions."""
        return self._of_points(self._sure)

    @property
    def entropies(self) -> Floats:
        """The entropy of each validation point, in nats; the mean over its completions."""
        return self.points.mixed(self._facts.entropy)

    @property
    def certain_share(self) -> float:
        """The share of the points that is certain, completion by completion."""
        return self._facts.certain_share

    @property
    def sure_share(self) -> float:
        """The share of the points that is certain or sure, at the board's level or at 0.95."""
        return self.share_of(self._sure)

    @property
    def settled_share(self) -> float:
        """The share of the points that is settled, completion by completion."""
        return self._facts.settled_share

    def share_of(self, vectors: Bools) -> float:
        """How much some of the distinct vectors weigh among all points."""
        return self._facts.share_of(vectors)

    @property
    def all_certain(self) -> bool:
        return not (~self._facts.certain & (self.weights > 0)).any()

    @property
    def all_settled(self) -> bool:
        return not self._facts.any_open

    @property
    def mean_entropy(self) -> float:
        return self._facts.mean_entropy

    def gains(self, asked: Ints | None = None) -> Floats:
        """How much knowing each row, or each cell, is expected to lower the mean entropy.

        Only points that are not settled count. `asked` has the numbers of the rows or cells that
        are asked about, ascending: all that had holes at the start. By default these are all rows.
        """
        if asked is None:
            asked = np.arange(self.ground.start.n_rows)
        if self._gains is None or self._gains[0] is not self._facts or self._gains[1] is not asked:
            places, gains = self.some_gains(asked)
            found = np.zeros(len(asked))
            found[places] = gains
            found.flags.writeable = False
            self._gains = self._facts, asked, found
        return self._gains[2]

    def some_gains(self, asked: Ints) -> tuple[Ints, Floats]:
        """The gains that are not 0, as places in `asked`, ascending, and how much each is."""
        facts, names = self._facts, self._basis.names
        if self._some is not None and self._some[0] is facts and self._some[1] is asked:
            return self._some[2]
        some, gains = facts.gains
        if names is None:
            places = asked.searchsorted(some)
        else:
            if self._places is None or not (self._places[0] is asked and self._places[1] is names):
                self._places = asked, names, np.searchsorted(asked, names)
            places = self._places[2][some]
        self._some = facts, asked, (places, gains)
        return places, gains

    def gain_at(self, asked: Ints, place: int) -> float:
        """One of the gains."""
        places, gains = self.some_gains(asked)
        at = int(places.searchsorted(place))
        return float(gains[at]) if at < len(places) and places[at] == place else 0.0

    def point_gains(self, asked: Ints) -> PointGains:
        """Gains point by point; `asked` says which number each question has, as in `gains`."""
        facts = self._facts
        return PointGains(
            facts.weights / facts.total,
            facts.entropy,
            facts.top,
            facts.settled,
            facts.lists,
            asked,
            self._basis.names,
        )

    def shares(self, points: Ints) -> Floats:
        """The class shares of some points, numbered as in X, shape (n_points, n_classes)."""
        used = np.unique(self.points.vector[np.isin(self.points.owner, points)])
        found = np.zeros((len(self.weights), self.ground.start.n_classes))
        found[used] = self._shares(used, self._basis)
        return self.points.mixed(found)[points]

    @property
    def labels(self) -> Ints:
        """The class with the largest share of each point: as `shares` says, with less work.

        A label that has more than half of every completion needs no shares.
        """
        points = self.points
        clear = (
            self._facts.top > 0.5 + _CLEAR
            if self._basis.votes is self._kept
            else np.zeros_like(self._facts.certain)
        )
        label = np.where(clear, self._facts.label, -1)[points.vector]
        of_first = label[np.searchsorted(points.owner, np.arange(points.n_points))]
        doubtful = np.unique(points.owner[(label < 0) | (label != of_first[points.owner])])
        found = of_first.copy()
        found[doubtful] = self.shares(doubtful).argmax(axis=1)
        return found

    def nearest(self, row: int) -> Floats:
        """How near to each distinct vector a row may come at most: a bound on its distances."""
        return self._basis.nearest(row)

    def touched(self, row: int) -> Ints:
        """The open points, numbered as in X, that a row can be near to."""
        return self.points.having(
            np.flatnonzero((self.nearest(row) <= self._facts.reach) & self._facts.open)
        )

    def open_rows(self) -> list[Ints]:
        """For every open point, the rows with holes that can be near it."""
        where = np.flatnonzero(self._facts.open)
        dirty = self._kept.data.arrays.n_cells > 0
        parts = self._over(near_at, self._basis, where)
        lists = [rows[dirty[rows]] for part in parts for rows in part]
        return [self._basis.rows(rows) for rows in lists]

    # -- what stands behind it -------------------------------------------------------------

    @property
    def votes(self) -> KeptQuery:
        """The question about the whole data as it is known now, by the prior of the data."""
        return self._basis.whole_votes

    @property
    def settled_vectors(self) -> Ints:
        """The distinct vectors that are settled and weigh something."""
        return np.flatnonzero(self._facts.settled & (self.weights > 0))

    # -- keeping ---------------------------------------------------------------------------

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._take(state)
        self._basis.keep_prepared()

    # -- changing --------------------------------------------------------------------------

    def copy(self) -> Board:
        """A board that changes independently of this one: nothing is changed in place."""
        other = object.__new__(Board)
        other._take(self.__dict__)
        return other

    def _take(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def change(self, row: int, features: Features, candidate: int | None = None) -> Change:
        """Take over what is known about a row, by column of the space; None if nothing is.

        `candidate` is the number, among the candidates at the start, of the row's first candidate
        now; None if it is none of them, or is to be found by its vector.
        """
        self._sure_now = None
        ground, was = self.ground, self._facts.settled
        start, told = ground.start.stored_row(row), ground.told.get(row)
        known = known_row(start, features)
        chosen = told is None and features is not None and candidate is not None
        fewer = chosen or within(known.now, start if told is None else told.now)
        if told is not None or not fewer:
            self._move_to(self._basis.prepared_for(row, known))
        place = self._basis.place(row)
        after = self._basis.changed(row, place, known, candidate)
        points = np.empty(0, np.int64)
        if place is not None:
            points = self._affected(self._basis, after, place, fewer)
        self._basis = after
        self._look(points)
        self._gather_again(points)
        return self._change(was, self._facts.settled)

    def would_settle(self, row: int, features: Features, candidate: int | None) -> Ints:
        """The points that such a change would settle, numbered as in X; it is not made."""
        known = self.ground.known_row(row, features)
        basis = self._ready_for(row, known, candidate)
        place = basis.place(row)
        if place is None:
            return np.empty(0, np.int64)
        after = basis.changed(row, place, known, candidate)
        # A sure point is looked at again, too: an answer may open it.
        open_ = self._affected(basis, after, place, True)
        parts = self._over(possible_at, after, open_)
        labels = [np.zeros(0, np.int64), *(part.sum(axis=1) for part in parts)]
        settled = np.concatenate(labels) == 1
        if self.level is not None:
            doubtful = open_[~settled]
            settled[~settled] = self._reaching(
                doubtful, *_top(self._shares(doubtful, after)), after
            )
        then = self._facts.settled.copy()
        then[open_] = settled
        return self._change(self._facts.settled, then).settled

    # -- the rows that are gathered --------------------------------------------------------

    def _move_to(self, basis: Basis) -> None:
        """Stand on an equal basis that may have gathered more rows; nothing else changes."""
        moved, self._basis = basis.moved(self._basis), basis
        if moved is not None:
            self._facts = self._facts.renumbered(moved)

    def _gather_again(self, points: Ints) -> None:
        """Look once more at those of some points for which there may not be enough rows."""
        while self._basis.gathered is not None and self._basis.gathered.beyond:
            points = self._basis.gathered.outdated(points, self._facts.reach[points])
            if not len(points):
                return
            self._move_to(self._basis.about(self._basis.gathered.again(points)))
            self._look(points)

    def _ready_for(self, row: int, known: KnownRow, candidate: int | None) -> Basis:
        """The basis, or an equal one that has gathered what matters after such a change."""
        ready = self._basis.prepared_for(row, known)
        if ready.gathered is None or row not in ready.gathered.beyond:
            return self._basis
        trial = self.copy()
        trial.change(row, known.features, candidate)
        assert trial._basis.gathered is not None
        return ready.about(ready.gathered.with_rows(trial._basis.gathered.rows))

    # -- plumbing --------------------------------------------------------------------------

    @property
    def _kept(self) -> KeptQuery:
        """The question that entropies and gains are taken of."""
        return self._basis.kept

    @property
    def _sure(self) -> Bools:
        if self.level is not None:
            return self._facts.settled
        if self._sure_now is None:
            found = self._facts.certain.copy()
            (open_,) = np.nonzero(~found)
            found[open_] = self._reached(open_, LEVEL)
            self._sure_now = found
        return self._sure_now

    def _reached(self, vectors: Ints, level: float) -> Bools:
        """Whether the largest shares of some vectors, less their errors, reach a level."""
        if self._basis.votes is self._kept:
            label, top = self._facts.label[vectors], self._facts.top[vectors]
        else:
            label, top = _top(self._shares(vectors, self._basis))
        return self._reaching(vectors, label, top, self._basis, level)

    def _reaching(
        self, vectors: Ints, label: Ints, top: Floats, basis: Basis, level: float | None = None
    ) -> Bools:
        def errors(vectors: Ints, labels: Ints) -> Floats:
            return np.concatenate([np.zeros(0), *self._over(errors_at, basis, vectors, labels)])

        return reaching(errors, vectors, label, top, level or self.level or LEVEL)

    def _shares(self, vectors: Ints, basis: Basis) -> Floats:
        none = np.zeros((0, self.ground.start.n_classes))
        return np.concatenate([none, *self._over(shares_at, basis, vectors)])

    def _over(
        self,
        work: Callable[..., list[Any]],
        basis: Basis,
        *arrays: Ints,
        hands: Hands | None = None,
    ) -> list[Any]:
        """What a work finds about some distinct vectors."""
        unit = basis.kept.query.points_at_once
        return (hands or self._hands).over(work, basis.held, arrays, unit, "looking at points")

    def _affected(self, before: Basis, after: Basis, place: int, fewer: bool) -> Ints:
        """The vectors that the row, before or after a change, can be near to.

        If it only lost candidates, none of those that are certain: they remain so.
        """
        facts = self._facts
        passed_over = facts.certain if fewer else np.zeros_like(facts.certain)
        return before.kept.query.touched(place, after.kept.query, passed_over, facts.reach)

    def _of_points(self, vectors: Bools) -> Bools:
        """Whether all completions of each point, but those of weight 0, are among these vectors."""
        points = self.points
        lacking = ~vectors[points.vector] & (points.weight > 0)
        return np.asarray(np.bincount(points.owner[lacking], minlength=points.n_points) == 0)

    def _change(self, before: Bools, after: Bools) -> Change:
        """What becomes of the points if other vectors are settled than before."""
        (other,) = (before != after).nonzero()
        if not len(other):
            return Change(other, other)
        if self.points.is_plain and after[other].all():  # as a rule
            return Change(other, other[:0])
        was, now = self._of_points(before), self._of_points(after)
        return Change(settled=np.flatnonzero(~was & now), unsettled=np.flatnonzero(was & ~now))

    def _look(self, vectors: Ints, hands: Hands | None = None) -> None:
        """Find out again what there is to know about some vectors."""
        if not len(vectors):
            return
        query, size = self._kept.query, len(vectors)
        few = size <= min(_FEW, query.points_at_once, _BRIEF // query.data.n_rows)
        if hands is None and few and not self._hands.sends_away(size):
            looks = at_once(partial(look_few, self._basis.footing, vectors))
        else:
            looks = self._over(look_at, self._basis, vectors, hands=hands)
        self._facts = facts = self._facts.seen(vectors, looks)
        if self.level is not None:
            self._basis = self._basis.with_halves()
            open_ = vectors[~facts.certain[vectors]]
            self._facts = facts.with_settled(open_, self._reached(open_, self.level))


def _top(shares: Floats) -> tuple[Ints, Floats]:
    """The label with the largest share of each vector, and this share."""
    return shares.argmax(axis=1), shares.max(axis=1, initial=0)


def reaching(
    errors: Callable[[Ints, Ints], Floats], vectors: Ints, label: Ints, top: Floats, level: float
) -> Bools:
    """Whether shares reach a level, less their errors; these are estimated where they matter.

    errors gives those of some vectors, for one label of each.
    """
    found = reaches(top, np.zeros(len(top)), level)
    (near,) = np.nonzero(found)
    found[near] = reaches(top[near], errors(vectors[near], label[near]), level)
    return found
