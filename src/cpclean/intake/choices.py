"""What a person chooses about a table file: options of the terminal and forms of the page alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cpclean.intake.layout import Layout
from cpclean.intake.source_file import SourceFile

# Categories that often stand for nothing.
MAYBE_NULL = frozenset({"?", "-", "--", ".", "unknown", "missing", "nil"})
# More columns than this, the label among them, are refused: each is at least one dimension of the
# space, and every distance becomes much like every other.
MOST_COLUMNS = 2001
# Leaves need so many rows: 15 neighbours would be more than half of fewer.
MIN_ROWS_OF_LEAVES = 30
# How many times more candidates a training row may have than a row to predict before it is drawn.
EASIER = 5


@dataclass(frozen=True)
class Choices:
    """How a training table is read and what is made of it.

    Parameters
    ----------
    label : str
        The label column.
    drop : tuple of str
        Columns to leave out.
    kinds : dict from column to kind
        Where another kind is detected.
    null_tokens : tuple of str
        Texts that stand for nothing.
    layout : Layout, optional
        How a text file is written; None: as its name says, in UTF-8.
    domains : bool
        Whether the file lists what cells can be.
    repairs : {"default", "observed", "holoclean"}, or dict from column to text
        The candidates of holes; a text lists those of a column with | between them.
    prior : str
        How likely candidates are, by name.
    space : {"plain", "forest", "random"}
        Where distances are measured, as in `IncompleteTable`. A table that cannot have leaves is in
        the plain space, with a note.
    drop_unlabelled : bool
        Whether rows without a label are left out; otherwise they are refused.
    drop_empty : bool
        The same for rows with nothing but a label.
    nothing : tuple of (column, text)
        Texts, numbers or days that stand for nothing in one column.
    suspects : tuple of (column, text)
        The same of values that are doubted: such a cell is a hole, and the value one of its
        candidates. In rows to predict it stays as it is.
    fold : tuple of str
        Columns in which spellings that differ in case and blanks alone are one category.
    bins : int, optional
        Predict in which of so many ranges the label is, each with about as many rows.
    max_exact, n_draws, seed : int
        Rows with more candidates than `max_exact` are represented by so many draws, by this seed;
        rows to predict beyond a fifth of it, because each completion costs a look at the table.
        None: as usual in the space.
    """

    label: str = ""
    drop: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    null_tokens: tuple[str, ...] = ()
    layout: Layout | None = None
    domains: bool = False
    repairs: str | Mapping[str, str] = "default"
    prior: str = "label"
    space: str = "plain"
    drop_unlabelled: bool = False
    drop_empty: bool = False
    nothing: tuple[tuple[str, str], ...] = ()
    suspects: tuple[tuple[str, str], ...] = ()
    fold: tuple[str, ...] = ()
    bins: int | None = None
    max_exact: int | None = None
    n_draws: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class HoldOut:
    """Validation points are held out: a share of the rows of every label, at random."""

    share: float = 0.2
    seed: int = 0


@dataclass(frozen=True)
class PointsFile:
    """Validation points are the rows of another file, which may be written otherwise."""

    source: SourceFile
    layout: Layout | None = None


ToPredict = HoldOut | PointsFile
