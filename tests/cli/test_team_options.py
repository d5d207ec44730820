"""What `cpclean serve` is told about the team: experts, gold, a web hook."""

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cpclean.cli import main
from cpclean.storage.events import NewEvent
from cpclean.storage.opening import open_storage
from cpclean.web.desk.gold import WHO

RUN = "cpclean.web.server.process.run"
ROWS = [f"P{n},{'' if n % 4 == 0 else n % 9 + 20},{n % 7},{'ab'[n % 2]}" for n in range(40)]


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Servers that would have been started."""
    found: list[Any] = []
    monkeypatch.setattr(RUN, lambda storage, token, **how: found.append((storage, how)))
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was begun with a table."""
    place = tmp_path_factory.mktemp("team") / "people.csv"
    place.write_text("\n".join(["patient_id,age,visits,y", *ROWS]) + "\n")
    command = ["serve", str(place), "--label", "y", "--seed", "0", "--space", "plain"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RUN, lambda storage, token, **how: storage.close())
        done = CliRunner().invoke(main, [*command, "--expert", "Anna=age"])
    assert done.exit_code == 0, done.output
    return place.with_name("people.csv.cpclean.db")


@pytest.fixture
def table(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(made, tmp_path / "people.cpclean.db"))


def serve(table: Path, *options: Any) -> Any:
    return CliRunner().invoke(main, ["serve", str(table), *map(str, options)])


def truths(started: list[Any]) -> dict[int, Any]:
    storage = started[-1][0]
    numbers = storage.project().task.row_names
    events = [one for one in storage.events() if one.kind == "truth"]
    assert all(one.who == WHO for one in events)
    return {int(numbers[one.row]): one.value for one in events}


def asked_about(started: list[Any]) -> list[int]:
    """The numbers of rows with holes that are in the table, not held out."""
    project = started[-1][0].project()
    return sorted(int(project.task.row_names[row]) for row in project.dirty_rows)


def write(place: Path, header: list[str], rows: list[list[Any]], sep: str = ",") -> Path:
    with place.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=sep).writerows([header, *rows])
    return place


def test_experts_are_saved_with_the_project(table: Path, started: list[Any]) -> None:
    with open_storage(table) as storage:
        assert storage.setting("experts") == {"Anna": ["age"]}
    done = serve(table, "--expert", "Cem = age", "--expert", "bob=age")
    assert done.exit_code == 0, done.output
    both = {"Anna": ["age"], "Cem": ["age"], "bob": ["age"]}
    assert started[0][0].setting("experts") == both


@pytest.mark.parametrize(("options", "words"), [
    (("--expert", "Anna=agee"), "--expert: Anna is asked about columns that have holes: 'age'; "
     "got 'agee'. Did you mean 'age'?"),
    (("--expert", "Anna"), "--expert: an expert is written as NAME=COLUMN,COLUMN"),
    (("--gold", "none.csv"), "there is no file 'none.csv'."),
    (("--gold-rate", "0.9"), "0.9 is not in the range 0<=x<=0.5"),
    (("--notify", "ftp://x"), "--notify needs an address that begins with http:// or https://"),
])  # fmt: skip
def test_mistakes(table: Path, started: list[Any], options: tuple[str, ...], words: str) -> None:
    done = serve(table, *options)
    assert (done.exit_code, started) == (2, [])
    assert words in " ".join(done.output.split())


def test_without_a_table_there_are_no_experts(started: list[Any]) -> None:
    done = CliRunner().invoke(main, ["serve", "--expert", "Anna=age"])
    assert done.exit_code == 2
    assert "--expert and --gold are about a table: name FILE." in done.output


def test_a_hook_is_passed_on(table: Path, started: list[Any]) -> None:
    assert serve(table, "--notify", "http://localhost:9/x").exit_code == 0
    assert started[0][1]["notify"] == "http://localhost:9/x"


@pytest.mark.parametrize("sep", [",", ";"])
def test_gold_by_the_columns_that_identify_a_row(
    table: Path, started: list[Any], tmp_path: Path, sep: str
) -> None:
    assert serve(table).exit_code == 0
    some = asked_about(started)[:3]
    rows = [[f"P{n}", 30 + n] for n in some] + [["P1", 21], ["P99", 22]]
    gold = write(tmp_path / "truth.csv", ["patient_id", "age"], rows, sep)
    for _ in range(2):  # the second time adds nothing
        done = serve(table, "--gold", gold, "--gold-rate", "0.2")
        assert done.exit_code == 0, done.output
        assert truths(started) == {n: {"age": 30.0 + n} for n in some}
    assert "3 rows of" in done.output
    assert (
        "are gold; ignored: 2 rows that the table does not have, or without holes." in done.output
    )
    assert started[-1][0].setting("gold") == {"rate": 0.2}


def test_gold_by_row_numbers(table: Path, started: list[Any], tmp_path: Path) -> None:
    assert serve(table).exit_code == 0
    first, second, *_ = asked_about(started)
    gold = write(tmp_path / "t.csv", ["row", "age"], [[first, "31,5"], [second, ""]])
    assert serve(table, "--gold", gold).exit_code == 2
    gold = write(tmp_path / "t.csv", ["row", "age"], [[first, "31.5"], [second, ""]])
    done = serve(table, "--gold", gold)
    assert done.exit_code == 0, done.output
    assert truths(started) == {first: {"age": 31.5}}
    assert "ignored: 1 row without a value for every hole" in done.output


@pytest.mark.parametrize(("header", "row", "words"), [
    (["age"], [3], "needs the columns patient_id, which identify a row, or a column 'row'"),
    (["row", "age"], [40, 3], "row must be the number of a row of the table, from 0"),
    (["row", "age"], ["x", 3], "(the first below the header) to 39; got 'x'."),
    (["patient_id", "age"], ["P99", 3], "can be a gold question; ignored: 1 row that the table"),
    (["row", "age"], [0, 3, 4], "must have 2 cells in every line; others are in line 2"),
    (["row", "age"], [1, 3], "no row of "),
])  # fmt: skip
def test_a_file_of_truths_that_does_not_fit(
    table: Path, tmp_path: Path, header: list[str], row: list[Any], words: str
) -> None:
    gold = write(tmp_path / "truth.csv", header, [row])
    done = serve(table, "--gold", gold)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_a_row_that_people_have_answered_is_no_gold(
    table: Path, started: list[Any], tmp_path: Path
) -> None:
    assert serve(table).exit_code == 0
    storage = started[-1][0]
    first, second, *_ = asked_about(started)
    row = storage.project().task.row_names.tolist().index(first)
    storage.append(NewEvent("skip", "Ann", row), "r1")
    gold = write(tmp_path / "truth.csv", ["row", "age"], [[first, 30], [second, 31]])
    done = serve(table, "--gold", gold)
    assert truths(started) == {second: {"age": 31.0}}
    assert "1 row that people had answered before" in done.output
