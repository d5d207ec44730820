"""cpclean demo, and what all verbs have in common."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from cpclean import CPCleanError
from cpclean.cli import main
from cpclean.cli.charts import curves
from cpclean.cli.demo import _from_certain_to_open, share_text
from cpclean.cli.wines import wines


def run(*args: str):
    return CliRunner().invoke(main, args)


@pytest.fixture(scope="module")
def demo():
    return run("demo")


def test_help_lists_the_verbs_with_an_example():
    result = run("--help")
    assert result.exit_code == 0
    for verb in main.commands:
        assert f"\n  {verb} " in result.output
    assert "Example:" in result.output
    assert "..." not in result.output.split("Commands:")[1]  # no text is cut off


def test_every_verb_has_help_with_an_example():
    for name in main.commands:
        result = run(name, "--help")
        assert result.exit_code == 0
        assert f"cpclean {name}" in result.output.split("Example:")[1]


def test_version():
    import cpclean

    assert run("--version").output.strip().endswith(cpclean.__version__)


def test_demo_tells_the_whole_story(demo):
    assert demo.exit_code == 0, demo.output
    assert demo.stderr == ""
    text = " ".join(demo.stdout.split())
    assert re.search(r"119 wines .* \d+ rows have holes, \d+ in all", text)
    assert re.search(r"about 10\^\d+\.\d worlds", text)
    assert re.search(r"1\. .* \d+ of 59 other wines \(\d+\.\d%\)", text)
    assert "2. How many worlds predict each cultivar?" in text
    assert re.search(r"3\. .* Row \d+, where [a-z ]+ is missing\. .* by 0\.\d{4} nats", text)
    assert "4. Ten answers, from the values that were hidden:" in text
    assert re.search(r"5\. .* certain after \d+ answers; in random order after \d+", text)
    assert text.index("Where to go next") < text.index("cpclean inspect train.csv --label y")


def test_demo_gives_ten_true_answers(demo):
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in demo.stdout.split("4. Ten answers")[1].splitlines()
        if re.match(r"│ +\d", line)
    ]
    assert [int(line[0]) for line in lines] == list(range(1, 11))
    truth = wines(0).truth
    for _, row, told, _, _ in lines:
        for name, value in re.findall(r"([a-z]+) ([\d.]+)", told):
            assert truth.loc[int(row), name] == pytest.approx(float(value))
    shares = [float(line[4].rstrip("%")) for line in lines]
    assert shares[0] < shares[-1]


def test_demo_table_shows_certain_and_open_points(demo):
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in demo.stdout.split("3. Which row")[0].splitlines()
        if re.match(r"│ +\d", line)
    ]
    assert len(lines) == 5
    for _, possible, certain, *shares, count in lines:
        assert (certain == "yes") == (len(possible.split()) == 1) == ("100%" in shares)
        assert re.fullmatch(r"10\^\d+\.\d", count)
    assert {line[2] for line in lines} == {"yes", "no"}


def test_demo_fits_a_narrow_terminal(demo):
    assert max(len(line) for line in demo.stdout.splitlines()) <= 80


def test_demo_names_only_verbs_that_there_are(demo):
    named = re.findall(r"^  cpclean (\w+)", demo.stdout, re.MULTILINE)
    assert named
    assert set(named) <= set(main.commands)


@pytest.mark.slow
def test_demo_is_the_same_for_the_same_seed(demo):
    assert run("demo", "--seed", "0").stdout == demo.stdout
    assert run("demo", "--seed", "1").stdout != demo.stdout


@pytest.mark.slow
def test_demo_with_one_neighbour_says_so():
    text = " ".join(run("demo", "--neighbors", "1").stdout.split())
    assert "from their nearest neighbour in every world" in text


@pytest.mark.slow
def test_demo_in_plain_ascii():
    result = CliRunner(charset="ascii").invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()


def test_demo_where_all_is_certain():
    result = run("demo", "--neighbors", "119")
    assert result.exit_code == 0, result.output
    assert "None: every prediction is certain already." in result.stdout
    assert "Where to go next" in result.stdout


@pytest.mark.parametrize("k", ["0", "-3", "120"])
def test_a_mistake_is_told_without_a_traceback(k):
    result = run("demo", "--neighbors", k)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.match(rf"Error: --neighbors must be .*\b119\b.*{k}", result.stderr)
    assert "Traceback" not in result.stderr


def test_debug_shows_where_it_went_wrong():
    result = run("--debug", "demo", "--neighbors", "0")
    assert isinstance(result.exception, CPCleanError)


def test_the_laboratory_skips_pale_wines():
    example = wines(seed=3)
    holes = example.table.holes
    assert example.table.names[3] == "flavanoids"
    assert example.table.names[5] == "proline"
    assert example.n_skipped == holes[:, [3, 5]].sum()
    assert not holes[:, [0, 1, 4]].any()
    skipped = holes[:, 3] | holes[:, 5]
    colour = example.truth["colour"].to_numpy()
    assert np.median(colour[skipped]) < np.median(colour[~skipped])
    for row in example.table.dataset.dirty_rows.tolist():
        known = {name: value for name, value in example.table.row(row).items() if value is not None}
        assert example.truth.loc[row, list(known)].to_dict() == known


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
    assert share_text(share, possible, certain) == text


# -- curves ----------------------------------------------------------------------------------------


def test_curves_hold_between_points_and_begin_below_the_lowest():
    drawn = curves({"one": [(0, 0.62), (50, 1.0)], "two": [(0, 0.62), (100, 0.8)]}, True).split(
        "\n"
    )
    assert drawn[0].startswith(" 100% |")
    assert drawn[8].startswith("  60% |")
    assert drawn[8].count("*") == 30
    assert drawn[0].count("*") == 30
    assert "o" not in drawn[0]
    assert drawn[-1].split() == ["*", "one", "o", "two"]
    assert drawn[-2].split() == ["0", "100", "answers"]


@pytest.mark.parametrize("share", [0.0, 0.97, 1.0])
def test_a_curve_of_one_point(share):
    drawn = curves({"one": [(0, share)]}, False)
    assert drawn.count("●") == 60 + 1
    assert max(map(len, drawn.splitlines())) <= 80
