"""The option --label: if it is missing, the error names the columns that the file has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cpclean.errors import offenders

# Names that people give to what is predicted.
USUAL_NAMES = ("label", "class", "target", "y", "outcome", "diagnosis", "species")


class LabelOption(click.Option):
    """An option for the label column, of a command that has an argument `file`."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value; where it is missing, an error that helps to choose one."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter as missing:
            file = ctx.params.get("file")
            names = _columns(file) if file and file != "-" and "://" not in file else []
            if not names:
                raise
            raise click.UsageError(
                f"name the column to predict with --label. The columns of {file!r} are "
                f"{offenders(map(repr, names), limit=20)}.{_guess(names)}",
                ctx,
            ) from missing


def _columns(file: str) -> list[str]:
    """The columns of a file; none of several files, which may take long to read."""
    from cpclean.intake.source_file import SourceFile

    if any(sign in file for sign in "*?[") or Path(file).expanduser().is_dir():
        return []
    source = SourceFile.at(file)
    return list(map(str, source.read(source.found_layout).columns))


def _guess(names: list[str]) -> str:
    """The column that is called as labels often are."""
    for usual in USUAL_NAMES:
        for name in names:
            if name.casefold() == usual:
                return f" Perhaps --label {name}?"
    return ""
