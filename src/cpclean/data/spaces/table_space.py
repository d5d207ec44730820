"""What a table needs of a space, whichever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cpclean.data.columns import Column
from cpclean.data.decisions import Decision
from cpclean.data.rows import Floats
from cpclean.data.spaces.features import Feature


class TableSpace(Protocol):
    """From the columns of a table to the vectors between which distances are measured.

    Attributes
    ----------
    n_features : int
    features : tuple
        How each column is encoded; None for a column without a place in the space.
    decisions : tuple of Decision
        What is decided about each column.
    """

    @property
    def n_features(self) -> int: ...
    @property
    def features(self) -> tuple[Feature | None, ...]: ...
    @property
    def decisions(self) -> tuple[Decision, ...]: ...

    def encode(self, columns: Sequence[Column]) -> Floats:
        """As `encode_with_holes`; warns about categories that the space does not know."""
        ...

    def encode_with_holes(self, columns: Sequence[Column]) -> Floats:
        """Rows as vectors, shape (n_rows, n_features); what stands in a hole means nothing."""
        ...

    def feature(self, cell: int) -> Feature:
        """The feature of a column that has a place in the space."""
        ...
