"""The set-up by page, without a browser: files, choices, and what does not fit."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web.browsing import TOKEN, XSS
from web.visiting import ESCAPED, TestClient, desk_of, post

from cpclean.storage.opening import open_storage
from cpclean.web.app import make_app
from cpclean.web.drafting import Choice, Draft, look, project_of


@pytest.fixture
def bare() -> Iterator[TestClient]:
    """A server without a table."""
    app = make_app(None, TOKEN, start_project=lambda project: open_storage("memory://"))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        client.get("/", params={"token": TOKEN})
        yield client


def upload(client: TestClient, content: bytes, name: str = "given.csv", **more: Any) -> Any:
    return post(client, "/setup", files={"table": (name, content), **more}, step="upload")


def draft_id(page: str) -> str:
    found = re.search(r'name="draft" value="(\w+)"', page)
    assert found, page
    return found[1]


@pytest.mark.parametrize(("name", "content", "words"), [
    ("x.txt", b"1", "a table is one of .csv"),
    ("", b"1", "choose a file first"),
    ("x.csv", b"", "is empty"),
    ("x.parquet", b"no", "x.parquet cannot be read as parquet"),
    ("../../etc/x.xlsx", b"no", "x.xlsx cannot be read as excel"),
])  # fmt: skip
def test_a_file_that_cannot_be_read(
    bare: TestClient, name: str, content: bytes, words: str
) -> None:
    response = upload(bare, content, name)
    assert response.status_code == 422
    assert words in response.text.lower()
    assert "/tmp/" not in response.text


def test_a_file_that_is_too_large(bare: TestClient) -> None:
    bare.app.state.cpclean.upload_limit = 2**20  # type: ignore[attr-defined]
    response = upload(bare, b"a,b\n" + b"1,2\n" * 2**19)
    assert response.status_code == 422
    assert "too large: files may have 1 MB together" in response.text


def test_column_names_and_file_names_are_text(bare: TestClient) -> None:
    header = '"' + XSS.replace('"', '""') + '"'
    page = upload(bare, f"{header},y\n1,0\n,1\n3,1\n".encode(), f"{XSS[:20]}.csv").text
    assert "<img" not in page
    assert ESCAPED in page


def test_a_label_is_guessed_by_its_name(bare: TestClient) -> None:
    page = upload(bare, b"a,b,Target\n1,2,0\n,1,1\n3,4,1\n").text
    assert '<option value="Target" selected>' in page


SMALL = b"id,a,b,y\n" + b"".join(b"%d,%d,%d,%d\n" % (n, n % 5, n % 3, n % 2) for n in range(40))
SMALL = SMALL.replace(b"7,2,1,1", b"7,,1,1").replace(b"\n9,4,0,1", b"\n9,,,1")


@pytest.mark.parametrize(("field", "value", "words"), [
    ("label", "", "choose the label column"),
    ("label", "nothing", "choose the label column"),
    ("share", "0", "the share to hold out is a whole number from 1 to 90"),
    ("neighbors", "x", "the number of neighbours is a whole number from 1 to 10,000"),
    ("neighbors", "500", "n_neighbors must be an int in"),
    ("target", "101", "the percent to stop at is a whole number from 1 to 100"),
    ("answers", "", "the number of people to ask for each row is a whole number from 1 to 9"),
])  # fmt: skip
def test_choices_that_do_not_fit_are_told_and_kept(
    bare: TestClient, field: str, value: str, words: str
) -> None:
    draft = draft_id(upload(bare, SMALL).text)
    given = {"label": "y", "share": "20", "neighbors": "3", "target": "100", "answers": "1"}
    sent = {**given, field: value, "draft": draft, "step": "start"}
    response = post(bare, "/setup", **sent)
    assert response.status_code == 422
    assert words in response.text.lower()
    if value.isdigit():
        assert f'value="{value}"' in response.text


def test_kinds_and_columns_can_be_changed(bare: TestClient) -> None:
    draft = draft_id(upload(bare, SMALL).text)
    sent = {"draft": draft, "step": "look", "label": "y", "share": "20", "neighbors": "1",
            "target": "90", "answers": "2", "column-0": "id", "drop-0": "1", "column-1": "a",
            "kind-1": "categorical"}  # fmt: skip
    page = post(bare, "/setup", **sent).text
    assert '<tr class="dropped">' in page
    assert '<option value="categorical" selected>' in page
    response = post(bare, "/setup", **{**sent, "step": "start"})
    assert response.headers["location"] == "/question"
    project = desk_of(bare).project
    assert project.table.names == ("a", "b")
    assert project.table.columns[0].kind == "categorical"
    assert project.settings.answers_per_row == 2
    assert project.settings.target_share == 0.9
    assert project.settings.about["file"] == "given.csv"
    assert bare.get("/setup").headers["location"] == "/question"


def test_candidates_can_be_changed(bare: TestClient) -> None:
    page = upload(bare, SMALL).text
    assert page.count('placeholder="others, with | between"') == 2, "for a and b, which have holes"
    sent = {"draft": draft_id(page), "step": "start", "label": "y", "share": "20", "target": "100",
            "neighbors": "1", "answers": "1", "column-0": "a", "values-0": "1 | many",
            "column-1": "b"}  # fmt: skip
    response = post(bare, "/setup", **sent)
    assert response.status_code == 422
    assert "with | between them" in response.text
    assert "got &#39;many&#39;" in response.text
    assert 'value="1 | many"' in response.text
    assert 'aria-label="Other candidates of a" aria-invalid="true"' in response.text
    response = post(bare, "/setup", **{**sent, "values-0": " 1|2.5 | 9 "})
    assert response.headers["location"] == "/question"
    project = desk_of(bare).project
    found = {
        project.table.names[cell]: values
        for options in project.table.options.values()
        for cell, values in zip(options.cells, options.values, strict=True)
    }
    assert found["a"] == (1.0, 2.5, 9.0)
    assert len(found["b"]) > 2


def test_categories_can_be_candidates(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,A,0\n2,,1\n,B,1\n3,C,0\n4,A,1\n5,B,0\n6,A,1\n7,B,0\n")
    choice = Choice(label="y", neighbors="1", repairs={"b": "A | Z"})
    table = project_of(Draft("x", "x.csv", path), choice).table
    (values,) = [
        one.values[0] for one in table.options.values() if table.names[one.cells[0]] == "b"
    ]
    assert values == ("A", "Z")


def test_rows_to_predict_from_a_second_file(bare: TestClient) -> None:
    points = b"id,a,b,y\n1,2,1,0\n2,,1,1\n3,4,2,1\n"
    page = upload(bare, SMALL, points=("later.csv", points)).text
    assert "the rows of later.csv" in page
    sent = {"draft": draft_id(page), "step": "start", "label": "y", "validation": "file",
            "share": "20", "neighbors": "1", "target": "100", "answers": "1"}  # fmt: skip
    assert post(bare, "/setup", **sent).headers["location"] == "/question"
    project = desk_of(bare).project
    assert len(project.vectors) == 2  # one has a hole
    assert project.labels.tolist() == [0, 1]


def test_a_draft_that_is_gone(bare: TestClient) -> None:
    response = post(bare, "/setup", draft="nothing", step="start")
    assert "not here any more" in response.text


def test_rows_without_a_label_are_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,2,0\n,1,1\n3,4,1\n5,6,\n,,1\n2,2,0\n4,1,1\n")
    draft, choice = Draft("x", "x.csv", path), Choice(label="y", neighbors="1")
    assert look(draft, choice).notes == [
        "2 rows have no label, or nothing else, and will be left out."
    ]
    project = project_of(draft, choice)
    assert project.n_rows + len(project.vectors) == 5
    assert 4 not in project.settings.about["rows"]


def test_a_text_that_may_stand_for_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,?,0\n2,A,1\n,A,1\n")
    draft = Draft("x", "x.csv", path)
    (note,) = look(draft, Choice(label="y")).notes
    assert note.startswith("Column 'b' holds '?' 1 time.")
    assert not look(draft, Choice(label="y", null="?")).notes
