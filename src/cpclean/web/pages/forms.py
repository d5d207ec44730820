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
from cpclean.storage.checks import MOST_COMMENT
from cpclean.storage.events import REASONS

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
    typed, picked, rough : dict from column to text
        What was typed for each hole; what was chosen from a list; and a rough answer, as JSON.
        Of several, the first counts.
    confirmed : dict from column to text
        Values that were asked back and sent once more.
    seen : int or None
        The number of the last event that the page took into account.
    """

    row: int
    number: int
    request_id: str
    picked: dict[str, str] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    rough: dict[str, str] = field(default_factory=dict)
    confirmed: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    correct: bool = False  # the page showed what was answered before
    seen: int | None = None
    comment: str = ""
    reason: str = ""
    to: str = ""

    @property
    def exact(self) -> dict[str, str]:
        """The text for each hole that was answered exactly."""
        typed = {name: text for name, text in self.typed.items() if text.strip()}
        return {**self.picked, **typed}

    @property
    def values(self) -> dict[str, Any]:
        """What was answered for each hole."""
        return {**{name: rough_of(text) for name, text in self.rough.items()}, **self.exact}


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


def answer_of(form: Mapping[str, Any], what: str = "answer") -> AnswerForm:
    """An answer, or what else the same form sends, or a `FieldError`."""
    row = whole(text(form, "number") or text(form, "row"))  # pages of old had another "row"
    if row is None:
        raise FieldError("row", "the form does not say which row it is about. Open the row again.")
    typed: dict[str, str] = {}
    more: dict[str, dict[str, str]] = {"pick": {}, "rough": {}, "sure": {}}
    for at in range(MOST_HOLES):
        column = text(form, f"column-{at}")
        if f"column-{at}" not in form:
            break
        typed[column] = text(form, f"value-{at}")
        for name, found in more.items():
            if chosen := text(form, f"{name}-{at}"):
                found[column] = chosen
    number = whole(text(form, "number"))
    besides = [text(form, name) for name in ("comment", "reason", "to")]
    said = json.dumps([what, typed, more["pick"], more["rough"], besides], sort_keys=True)
    # The same page may come back from the browser's memory with another answer: a new request.
    mark = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:12]
    return AnswerForm(
        row,
        row if number is None else number,
        f"{request_id_of(form)}-{mark}",
        picked=more["pick"],
        typed=typed,
        rough=more["rough"],
        confirmed=more["sure"],
        seconds=seconds_of(form),
        correct=text(form, "correct") == "1",
        seen=whole(text(form, "seen")),
        comment=besides[0].strip()[:MOST_COMMENT],
        reason=besides[1] if besides[1] in REASONS else "",
        to=" ".join(besides[2].split()),
    )


def rough_of(text: str) -> Any:
    """A rough answer: a range, or the name of what is not listed.

    >>> rough_of("[20, null]"), rough_of('"(other)"')
    ({'between': [20, None]}, '(other)')
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, list) and len(found) == 2:
        return {"between": found}
    if isinstance(found, str) and found:
        return found
    raise FieldError("rough", "the form has a range that cannot be read. Open the row again.")


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
