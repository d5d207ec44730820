"""A browser without a browser: forms filled in and sent to an app in this process."""

import re
import warnings
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2, which nothing else needs
    from starlette.testclient import TestClient

ESCAPED = "&lt;img src=x onerror="  # how what begins so must look in a page


def csrf(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/name").text)
    assert found
    return found[1]


def post(client: TestClient, path: str, files: Any = None, **form: Any) -> Any:
    return client.post(path, data={"csrf": csrf(client), **form}, files=files)


def fields(page: str) -> dict[str, str]:
    """The hidden fields of the first form that answers."""
    form = page[page.index('action="/answer"') :].split("</form>")[0]
    found = dict(re.findall(r'name="([\w-]+)" value="([^"]*)"', form))
    chosen = ("candidate", "pick-0", "pick-1")
    return {name: text for name, text in found.items() if name not in chosen}


def desk_of(client: TestClient) -> Any:
    return client.app.state.cpclean.desk  # type: ignore[attr-defined]


def single(client: TestClient) -> int:
    """A row with one hole, in column age."""
    return next(one.row for one in desk_of(client).rows().rows if one.holes == ["age"])


def double(client: TestClient) -> int:
    return next(one.row for one in desk_of(client).rows().rows if len(one.holes) == 2)
