"""What people send: the fields of forms and addresses, checked and in plain values."""

from __future__ import annotations

import hashlib
import json
import math
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from cpclean.errors import CPCleanError

LONGEST_NAME = 60
MOST_SECONDS = 24 * 3600.0
MOST_HOLES = 2000
_PLACES = ("/question", "/progress", "/rows", "/export")


class FieldError(CPCleanError, ValueError):
    """A field of a form cannot be used; `field` is its name."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words, field=field)


@dataclass(frozen=True)
class AnswerForm:
    """An answer as it was sent.

    Attributes
    ----------
    picked, typed : dict from column to text
        What was chosen from a list for each hole, and what was typed, which takes precedence.
    """

    row: int
    number: int
    request_id: str
    candidate: int | None
    picked: dict[str, str] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    correct: bool = False  # the page showed what was answered before

    @property
    def values(self) -> dict[str, str]:
        """The text for each hole that was answered."""
        typed = {name: text for name, text in self.typed.items() if text.strip()}
        return {**self.picked, **typed}


def new_request_id() -> str:
    """The id of what is about to be sent; made with the page, so that it counts once."""
    return uuid4().hex


def text(form: Mapping[str, Any], name: str) -> str:
    """A field of text; "" if it is absent or a file."""
    found = form.get(name)
    return found if isinstance(found, str) else ""


def whole(given: str | None, least: int = 0) -> int | None:
    """A whole number; None for anything else."""
    if given is None or not given.isascii() or not given.isdigit() or len(given) > 12:
        return None
    number = int(given)
    return number if number >= least else None


def seconds_of(form: Mapping[str, Any]) -> float | None:
    """How long it took: by the page's clock, or without script since the page was made."""
    for name, since in (("seconds", None), ("asked_at", time.time())):
        try:
            found = float(text(form, name))
        except ValueError:
            continue
        taken = found if since is None else since - found
        if math.isfinite(taken) and 0 <= taken <= MOST_SECONDS:
            return round(taken, 2)
    return None


def answer_of(form: Mapping[str, Any]) -> AnswerForm:
    """An answer, or a `FieldError`."""
    row = whole(text(form, "row"))
    if row is None:
        raise FieldError("row", "the form does not say which row it is about. Open the row again.")
    picked, typed = {}, {}
    for at in range(MOST_HOLES):
        column = text(form, f"column-{at}")
        if f"column-{at}" not in form:
            break
        typed[column] = text(form, f"value-{at}")
        if chosen := text(form, f"pick-{at}"):
            picked[column] = chosen
    number, candidate = whole(text(form, "number")), whole(text(form, "candidate"))
    said = json.dumps([candidate, picked, typed], sort_keys=True)
    # The same page may come back from the browser's memory with another answer: a new request.
    mark = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:12]
    return AnswerForm(
        row,
        row if number is None else number,
        f"{request_id_of(form)}-{mark}",
        candidate,
        picked,
        typed,
        seconds_of(form),
        text(form, "correct") == "1",
    )


def request_id_of(form: Mapping[str, Any]) -> str:
    """The id that the page was made with; a form without one is a new request."""
    return text(form, "request_id")[:64] or new_request_id()


def name_of(form: Mapping[str, Any]) -> str:
    """The name of a person: any visible text in one line."""
    given = unicodedata.normalize("NFC", text(form, "who"))
    seen = "".join(" " if unicodedata.category(sign)[0] in "CZ" else sign for sign in given)
    name = " ".join(seen.split())
    if not name:
        raise FieldError("who", "enter a name, such as Ann.")
    if len(name) > LONGEST_NAME:
        raise FieldError(
            "who", f"a name must have at most {LONGEST_NAME} characters; got {len(name)}."
        )
    return name


def place_after(given: str) -> str:
    """Where to go next: a page of ours, whatever the address says."""
    found = urlsplit(given) if given.isprintable() and "\\" not in given else urlsplit("")
    if found.scheme or found.netloc or found.path not in _PLACES:
        return "/question"
    return f"{found.path}?{found.query}" if found.query else found.path


def sentence(words: str) -> str:
    """The text of an error as a sentence: errors begin with a small letter.

    >>> sentence("n_neighbors must be an int.")
    'n_neighbors must be an int.'
    >>> sentence("the value must be a number")
    'The value must be a number'
    """
    first = words.split(" ", 1)[0]
    return words if "_" in first else words[:1].upper() + words[1:]
