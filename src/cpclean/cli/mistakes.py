"""How errors are shown: one line on stderr, an exit code, no traceback unless asked for."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from cpclean.cli.project_file import options_for
from cpclean.errors import CPCleanError
from cpclean.intake.notes import Note
from cpclean.intake.sentences import said

INTERRUPTED = 130


class Mistake(click.ClickException):
    """An error that is shown in one line."""

    exit_code = 2


class Verbs(click.Group):
    """A group whose commands show errors of the user and of the machine in one line.

    Exit codes: 0 done, 2 a mistake in the command or the files, 1 anything else that went wrong,
    130 interrupted with Ctrl-C.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, with the options that cpclean.toml has for the table that it names."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None and (own := options_for(rest)):
            names = {one.name for one in command.params}
            given = {one: value for one, value in own.items() if one in names}
            ctx.default_map = {name: given}
        return name, command, rest

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which people need them."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; warnings become notes."""
        _tolerate_letters()
        if ctx.params["debug"]:
            return super().invoke(ctx)
        with warnings.catch_warnings(), _interrupts() as interrupted:
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except CPCleanError as error:
                if interrupted:
                    raise _interruption() from None
                raise Mistake(in_options(error)) from error
            except BrokenPipeError:
                _close_quietly()
                raise click.exceptions.Exit(1) from None
            except OSError as error:
                raise click.ClickException(_in_words(error)) from error
            except KeyboardInterrupt:
                raise _interruption() from None


def _tolerate_letters() -> None:
    """A letter that the terminal cannot show, or that is not UTF-8, must not end a command."""
    for stream, errors in (
        (sys.stdout, "replace"),
        (sys.stderr, "replace"),
        (sys.stdin, "surrogateescape"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """The Ctrl-C signals so far, because pandas reports one as a broken file."""
    seen: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield seen  # there is another handler
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interruption() -> click.exceptions.Exit:
    click.echo("Interrupted.", err=True)
    return click.exceptions.Exit(INTERRUPTED)


def in_options(about: Note | Exception) -> str:
    """A note, an error or a warning in one line, with the command line's options in it."""
    return " ".join(said(about, "terminal").split())


def note(about: Note | Warning | str) -> None:
    """Print a note on stderr, once per command."""
    tell(f"Note: {about if isinstance(about, str) else in_options(about)}")


def tell(text: str) -> None:
    """Print a line on stderr, once per command."""
    context = click.get_current_context(silent=True)
    before: set[str] = set() if context is None else context.meta.setdefault(__name__, set())
    if text not in before:
        before.add(text)
        # Not by click.echo, which would write into the line of a status that is being shown.
        print(text, file=sys.stderr or sys.stdout, flush=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(message)


def _in_words(error: OSError) -> str:
    where = f" {error.filename!r}:" if error.filename else ""
    way_out = " Free some space and run it again." if error.errno == errno.ENOSPC else ""
    return f"{where.lstrip() or 'the system reports:'} {error.strerror or error}.{way_out}"


def _close_quietly() -> None:
    """Keep Python from complaining at exit that nobody reads the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
