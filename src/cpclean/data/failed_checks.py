"""Cells that failed a check of pandera, as suspects of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from cpclean.data.frames import distinct_names, is_frame, kind_of_frame
from cpclean.data.nulls import is_null
from cpclean.errors import TableError, TableWarning, offenders, warn_caller

_NEEDED = ("schema_context", "column", "check", "index")
_HOLE = "not_nullable"  # pandera's name for the check that finds nulls


class _Case(NamedTuple):
    check: str
    column: str | None  # None: of whole rows
    label: str | None  # what the frame calls the row; None: of no single row


def suspects_from_pandera(
    failures: Any, frame: Any, columns: Mapping[str, Sequence[str]] | None = None
) -> Any:
    """The cells that failed a check of pandera, as `suspects` of an `IncompleteTable`.

    Parameters
    ----------
    failures : pandera.errors.SchemaErrors, or its failure_cases
        What ``schema.validate(frame, lazy=True)`` raises.
    frame : pandas or polars frame
        The frame that was validated. Rows are found by their labels in its index, which have to
        be distinct; in polars by their numbers.
    columns : dict from the name of a check to column names, optional
        Which cells a check of whole rows casts doubt on.

    Returns
    -------
    A frame of bools of the same library, with the columns and the index of `frame`: True where a
    cell is doubted. Change it as you like. The label may be among its columns; a table ignores it
    there, because labels are not doubted.

    Warns
    -----
    TableWarning
        About failures that doubt no cell and are left out: checks of whole rows that are not in
        `columns`, a wrong dtype, a column that is missing or not expected, and checks of the index.

    Notes
    -----
    Nulls that the schema does not allow are left out, too: they are holes already. If values
    have to be unique, all cells that share one are doubted.

    Examples
    --------
    >>> import pandas as pd
    >>> from cpclean import IncompleteTable, suspects_from_pandera
    >>> frame = pd.DataFrame({"age": [18, 300, 65], "buys": [0, 1, 1]}, index=["a", "b", "c"])
    >>> failures = pd.DataFrame(  # as pandera has them
    ...     {
    ...         "schema_context": ["Column"],
    ...         "column": ["age"],
    ...         "check": ["in_range(0, 120)"],
    ...         "failure_case": [300],
    ...         "index": ["b"],
    ...     }
    ... )
    >>> suspects = suspects_from_pandera(failures, frame)
    >>> suspects["age"].tolist()
    [False, True, False]
    >>> IncompleteTable(frame, label="buys", suspects=suspects).candidates(1)[0]
    {'age': 300}
    """
    if not is_frame(frame):
        raise TableError(
            "frame must be the pandas or polars frame that pandera validated; got "
            f"{type(frame).__name__}."
        )
    names, kind = distinct_names(frame), kind_of_frame(frame)
    of_rows = {
        str(check): [str(one) for one in listed] for check, listed in (columns or {}).items()
    }
    known = set(names)
    if unknown := [one for listed in of_rows.values() for one in listed if one not in known]:
        raise TableError(
            f"columns names {offenders(map(repr, unknown))}, which the frame does not have.",
            field="columns",
        )
    n_rows = nw.from_native(frame, eager_only=True).shape[0]
    rows = _Rows([kind.label(row) for row in range(n_rows)])
    mask = {name: np.zeros(n_rows, dtype=bool) for name in names}
    left_out: dict[str, None] = {}
    cases = list(_cases(failures))
    for case in cases:
        doubted = [case.column] if case.column is not None else of_rows.get(case.check, [])
        if case.label is None or not doubted:
            left_out[_said(case)] = None
            continue
        if strange := [one for one in doubted if one not in known]:
            raise TableError(
                f"check {case.check!r} failed in column {offenders(map(repr, strange))}, which "
                "the frame does not have. Pass the frame that was validated.",
                column=strange[0],
            )
        for name in doubted:
            mask[name][rows.number(case.label)] = True
    if never := [check for check in of_rows if check not in {case.check for case in cases}]:
        raise TableError(
            f"columns names the check {offenders(map(repr, never))}, which did not fail. Failed: "
            f"{offenders(sorted({repr(case.check) for case in cases})) or 'none'}.",
            field="columns",
        )
    if left_out:
        warn_caller(
            TableWarning(
                f"left out, because they doubt no single cell: {offenders(left_out)}.",
                "For a check of whole rows, say which of their cells are doubted: "
                'columns={"check": ["column", ...]}.',
                field="columns",
            )
        )
    return kind.frame({name: own.tolist() for name, own in mask.items()}, np.arange(n_rows))


class _Rows:
    """Which row has a label, by the label's text: pandera and files may change its type."""

    def __init__(self, labels: Sequence[Any]) -> None:
        self._numbers: dict[str, list[int]] = {}
        for row, label in enumerate(labels):
            self._numbers.setdefault(_text(label), []).append(row)

    def number(self, label: str) -> int:
        found = self._numbers.get(label, [])
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(
                f"{len(found)} rows of the frame are called {label!r} in its index, so it is not "
                "known which of them failed. Validate frame.reset_index(drop=True).",
                rows=found,
            )
        raise TableError(
            f"the failure cases name row {label!r}, which is not in the frame's index. Pass the "
            "frame that was validated."
        )


def _cases(failures: Any) -> Iterator[_Case]:
    given = getattr(failures, "failure_cases", failures)
    names = set(distinct_names(given)) if is_frame(given) else set()
    if lacking := [name for name in _NEEDED if name not in names]:
        raise TableError(
            "failures must be pandera's SchemaErrors or their failure_cases, with the columns "
            f"{', '.join(_NEEDED)}; lacking: {', '.join(lacking)}. Validate with lazy=True."
        )
    table = nw.from_native(given, eager_only=True)
    for context, column, check, label in zip(
        *(table[name].to_list() for name in _NEEDED), strict=True
    ):
        if check == _HOLE:
            continue
        of_cell = context == "Column" and not is_null(column)
        of_row = context in ("Column", "DataFrameSchema") and not is_null(label)
        yield _Case(
            str(check), _text(column) if of_cell else None, _text(label) if of_row else None
        )


def _text(label: Any) -> str:
    if isinstance(label, tuple):  # of several levels; pandera has them as the text of a tuple
        return str(tuple(one.item() if isinstance(one, np.generic) else one for one in label))
    whole = isinstance(label, float | np.floating) and float(label).is_integer()
    return str(int(label)) if whole else str(label)


def _said(case: _Case) -> str:
    where = "" if case.column is None else f" of column {case.column!r}"
    return f"{case.check}{where}"
