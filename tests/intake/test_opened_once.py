"""A file is opened once per command, however many things are made of it."""

import gzip
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from cli.problems import frames, written
from click.testing import CliRunner
from web.browsing import TOKEN
from web.visiting import TestClient, post

from cpclean.cli import main
from cpclean.storage.opening import open_storage
from cpclean.web.pages.drafting import look, project_of
from cpclean.web.pages.drafts import Draft, SetupForm
from cpclean.web.server.app import make_app

_watched: list[Counter[str]] = []


def _count(event: str, arguments: tuple) -> None:
    if event == "open" and _watched and isinstance(arguments[0], str | bytes | os.PathLike):
        mode, flags = arguments[1], arguments[2]
        writing = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        if not writing and not (isinstance(mode, str) and set(mode) & set("wax+")):
            _watched[-1][Path(os.fsdecode(arguments[0])).name] += 1


sys.addaudithook(_count)  # which stays, but counts only while something is watched


@pytest.fixture
def opened() -> Iterator[Counter[str]]:
    """How often each file is opened to be read, by its name."""
    _watched.append(Counter())
    yield _watched[-1]
    _watched.pop()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    return {name: Path(place).name for name, place in written(tmp_path).items()}


def run(*arguments: str, said: str = "") -> None:
    done = CliRunner().invoke(main, arguments, input=said)
    assert done.exit_code == 0, done.output


GIVEN = ("train.csv", "--label", "y")


@pytest.mark.parametrize(("arguments", "read"), [
    (("check", *GIVEN), ["train.csv"]),
    (("check", *GIVEN, "--val", "val.csv"), ["train.csv", "val.csv"]),
    (("count", *GIVEN, "--drop", "city"), ["train.csv"]),
    (("inspect", *GIVEN), ["train.csv"]),
    (("rank", *GIVEN, "--values"), ["train.csv"]),
    (("report", *GIVEN, "--static", "-o", "page.html"), ["train.csv"]),
    (("simulate", *GIVEN, "--truth", "truth.csv", "--budget", "1"), ["train.csv", "truth.csv"]),
    (("clean", *GIVEN, "--drop", "city", "--out", "out.csv"), ["train.csv"]),
    (("clean", *GIVEN, "--oracle", "truth.csv", "--budget", "2", "--out", "out.json"),
     ["train.csv", "truth.csv"]),
])  # fmt: skip
def test_commands(
    files: dict[str, str], opened: Counter[str], arguments: tuple[str, ...], read: list[str]
) -> None:
    run(*arguments, said="1\nq\n")
    assert {name: opened[name] for name in files.values() if opened[name]} == dict.fromkeys(read, 1)


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv", ".parquet", ".xlsx"])
def test_formats(files: dict[str, str], opened: Counter[str], suffix: str) -> None:
    frame, _, _ = frames()
    if suffix == ".parquet":
        frame.to_parquet("t.parquet")
    elif suffix == ".xlsx":
        frame.to_excel("t.xlsx", index=False)
    else:
        content = frame.to_csv(index=False, sep="\t" if suffix == ".tsv" else ",").encode()
        packed = gzip.compress(content) if suffix.endswith(".gz") else content
        Path(f"t{suffix}").write_bytes(packed)
    opened.clear()
    run("clean", f"t{suffix}", "--label", "y", said="age=41\nq\n")
    assert opened[f"t{suffix}"] == 1
    made = Path(f"t.cleaned{suffix}")
    read = {".parquet": pd.read_parquet, ".xlsx": pd.read_excel}.get(suffix)
    found = pd.read_csv(made, sep="\t" if suffix == ".tsv" else ",") if read is None else read(made)
    assert found.isna().sum().sum() < frame.isna().sum().sum()


def test_a_served_table(
    files: dict[str, str], opened: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cpclean.web.server.process.run", lambda *_, **__: None)
    run("serve", *GIVEN, "--drop", "city", "--val", "val.csv", "--no-browser")
    assert (opened["train.csv"], opened["val.csv"]) == (1, 1)


def test_names_that_stand_twice_are_looked_for_in_memory(
    files: dict[str, str], opened: Counter[str]
) -> None:
    Path("train.csv").write_text("a,a,y\n1,2,no\n3,,yes\n4,5,no\n")
    opened.clear()
    done = CliRunner().invoke(main, ["check", *GIVEN])
    assert "more than one column of 'train.csv' is called 'a'" in done.stderr
    assert opened["train.csv"] == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_that_can_be_read_once(files: dict[str, str]) -> None:
    import threading

    os.mkfifo("pipe.csv")
    content = Path("train.csv").read_bytes()
    writer = threading.Thread(target=Path("pipe.csv").write_bytes, args=(content,), daemon=True)
    writer.start()
    run("clean", "pipe.csv", "--label", "y", "--out", "out.csv", said="1\nq\n")
    writer.join(10)
    assert not writer.is_alive()
    assert len(Path("out.csv").read_bytes().splitlines()) == len(content.splitlines())


def test_the_page_opens_a_file_once_per_step(files: dict[str, str], opened: Counter[str]) -> None:
    draft = Draft("1", "train.csv", Path("train.csv"), "val.csv", Path("val.csv"))
    form = SetupForm("y", "file", kinds={"city": "categorical"}, dropped=frozenset({"income"}))
    files_of_request = draft.files()
    look(draft, form, files_of_request)
    project_of(draft, form, files_of_request)
    assert (opened["train.csv"], opened["val.csv"]) == (1, 1)


def test_a_request_to_the_page_opens_a_file_once(
    files: dict[str, str], opened: Counter[str]
) -> None:
    sent = {"table": ("t.csv", Path("train.csv").read_bytes())}
    sent["points"] = ("p.csv", Path("val.csv").read_bytes())
    app = make_app(None, TOKEN, start_project=lambda project: open_storage("memory://"))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        client.get("/", params={"token": TOKEN})
        opened.clear()
        page = post(client, "/setup", files=sent, step="upload").text
        draft = re.search(r'name="draft" value="(\w+)"', page)
        assert draft is not None
        names = [f"{draft[1]}-table.csv", f"{draft[1]}-points.csv"]
        assert [opened[name] for name in names] == [1, 1]
        given = {"draft": draft[1], "label": "y", "validation": "file", "share": "20",
                 "neighbors": "3", "target": "100", "answers": "1"}  # fmt: skip
        for more, status in (({"neighbors": "500"}, 422), ({}, 303)):
            opened.clear()
            response = post(client, "/setup", **given | more, step="start")
            assert response.status_code == status
            assert [opened[name] for name in names] == [1, 1], "a refusal shows the file, too"
