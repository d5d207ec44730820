"""The description of the API in OpenAPI 3.1, made from the calls and their messages."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from starlette.responses import Response

from cpclean import __version__
from cpclean.web.api.messages import Error
from cpclean.web.api.operations import FILES, OPERATIONS, Operation

Schema = dict[str, Any]

_STATUSES = {
    401: "No token, or a wrong one",
    403: "Refused: sent from another site's page, or for the owner only",
    404: "There is no such row or candidate",
    409: "There is no project yet, or the request id was used for something else",
    413: "The body is too large",
    422: "Something is missing or cannot be understood",
    503: "The database or the engine is busy; nothing was saved. Try again",
    507: "The disk is full; nothing was saved",
}
_ALWAYS = (401, 403, 503)
_SOMETIMES = {("Taken", "next")}  # fields of responses that are there only if they are wanted


@cache
def description() -> Schema:
    """The whole description."""
    schemas: dict[str, Schema] = {}
    errors = _given(Error, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cpclean",
            "version": __version__,
            "description": "Questions about the rows that matter most, and answers to them.",
        },
        "security": [{"token": []}],
        "paths": {
            f"/api/{one.name}": {
                "post" if one.saves else "get": {
                    "summary": one.summary,
                    **_taken(one, schemas),
                    "responses": {
                        "200": _success(one, schemas),
                        **{
                            str(status): _json(_STATUSES[status], errors)
                            for status in sorted({*_ALWAYS, *one.errors})
                        },
                    },
                }
            }
            for one in OPERATIONS
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    }


def _taken(operation: Operation, schemas: dict[str, Schema]) -> Schema:
    """The body of a call that saves something, or the parameters of a query."""
    schema, parts = _components(operation.takes)
    if operation.saves:
        schemas |= parts
        content = {"application/json": {"schema": schema}}
        return {"requestBody": {"required": True, "content": content}}
    query = parts[operation.takes.__name__]
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in query["required"], "schema": one}
            for name, one in query["properties"].items()
        ]
    }


def _success(operation: Operation, schemas: dict[str, Schema]) -> Schema:
    if operation.gives is Response:
        return {"description": "A file", "content": {kind: {} for kind in FILES}}
    what = "It is saved" if operation.saves else "What was asked for"
    return _json(what, _given(operation.gives, schemas))


def _given(kind: type, schemas: dict[str, Schema]) -> Schema:
    """The schema of a response: all fields are there, also those that have defaults."""
    schema, parts = _components(kind)
    for title, one in parts.items():
        properties = one["properties"]
        for name in properties:
            properties[name].pop("default", None)
        one["required"] = [name for name in properties if (title, name) not in _SOMETIMES]
        one["additionalProperties"] = False
    schemas |= parts
    return schema


def _components(kind: Any) -> tuple[Schema, dict[str, Schema]]:
    (schema,), parts = msgspec.json.schema_components(
        [kind], ref_template="#/components/schemas/{name}"
    )
    for one in parts.values():
        one["description"] = one["description"].split("\n")[0]
    return schema, parts


def _json(text: str, schema: Schema) -> Schema:
    return {"description": text, "content": {"application/json": {"schema": schema}}}
