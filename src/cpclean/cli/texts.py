"""Text files: how their cells are separated and written, and what may be wrong with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cpclean.cli.mistakes import Mistake
from cpclean.cli.options import Training

if TYPE_CHECKING:
    from cpclean.intake.textfile import TextFile

_TEXT = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)
# What separates cells where a comma does not, as it is typed.
_SIGNS = {";": "';'", "\t": "tab", "|": "'|'"}


def is_text(file: str) -> bool:
    """Whether a file is CSV or TSV, by its name."""
    return file == "-" or _TEXT.search(file) is not None


def text_of(given: Training) -> TextFile | None:
    """The training file byte by byte, if it is one of text that can be read again."""
    from cpclean.intake.textfile import TextFile

    if given.file == "-" or "://" in given.file:
        return None
    return TextFile.read(given.file, given.sep, given.encoding, given.decimal)


def _sep(file: str, given: Training) -> str:
    usual = "\t" if re.search(r"\.tsv(\.gz)?$", file, re.IGNORECASE) else ","
    return given.sep or usual


def reading(file: str, given: Training) -> dict[str, Any]:
    """Options for `read_csv`, where a text file is not as usual."""
    if not is_text(file):
        return {}
    from cpclean.intake.layout import reading_options

    if given.decimal != "." and given.domains:
        raise Mistake("with --domains, numbers are written with a point: leave out --decimal.")
    options = reading_options(given.sep, given.encoding, given.decimal, given.null)
    if given.domains:
        options.pop("low_memory", None)
    return options


def way_out(file: str, given: Training, problem: str) -> str:
    """What to do about a text file that cannot be read; "" where nothing comes to mind."""
    if not is_text(file):
        return ""
    if "codec can't decode" in problem or "surrogates" in problem:
        return (
            f"It is not {given.encoding}: save it as UTF-8, or say what it is, such as "
            f"--encoding {_guessed(file)}."
        )
    from cpclean.intake.layout import likely_separator

    header = _header(file, given)
    sign = likely_separator(header)
    if given.sep is None and header.count(sign) > header.count(_sep(file, given)):
        return f"If its cells are separated by another sign, say so: --sep {_SIGNS[sign]}."
    return ""


def check_separated(names: list[Any], file: str, given: Training) -> None:
    """Refuse a table of one column that looks like several."""
    if len(names) != 1 or given.sep is not None or not is_text(file) or names[0] == given.label:
        return
    from cpclean.intake.layout import likely_separator

    name = str(names[0])
    sign = likely_separator(name)
    if sign in name:
        raise Mistake(
            f"{file} has one column only, {name!r}. If its cells are separated by another sign, "
            f"say so: --sep {_SIGNS[sign]}"
            f"{', and perhaps --decimal ,' if sign == ';' else ''}."
        )


def _header(file: str, given: Training) -> str:
    """The first line; none of standard input or a pipe, which cannot be read twice."""
    path = Path(file).expanduser()
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as opened:
            return opened.readline(2**16).decode(given.encoding, "replace")
    except OSError:
        return ""


def _guessed(file: str) -> str:
    path = Path(file).expanduser()
    if not path.is_file():
        return "latin-1"
    from cpclean.intake.layout import marked_encoding

    return marked_encoding(path) or "latin-1"
