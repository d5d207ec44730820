"""Opening: URLs and paths, what is refused and how, versions."""

import hashlib
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from projects.making import make_project
from systems import needs_pandas_3

from cpclean.errors import FutureError, RefusedError, StorageError
from cpclean.storage import schema
from cpclean.storage.events import NewEvent
from cpclean.storage.ledger import ledger_of
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


def test_a_storage_shows_where_it_is(tmp_path):
    with open_storage(tmp_path / "x.db") as storage:
        assert repr(storage) == f"SqliteStorage({repr(str(tmp_path / 'x.db'))!r})"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "mysql://me:secret@host/db",
            "starts with memory://, sqlite:/// or postgresql://; got mysql",
        ),
        ("sqlite://", "needs a file after it"),
        ("sqlite:///", "needs a file after it"),
        ("sqlite:///:memory:", "needs a file after it"),
        ("", "a storage needs a path"),
        ("a\0b", "a storage needs a path"),
        ("/no/such/folder/x.db", "there is no folder '/no/such/folder' to save the project in"),
        ("postgresql://me:secret@host:port/db", "the URL of the database is not valid"),
    ],
)
def test_invalid_locations_are_refused(url, message):
    with pytest.raises(StorageError, match=re.escape(message)) as caught:
        open_storage(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_location_that_has_to_exist(tmp_path):
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
def test_a_file_that_is_not_a_database_is_refused(tmp_path, content):
    place = tmp_path / "train.csv"
    place.write_bytes(content)
    with pytest.raises(StorageError, match=r"not a database\. Choose another file; this one was"):
        open_storage(place)
    assert place.read_bytes() == content


def test_a_database_of_another_program_is_refused(tmp_path):
    place = tmp_path / "other.db"
    with sqlite3.connect(place) as raw:
        raw.execute("CREATE TABLE people (name TEXT)")
    raw.close()
    before = place.read_bytes()
    with pytest.raises(StorageError, match=r"belongs to another program: .*'people'"):
        open_storage(place)
    assert place.read_bytes() == before


@pytest.fixture
def ordinary_user():
    """Root may write everywhere: be somebody else for a while."""
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
        with storage.engine.begin() as connection:
            connection.execute(sa.text("UPDATE cpclean_schema SET version = 99"))
    with pytest.raises(
        FutureError,
        match=r"version 99; this one reads versions up to 3\)\. Upgrade cpclean, or choose another",
    ):
        open_storage(shared_url)


@pytest.mark.parametrize(
    "change", ["DELETE FROM cpclean_schema", "UPDATE cpclean_schema SET version=0"]
)
def test_a_database_without_a_valid_version_is_refused(shared_url, change):
    with open_storage(shared_url) as storage, storage.engine.begin() as connection:
        connection.execute(sa.text(change))
    with pytest.raises(StorageError, match="does not say which version it has"):
        open_storage(shared_url)


@pytest.fixture
def version_1(shared_url):
    """A database as the first version of cpclean made it, before tables were declared."""
    folder = Path(__file__).with_name("version_1")
    saved = json.loads((folder / "tables.json").read_text("utf-8"))
    with open_storage(shared_url) as storage:
        engine = storage.engine
        with engine.begin() as connection:
            schema.METADATA.drop_all(connection)
            for statement in saved["tables"]:
                if connection.dialect.name == "postgresql":
                    statement = statement.replace("BLOB", "BYTEA")
                connection.execute(sa.text(statement))
            (project,) = saved["rows"]["cpclean_project"]
            project[1] = (folder / project[1]).read_bytes()
            for table in schema.METADATA.sorted_tables:
                names = [column.name for column in table.columns if column.name != "note"]
                if table is schema.SETTING:  # there were none
                    continue
                rows = [dict(zip(names, row, strict=True)) for row in saved["rows"][table.name]]
                connection.execute(sa.insert(table), rows)
    return saved


@needs_pandas_3
def test_a_database_of_the_first_version_opens_and_goes_on(shared_url, version_1):
    with open_storage(shared_url, create=False) as storage:
        project = storage.project()
        assert project.digest() == version_1["digest"]
        events = storage.events()
        assert [(one.number, one.kind, one.who, one.row) for one in events] == [
            (1, "answer", "Ann", 3), (2, "correction", "Zoë", 3), (3, "skip", "Bob", 4),
            (4, "undo", "Bob", 4),
        ]  # fmt: skip
        assert (events[0].seconds, events[1].value, events[3].undoes) == (2.5, {"a": 4.5}, 3)
        question = project.session(ledger_of(events).log).ask()
        row, gain = version_1["asks"]
        assert (question.row, question.gain) == (row, pytest.approx(gain))
        assert storage.append(NewEvent("answer", "Ann", 3, candidate=1), "r1") == events[0]
        lease = storage.lease([7, 8], "Bob", 60)
        said = NewEvent("skip", "Bob", lease.row, note={"reason": "unreadable", "comment": "<b>"})
        assert storage.append(said, "r5").number == 5
        assert storage.events(after=4)[0].note == said.note
        assert "Bob" not in {one.who for one in storage.leases()}
        storage.create(project)  # the same again has no effect
        assert storage.last() == 5
        assert storage.setting("experts") is None
        assert storage.change("experts", None, {"Ann": ["a"]})


def test_a_database_of_the_second_version_gets_settings(shared_url, project):
    with open_storage(shared_url) as storage:
        storage.create(project)
        storage.append(NewEvent("skip", "Bob", 4, note={"comment": "smudged"}), "r1")
        with storage.engine.begin() as connection:
            schema.SETTING.drop(connection)
            connection.execute(sa.update(schema.SCHEMA).values(version=2))
    for _ in range(2):
        with open_storage(shared_url, create=False) as storage:
            assert storage.events()[0].comment == "smudged"
            assert storage.change("gold", None, {"rate": 0.1})
            with storage.engine.begin() as connection:
                assert connection.execute(sa.select(schema.SCHEMA.c.version)).scalars().all() == [3]


def repacked(content):
    """The same parts in an archive with other headers, as another version of Python writes it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    return out.getvalue()


def test_a_project_is_the_same_whoever_packed_it(shared_url, project):
    with open_storage(shared_url) as storage:
        storage.create(project)
        content = repacked(project.to_bytes())
        assert content != project.to_bytes()
        other = {"content": content, "digest": hashlib.sha256(content).hexdigest()}
        with storage.engine.begin() as connection:
            connection.execute(sa.update(schema.PROJECT), other)
        storage.create(project)  # no effect
        with pytest.raises(RefusedError, match="already holds another project"):
            storage.create(make_project(n_neighbors=1))
        assert storage.project().digest() == project.digest()


def described(engine):
    """Tables, columns and rules of a database, without what only differs in spelling."""
    found = sa.inspect(engine)
    return {
        table: (
            {
                one["name"]: (one["type"]._type_affinity, one["nullable"] or one["primary_key"] > 0)
                if engine.dialect.name == "sqlite"
                else (str(one["type"]), one["nullable"], one["default"], one.get("identity"))
                for one in found.get_columns(table)
            },
            found.get_pk_constraint(table)["constrained_columns"],
            [(one["constrained_columns"], one["referred_table"], one["referred_columns"])
             for one in found.get_foreign_keys(table)],
            sorted(one["column_names"] for one in found.get_unique_constraints(table)),
            [one["sqltext"] for one in found.get_check_constraints(table)],
        )
        for table in sorted(found.get_table_names())
    }  # fmt: skip


def test_a_new_database_is_as_one_of_the_first_version_that_was_upgraded(shared_url, version_1):
    with open_storage(shared_url) as storage:
        before = described(storage.engine)
        with storage.engine.begin() as connection:
            schema.METADATA.drop_all(connection)
    with open_storage(shared_url) as storage:
        assert described(storage.engine) == before


def test_tables_are_created_all_or_none(shared_url, project, monkeypatch):
    def failing(table, connection, **_):
        connection.execute(sa.text("SELECT * FROM no_such_table"))

    sa.event.listen(schema.LEASE, "after_create", failing)
    try:
        with pytest.raises(StorageError, match="cannot be used"):
            open_storage(shared_url)
    finally:
        sa.event.remove(schema.LEASE, "after_create", failing)
    with pytest.raises(StorageError, match="there is no project in"):
        open_storage(shared_url, create=False)
    with open_storage(shared_url) as storage:
        storage.create(project)
        assert storage.append(NewEvent("skip", "Ann", 3), "r1").number == 1


# -- settings of SQLite --------------------------------------------------------------------------


def test_an_acknowledged_answer_is_on_the_disk(tmp_path):
    with open_storage(tmp_path / "x.db") as storage, storage.engine.connect() as connection:
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
        storage.append(NewEvent("skip", "Zoë 名前 🙂", 3), "r1")
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
        with open_storage(postgres_url) as storage, storage.engine.connect() as connection:
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
