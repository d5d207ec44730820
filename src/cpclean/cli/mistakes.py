"""How errors are told: one line on stderr, an exit code, no traceback unless it is asked for."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import Any

import click

from cpclean.errors import CPCleanError

INTERRUPTED = 130


class Mistake(click.ClickException):
    """An error to be told in one line."""

    exit_code = 2


class Verbs(click.Group):
    """A group whose commands tell errors of the user and of the machine in one line.

    Exit codes: 0 done, 2 a mistake in what was given, 1 anything else that went wrong, 130
    interrupted with Ctrl-C.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; warnings become notes."""
        if ctx.params["debug"]:
            return super().invoke(ctx)
        with warnings.catch_warnings():
            warnings.showwarning = _note  # type: ignore[assignment]
            try:
                return super().invoke(ctx)
            except CPCleanError as error:
                raise Mistake(str(error)) from error
            except BrokenPipeError:
                _close_quietly()
                raise click.exceptions.Exit(1) from None
            except OSError as error:
                raise click.ClickException(_told(error)) from error
            except KeyboardInterrupt:
                click.echo("Interrupted.", err=True)
                raise click.exceptions.Exit(INTERRUPTED) from None


def _note(message: Warning | str, *_: Any) -> None:
    click.echo(f"Note: {message}", err=True)


def _told(error: OSError) -> str:
    where = f" {error.filename!r}:" if error.filename else ""
    way_out = " Free some space and run it again." if error.errno == errno.ENOSPC else ""
    return f"{where.lstrip() or 'the system says:'} {error.strerror or error}.{way_out}"


def _close_quietly() -> None:
    """Nobody reads the output any more; Python would complain about that at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
