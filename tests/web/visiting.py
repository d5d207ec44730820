"""A browser without a browser: forms filled in and sent to an app in this process."""

import re
import warnings
from collections.abc import Iterator
from threading import Barrier
from typing import Any

from web.served import TOKEN

from cpclean.projects.project import Project
from cpclean.storage.opening import open_storage
from cpclean.web.server.app import make_app

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


def site_over(project: Project) -> Iterator[TestClient]:
    """A project in work, visited by Ann."""
    storage = open_storage("memory://")
    storage.create(Project.from_bytes(project.to_bytes()))
    app = make_app(storage, TOKEN)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        app.state.cpclean.desk.ready()
        client.get("/", params={"token": TOKEN})
        post(client, "/name", who="Ann")
        yield client


def fields(page: str) -> dict[str, str]:
    """The hidden fields of the first form that answers."""
    form = page[page.index('action="/answer"') :].split("</form>")[0]
    found = dict(re.findall(r'name="([\w-]+)" value="([^"]*)"', form))
    chosen = ("pick", "rough", "sure")
    return {name: text for name, text in found.items() if name.split("-")[0] not in chosen}


def desk_of(client: TestClient) -> Any:
    return client.app.state.cpclean.desk  # type: ignore[attr-defined]


def at_the_same_moment(desk: Any, n: int = 2) -> list[Any]:
    """Let the next answers wait for each other when each has been checked and is to be saved.

    The list that is returned has the answers that came so far.
    """
    ready, append, came = Barrier(n, timeout=30), desk.storage.append, list[Any]()

    def appended(new: Any, *rest: Any) -> Any:
        came.append(new)
        if len(came) <= n:
            ready.wait()
        return append(new, *rest)

    desk.storage.append = appended
    return came


def single(client: TestClient) -> int:
    """A row with one hole, in column age."""
    return next(one.row for one in desk_of(client).rows().rows if one.holes == ["age"])


def double(client: TestClient) -> int:
    return next(one.row for one in desk_of(client).rows().rows if len(one.holes) == 2)
