"""Output of results: a table for people, or CSV, JSON, Parquet or Excel for machines."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.mistakes import Mistake
from cpclean.intake.formats import SUFFIXES

if TYPE_CHECKING:
    from rich.console import Console

FORMATS = ("table", "csv", "json")
# More lines than this do not help on a screen.
SCREEN = 20
_PACKAGES = {".parquet": "pyarrow", ".xlsx": "openpyxl"}


def output_options(command: Any) -> Any:
    """Give a command --format and --out; without either, a table on a terminal, else CSV."""
    for option in (
        click.option(
            "--out", "-o", metavar="FILE",
            help=f"Write to a file instead: {', '.join(SUFFIXES)}.",
        ),
        click.option("--json", "format_", flag_value="json", help="Short for --format json."),
        click.option(
            "--format", "format_", type=click.Choice(FORMATS),
            help="How to print.  [default: table on a terminal, else csv]",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def terminal(stderr: bool = False) -> Console:
    """A console for people, with colours and progress only if it is a terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=not stderr)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show what is going on, on a terminal; call the function that comes back to show more."""
    console = terminal(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    from rich.markup import escape

    from cpclean.progress_bar import beneath_bars

    with console.status(f"{escape(what)} ...") as status, beneath_bars(status):
        yield lambda text: status.update(f"{escape(text)} ...")


def write(
    frame: Any,
    format_: str | None,
    out: str | None,
    title: str = "",
    most: int | None = SCREEN,
    right: tuple[str, ...] = (),
) -> None:
    """Print a frame, or write it to a file; as a table with a title, only its first lines."""
    if out is not None:
        write_file(frame, out)
    elif format_ == "json":
        from cpclean.intake.formats import table_bytes

        print_text(table_bytes(frame, ".json").decode())
    elif for_people(format_, out):
        terminal().print(drawn(frame if most is None else frame.iloc[:most], title, right))
        if most is not None and len(frame) > most:
            more = (
                f"{len(frame) - most:,} more lines; --format csv or --out FILE gives all of them."
            )
            click.echo(more, err=True)
    else:
        print_text(flat(frame).to_csv(index=False))


def print_text(text: str) -> None:
    """Print what a machine reads: UTF-8, whatever the terminal uses."""
    click.echo(text if sys.stdout.isatty() else text.encode("utf-8"), nl=False)


def for_people(format_: str | None, out: str | None) -> bool:
    """Whether to print a table for people: it is asked for, or there is a terminal."""
    return out is None and (format_ == "table" or (format_ is None and terminal().is_terminal))


def flat(frame: Any) -> Any:
    """The frame with lists in cells as text, for formats without lists."""
    listed = [name for name in frame.columns if _holds_lists(frame[name])]
    return frame.assign(
        **{name: ["; ".join(map(str, one)) for one in frame[name]] for name in listed}
    )


def _holds_lists(column: Any) -> bool:
    return len(column) > 0 and isinstance(column.iloc[0], list)


def drawn(frame: Any, title: str = "", right: tuple[str, ...] = ()) -> Any:
    """A frame as a table for a terminal; numbers and the columns in `right` are right-aligned."""
    import pandas as pd
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    ascii_only = terminal().options.ascii_only
    table = Table(title=escape(title) or None, box=box.ASCII2 if ascii_only else box.ROUNDED)
    for name in frame.columns:
        numeric = name in right or pd.api.types.is_numeric_dtype(frame[name])
        table.add_column(escape(str(name)), justify="right" if numeric else "left")
    for row in flat(frame).itertuples(index=False):
        table.add_row(*(escape(_shown(value)) for value in row))
    return table


def _shown(value: Any) -> str:
    from cpclean.intake.formats import plain

    if plain(value) is None:
        return ""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_file(frame: Any, out: str) -> None:
    """Write a frame in the format of the file's name: all of the file, or nothing."""
    from cpclean.intake.formats import table_bytes

    suffix = table_suffix(out)
    write_bytes(table_bytes(frame if suffix == ".json" else flat(frame), suffix), out)


def write_bytes(content: bytes, out: str) -> None:
    """Write a file, compressed if its name ends in .gz: all of it, or nothing."""
    with _draft(out) as draft:
        draft.write_bytes(gzip.compress(content) if out.lower().endswith(".gz") else content)


@contextmanager
def _draft(out: str) -> Iterator[Path]:
    """A temporary file that replaces the file once it is written completely."""
    ready(out)
    path = Path(out).expanduser()
    draft = path.with_name(f".part-{os.getpid()}-{path.name}")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def ready(out: str | None) -> None:
    """Refuse a place that cannot be written to before the work, not after it."""
    if out is not None:
        table_suffix(out)
        check_package(out, "writing")
        check_writable(Path(out).expanduser())


def check_package(file: str, doing: str) -> None:
    """Refuse a format whose package is not installed."""
    import importlib.util

    for suffix, package in _PACKAGES.items():
        if file.lower().endswith(suffix) and importlib.util.find_spec(package) is None:
            raise Mistake(
                f"{doing} {suffix} files needs a package that is not installed: pip install "
                '"cpclean[files]".'
            )


def table_suffix(out: str) -> str:
    """The format of a file to write, by its name."""
    for suffix in (*SUFFIXES, ".csv.gz"):
        if out.lower().endswith(suffix):
            return suffix.removesuffix(".gz")
    raise Mistake(f"the file to write must end in one of {', '.join(SUFFIXES)}; got {out!r}.")


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    folder = path.parent
    if path.is_dir():
        raise Mistake(f"{str(path)!r} is a directory; name a file in it.")
    if not folder.is_dir():
        raise Mistake(f"there is no folder {str(folder)!r} for {path.name}.")
    place = path if path.exists() else folder
    if not os.access(place, os.W_OK):
        raise Mistake(f"no permission to write {str(place)!r}. Name another file with --out.")
