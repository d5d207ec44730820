"""The dialogue of cpclean clean: a question, a line of input, and its effect."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.mistakes import Mistake, in_options
from cpclean.cli.output import working
from cpclean.cli.questions import (
    HELP,
    hole_by_hole,
    holes_of,
    in_words,
    listed,
    progress,
    show,
)
from cpclean.cli.sessions import table_of
from cpclean.cli.typed_cells import column_named, described, typed_values, unusual

if TYPE_CHECKING:
    from rich.console import Console

    from cpclean.cleaning.question import Question
    from cpclean.cleaning.state import Record
    from cpclean.data.task import Task
    from cpclean.intake.file_lines import FileLines
    from cpclean.storage.saved_session import SavedSession

_WORDS = {"skip": "s", "undo": "u", "back": "u", "quit": "q", "stop": "q", "exit": "q",
          "help": "?", "h": "?", "more": "more", "m": "more", "refit": "refit"}  # fmt: skip


class Dialogue:
    """Asks a person until the session is done, or the person stops.

    Parameters
    ----------
    kept : SavedSession
    task : Task
    console : Console
        Where questions are printed.
    where : function from the number of a row to text
        Says which line or file it is in; put after its number.
    decimal : str
        The decimal sign of the file.
    lines : FileLines, optional
        The lines of the file, for the log.
    """

    def __init__(
        self,
        kept: SavedSession,
        task: Task,
        console: Console,
        where: Callable[[int], str],
        decimal: str = ".",
        lines: FileLines | None = None,
    ) -> None:
        from cpclean.intake.file_lines import FileLines

        self._lines = FileLines() if lines is None else lines
        self._kept, self._task, self._console, self._where = kept, task, console, where
        self._decimal = decimal
        self._table = table_of(task)
        self._session = kept.session
        self._line_editing = sys.stdin.isatty() and sys.stdout.isatty() and not console.stderr

    def run(self) -> None:
        """Continue until there is no more to ask, or no more input."""
        going = True
        while going:
            with working("Looking for the next question"):
                question = self._session.ask()
            going = self._about(question) if question is not None else self._at_the_end()

    # -- one question ------------------------------------------------------------------------

    def _about(self, question: Question) -> bool:
        """Ask until the question is answered; False if the person stops."""
        numbers = listed(question)
        answers = "Column=value" if hole_by_hole(question) else "Number, column=value"
        self._show(question, numbers)
        start = time.monotonic()
        while True:
            line = self._read(f"{answers}, s skip, u undo, q quit, ? help > ")
            command = "q" if line is None else _WORDS.get(line.lower(), line)
            if command == "q":
                return False
            if command == "more":
                numbers = listed(question, more=True)
                self._show(question, numbers, more=True)
                continue
            try:
                if self._obeyed(question, command, numbers, time.monotonic() - start):
                    return True
            except Mistake as mistake:
                self._console.print(mistake.message, style="red", markup=False)

    def _show(self, question: Question, numbers: list[int], more: bool = False) -> None:
        show(self._console, self._session, self._task, question, numbers, self._where, more)

    def _obeyed(self, question: Question, command: str, numbers: list[int], took: float) -> bool:
        """Do what a line asks for; False if the question is still open."""
        if not command:
            what = "column=value" if hole_by_hole(question) else "the number of a candidate"
            raise Mistake(f"type {what}, or ? for help.")
        if command == "?":
            self._console.print(HELP, markup=False)
            return False
        if command.startswith("?"):
            column = column_named(self._table, command[1:].strip())
            self._console.print(described(column), markup=False)
            return False
        if command == "u":
            return self._undo(took)
        if command == "refit":
            return self._refit(took)
        if command == "s":
            self._taken(
                lambda: self._kept.skip(question.row, seconds=took, **self._in_file(question))
            )
            self._console.print(f"Row {self._number(question.row)} is skipped.", style="green")
            return True
        self._tell(question, self._answer(question, command, numbers), took)
        return True

    def _answer(self, question: Question, command: str, numbers: list[int]) -> dict[str, Any]:
        """The answer that a number or typed values make, as `tell` expects it."""
        if not command.lstrip("+-").isdecimal():
            holes = holes_of(question)
            values = self._taken(lambda: typed_values(command, self._table, holes, self._decimal))
            for name, value in values.items():
                if remark := unusual(column_named(self._table, name), value):
                    self._console.print(f"{remark} It is saved; u undoes it.", markup=False)
            return {"value": values}
        if hole_by_hole(question):
            raise Mistake(
                f"the combinations of so many holes are not numbered; got {command}. Type "
                f"column=value, such as {holes_of(question)[0]}=..., or s to skip."
            )
        if not 1 <= int(command) <= len(numbers):
            raise Mistake(f"the candidates are 1 to {len(numbers)}; got {command}.")
        chosen = question.answer(numbers[int(command) - 1])
        if "candidate" not in chosen:
            return {"value": self._roughly(question.row, chosen["value"])}
        values = question.candidates[numbers[int(command) - 1]]
        cells = {name: str(value) if not _plain(value) else value for name, value in values.items()}
        return {"candidate": chosen["candidate"], "cells": cells}

    def _tell(self, question: Question, answer: dict[str, Any], took: float) -> None:
        row, remarks = question.row, self._in_file(question)
        with working("Looking at the predictions"):
            record: Record = self._taken(
                lambda: self._kept.tell(row, seconds=took, **answer, **remarks)
            )
        text = f"Row {self._number(row)}: {self._known_of(row)}. {_did(record)}"
        self._console.print(text, style="green", markup=False)

    def _roughly(self, row: int, values: Any) -> Any:
        """Values that were chosen from a list: one of a grid stands for a range around it."""
        from cpclean.data.rough_ranges import range_around

        return {
            name: range_around(self._table, row, name, value) or value
            for name, value in values.items()
        }

    def _known_of(self, row: int) -> str:
        """What is known about a row, and what of it only roughly."""
        from cpclean.cleaning.known_cells import rough_cells

        rough = {name for one, name in rough_cells(self._session, self._table) if one == row}
        values = {**self._session.view.rough_of(row), **self._session.known.get(row, {})}
        parts = [
            f"{name} {'roughly ' if name in rough else ''}{in_words(self._task, name, value)}"
            for name, value in values.items()
        ]
        not_written = " (rough answers are not written into the table)" if rough else ""
        return ", ".join(parts) + not_written

    def _refit(self, took: float) -> bool:
        before = len(self._session.answers)
        with working("Learning the trees"):
            self._taken(lambda: self._kept.refit(seconds=took))
        if len(self._session.answers) == before:
            raise Mistake("nothing has been answered since the trees were learnt.")
        self._console.print(
            f"The trees are learnt anew from what is known now. {progress(self._session)}.",
            style="green",
            markup=False,
        )
        return True

    def _undo(self, took: float) -> bool:
        if not self._session.answers:
            raise Mistake("there is no answer to undo.")
        last = self._session.answers[-1]
        self._taken(lambda: self._kept.undo(seconds=took))
        if "refit" in last:
            self._console.print("Undone: the trees are those from before.", style="green")
            return True
        what = "is not skipped any more" if "skip" in last else "is open again"
        self._console.print(f"Undone: row {self._number(last['row'])} {what}.", style="green")
        return True

    def _at_the_end(self) -> bool:
        """There is nothing more to ask, but the last answer may have been a slip."""
        if not self._session.answers:
            return False
        self._console.print(f"\n[bold]Done: {self._session.stopped}.[/]")
        line = self._read("Enter finishes, u undoes the last answer > ")
        if line is None or _WORDS.get(line.lower(), line.lower()) != "u":
            return False
        return self._undo(0.0)

    # -- plumbing ----------------------------------------------------------------------------

    def _taken(self, step: Any) -> Any:
        """Do something that can be tried again if it is refused or, on a terminal, not saved."""
        from cpclean.errors import CPCleanError
        from cpclean.storage.journal import NotSavedError

        try:
            return step()
        except NotSavedError as problem:
            if not sys.stdin.isatty():
                raise  # the next lines would answer other questions than they are meant for
            raise Mistake(f"{problem} Make room and try again, or stop with q.") from problem
        except CPCleanError as problem:
            raise Mistake(in_options(problem)) from problem

    def _read(self, prompt: str) -> str | None:
        """A line of input; None at its end."""
        if self._line_editing:
            with suppress(ImportError):
                import readline  # noqa: F401  # arrow keys and earlier lines
            try:
                return _as_utf8(input(prompt))
            except EOFError:
                click.echo()
                return None
        click.echo(prompt, nl=False, err=self._console.stderr)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            click.echo(line.rstrip("\n"), err=self._console.stderr)  # as a terminal would show it
        return _as_utf8(line) if line else None

    def _number(self, row: int) -> int:
        return int(self._task.row_names[row])

    def _in_file(self, question: Question) -> dict[str, Any]:
        return self._lines.remark(self._number(question.row))


def _as_utf8(line: str) -> str:
    """A line, also where Python expects another encoding of its input."""
    try:
        return line.strip().encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return line.strip()


def _did(record: Record) -> str:
    """The effect of an answer, in words."""
    words = "Nothing was settled"
    if record.settled:
        words = f"{record.settled} prediction{'s are' if record.settled > 1 else ' is'} settled"
    if record.unsettled:
        words += f", {len(record.unsettled)} became open again"
    return f"{words}."


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)
