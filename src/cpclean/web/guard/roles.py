"""Who may do what: the owner everything, those who answer what answering needs.

Pages and calls of the API are the owner's unless they are named here, so that a new one is open to
others only if somebody has thought about it.
"""

from __future__ import annotations

from starlette.types import Scope

OWNER, ANSWERER = "owner", "answerer"

# The paths for everybody who is let in.
PAGES = frozenset(
    {"/", "/name", "/question", "/answer", "/skip", "/comment", "/undo", "/progress",
     "/predictions", "/rows", "/live", "/image", "/next", "/take"}
)  # fmt: skip
CALLS = frozenset(
    {"question", "answer", "skip", "comment", "undo", "progress", "predictions", "rows",
     "openapi.json"}
)  # fmt: skip
# Those for whoever comes, before any token is looked at.
PUBLIC = ("/login", "/static/", "/favicon.ico", "/healthz")

_API = "/api/"


def may(role: str, path: str) -> bool:
    """Whether somebody in a role may use a path.

    >>> may(ANSWERER, "/question"), may(ANSWERER, "/export/audit.csv"), may(OWNER, "/setup")
    (True, False, True)
    """
    if role == OWNER or path.startswith(PUBLIC):
        return True
    return path.removeprefix(_API) in CALLS if path.startswith(_API) else path in PAGES


def role_of(scope: Scope) -> str:
    """In which role a request comes."""
    return str(scope.get("cpclean.role", ANSWERER))


def is_owner(scope: Scope) -> bool:
    """Whether a request is the owner's."""
    return role_of(scope) == OWNER
