"""A file of answers that only grows: what was told is on the disk before it counts.

JSON lines. The first says what the answers belong to; every other one is an event:

    {"cpclean": "answers", "version": 1, "belongs": {"table": "5f0c...", "neighbors": 3, ...}}
    {"row": 3, "candidate": 1, "at": "2026-11-16T09:30:00+00:00", "seconds": 12.5}
    {"row": 7, "value": {"age": 41.0}, "at": ...}
    {"row": 9, "skip": true, "at": ...}
    {"undo": 1, "at": ...}

Row numbers and values are those of `CleaningSession.answers`; other keys are remarks for people. A
process that is killed while it writes leaves a torn last line, which the next one cuts off.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from cpclean.errors import CPCleanError, offenders
from cpclean.storage.locking import lock

VERSION = 1

Event = dict[str, Any]

_KINDS = {"candidate", "value", "skip"}
_BEGINNING = b'{"cpclean": "answers"'


class JournalError(CPCleanError):
    """A journal cannot be opened or gone on with."""


class NotTakenError(JournalError):
    """An event could not be written; the journal is as it was before."""


class Journal:
    """The answers of one session in a file, which no other process can open meanwhile.

    Parameters
    ----------
    path : path
        Made if it is not there; removed again on closing if nothing was written to it.
    belongs : dict
        What the answers are about, in plain values by name, as `fingerprint` gives it. A journal
        that belongs to something else is refused.

    Attributes
    ----------
    entries : list of dict
        What is said now: answers and skips in their order, without those that were taken back.
    notes : list of str
        What a person should know about the file as it was found.
    resumed : bool
        Whether the file had events when it was opened.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answers.jsonl"
    >>> with Journal(path, {"table": "5f0c"}) as journal:
    ...     journal.append({"row": 3, "candidate": 1}, seconds=12.5)
    >>> with Journal(path, {"table": "5f0c"}) as journal:
    ...     [(entry["row"], entry["candidate"]) for entry in journal.entries]
    [(3, 1)]
    """

    def __init__(self, path: str | os.PathLike[str], belongs: Mapping[str, Any]) -> None:
        self.path = Path(path).expanduser()
        self.entries: list[Event] = []
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
        """Write an answer or a skip; it is on the disk when this returns.

        Raises
        ------
        NotTakenError
            If the disk is full or fails; the file has everything before the event, and the same
            may be tried again.
        """
        self._write({**entry, **_when(seconds)})
        self._take({**entry}, "the entry")

    def undo(self, n: int = 1, seconds: float | None = None) -> None:
        """Write that the last n entries are taken back; they stay in the file."""
        if not 1 <= n <= len(self.entries):
            raise JournalError(f"undo takes back 1 to {len(self.entries)} entries; got {n}.")
        self._write({"undo": n, **_when(seconds)})
        self._take({"undo": n}, "the entry")

    def close(self) -> None:
        """Let others open the file; one without any event is removed."""
        if self._file < 0:
            return
        if self._made and not self._n_events:
            with suppress(OSError):
                self.path.unlink()
        os.close(self._file)
        self._file = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write(self, event: Event) -> None:
        line = json.dumps(event, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            left = memoryview(line)
            while left:
                left = left[os.write(self._file, left) :]
            os.ftruncate(self._file, self._end + len(line))  # a longer torn line may be beneath
            os.fsync(self._file)
        except BaseException as problem:  # a Ctrl-C too leaves whole lines
            self._cut()
            if not isinstance(problem, OSError):
                raise
            raise NotTakenError(
                f"not taken: {str(self.path)!r} cannot be written: {problem.strerror or problem}. "
                f"Everything before is in it ({_counted(len(self.entries))})."
            ) from problem
        self._end += len(line)
        self._n_events += 1

    def _cut(self) -> None:
        """Remove what is behind the last whole line; if even that fails, the next write tries."""
        with suppress(OSError):
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)

    # -- reading ---------------------------------------------------------------------------

    def _read(self, belongs: dict[str, Any]) -> None:
        with os.fdopen(os.dup(self._file), "rb") as file:
            content = file.read()
        if not content or _BEGINNING.startswith(content) or _torn_header(content):
            self._begin(belongs)
            return
        header, newline, _ = content.partition(b"\n")
        _check_belongs(self.path, _belongs(header, self.path), belongs)
        if not newline:
            self._begin(belongs)
            return
        whole, _, rest = content.rpartition(b"\n")
        lines = whole.split(b"\n")
        for number, line in enumerate(lines[1:], start=2):
            if line.strip():
                self._n_events += 1
                self._take(_parsed(line, number, self.path), f"line {number}")
        self._end = len(content) - len(rest)
        if rest.strip(b"\0\r "):
            self._take_rest(rest, len(lines) + 1)
        elif rest:
            self._cut()

    def _begin(self, belongs: dict[str, Any]) -> None:
        self._made = True
        os.ftruncate(self._file, 0)
        try:
            self._write({"cpclean": "answers", "version": VERSION, "belongs": belongs})
        except NotTakenError as problem:
            raise _unusable(self.path, problem.__cause__) from problem
        self._n_events = 0
        with suppress(OSError):  # so that the new name itself outlives a power cut
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _take_rest(self, rest: bytes, number: int) -> None:
        """The last line has no end: an editor took it, or the writing was cut short."""
        try:
            event = _parsed(rest, number, self.path)
            self._take(event, f"line {number}")
        except JournalError:
            self._cut()
            self.notes.append(
                f"the last line of {str(self.path)!r} was torn, as if the process had been killed "
                f"while it wrote. It is cut off; the {_counted(len(self.entries))} before it are "
                "there."
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

    def _take(self, event: Event, where: str) -> None:
        _take(self.entries, event, f"{where} of {str(self.path)!r}")


def read_answers(
    path: str | os.PathLike[str], belongs: Mapping[str, Any] | None = None
) -> list[Event]:
    """What a journal says now, for `CleaningSession.merge` or `replay`.

    The file is only read, and may be open elsewhere: a line that is being written is left out.

    Parameters
    ----------
    path : path
        Such as the `.answers.jsonl` that `cpclean clean` writes.
    belongs : dict, optional
        As for `Journal`: answers that belong to something else are refused.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answers.jsonl"
    >>> with Journal(path, {"table": "5f0c"}) as journal:
    ...     journal.append({"row": 3, "candidate": 1})
    ...     journal.append({"row": 4, "skip": True})
    ...     journal.undo()
    >>> [(entry["row"], entry["candidate"]) for entry in read_answers(path)]
    [(3, 1)]
    """
    place = Path(path).expanduser()
    try:
        content = place.read_bytes()
    except OSError as problem:
        raise JournalError(f"{str(place)!r} cannot be read: {problem.strerror}.") from problem
    whole, _, rest = content.rpartition(b"\n")
    header, *lines = whole.split(b"\n")
    theirs = _belongs(header, place)
    if belongs is not None:
        _check_belongs(place, theirs, belongs)
    entries: list[Event] = []
    for number, line in enumerate(lines, start=2):
        if line.strip():
            _take(entries, _parsed(line, number, place), f"line {number} of {str(place)!r}")
    with suppress(JournalError):  # whole all the same, if an editor took the last line end
        _take(entries, _parsed(rest, 0, place), "the last line")
    return entries


# -- lines -----------------------------------------------------------------------------------------


def _belongs(line: bytes, path: Path) -> dict[str, Any]:
    """What the first line says that the answers are about."""
    try:
        header = json.loads(line)
        version, theirs = header["version"], header["belongs"]
        usable = header["cpclean"] == "answers" and isinstance(theirs, dict)
    except (ValueError, TypeError, KeyError):
        usable = False
    if line.startswith(b'{"number": '):
        raise JournalError(
            f"{str(path)!r} has every event of a page, also what was taken back. Export the "
            "answers that count instead: answers.jsonl, or /api/export?what=log."
        )
    if not usable or not isinstance(version, int):
        raise JournalError(
            f"{str(path)!r} is no log of answers: its first line is not that of one. "
            "Name another file for the answers; this one stays as it is."
        )
    if version > VERSION:
        raise JournalError(
            f"{str(path)!r} was written by a newer cpclean (format {version}; this one "
            f"reads up to {VERSION}). Bring cpclean up to date, or name another file."
        )
    return dict(theirs)


def _check_belongs(path: Path, theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    if differs := _differences(theirs, mine):
        raise JournalError(
            f"{str(path)!r} belongs to something else: {offenders(differs, limit=4)}. "
            "Go back to what it was begun with, or name another file for new answers."
        )


def _parsed(line: bytes, number: int, path: Path) -> Event:
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if isinstance(event, dict):
        return event
    text = line[:60].decode(errors="replace")
    raise JournalError(
        f"line {number} of {str(path)!r} is no answer: {text!r}. The file was changed by "
        "something else; put the line right or take it out, or name another file."
    )


def _take(entries: list[Event], event: Event, where: str) -> None:
    """What an event does to the entries."""
    if "undo" in event:
        back = event["undo"]
        if type(back) is not int or not 1 <= back <= len(entries):
            raise JournalError(
                f"{where} takes back {back!r} answers, but there are {len(entries)} before it."
            )
        del entries[-back:]
        return
    if type(event.get("row")) is not int or len(event.keys() & _KINDS) != 1:
        raise JournalError(
            f'{where} must have "row" and one of "candidate", "value" and "skip", or "undo"; '
            f"got {json.dumps(event)[:80]}."
        )
    entries.append(event)


# -- the file --------------------------------------------------------------------------------------


def _opened(path: Path) -> tuple[int, bool]:
    """The file, locked for this process, and whether it was made."""
    if path.is_dir():
        raise JournalError(f"{str(path)!r} is a directory; name a file in it for the answers.")
    if not path.parent.is_dir():
        raise JournalError(f"there is no folder {str(path.parent)!r} to keep the answers in.")
    while True:
        made = not path.exists()
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as problem:
            raise _unusable(path, problem) from problem
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise JournalError(f"{str(path)!r} is no plain file; name another place.")
            _lock(file, path)
            if _is(file, path):  # else another process removed it before it was locked
                return file, made
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _unusable(path: Path, problem: BaseException | None) -> JournalError:
    reason = getattr(problem, "strerror", None) or problem
    return JournalError(f"answers cannot be kept in {str(path)!r}: {reason}. Name another place.")


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
            f"{str(path)!r} cannot be locked against other processes: {problem.strerror}. Keep the "
            "answers on another disk."
        ) from problem
    if not free:
        raise JournalError(
            f"{str(path)!r} is in use: another process is taking answers for it. End that one "
            "first, or name another file."
        )


def _torn_header(content: bytes) -> bool:
    """Whether a process was killed while it began the file; nothing was answered then."""
    if b"\n" in content or not content.startswith(_BEGINNING):
        return False
    try:
        json.loads(content)
    except ValueError:
        return True
    return False


def _differences(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> list[str]:
    """What is not the same, in words; hashes are not shown."""
    found = []
    for name in dict.fromkeys([*mine, *theirs]):
        here, there = mine.get(name), theirs.get(name)
        if here == there:
            continue
        hashed = any(isinstance(one, str) and one.startswith("sha256:") for one in (here, there))
        found.append(f"other {name}" if hashed else f"{name} was {there!r} and is {here!r}")
    return found


def _counted(n: int) -> str:
    return "1 answer" if n == 1 else f"{n} answers"


def _when(seconds: float | None) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": at} if seconds is None else {"at": at, "seconds": round(seconds, 3)}
