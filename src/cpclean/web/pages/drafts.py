"""Uploaded files, what a person chose about them, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cpclean.data.columns import KINDS
from cpclean.errors import CPCleanError, TableError
from cpclean.intake.layout import SEPARATORS, Layout, layout_of
from cpclean.intake.reading import read_table
from cpclean.web.pages.forms import MOST_HOLES, FieldError, text

PRIORS = (
    ("label", "as often as among rows of the same label"),
    ("observed", "as often as in the column"),
    ("uniform", "all alike"),
)
DECIMALS = ((".", "point"), (",", "comma"))
ENCODINGS = (
    ("utf-8", "UTF-8"),
    ("cp1252", "Windows, western (cp1252)"),
    ("latin-1", "ISO 8859-1 (latin-1)"),
    ("utf-16", "UTF-16"),
    ("cp1250", "Windows, central European (cp1250)"),
    ("cp1251", "Windows, Cyrillic (cp1251)"),
    ("shift_jis", "Japanese (Shift JIS)"),
    ("gb18030", "Chinese (GB 18030)"),
)
# Names that label columns often have, the likeliest first; otherwise nobody guesses.
_LABELS = ("label", "target", "class", "y", "outcome", "species")
_TYPED = ("share", "neighbors", "null", "target", "answers")
MOST_COLUMNS = MOST_HOLES
LONGEST_VALUES = 2000  # characters of the candidates that are typed for a column


@dataclass(frozen=True)
class Draft:
    """Files that were uploaded, under names of ours; `name` is what the person calls it."""

    id: str
    name: str
    path: Path
    points_name: str = ""
    points_path: Path | None = None

    @cached_property
    def layout(self) -> Layout | None:
        """How the table is written, found out by looking at it; None if it is no text file."""
        return layout_of(self.path)

    @cached_property
    def points_layout(self) -> Layout | None:
        """The same for the second file."""
        return None if self.points_path is None else layout_of(self.points_path)

    def remove(self) -> None:
        """Delete the files."""
        for path in (self.path, self.points_path):
            if path is not None:
                path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Choice:
    """What a person chose in the second step; numbers stay text until they are used."""

    label: str = ""
    validation: str = "share"
    share: str = "20"
    neighbors: str = "3"
    prior: str = "label"
    null: str = ""
    target: str = "100"
    answers: str = "1"
    sep: str = ""  # this and the next two: "" is as it was found out
    encoding: str = ""
    decimal: str = ""
    kinds: dict[str, str] = field(default_factory=dict)
    repairs: dict[str, str] = field(default_factory=dict)  # candidates of a column, with | between
    dropped: frozenset[str] = frozenset()

    @classmethod
    def first(cls, draft: Draft, form: Mapping[str, Any] | None = None) -> Choice:
        """What is proposed for a file; an error if it cannot be read."""
        by_file, written = draft.points_path is not None, _written(form or {})
        given = cls(
            validation="file" if by_file else "share",
            sep=written["sep"],
            encoding=written["encoding"],
            decimal=written["decimal"],
        )
        return replace(given, label=likely_label(read(draft, draft.path, given).columns))

    def without_kinds(self) -> Choice:
        """The same with all kinds as they are detected."""
        return replace(self, kinds={})

    def as_found(self) -> Choice:
        """The same with the file read as it looks by itself."""
        return replace(self, kinds={}, sep="", encoding="", decimal="")

    def layout(self, draft: Draft) -> Layout | None:
        """How the table is read: as it was found out, but for what was chosen."""
        found = draft.layout
        if found is None:
            return None
        return Layout(
            self.sep or found.sep, self.encoding or found.encoding, self.decimal or found.decimal
        )

    @property
    def null_tokens(self) -> tuple[str, ...]:
        """Texts that stand for nothing."""
        return tuple(self.null.split())


def likely_label(names: Iterable[Any]) -> str:
    """The column that is the label by its name; "" if there is none."""
    known = {str(name).strip().lower(): str(name) for name in names}
    return next((known[one] for one in _LABELS if one in known), "")


def _written(form: Mapping[str, Any]) -> dict[str, str]:
    """What was chosen about how the file is written; "" for the rest."""
    known = {"sep": SEPARATORS, "encoding": dict(ENCODINGS), "decimal": dict(DECIMALS)}
    sent = {name: text(form, name) for name in known}
    return {name: sent[name] if sent[name] in signs else "" for name, signs in known.items()}


def choice_of(form: Mapping[str, Any], draft: Draft) -> Choice:
    """The choices as they were sent, whatever they are worth."""
    kinds, repairs, dropped = {}, {}, set()
    for at in range(MOST_COLUMNS):
        if f"column-{at}" not in form:
            break
        name, kind = text(form, f"column-{at}"), text(form, f"kind-{at}")
        if kind in KINDS:
            kinds[name] = kind
        if typed_values := text(form, f"values-{at}").strip():
            repairs[name] = typed_values[:LONGEST_VALUES]
        if text(form, f"drop-{at}"):
            dropped.add(name)
    by_file = text(form, "validation") == "file" and draft.points_path is not None
    prior = text(form, "prior")
    typed = {name: text(form, name)[:40] for name in _TYPED}
    return Choice(
        label=text(form, "label"),
        validation="file" if by_file else "share",
        prior=prior if prior in dict(PRIORS) else "label",
        kinds=kinds,
        repairs=repairs,
        dropped=frozenset(dropped),
        **typed,
        **_written(form),
    )


# -- reading ---------------------------------------------------------------------------------------


def read(draft: Draft, path: Path, choice: Choice) -> Any:
    """A file of a draft; errors call it by the name that people know."""
    own = path == draft.path
    called = draft.name if own else draft.points_name
    kinds = choice.kinds if own else {}
    try:
        layout = choice.layout(draft) if own else draft.points_layout
        options = {} if layout is None else layout.options(choice.null_tokens)
        frame = read_table(path, null_tokens=choice.null_tokens, kinds=kinds, **options)
    except CPCleanError as error:
        words = str(error).replace(repr(str(path)), repr(called)).replace(str(path), called)
        raise _kind_error(error, called, words, own) from error
    if own:
        _check_width([str(name) for name in frame.columns], called, layout)
    return frame


def _kind_error(error: CPCleanError, called: str, words: str, own: bool) -> Exception:
    """What is wrong with a file in words for people who do not know pandas, and the way out."""
    cause, told = error.__cause__, str(error)
    other = "choose another {} under More settings" if own else "save it with commas, as UTF-8"
    if isinstance(cause, UnicodeError):
        return FieldError(
            "encoding", f"{called!r} has letters that are no letters in this encoding: "
            f"{other.format('encoding')}, or save the file as UTF-8.",
        )  # fmt: skip
    if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", told):
        expected, line, seen = found.groups()
        return FieldError(
            "sep", f"line {line} of {called!r} has {seen} cells, where {expected} are expected. "
            "Put cells that hold the separator in quotes, or, if something else separates them, "
            f"{other.format('separator')}.",
        )  # fmt: skip
    if "more cells than its header has names" in told:
        return FieldError(
            "sep", f"the rows of {called!r} have more cells than its first line has names. Name "
            "every column there, take separators off the ends of the lines, or, if something else "
            f"separates cells, {other.format('separator')}.",
        )  # fmt: skip
    if isinstance(cause, ImportError):
        return TableError(
            f"{called!r} cannot be read here, because the server lacks a package for it. Save the "
            'table as CSV, or have the server\'s owner run pip install "cpclean[files]".'
        )
    if found := re.search(r"cannot be read as (csv|excel|parquet):", told):
        kind = {"csv": "a CSV", "excel": "an Excel", "parquet": "a Parquet"}[found[1]]
        return TableError(
            f"{called!r} cannot be read as {kind} file: it is damaged, or something else. Open it "
            "in the program that made it, and save it as CSV."
        )
    return TableError(words)


def _check_width(names: list[str], called: str, layout: Layout | None) -> None:
    if len(names) > MOST_COLUMNS:
        raise TableError(
            f"{called!r} has {len(names):,} columns; the most is {MOST_COLUMNS:,}. Leave out those "
            "that say nothing about the label."
        )
    if len(names) == 1:
        way = "" if layout is None else (
            " If something else separates its cells, choose another separator under More settings."
        )  # fmt: skip
        raise FieldError(
            "sep", f"{called!r} has one column only, {names[0][:40]!r}. A table has a label column "
            f"and at least one other, with their names in the first line.{way}",
        )  # fmt: skip
