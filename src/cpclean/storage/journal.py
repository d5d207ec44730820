"""A file of answers that only grows: an answer is on the disk before it counts.

JSON lines. The first says what the answers belong to; every other line is an event:

    {"cpclean": "answers", "version": 1, "belongs": {"table": "5f0c...", "neighbors": 3, ...}}
    {"row": 3, "candidate": 1, "at": "2026-11-16T09:30:00+00:00", "seconds": 12.5}
    {"row": 7, "value": {"age": 41.0}, "at": ...}
    {"row": 9, "skip": true, "at": ...}
    {"refit": true, "at": ...}
    {"undo": 1, "at": ...}

Row numbers and values are those of `CleaningSession.answers`; other keys are remarks for people. A
process that is killed while it writes leaves an incomplete last line, which the next one removes.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cpclean.data.large_counts import counted
from cpclean.storage.journal_lines import (
    JournalError,
    Line,
    apply,
    belongs_of,
    check_belongs,
    header,
    is_torn_header,
    parsed,
)
from cpclean.storage.locking import lock


class NotSavedError(JournalError):
    """An event could not be written; the journal is as it was before."""


class Journal:
    """The answers of one session in a file, which no other process can open meanwhile.

    Parameters
    ----------
    path : path
        Created if it does not exist; removed on closing if no event was written to it.
    belongs : dict
        What the answers belong to, in plain values by name, as `answers_belong` gives it. A journal
        that belongs to something else is refused.

    Attributes
    ----------
    entries : list of dict
        Answers, skips and refits that count, in their order: without those that were undone.
    notes : list of str
        What a person should know about the state in which the file was found.
    resumed : bool
        Whether the file had events when it was opened.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "answers.jsonl"
    >>> with Journal(path, {"table": "5f0c"}) as journal:
    ...     journal.append({"row": 3, "candidate": 1}, seconds=12.5)
    >>> with Journal(path, {"table": "5f0c"}) as journal:
    ...     [(entry["row"], entry["candidate"]) for entry in journal.entries]
    [(3, 1)]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], belongs: Mapping[str, Any]) -> None:
        self.path = Path(path).expanduser()
        self.entries: list[Line] = []
        self.notes: list[str] = []
        self._file, self._made = _opened(self.path)
        self._end = 0  # of the last whole line
        self._n_events = 0
        try:
            self._read(dict(belongs))
        except BaseException:
            self.close()
            raise
        self.resumed = self._n_events > 0

    # -- writing ---------------------------------------------------------------------------

    def append(self, entry: Mapping[str, Any], seconds: float | None = None) -> None:
        """Write an answer, a skip or a refit; it is on the disk when this returns.

        Raises
        ------
        NotSavedError
            If the disk is full or fails; the file has everything before the event, and the call
            may be repeated.
        """
        self._write({**entry, **_when(seconds)})
        self._apply({**entry}, "the entry")

    def undo(self, n: int = 1, seconds: float | None = None) -> None:
        """Write that the last n entries no longer count; they stay in the file."""
        if not 1 <= n <= len(self.entries):
            raise JournalError(f"undo takes back 1 to {len(self.entries)} entries; got {n}.")
        self._write({"undo": n, **_when(seconds)})
        self._apply({"undo": n}, "the entry")

    def close(self) -> None:
        """Let others open the file; a file without any event is removed."""
        if self._file < 0:
            return
        if self._made and not self._n_events:
            with suppress(OSError):
                self.path.unlink()
        os.close(self._file)
        self._file = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, event: Line) -> None:
        line = json.dumps(event, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            left = memoryview(line)
            while left:
                left = left[os.write(self._file, left) :]
            os.ftruncate(self._file, self._end + len(line))  # longer leftovers may be beneath
            os.fsync(self._file)
        except BaseException as problem:  # also after Ctrl-C, only whole lines stay
            self._cut()
            if not isinstance(problem, OSError):
                raise
            raise NotSavedError(
                f"not saved: {str(self.path)!r} cannot be written: {problem.strerror or problem}. "
                f"Everything saved before is safe ({counted(len(self.entries), 'answer')})."
            ) from problem
        self._end += len(line)
        self._n_events += 1

    def _cut(self) -> None:
        """Remove what follows the last whole line; if even that fails, the next write will."""
        with suppress(OSError):
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)

    # -- reading ---------------------------------------------------------------------------

    def _read(self, belongs: dict[str, Any]) -> None:
        with os.fdopen(os.dup(self._file), "rb") as file:
            content = file.read()
        if is_torn_header(content):
            self._begin(belongs)
            return
        first, newline, _ = content.partition(b"\n")
        check_belongs(self.path, belongs_of(first, self.path), belongs)
        if not newline:
            self._begin(belongs)
            return
        whole, _, rest = content.rpartition(b"\n")
        lines = whole.split(b"\n")
        for number, line in enumerate(lines[1:], start=2):
            if line.strip():
                self._n_events += 1
                self._apply(parsed(line, number, self.path), f"line {number}")
        self._end = len(content) - len(rest)
        if rest.strip(b"\0\r "):
            self._read_rest(rest, len(lines) + 1)
        elif rest:
            self._cut()

    def _begin(self, belongs: dict[str, Any]) -> None:
        self._made = True
        os.ftruncate(self._file, 0)
        try:
            self._write(header(belongs))
        except NotSavedError as problem:
            raise _unusable(self.path, problem.__cause__) from problem
        self._n_events = 0
        with suppress(OSError):  # so that the new name itself survives a power cut
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _read_rest(self, rest: bytes, number: int) -> None:
        """The last line has no end: an editor removed it, or the process was killed."""
        try:
            event = parsed(rest, number, self.path)
            self._apply(event, f"line {number}")
        except JournalError:
            self._cut()
            self.notes.append(
                f"the last line of {str(self.path)!r} was incomplete, as if the process had been "
                f"killed while writing. It was removed; {counted(len(self.entries), 'answer')} "
                f"before it {'is' if len(self.entries) == 1 else 'are'} safe."
            )
            return
        self._n_events += 1
        self._end += len(rest) + 1
        try:
            os.lseek(self._file, 0, os.SEEK_END)
            os.write(self._file, b"\n")
            os.fsync(self._file)
        except OSError as problem:
            raise _unusable(self.path, problem) from problem

    def _apply(self, event: Line, where: str) -> None:
        apply(self.entries, event, f"{where} of {str(self.path)!r}")


def read_answers(
    path: str | os.PathLike[str], belongs: Mapping[str, Any] | None = None
) -> list[Line]:
    """The answers in a journal that count, for `CleaningSession.merge` or `replay`.

    The file is only read, and another process may have it open: a line that is being written is
    left out. The rows are those of the session that wrote it, which among leaves are in another
    order than in the file (`row_in_file`): give them to a session over the same task.

    Parameters
    ----------
    path : path
        Such as the `.answers.jsonl` that `cpclean clean` writes.
    belongs : dict, optional
        As for `Journal`: answers that belong to something else are refused.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "answers.jsonl"
    >>> with Journal(path, {"table": "5f0c"}) as journal:
    ...     journal.append({"row": 3, "candidate": 1})
    ...     journal.append({"row": 4, "skip": True})
    ...     journal.undo()
    >>> [(entry["row"], entry["candidate"]) for entry in read_answers(path)]
    [(3, 1)]
    >>> folder.cleanup()
    """
    place = Path(path).expanduser()
    try:
        content = place.read_bytes()
    except OSError as problem:
        raise JournalError(f"{str(place)!r} cannot be read: {problem.strerror}.") from problem
    whole, _, rest = content.rpartition(b"\n")
    first, *lines = whole.split(b"\n")
    theirs = belongs_of(first, place)
    if belongs is not None:
        check_belongs(place, theirs, belongs)
    entries: list[Line] = []
    for number, line in enumerate(lines, start=2):
        if line.strip():
            apply(entries, parsed(line, number, place), f"line {number} of {str(place)!r}")
    with suppress(JournalError):  # complete all the same, if an editor removed the last line end
        apply(entries, parsed(rest, 0, place), "the last line")
    return entries


def begun_with(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the first line of a journal says that it belongs to; nothing if there is no such line.

    It has the settings that the answers were begun with: `sure`, `gains_by` and the strategy may be
    others now.
    """
    place = Path(path).expanduser()
    try:
        with place.open("rb") as file:
            return belongs_of(file.readline(), place)
    except (OSError, JournalError):
        return {}


# -- the file --------------------------------------------------------------------------------------


def _opened(path: Path) -> tuple[int, bool]:
    """The file, locked for this process, and whether it was created."""
    if path.is_dir():
        raise JournalError(f"{str(path)!r} is a directory; name a file in it for the answers.")
    if not path.parent.is_dir():
        raise JournalError(f"there is no folder {str(path.parent)!r} to save the answers in.")
    while True:
        made = not path.exists()
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as problem:
            raise _unusable(path, problem) from problem
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise JournalError(f"{str(path)!r} is not a regular file; choose another location.")
            _lock(file, path)
            if _is(file, path):  # else another process removed it before it was locked
                return file, made
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _unusable(path: Path, problem: BaseException | None) -> JournalError:
    reason = getattr(problem, "strerror", None) or problem
    return JournalError(
        f"answers cannot be saved in {str(path)!r}: {reason}. Choose another location."
    )


def _is(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _lock(file: int, path: Path) -> None:
    try:
        free = lock(file)
    except OSError as problem:
        raise JournalError(
            f"{str(path)!r} cannot be locked against other processes: {problem.strerror}. Save the "
            "answers on another disk."
        ) from problem
    if not free:
        raise JournalError(
            f"{str(path)!r} is in use: another process is saving answers in it. End that one "
            "first, or choose another file."
        )


def _when(seconds: float | None) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": at} if seconds is None else {"at": at, "seconds": round(seconds, 3)}
