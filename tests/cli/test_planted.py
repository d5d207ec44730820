"""Advice about planted tables: what is true of them is known, and has to be said."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from slow_cases import rest_slow

from cpclean.cli import main


def planted(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 240
    decides, noise, other = rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    label = np.where(decides + 0.2 * other > 0, "yes", "no")
    if kind == "useless":
        label = np.where(rng.random(n) < 0.5, "yes", "no")
    frame = pd.DataFrame({"decides": decides, "noise": noise, "other": other, "y": label})
    if kind == "label":
        frame.loc[(label == "yes") & (rng.random(n) < 0.4), "noise"] = np.nan
    else:
        column = "noise" if kind == "noise" else "decides"
        frame.loc[rng.random(n) < 0.3, column] = np.nan
    return frame


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What `inspect` says about each table, as JSON."""
    folder = tmp_path_factory.mktemp("planted")

    def inspected(kind: str) -> dict:
        file = folder / f"{kind}.csv"
        planted(kind).to_csv(file, index=False)
        given = ["inspect", str(file), "--label", "y", "--space", "plain", "--json"]
        result = CliRunner().invoke(main, given)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return {kind: inspected(kind) for kind in ("noise", "decides", "useless", "label")}


def test_a_column_that_decides(told):
    found = told["decides"]
    effects = {one["name"]: one["certain_if_clean"] for one in found["columns"] if one["holes"]}
    assert effects["decides"] == 1.0
    assert not any("nothing has to be cleaned" in one for one in found["advice"])


def test_holes_in_noise_matter_less(told):
    noise, decides = told["noise"]["table"], told["decides"]["table"]
    assert noise["certain_share"] > decides["certain_share"]
    assert noise["rows_that_help"] < decides["rows_that_help"]


def test_a_useless_table_is_called_so(told):
    assert any("says little about the label" in one for one in told["useless"]["advice"])
    assert not any("says little about the label" in one for one in told["decides"]["advice"])


def test_holes_that_depend_on_the_label(told):
    words = "that it is missing says something about the label"
    assert any(words in one for one in told["label"]["advice"])
    assert not any(words in one for one in told["noise"]["advice"])


def test_other_models_stand_beside_it(told):
    for found in told.values():
        assert set(found["accuracy_beside"]) == {"gradient boosting on NaN", "15-NN, SimpleImputer"}
        assert any(one.startswith("On the same rows, gradient boosting") for one in found["advice"])
    assert told["decides"]["accuracy_beside"]["gradient boosting on NaN"] > 0.7


def test_ten_answers_are_weighed(told):
    for kind, found in told.items():
        said = [one for one in found["advice"] if "expected to remove" in one]
        answers = len(found["table"]["first_rows"])
        assert len(said) == (1 if answers else 0), kind
        assert answers <= 10
        if answers > 1:
            assert said[0].startswith(f"{answers} answers about rows ")
    assert told["decides"]["table"]["first_rows"]


def test_the_last_word_is_the_cheapest_next_step(told):
    steps = {kind: found["advice"][-1] for kind, found in told.items()}
    assert all(one.startswith("Cheapest next step: ") for one in steps.values()), steps
    assert "look for columns that say more" not in steps["decides"]
    assert "look for columns that say more" in steps["useless"], "nobody looks up a useless column"


def cause_of_death() -> pd.DataFrame:
    """A column that is filled in only once the label is known."""
    frame = planted("noise").drop(columns="noise")
    frame.insert(0, "cause", np.where(frame["y"] == "yes", "fall", None))
    return frame


def test_a_column_that_is_known_too_late(tmp_path):
    file = tmp_path / "late.csv"
    cause_of_death().to_csv(file, index=False)
    given = ["inspect", str(file), "--label", "y", "--space", "plain", "--json"]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)["advice"]
    assert any("'cause' says the label by being missing" in one for one in said)
    assert said[-1].endswith("find out whether 'cause' is known before the label is.")


def helpful(seed: int) -> tuple[pd.DataFrame, str]:
    """A table in which one column alone says most about the label; holes are somewhere."""
    rng = np.random.default_rng(seed)
    n = 150
    frame = pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=["a", "b", "c"])
    if seed % 3 == 0:  # a category with many values
        frame["helps"] = rng.choice([f"town {n:02}" for n in range(40)], n)
        score = frame["helps"].str[-1].astype(int) - 4.5
    elif seed % 3 == 1:  # mostly empty
        frame["helps"] = rng.normal(size=n).round(3)
        score = frame["helps"]
    else:  # mostly 0
        frame["helps"] = np.where(rng.random(n) < 0.5, 0.0, rng.normal(8, 1, n).round(2))
        score = frame["helps"] - 4
    frame["y"] = np.where(score + 0.3 * frame["a"] > 0, "yes", "no")
    share = 0.7 if seed % 3 == 1 else 0.2
    frame.loc[rng.random(n) < share, "helps"] = None
    return frame, "helps"


@pytest.mark.parametrize("seed", rest_slow(list(range(6)), 3))
def test_nobody_is_told_to_drop_a_column_that_helps(seed, tmp_path):
    frame, name = helpful(seed)
    file = tmp_path / "train.csv"
    frame.to_csv(file, index=False)
    given = ["inspect", str(file), "--label", "y", "--space", "plain", "--samples", "1", "--json"]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    for one in json.loads(result.stdout)["advice"]:
        assert "without" not in one, one
        if "leave it out" in one or "--drop" in one:
            assert name not in one or "If it tells nothing about the label, leave" in one, one
