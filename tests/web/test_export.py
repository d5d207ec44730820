"""Out of the page and into a terminal: the table as it was given, and a log to go on from."""

import csv
import gzip
import io
import json
import re
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from cli.problems import written
from click.testing import CliRunner
from web.tables import small_project

from cpclean import IncompleteTable, read_table
from cpclean.cli import main
from cpclean.data.task import Task
from cpclean.intake.notes import IntakeError
from cpclean.intake.textfile import TextFile
from cpclean.intake.writing import frame_with
from cpclean.projects.project import Project, Settings
from cpclean.queries.model import Model
from cpclean.storage.opening import open_storage
from cpclean.web.desk.exporting import type_of
from cpclean.web.desk.listing import RowsWanted
from cpclean.web.pages.drafting import project_of
from cpclean.web.pages.drafts import Draft, SetupForm

ROWS = '''id;size;town;when;y
007;65,0;"Köln";2024-01-31;s
008;;Bonn;2024-02-01;l
009;7,50;"Ulm, ""alt""";2024-02-02;s

010;3;?;2024-02-03;l
011;9;Köln;2024-02-04;s
012;?;Ulm;2024-02-05;l
013;+4;Bonn;2024-02-06;s
014;08;Köln;2024-02-07;l
'''
POINTS = "size;town\n60;Bonn\n5;Köln\n8;Ulm\n40;Köln\n"
OPTIONS = ("--label", "y", "--drop", "id", "--drop", "when", "--null", "?", "-k", "1", "--sep", ";",
           "--decimal", ",", "--encoding", "latin-1", "--val", "val.csv")  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A table as people have them, which is in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_bytes(ROWS.replace("\n", "\r\n").encode("latin-1"))
    (tmp_path / "val.csv").write_bytes(POINTS.encode("latin-1"))
    return tmp_path


def run(*arguments, said="q\n"):
    done = CliRunner().invoke(main, [*map(str, arguments)], input=said)
    assert done.exit_code == 0, done.output
    return done


def served(*arguments):
    """What `cpclean serve` opens."""
    found = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cpclean.web.server.process.run", lambda kept, *_, **__: found.append(kept))
        run("serve", *arguments)
    return found[0]


@pytest.fixture
def desk(files, desk_over):
    return desk_over(served("train.csv", *OPTIONS))


# -- the table -------------------------------------------------------------------------------------


def test_nothing_but_told_cells_changes(desk, files):
    before = (files / "train.csv").read_bytes()
    assert desk.export_table(".csv") == before
    assert type_of(".csv", before, desk.project) == "text/csv; charset=iso8859-1"
    desk.answer("Ann", 1, values={"size": "65"})
    desk.answer("Bob", 5, values={"size": "2.25"})
    desk.answer("Bob", 3, values={"town": "St. Gallen; SG"})
    desk.ready()
    expected = (
        before.replace(b"008;;", b"008;65,0;")
        .replace(b"012;?;", b"012;2,25;")
        .replace(b"010;3;?;", b'010;3;"St. Gallen; SG";')
    )
    assert desk.export_table(".csv") == expected
    values = pd.read_parquet(io.BytesIO(desk.export_table(".parquet")))
    assert values["size"].tolist() == [65, 65, 7.5, 3, 9, 2.25, 4, 8]
    tabs = desk.export_table(".tsv").decode("latin-1").split("\r\n")
    assert tabs[3] == '009\t7,50\t"Ulm, ""alt"""\t2024-02-02\ts'


def test_from_the_storage_alone(desk, files):
    expected = (files / "train.csv").read_bytes()
    for file in ("train.csv", "val.csv"):
        (files / file).unlink()
    with open_storage("train.csv.cpclean.db", create=False) as storage:
        assert storage.project().text == TextFile(expected, ";", "iso8859-1", ",", ".csv")
    assert desk.export_table(".csv") == expected


def test_letters_that_the_file_does_not_have_make_it_utf_8(desk):
    desk.answer("Ann", 3, values={"town": "Łódź"})
    desk.ready()
    content = desk.export_table(".csv")
    assert type_of(".csv", content, desk.project) == "text/csv; charset=utf-8"
    text = content.decode("utf-8")
    assert "Łódź" in text
    assert "Köln" in text


def test_the_same_bytes_as_in_a_terminal(desk, files):
    """Several people, a correction, the same twice, a skip, an undo: the state is the same."""
    desk.answer("Ann", 1, candidate=2)
    desk.answer("Bob", 1, candidate=2)  # says the same
    desk.answer("Bob", 5, values={"size": "12"})
    desk.ready()
    desk.answer("Cem", 5, values={"size": "13"})  # corrects it
    desk.skip("Ann", 3)
    desk.skip("Bob", 3)
    desk.answer("Ann", 3, candidate=0)
    desk.undo("Ann")
    desk.ready()
    (files / "answers.jsonl").write_text(desk.export_log(), encoding="utf-8")
    run("clean", "train.csv", *OPTIONS, "--log", "answers.jsonl", "--out", "out.csv")
    assert (files / "out.csv").read_bytes() == desk.export_table(".csv")
    given = ("train.csv", *OPTIONS, "--log", "answers.jsonl")
    told = run("report", *given, "--static", "-o", "report.html")
    certain = desk.engine.now.session.certain
    assert told.stdout.startswith(f"{certain.sum()} of {len(certain)} predictions are certain")
    lines = [json.loads(line) for line in (files / "answers.jsonl").read_text().splitlines()[1:]]
    assert [(one["row"], one["who"]) for one in lines] == [
        (1, "Ann"), (5, "Bob"), (5, "Cem"), (3, "Ann"),
    ]  # fmt: skip


def test_a_terminal_goes_on_and_takes_back(desk, files):
    desk.answer("Ann", 1, candidate=2)
    desk.answer("Bob", 5, candidate=1)
    (files / "a.jsonl").write_text(desk.export_log(), encoding="utf-8")
    text = run("clean", "train.csv", *OPTIONS, "--log", "a.jsonl", said="u\nq\n").stdout
    assert "Continuing from a.jsonl: 2 answers so far." in text
    assert "Undone: row 5 is open again." in text
    again = run("clean", "train.csv", *OPTIONS, "--log", "a.jsonl", "--json")
    assert json.loads(again.stdout)["answers"] == 1


def test_what_is_disputed_is_open_in_a_terminal(files, desk_over):
    desk = desk_over(served("train.csv", *OPTIONS, "--answers-per-row", "2"))
    for who, row, candidate in (("Ann", 1, 2), ("Bob", 1, 2), ("Ann", 5, 1), ("Bob", 5, 0)):
        desk.answer(who, row, candidate=candidate)
    desk.answer("Ann", 3, candidate=0)  # waits for another
    (files / "a.jsonl").write_text(desk.export_log(), encoding="utf-8")
    done = run("clean", "train.csv", *OPTIONS, "--log", "a.jsonl", "--json")
    assert json.loads(done.stdout)["rows_answered"] == 1


def test_every_event_is_no_log_of_answers(desk, files):
    desk.answer("Ann", 1, candidate=2)
    (files / "e.jsonl").write_text(desk.export_log(everything=True), encoding="utf-8")
    given = ["report", "train.csv", *OPTIONS, "--log", "e.jsonl", "-o", "r.html"]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 2
    assert "lists every event of a project" in done.stderr
    assert "what=log" in done.stderr


def test_rows_of_the_forest_are_those_of_the_file(tmp_path, monkeypatch, desk_over):
    """There the rows of a table are in a random order, which nobody gets to see."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    before = (tmp_path / "train.csv").read_text().splitlines()
    given = ("train.csv", "--label", "y", "--space", "forest")
    desk = desk_over(served(*given))
    row = int(desk.project.dirty_rows[0])
    number = int(desk.project.task.row_names[row])
    assert number != row
    question = desk.question("Ann", number)
    assert (question.row, question.number) == (number, number)
    assert desk.answer("Ann", number, candidate=0).row == number
    desk.ready()
    content = desk.export_table(".csv")
    after = content.decode().splitlines()
    changed = [line for line in range(len(before)) if before[line] != after[line]]
    assert changed == [number + 1]
    log = desk.export_log()
    for text in (log.splitlines()[1], desk.export_log(everything=True)):
        event = json.loads(text)
        assert (event["row"], event["row_in_file"]) == (row, number)
    (tmp_path / "answers.jsonl").write_text(log, encoding="utf-8")
    run("clean", *given, "--log", "answers.jsonl", "--out", "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == content


# -- the other way ---------------------------------------------------------------------------------


def test_a_page_begins_with_the_answers_of_a_terminal(tmp_path, monkeypatch, desk_over):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    given = ("train.csv", "--label", "y", "--val", "val.csv", "--repairs", "observed")
    run("clean", *given, "--out", "out.csv", said="1\ns\n2\nu\n1\nq\n")
    log = ("--log", "train.csv.answers.jsonl")
    desk = desk_over(served(*given, *log))
    assert desk.export_table(".csv") == (tmp_path / "out.csv").read_bytes()
    events = desk.storage.events()
    assert [(one.kind, one.who) for one in events] == [
        ("answer", "terminal"), ("skip", "terminal"), ("answer", "terminal"),
    ]  # fmt: skip
    with served(*given, *log) as storage:
        assert storage.events() == events, "taken in once"
    # There and back again: the terminal goes on from what the page has.
    (tmp_path / "again.jsonl").write_text(desk.export_log(), encoding="utf-8")
    run("clean", *given, "--log", "again.jsonl", "--out", "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("train.csv", *OPTIONS, "--log", "none.jsonl"), "'none.jsonl' cannot be read"),
        (("train.csv", *OPTIONS, "--log", "val.csv"), "is not a log of answers"),
        (("--log", "val.csv"), "belong to a table: name it"),
    ],
)
def test_a_log_that_is_none(files, arguments, told):
    done = CliRunner().invoke(main, ["serve", *arguments, "--no-browser"])
    assert done.exit_code == 2, done.output
    assert told in done.stderr


def test_a_log_of_something_else(files):
    run("clean", "train.csv", *OPTIONS, said="1\nq\n")
    given = ["serve", "train.csv", *OPTIONS, "-k", "3", "--log", "train.csv.answers.jsonl"]
    done = CliRunner().invoke(main, [*given, "--no-browser"])
    assert done.exit_code == 2
    assert "neighbors was 1 and is 3" in done.stderr


# -- other beginnings ------------------------------------------------------------------------------


def test_an_uploaded_file_comes_back_as_it_was(files, desk_over):
    lines = ['"65.0","Ulm","s"', '"","Bonn","l"', '"7","Ulm","s"', '"5","","l"', '"9","Ulm","s"']
    text = "\n".join(["size,town,y", *lines, ""])
    (files / "up.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("p.csv", "uploaded.csv"):
        (files / name).write_text("size,town\n60,Ulm\n")
    draft = Draft("1", "w.csv", files / "up.csv.gz", "p.csv", files / "uploaded.csv")
    project = project_of(draft, SetupForm("y", "file", neighbors="1"))
    draft.remove()
    storage = open_storage("memory://")
    storage.create(project)
    desk = desk_over(storage)
    desk.answer("Ann", 1, values={"size": "41"})
    desk.ready()
    assert desk.export_table(".csv").decode() == text.replace('"","Bonn"', '"41","Bonn"')
    (files / "train.csv").write_text(text)
    (files / "a.jsonl").write_text(desk.export_log())
    given = ("train.csv", "--label", "y", "-k", "1", "--val", "p.csv", "--log", "a.jsonl")
    run("clean", *given, "--out", "out.csv")
    assert (files / "out.csv").read_bytes() == desk.export_table(".csv")


def test_an_uploaded_table_has_the_rows_held_out_that_a_terminal_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = written(tmp_path)
    project = project_of(Draft("1", "train.csv", Path(names["train"])), SetupForm("y"))
    with served("train.csv", "--label", "y") as storage:
        assert storage.project().digest() == project.digest()
        assert storage.project().journal_belongs == project.journal_belongs


def test_rows_are_held_out_so_that_every_label_is_left(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,1,s\n2,2,l\n,2,s\n3,,m\n4,4,l\n5,,l\n")
    draft = Draft("1", "t.csv", tmp_path / "t.csv")
    project = project_of(draft, SetupForm("y", share="90", neighbors="1"))
    assert project.table.dataset.classes.tolist() == ["l", "m", "s"]
    (tmp_path / "t.csv").write_text("a,b,y\n1,1,s\n2,,l\n3,3,m\n")
    with pytest.raises(IntakeError, match=r"every label of 't\.csv' occurs in one row only"):
        project_of(draft, SetupForm("y"))
    (tmp_path / "t.csv").write_text("a,b,y\n1,,s\n2,,l\n,3,l\n,4,s\n3,,s\n4,,l\n,5,s\n,6,l\n")
    project = project_of(draft, SetupForm("y", share="25", neighbors="1"))
    assert project.task.points.mixtures.tolist() == [0, 1], "no row of it is complete"


SPELLINGS = [
    ("boolean", "1", "1", "false", "0"),
    ("boolean", "0.0", "0.0", "true", "1.0"),
    ("boolean", "true", "true", "false", "false"),
    ("boolean", "False", "False", "true", "True"),
    ("boolean", "TRUE", "TRUE", "false", "FALSE"),
    ("date", "2024-05-31", "2024-06-01", "2024-07-01", "2024-07-01"),
    ("date", "2024-05-31", "2024-06-01", "2024-07-01 10:30", "2024-07-01T10:30:00"),
    ("date", "2024-05-31", "2024-06-01 08:00", "2024-07-01 10:30", "2024-07-01 10:30"),
    ("date", "2024-05-31 10:00:00", "2024-06-01 11:00:00", "2024-07-01", "2024-07-01 00:00:00"),
    ("date", "2024-05-31 10:00", "2024-06-01 11:00", "2024-07-01T09:00", "2024-07-01 09:00"),
    ("date", "2024-05-31 10:00", "2024-06-01 11:00", "2024-07-01T09:00:05", "2024-07-01 09:00:05"),
    ("date", "2024-05-31 10:00", "2024-06-01 11:00", "2024-07-01T09:00:05.25",
     "2024-07-01 09:00:05.250000"),
    ("date", "2024-05-31T10:00:00.5", "2024-06-01T11:00:00.0", "2024-07-01 09:00",
     "2024-07-01T09:00:00.0"),
    ("date", "2024-05-31T10:00:00.000Z", "2024-06-01T11:00:00.000Z", "2024-07-01 09:00",
     "2024-07-01T09:00:00.000Z"),
    ("date", "2024-05-31T10:00:00+02:00", "2024-06-01T11:00:00+02:00", "2024-07-01 09:00",
     "2024-07-01T11:00:00+02:00"),
    ("date", "2024-05-31 10:00:00+0200", "2024-06-01 11:00:00+0200", "2024-07-01T09:00+02:00",
     "2024-07-01 09:00:00+0200"),
    ("date", "0001-01-01 10:00-02:00", "2024-06-01 11:00-02:00", "0001-01-01 00:00",
     "0001-01-01T00:00:00"),
    ("date", "1717113600", "1717200000", "2024-06-02", "1717286400"),
    ("duration", "3600", "60", "0:30:00", "1800"),
    ("duration", "1:00:00", "0:01:00", "0:30:00", "0:30:00"),
]  # fmt: skip


@pytest.mark.parametrize("read_as", ["text", "values"])
@pytest.mark.parametrize(("kind", "one", "other", "said", "expected"), SPELLINGS)
def test_a_told_value_is_spelt_as_its_column(
    tmp_path, desk_over, kind, one, other, said, expected, read_as
):
    text = f"a,b,y\n{one},1,s\n{other},2,l\n,3,s\n{one},4,l\n{other},5,s\n"
    path = tmp_path / "t.csv"
    path.write_text(text)
    kinds = {"a": kind}
    frame = read_table(path, kinds=kinds if read_as == "values" else None)
    table = IncompleteTable(frame, label="y", kinds=kinds)
    points = frame.drop(columns="y").dropna().head(1)
    storage = open_storage("memory://")
    task = Task.of(table, points, frame=frame)
    storage.create(Project.make(task, Settings(Model(1)), text=TextFile.read(path)))
    desk = desk_over(storage)
    desk.answer("Ann", 2, values={"a": said})
    desk.ready()
    assert desk.export_table(".csv").decode() == text.replace("\n,3,", f"\n{expected},3,")


def test_text_in_a_frame_is_spelt_as_its_column():
    frame = pd.DataFrame({
        "at": ["2024-05-31 10:00", None, "2024-06-01 10:00", "2024-06-02 10:00"],
        "ok": ["no", "yes", None, "yes"],
        "y": ["s", "l", "s", "l"],
    })  # fmt: skip
    told = {"at": {1: datetime(2024, 7, 1, 9)}, "ok": {2: False}}
    made = frame_with(frame, told, {})
    assert made["at"][1] == "2024-07-01 09:00"
    assert made["ok"][2] == "no"


def test_explicit_domains(files, desk_over):
    (files / "d.csv").write_text("age[18|30|65],pets,y\n40.0,[0|3],no\n,0,yes\n50,4,no\n20,4,yes\n")
    (files / "v.csv").write_text("age,pets\n40,1\n")
    desk = desk_over(served("d.csv", "--label", "y", "--domains", "--val", "v.csv", "-k", "1"))
    desk.answer("Ann", 0, candidate=1)
    desk.ready()
    lines = desk.export_table(".csv").decode().splitlines()
    assert lines == ["age[18|30|65],pets,y", "40.0,3,no", ",0,yes", "50,4,no", "20,4,yes"]


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
def test_other_files_have_no_text(files, desk_over, suffix):
    frame = pd.read_csv("train.csv", sep=";", decimal=",", encoding="latin-1", na_values="?")
    write = {".parquet": frame.to_parquet, ".xlsx": frame.to_excel}[suffix]
    write(f"t{suffix}", index=False)
    options = [one for one in OPTIONS if one not in ("--null", "?")]
    desk = desk_over(served(f"t{suffix}", *options))
    assert desk.project.text is None
    desk.answer("Ann", 1, values={"size": "65"})
    desk.ready()
    found = pd.read_csv(io.BytesIO(desk.export_table(".csv")))
    assert found["size"].tolist()[:3] == [65, 65, 7.5]


def test_a_project_without_its_text_is_written_anew():
    project = Project.from_bytes(small_project().to_bytes())
    assert project.text is None
    assert b'"text"' not in small_project().to_bytes()


def test_lines_are_those_of_the_file_on_the_page_and_in_exports(files, desk_over):
    """As in the terminal (intake/test_file_lines): cells of several lines count."""
    text = Path("train.csv").read_bytes().replace(b";Bonn;", b';"Bonn\n(Rhein)";')
    Path("lines.csv").write_bytes(text)
    written = text.split(b"\n")
    desk = desk_over(served("lines.csv", *OPTIONS))
    question = desk.question("Ann", 5)
    assert question.line != question.number + 2
    hole = next(one.column for one in question.cells if one.hole)
    shown = [one.text for one in question.cells if one.text]
    assert any(one.encode("latin-1") in written[question.line - 1] for one in shown)
    desk.answer("Ann", question.row, values={hole: "4"})
    desk.ready()
    for everything in (False, True):
        line = json.loads(desk.export_log(everything).splitlines()[-1])
        assert (line["row_in_file"], line["line"]) == (question.number, question.line)
    (audit,) = csv.DictReader(io.StringIO(desk.export_audit()))
    assert (audit["row"], audit["line"]) == (str(question.number), str(question.line))
    (listed,) = [one for one in desk.rows(RowsWanted(), "Ann").rows if one.row == question.row]
    assert listed.line == question.line


def test_the_audit_joins_the_file_before_and_after(desk, files, desk_over):
    """By row and column, as text: old values stand in the file, new ones in the cleaned one."""
    dates = ROWS.replace("2024-02-03", "").replace("2024-02-06", "?")
    (files / "dates.csv").write_bytes(dates.encode("latin-1"))
    options = [one for one in OPTIONS if one != "when"]
    del options[options.index("--drop", 3)]
    (files / "val.csv").write_bytes(
        POINTS.replace("\n", ";2024-02-02\n").replace("town;2024-02-02", "town;when").encode()
    )
    other = desk_over(served("dates.csv", *options))
    desk.answer("Ann", 1, values={"size": "65"})
    desk.answer("Bob", 5, values={"size": "2.25"}, comment="to be sure")
    other.answer("Ann", 5, values={"size": {"between": [2.5, 7]}})
    other.answer("Ann", 3, values={"town": "Rom", "when": "2024-02-29"})
    other.answer("Ann", 6, values={"when": {"between": ["2024-02-02", None]}})
    rough = []
    for one in (desk, other):
        one.ready()
        audit = pd.read_csv(io.StringIO(one.export_audit()), dtype=str, keep_default_na=False)
        assert len(audit) > 1
        cells = {}
        for name, content in (("old", one.project.text.content), ("new", one.export_table())):
            frame = pd.read_csv(
                io.BytesIO(content), sep=";", encoding="latin-1", dtype=str, keep_default_na=False
            )
            rows = frame.reset_index(names="row").astype(str)
            cells[name] = rows.melt("row", var_name="column", value_name=name)
        joined = audit.merge(cells["old"]).merge(cells["new"], on=["row", "column"])
        assert len(joined) == len(audit)
        assert (joined.old == joined.old_value).all()
        exact = joined[joined.known == "exact"]
        assert (exact.new == exact.new_value).all()
        rough += joined.loc[joined.known == "rough", ["low", "high", "new"]].values.tolist()
    assert rough == [["2,5", "7", "?"], ["2024-02-02", "", "?"]]


def test_rows_that_were_held_out_are_named_as_in_the_file(files, desk_over):
    towns = ["Ulm", "Bonn", '"Köln\n(Rhein)"']
    rows = [f"K{n},{n % 9 if n % 4 else ''},{towns[n % 3]},{n % 2}" for n in range(40)]
    Path("held.csv").write_text("\n".join(["key,size,town,y", *rows]) + "\n", "utf-8")
    desk = desk_over(served("held.csv", "--label", "y", "--drop", "key", "--val-share", "0.25"))
    found = desk.predictions().predictions
    assert len(found) == 10
    written = Path("held.csv").read_text("utf-8").split("\n")
    for one in found:
        assert one.title == f"key K{one.row}"
        assert written[one.line - 1].startswith(f"K{one.row},")
    exported = list(csv.DictReader(io.StringIO(desk.export_predictions())))
    assert [(int(one["row"]), int(one["line"])) for one in exported] == [
        (one.row, one.line) for one in found
    ]
    Path("val.csv").write_text("size,town\n1,Ulm\n2,Bonn\n")
    given = ("held.csv", "--label", "y", "--val", "val.csv", "--storage", "v.db", "--drop", "key")
    other = desk_over(served(*given))
    assert {(one.title, one.line) for one in other.predictions().predictions} == {("", None)}


def test_what_was_held_out_and_why_stays_readable(files, desk_over):
    desk = desk_over(served("train.csv", *OPTIONS[:-2], "--val-share", "0.25"))
    (said,) = [one for one in desk.project.settings.about["notes"] if "held out" in one]
    assert re.match(r"\d rows are held out to be predicted; ", said)
    assert "about 25% of the rows of each label, chosen at random, because no file" in said
    assert not any(
        "held out" in one
        for one in (served("train.csv", *OPTIONS, "--storage", "v.db").project().settings.about)
        .get("notes", [])
    )  # fmt: skip
