"""cpclean reproduce, as a person meets it."""

import pytest
from click.testing import CliRunner

from cpclean.cli import main

QUICKLY = ("reproduce", "--table", "priors", "--quick", "--seeds", "1", "--jobs", "1")


def run(*args: str):
    return CliRunner().invoke(main, args)


@pytest.fixture
def tiny(monkeypatch):
    from cpclean.experiments import compare_priors as priors
    from cpclean.experiments import fresh

    monkeypatch.setattr(priors, "QUICK", fresh.Sizes(train=30, val=10, test=20))
    return priors


def test_reproduce_quickly(tiny, tmp_path):
    out = tmp_path / "out"
    result = run(*QUICKLY, "--out", str(out))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("| table | holes | seeds | clean | closest | default | uniform")
    assert "| numbers | random | 1 |" in result.stdout
    assert result.stdout == (out / "priors.md").read_text("utf-8") + "\n"
    assert "6 of 6: mixed, high, 0" in result.stderr
    again = run(*QUICKLY, "--out", str(out))
    assert again.stdout == result.stdout
    (line,) = again.stderr.splitlines()  # nothing was left to do
    assert line.startswith("Quick: small generated tables, to see that everything works. About")


@pytest.mark.slow
def test_reproduce_interrupted(tiny, tmp_path, monkeypatch):
    measured, calls = tiny.compare_priors, []

    def impatient(space):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measured(space)

    monkeypatch.setattr(tiny, "compare_priors", impatient)
    given = (*QUICKLY, "--out", str(tmp_path))
    result = run(*given)
    assert result.exit_code == 130
    assert result.stdout.count("| numbers |") == 1
    assert f"the same command continues from {tmp_path}." in result.stderr
    result = run(*given)
    assert result.exit_code == 0
    assert len(calls) == 2 + 5


def test_reproduce_without_data():
    result = run("reproduce")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "Error: name the folder that contains spaces/ and tables/ with --"
    )
    assert "try --quick" in result.stderr


def test_reproduce_from_a_folder_without_data(tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        result = run("reproduce", "--data-dir", str(folder), "--out", str(tmp_path / "out"))
        assert result.exit_code == 2
        assert f"{folder} does not hold the data of the experiments" in result.stderr
        assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_reproduce_with_other_settings(tiny, tmp_path):
    (tmp_path / "priors.json").write_text('{"rate": 0.5}')
    result = run("reproduce", "--table", "priors", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "rate was 0.5, now 0.2" in result.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--table", "2"], "'2' is not one of 'paper', 'priors'"),
        (["--seeds", "0"], "0 is not in the range x>=1"),
    ],
)
def test_reproduce_misused(args, told):
    result = run("reproduce", "--quick", *args)
    assert result.exit_code == 2
    assert told in result.stderr


def test_how_long_it_takes_is_said_first(tmp_path, monkeypatch):
    from cpclean.experiments import paper, validation

    asked = []
    for module in (paper, validation):
        monkeypatch.setattr(module, "reproduce", lambda *given: asked.append(given) or ("", True))
    told = run(
        *[
            "reproduce",
            "--table",
            "paper",
            "--data-dir",
            "x",
            "--jobs",
            "2",
            "--seeds",
            "4",
            "--out",
        ],
        "out",
    )
    assert told.stderr.startswith("Measuring paper. About ")
    assert "minutes with 2 processes on cores of their own, less what is saved al" in told.stderr
    alone = run(
        *[
            "reproduce",
            "--table",
            "paper",
            "--data-dir",
            "x",
            "--jobs",
            "1",
            "--seeds",
            "4",
            "--out",
        ],
        "out",
    )
    assert "with one process" in alone.stderr
    assert len(asked) == 2
