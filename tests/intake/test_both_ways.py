"""The same files and choices, through the terminal and through the page: the same comes out."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from web.browsing import TOKEN
from web.visiting import TestClient, desk_of, post

from cpclean.cli import main
from cpclean.intake.choices import MAYBE_NULL
from cpclean.projects.project import Project
from cpclean.storage.opening import open_storage
from cpclean.web.server.app import make_app

CITIES = ("Ulm", "Bonn", "Kiel")
LINES = [f"{n % 7},{n % 5 + n % 3}.5,{CITIES[n % 3]},{'no' if n % 2 else 'yes'}" for n in range(40)]
LINES[4] = "4,,Bonn,yes"
LINES[9] = ",4.5,Ulm,no"
POINTS = ["3,4.5,Ulm,yes", "1,2.5,Bonn,no", "6,1.5,Kiel,yes"]


def table(lines: list[str] = LINES, header: str = "age,size,city,y", **changed: str) -> str:
    """A table as a file, with some lines changed: l7=... is row 7."""
    made = list(lines)
    for name, line in changed.items():
        made[int(name[1:])] = line
    return "\n".join([header, *made, ""])


@dataclass(frozen=True)
class Case:
    """Files and choices, and what is expected of both ways.

    `said` is part of the error that both give, or of a note that both give; then come the ways out
    of the terminal and of the page.
    """

    train: str
    val: str | None = None
    terminal: tuple[str, ...] = ()
    page: dict[str, str] = field(default_factory=dict)
    refused: bool = False
    said: str = ""
    ways: tuple[str, str] = ("", "")


CASES = {
    "a table as it should be": Case(table()),
    "a file of points": Case(table(), table(POINTS)),
    "a forest": Case(table(), None, ("--space", "forest"), {"space": "forest"}),
    "random splits": Case(table(), None, ("--space", "random"), {"space": "random"}),
    "too few rows for a forest": Case(
        table(LINES[:30]), None, ("--space", "forest"), {"space": "forest"},
        said="24 rows are too few for the leaves of trees, which need 30: the plain space of",
    ),
    "one label for a forest": Case(
        table([line.replace("yes", "no") for line in LINES]), None, ("--space", "forest"),
        {"space": "forest"}, said="ll rows have the same label, so a forest has nothing to",
    ),
    "rows without a label": Case(
        table(l3="1,2.5,Ulm,", l8="2,2.5,Kiel,"), None, ("--refuse-unlabelled",), refused=True,
        said="very row of 'train.csv' needs a label; missing in row 3, 8.",
        ways=("--drop-unlabelled", "Tick “leave out rows without a label”"),
    ),
    "rows without a label, left out": Case(
        table(l3="1,2.5,Ulm,", l8="2,2.5,Kiel,"), None, (),
        {"drop_unlabelled": "1"},
        said="2 rows have no label and are left out. In the file, these are lines 5, 10.",
    ),
    "words that are read as missing": Case(
        table(l2="2,,None,yes", l3="1,2.5,Ulm,n/a"), None, (), {"drop_unlabelled": "1"},
        said="olumn 'city' has 'None' in 1 cell, read as missing.",
        ways=("such as '(None)'.", "'n/a' (once) is read as missing; if it is a label, write it"),
    ),
    "no labels at all": Case(
        table([line.rpartition(",")[0] + "," for line in LINES]), refused=True,
        said="o row of 'train.csv' has a label in column 'y'.",
    ),
    "rows with nothing but a label": Case(
        table(l5=",,,no"), refused=True,
        said="needs at least one value besides its label; nothing is known of row 5.",
        ways=("--drop-empty", "Tick “leave out rows with nothing but a label”"),
    ),
    "rows with nothing but a label, left out": Case(
        table(l5=",,,no"), None, ("--drop-empty",), {"drop_empty": "1"},
        said="1 row has nothing but a label and is left out.",
    ),
    "a share that rounds to no rows": Case(
        table(), None, ("--val-share", "0.01"), {"share": "1"}, refused=True,
        said=" of 40 rows rounds to no row.",
        ways=("Take a larger --val-share", "Take a larger share"),
    ),
    "a share of one row": Case(table(), None, ("--val-share", "0.02"), {"share": "2"}),
    "many rows with holes": Case(
        table(["," + line.partition(",")[2] for line in LINES[:30]] + LINES[30:]), None,
        ("--val-share", "0.5"), {"share": "50"}, said="20 rows are held out to be predicted; ",
    ),
    "no complete row": Case(
        table(["," + line.partition(",")[2] for line in LINES[:20]]
              + [re.sub(",[^,]*,", ",,", line, count=1) for line in LINES[20:]]),
        said="8 rows are held out to be predicted; 8 have holes.",
    ),
    "labels that are all different": Case(
        table([f"{line.rpartition(',')[0]},l{n}" for n, line in enumerate(LINES)]), refused=True,
        said="very label of 'train.csv' occurs in one row only",
        ways=("with --val", "in a file of their own"),
    ),
    "a text that stands for nothing": Case(
        table(l6="6,?,Ulm,yes", l7="?,2.5,?,no"), table([*POINTS[:2], "6,?,Kiel,yes"]),
        ("--null", "?"), {"null": "?"}, said="f 3 rows in 'val.csv', 1 has holes: each is pred",
    ),
    "texts that stand for nothing": Case(
        table(l6="6,-999,Ulm,yes", l7="1,2.5,not known,no"), None,
        ("--null", "-999", "--null", "not known"), {"null": '-999 "not known"'},
    ),
    "validation labels that training does not have": Case(
        table(), table([*POINTS, "2,2.5,Ulm,perhaps"]),
        said="f 4 rows to predict, 1 has a label that no training row has, such as 'perhaps'",
    ),
    "validation labels that training does not have, numbers in both": Case(
        table([line.replace("no", "0").replace("yes", "1") for line in LINES]),
        table(["3,4.5,Ulm,0", "1,2.5,Bonn,1", "6,1.5,Kiel,7"]),
        said="f 3 rows to predict, 1 has a label that no training row has, such as 7",
    ),
    "no validation label that training has": Case(
        table(), table([line.replace("no", "0").replace("yes", "1") for line in POINTS]),
        refused=True,
        said="alidation labels must be among those of the table, 'no', 'yes'; got 1, 0.",
    ),
    "some validation labels that are missing": Case(
        table(), table([*POINTS[:2], "6,1.5,Kiel,"]),
        said="f 3 rows in 'val.csv', 1 has no label, so accuracy is not known.",
    ),
    "points without labels": Case(
        table(), table([line.rpartition(",")[0] for line in POINTS], "age,size,city")
    ),
    "points with holes": Case(
        table(), table([*POINTS[:2], ",1.5,Kiel,yes"]),
        said="f 3 rows in 'val.csv', 1 has holes: each is predicted over all ways of filling",
    ),
    "points that all have holes": Case(
        table(), table([",1.5,Kiel,yes", "1,,Ulm,no"]), said="f 2 rows in 'val.csv', 2 have holes",
    ),
    "a point of which nothing is known": Case(
        table(), table([*POINTS[:2], ",,,yes"]),
        said="othing is known about 1 row in 'val.csv' (row 2)",
    ),
    "points that are training rows": Case(
        table(), table([*POINTS, LINES[7], LINES[4], LINES[8].replace("yes", "no")]),
        said="f 6 rows in 'val.csv', 4 are also in 'train.csv': row 0, 1, 3 and 1 more (there row "
        "24, 1, 7 and 1 more).",
    ),
    "points without a column": Case(
        table(), table([line.partition(",")[2] for line in POINTS], "size,city,y"), refused=True,
        said="'val.csv' must have the columns of 'train.csv'; it lacks 'age'.",
        ways=("or leave them out: --drop age.", "or leave them out below."),
    ),
    "points with a column of their own": Case(
        table(), table([f"1,{line}" for line in POINTS], "id,age,size,city,y"), refused=True,
        said="it also has 'id'. Take them out of 'val.csv'.",
    ),
    "points with columns in another order": Case(
        table(), table(["Ulm,3,4.5,yes", "Bonn,1,2.5,no"], "city,age,size,y"),
    ),
    "infinite values": Case(
        table(l3="1,inf,Ulm,no", l8="2,-inf,Kiel,yes"), refused=True,
        said="olumn 'size' of 'train.csv' has infinite values in row 3, 8.",
        ways=("Empty these cells", "Empty these cells"),
    ),
    "infinite values in a column that is left out": Case(
        table(l3="1,inf,Ulm,no"), None, ("--drop", "size"), {"column-0": "size", "drop-0": "1"},
    ),
    "infinite points": Case(
        table(), table([*POINTS, "2,inf,Ulm,no"]), refused=True,
        said="olumn 'size' of 'val.csv' has infinite values in row 3.",
    ),
    "a label of measurements": Case(
        table([f"{line.rpartition(',')[0]},{n}.25" for n, line in enumerate(LINES)]), refused=True,
        said="has 40 different numbers in 40 rows, as measurements do.",
    ),
    "a column without any value": Case(
        table([f"{line[:-len(line.rpartition(',')[2])]},{line.rpartition(',')[2]}"
               for line in LINES], "age,size,city,void,y")
    ),
    "one label only": Case(table([f"{line.rpartition(',')[0]},yes" for line in LINES])),
    "the label is dropped": Case(
        table(), None, ("--drop", "y"), {"column-0": "y", "drop-0": "1"}, refused=True,
        said="he label column 'y' cannot be ",
    ),
    "nothing besides the label": Case(
        table(["1,no", ",yes", "2,no", "3,yes", "4,no"], "a,y"), None, ("--drop", "a"),
        {"column-0": "a", "drop-0": "1"}, refused=True, said="esides the label",
    ),
    "one column": Case(
        table(["yes", "no", "yes"], "y"), refused=True, said="'train.csv' has one column only, 'y'."
    ),
    "a kind that does not fit": Case(
        table(), None, ("--kind", "city=numeric"), {"column-0": "city", "kind-0": "numeric"},
        refused=True, said="olumn 'city' cannot be read as numeric",
        ways=("--kind city=categorical", "Choose another kind for it"),
    ),
    "kinds": Case(
        table(), table([line.rpartition(",")[0] for line in POINTS], "age,size,city"),
        ("--kind", "age=categorical", "--kind", "y=categorical"),
        {"column-0": "age", "kind-0": "categorical", "column-1": "y", "kind-1": "categorical"},
    ),
    "numbers that are too large": Case(
        table(l3="9007199254740993,2.5,Ulm,no", l9="2,,Ulm,no"),
        said="hole numbers beyond 2**53 are rounded in column 'age'.",
        ways=("--kind age=categorical", "Choose another kind for it"),
    ),
    "more neighbours than rows": Case(
        table(), None, ("--neighbors", "500"), {"neighbors": "500"}, refused=True,
        said=" must be an int in [1, 32] (the number of training rows); got 500.",
        ways=("--neighbors must", "The number of neighbours must"),
    ),
    "rows with more cells than the header": Case(
        table(header="age,size,city"), refused=True, said="he rows of 'train.csv' have more cells",
    ),
    "an empty file": Case("", refused=True, said="'train.csv' is empty"),
    "a column name that stands twice": Case(
        table(header="age,size,size,y"), refused=True,
        said="more than one column of 'train.csv' is called 'size'",
    ),
}  # fmt: skip
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@dataclass(frozen=True)
class Outcome:
    """What came of it, and all that was said on the way."""

    project: Project | None
    said: str


def by_terminal(case: Case) -> Outcome:
    val = () if case.val is None else ("--val", "val.csv")
    found: list[Any] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cpclean.web.server.process.run", lambda kept, *_, **__: found.append(kept))
        given = ("serve", "train.csv", "--label", "y", *val, *case.terminal, "-k", "1")
        options = [*given, "--storage", "memory://", "--no-browser"]
        if "--neighbors" in case.terminal:
            options.remove("-k")
            options.remove("1")
        done = CliRunner().invoke(main, options)
    assert done.exit_code == (0 if found else 2), done.output
    return Outcome(found[0].project() if found else None, done.stderr)


@pytest.fixture
def bare() -> Iterator[TestClient]:
    """A server without a table."""
    app = make_app(None, TOKEN, start_project=lambda project: open_storage("memory://"))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        client.get("/", params={"token": TOKEN})
        yield client


def by_page(client: TestClient, case: Case) -> Outcome:
    files = {"table": ("train.csv", case.train.encode())}
    if case.val is not None:
        files["points"] = ("val.csv", case.val.encode())
    page = post(client, "/setup", files=files, step="upload")
    draft = re.search(r'name="draft" value="(\w+)"', page.text)
    if draft is None:
        assert page.status_code == 422
        return Outcome(None, html.unescape(page.text))
    by = "share" if case.val is None else "file"
    sent = {"draft": draft[1], "label": "y", "neighbors": "1", "target": "100", "answers": "1",
            "share": "20", "validation": by, **case.page}  # fmt: skip
    looked = post(client, "/setup", **sent, step="look")
    started = post(client, "/setup", **sent, step="start")
    said = html.unescape(looked.text + started.text)
    if started.status_code == 422:
        return Outcome(None, said)
    assert started.headers["location"] == "/question"
    return Outcome(desk_of(client).project, said)


@each_case
def test_the_same_comes_out(
    case: Case, bare: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.csv").write_text(case.train)
    if case.val is not None:
        Path("val.csv").write_text(case.val)
    terminal, page = by_terminal(case), by_page(bare, case)
    assert (terminal.project is None, page.project is None) == (case.refused, case.refused)
    for outcome, way in zip((terminal, page), case.ways, strict=True):
        assert case.said in outcome.said
        assert way in outcome.said
    if terminal.project is None or page.project is None:
        return
    mine, theirs = terminal.project.task, page.project.task
    assert page.project.digest() == terminal.project.digest()
    assert page.project.journal_belongs == terminal.project.journal_belongs
    assert theirs.row_names.tolist() == mine.row_names.tolist()
    assert (mine.labels is None) == (theirs.labels is None)
    if mine.labels is not None and theirs.labels is not None:
        assert theirs.labels.tolist() == mine.labels.tolist()
    assert page.project.text == terminal.project.text


@pytest.mark.parametrize("name", [
    "validation labels that training does not have",
    "validation labels that training does not have, numbers in both",
])  # fmt: skip
def test_labels_that_training_does_not_have_are_kept(name: str, bare: TestClient) -> None:
    project = by_page(bare, CASES[name]).project
    assert project is not None
    labels = project.task.labels
    assert labels is not None
    assert len(labels) == len(CASES[name].val.splitlines()) - 1
    assert set(labels.tolist()) - set(project.task.dataset.classes.tolist()) in ({"perhaps"}, {7})
    session = Project.from_bytes(project.to_bytes()).session()
    assert 0 <= session.accuracy() < 1, "what nobody can predict counts as wrong"


@pytest.mark.parametrize("token", sorted(MAYBE_NULL))
def test_a_text_that_may_stand_for_nothing_is_noticed(
    token: str, bare: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = Case(table(l3=f"1,2.5,{token},no", l8=f"2,2.5,{token},yes"))
    Path("train.csv").write_text(case.train)
    words = f"Column 'city' holds {token!r} 2 times. If it means that a value is missing"
    told = CliRunner().invoke(main, ["inspect", "train.csv", "--label", "y", "--json"]).stdout
    assert f"{words}: --null" in told
    assert f"{words}, enter it under More settings." in by_page(bare, case).said
