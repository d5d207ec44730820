"""IncompleteTable: a dataframe with holes as an incomplete dataset, and back to raw values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cpclean.data.cell_priors import CellPriors
from cpclean.data.column_report import ColumnReport, report_html, warn_about
from cpclean.data.columns import Column
from cpclean.data.completions import Completer, listed_values
from cpclean.data.domains import Domains, DomainTable, plain_frame
from cpclean.data.drawing import N_DRAWS, Drawing
from cpclean.data.encoded_rows import encoded_rows
from cpclean.data.frames import columns_from, kind_of_frame
from cpclean.data.incomplete import IncompleteDataset
from cpclean.data.labels import encode_labels, labelled_rows, split_label
from cpclean.data.large_counts import count_text, world_count_text
from cpclean.data.nulls import stripped
from cpclean.data.other_frames import as_trained, check_complete
from cpclean.data.points import MAX_COMPLETIONS, Points, in_parts
from cpclean.data.priors import prior_beside
from cpclean.data.proposals import (
    checked_options,
    in_space,
    proposed_values,
    with_present,
)
from cpclean.data.repairs import (
    ColumnValues,
    Imputers,
    frame_and_repair,
    with_kinds_of_candidates,
)
from cpclean.data.row_arrays import RowArrays
from cpclean.data.row_counts import RowCounts
from cpclean.data.row_options import Options, TableOptions
from cpclean.data.row_order import random_order, reordered
from cpclean.data.rows import Bools, Floats, is_whole
from cpclean.data.session_drawing import session_drawing
from cpclean.data.spaces.fitted_space import chosen_space
from cpclean.data.spaces.plain import fit_plain_space
from cpclean.data.spaces.table_space import TableSpace
from cpclean.data.suspects import blanked, suspect_mask
from cpclean.data.table_parts import TableParts
from cpclean.errors import TableError, UnknownRowError, offenders

# Candidates of a row up to which going through all of them pays: four holes of five values.
# docs/results/holes.md says how it was chosen.
MAX_EXACT = 5**4
# Among leaves, each candidate is a number per tree: three holes of five values.
MAX_EXACT_LEAVES = 5**3
# More neighbours vote there, and shares depend less on each: so many draws are as close.
N_DRAWS_LEAVES = 64

# Candidates of a row are listed up to this many: eight holes of five values.
MOST_CANDIDATES = 5**8


def usual_limits(is_among_leaves: bool) -> tuple[int, int]:
    """Up to how many candidates rows are gone through by default, and by how many draws beyond."""
    return (MAX_EXACT_LEAVES, N_DRAWS_LEAVES) if is_among_leaves else (MAX_EXACT, N_DRAWS)


class IncompleteTable:
    """A table with holes: candidates for every hole, their priors, and the encoded space.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, 2-d array, or DomainTable
        The features, and the label column unless `label` is a sequence. Nulls are holes. A
        DomainTable, which `read_csv(path, domains=True)` returns, has its own repairs.
    label : str or sequence
        The name of the label column, or one label per row.
    repairs : "default", "observed", "holoclean", list of imputers, dict, or object with `propose`
        The candidates of a hole. "default": five values of a numeric column (minimum, lower
        quartile, mean, upper quartile, maximum), or the four most frequent categories and "other";
        a row with several holes has all combinations. "observed": every observed value of the
        column, so that what is certain is so for all of them. "holoclean": the values that
        HoloClean considers, given the row's other cells. A list of scikit-learn imputers or of
        completed frames: each is one version of the table. A dict from column to values, or to a
        function of the column; other columns get the default. A column without any observed value
        takes the kind of the values that are listed for it; if none are, it is ignored.
    prior : "label", "observed", "uniform", "holoclean", "frequency", function, or dict
        How likely each candidate is; see `cpclean.data.priors`.
    suspects : bool array of shape (n_rows, n_columns), or list of (row, column name), optional
        Cells whose value is doubtful; rows are numbered as in the frame. If the mask is a frame,
        its columns are matched by name. The candidates of such a cell are the present value, and
        then those of the repair.
    kinds : dict from column name to kind, optional
        "numeric", "categorical", "boolean", "date" or "duration", if the detected kind is wrong.
        Numbers are doubles: integers beyond 2**53 are rounded, with a warning; as "categorical"
        they stay exact.
    scaling : {"minmax", "standard", "none"}
        How numbers are scaled; fitted to the observed cells.
    weights : dict from column name to float, optional
        How much a column counts; 0 leaves it out.
    categories : dict from column name to values, optional
        Categories that points may have although they do not occur in this table.
    null_tokens : iterable of str
        Texts that mean a missing value, such as "?"; spaces around them are ignored. A token that
        is a number, such as "-999", also matches numbers equal to it.
    space : {"plain", "forest", "random"}, LeafSpace, or a fitted object
        Where distances are measured. "plain": scaled columns. "forest": the leaves of a random
        forest that is learnt from worlds drawn with the prior, far more accurate; two rows are as
        far apart as the number of trees that tell them apart. Scaling means nothing then, and a
        weight is 0 or 1. "random": the same with random splits that look at no label and at
        nothing that fills a hole. A `LeafSpace` says how many trees, and so on. Everything stays
        exact, given the trees. A tree or forest of scikit-learn that was fitted on these columns
        as they are: the leaves of its trees. Any other fitted object with `apply` (leaves per
        tree; or a pipeline that ends in one) or `transform` (vectors, in which the metric measures)
        is called with filled rows, frames if it has `feature_names_in_`, else arrays. What it makes
        of a row with more than `max_exact` candidates is not known: to prove what is certain, such
        a row may be anywhere. It cannot be saved in a project.
    max_exact : int, optional
        A row with more candidates than this is represented by draws from its prior in shares and
        in whatever depends on them; what is certain is proved for all of its candidates. By
        default 625, and 125 in other than the plain space.
    n_draws, random_state : int, optional
        How many draws (160, and 64 among leaves), and their seed. Draws depend on the seed and the
        row alone.
    drop_unlabelled : bool
        Leave out rows whose label is null; otherwise they are an error.

    Attributes
    ----------
    dataset : IncompleteDataset
        The table in the encoded space.
    names : tuple of str
        The feature columns.
    rows_kept : ndarray
        The number of each row in the frame. Ascending, unless the table was `shuffled`.
    report : tuple of ColumnReport
        What each column is, and what was decided about it.
    columns : tuple of Column
        The feature columns as they were read.
    holes : ndarray of shape (n_rows, n_columns)
        Where a cell is null or suspect.
    options : TableOptions
        The candidates of the holes, in stored values; `options_of` returns those of one row.
    space : TableSpace
        How columns become features of the space.
    leaves : LeafSpace or None
        In which trees distances are measured; None in the plain space.
    column_values : dict from column name to stored values
        The values of a point's hole where the repair lists some for the whole column; in other
        columns they are the default ones.
    frame_kind : FrameKind
        What is needed to make a frame of the same kind.
    completer : Completer
        What the holes of points can be.

    Notes
    -----
    Decisions about columns, which `report` and the display in a notebook show:

    * "ignored": nothing is observed and no candidates are listed (with a warning), or all values
      are the same. Such a column is not in the encoded space, and its holes have no candidates.
    * "left out": its weight is 0.
    * "kept, but looks like an identifier": more than 50 categories, and at least 9 of 10 values are
      distinct. "kept, but looks like a row number": more than 50 whole numbers without gaps or
      repetitions. Neither says anything about a new row: drop it, or give it weight 0.
    * "kept, but has many categories": more than 50, each of them a dimension of the space.
    * "kept, but rounded": integers beyond 2**53; see `kinds`.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable
    >>> frame = pd.DataFrame({"age": [18, None, 65], "city": ["A", "B", "A"], "buys": [0, 1, 1]})
    >>> table = IncompleteTable(frame, label="buys", prior="uniform")
    >>> table.row(1)
    {'age': None, 'city': 'B'}
    >>> table.candidates(1)[:2], table.candidate(1, 4)
    ([{'age': 18.0}, {'age': 29.75}], {'age': 65.0})
    """

    def __init__(
        self,
        frame: Any,
        label: Any = None,
        repairs: Any = "default",
        prior: Any = "label",
        suspects: Any = None,
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
    ) -> None:
        leaves = chosen_space(space)
        self.leaves = None if leaves is None else leaves.stated
        self.all_rows: RowCounts | None = None
        limit, draws = usual_limits(leaves is not None)
        limit = limit if max_exact is None else max_exact
        draws = draws if n_draws is None else n_draws
        drawing = Drawing(limit, draws, random_state)
        self.null_tokens = stripped(null_tokens)
        frame, repair = frame_and_repair(frame, repairs, prior)
        columns = columns_from(frame, kinds, self.null_tokens)
        self.frame_kind = kind_of_frame(frame)
        columns, labels, self.label = split_label(columns, label, self.null_tokens)
        columns = with_kinds_of_candidates(columns, repair, kinds or {})
        doubted = suspect_mask(suspects, columns, len(labels))
        self.rows_kept = labelled_rows(labels, drop_unlabelled)
        if isinstance(repair, Domains | Imputers):
            repair = repair.of_rows(self.rows_kept.tolist(), len(labels))
        if len(self.rows_kept) < len(labels):
            columns = [replace(column, values=column.values[self.rows_kept]) for column in columns]
        self.columns = tuple(columns)
        self.names = tuple(column.name for column in self.columns)
        codes, classes = encode_labels(labels[self.rows_kept])
        missing = np.column_stack([column.missing for column in self.columns])
        doubted = doubted[self.rows_kept] & ~missing
        self.holes = missing | doubted
        told = isinstance(repair, ColumnValues) and repair.by_column
        if isinstance(repair, ColumnValues | Imputers) and not told:  # others may know such a row
            self._check_empty_rows(missing)
        # Nothing is learnt from a doubted cell: neither candidates, scales nor priors.
        known = [blanked(column, doubted[:, n]) for n, column in enumerate(self.columns)]
        options = checked_options(repair.propose(known, self.holes), known, self.holes)
        self.column_values = listed_values(repair, known, options)
        self.options = with_present(options, self.columns, doubted)
        proposed = proposed_values(self.options)
        warn_about(known, proposed, classes)
        self.space: TableSpace
        if leaves is None:
            self.space = fit_plain_space(known, proposed, scaling, weights, categories)
        else:
            self.space = leaves.features(known, proposed, weights, categories, drawing.seed)
        priors = CellPriors(prior_beside(repair, prior), known, codes, ~self.holes)
        base = self.space.encode_with_holes(self.columns)
        rows = encoded_rows(base, self._options_in_space, self.space, priors)
        data = IncompleteDataset.from_arrays(rows, codes, classes, drawing)
        if leaves is not None:
            data = leaves.placed(data, self.space, known, self.frame_kind)
        self.dataset = data
        self.completer = self._new_completer()

    @classmethod
    def from_parts(cls, parts: TableParts, completer: Completer | None = None) -> Self:
        """The table that consists of these parts; nothing is computed again.

        Without a completer, holes of points are completed by what is observed in these very rows.
        """
        table = object.__new__(cls)
        for part in fields(TableParts):
            setattr(table, part.name, getattr(parts, part.name))
        table.names = tuple(column.name for column in parts.columns)
        table.completer = completer or table._new_completer()
        return table

    def _new_completer(self) -> Completer:
        return Completer(self.columns, self.holes, self.options, self.column_values)

    @property
    def parts(self) -> TableParts:
        """What the table consists of, to save it, or to make one that differs in some part."""
        return TableParts(**{part.name: getattr(self, part.name) for part in fields(TableParts)})

    def shuffled(self, random_state: int = 0) -> Self:
        """The same table with its rows in a random order; `rows_kept` says where each one was.

        At equal distances the row that comes first is nearer. Shuffle a table that is sorted by its
        label before distances are measured in leaves, or between few distinct rows.
        """
        order = random_order(self.rows_kept, random_state)
        return self.from_parts(reordered(self.parts, order))

    # -- looking ---------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return self.dataset.n_rows

    @property
    def is_exact(self) -> bool:
        """Whether shares are exact, because no row is represented by draws."""
        return self.dataset.is_exact

    def row(self, row: int) -> dict[str, Any]:
        """The raw values of a row, None where there is a hole."""
        self._check_row(row)
        return {column.name: column.shown(column.values[row]) for column in self.columns}

    def candidates(self, row: int) -> list[dict[str, Any]]:
        """The raw values of a row's uncertain cells, candidate by candidate.

        They are numbered as in `dataset`; a clean row has one candidate without uncertain cells.
        A row with many holes has too many to list: `candidate` returns a single one.
        """
        options = self.options_in_space(row)
        if options.n_candidates > MOST_CANDIDATES:
            raise TableError(
                f"row {row} has {count_text(options.n_candidates)} candidates, too many to list. "
                "Look at its cells instead: table.options_of(row), or the cells of a session's "
                "question; table.candidate(row, number) returns a single one.",
                rows=[int(row)],
            )
        return self.some_candidates(row, range(options.n_candidates))

    def candidate(self, row: int, number: int) -> dict[str, Any]:
        """One candidate of a row; its number may be as large as a Python int can be."""
        count = (options := self.options_in_space(row)).n_candidates
        if not is_whole(number) or not 0 <= number < count:
            raise UnknownRowError(
                f"row {row} has candidates 0 to {count - 1}; got candidate {number!r}."
            )
        return options.shown(int(number), self.columns)

    def some_candidates(self, row: int, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Some candidates of a row, by their numbers, which are known to be valid."""
        options = self.options_in_space(row)
        columns = [self.columns[cell] for cell in options.cells]
        shown = [
            list(map(column.shown, values))
            for column, values in zip(columns, options.values, strict=True)
        ]
        return [
            {
                column.name: values[place]
                for column, values, place in zip(
                    columns, shown, options.places(number), strict=True
                )
            }
            for number in numbers
        ]

    def options_of(self, row: int) -> Options:
        """The candidates of the holes of a row, in stored values; no cells for a clean row."""
        self._check_row(row)
        return self.options.of(int(row))

    def options_in_space(self, row: int) -> Options:
        """As `options_of`, without the cells of columns that are not in the encoded space."""
        self._check_row(row)
        return self._options_in_space.of(int(row))

    @cached_property
    def _options_in_space(self) -> TableOptions:
        inside = [feature is not None for feature in self.space.features]
        return in_space(self.options, np.array(inside))

    @cached_property
    def counts(self) -> RowCounts:
        """How many rows are what; of all rows, if those at hand were gathered from files."""
        return self.all_rows or RowCounts.of(self.columns, self.holes, self.dataset)

    @cached_property
    def report(self) -> tuple[ColumnReport, ...]:
        return tuple(
            ColumnReport(
                column.name,
                column.kind,
                self.counts.n_holes[number],
                self.counts.n_distinct[number],
                self.space.decisions[number],
            )
            for number, column in enumerate(self.columns)
        )

    def encode(self, frame: Any) -> Floats:
        """Complete rows of another frame, with the same columns, as vectors of the space.

        Rows with holes have no one vector; `points` completes them.
        """
        columns = self._read(frame)
        check_complete(columns, self.space)
        return self.space.encode(columns)

    def points(
        self,
        frame: Any,
        completions: Any = "observed",
        *,
        max_completions: int = MAX_COMPLETIONS,
        n_draws: int | None = None,
    ) -> Points:
        """Rows of another frame as points, encoded once: for queries, sessions and tasks.

        A null is a hole, which is completed: the point stands for all combinations of the values
        that its holes can have. Labels play no part, neither those of the points nor those of the
        table. A row that is all holes stands for the mixture of everything observed in the columns.

        Parameters
        ----------
        frame : pandas, polars or pyarrow frame, 2-d array, or DomainTable
            The columns of the table; its label column may be among them, and is ignored. Categories
            that the table does not have are encoded as all zero, with a warning. A DomainTable
            lists the values of its holes itself.
        completions : "observed", "uniform", "holoclean", function, or dict
            How likely each value of a hole is. "observed": the share of the column's observed
            values that are nearest to it. "holoclean": what HoloClean's model of the table infers
            from the point's other cells. A function is called as a `prior` is, with the observed
            values of the whole column in place of those of a class. A dict from column to one of
            these, or to weights of values; other columns get "observed".
        max_completions : int
            A point with more completions than this is represented by draws of them. Draws depend on
            the table's `random_state` and the columns alone, never on the other points.
        n_draws : int, optional
            How many draws; by default as many as of a row of the table.

        Notes
        -----
        The values of a hole are those that the table's `repairs` list for its column: the default
        ones, or those of a dict or of a header with a domain. With other repairs, which look at
        whole rows, they are the default ones too. This holds for columns without a hole in the
        table as well. Holes in columns outside the space do not matter.
        """
        arrays, drawing = self._point_arrays(frame, completions, max_completions)
        if n_draws is not None:
            drawing = replace(drawing, n_draws=n_draws)
        return Points.from_arrays(arrays, drawing)

    def session_points(self, frame: Any) -> Points:
        """The same for a session, which looks at every completion again with every answer.

        Points are drawn sooner and less often than rows are, because what counts in a session is
        the mean over all points; see `session_drawing`.
        """
        arrays, _ = self._point_arrays(frame, "observed", MAX_COMPLETIONS)
        return Points.from_arrays(arrays, session_drawing(self.dataset.drawing, arrays))

    def points_in_parts(
        self, frame: Any, completions: Any = "observed", *, max_completions: int = MAX_COMPLETIONS
    ) -> Iterator[Points]:
        """The same as `points`, in order, some at a time: all completions may take much memory."""
        yield from in_parts(*self._point_arrays(frame, completions, max_completions))

    def _point_arrays(
        self, frame: Any, completions: Any, max_completions: Any
    ) -> tuple[RowArrays, Drawing]:
        if not is_whole(max_completions) or max_completions < 1:
            raise TableError(
                f"max_completions must be an int of at least 1; got {max_completions!r}.",
                field="max_completions",
            )
        columns = self._read(frame)
        base = self.space.encode(columns)
        domains = frame.repairs if isinstance(frame, DomainTable) else None
        arrays = self.completer.arrays(columns, base, self.space, completions, domains)
        return arrays, replace(self.dataset.drawing, max_exact=max_completions)

    def _read(self, frame: Any) -> list[Column]:
        exact = {column.name for column in self.columns if column.kind == "categorical"}
        given = columns_from(plain_frame(frame), None, self.null_tokens, exact)
        own = [column for column in given if self.label is None or column.name != self.label]
        return as_trained(own, self.columns, self.names, self.space)

    def frame_of(self, filled: Iterable[tuple[Column, npt.NDArray[Any]]]) -> Any:
        """A frame of the same kind, label included, with these stored values in its columns.

        Its rows are in the order of the frame that the table was made of, shuffled or not.
        """
        order = np.argsort(self.rows_kept)
        columns = {column.name: column.all_shown(values[order]) for column, values in filled}
        if self.label is not None:
            columns[self.label] = self.dataset.labels[order].tolist()
        return self.frame_kind.frame(columns, self.rows_kept[order])

    def __repr__(self) -> str:
        return (
            f"IncompleteTable({self.n_rows} rows x {len(self.columns)} columns, "
            f"{len(self.dataset.dirty_rows)} rows with holes, "
            f"{world_count_text(self.dataset.n_worlds)})"
        )

    def to_html(self) -> str:
        """What each column is and what was decided about it, as a table for a notebook."""
        return report_html(repr(self), self.report)

    def _repr_html_(self) -> str:
        return self.to_html()

    # -- checks ----------------------------------------------------------------------------

    def _check_empty_rows(self, missing: Bools) -> None:
        empty = np.flatnonzero(missing.all(axis=1))
        if len(empty):
            rows = self.rows_kept[empty].tolist()
            raise TableError(
                f"every row needs at least one value; nothing is known of row {offenders(rows)}. "
                "Drop these rows.",
                rows=rows,
            )

    def _check_row(self, row: Any) -> None:
        if not isinstance(row, int | np.integer) or not 0 <= row < self.n_rows:
            raise UnknownRowError(f"row must be an int in [0, {self.n_rows - 1}]; got {row!r}.")
