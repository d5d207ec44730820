"""Projects and answers are for the user who made them, whatever others may do in the folder."""

import os

import pytest
from systems import needs_posix
from web.tables import stored

from cpclean.storage.journal import Journal

pytestmark = needs_posix


@pytest.fixture(autouse=True)
def open_to_all():
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_database_and_the_files_beside_it(tmp_path):
    with stored(f"sqlite:///{tmp_path}/answers.db"):
        found = sorted(tmp_path.iterdir())
        assert found[0].name == "answers.db"
        assert {one.stat().st_mode & 0o077 for one in found} == {0}


def test_a_file_of_answers(tmp_path):
    with Journal(tmp_path / "answers.jsonl", {"table": "5f0c"}) as journal:
        journal.append({"row": 3, "candidate": 1}, seconds=1.0)
    assert (tmp_path / "answers.jsonl").stat().st_mode & 0o777 == 0o600
