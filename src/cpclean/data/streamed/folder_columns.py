"""Folders such as ``year=2024`` as columns of the files in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from cpclean.data.streamed.addresses import FoundFiles
from cpclean.errors import TableError, offenders

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"[+-]?[0-9]+")
_MOST_WHOLE = 2**31 - 1


def folder_columns(found: FoundFiles) -> list[dict[str, Any]]:
    """The columns that folders stand for, file by file; whole numbers where all values are."""
    columns = [_named(path[len(found.base) :].strip("/").split("/")[:-1]) for path in found.paths]
    names = dict.fromkeys(name for one in columns for name in one)
    for path, one in zip(found.paths, columns, strict=True):
        if lacking := sorted(names.keys() - one.keys()):
            raise TableError(
                f"file {path!r} is in no folder that says its {offenders(map(repr, lacking))}, as "
                "those of the other files do."
            )
    whole = {name: _are_whole([one[name] for one in columns]) for name in names}
    return [{name: _value(one[name], whole[name]) for name in names} for one in columns]


def check_twice(folders: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    """Refuse a column that is in the files, too."""
    if both := sorted({name for one in folders for name in one} & set(names)):
        raise TableError(
            f"column {offenders(map(repr, both))} is in the files and in the names of their "
            "folders too. Rename one of them."
        )


def _named(parts: Sequence[str]) -> dict[str, str | None]:
    pairs = [part.partition("=") for part in parts if "=" in part]
    return {unquote(name): None if text == _NULL else unquote(text) for name, _, text in pairs}


def _are_whole(texts: list[str | None]) -> bool:
    some = [text for text in texts if text is not None]
    return bool(some) and all(
        _WHOLE.fullmatch(text) and abs(int(text)) <= _MOST_WHOLE for text in some
    )


def _value(text: str | None, whole: bool) -> Any:
    return int(text) if whole and text is not None else text
