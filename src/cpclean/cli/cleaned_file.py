"""The cleaned table: the file as it was, with what was told in the place of holes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.options import Training
from cpclean.cli.output import write_bytes, write_file
from cpclean.cli.tables import Problem, read_frame
from cpclean.cli.texts import text_of

if TYPE_CHECKING:
    from cpclean.intake.textfile import TextFile
    from cpclean.intake.writing import Told


@dataclass(frozen=True)
class Original:
    """A training file as it stands: all of its rows and columns, those that are dropped too."""

    frame: Any
    text: TextFile | None  # byte by byte; None if it is no text file
    whole: dict[str, str]  # dtypes of columns that pandas reads as floats for their holes alone
    domains: bool
    lines: bool  # whether row 0 is line 2 of the file, row 1 line 3, and so on

    def written(self, out: str, problem: Problem, told: Told) -> None:
        """Write it with what is told; cells that nobody told of stay as they are."""
        from cpclean.intake.textfile import text_suffix
        from cpclean.intake.writing import frame_with, text_with

        suffix = text_suffix(out)
        if self.text is None or suffix is None:
            write_file(frame_with(self.frame, told, self.whole), out)
            return
        rows = problem.rows.tolist()
        text = text_with(self.text, self.frame, problem.table, rows, told, self.domains)
        if text is None:
            write_file(frame_with(self.frame, told, self.whole), out)
            return
        if text.encoding != self.text.encoding:
            click.echo(
                f"Note: {self.text.encoding} does not have all letters of the answers, so that "
                f"{out} is UTF-8.",
                err=True,
            )
        write_bytes(text.for_suffix(suffix).content, out)


def read_original(training: Training) -> Original:
    """The training file once more, as it stands."""
    from cpclean.intake.writing import fits

    found = read_frame(training.file, training)
    frame = found.frame if training.domains else found
    text = text_of(training)
    if text is not None and not fits(text, frame):
        text = None
    whole = _whole_columns(training.file, frame, text)
    return Original(frame, text, whole, training.domains, _has_lines(training.file, len(frame)))


def _has_lines(file: str, n_rows: int) -> bool:
    """Whether every row of a file is a line: none is empty, no cell has a line end in it."""
    if file.lower().endswith((".csv", ".tsv")):
        content = Path(file).expanduser().read_bytes()
        return content.count(b"\n") + (not content.endswith(b"\n")) == n_rows + 1
    return file.lower().endswith(".xlsx")


def _whole_columns(file: str, frame: Any, text: TextFile | None) -> dict[str, str]:
    """Columns of whole numbers that pandas made floats of; a Parquet file tells which they are."""
    from cpclean.intake.writing import whole_columns

    if not file.lower().endswith(".parquet"):
        return whole_columns(frame, text)
    import pyarrow.parquet as pq  # type: ignore[import-untyped]
    import pyarrow.types as kinds  # type: ignore[import-untyped]

    fields = {field.name: field.type for field in pq.read_schema(Path(file).expanduser())}
    return {
        name: f"{'U' if kinds.is_unsigned_integer(fields[name]) else ''}Int{fields[name].bit_width}"
        for name in frame.columns
        if frame[name].dtype == "float64" and name in fields and kinds.is_integer(fields[name])
    }
