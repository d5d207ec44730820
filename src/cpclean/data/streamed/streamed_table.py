"""StreamedTable: a table of files that may be larger than memory."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cpclean.data.column_report import ColumnReport, warn_about
from cpclean.data.columns import Column
from cpclean.data.completions import Completer, listed_values
from cpclean.data.drawing import Drawing
from cpclean.data.frames import FrameKind
from cpclean.data.large_counts import world_count_text
from cpclean.data.nulls import stripped
from cpclean.data.points import Points
from cpclean.data.proposals import checked_options
from cpclean.data.ragged import Ragged
from cpclean.data.repairs import with_kinds_of_candidates
from cpclean.data.row_counts import RowCounts
from cpclean.data.row_options import TableOptions
from cpclean.data.spaces.fitted_space import chosen_space
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.plain import fit_plain_space
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.streamed.class_counts import ClassCounts, middles
from cpclean.data.streamed.csv_source import CsvSource
from cpclean.data.streamed.learning_rows import learnt_trees
from cpclean.data.streamed.looks import counted, looked_at
from cpclean.data.streamed.opening_files import open_source
from cpclean.data.streamed.parquet_source import ParquetSource
from cpclean.data.streamed.pieces import Piece, SourceMark, TableSource
from cpclean.data.streamed.refused import checked_repair, memory_limit
from cpclean.data.streamed.row_batches import BatchReader
from cpclean.data.streamed.row_recipe import RowRecipe, SomeRows
from cpclean.data.streamed.table_files import TableFiles
from cpclean.data.streamed.text_parts import TextLayout
from cpclean.data.table import IncompleteTable, usual_limits
from cpclean.data.table_parts import TableParts
from cpclean.data.whole_facts import WholeFacts
from cpclean.errors import TableError, TableWarning, UnknownRowError, offenders
from cpclean.progress_bar import Shown


class StreamedTable:
    """A table with holes in files, which need not fit into memory.

    The files are read a few times when the table is made, a batch of rows at a time, and once for
    each set of points that is asked about: the rows that matter to the points are few, and they are
    kept as an `IncompleteTable` of their own (`cpclean.gather`). Column kinds, candidates, priors,
    scales and the space are those of an `IncompleteTable` of all rows, bit for bit.

    Parameters
    ----------
    files : str, path, list of them, or TableSource
        Parquet or CSV files with the same columns: names, patterns such as ``data/*.parquet``,
        folders, or addresses that pyarrow or fsspec opens, such as "s3://bucket/data/". Folders
        such as "year=2024" are columns.
    label : str
        The name of the label column.
    repairs : "default", "observed", or dict from column to values
        The candidates of a hole, as in `IncompleteTable`. What looks at whole rows, or is a
        function of all values of a column, takes a table in memory.
    prior : "label", "observed", "uniform", LabelPrior, or dict
        How likely each candidate is; without functions and without "holoclean".
    kinds, scaling, weights, categories, null_tokens, drop_unlabelled
        As in `IncompleteTable`.
    drop_empty : bool
        Leave out rows with nothing but a label, which are refused otherwise.
    space : {"plain", "forest", "random"} or LeafSpace
        As in `IncompleteTable`. Trees are learnt from a random sample of `LeafSpace.max_rows` rows,
        50,000 by default; a table with no more rows has the trees of an `IncompleteTable`.
    max_exact, n_draws, random_state
        As in `IncompleteTable`; the draws of a row depend on its number in all files.
    drop : iterable of str
        Columns that play no part.
    memory : int or str
        What work on a batch of rows may take, in bytes or as in "256 MB". The process itself, the
        libraries and the rows that are kept come on top of it.
    sep, encoding, decimal : str
        How text files are written, if not with commas (tabs in .tsv files), in UTF-8 and with
        decimal points.
    progress : bool, or function of words and a share, optional
        Whether to show a progress bar; by default on a terminal.

    Attributes
    ----------
    n_rows : int
    names : tuple of str
        The feature columns.
    classes, class_sizes : ndarray and list of int
        The labels, sorted, and how many rows have each.
    label_runs : int
        How many runs of equal labels the rows are in: as many as classes, if they are sorted.
    n_dirty, n_open, n_drawn : int
        Rows with a hole, with more than one candidate, and with so many that they are drawn.
    columns : tuple of Column
        They say what was found in the columns, and have no rows.
    report : tuple of ColumnReport
        What each column is, and what was decided about it; distinct numbers are counted up to
        100,000.
    space : TableSpace
    recipe : RowRecipe
        All that is needed to encode rows, here or elsewhere.
    source : TableSource
        The files.
    mark : SourceMark
        What the files are known by. Every reading compares it: changed files are refused.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> frame = pd.DataFrame({"age": [18, None, 65], "city": ["A", "B", "A"], "buys": [0, 1, 1]})
    >>> frame.to_csv(f"{folder.name}/people.csv", index=False)
    >>> table = StreamedTable(f"{folder.name}/*.csv", label="buys")
    >>> table
    StreamedTable(3 rows x 2 columns in 1 file, 1 row with holes, 5 worlds)
    >>> table.row(1), table.where(1)[1]
    ({'age': None, 'city': 'B'}, 1)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        files: Any,
        label: str,
        repairs: Any = "default",
        prior: Any = "label",
        *,
        kinds: Mapping[str, str] | None = None,
        scaling: str = "minmax",
        weights: Mapping[str, float] | None = None,
        categories: Mapping[str, Iterable[Any]] | None = None,
        null_tokens: Iterable[str] = (),
        space: Any = "plain",
        max_exact: int | None = None,
        n_draws: int | None = None,
        random_state: int = 0,
        drop_unlabelled: bool = False,
        drop_empty: bool = False,
        drop: Iterable[str] = (),
        memory: int | str = "256 MB",
        sep: str | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
        progress: Shown = None,
    ) -> None:
        leaves = chosen_space(space)
        if leaves is not None and not isinstance(leaves, LeafSpace):
            raise TableError(
                'space of a StreamedTable must be "plain", "forest", "random" or a LeafSpace; got '
                f"a fitted {type(space).__name__}. Give it to an IncompleteTable.",
                field="space",
            )
        limit, draws = usual_limits(leaves is not None)
        drawing = Drawing(
            limit if max_exact is None else max_exact,
            draws if n_draws is None else n_draws,
            random_state,
        )
        repair = checked_repair(repairs, prior)
        self.leaves, self.memory = leaves, memory_limit(memory)
        self.null_tokens, self.label = stripped(null_tokens), str(label)
        kinds = dict(kinds or {})
        layout = TextLayout.checked(sep, encoding, decimal, self.null_tokens)
        self.source: TableSource = (
            files
            if isinstance(files, ParquetSource | CsvSource)
            else open_source(files, self.label, kinds, layout)
        )
        reader = BatchReader(
            self.source,
            _features(self.source.names, self.label, drop),
            self.label,
            kinds,
            self.null_tokens,
            drop_unlabelled,
            drop_empty,
        )
        look = looked_at(reader, self.memory, scaling == "standard", progress)
        if look.empty and not repair.by_column:  # listed values may be meant for such a row
            raise TableError(
                "every row needs at least one value; nothing is known of row "
                f"{offenders(look.empty)}.",
                "Pass drop_empty=True to leave these rows out.",
                field="drop_empty",
                rows=look.empty,
            )
        _warn_rounded(look.columns)
        columns = with_kinds_of_candidates(look.columns, repair, kinds)
        decided = {one.name: one.kind for one in columns if one.name in self.source.texts}
        decided |= {one.name: one.kind for one in columns if not one.n_observed}
        reader = replace(look.reader, kinds={**decided, **look.reader.kinds})
        self.columns, self.names = tuple(columns), reader.names
        self.classes, self.n_rows, self.n_holes = look.classes, look.n_rows, look.n_holes
        self.n_dirty, self.class_sizes = look.n_dirty, look.sizes
        self.together, self.label_runs = look.together, look.label_runs
        options = self._options(repair, columns)
        self.column_values = listed_values(repair, columns, options)
        lists = _lists(options, len(columns))
        proposed = {
            cell: list(dict.fromkeys(own.flat.tolist()))
            for cell, own in enumerate(lists)
            if len(own)
        }
        warn_about(columns, proposed, self.classes)
        self.space: TableSpace
        if leaves is None:
            self.space = fit_plain_space(columns, proposed, scaling, weights, categories)
        else:
            self.space = leaves.features(columns, proposed, weights, categories, drawing.seed)
        self.recipe = RowRecipe(
            reader=reader,
            columns=self.columns,
            lists=lists,
            space=self.space,
            trees=None,
            prior=prior,
            counts=ClassCounts(columns, len(self.classes), {}),
            classes=self.classes,
            drawing=drawing,
            memory=self.memory,
        )
        self.completer = Completer(
            self.columns,
            np.zeros((0, len(columns)), dtype=bool),
            replace(self.recipe.options(np.zeros((0, len(columns)), dtype=bool)), by_column=lists),
            self.column_values,
            self.recipe.counts.as_one_class(),
        )
        counts, self.n_open, self.n_drawn = counted(self.recipe, self._limits(lists), progress)
        self.recipe = replace(self.recipe, counts=counts)
        self.completer = self.completer.seeing(counts.as_one_class())
        if leaves is not None:
            trees = learnt_trees(self.recipe, leaves, self.n_rows, progress)
            self.recipe = replace(self.recipe, trees=trees)

    def shuffled(self, random_state: int = 0) -> Self:
        """The same table with its rows in a random order, as `IncompleteTable.shuffled` has them.

        At equal distances the row that comes first is nearer, and in leaves many rows tie. Shuffle
        a table that may be sorted by its label. Rows keep their numbers, and nothing is read.
        """
        made = copy(self)
        seed = Drawing(seed=random_state).seed  # or an error
        made.recipe = replace(self.recipe, seed=seed)
        return made

    # -- looking ---------------------------------------------------------------------------

    @property
    def mark(self) -> SourceMark:
        return self.source.mark

    @cached_property
    def files(self) -> TableFiles:
        """The files, without anything that was learnt of their rows."""
        return TableFiles(self.recipe.reader)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The rows in pieces that can be read one by one, also by other processes."""
        return self.source.pieces

    @property
    def drawing(self) -> Drawing:
        return self.recipe.drawing

    @property
    def is_exact(self) -> bool:
        """Whether shares are exact, because no row is represented by draws."""
        return not self.n_drawn

    @cached_property
    def n_worlds(self) -> int:
        """The exact number of worlds."""
        pairs = zip(self.recipe.sizes().tolist(), self.n_holes, strict=True)
        return math.prod(int(size) ** count for size, count in pairs)

    @cached_property
    def counts(self) -> RowCounts:
        """How many rows of all files are what."""
        return RowCounts(
            n_rows=self.n_rows,
            n_dirty=self.n_dirty,
            n_holes=tuple(self.n_holes),
            n_distinct=tuple(column.n_distinct for column in self.columns),
            class_sizes=tuple(self.class_sizes),
            together=self.together,
            files=self.mark.digest,
        )

    @cached_property
    def report(self) -> tuple[ColumnReport, ...]:
        return tuple(
            ColumnReport(
                column.name,
                column.kind,
                self.n_holes[number],
                column.n_distinct,
                self.space.decisions[number],
            )
            for number, column in enumerate(self.columns)
        )

    def where(self, row: int) -> tuple[str, int]:
        """The file that a row is in, and its number there, counted from 0."""
        return self.files.where(row)

    def row(self, row: int) -> dict[str, Any]:
        """The raw values of a row, None where there is a hole; its part of the file is read."""
        found = self.rows([row])
        return {column.name: column.shown(column.values[0]) for column in found.columns}

    def rows(self, rows: Iterable[int]) -> SomeRows:
        """Some rows, in the table's order; the parts of the files that they are in are read."""
        wanted = np.unique([self.files.checked(row) for row in rows])
        parts = []
        for piece in self.pieces:
            own = wanted[(wanted >= piece.first) & (wanted < piece.first + piece.n_rows)]
            if not len(own):
                continue
            for batch in self.recipe.reader.batches(piece, self.recipe.at_once):
                places = np.flatnonzero(np.isin(batch.rows, own))
                if len(places):
                    parts.append(self.recipe.encoded(batch.take(places)))
        if sum(len(one.numbers) for one in parts) < len(wanted):
            there = np.concatenate([np.empty(0, np.int64), *(one.numbers for one in parts)])
            lacking = np.setdiff1d(wanted, there).tolist()
            raise UnknownRowError(f"row {offenders(lacking)} has no label and was left out.")
        return self.marked(SomeRows.joined(parts))

    def check(self, row: int | None = None) -> None:
        """Refuse files that have changed since the table was made: all, or the one of a row."""
        self.files.check(row)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Out of a pickle, the table is that of the same files, or refused."""
        self.__dict__.update(state)
        self.check()

    # -- encoding --------------------------------------------------------------------------

    @cached_property
    def empty(self) -> IncompleteTable:
        """A table of one row that reads and encodes points as this table does."""
        for piece in self.pieces:
            for batch in self.recipe.reader.batches(piece, 1):
                rows = self.marked(self.recipe.encoded(batch))
                return self.table_of(rows, WholeFacts(n_rows=self.n_rows))
        raise TableError("the files have no rows.")

    def encode(self, frame: Any) -> npt.NDArray[np.float64]:
        """As `IncompleteTable.encode`."""
        return self.empty.encode(frame)

    def points(self, frame: Any, completions: Any = "observed", **options: Any) -> Points:
        """As `IncompleteTable.points`; completions without functions and "holoclean"."""
        return self.empty.points(frame, completions, **options)

    def session_points(self, frame: Any) -> Points:
        """As `IncompleteTable.session_points`."""
        return self.empty.session_points(frame)

    def points_in_parts(self, frame: Any, *args: Any, **options: Any) -> Iterator[Points]:
        """As `IncompleteTable.points_in_parts`."""
        yield from self.empty.points_in_parts(frame, *args, **options)

    def table_of(self, rows: SomeRows, whole: WholeFacts) -> IncompleteTable:
        """Some rows as a table that stands for this one; `rows_kept` has their numbers."""
        holes = np.column_stack([column.missing for column in rows.columns])
        alone = self.recipe.dataset(rows)
        others = self.n_worlds // alone.n_worlds, self.n_open - len(alone.dirty_rows)
        data = self.recipe.dataset(rows, whole.elsewhere(*others))
        parts = TableParts(
            null_tokens=self.null_tokens,
            label=self.label,
            frame_kind=FrameKind("pyarrow", (*self.names, self.label)),
            rows_kept=rows.numbers,
            columns=tuple(
                own.saying(like.facts) for own, like in zip(rows.columns, self.columns, strict=True)
            ),
            holes=holes,
            options=self.recipe.options(holes),
            space=self.space,
            dataset=data,
            column_values=self.column_values,
            leaves=self.leaves,
            all_rows=self.counts,
        )
        return IncompleteTable.from_parts(parts, self.completer)

    # -- plumbing --------------------------------------------------------------------------

    def marked(self, rows: SomeRows) -> SomeRows:
        """Rows whose columns say what the whole columns are."""
        columns = tuple(
            replace(like, values=own.values)
            for like, own in zip(self.columns, rows.columns, strict=True)
        )
        return replace(rows, columns=columns)

    def _options(self, repair: Any, columns: list[Column]) -> TableOptions:
        holes = np.array([[count > 0 for count in self.n_holes]])
        return checked_options(repair.propose(columns, holes), columns, holes)

    def _limits(self, lists: tuple[Any, ...]) -> dict[int, npt.NDArray[np.float64]]:
        """Between which values numbers are counted, for the holes of rows and of points."""
        found = {}
        for cell, column in enumerate(self.columns):
            if column.kind == "categorical" or self.space.features[cell] is None:
                continue
            of_points = self.completer.values(cell).flat.tolist()
            of_rows = [own.tolist() for own in lists[cell]]
            found[cell] = np.unique(np.concatenate([*map(middles, of_rows), middles(of_points)]))
        return found

    def __repr__(self) -> str:
        n_files = len(self.source.files)
        return (
            f"StreamedTable({self.n_rows:,} row{'s' * (self.n_rows != 1)} x {len(self.columns)} "
            f"columns in {n_files} file{'s' * (n_files != 1)}, {self.n_dirty:,} "
            f"row{'s' * (self.n_dirty != 1)} with holes, {world_count_text(self.n_worlds)})"
        )


def _features(names: tuple[str, ...], label: str, drop: Iterable[str]) -> tuple[str, ...]:
    left_out = {drop} if isinstance(drop, str) else set(drop)
    if unknown := sorted(left_out - set(names)):
        raise TableError(f"drop names columns that are not there: {offenders(map(repr, unknown))}.")
    if label not in names or label in left_out:
        told = offenders(map(repr, names), 8)
        raise TableError(f"there is no label column {label!r}; the columns are {told}.")
    found = tuple(name for name in names if name != label and name not in left_out)
    if not found:
        raise TableError(f"besides the label {label!r} a table needs at least one column.")
    return found


def _lists(options: TableOptions, n_columns: int) -> tuple[Any, ...]:
    return tuple(
        options.by_column[cell] if cell < len(options.by_column) else Ragged.of([])
        for cell in range(n_columns)
    )


def _warn_rounded(columns: list[Column]) -> None:
    if rounded := [column.name for column in columns if column.rounded]:
        warnings.warn(
            TableWarning(
                "whole numbers beyond 2**53 are rounded in column "
                f"{offenders(map(repr, rounded))}.",
                f'If they are identifiers: kinds={{{rounded[0]!r}: "categorical"}}, or drop them.',
                field="kinds",
                column=rounded[0],
            ),
            stacklevel=3,
        )
