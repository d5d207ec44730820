"""What the API takes and gives: declared once, for validation and for its description.

A description in `Meta` continues the sentence "... must be": it is part of error messages and of
the OpenAPI description.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from cpclean.storage.checks import MOST_COMMENT
from cpclean.web.desk.desk import NAME_LENGTH
from cpclean.web.desk.exporting import SUFFIXES, Fill
from cpclean.web.desk.listing import RowsWanted
from cpclean.web.desk.views import AnsweredView, QuestionView

_FORMATS = [suffix.removeprefix(".") for suffix in (*SUFFIXES, ".zip")]

Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=NAME_LENGTH,
        description=f"the name of the person who answers, of 1 to {NAME_LENGTH} characters",
    ),
]
Number = Annotated[int, Meta(ge=0, description="a whole number, 0 or more")]
RequestId = Annotated[
    str, Meta(min_length=1, max_length=200, description="a text of 1 to 200 characters")
]
Seconds = Annotated[float, Meta(ge=0, description="a number, 0 or more")]
Switch = Annotated[bool, Meta(description="true or false")]
Values = Annotated[
    dict[str, str | int | float | bool | dict[str, list[str | int | float | None]] | None],
    Meta(
        description='an object from column names to values, or to {"between": [low, high]} where '
        "they are known only roughly"
    ),
]
Remark = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MOST_COMMENT,
        description=f"a text of 1 to {MOST_COMMENT} characters",
    ),
]
Reason = Literal["not recorded", "unreadable", "cannot be known", "ask somebody else"]
Format = Annotated[
    str,
    Meta(pattern=rf"^\.?({'|'.join(_FORMATS)})$", description=f"one of {', '.join(_FORMATS)}"),
]
Limit = Annotated[int, Meta(ge=1, le=10_000, description="a whole number from 1 to 10000")]
Tasks = Annotated[
    list[Any] | dict[str, Any],
    Meta(
        description="the list of tasks that Label Studio exports as JSON (not JSON-MIN), or one of "
        "these tasks"
    ),
]


# -- in --------------------------------------------------------------------------------------------


class Nothing(Struct, frozen=True):
    """A call without parameters."""


class QuestionQuery(Struct, frozen=True):
    """Who asks; with a row, for the question about that row."""

    who: Name
    row: Number | None = None


class Undo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Undo what somebody answered last."""

    who: Name
    request_id: RequestId | None = None


class Comment(Undo, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody remarks about a row."""

    row: Number
    comment: Remark


class Said(Undo, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody says about a row; with `next`, the next question comes with the response."""

    row: Number
    seconds: Seconds | None = None
    next: Switch | None = None
    comment: Remark | None = None


class Skip(Said, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Somebody does not know, for a reason; with `to`, that person is asked instead."""

    reason: Reason | None = None
    to: Name | None = None


class Answer(Said, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of a candidate, or values; `correct` overrules what others agreed on.

    With `seen` of the question, nothing is saved if the row was answered after that.
    """

    candidate: Number | None = None
    values: Values | None = None
    correct: Switch | None = None
    seen: Number | None = None


@dataclass(frozen=True)
class RowsQuery(RowsWanted):
    """Which rows; with `who`, with what that person answered about each."""

    who: Name | None = None


class ExportQuery(Struct, frozen=True):
    """What to export; `fill` guesses what nobody answered, `limit` bounds the number of tasks.

    `spreadsheet` puts an apostrophe before cells of a text file that a spreadsheet would take for
    formulas.
    """

    what: Literal["table", "log", "events", "audit", "labelstudio", "labelstudio-config"] = "table"
    format: Format = "csv"
    fill: Fill | None = None
    spreadsheet: Switch = False
    limit: Limit = 100


# -- out -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A question, or why there is none."""

    question: QuestionView | None
    done: bool
    stopped: str | None
    busy: bool


@dataclass(frozen=True)
class Taken(AnsweredView):
    """What was saved, and the next question where it was wanted."""

    next: Asked | UnsetType | None = UNSET


@dataclass(frozen=True)
class Refused:
    """A task that could not be taken in: its number in the list, and what is wrong with it."""

    task: int
    error: str


@dataclass(frozen=True)
class Imported:
    """How many annotations were saved, and which tasks were not."""

    taken: int
    refused: list[Refused]


@dataclass(frozen=True)
class Error:
    """What is wrong and the way out; `retry` tells whether the same call may work later."""

    error: str
    kind: str
    retry: bool
