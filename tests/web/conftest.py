"""Desks and apps to test with; real servers are started by `web.served.Served`."""

import warnings

import pytest
from clocks import slow_clock  # noqa: F401
from forests import small_forests  # noqa: F401
from storage.conftest import postgres_server, postgres_url, shared_url, sqlite_url  # noqa: F401
from web.served import TOKEN
from web.tables import stored

from cpclean.web.desk.desk import Desk
from cpclean.web.server.app import make_app

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2, which nothing else needs
    from starlette.testclient import TestClient


@pytest.fixture
def desk_over():
    """Desks over storages, ready, and stopped in the end."""
    made = []

    def over(storage, **options):
        desk = Desk(storage, **options)
        desk.start()
        desk.ready()
        made.append(desk)
        return desk

    yield over
    for desk in made:
        desk.stop()


@pytest.fixture
def desk(desk_over):
    """A desk over a small project in memory."""
    return desk_over(stored("memory://"))


@pytest.fixture
def app():
    """An application over a small project in memory."""
    with stored("memory://") as storage:
        made = make_app(storage, TOKEN)
        made.state.cpclean.desk.ready()
        yield made
        made.state.cpclean.close()


@pytest.fixture
def client(app):
    """A program that knows the token."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(app, "http://127.0.0.1:8421", headers=headers) as made:
        yield made


@pytest.fixture
def stranger(app):
    """A browser that knows nothing; it follows no redirect by itself."""
    return TestClient(app, "http://127.0.0.1:8421", follow_redirects=False)


@pytest.fixture
def browser(stranger):
    """A browser that has logged in; `csrf` is what its forms bring."""
    assert stranger.get(f"/?token={TOKEN}").status_code == 303
    return stranger


@pytest.fixture
def csrf(app, browser):
    security = app.state.security
    return security.tokens.csrf(browser.cookies[security.session_cookie])
