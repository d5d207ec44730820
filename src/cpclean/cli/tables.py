"""Tables in: from the files that a person names to a table with holes and points to predict."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.mistakes import Mistake, in_options
from cpclean.cli.options import KINDS, Training, Validation
from cpclean.cli.output import check_package
from cpclean.cli.texts import check_separated, reading, way_out

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cpclean.data.table import IncompleteTable

# More columns than this are refused: each is at least one dimension of the space, and every
# distance becomes much like every other.
MAX_COLUMNS = 2000
# From so many rows on, numbers that nearly all differ are measurements and no labels.
MIN_MEASURED = 10


@dataclass(frozen=True)
class Problem:
    """A table with holes, and complete rows to predict with it.

    Rows are numbered as in the files: 0 is the first one below the header.
    """

    table: IncompleteTable
    rows: NDArray[np.int64]  # the number in the file of each row of the table
    points: Any  # a frame of features
    labels: NDArray[Any] | None  # of the points, if they are known
    point_rows: NDArray[np.int64]  # the number in the file of each point
    frame: Any  # the training file as it was read, the held out rows included

    @property
    def whole(self) -> Any:
        """The training file as a frame; where it lists domains, with holes in their place."""
        return getattr(self.frame, "frame", self.frame)

    @property
    def row_of(self) -> dict[int, int]:
        """From the number in the file to the row of the table."""
        return {number: row for row, number in enumerate(self.rows.tolist())}


def read_frame(file: str, given: Training) -> Any:
    """A file, or standard input if it is "-", without the columns that are dropped."""
    from cpclean.errors import TableError
    from cpclean.intake.reading import read_csv, read_table

    check_package(file, "reading")
    kinds = kinds_of(given)
    options: dict[str, Any] = {"null_tokens": given.null, "kinds": kinds, "domains": given.domains}
    options |= reading(file, given)
    try:
        # Bytes: how standard input is encoded is not for the terminal to say.
        found = (
            read_csv(sys.stdin.buffer, **options) if file == "-" else read_table(file, **options)
        )
    except TableError as problem:
        told = str(problem).rstrip(".")
        if hint := way_out(file, given, told):
            raise Mistake(in_options(f"{told}. {hint}")) from problem
        raise
    frame = found.frame if given.domains else found
    check_separated(list(frame.columns), file, given)
    if len(frame.columns) > MAX_COLUMNS:
        raise Mistake(
            f"{file} has {len(frame.columns):,} columns; the most is {MAX_COLUMNS:,}. Among so "
            "many, all rows are about equally far from each other: leave out those that say "
            "nothing about the label."
        )
    return found


def kinds_of(given: Training) -> dict[str, str]:
    """The kinds that were named for columns."""
    found = {}
    for text in given.kind:
        column, _, kind = text.rpartition("=")
        if not column or kind not in KINDS:
            raise Mistake(f"--kind takes COLUMN=KIND, one of {', '.join(KINDS)}; got {text!r}.")
        found[column] = kind
    return found


def open_table(given: Training) -> Problem:
    """The training table alone; there are no points."""
    frame = _without(read_frame(given.file, given), given)
    check_rows(frame, given, given.file)
    return _problem(frame, given, None, None, None)


def open_problem(given: Training, validation: Validation) -> Problem:
    """The training table, and validation points from a file or held out."""
    import numpy as np

    from cpclean.intake.holding import empty_columns

    if validation.val == given.file == "-":
        raise Mistake("only one of the two files can be standard input.")
    frame = _without(read_frame(given.file, given), given)
    check_rows(frame, given, given.file)
    if validation.val is not None:
        empty = empty_columns(getattr(frame, "frame", frame))
        points, labels, kept = read_points(validation.val, given, empty)
        return _problem(frame, given, points, labels, kept)
    columns = getattr(frame, "frame", frame)
    if given.label not in columns or columns[given.label].isna().all():
        return _problem(frame, given, None, None, None)  # which tells
    if given.domains:
        raise Mistake("with --domains, name the validation rows with --val.")
    held = _held_out(frame, given, validation)
    rest = np.setdiff1d(np.arange(len(frame)), held)
    points = frame.iloc[held].drop(columns=given.label)
    labels = frame[given.label].iloc[held].to_numpy()
    return _problem(frame, given, points, labels, held, rest)


def read_points(
    file: str, given: Training, empty: list[Any] | None = None
) -> tuple[Any, NDArray[Any] | None, NDArray[np.int64]]:
    """Complete rows to predict: features, labels if the file has them, numbers in the file.

    Columns that are empty in the training table play no part, and may be so here.
    """
    import numpy as np

    frame = _without(read_frame(file, given), given, forgiving=True)
    frame = frame.frame if given.domains else frame
    _check_finite(frame, file)
    labels = None
    if given.label in frame.columns:
        column = frame[given.label]
        if column.notna().all():
            labels = column.to_numpy()
        elif column.notna().any():
            click.echo(
                f"Note: {int(column.isna().sum())} of {len(column)} rows of {file} have no label, "
                "so that accuracy is not told.",
                err=True,
            )
        frame = frame.drop(columns=given.label)
    needed = frame.drop(columns=empty or [], errors="ignore")
    kept = np.flatnonzero(needed.notna().all(axis=1).to_numpy())
    if not len(kept):
        raise Mistake(f"every row of {file} has holes; points to predict have to be complete.")
    if len(kept) < len(frame):
        click.echo(
            f"Note: {len(frame) - len(kept)} of {len(frame)} rows of {file} have holes and are "
            "left out: points to predict have to be complete.",
            err=True,
        )
    return frame.iloc[kept], None if labels is None else labels[kept], kept


def _held_out(frame: Any, given: Training, validation: Validation) -> NDArray[np.int64]:
    """Complete rows, at random; training keeps the rest."""
    from cpclean.intake.holding import complete_rows, held_out

    complete = complete_rows(frame)
    wanted = round(validation.val_share * len(frame))
    if not len(complete):
        raise Mistake(
            f"no row of {given.file} is complete, so that none can be held out to validate with. "
            "Name complete rows with --val."
        )
    if not wanted:
        raise Mistake(
            f"--val-share {validation.val_share:g} of {len(frame)} rows is none; take a larger "
            "share, or name rows with --val."
        )
    if wanted > len(complete):
        click.echo(
            f"Note: {wanted} rows were to be held out, but only {len(complete)} are complete; "
            f"{max(1, len(complete) // 2)} of them are.",
            err=True,
        )
    held = held_out(complete, frame[given.label], wanted, validation.seed)
    if not len(held):
        raise Mistake(
            f"every label of {given.file} is on one row only, so that none can be held out to "
            "validate with. Name complete rows with --val."
        )
    return held


def _without(found: Any, given: Training, forgiving: bool = False) -> Any:
    """Leave out the columns that are dropped; a file of points need not have them."""
    from dataclasses import replace

    frame = found.frame if given.domains else found
    absent = [name for name in given.drop if name not in frame.columns]
    if absent and not forgiving:
        raise Mistake(
            f"there is no column {absent[0]!r} to drop; the columns are "
            f"{', '.join(map(repr, list(frame.columns)[:8]))}."
        )
    if given.label in given.drop:
        raise Mistake(f"the label column {given.label!r} cannot be dropped.")
    left = frame.drop(columns=[name for name in given.drop if name in frame.columns])
    return replace(found, frame=left) if given.domains else left


def check_rows(found: Any, given: Training, file: str) -> None:
    """Refuse rows that cannot be used, by their numbers in the file.

    Building the table would refuse them too, but counts its rows without those held out.
    """
    from cpclean.errors import offenders

    frame = found.frame if given.domains else found
    if given.label not in frame.columns:
        return  # building the table tells
    _check_classes(frame[given.label], given, file)
    unlabelled = frame[given.label].isna().to_numpy()
    if unlabelled.any() and not unlabelled.all() and not given.drop_unlabelled:
        raise Mistake(
            f"every row of {file} needs a label; missing in row "
            f"{offenders(unlabelled.nonzero()[0].tolist())}. Pass --drop-unlabelled to leave these "
            "rows out."
        )
    features = frame.drop(columns=given.label)
    _check_finite(features, file)
    empty = features.isna().all(axis=1).to_numpy() & ~unlabelled
    if empty.any() and not given.domains and len(features.columns):
        raise Mistake(
            f"every row of {file} needs at least one value besides its label; nothing is known of "
            f"row {offenders(empty.nonzero()[0].tolist())}. Take these rows out of the file."
        )


def _check_classes(labels: Any, given: Training, file: str) -> None:
    """Refuse a column of measurements: what is predicted is one of a few labels."""
    import pandas as pd

    known = labels.dropna()
    if not pd.api.types.is_float_dtype(known) or len(known) < MIN_MEASURED:
        return
    broken = bool((known % 1 != 0).any())
    if broken and known.nunique() > len(known) / 2:
        raise Mistake(
            f"the label column {given.label!r} of {file} has {known.nunique():,} different numbers "
            f"in {len(known):,} rows, as measurements do. What is predicted is one of a few "
            "labels: name another column, or put ranges such as low and high in its place."
        )


def _check_finite(frame: Any, file: str) -> None:
    import numpy as np

    from cpclean.errors import offenders

    for name, column in frame.select_dtypes("number").items():
        infinite = np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if infinite.any():
            raise Mistake(
                f"column {str(name)!r} of {file} has infinite values in row "
                f"{offenders(infinite.nonzero()[0].tolist())}. Empty these cells, which makes them "
                "holes, or put numbers in their place."
            )


def _problem(
    frame: Any,
    given: Training,
    points: Any,
    labels: Any,
    point_rows: Any,
    rest: Any = None,
) -> Problem:
    from cpclean.data.table import IncompleteTable

    kinds = {name: kind for name, kind in kinds_of(given).items() if name not in given.drop}
    table = IncompleteTable(
        frame if rest is None else frame.iloc[rest],
        label=given.label,
        repairs=given.repairs,
        prior=given.prior,
        kinds=kinds,
        null_tokens=given.null,
        drop_unlabelled=given.drop_unlabelled,
    )
    rows = table.rows_kept if rest is None else rest[table.rows_kept]
    return Problem(table, rows, points, _as_classes(labels, table), point_rows, frame)


def _as_classes(labels: NDArray[Any] | None, table: IncompleteTable) -> NDArray[Any] | None:
    """Labels as the training table has them: a file of numbers alone is not read as text is."""
    import numpy as np

    if labels is None:
        return None
    classes = table.dataset.classes.tolist()
    spelled = {str(one): one for one in classes}
    found = [one if one in classes else spelled.get(str(one), one) for one in labels.tolist()]
    return np.array(found) if len({type(one) for one in found}) == 1 else labels
