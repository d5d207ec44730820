"""Advice about planted tables: what is true of them is known, and has to be said."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

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


def test_nobody_is_told_to_drop_a_column_that_helps(told):
    for found in told.values():
        assert not any("--drop" in one for one in found["advice"])
