"""Requests as the messages they are meant to be, or an error that says what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec.inspect
from starlette.requests import Request

from cpclean.errors import CPCleanError, offenders


class BodyError(CPCleanError, ValueError):
    """A request cannot be understood."""


def query_as(kind: Any, request: Request, who: str | None) -> Any:
    """The query of a request; `who` is the name in the browser's cookie, for queries without."""
    found = {**_named(kind, who), **request.query_params}
    return _converted(kind, found, strict=False)


async def body_as(kind: Any, request: Request, who: str | None) -> Any:
    """The body of a request, a JSON object unless `kind` says otherwise; nulls count as absent."""
    found = await _json_of(request)
    if "who" in _hints(kind):
        if not isinstance(found, dict):
            raise BodyError(f"the body must be a JSON object; got {_short(found)}.")
        given = {name: value for name, value in found.items() if value is not None}
        found = {**_named(kind, request.query_params.get("who", who)), **given}
    return _converted(kind, found, strict=True)


async def _json_of(request: Request) -> Any:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise BodyError(f"the body must be application/json; got {kind[:60]!r}.")
    try:
        return msgspec.json.decode(await request.body())
    except (msgspec.DecodeError, UnicodeError, RecursionError) as problem:
        raise BodyError(f"the body is not valid JSON: {str(problem)[:80]}.") from problem


def _named(kind: Any, who: str | None) -> dict[str, Any]:
    return {} if who is None or "who" not in _hints(kind) else {"who": who}


def _converted(kind: Any, found: Any, strict: bool) -> Any:
    try:
        return msgspec.convert(found, kind, strict=strict)
    except msgspec.ValidationError:
        raise BodyError(_explained(kind, found, strict)) from None


def _explained(kind: Any, found: Any, strict: bool) -> str:
    """What is wrong, of the first field that is."""
    hints = _hints(kind)
    if not hints:
        return f"the body must be {_wanted(kind)}; got {_short(found)}."
    for name, hint in hints.items():
        if name in found:
            try:
                msgspec.convert(found[name], hint, strict=strict)
            except msgspec.ValidationError:
                return f"{name} must be {_wanted(hint)}; got {_short(found[name])}."
        elif name in _required(kind):
            return f"{name} is missing; it must be {_wanted(hint)}."
    odd = [repr(name[:40]) for name in found if name not in hints]
    return f"the body has unknown fields: {offenders(odd)}. Known fields: {', '.join(hints)}."


def _hints(kind: Any) -> Mapping[str, Any]:
    return _hints_of(kind) if isinstance(kind, type) else {}


@cache
def _hints_of(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _required(kind: Any) -> set[str]:
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType | msgspec.inspect.DataclassType)
    return {field.name for field in info.fields if field.required}


def _wanted(hint: Any) -> str:
    """The words for a type, which its declaration has."""
    for one in (hint, *get_args(hint)):
        if get_origin(one) is Annotated:
            described = [meta.description for meta in one.__metadata__ if meta.description]
            return str(described[0])
        if get_origin(one) is Literal:
            return f"one of {', '.join(map(str, get_args(one)))}"
    raise AssertionError(f"{hint} is declared without a description")


def _short(value: Any) -> str:
    return json.dumps(value)[:40]
