"""cpclean.toml remembers the options of tables; shells complete commands."""

import pytest
from cli.problems import written
from click.testing import CliRunner

from cpclean.cli import main
from cpclean.cli.project_file import options_for


def run(*args: str):
    return CliRunner().invoke(main, list(args))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the tables, as the current one."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    return tmp_path


def test_the_second_command_needs_no_options(folder):
    typed = ("--label", "y", "--drop", "city", "--null", "?", "--drop-empty", "--space", "plain")
    first = run("check", "train.csv", *typed, "--val", "val.csv", "--remember")
    assert first.exit_code == 0, first.output
    assert "in cpclean.toml now" in first.stderr
    assert (folder / "cpclean.toml").read_text("utf-8") == (
        '[table."train.csv"]\nlabel = "y"\nspace = "plain"\nnull = ["?"]\ndrop = ["city"]\n'
        'drop-empty = true\nval = "val.csv"\n'
    )
    for name in ("train.csv", "./train.csv", str(folder / "train.csv")):
        second = run("check", name)
        assert second.stdout == first.stdout
    words = "--label y --space plain --null '?' --drop city --drop-empty --val val.csv"
    assert f"From cpclean.toml: {words}." in second.stderr
    other = run("check", "train.csv", "--drop", "age")
    assert other.stdout != first.stdout
    assert "--null '?' --drop-empty --val" in other.stderr, "what was typed is not from the file"


def test_other_tables_are_not_concerned(folder):
    run("check", "train.csv", "--label", "y", "--remember")
    run("check", "truth.csv", "--label", "y", "--neighbors", "5", "--remember")
    assert options_for(["train.csv"]) == {"label": "y"}
    assert options_for(["--json", "truth.csv"]) == {"label": "y", "neighbors": 5}
    assert "name the column to predict with --label" in run("check", "val.csv").output


@pytest.mark.parametrize(("content", "told"), [
    ("label = ", "cpclean.toml cannot be read: "),
    ('[tables."train.csv"]\nlabel = "y"', "cpclean.toml has sections such as [table."),
    ('[table."train.csv"]\nlabl = "y"', "unknown option 'labl' for 'train.csv'. Did you mean"),
    ('[table."train.csv"]\nlabel = "y"\nneighbors = "many"', "'many' is not a valid integer"),
])  # fmt: skip
def test_what_cannot_be_understood_is_refused(folder, content, told):
    (folder / "cpclean.toml").write_text(content, "utf-8")
    result = run("check", "train.csv")
    assert result.exit_code != 0
    assert told in " ".join(result.output.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_each_shell(shell, monkeypatch):
    assert "_CPCLEAN_COMPLETE" in run("completion", shell).stdout
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert f"cpclean completion {shell}" in run("completion").stdout
    monkeypatch.setenv("SHELL", "/bin/other")
    assert run("completion").stdout.count("Put this line") == 3


def test_what_is_switched_off_is_remembered_too(folder):
    lines = (folder / "train.csv").read_text("utf-8").splitlines()
    lines[3] = lines[3].rpartition(",")[0] + ","
    (folder / "train.csv").write_text("\n".join([*lines, ""]), "utf-8")
    typed = ("--label", "y", "--val", "val.csv", "--space", "plain")
    assert run("check", "train.csv", *typed, "--refuse-unlabelled", "--remember").exit_code == 2
    assert "drop-unlabelled = false\n" in (folder / "cpclean.toml").read_text("utf-8")
    again = run("check", "train.csv")
    assert again.exit_code == 2
    assert "--val val.csv" in again.stderr
    assert " --refuse-unlabelled" in again.stderr.splitlines()[0]
    assert run("check", "train.csv", "--drop-unlabelled").exit_code == 0
