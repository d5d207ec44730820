"""Opening: URLs and paths, what is refused and how, versions."""

import os
import re
import sqlite3
import subprocess
import sys

import pytest
import sqlalchemy as sa

from cpclean.errors import FutureError, StorageError
from cpclean.storage import migrations
from cpclean.storage.contract import Said
from cpclean.storage.memory import MemoryStorage
from cpclean.storage.opening import open_storage
from cpclean.storage.sqlite import SqliteStorage


@pytest.mark.parametrize("url", ["x.db", "sqlite:///x.db", "with space ?#%.db", "sqlite:///a?b.db"])
def test_a_path_is_a_file(url, tmp_path, monkeypatch, project):
    monkeypatch.chdir(tmp_path)
    with open_storage(url) as storage:
        assert isinstance(storage, SqliteStorage)
        storage.create(project)
    assert (tmp_path / url.removeprefix("sqlite:///")).stat().st_size > 0


def test_a_path_from_the_root(tmp_path):
    for url in (tmp_path / "x.db", f"sqlite:///{tmp_path}/y.db"):
        open_storage(url).close()
    assert {"x.db", "y.db"} <= set(os.listdir(tmp_path))


def test_memory_is_new_each_time(project):
    one, two = open_storage("memory://"), open_storage("memory://")
    assert isinstance(one, MemoryStorage)
    one.create(project)
    assert two.project() is None


def test_a_storage_tells_where_it_is(tmp_path):
    with open_storage(tmp_path / "x.db") as storage:
        assert repr(storage) == f"SqliteStorage({repr(str(tmp_path / 'x.db'))!r})"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "mysql://me:secret@host/db",
            "begins with memory://, sqlite:/// or postgresql://; got mysql",
        ),
        ("sqlite://", "needs a file after it"),
        ("sqlite:///", "needs a file after it"),
        ("sqlite:///:memory:", "needs a file after it"),
        ("", "a storage needs a path"),
        ("a\0b", "a storage needs a path"),
        ("/no/such/folder/x.db", "there is no folder '/no/such/folder' to keep the project in"),
        ("postgresql://me:secret@host:port/db", "the URL of the database cannot be read"),
    ],
)
def test_what_is_no_place_is_refused(url, message):
    with pytest.raises(StorageError, match=re.escape(message)) as caught:
        open_storage(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_place_that_has_to_be_there(tmp_path):
    with pytest.raises(StorageError, match=r"there is no project at .*x\.db'. Is that the right"):
        open_storage(tmp_path / "x.db", create=False)
    assert os.listdir(tmp_path) == []
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "empty.db").touch()
    with pytest.raises(StorageError, match="there is no project in"):
        open_storage(tmp_path / "empty.db", create=False)


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(StorageError, match="is a directory; name a file in it"):
        open_storage(tmp_path)


@pytest.mark.parametrize(
    "content", [b"a,b,y\n1,2,yes\n" * 100, b"\x00" * 2000, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_database_is_refused(tmp_path, content):
    place = tmp_path / "train.csv"
    place.write_bytes(content)
    with pytest.raises(StorageError, match=r"is no database. Name another file; this one stays"):
        open_storage(place)
    assert place.read_bytes() == content


def test_a_database_of_something_else_is_refused(tmp_path):
    place = tmp_path / "other.db"
    with sqlite3.connect(place) as raw:
        raw.execute("CREATE TABLE people (name TEXT)")
    raw.close()
    before = place.read_bytes()
    with pytest.raises(StorageError, match=r"is a database of something else: .*'people'"):
        open_storage(place)
    assert place.read_bytes() == before


@pytest.fixture
def ordinary_user():
    """Root may write everything: be somebody else for a while."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.fixture
def read_only(tmp_path, project):
    place = tmp_path / "x.db"
    with open_storage(place) as storage:
        storage.create(project)
    place.chmod(0o444)
    for folder in (tmp_path, *tmp_path.parents):  # so that somebody else can see it
        if "pytest" in str(folder):
            folder.chmod(0o755)
    return place


def test_a_file_that_is_read_only_is_refused(read_only, ordinary_user):
    with pytest.raises(StorageError, match=r"cannot be (written: it is read-only|opened)"):
        open_storage(read_only)


# -- versions --------------------------------------------------------------------------------------


def test_a_database_from_the_future_is_refused(shared_url, project, monkeypatch):
    with open_storage(shared_url) as storage:
        storage.create(project)
        with storage._engine.begin() as connection:
            connection.execute(sa.text("UPDATE cpclean_schema SET version = 99"))
    with pytest.raises(FutureError, match=r"newer cpclean \(version 99; this one knows up to 1\)"):
        open_storage(shared_url)


@pytest.mark.parametrize(
    "change", ["DELETE FROM cpclean_schema", "UPDATE cpclean_schema SET version=0"]
)
def test_a_version_that_is_none_is_refused(shared_url, change):
    with open_storage(shared_url) as storage, storage._engine.begin() as connection:
        connection.execute(sa.text(change))
    with pytest.raises(StorageError, match="does not say of which version it is"):
        open_storage(shared_url)


def _with_a_note(connection):
    connection.execute(sa.text("ALTER TABLE cpclean_event ADD COLUMN note TEXT"))
    connection.execute(sa.text("UPDATE cpclean_event SET note = 'old'"))


def _failing(connection):
    connection.execute(sa.text("ALTER TABLE cpclean_event ADD COLUMN more TEXT"))
    connection.execute(sa.text("SELECT * FROM no_such_table"))


def test_an_older_database_is_brought_up_to_date(shared_url, project, monkeypatch):
    with open_storage(shared_url) as storage:
        storage.create(project)
        storage.append(Said("skip", "Ann", 3), "r1")
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, _with_a_note))
    for _ in range(2):  # the second time there is nothing to do
        with open_storage(shared_url) as storage, storage._engine.begin() as connection:
            notes = connection.execute(sa.text("SELECT note FROM cpclean_event")).scalars().all()
            version = connection.execute(sa.text("SELECT version FROM cpclean_schema")).scalar()
        assert (notes, version) == (["old"], 2)


def test_a_step_that_fails_changes_nothing(shared_url, project, monkeypatch):
    with open_storage(shared_url) as storage:
        storage.create(project)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", (*migrations.STEPS, _with_a_note, _failing))
        with pytest.raises(StorageError, match="cannot be used"):
            open_storage(shared_url)
    with open_storage(shared_url) as storage:
        columns = {one["name"] for one in sa.inspect(storage._engine).get_columns("cpclean_event")}
        assert not columns & {"note", "more"}
        assert storage.append(Said("skip", "Ann", 3), "r1").number == 1


# -- settings of SQLite --------------------------------------------------------------------------


def test_an_acknowledged_answer_is_on_the_disk(tmp_path):
    with open_storage(tmp_path / "x.db") as storage, storage._engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


# -- PostgreSQL ------------------------------------------------------------------------------------


def test_postgres_without_psycopg(monkeypatch):
    from cpclean.storage import postgres

    monkeypatch.setattr(postgres, "find_spec", lambda name: None)
    with pytest.raises(StorageError, match=r"psycopg, .* pip install 'cpclean\[postgres\]'"):
        open_storage("postgresql://localhost/x")


def test_no_server_there():
    with pytest.raises(
        StorageError, match=r"database 'x' at 127.0.0.1:9 cannot be reached"
    ) as found:
        open_storage("postgresql://me:secret@127.0.0.1:9/x")
    assert "secret" not in str(found.value)


def test_a_database_that_does_not_exist(postgres_server):
    url = postgres_server.url.replace("/postgres", "/none")
    with pytest.raises(StorageError, match=r"cannot be reached: .*none"):
        open_storage(url)


def test_a_database_without_an_encoding(postgres_server, project):
    """Text is UTF-8 whatever the database was made for."""
    postgres_server.sql(
        "CREATE DATABASE odd ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    )
    with open_storage(postgres_server.url.replace("/postgres", "/odd")) as storage:
        storage.create(project)
        storage.append(Said("skip", "Zoë 名前 🙂", 3), "r1")
        assert storage.events()[0].who == "Zoë 名前 🙂"


def test_other_tables_in_a_server_are_no_obstacle(postgres_url, project):
    with open_storage(postgres_url) as storage:
        pass
    import psycopg

    with psycopg.connect(postgres_url) as raw:
        raw.execute("CREATE TABLE people (name TEXT)")
    with open_storage(postgres_url) as storage:
        storage.create(project)


def test_a_server_that_does_not_wait_for_the_disk_has_to(postgres_url, postgres_server):
    postgres_server.sql("ALTER ROLE cpclean SET synchronous_commit = off")
    try:
        with open_storage(postgres_url) as storage, storage._engine.connect() as connection:
            assert connection.execute(sa.text("SHOW synchronous_commit")).scalar() == "on"
    finally:
        postgres_server.sql("ALTER ROLE cpclean RESET synchronous_commit")


# -- what an import loads --------------------------------------------------------------------------


def test_sqlalchemy_is_loaded_when_a_database_is_opened():
    code = (
        "import sys, cpclean.storage.opening as o; o.open_storage('memory://');"
        "print([n for n in ('sqlalchemy', 'psycopg') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
