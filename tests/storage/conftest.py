"""Storages to test with: in memory, in a file, and in a PostgreSQL server that the run starts."""

import shutil
from itertools import count
from pathlib import Path

import pytest
from projects.making import make_project
from storage.postgres_server import Server

from cpclean.storage.opening import open_storage


@pytest.fixture(scope="session")
def project():
    """A project whose rows 0 to 39 have a hole, with three candidates each."""
    return make_project()


@pytest.fixture(scope="session")
def postgres_server():
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install cpclean[postgres]")
    server = Server.start_new()
    yield server
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


_schemas = count()


@pytest.fixture
def postgres_url(postgres_server):
    """A schema of its own, which is made faster than a database and goes with the server."""
    name = f"test_{next(_schemas)}"
    postgres_server.sql(f"CREATE SCHEMA {name}")
    return f"{postgres_server.url}?options=-csearch_path%3D{name}"


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path / 'x.cpclean.db'}"


# -- storages --------------------------------------------------------------------------------------


@pytest.fixture(params=["sqlite", "postgres"])
def shared_url(request):
    """The URL of a database that several processes can open."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def empty_storage(request):
    """A storage of each kind, without a project."""
    kind = request.param
    url = "memory://" if kind == "memory" else request.getfixturevalue(f"{kind}_url")
    with open_storage(url) as storage:
        yield storage


@pytest.fixture
def storage(empty_storage, project):
    empty_storage.create(project)
    return empty_storage


@pytest.fixture
def worker():
    """The script by which other processes take part."""
    return str(Path(__file__).with_name("worker.py"))
