"""The description of the API, in OpenAPI 3.1. Schemas of what comes out are read off the views."""

from __future__ import annotations

import types
from dataclasses import fields
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from cpclean import __version__
from cpclean.web.desk import views
from cpclean.web.desk.exporting import FILLS, SUFFIXES
from cpclean.web.desk.listing import MOST_PER_PAGE, ORDERS, SORTS, STATES

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_VIEWS = (
    views.CellView, views.CandidateView, views.QuestionView, views.AnsweredView, views.PersonView,
    views.PairView, views.ProgressView, views.RowView, views.RowsView,
)  # fmt: skip

Schema = dict[str, Any]


@cache
def description() -> Schema:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cpclean",
            "version": __version__,
            "description": "Questions about the rows that matter most, and answers to them.",
        },
        "security": [{"token": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {view.__name__: _schema(view) for view in _VIEWS} | _own_schemas(),
        },
    }


# -- schemas ---------------------------------------------------------------------------------------


def _schema(view: type) -> Schema:
    hints = get_type_hints(view)
    return {
        "type": "object",
        "description": (view.__doc__ or "").split("\n")[0],
        "properties": {one.name: _of(hints[one.name]) for one in fields(view)},
        "required": [one.name for one in fields(view)],
        "additionalProperties": False,
    }


def _of(hint: Any) -> Schema:
    """The schema of a type."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(one) for one in inner]}
    if origin is list:
        return {"type": "array", "items": _of(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(inner[1])}
    if origin is tuple:
        parts = [_of(one) for one in inner]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}
    return _ref(hint.__name__)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _own_schemas() -> dict[str, Schema]:
    answered = _schema(views.AnsweredView)
    asked = _object(
        {
            "question": _or_null(_ref("QuestionView")),
            "done": {"type": "boolean"},
            "stopped": _or_null({"type": "string"}),
            "busy": {"type": "boolean"},
        }
    )
    taken = {
        **answered,
        "properties": {**answered["properties"], "next": _or_null(_ref("Asked"))},
    }
    error = _object(
        {"error": {"type": "string"}, "kind": {"type": "string"}, "retry": {"type": "boolean"}}
    )
    refused = _object({"task": {"type": "integer"}, "error": {"type": "string"}})
    imported = _object(
        {"taken": {"type": "integer"}, "refused": {"type": "array", "items": refused}}
    )
    return {"Asked": asked, "Taken": taken, "Error": error, "Imported": imported}


# -- what can be asked -----------------------------------------------------------------------------

_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 100}
_ROW: Schema = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
_REQUEST: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
_SECONDS: Schema = {"type": "number", "minimum": 0}
_VALUES: Schema = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
}


def _paths() -> dict[str, Schema]:
    said = {"who": _NAME, "row": _ROW}
    spare = {"request_id": _REQUEST, "seconds": _SECONDS}
    switches = {name: {"type": "boolean"} for name in ("correct", "next")}
    answer = {**spare, "candidate": _ROW, "values": _VALUES, **switches}
    return {
        "/api/question": {"get": _get(
            "The best question that nobody else holds", _ref("Asked"),
            _query("who", _NAME, required=True), _query("row", _ROW), own=[404, 409, 422],
        )},
        "/api/answer": {"post": _post(
            "Take in an answer: the number of a candidate, or values", _ref("Taken"),
            _object(said, answer), own=[404, 409, 422, 507],
        )},
        "/api/skip": {"post": _post(
            "Take in that somebody does not know", _ref("Taken"),
            _object(said, {**spare, "next": {"type": "boolean"}}), own=[404, 409, 422, 507],
        )},
        "/api/undo": {"post": _post(
            "Take back what somebody said last", _ref("AnsweredView"),
            _object({"who": _NAME}, {"request_id": _REQUEST}), own=[409, 422, 507],
        )},
        "/api/progress": {"get": _get("How far it is", _ref("ProgressView"), own=[409])},
        "/api/rows": {"get": _get(
            "All rows with holes, a page of them", _ref("RowsView"), _query("who", _NAME),
            _query("state", _one_of(STATES)), _query("sort", _one_of(SORTS)),
            _query("order", _one_of(ORDERS)),
            _query("page", {"type": "integer", "minimum": 1, "maximum": 10**6}),
            _query("per_page", {"type": "integer", "minimum": 1, "maximum": MOST_PER_PAGE}),
            _query("search", {"type": "string", "maxLength": 200}), own=[409, 422],
        )},
        "/api/export": {"get": _export()},
        "/api/labelstudio": {"post": _post(
            "Take in annotations of Label Studio, as its JSON export has them", _ref("Imported"),
            {"type": "array", "items": {"type": "object"}, "maxItems": 1000}, own=[409, 422, 507],
        )},
    }  # fmt: skip


def _one_of(known: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(known)}


def _query(name: str, schema: Schema, required: bool = False) -> Schema:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def _get(summary: str, answer: Schema, *query: Schema, own: list[int]) -> Schema:
    return {
        "summary": summary,
        "parameters": list(query),
        "responses": {"200": _json("What was asked for", answer), **_errors(own)},
    }


def _post(summary: str, answer: Schema, body: Schema, own: list[int]) -> Schema:
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"200": _json("It is in the log", answer), **_errors([*own, 413])},
    }


def _export() -> Schema:
    what = ("table", "log", "events", "labelstudio", "labelstudio-config")
    kinds = (
        "text/csv", "text/tab-separated-values", "application/json", "application/x-ndjson",
        "application/xml", "application/vnd.apache.parquet",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )  # fmt: skip
    made = _get(
        "The table, the log, or tasks for Label Studio", {},
        _query("what", _one_of(what)), _query("format", _one_of(SUFFIXES)),
        _query("fill", _one_of(FILLS)),
        _query("limit", {"type": "integer", "minimum": 1, "maximum": 10_000}), own=[409, 422],
    )  # fmt: skip
    made["responses"]["200"] = {"description": "A file", "content": {kind: {} for kind in kinds}}
    return made


def _json(text: str, schema: Schema) -> Schema:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _errors(own: list[int]) -> dict[str, Schema]:
    texts = {
        401: "No token, or a wrong one",
        403: "Refused: from another site's page",
        404: "There is no such row or candidate",
        409: "There is no project yet, or the request id was used for something else",
        413: "The body is too large",
        422: "Something is missing or cannot be understood",
        503: "The database or the engine is busy; nothing was taken in. Try again",
        507: "The disk is full; nothing was taken in",
    }
    return {str(status): _json(texts[status], _ref("Error")) for status in [401, 403, *own, 503]}
