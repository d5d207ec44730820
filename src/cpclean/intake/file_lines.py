"""Which line of its file a row begins on: the number that an editor or a spreadsheet shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cpclean.errors import offenders
from cpclean.intake.textfile import TextFile


@dataclass(frozen=True)
class FileLines:
    """The lines of the rows of a file.

    Attributes
    ----------
    numbers : sequence of int
        The line of each row, from 1; the header is before the first. Empty where rows have no
        lines, as in Parquet and JSON: their number is all that there is.

    Examples
    --------
    >>> text = TextFile(b'age,note\\n41,"two\\nlines"\\n65,none\\n')
    >>> lines = FileLines.of(text, 2)
    >>> lines.at(0), lines.at(1), lines.words(1)
    (2, 4, ', line 4 of the file')
    >>> FileLines.of(None, 2, ".xlsx").at(1), FileLines.of(None, 2, ".parquet").at(1)
    (3, None)
    """

    numbers: Sequence[int] = ()

    @classmethod
    def of(cls, text: TextFile | None, n_rows: int, suffix: str = "") -> FileLines:
        """Those of a file with this many rows.

        Parameters
        ----------
        text : TextFile or None
            The file, if it is a text file: cells of several lines and empty lines count.
        suffix : str
            Of its name; in a workbook every row is a line of its sheet.
        """
        if text is not None:
            found = text.line_numbers[1:]
            return cls(found if len(found) == n_rows else ())
        return cls(range(2, n_rows + 2) if suffix.lower().endswith(".xlsx") else ())

    def at(self, row: int) -> int | None:
        """The line on which a row begins; None if that is not known."""
        return self.numbers[row] if 0 <= row < len(self.numbers) else None

    def words(self, row: int) -> str:
        """The line, to be put after the number of a row; "" if it is not known."""
        line = self.at(row)
        return "" if line is None else f", line {line} of the file"

    def of_rows(self, rows: Sequence[int]) -> str:
        """The lines of several rows, in a sentence of its own; "" unless all are known.

        >>> FileLines(range(2, 9)).of_rows([0, 3])
        ' In the file, these are lines 2, 5.'
        """
        found = [self.at(row) for row in rows]
        if not found or None in found:
            return ""
        which = "this is line" if len(found) == 1 else "these are lines"
        return f" In the file, {which} {offenders(found)}."

    def remark(self, row: int) -> dict[str, int]:
        """The number of a row and its line, as logs have them."""
        line = self.at(row)
        return {"row_in_file": row, **({} if line is None else {"line": line})}
