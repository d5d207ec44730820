"""Queries about tables: the rows in the space, and points as they are in a frame.

A query is about an `IncompleteDataset` and encoded points. `of_tables` lets it take a table as
well: points are encoded as the table was, and of a table of files the rows are gathered that matter
to them, which reads the files once per query.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Union, cast

from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.points import Points
from cpclean.errors import QueryError

if TYPE_CHECKING:
    from cpclean.data.streamed.streamed_table import StreamedTable
    from cpclean.data.table import IncompleteTable

# What a query can be about; a text, because tables load libraries that queries do without.
Asked = Union[IncompleteDataset, "IncompleteTable", "StreamedTable"]
P = ParamSpec("P")
R = TypeVar("R")
TableQuery = Callable[Concatenate[Asked, P], R]


def of_tables(query: Callable[Concatenate[IncompleteDataset, P], R]) -> TableQuery[P, R]:
    """The same query, about tables too."""
    return _of_tables(query, by_row=False)


def of_tables_by_row(query: Callable[Concatenate[IncompleteDataset, P], R]) -> TableQuery[P, R]:
    """The same for a query that has a result for every row of the data."""
    return _of_tables(query, by_row=True)


def _of_tables(
    query: Callable[Concatenate[IncompleteDataset, P], R], by_row: bool
) -> TableQuery[P, R]:
    shape = signature(query)

    @wraps(query)
    def asked(data: Asked, *args: P.args, **options: P.kwargs) -> R:
        if isinstance(data, IncompleteDataset) or not hasattr(data, "session_points"):
            return query(data, *args, **options)  # type: ignore[arg-type]  # or it is refused
        return _asked(query, shape, by_row, data, args, options)

    return cast("TableQuery[P, R]", asked)


def _asked(
    query: Callable[..., R],
    shape: Signature,
    by_row: bool,
    table: IncompleteTable | StreamedTable,
    args: Any,
    options: Any,
) -> R:
    from cpclean.data.table import IncompleteTable
    from cpclean.queries.near_scan import gather

    given = shape.bind(table, *args, **options)
    given.apply_defaults()
    known, (_, where, *_) = given.arguments, shape.parameters
    points = known[where]
    known[where] = points if isinstance(points, Points) else table.points(points)
    if isinstance(table, IncompleteTable):
        return query(**{**known, "data": table.dataset})
    if by_row:
        raise QueryError(
            f"{query.__name__} has a result for every row, and the rows of a StreamedTable may not "
            "fit into memory. Ask about the rows that matter to the points: near = gather(table, "
            f"{where}), then {query.__name__}(near, {where}); near.rows_kept has their numbers."
        )
    model = known["n_neighbors"], known["metric"]
    hands = {name: known[name] for name in ("n_jobs", "cluster") if name in known}
    near = gather(table, known[where], *model, **hands)
    return query(**{**known, "data": near.dataset})
