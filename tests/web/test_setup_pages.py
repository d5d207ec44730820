"""The set-up by page, without a browser: files, choices, and what does not fit."""

import gzip
import html
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web.browsing import TOKEN, XSS
from web.visiting import ESCAPED, TestClient, desk_of, post

from cpclean.intake.layout import Layout
from cpclean.intake.notes import IntakeError
from cpclean.intake.source_file import SourceFile
from cpclean.storage.opening import open_storage
from cpclean.web.pages.drafting import look, project_of
from cpclean.web.pages.drafts import Draft, SetupForm
from cpclean.web.server.app import make_app


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
    ("x.parquet", b"no", "x.parquet&#39; cannot be read as a parquet file"),
    ("../../etc/x.xlsx", b"no", "x.xlsx&#39; cannot be read as an excel file"),
    ("x.csv.gz", b"no", "x.csv.gz&#39; cannot be read as a csv file"),
    ("x.csv", b"PK\x03\x04\0\0\0\xff", "x.csv&#39; holds something other than text. save"),
    ("x.csv", b"Dear Ann\nhow are you\n", "x.csv&#39; has one column only, &#39;dear ann&#39;"),
    ("x.csv", b"Dear Ann\nyes, no, perhaps\n", "x.csv&#39; have more cells than its first line"),
    ("x.csv", b"a,b\n1,2\n1,2,3,4\n", "line 3 of &#39;x.csv&#39; has 4 cells, where 2 are"),
    ("x.csv", b"a,b\n1,2,3\n4,5,6\n", "more cells than its first line has names. name every"),
])  # fmt: skip
def test_a_file_that_cannot_be_read(
    bare: TestClient, name: str, content: bytes, words: str
) -> None:
    response = upload(bare, content, name)
    assert response.status_code == 422
    assert words in response.text.lower()
    assert tempfile.gettempdir() not in response.text
    for jargon in ("codec", "index_col", "engine", "pandas", "X.csv", "tokenizing"):
        assert jargon not in response.text


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
    ("neighbors", "500", "the number of neighbours must be an int in"),
    ("target", "101", "the percent to stop at is a whole number from 1 to 100"),
    ("sure", "100", "how sure is a number of percent between 50 and 100"),
    ("sure", "very", "how sure is a number of percent between 50 and 100; got"),
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


@pytest.mark.parametrize(
    ("typed", "level", "gains_by"),
    [("", None, "uniform"), ("95", 0.95, "prior"), ("97,5 %", 0.975, "prior")],
)
def test_how_sure_is_chosen_in_the_set_up(
    bare: TestClient, typed: str, level: float | None, gains_by: str
) -> None:
    draft = draft_id(upload(bare, SMALL).text)
    given = {"label": "y", "share": "20", "neighbors": "3", "target": "100", "answers": "1"}
    page = post(bare, "/setup", **given, draft=draft, step="look", sure=typed).text
    assert f'id="sure" name="sure" value="{typed}"' in page
    response = post(bare, "/setup", **given, draft=draft, step="start", sure=typed)
    assert response.headers["location"] == "/question"
    settings = desk_of(bare).project.settings
    assert (settings.sure, settings.gains_by) == (level, gains_by)


def test_kinds_and_columns_can_be_changed(bare: TestClient) -> None:
    draft = draft_id(upload(bare, SMALL).text)
    sent = {"draft": draft, "step": "look", "label": "y", "share": "20", "neighbors": "1",
            "target": "90", "answers": "2", "column-0": "id", "drop-0": "1", "column-1": "a",
            "kind-1": "categorical", "drop_empty": "1"}  # fmt: skip
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


def test_a_table_of_two_thousand_columns_starts(bare: TestClient) -> None:
    sent = started(upload(bare, SMALL).text)
    for at in range(2000):  # as many fields as the page has for so many columns
        sent |= {f"column-{at}": f"c{at}", f"kind-{at}": "", f"values-{at}": ""}
    response = post(bare, "/setup", **sent)
    assert response.headers["location"] == "/question"


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
        for _, options in project.table.options.items()
        for cell, values in zip(options.cells, options.values, strict=True)
    }
    assert found["a"] == (1.0, 2.5, 9.0)
    assert len(found["b"]) > 2


def test_a_category_called_other_is_told_from_all_others(tmp_path: Path) -> None:
    cells = ["owner", "rent", "parents", "other", "", "owner", "rent", "parents", "other", "owner"]
    rows = "".join(
        f"{one},{number % 3},{'xy'[number % 2]}\n" for number, one in enumerate(cells * 3)
    )
    (tmp_path / "given.csv").write_text("home,b,y\n" + rows)
    draft = Draft("1", "given.csv", tmp_path / "given.csv")
    (home,) = (one for one in look(draft, SetupForm(label="y")).columns if one.name == "home")
    assert home.candidates == "owner, other, parents, rent and any other"


def test_categories_can_be_candidates(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,A,0\n2,,1\n,B,1\n3,C,0\n4,A,1\n5,B,0\n6,A,1\n7,B,0\n")
    choice = SetupForm(label="y", neighbors="1", repairs={"b": "A | Z"})
    table = project_of(Draft("x", "x.csv", path), choice).table
    (values,) = [
        one.values[0] for _, one in table.options.items() if table.names[one.cells[0]] == "b"
    ]
    assert values == ("A", "Z")


@pytest.mark.parametrize(
    ("kind", "typed"),
    [("boolean", "0.5"), ("boolean", "2"), ("duration", "9e99"), ("numeric", "inf")],
)
def test_candidates_are_of_the_kind_of_their_column(tmp_path: Path, kind: str, typed: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,3,0\n0,1,1\n,2,1\n1,4,0\n0,2,1\n1,2,0\n")
    choice = SetupForm(label="y", neighbors="1", kinds={"a": kind}, repairs={"a": f"1 | {typed}"})
    with pytest.raises(IntakeError, match=f"the candidates of 'a' are {kind}.* got '{typed}'"):
        project_of(Draft("x", "x.csv", path), choice)


def test_rows_to_predict_from_a_second_file(bare: TestClient) -> None:
    points = b"id,a,b,y\n1,2,1,0\n2,,1,1\n3,4,2,1\n"
    page = upload(bare, SMALL, points=("later.csv", points)).text
    assert "the rows of later.csv" in page
    sent = {"draft": draft_id(page), "step": "start", "label": "y", "validation": "file",
            "share": "20", "neighbors": "1", "target": "100", "answers": "1"}  # fmt: skip
    assert post(bare, "/setup", **sent).headers["location"] == "/question"
    project = desk_of(bare).project
    assert project.task.points.n_points == 3
    assert project.task.points.mixtures.tolist() == [1], "which has a hole"
    assert project.task.labels.tolist() == [0, 1, 1]


def test_a_draft_that_is_gone(bare: TestClient) -> None:
    response = post(bare, "/setup", draft="nothing", step="start")
    assert "no longer here" in response.text


def test_rows_without_a_label_are_refused_or_left_out(bare: TestClient) -> None:
    content = b"a,b,y\n1,2,0\n,1,1\n3,4,1\n5,6,\n7,7,1\n2,2,0\n4,1,1\n"
    page = upload(bare, content).text
    words = "Every row of &#39;given.csv&#39; needs a label; missing in row 3. Tick “leave out"
    ticked = r'name="drop_unlabelled" value="1" checked> leave out rows without a label</label>'
    assert re.search(ticked, page)
    assert "1 row has no label and is left out. In the file, this is line 5." in page
    refused = post(bare, "/setup", **started(page))
    assert refused.status_code == 422
    assert words in refused.text
    assert re.search(r'name="drop_unlabelled" value="1" aria-invalid="true"', refused.text)
    seen = post(bare, "/setup", **started(page, step="look", drop_unlabelled="1")).text
    assert "1 row has no label and is left out." in seen
    assert re.search(r'name="drop_unlabelled" value="1" checked', seen)
    response = post(bare, "/setup", **started(page, drop_unlabelled="1"))
    assert response.headers["location"] == "/question"
    project = desk_of(bare).project
    assert project.n_rows + project.task.points.n_points == 6
    assert 3 not in project.task.row_names


def test_rows_with_nothing_but_a_label_are_refused_or_left_out(bare: TestClient) -> None:
    page = upload(bare, SMALL).text
    sent = started(page, **{"column-0": "id", "drop-0": "1"})
    refused = post(bare, "/setup", **sent)
    assert refused.status_code == 422
    assert "is known of row 9. Tick “leave out rows with nothing but a label”" in refused.text
    assert re.search(r'name="drop_empty" value="1" aria-invalid="true"', refused.text)
    seen = post(bare, "/setup", **{**sent, "step": "look", "drop_empty": "1"}).text
    assert "1 row has nothing but a label and is left out." in seen
    response = post(bare, "/setup", **{**sent, "drop_empty": "1"})
    assert response.headers["location"] == "/question"
    assert 9 not in desk_of(bare).project.task.row_names


def test_infinite_values_are_refused_unless_their_column_is_left_out(bare: TestClient) -> None:
    page = upload(bare, SMALL.replace(b"\n3,3,0,1", b"\n3,3,inf,1")).text
    words = "olumn &#39;b&#39; of &#39;given.csv&#39; has infinite values in row 3. Empty these"
    assert words in page
    assert words in post(bare, "/setup", **started(page)).text
    sent = started(page, **{"column-0": "b", "drop-0": "1"})
    assert post(bare, "/setup", **sent).headers["location"] == "/question"


def test_a_text_that_may_stand_for_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n1,?,0\n2,A,1\n,A,1\n3,B,0\n4,B,1\n")
    draft = Draft("x", "x.csv", path)
    held, note = look(draft, SetupForm(label="y")).notes
    assert held.startswith("1 row is held out to be predicted;")
    assert note.startswith("Column 'b' holds '?' 1 time.")
    assert len(look(draft, SetupForm(label="y", null="?")).notes) == 1


# -- how a text file is written --------------------------------------------------------------------

HEADER = ["größe", "preis", "ort", "y"]
ROWS = [
    [f"{n % 7 + 0.5}", f"{n % 5}.25", ("Köln", "Ulm")[n % 2], ("ja", "nein")[n % 3 == 0]]
    for n in range(40)
]
ROWS[7][0] = ROWS[11][0] = ROWS[20][1] = ""


def written(sep: str, encoding: str, decimal: str) -> bytes:
    lines = [HEADER, *([cell.replace(".", decimal) for cell in row] for row in ROWS)]
    return "".join(sep.join(line) + "\r\n" for line in lines).encode(encoding)


def started(page: str, **more: str) -> dict[str, str]:
    """A form that starts, as the page would send it."""
    given = {"draft": draft_id(page), "step": "start", "label": "y", "share": "20",
             "neighbors": "1", "target": "100", "answers": "1"}  # fmt: skip
    return {**given, **more}


def selected(page: str, field: str) -> str:
    found = re.search(rf'<select id="{field}".*?<option value="([^"]*)" selected', page, re.DOTALL)
    assert found, page
    return found[1]


@pytest.mark.parametrize(("sep", "encoding", "decimal"), [
    (";", "cp1252", ","), ("\t", "utf-8", "."), ("|", "utf-16", ","), (";", "utf-8-sig", ","),
])  # fmt: skip
def test_how_a_file_is_written_is_found_out_and_kept(
    bare: TestClient, sep: str, encoding: str, decimal: str
) -> None:
    content = written(sep, encoding, decimal)
    page = upload(bare, content).text
    assert selected(page, "sep") == sep
    assert selected(page, "encoding") == encoding.removesuffix("-sig")
    assert selected(page, "decimal") == decimal
    assert "40 rows, 3 of them with holes" in page
    response = post(bare, "/setup", **started(page, **{"column-0": "größe", "values-0": "1,5 | 2"}))
    if decimal == ".":
        assert "got &#39;1,5&#39;" in response.text
        response = post(bare, "/setup", **started(page))
    assert response.headers["location"] == "/question", response.text
    desk = desk_of(bare)
    desk.ready()
    assert [one.kind for one in desk.project.table.columns] == ["numeric", "numeric", "categorical"]
    desk.answer("Ann", 7, None, {"größe": "9.75"}, "one", None)
    desk.ready()
    exported = bare.get("/api/export").content
    told = content.decode(encoding).split("\r\n")
    told[8] = "9.75".replace(".", decimal) + told[8]
    assert exported.decode(encoding) == "\r\n".join(told), "nothing else is changed"


def test_how_a_file_is_written_can_be_changed(bare: TestClient) -> None:
    content = SMALL.replace(b",", b";").replace(b"id;", b"id;\xd6", 1)
    page = upload(bare, content).text
    assert selected(page, "encoding") == "cp1252"
    read_as = html.unescape(re.findall(r'name="read_as" value="([^"]*)"', page)[0])
    other = post(bare, "/setup", **started(page, step="look", encoding="cp1251", read_as=read_as))
    assert other.status_code == 200
    assert "Цa" in other.text
    response = post(bare, "/setup", **started(page, encoding="cp1251", read_as=read_as))
    assert "The file is read differently now" in response.text
    for wrong, words in (
        ({"encoding": "utf-8"}, "has bytes that are not letters in utf-8. Choose another"),
        ({"sep": "|"}, "has one column only"),
    ):
        response = post(bare, "/setup", **started(page, step="look", **wrong))
        assert response.status_code == 422
        assert words in response.text
        assert "Öa" in response.text, "the columns are shown as they were found"
        assert selected(response.text, next(iter(wrong))) == next(iter(wrong.values()))


def test_how_a_file_is_written_can_be_said_with_it(bare: TestClient) -> None:
    content = b"a,b;y\n1,2;0\n3,;1\n4,5;1\n5,6;0\n"
    sent = {"files": {"table": ("x.csv", content)}, "step": "upload"}
    assert selected(post(bare, "/setup", **sent).text, "sep") == ","
    assert selected(post(bare, "/setup", **sent, sep=";").text, "sep") == ";"
    response = post(bare, "/setup", **sent, sep="|")
    assert response.status_code == 422
    assert "<details open><summary>More settings" in response.text
    assert selected(response.text, "sep") == "|"


def test_the_second_file_is_looked_at_by_itself(bare: TestClient) -> None:
    points = "größe\tpreis\tort\ty\n1.5\t2.5\tKöln\tja\n".encode()
    page = upload(bare, written(";", "cp1252", ","), points=("later.csv", points)).text
    response = post(bare, "/setup", **started(page, validation="file"))
    assert response.headers["location"] == "/question", response.text
    project = desk_of(bare).project
    assert project.raw_points.iloc[0].tolist() == [1.5, 2.5, "Köln"]


def test_what_is_wrong_with_the_second_file_is_told(bare: TestClient) -> None:
    page = upload(bare, SMALL, points=("later.csv", b"id,a,b\n1,2,3\n1,2,3,4,5\n")).text
    response = post(bare, "/setup", **started(page, validation="file"))
    assert response.status_code == 422
    assert "Line 3 of &#39;later.csv&#39; has 5 cells" in response.text
    assert "save it with commas" in response.text


def layout_of(path: Path) -> Layout | None:
    return SourceFile.at(str(path)).found_layout


@pytest.mark.parametrize(("content", "expected"), [
    (b"a,b\n1,2\n", (",", "utf-8", ".")),
    (b'a,b\n"1,5",2\n"2,25",3\n', (",", "utf-8", ",")),
    (b'a,b\n"1,500",2\n"2,250",3\n', (",", "utf-8", ".")),
    (b"a;b\n1,500,000;2\n2,250;3\n", (";", "utf-8", ".")),
    (b"a;b\n1,5;2.5\n1,5;2\n", (";", "utf-8", ",")),
    (b"a,b;c\n1,x;y\n", (",", "utf-8", ".")),
    (b'"a;b";c\n"1;2";y\n', (";", "utf-8", ".")),
    (b"a\n1\n", (",", "utf-8", ".")),
    (b"a;b\n\x81\xe4;1\n", (";", "latin-1", ".")),
    (b"a|b\r1|2\r3|4\r", ("|", "utf-8", ".")),
])  # fmt: skip
def test_layouts(tmp_path: Path, content: bytes, expected: tuple[str, str, str]) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    assert layout_of(path) == Layout(*expected)
    packed = tmp_path / "x.csv.gz"
    packed.write_bytes(gzip.compress(content))
    assert layout_of(packed) == Layout(*expected)


def test_the_usual_separator_is_that_of_the_name(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("a,b\tc\nx,2\t3\n")
    assert layout_of(path) == Layout("\t")
    assert layout_of(tmp_path / "x.parquet") is None


# -- the page --------------------------------------------------------------------------------------


def test_looking_again_checks_and_shows_the_candidates(bare: TestClient) -> None:
    page = upload(bare, SMALL).text
    sent = {"step": "look", "column-0": "a", "column-1": "b"}
    response = post(bare, "/setup", **started(page, **sent, **{"values-0": "0|abc"}))
    assert response.status_code == 422
    assert "got &#39;abc&#39;" in response.text
    assert 'aria-label="Other candidates of a" aria-invalid="true"' in response.text
    response = post(bare, "/setup", **started(page, **sent, **{"values-0": "0|77"}))
    assert response.status_code == 200
    assert "<span>0 and 77" in response.text


def test_no_choice_where_there_is_none(bare: TestClient) -> None:
    assert 'name="validation"' not in upload(bare, SMALL).text
    page = upload(bare, SMALL, points=("later.csv", SMALL)).text
    assert page.count('type="radio" name="validation"') == 2


def test_the_page_says_where_answers_will_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cpclean.cli.project_places import Beside, Within

    monkeypatch.chdir(tmp_path)
    for place, words in (
        (Beside(), "Answers will be saved in given.csv.cpclean.db, in the folder in which the "),
        (Within(open_storage("memory://")), "Answers will be in memory only"),
        (Within(open_storage("own.db")), "Answers will be saved in &#39;own.db&#39;."),
    ):
        app = make_app(None, TOKEN, start_project=place)
        with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
            client.get("/", params={"token": TOKEN})
            assert words in upload(client, SMALL).text


def test_candidates_of_days_are_days(tmp_path: Path) -> None:
    days = [f"2025-{1 + n % 12:02}-{1 + n * 7 % 28:02}" for n in range(30)] + [""]
    rows = "".join(f"{day},{n % 4},{n % 2}\n" for n, day in enumerate(days))
    (tmp_path / "given.csv").write_text("seen,b,y\n" + rows)
    draft = Draft("1", "given.csv", tmp_path / "given.csv")
    (seen,) = (one for one in look(draft, SetupForm(label="y")).columns if one.name == "seen")
    assert seen.detected == "date"
    assert re.fullmatch(r"(2025-\d\d-\d\d(, | and |)){3,6}", seen.candidates), "no mean of hours"
