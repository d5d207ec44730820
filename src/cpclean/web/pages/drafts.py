"""Uploaded files, what a person typed and chose about them, and the choices which that makes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cpclean.data.columns import KINDS
from cpclean.intake.choices import MOST_COLUMNS, Choices, HoldOut, PointsFile, ToPredict
from cpclean.intake.layout import SEPARATORS, Layout
from cpclean.intake.source_file import SourceFile
from cpclean.web.pages.forms import FieldError, text, whole

PRIORS = (
    ("label", "as often as among rows of the same label"),
    ("observed", "as often as in the column"),
    ("uniform", "all alike"),
)
SPACES = (
    (
        "forest",
        "leaves of a forest",
        "Rows are near if most trees of a forest put them together; usually the most accurate.",
    ),
    (
        "plain",
        "scaled columns",
        "Rows are near if their values are, and all columns count alike; the simplest.",
    ),
    (
        "random",
        "leaves of random splits",
        "Like the forest, but with trees that look neither at labels nor at what fills a hole.",
    ),
)
USUAL_SPACE = "forest"
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
_TYPED = ("share", "neighbors", "null", "target", "answers", "sure")
_LONG = ("named_by", "link", "image")
# Bytes of one uploaded file when it is unpacked: a small file can unpack to all there is.
MOST_UNPACKED = 200 * 2**20
LONGEST_VALUES = 2000  # characters of the candidates that are typed for a column


@dataclass(frozen=True)
class Files:
    """The table of a draft, and its rows to predict if they are in a file of their own."""

    table: SourceFile
    points: SourceFile | None = None


@dataclass(frozen=True)
class Draft:
    """Files that were uploaded, under names of ours; `name` is what the person calls it."""

    id: str
    name: str
    path: Path
    points_name: str = ""
    points_path: Path | None = None

    def files(self) -> Files:
        """The files, for one request: each is opened at most once."""
        points = None
        if self.points_path is not None:
            points = SourceFile.at(str(self.points_path), self.points_name, True, MOST_UNPACKED)
        table = SourceFile.at(str(self.path), self.name, most_unpacked=MOST_UNPACKED)
        return Files(table, points)

    def remove(self) -> None:
        """Delete the files."""
        for path in (self.path, self.points_path):
            if path is not None:
                path.unlink(missing_ok=True)


@dataclass(frozen=True)
class SetupForm:
    """The second step as a person left it; numbers stay text until they are used."""

    label: str = ""
    validation: str = "share"
    share: str = "20"
    neighbors: str = ""  # as usual in the space
    prior: str = "label"
    null: str = ""
    target: str = "100"
    sure: str = ""  # the percent at which predictions are settled; "": when they are certain
    answers: str = "1"
    sep: str = ""  # this and the next two: "" is as it was found out
    encoding: str = ""
    decimal: str = ""
    kinds: dict[str, str] = field(default_factory=dict)
    repairs: dict[str, str] = field(default_factory=dict)  # candidates of a column, with | between
    dropped: frozenset[str] = frozenset()
    space: str = field(default_factory=lambda: USUAL_SPACE)
    drop_unlabelled: bool = False
    drop_empty: bool = False
    named_by: str = ""  # columns by which people recognise a row, with commas between
    link: str = ""  # the address of a row's record, with columns in braces
    image: str = ""  # the column that has addresses of pictures

    @classmethod
    def first(cls, draft: Draft, form: Mapping[str, Any] | None = None) -> SetupForm:
        """What is proposed for a file."""
        by_file, written = draft.points_path is not None, _written(form or {})
        return cls(
            validation="file" if by_file else "share",
            sep=written["sep"],
            encoding=written["encoding"],
            decimal=written["decimal"],
            drop_unlabelled=True,  # as in a terminal; what is left out is said
        )

    @classmethod
    def of(cls, form: Mapping[str, Any], draft: Draft) -> SetupForm:
        """What was sent, whatever it is worth."""
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
        typed |= {name: text(form, name)[:2000].strip() for name in _LONG}
        return cls(
            label=text(form, "label"),
            validation="file" if by_file else "share",
            prior=prior if prior in dict(PRIORS) else "label",
            kinds=kinds,
            repairs=repairs,
            dropped=frozenset(dropped),
            space=_known_space(text(form, "space")),
            drop_unlabelled=bool(text(form, "drop_unlabelled")),
            drop_empty=bool(text(form, "drop_empty")),
            **typed,
            **_written(form),
        )

    def without_kinds(self) -> SetupForm:
        """The same with all kinds as they are detected."""
        return replace(self, kinds={})

    def as_found(self) -> SetupForm:
        """The same with the file read as it looks by itself."""
        return replace(self, kinds={}, sep="", encoding="", decimal="")

    def layout(self, files: Files) -> Layout | None:
        """How the table is read: as it was found out, but for what was chosen."""
        found = files.table.found_layout
        if found is None:
            return None
        return Layout(
            self.sep or found.sep, self.encoding or found.encoding, self.decimal or found.decimal
        )

    @property
    def null_tokens(self) -> tuple[str, ...]:
        """Texts that stand for nothing: with blanks between, or in quotes.

        >>> SetupForm(null='? -999 "not known"').null_tokens
        ('?', '-999', 'not known')
        """
        found = re.findall(r'"([^"]+)"|(\S+)', self.null)
        return tuple(quoted or bare for quoted, bare in found)

    def choices(self, files: Files) -> Choices:
        """What was chosen about the table."""
        return Choices(
            label=self.label,
            drop=tuple(sorted(self.dropped)),
            kinds=self.kinds,
            null_tokens=self.null_tokens,
            layout=self.layout(files),
            repairs=self.repairs or "default",
            prior=self.prior,
            space=self.space,
            drop_unlabelled=self.drop_unlabelled,
            drop_empty=self.drop_empty,
        )

    def to_predict(self, files: Files) -> ToPredict:
        """Which rows are to be predicted."""
        if self.validation == "file" and files.points is not None:
            return PointsFile(files.points, files.points.found_layout)
        return HoldOut(self.number("share") / 100)

    @property
    def n_neighbors(self) -> int | None:
        """How many rows vote; None: as usual in the space."""
        return self.number("neighbors") if self.neighbors.strip() else None

    @property
    def level(self) -> float | None:
        """The level at which predictions are settled; None: only certain ones are."""
        given = self.sure.strip().removesuffix("%").replace(",", ".")
        if not given:
            return None
        try:
            level = float(given) / 100
        except ValueError:
            level = 0.0
        if not 0.5 < level < 1:
            raise FieldError(
                "sure", f"how sure is a number of percent between 50 and 100; got {self.sure!r}."
            )
        return level

    def number(self, name: str) -> int:
        """A number that was typed, or a `FieldError`."""
        what, low, high = _NUMBERS[name]
        given = getattr(self, name)
        found = whole(given.strip())
        if found is None or not low <= found <= high:
            raise FieldError(
                name, f"{what} is a whole number from {low} to {high:,}; got {given!r}."
            )
        return found


_NUMBERS = {
    "share": ("the share to hold out", 1, 90),
    "neighbors": ("the number of neighbours", 1, 10_000),
    "target": ("the percent to stop at", 1, 100),
    "answers": ("the number of people to ask for each row", 1, 9),
}


def likely_label(names: Iterable[Any]) -> str:
    """The column that is the label by its name; "" if there is none."""
    known = {str(name).strip().lower(): str(name) for name in names}
    return next((known[one] for one in _LABELS if one in known), "")


def _known_space(sent: str) -> str:
    return sent if sent in [name for name, _, _ in SPACES] else USUAL_SPACE


def _written(form: Mapping[str, Any]) -> dict[str, str]:
    """What was chosen about how the file is written; "" for the rest."""
    known = {"sep": SEPARATORS, "encoding": dict(ENCODINGS), "decimal": dict(DECIMALS)}
    sent = {name: text(form, name) for name in known}
    return {name: sent[name] if sent[name] in signs else "" for name, signs in known.items()}
