"""The cleaned table in the format of the file that it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cpclean.data.table import IncompleteTable
from cpclean.intake.formats import table_bytes
from cpclean.intake.spreadsheets import escaped
from cpclean.intake.textfile import TextFile, usual_sep
from cpclean.intake.writing import KnownCells, fits, frame_with, text_with, whole_columns

_TEXTS = (".csv", ".tsv")


@dataclass(frozen=True)
class Cleaned:
    """The bytes of a cleaned table.

    Attributes
    ----------
    content : bytes
    encoding : str
        Of its text: that of the file, unless that lacks letters of the answers.
    from_text : bool
        Whether it is the text file that it came from, with other cells; or else written anew.
    """

    content: bytes
    encoding: str = "utf-8"
    from_text: bool = False

    def for_spreadsheets(self, given: TextFile | None, suffix: str) -> bytes:
        """The same with texts that a spreadsheet would take for formulas escaped, if it is text.

        Parameters
        ----------
        given : TextFile or None
            The file that the table came from.
        suffix : str
            Of the file that is made.
        """
        if suffix not in _TEXTS:
            return self.content
        sep = usual_sep(suffix)
        if self.from_text and given is not None and given.suffix == suffix:
            sep = given.sep
        encoding = self.encoding or "utf-8"
        return escaped(TextFile(self.content, sep, encoding, suffix=suffix)).content


@dataclass(frozen=True)
class Original:
    """A table as it was given: all its rows and columns, also those that play no part.

    Parameters
    ----------
    frame : pandas.DataFrame
    text : TextFile, optional
        The file that it was read from, if that is a text file.
    domains : bool
        Whether the file lists what cells can be.
    whole : dict from column to dtype, optional
        Columns of whole numbers, if the file says which they are.
    """

    frame: Any
    text: TextFile | None = None
    domains: bool = False
    whole: Mapping[str, str] | None = None

    @property
    def encoding(self) -> str:
        """Of the file, if it is a text file."""
        return "utf-8" if self.text is None else self.text.encoding

    def cleaned(
        self, table: IncompleteTable, rows: Sequence[int], known: KnownCells, suffix: str
    ) -> Cleaned:
        """The table with what is known in the place of holes; all else stays as it is.

        From text to text, every other byte stays; any other table is written anew, with its values.

        Parameters
        ----------
        table : IncompleteTable
        rows : sequence of int
            Where each row of the table stands in the frame.
        known : dict from column to dict from row of the frame to value
        suffix : {".csv", ".tsv", ".json", ".parquet", ".xlsx"}
        """
        text = self.text if self.text is not None and fits(self.text, self.frame) else None
        if text is not None and suffix in (".csv", ".tsv"):
            made = text_with(text, self.frame, table.columns, rows, known, self.domains)
            if made is not None:
                return Cleaned(made.for_suffix(suffix).content, made.encoding, True)
        return Cleaned(table_bytes(frame_with(self.frame, known, self._whole(text)), suffix))

    def _whole(self, text: TextFile | None) -> Mapping[str, str]:
        if self.whole is None:
            return whole_columns(self.frame, text)
        # Others are whole already, or have lost nothing.
        floats = {str(name) for name in self.frame.columns[self.frame.dtypes == "float64"]}
        return {name: dtype for name, dtype in self.whole.items() if name in floats}
