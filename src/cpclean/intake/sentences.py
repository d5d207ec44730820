"""Notes in words: the same sentence for everybody, and each reader's own way out."""

from __future__ import annotations

import shlex
import string
from collections.abc import Mapping
from typing import Any, Literal

from cpclean.errors import CPCleanError, TableWarning, offenders
from cpclean.intake.doubt_sentences import DOUBTED
from cpclean.intake.notes import IntakeError, Note
from cpclean.intake.point_sentences import TO_PREDICT
from cpclean.intake.saying import Saying, everywhere

# Who reads it: a programmer, somebody at a terminal, somebody at the page's set-up.
Reader = Literal["python", "terminal", "page"]

_SAVE = "Save the table as CSV in the program that made it"


_FILES = {
    "no_file": everywhere("there is no file {file}; the current folder is {folder!r}."),
    "no_address": everywhere("{file} cannot be fetched: {reason}."),
    "directory": everywhere("{file} is a directory; name a file in it."),
    "suffix": everywhere("path must name a {usable}; got {file}.", f"{_SAVE}."),
    "packed": everywhere(
        "{file} is packed in a way that is not read here.", "Unpack it first, or pack it by gzip."
    ),
    "empty": everywhere("{file} is empty: a table needs column names and rows."),
    "bomb": everywhere(
        "{file} unpacks to more than {limit}.",
        "Leave out columns or rows that play no part, or use cpclean serve with the file on the "
        "server's own machine.",
    ),
    "not_text": everywhere(
        "{file} holds something other than text.",
        f"{_SAVE}, or give the file the ending that belongs to it.",
    ),
    "package": Saying(
        "reading {file} needs a package that is not installed.",
        'Install it: pip install "cpclean[files]".',
        'Install it: pip install "cpclean[files]".',
        f"{_SAVE}, or ask the server's owner to run pip install \"cpclean[files]\".",
    ),
    "unreadable": Saying(
        "{file} cannot be read as {format}: {reason}",
        page=f"{_SAVE}.",
        page_what="{file} cannot be read as {kind} file: it is damaged, or something else.",
    ),
    "chunks": everywhere("{file} must be read as one table, not in chunks or sheets."),
    "encoding": Saying(
        "{file} cannot be read as {format}: {reason}.",
        terminal="It is not {encoding}: save it as UTF-8, or name its encoding, such as "
        "--encoding {likely}.",
        page="Choose another encoding under More settings, or save the file as UTF-8.",
        page_what="{file} has bytes that are not letters in {encoding}.",
        points="Save it as UTF-8.",
        field="encoding",
    ),
    "line_cells": Saying(
        "{file} cannot be read as {format}: {reason}",
        terminal="{separator}",
        page="Put cells that hold the separator in quotes, or choose another separator under More "
        "settings.",
        page_what="line {line} of {file} has {seen} cells, where {expected} are expected.",
        points="Put cells that hold the separator in quotes, or save it with commas.",
        field="sep",
    ),
    "header_short": Saying(
        "the rows of {file} have more cells than its header has names.",
        "Name every column, or pass index_col=False if the lines only end with a separator.",
        "Name every column, and take separators off the ends of the lines. {separator}",
        "Name every column there, take separators off the ends of the lines, or choose another "
        "separator under More settings.",
        page_what="the rows of {file} have more cells than its first line has names.",
        points="Name every column there, and take separators off the ends of the lines.",
        field="sep",
    ),
    "one_column": Saying(
        "{file} has one column only, {column!r}. A table has a label column and at least one "
        "other, with their names in the first line.",
        terminal="{separator}",
        page="If something else separates its cells, choose another separator under More settings.",
        points="If something else separates its cells, save it with commas.",
        field="sep",
    ),
    "columns": everywhere(
        "{file} has {count:,} columns; the most is {most:,}. Among so many, all rows are about "
        "equally far from each other.",
        "Leave out those that say nothing about the label.",
    ),
    "domains_decimal": Saying(
        "where a file lists domains, numbers are written with a point.",
        "Leave out decimal.",
        "Leave out --decimal.",
        field="decimal",
    ),
    "domains_repairs": Saying(
        "a file that lists domains brings its own candidates.",
        "Leave out repairs.",
        "Leave out --repairs.",
        field="repairs",
    ),
}  # fmt: skip

_COLUMNS = {
    "no_label": Saying(
        "there is no label column {label!r}; the columns are {names}.",
        "{near}",
        "{near}",
        page_what="choose the label column: what the others are to predict.",
        field="label",
    ),
    "label_dropped": Saying(
        "the label column {label!r} cannot be dropped.",
        page_what="the label column {label!r} cannot be left out.",
        field="label",
    ),
    "not_there": everywhere(
        "there is no column {column!r} to drop; the columns are {names}.", "{near}", field="drop"
    ),
    "only_label": Saying(
        "besides the label {label!r} a table needs at least one column.",
        page_what="besides the label, at least one column has to stay.",
        field="label",
    ),
    "measured": Saying(
        "the label column {column!r} of {file} has {distinct:,} different numbers in {count:,} "
        "rows, as measurements do. What is predicted is one of a few labels.",
        "Name another column, or put ranges such as low and high in its place, for instance with "
        "pandas.qcut.",
        "Name another column, or predict in which of three ranges it is: --bins 3.",
        "Name another column, or put ranges such as low and high in its place.",
        field="label",
    ),
    "infinite": everywhere(
        "column {column!r} of {file} has infinite values in row {rows}.",
        "Empty these cells, which makes them holes, or put numbers in their place.",
    ),
    "candidates": everywhere(
        "the candidates of {column!r} are {kind}, with | between them, such as {example}; got "
        "{got!r}.",
        field="repairs",
    ),
}  # fmt: skip

_ROWS = {
    "unlabelled": Saying(
        "every row of {file} needs a label; missing in row {rows}.{words}",
        "Leave these rows out with drop_unlabelled=True.{lines}",
        "Leave these rows out with --drop-unlabelled.{lines}",
        "Tick “leave out rows without a label” to go on without them.",
        field="drop_unlabelled",
    ),
    "no_labels": everywhere("no row of {file} has a label in column {column!r}.", field="label"),
    "nothing_known": Saying(
        "every row of {file} needs at least one value besides its label; nothing is known of row "
        "{rows}.",
        "Leave these rows out with drop_empty=True.",
        "Leave these rows out with --drop-empty.",
        "Tick “leave out rows with nothing but a label” to go on without them.",
        field="drop_empty",
    ),
}  # fmt: skip

_REMARKS = {
    "left_out": everywhere(
        "{count:row has no label and is|rows have no label and are} left out.{mostly}{words}{lines}"
    ),
    "left_out_empty": everywhere(
        "{count:row has nothing but a label and is|rows have nothing but a label and are} left out."
    ),
    "leaves_rows": everywhere(
        "{count:row is|rows are} too few for the leaves of trees, which need {least}: the "
        "plain space of scaled columns is used."
    ),
    "leaves_label": everywhere(
        "all rows have the same label, so a forest has nothing to learn: the plain space of scaled "
        "columns is used."
    ),
    "sorted_rows": Saying(
        "the rows of {file} are sorted by {column!r}, and {count:,} of {total:,} equal another one "
        "but for it. At equal distances the first row is nearer, so that all ties go to one label.",
        'Shuffle the rows, or choose space="forest", where their order does not matter.',
        "Shuffle the rows, or use --space forest, where their order does not matter.",
        "Shuffle the rows, or choose the forest, where their order does not matter.",
    ),
    "uncounted_rows": Saying(
        "worlds are not counted, because {count:row has|rows have} more than {limit:,} "
        "combinations (row {rows}); shares of the prior mass are given instead.",
        "max_exact={most} goes through all of them.",
        "--max-exact {most} goes through all of them, in time and memory that grow with that "
        "number.",
    ),
    "uncountable_rows": Saying(
        "worlds are not counted, because {count:row has|rows have} more than {limit:,} "
        "combinations, and far too many to go through (row {rows}); shares of the prior mass are "
        "given instead.",
        terminal="--drop leaves out a column with many holes.",
    ),
    "uncounted_points": Saying(
        "worlds are not counted for {count:row|rows} to predict that can be filled in too many "
        "ways to go through (row {rows}); shares of the prior mass are given instead.",
        terminal="--max-exact {most} goes through all of them, in time that grows with it.",
    ),
    "uncountable_points": everywhere(
        "worlds are not counted for {count:row|rows} to predict that can be filled in far too many "
        "ways to go through (row {rows}); shares of the prior mass are given instead."
    ),
    "drawn_rows": Saying(
        "{count:row has|rows have} more than {limit:,} combinations: shares use {draws:,} draws of "
        "each and are off by {error}.",
        "A larger n_draws brings them closer.",
        "A larger --draws brings them closer.",
    ),
    "drawn_points": Saying(
        "{to_predict:row|rows} to predict can be filled in too many ways to go through: shares use "
        "{point_draws:,} draws of each and are off by {error}.",
        "A larger n_draws brings them closer.",
        "A larger --draws brings them closer.",
    ),
    "drawn_both": Saying(
        "{count:row has|rows have} more than {limit:,} combinations, and {to_predict:row|rows} to "
        "predict too many to go through: shares use {draws:,} draws of each of the former and "
        "{point_draws:,} of the latter, and are off by {error}.",
        "A larger n_draws brings them closer.",
        "A larger --draws brings them closer.",
    ),
    "maybe_null": Saying(
        "column {column!r} holds {value!r} {count:time|times}.",
        "If it means that a value is missing, name it in null_tokens.",
        "If it means that a value is missing: --null {bare:sh}.",
        "If it means that a value is missing, enter it under More settings.",
        field="null_tokens",
    ),
    "maybe_date": Saying(
        "column {column!r} is text such as {value!r}, every one a category of its own.",
        "If it is a date: kinds={{{column!r}: \"date\"}}.",
        "If it is a date: --kind {date:sh}.",
        "If it is a date, choose that kind for it.",
        field="kinds",
    ),
    "maybe_day_first": Saying(
        "column {column!r} is text such as {value!r}, every one a category of its own.",
        "If it is a date: write it as 2024-05-31 and name its kind.",
        "If it is a date: write it as 2024-05-31 and pass --kind {date:sh}.",
        "If it is a date: write it as 2024-05-31, and choose that kind for it.",
        field="kinds",
    ),
    "maybe_comma": Saying(
        "column {column!r} is text such as {value!r}, every one a category of its own.",
        "If it is a number: decimal=\",\".",
        "If it is a number: --decimal ,.",
        "If it is a number, choose the comma as decimal sign under More settings.",
        field="decimal",
    ),
    "null_word": everywhere(
        "column {column!r} has {value!r} in {count:cell|cells}, read as missing.",
        "If it is a value of its own, write it otherwise in the file, such as {instead!r}.",
    ),
    "unobserved": everywhere("column {column!r} plays no part: no value is observed."),
    "constant": everywhere("column {column!r} plays no part: every observed value is the same."),
}  # fmt: skip


def _doubt(words: str) -> Saying:
    return Saying(
        f"column {{column!r}} {words}.",
        "If it tells nothing about the label, leave it out.",
        "If it tells nothing about the label, leave it out: --drop {column:sh}.",
        "If it tells nothing about the label, leave it out.",
        field="drop",
    )


_FEW = (
    "holes are copied onto complete rows, and {least:row is|rows are} needed, with two labels at "
    "least; {count:,} of {total:row is|rows are} complete."
)
_TRUTH = "or simulate with a table that has the true values"

_TRUST = {
    "nothing_to_copy": everywhere(
        "the table has no holes to copy: every prediction is certain, and nothing has to be "
        "cleaned."
    ),
    "few_complete": Saying(
        _FEW,
        "Simulate with a table that has the true values.",
        "Name a file with the true values: --truth FILE.",
        "Look for a table that has the true values.",
    ),
    "few_complete_column": Saying(
        _FEW,
        f"Without column {{column!r}}, it would be {{others:,}}: leave it out, {_TRUTH}.",
        "Without column {column!r}, it would be {others:,}: leave it out with --drop {column:sh}, "
        "or name a file with the true values: --truth FILE.",
        "Without column {column!r}, it would be {others:,}: leave it out.",
        field="drop",
    ),
    "few_complete_columns": Saying(
        _FEW,
        f"Without columns {{names}}, it would be {{others:,}}: leave them out, {_TRUTH}.",
        "Without columns {names}, it would be {others:,}: leave them out with --drop, or name a "
        "file with the true values: --truth FILE.",
        "Without columns {names}, it would be {others:,}: leave them out.",
        field="drop",
    ),
    "trust_files": Saying(
        "trials need all complete rows, and of rows in files only those near the points are here.",
        "Make a table of a part of the rows in memory.",
        "Give it a part of the rows as one file.",
        "Serve a part of the rows as one file.",
    ),
    "trust_domains": Saying(
        "values that are listed for single cells cannot be copied onto other rows.",
        "Simulate with a table that has the true values.",
        "Name a file with the true values: --truth FILE.",
        "Look for a table that has the true values.",
    ),
}

_DOUBTS = {
    "rounded": _doubt("is rounded: it has whole numbers beyond 2**53"),
    "row_number": _doubt("looks like a row number: whole numbers without gaps"),
    "identifier": _doubt("looks like an identifier: {distinct:,} values, nearly all distinct"),
    "many_categories": _doubt("has many categories: {distinct:,}"),
}

SAYINGS: dict[str, Saying] = {
    **_FILES, **_COLUMNS, **_ROWS, **TO_PREDICT, **_REMARKS, **_TRUST, **_DOUBTS, **DOUBTED
}  # fmt: skip

# What rooms that know nothing of terminals and pages call a field, and what readers call it.
_NAMES: dict[str, dict[str, str]] = {
    "n_neighbors": {"terminal": "--neighbors", "page": "the number of neighbours"},
    "kinds": {"terminal": "--kind"},
    "max_exact": {"terminal": "--max-exact"},
    "n_draws": {"terminal": "--draws"},
    "cluster": {"terminal": "--cluster"},
}
# The way out of what these rooms say about a field.
_WAYS: dict[str, dict[str, str]] = {
    "kinds": {
        "terminal": "Name another kind for it, for instance --kind {category:sh}.",
        "page": "Choose another kind for it, for instance categorical.",
    },
    "sep": {"terminal": "Name what separates cells, such as --sep ';', or put them into quotes."},
    "encoding": {"terminal": "Save it as UTF-8, or name its encoding: --encoding cp1252."},
}


class _Words(string.Formatter):
    """Formats that put nouns behind numbers, and quote for a shell."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        one, bar, many = format_spec.partition("|")
        if bar:
            return f"{value:,} {one if value == 1 else many}"
        if format_spec == "sh":
            return shlex.quote(str(value))
        return super().format_field(value, format_spec)


def said(about: Note | Exception, reader: Reader) -> str:
    """A note, an error or a warning in words; it begins small.

    Parameters
    ----------
    about : Note, CPCleanError, TableWarning, or any other exception
    reader : {"python", "terminal", "page"}
        Who reads it; the way out is theirs.

    Examples
    --------
    >>> from cpclean.errors import QueryError
    >>> error = QueryError("n_neighbors must be an int; got 'x'.", field="n_neighbors")
    >>> said(error, "terminal"), said(error, "page")
    ("--neighbors must be an int; got 'x'.", "the number of neighbours must be an int; got 'x'.")
    """
    if isinstance(about, IntakeError):
        about = about.note
    if isinstance(about, Note):
        what, way_out = parts(about, reader)
        return f"{what} {way_out}".strip()
    if not isinstance(about, CPCleanError | TableWarning) or about.field is None:
        return str(about)
    field, what = about.field, about.what
    name = _NAMES.get(field, {}).get(reader)
    if name is not None and what.startswith(f"{field} "):  # errors begin with what they are about
        what = name + what.removeprefix(field)
    way_out = about.way_out
    if way_out and (own := _WAYS.get(field, {}).get(reader)) is not None:
        way_out = _Words().vformat(own, (), {"category": f"{about.column}=categorical"})
    return f"{what} {way_out}".strip()


def parts(note: Note, reader: Reader) -> tuple[str, str]:
    """What there is to say, and what this reader can do about it."""
    saying = SAYINGS[note.code]
    what, way_out = saying.what, getattr(saying, reader)
    if reader == "page":
        what = saying.page_what or what
        way_out = saying.points if note.values.get("points") and saying.points else way_out
    values = _values(note)
    words = _Words()
    return words.vformat(what, (), values), words.vformat(way_out, (), values)


def _values(note: Note) -> Mapping[str, Any]:
    return {
        "column": note.column,
        "rows": offenders(note.rows),
        "date": f"{note.column}=date",
        "category": f"{note.column}=categorical",
        "near": "",
        "where": "",
        "lines": "",
        "words": "",
        "mostly": "",
        "separator": "",
        "encoding": "utf-8",
        "likely": "latin-1",
        **note.values,
    }


def refusal(
    code: str, column: str | None = None, rows: tuple[int, ...] = (), **values: Any
) -> IntakeError:
    """The error that says so."""
    note = Note(code, column, rows, values)
    what, way_out = parts(note, "python")
    return IntakeError(what, way_out, note=note, field=SAYINGS[code].field)
