"""Where the values of a table without holes come from: the same words everywhere."""

from __future__ import annotations

from cpclean.analysis.words import count
from cpclean.cleaning.known_cells import FilledCells
from cpclean.errors import offenders
from cpclean.intake.writing import KnownCells


def fill_words(filled: FilledCells, fill: str, prior: str | None) -> list[str]:
    """How many holes, and of which rows, have which values; one part per source that has some.

    Parameters
    ----------
    filled : FilledCells
    fill : {"default", "likely"}
    prior : str or None
        The name of the prior of the table, if it has one.

    Examples
    --------
    >>> filled = FilledCells({"age": {3: 41}}, {"age": {5: 30}, "city": {5: "A"}}, {"age": {9: 30}})
    >>> for part in fill_words(filled, "likely", "label"):
    ...     print(part)
    1 hole (row 3): what was answered
    2 holes of training rows (row 5): the most likely value given the label of the row
    1 hole of rows held out or left out (row 9): the most likely value, without looking at the label
    """
    usual = "the mean or the most frequent value of the column"
    given = " given the label of the row" if prior == "label" else ", by the prior of the table"
    likely = fill == "likely"
    parts = (
        (filled.answered, "", "what was answered"),
        (filled.guessed, " of training rows", f"the most likely value{given}" if likely else usual),
        (
            filled.elsewhere,
            " of rows held out or left out",
            "the most likely value, without looking at the label" if likely else usual,
        ),
    )
    return [_part(cells, whose, what) for cells, whose, what in parts if any(cells.values())]


def _part(cells: KnownCells, whose: str, what: str) -> str:
    n_holes = sum(map(len, cells.values()))
    rows = sorted({row for own in cells.values() for row in own})
    return f"{count(n_holes, 'hole')}{whose} (row {offenders(rows)}): {what}"
