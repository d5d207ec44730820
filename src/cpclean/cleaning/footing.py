"""The questions that a board is about, as a value that can be sent elsewhere, and work on it.

Rows are numbered by their *place* in the questions. Each function here is a piece of work as
`cpclean.cluster.hands` wants it: what it returns about a point depends on the questions and the
point alone, bit for bit, whoever does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cpclean.cleaning.ground import KnownRow
from cpclean.cleaning.kept_query import KeptQuery
from cpclean.cluster.hands import Hands
from cpclean.data.incomplete import IncompleteDataset, Ints
from cpclean.data.rows import Floats
from cpclean.queries.cell_gains import CellIndex, Span, changed_index
from cpclean.queries.certain import possible_in_block
from cpclean.queries.look import Look, look, look_at_few
from cpclean.queries.query import Near, Query

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Footing:
    """The questions about points, under what is known.

    Attributes
    ----------
    votes, kept : KeptQuery
        The question by the prior of the data, and the one that entropies and gains are taken of:
        the same, or with all candidates of a row equally likely.
    index : CellIndex or None
        The cells that gains are about, if not about rows.
    """

    votes: KeptQuery
    kept: KeptQuery
    index: CellIndex | None = None


@dataclass(frozen=True)
class RowChange:
    """What has become known about the row at a place; see `Board.change`."""

    place: int
    known: KnownRow
    candidate: int | None
    cells: Sequence[Span] = ()


def changed(footing: Footing, change: RowChange) -> Footing:
    """The questions with other knowledge about one row."""
    place, known = change.place, change.known
    features = known.features

    def edit(data: IncompleteDataset) -> IncompleteDataset:
        return data.unpin(place) if features is None else data.known_as(place, known.now)

    def edit_uniform(data: IncompleteDataset) -> IncompleteDataset:
        return data.unpin(place) if features is None else data.given(place, features)

    votes = kept = footing.votes.changed(place, edit, change.candidate)
    if footing.votes is not footing.kept:
        kept = footing.kept.changed(place, edit_uniform, change.candidate)
    index = footing.index
    if index is not None:
        index = changed_index(index, kept.data.sampled, place, change.cells)
    return Footing(votes, kept, index)


def with_halves(footing: Footing, _: None = None) -> Footing:
    """The same, ready to estimate errors by the votes."""
    votes = footing.votes.with_halves()
    return replace(
        footing, votes=votes, kept=votes if footing.kept is footing.votes else footing.kept
    )


# -- pieces of work, on some of the distinct vectors -------------------------------------------


def look_at(footing: Footing, vectors: Ints, n_jobs: int | None = None) -> list[Look]:
    """What there is to know about some vectors, block by block."""
    return look(_about(footing.kept, vectors), footing.index, Hands(n_jobs))


def look_few(footing: Footing, vectors: Ints) -> list[Look]:
    """The same of a few vectors, in this thread."""
    query = footing.kept.query
    return look_at_few(query, footing.index, query.vectors[vectors])


def possible_at(footing: Footing, vectors: Ints, n_jobs: int | None = None) -> list[Bools]:
    """Which labels are possible."""
    return _about(footing.kept, vectors).over_blocks(possible_in_block, Hands(n_jobs))


def near_at(footing: Footing, vectors: Ints, n_jobs: int | None = None) -> list[list[Ints]]:
    """The places of the rows that can be near each vector."""
    return _about(footing.kept, vectors).over_blocks(_near_lists, Hands(n_jobs))


def shares_at(footing: Footing, vectors: Ints, n_jobs: int | None = None) -> list[Floats]:
    """The class shares of some vectors by the votes."""
    return [footing.votes.shares(vectors, Hands(n_jobs))]


def errors_at(
    footing: Footing, vectors: Ints, labels: Ints, n_jobs: int | None = None
) -> list[Floats]:
    """How far the shares of one label of each vector may be off."""
    return [footing.votes.errors(vectors, labels, Hands(n_jobs))]


def _about(kept: KeptQuery, vectors: Ints) -> Query:
    return kept.query.about(kept.query.vectors[vectors])


def _near_lists(query: Query, points: Floats, near: Near) -> list[Ints]:
    return np.split(near.rows, near.ptr[1:-1])
