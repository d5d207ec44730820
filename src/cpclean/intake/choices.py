"""What a person chooses about a table file: options of the terminal and forms of the page alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cpclean.data.drawing import N_DRAWS
from cpclean.data.table import MAX_EXACT
from cpclean.intake.layout import Layout
from cpclean.intake.source_file import SourceFile

# Categories that often stand for nothing.
MAYBE_NULL = frozenset({"?", "-", "--", ".", "unknown", "missing", "nil"})
# More columns than this are refused: each is at least one dimension of the space, and every
# distance becomes much like every other.
MOST_COLUMNS = 2000
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
    drop_unlabelled : bool
        Whether rows without a label are left out; otherwise they are refused.
    drop_empty : bool
        The same for rows with nothing but a label.
    max_exact, n_draws, seed : int
        Rows with more candidates than `max_exact` are represented by so many draws, by this seed;
        rows to predict beyond a fifth of it, because each completion costs a look at the table.
    """

    label: str = ""
    drop: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    null_tokens: tuple[str, ...] = ()
    layout: Layout | None = None
    domains: bool = False
    repairs: str | Mapping[str, str] = "default"
    prior: str = "label"
    drop_unlabelled: bool = False
    drop_empty: bool = False
    max_exact: int = MAX_EXACT
    n_draws: int = N_DRAWS
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
