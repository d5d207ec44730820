"""Uploaded files: how large they may become, and that they are gone when they should be."""

import gzip
import io
import os
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from house import SRC
from systems import needs_posix
from web.test_setup_pages import bare, draft_id, started, upload  # noqa: F401
from web.visiting import post

from cpclean.intake.notes import IntakeError
from cpclean.intake.source_file import SourceFile
from cpclean.storage.locking import lock
from cpclean.web.pages import drafts, upload_folder
from cpclean.web.pages.upload_folder import UploadFolder

GIVEN = b"a,b,y\n" + b"".join(b"%d,%d,%s\n" % (n, n % 7, [b"x", b"y"][n % 2]) for n in range(60))
WITH_HOLES = GIVEN.replace(b",3,", b",,")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """All temporary folders of this process are in one of the test's."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(folder):
    return sorted(one.name for one in folder.glob("cpclean-*"))


# -- bombs -------------------------------------------------------------------------------------


def bomb(kind):
    """A few kilobytes that unpack to 32 MB."""
    zeros = b"0" * 2**25
    if kind == "csv.gz":
        return gzip.compress(b"a,b\n" + zeros)
    into = io.BytesIO()
    if kind == "xlsx":
        pd.DataFrame({"a": [1], "b": [2]}).to_excel(into, index=False)
        with zipfile.ZipFile(into, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/media/image.png", zeros)
    else:
        frame = pd.DataFrame({"a": [f"{n:04}" * 2**18 for n in range(32)]})
        frame.to_parquet(into, compression="gzip")
    return into.getvalue()


@pytest.mark.parametrize("kind", ["csv.gz", "xlsx", "parquet"])
def test_a_small_file_that_unpacks_to_much_is_refused(bare, kind, monkeypatch):  # noqa: F811
    monkeypatch.setattr(drafts, "MOST_UNPACKED", 2**23)
    content = bomb(kind)
    assert len(content) < 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    response = upload(bare, content, f"x.{kind}")
    assert response.status_code == 422
    assert "unpacks to more than 8 MB" in response.text
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes
    assert not list(Path(tempfile.gettempdir()).rglob("*-table*"))


def many_cells(kind):
    """A few kilobytes that are few also when they are unpacked, but stand for many cells."""
    into = io.BytesIO()
    if kind == "parquet":
        pd.DataFrame({"a": np.zeros(2**21), "b": np.zeros(2**21)}).to_parquet(into)
        return into.getvalue()
    pd.DataFrame({"a": [1], "b": [2]}).to_excel(into, index=False)
    row = b"<row>" + b"<c><v>1</v></c>" * 20 + b"</row>"
    made = io.BytesIO()
    with (
        zipfile.ZipFile(into) as given,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for one in given.infolist():
            content = given.read(one)
            if one.filename.endswith("sheet1.xml"):
                head, _, tail = content.partition(b"</sheetData>")
                content = head + row * 10_000 + b"</sheetData>" + tail
            archive.writestr(one.filename, content)
    return made.getvalue()


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_a_small_file_of_many_cells_is_refused(bare, kind, monkeypatch):  # noqa: F811
    monkeypatch.setattr(drafts, "MOST_UNPACKED", 2**23)
    content = many_cells(kind)
    assert len(content) < 2**17
    response = upload(bare, content, f"x.{kind}")
    assert response.status_code == 422
    assert "unpacks to more than 8 MB" in response.text


def test_a_packed_file_that_is_small_enough_is_read():
    content = gzip.compress(b"a,b\n1,2\n")
    assert SourceFile("'x'", ".csv.gz", lambda: content, most_unpacked=100).plain == b"a,b\n1,2\n"
    with pytest.raises(IntakeError, match="unpacks to more than"):
        _ = SourceFile("'x'", ".csv.gz", lambda: content, most_unpacked=5).plain


# -- what is left behind -----------------------------------------------------------------------


def test_uploads_are_gone_when_the_project_begins(bare, own_folder):  # noqa: F811
    upload(bare, GIVEN)
    page = upload(bare, WITH_HOLES).text
    assert len(left(own_folder)) == 1
    assert post(bare, "/setup", **started(page)).status_code == 303
    assert left(own_folder) == []


def test_uploads_are_gone_when_the_server_ends(bare, own_folder):  # noqa: F811
    draft_id(upload(bare, GIVEN).text)
    assert len(left(own_folder)) == 1
    bare.app.state.cpclean.close()
    assert left(own_folder) == []


@needs_posix
def test_the_next_server_removes_what_a_killed_one_left(own_folder):
    code = (
        "import os, signal, tempfile\n"
        "from cpclean.web.pages.upload_folder import UploadFolder\n"
        f"tempfile.tempdir = {str(own_folder)!r}\n"
        "(UploadFolder().path / 'x-table.csv').write_text('secret')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    subprocess.run([sys.executable, "-c", code], env=env, check=False)
    (lost,) = left(own_folder)
    mine = UploadFolder()
    assert mine.path.name != lost
    assert left(own_folder) == [mine.path.name]
    other = UploadFolder()
    both = sorted([mine.path.name, other.path.name])  # one that is in use stays
    assert left(own_folder) == both
    other.remove()
    mine.remove()
    assert left(own_folder) == []


@needs_posix
def test_a_folder_that_is_removed_while_it_is_made_is_made_again(own_folder, monkeypatch):
    others = iter([upload_folder.remove_left])

    def lock_late(file):
        for remove_left in others:  # another server, in this very moment
            remove_left()
        return lock(file)

    monkeypatch.setattr(upload_folder, "lock", lock_late)
    folder = UploadFolder()
    (folder.path / "x-table.csv").write_text("1")
    upload_folder.remove_left()
    assert left(own_folder) == [folder.path.name]
    folder.remove()
    assert left(own_folder) == []


@needs_posix
def test_uploads_are_for_one_user_alone():
    folder = UploadFolder()
    assert folder.path.stat().st_mode & 0o077 == 0
    folder.remove()
