"""The errors cpclean raises. Each is also the built-in kind a caller would expect."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

_PACKAGE = os.path.dirname(__file__) + os.sep


class CPCleanError(Exception):
    """Base of every error that cpclean raises on purpose.

    It carries what it is about, so that nobody has to look for that in its text.

    Parameters
    ----------
    what : str
        What is wrong, where, and what was found.
    way_out : str
        What to do about it, in the words of the Python interface.
    field : str, optional
        The parameter that it is about, such as "n_neighbors".
    column : str, optional
        The column of a table that it is about.
    rows : iterable of int
        The rows that it is about.

    Examples
    --------
    >>> error = CPCleanError("n_neighbors must be an int; got 'x'.", field="n_neighbors")
    >>> str(error), error.field, error.column
    ("n_neighbors must be an int; got 'x'.", 'n_neighbors', None)
    """

    def __init__(
        self,
        what: str = "",
        way_out: str = "",
        *,
        field: str | None = None,
        column: str | None = None,
        rows: Iterable[int] = (),
    ) -> None:
        super().__init__(f"{what} {way_out}" if way_out else what)
        self.what, self.way_out = what, way_out
        self.field, self.column, self.rows = field, column, tuple(rows)


class TableWarning(UserWarning):
    """Something about a table that a person may want to decide otherwise; its parts as an error's.

    Parameters
    ----------
    what, way_out, field, column
        As in `CPCleanError`.
    """

    def __init__(
        self,
        what: str = "",
        way_out: str = "",
        *,
        field: str | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(f"{what} {way_out}" if way_out else what)
        self.what, self.way_out, self.field, self.column = what, way_out, field, column


def warn_caller(warning: TableWarning) -> None:
    """Warn at the line that called cpclean, however deep inside the reason was found."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)


class DataError(CPCleanError, ValueError):
    """The incomplete data handed in cannot be used: candidates, labels or priors."""


class TableError(DataError):
    """A table cannot be used: its columns, labels, repairs or what is to be predicted."""


class QueryError(CPCleanError, ValueError):
    """A question cannot be asked of this data: query points, n_neighbors or metric."""


class AnswerError(CPCleanError, ValueError):
    """An answer about a row cannot be taken; the session stays as it was."""


class NotGatheredError(AnswerError):
    """After an answer, rows of files may matter that are not at hand."""


class UnknownRowError(CPCleanError, KeyError):
    """A row or candidate was named that the data does not have."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


class ClusterError(CPCleanError):
    """A cluster cannot be reached or used; nothing is lost, and the same call may be repeated."""


class StorageError(CPCleanError):
    """A storage cannot be opened or used any more; nothing that was saved is lost."""


class LockedError(StorageError):
    """Somebody else has been writing for too long; the same call may be repeated."""


class FullError(StorageError):
    """There is no space left to write; the same call may be repeated once there is."""


class GoneError(StorageError):
    """The database cannot be reached; the same call may be repeated when it is back."""


class FutureError(StorageError):
    """The database was written by a newer cpclean."""


class RefusedError(StorageError, ValueError):
    """What was to be saved is not valid, or does not fit what is saved already."""


class OvertakenError(RefusedError):
    """Something was saved in the meantime that the caller did not know of.

    Parameters
    ----------
    message : str
    event : Event
        What was saved.
    """

    event: Any

    def __init__(self, message: str, event: object) -> None:
        super().__init__(message)
        self.event = event


def offenders(found: Iterable[object], limit: int = 3) -> str:
    """Name at most `limit` offenders, and say how many there are in all.

    >>> offenders([4, 7, 9, 12])
    '4, 7, 9 and 1 more'
    """
    shown = list(found)
    text = ", ".join(str(one) for one in shown[:limit])
    return text if len(shown) <= limit else f"{text} and {len(shown) - limit} more"


# A name of fewer letters is in too many others.
_BEGINNING = 3


def near(name: str, names: Iterable[str]) -> str:
    """What somebody may have meant who misspelt a name, as a question; "" if nothing is like it.

    Capitals and what stands between words do not count.

    >>> near("survive", ["Survived", "Sex", "Age"])
    "Did you mean 'Survived'?"
    """
    plain: dict[str, str] = {}
    for one in names:
        plain.setdefault(_letters(one), one)
    letters = _letters(name)
    found = get_close_matches(letters, list(plain), n=1, cutoff=0.7)
    if not found and len(letters) >= _BEGINNING:  # the one that begins with it, or in which it is
        begun = [one for one in plain if one.startswith(letters)]
        found = begun or [one for one in plain if letters in one]
        found = found if len(found) == 1 else []
    return f"Did you mean {plain[found[0]]!r}?" if found else ""


def _letters(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum()) or name
