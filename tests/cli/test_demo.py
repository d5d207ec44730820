"""cpclean demo, and what all verbs have in common."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from cpclean import CPCleanError
from cpclean.cli import main
from cpclean.cli.demo import _best_row, _count_text, _example, _from_certain_to_open, _share_text


def run(*args: str):
    return CliRunner().invoke(main, args)


@pytest.fixture(scope="module")
def demo():
    return run("demo")


def test_help_lists_the_verbs_with_an_example():
    result = run("--help")
    assert result.exit_code == 0
    assert "demo" in result.output
    assert "Example:" in result.output


def test_every_verb_has_help_with_an_example():
    for name in main.commands:
        result = run(name, "--help")
        assert result.exit_code == 0
        assert f"cpclean {name}" in result.output.split("Example:")[1]


def test_version():
    import cpclean

    assert run("--version").output.strip().endswith(cpclean.__version__)


def test_demo_answers_the_three_questions(demo):
    assert demo.exit_code == 0, demo.output
    assert demo.stderr == ""
    text = " ".join(demo.stdout.split())
    assert "75 rows have holes, 90 in all" in text
    assert "5^90 ≈ 10^63 worlds" in text
    assert re.search(r"1\. .* \d+ of 200 query points \(\d+\.\d%\)", text)
    assert re.search(r"2\. How many worlds", text)
    assert re.search(r"3\. .* Row \d+: .* from 0\.\d+ to 0\.\d+", text)


def test_demo_table_shows_certain_and_open_points(demo):
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in demo.stdout.splitlines()
        if re.match(r"│ +\d", line)
    ]
    assert len(lines) == 8
    for _, possible, certain, *shares, count in lines:
        assert (certain == "yes") == (len(possible.split()) == 1) == ("100%" in shares)
        assert re.fullmatch(r"\d{4}…\d{4} \(\d+\)", count)
    assert {line[2] for line in lines} == {"yes", "no"}


def test_demo_fits_a_narrow_terminal(demo):
    assert max(len(line) for line in demo.stdout.splitlines()) <= 80


def test_demo_is_the_same_for_the_same_seed(demo):
    assert run("demo", "--seed", "0").stdout == demo.stdout
    assert run("demo", "--seed", "1").stdout != demo.stdout


def test_demo_with_one_neighbour_says_so():
    text = " ".join(run("demo", "--neighbors", "1").stdout.split())
    assert "from their nearest neighbour in every world" in text


def test_demo_in_plain_ascii():
    result = CliRunner(charset="ascii").invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()


@pytest.mark.parametrize("k", ["0", "-3", "301"])
def test_a_mistake_is_told_without_a_traceback(k):
    result = run("demo", "--neighbors", k)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.match(rf"Error: n_neighbors .*\b300\b.*{k}", result.stderr)
    assert "Traceback" not in result.stderr


def test_debug_shows_where_it_went_wrong():
    result = run("--debug", "demo", "--neighbors", "0")
    assert isinstance(result.exception, CPCleanError)


def test_generated_table_is_what_the_text_says():
    example = _example(seed=3)
    assert len(example.data.dirty_rows) == 75
    assert example.data.n_worlds == example.n_repairs**example.n_holes
    assert example.points.shape == (200, 4)


def test_no_row_is_recommended_where_all_is_certain():
    text = _best_row(np.array([True, True]), 0.0, np.zeros(3))
    assert text.endswith("None: every prediction is certain already.")


@pytest.mark.parametrize("n_certain", [0, 1, 5, 19, 20])
def test_points_on_show_are_distinct_and_end_with_the_most_open(n_certain):
    certain = np.arange(20) < n_certain
    spread = np.where(certain, 0.0, np.arange(20) / 40)
    shown = _from_certain_to_open(certain, spread, n_shown=8)
    assert len(set(shown)) == 8
    assert shown[-1] == 19
    assert certain[shown].any() == (n_certain > 0)


@pytest.mark.parametrize(
    ("share", "possible", "certain", "text"),
    [
        (0.0, False, False, "-"),
        (0.0, True, False, "<0.1%"),  # possible, but below the smallest float
        (1e-9, True, False, "<0.1%"),
        (0.25, True, False, "25.0%"),
        (0.9999, True, False, ">99.9%"),
        (1.0, True, False, ">99.9%"),  # what is missing is below the rounding of floats
        (1.0, True, True, "100%"),
        (1 - 1e-16, True, True, "100%"),
    ],
)
def test_share_text(share, possible, certain, text):
    assert _share_text(share, possible, certain) == text


def test_count_text():
    assert _count_text(123456789012, gap="…") == "123456789012"
    assert _count_text(5**90, gap="…") == "8077…5625 (63)"
