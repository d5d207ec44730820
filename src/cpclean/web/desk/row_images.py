"""The picture of a row: a file beneath the folder of the table, named by one of its columns.

A cell of the table chooses the file, and the table may come from anybody: nothing is served but
pictures of a few kinds, by their first bytes, of a bounded size, and only from beneath the folder.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from cpclean.data.nulls import is_null
from cpclean.errors import TableError, UnknownRowError, offenders

MOST_BYTES = 20 * 2**20
LARGE = 300 * 2**10  # bytes from which a picture is folded away
LONGEST_PATH = 500
# What files begin with. No SVG, which may hold scripts.
_KINDS = {
    ".png": ("image/png", (b"\x89PNG\r\n\x1a\n",)),
    ".jpg": ("image/jpeg", (b"\xff\xd8\xff",)),
    ".jpeg": ("image/jpeg", (b"\xff\xd8\xff",)),
    ".gif": ("image/gif", (b"GIF87a", b"GIF89a")),
    ".webp": ("image/webp", (b"RIFF",)),
}


@dataclass(frozen=True)
class RowImage:
    """The picture of a row, as its cell names it.

    Attributes
    ----------
    name : str
        For people.
    link : str
        Where it is, if that is another site: browsers open it only if a person does.
    large : bool
    """

    name: str
    link: str = ""
    large: bool = False


def chosen_image(column: str, columns: Any, folder: Path | None) -> dict[str, str]:
    """Which column names pictures, for the `about` of a project; nothing if none was chosen."""
    name = column.strip()
    if not name:
        return {}
    known = [str(one) for one in columns]
    if name not in known:
        raise TableError(
            f"pictures cannot be named by {name!r}: the table has no such column; its columns are "
            f"{offenders(map(repr, known), limit=8)}.",
            field="image",
        )
    return {"image": name, **({} if folder is None else {"folder": str(folder.resolve())})}


def image_of(cell: Any, folder: Path | None) -> RowImage | None:
    """The picture that a cell names; None if there is none that can be shown."""
    if is_null(cell) or not isinstance(cell, str):
        return None
    text = cell.strip()
    parts = urlsplit(text) if text.isprintable() and len(text) <= LONGEST_PATH else None
    if parts is not None and parts.scheme in ("http", "https") and parts.hostname:
        return RowImage(PurePosixPath(parts.path).name or text, link=text)
    place = _place(text, folder)
    if place is None:
        return None
    return RowImage(place.name, large=place.stat().st_size > LARGE)


def content_of(cell: Any, folder: Path | None) -> tuple[bytes, str]:
    """The bytes and the media type of the file that a cell names, or an error."""
    place = _place(cell.strip(), folder) if isinstance(cell, str) else None
    if place is None:
        raise UnknownRowError("this row has no picture that can be shown.")
    media, begins = _KINDS[place.suffix.lower()]
    # The file may be another one by now: what is opened is looked at once more.
    try:
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        raise UnknownRowError("this row has no picture that can be shown.") from None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        content = file.read(MOST_BYTES + 1) if stat.S_ISREG(about.st_mode) else b""
    webp = media != "image/webp" or content[8:12] == b"WEBP"
    if len(content) > MOST_BYTES or not content.startswith(begins) or not webp:
        raise UnknownRowError("this row has no picture that can be shown.")
    return content, media


def _place(text: str, folder: Path | None) -> Path | None:
    """Where a picture is; None for all that is not a picture beneath the folder.

    Links that lead out of the folder are refused, as are names that begin with a point.
    """
    if folder is None or not text or len(text) > LONGEST_PATH or not text.isprintable():
        return None
    given = PurePosixPath(text)
    odd = any(one == ".." or one.startswith(".") for one in given.parts)
    if given.is_absolute() or odd or "\\" in text or ":" in text:
        return None
    if given.suffix.lower() not in _KINDS:
        return None
    try:
        root = folder.resolve(strict=True)
        found = (root / given).resolve(strict=True)
        about = found.stat()
    except (OSError, RuntimeError):  # not there, not for us, or a ring of links
        return None
    beneath = found.is_relative_to(root) and found.suffix.lower() in _KINDS
    if not beneath or any(one.startswith(".") for one in found.relative_to(root).parts):
        return None
    return found if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES else None
