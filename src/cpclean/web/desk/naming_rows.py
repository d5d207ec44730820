"""Rows as people recognise them: by the columns that identify them, and a link to their record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from cpclean.data.nulls import is_null
from cpclean.data.values import in_words
from cpclean.errors import TableError, offenders

_ID_LIKE = re.compile(r"(^|[^a-z])(id|ids|nr|no|number|key|code|name|uuid|ref)([^a-z]|$)", re.I)
_CAMEL_ID = re.compile(r"[a-z](Id|ID|Nr|No|Key|Code|Name)$")
# At least a letter and a digit, and no blank.
_CODE = re.compile(r"(?=\S*[^\W\d_])(?=\S*\d)\S{2,40}")
_FIELD = re.compile(r"\{([^{}]*)\}")
MOST_NAMED_BY = 3
LONGEST_ID = 40  # characters; uuids have 36
LONGEST_LINK = 2000


def checked_link(template: Any, columns: Mapping[str, Any] | None = None) -> str:
    """The template of a link to the record of a row, such as https://records.example/{id}.

    Only http and https, and the host must be fixed: no cell of the table may choose it.
    """
    text = template.strip() if isinstance(template, str) else ""
    parts = urlsplit(text)
    usable = parts.scheme in ("http", "https") and parts.hostname and len(text) <= LONGEST_LINK
    if not usable or any(sign in parts.netloc for sign in "{}@") or not text.isprintable():
        raise TableError(
            "a link to records must begin with http:// or https:// and a host, with columns in "
            f"braces after it, as in https://records.example/{{id}}; got {str(template)[:80]!r}.",
            field="link",
        )
    if columns is not None:
        unknown = [name for name in _FIELD.findall(text) if name not in columns]
        if unknown:
            raise TableError(
                f"the link to records names {offenders(map(repr, unknown))}, which is not a column "
                "of the table.",
                field="link",
            )
    return text


def naming(named_by: Iterable[str], link: str, columns: Iterable[str]) -> dict[str, Any]:
    """How people recognise rows, for the `about` of a project; only what was chosen, checked."""
    known = dict.fromkeys(map(str, columns))
    names = [name.strip() for name in named_by if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise TableError(
            f"rows cannot be named by {offenders(map(repr, unknown))}: the table has no such "
            f"column; its columns are {offenders(map(repr, known), limit=8)}.",
            field="named_by",
        )
    found: dict[str, Any] = {"named_by": names[:MOST_NAMED_BY]} if names else {}
    return {**found, "link": checked_link(link, known)} if link.strip() else found


def link_of(template: str, cells: Mapping[str, Any]) -> str:
    """The address of a row's record; "" if one of the cells that it needs is missing."""
    lacking = False

    def filled(found: re.Match[str]) -> str:
        nonlocal lacking
        value = cells.get(found[1])
        lacking = lacking or value is None or is_null(value)
        return "" if lacking else quote(in_words(value), safe="")

    made = _FIELD.sub(filled, template)
    return "" if lacking else made


def id_columns(columns: Mapping[str, list[Any]], spare: set[str]) -> list[str]:
    """The first column that looks like an id: a different value in every row.

    Parameters
    ----------
    columns : dict from column to values
        In the order of the file.
    spare : set of str
        The columns that play no part; such a one needs no telling name. Nor does a column of codes
        such as P-1007: words with digits in them.

    Examples
    --------
    >>> id_columns({"age": [41, 7], "sample": ["S01", "S02"]}, set())
    ['sample']
    >>> id_columns({"age": [41, 7], "seat": ["12", "13"]}, set())
    []
    """
    for name, values in columns.items():
        told = bool(_ID_LIKE.search(name) or _CAMEL_ID.search(name))
        if (told or name in spare or all(map(_is_code, values))) and _identifies(values):
            return [name]
    return []


def _is_code(value: Any) -> bool:
    """Whether a value is a word of letters and digits."""
    return isinstance(value, str) and bool(_CODE.fullmatch(value))


def _identifies(values: list[Any]) -> bool:
    if not values or any(is_null(value) for value in values):
        return False
    if any(isinstance(value, float) and not value.is_integer() for value in values):
        return False
    if any(isinstance(value, str) and len(value) > LONGEST_ID for value in values):
        return False  # a text about the row, by which nobody recognises it
    try:
        return len(set(values)) == len(values)
    except TypeError:
        return False
