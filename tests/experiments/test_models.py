"""Models compared: rivals, cases, what is measured of a run, and the tables it prints."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.impute import SimpleImputer
from threadpoolctl import threadpool_limits

from cpclean.baselines import rivals
from cpclean.baselines.rivals import BOOSTING, RIVALS, Filled, FrameCoder, rival
from cpclean.errors import DataError
from cpclean.experiments import model_cases, models, sure
from cpclean.experiments.model_cases import Case, case_keys, case_of, split
from cpclean.experiments.model_runs import (
    OURS,
    ModelRun,
    figures,
    log_loss,
    model_names,
    run_model,
)

HOLES = pd.DataFrame(
    {"size": [1.0, 3.0, None, 8.0], "hue": ["red", None, "red", "blue"], "old": [True, False] * 2}
)
LABELS = np.array(["no", "no", "no", "yes"])


def mixed(key: tuple[str, str, str] = ("mixed", "random", "0")) -> Case:
    return case_of(None, key)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine, threads of boosting wait for each other longer than they work."""
    with threadpool_limits(1):
        yield


def quiet() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


# -- rivals ---------------------------------------------------------------------------------------


def test_means_are_those_of_scikit_learn() -> None:
    filled = Filled().fit_transform(HOLES)
    for name, strategy in {"size": "mean", "hue": "most_frequent"}.items():
        expected = SimpleImputer(strategy=strategy).fit_transform(HOLES[[name]].to_numpy())
        assert filled[name].tolist() == expected[:, 0].tolist()
    assert HOLES.isna().to_numpy().sum() == 2  # the frame itself is left alone


def test_class_means_fill_rows_to_learn_from_only() -> None:
    model = Filled(by_class=True)
    filled = model.fit_transform(HOLES, LABELS)
    assert filled["size"].tolist() == [1.0, 3.0, 2.0, 8.0]
    assert model.transform(HOLES)["size"].tolist() == [1.0, 3.0, 4.0, 8.0]  # no label: whole column
    alone = Filled(by_class=True).fit_transform(HOLES, np.array([0, 0, 1, 2]))
    assert alone["size"].tolist() == [1.0, 3.0, 4.0, 8.0]  # nothing is observed in its class


def test_holes_stay_holes_in_every_column_of_a_category() -> None:
    coded = FrameCoder().fit(HOLES).transform(HOLES)
    assert coded.shape == (4, 1 + 2 + 2)
    assert np.isnan(coded[1, 1:3]).all()
    assert coded[[0, 2, 3], 1:3].tolist() == [[0, 1], [0, 1], [1, 0]]  # blue, red
    assert np.nanmean(coded[:, 0]) == pytest.approx(0)
    assert np.nanstd(coded[:, 0]) == pytest.approx(1)
    strange = FrameCoder().fit(HOLES).transform(HOLES.assign(hue="green"))
    assert (strange[:, 1:3] == 0).all()
    codes = FrameCoder(one_hot=False).fit(HOLES).transform(HOLES)
    assert codes[:, 0].tolist()[:2] == [1.0, 3.0]
    assert codes[[0, 2, 3], 1].tolist() == [1, 1, 0]


@pytest.mark.parametrize("name", RIVALS)
def test_probabilities_are_in_the_order_of_the_classes(name: str) -> None:
    case = mixed()
    X = case.X_test.mask(np.random.default_rng(0).random(case.X_test.shape) < 0.1)
    train, labels = case.X_train[:100], case.y_train[:100]
    model = rival(name, train, labels).fit(train, labels)
    found = model.predict_proba(X)
    assert model.classes_.tolist() == ["N", "O", "P"]
    np.testing.assert_allclose(found.sum(axis=1), 1)
    right = model.classes_[found.argmax(axis=1)] == case.y_test
    assert right.mean() > 0.5  # three classes: an order mixed up would be right on a third


def test_boosting_chooses_by_rows_to_learn_from() -> None:
    """Towns whose alphabet says nothing: categories; of numbers alone there is no choice."""
    towns = np.random.default_rng(0).integers(8, size=160)
    X = pd.DataFrame({"town": np.array(list("ABCDEFGH"))[towns]})
    model = rivals.boosting(X, towns % 2)
    assert model[-1].categorical_features == [True]
    numbers = pd.DataFrame({"x": towns + 0.5})
    assert rivals.boosting(numbers, towns % 2)[-1].categorical_features is None


# -- cases ----------------------------------------------------------------------------------------


def test_rows_are_split_once_and_by_class() -> None:
    labels = np.repeat([0, 1], [90, 30])
    train, test = split(labels, 3)
    assert not {*train} & {*test}
    assert len(test) == 30
    assert labels[test].mean() == pytest.approx(0.25, abs=0.02)
    assert sum(map(len, split(labels, 3, most=40))) == 40
    assert [*split(labels, 3)[1]] == [*test]


def test_holes_are_injected_into_rows_to_learn_from() -> None:
    case = mixed()
    assert case.X_train.isna().to_numpy().mean() == pytest.approx(0.2, abs=0.01)
    assert not case.X_test.isna().to_numpy().any()
    assert len(case.X_train) == len(case.y_train) == 180
    assert len(case.X_test) == len(case.y_test) == 60


def test_keys_of_a_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"does not hold the data.* Name the folder that holds"):
        list(case_keys(tmp_path, 1))
    monkeypatch.setattr(model_cases, "check_data", lambda folder: None)
    keys = list(case_keys(tmp_path, 2))
    assert len(set(keys)) == len(keys) == 3 + 2 * (4 + 4 * 3)
    assert keys[0] == ("Supreme", "published", "")
    assert ("digits", "high", "1") in keys


# -- runs -----------------------------------------------------------------------------------------


def test_models_that_are_compared() -> None:
    assert len(model_names("published")) == len(OURS) + len(RIVALS)
    assert not any("versions" in name for name in model_names("real"))


def test_our_models_prove_and_are_sure() -> None:
    case = mixed(("numbers", "random", "0"))
    for name in ("forest space, K = 15", "plain space, K = 3"):
        run = run_model(name, case)
        assert run.certain is not None
        assert run.sure is not None
        assert run.sure[run.certain].all()  # a certain label has share 1, without an error
        assert 0 < run.certain.mean() < run.sure.mean() < 1
        np.testing.assert_allclose(run.probabilities.sum(axis=1), 1)


def test_the_forest_itself_averages_over_completions() -> None:
    case = mixed()
    whole = run_model("the forest itself, on worlds", case)
    assert (whole.classes[whole.probabilities.argmax(axis=1)] == case.y_test).mean() > 0.6
    X = case.X_test.iloc[:2].assign(x0=np.nan)
    holes = run_model("the forest itself, on worlds", replace(case, X_test=X))
    assert holes.probabilities.shape == (2, 3)
    np.testing.assert_allclose(holes.probabilities.sum(axis=1), 1)
    assert (holes.probabilities != whole.probabilities[:2]).any()


def test_figures_of_a_run() -> None:
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.0, 1.0], [1.0, 0.0]])
    certain, sure_ = np.array([False, False, True, False]), np.array([False, False, True, True])
    run = ModelRun(np.array(["a", "b"]), shares, 1.0, 2.0, 0.5, certain, sure_, 15)
    found = figures(run, np.array(["a", "a", "b", "b"]))
    assert found["accuracy"] == 0.5
    assert (found["certain"], found["sure"]) == (0.25, 0.5)
    assert (found["sure_points"], found["sure_right"]) == (2, 1)
    least = 0.001 / 1.001
    expected = -np.mean(np.log([0.9, 0.2, 1 - least, least]))
    assert found["log_loss"] == pytest.approx(expected, rel=1e-3)
    rivals_ = figures(
        ModelRun(np.array(["a", "b"]), shares, 1.0, 2.0), np.array(["a", "a", "b", "b"])
    )
    assert "sure" not in rivals_


def test_log_loss_of_a_label_that_was_never_seen() -> None:
    found = log_loss(np.array([[0.5, 0.5]]), np.array(["a", "b"]), np.array(["c"]))
    assert found == pytest.approx(-np.log(0.001))


# -- the whole run --------------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A run without its models: what was asked for."""
    asked: list[str] = []

    def run(name: str, case: Case) -> ModelRun:
        asked.append(name)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return ModelRun(
            np.unique(case.y_train), np.eye(3)[np.zeros(len(case.y_test), int)], 1.0, 1.0
        )

    def surely(*args: Any) -> dict[str, Any]:
        names = (f"{one}_{two}" for one in ("sure", "open") for two in ("same", "forest", "right"))
        return {"points": 10, "sure": 0.5, **dict.fromkeys(names, 0.25)}

    def soon(*args: Any) -> dict[str, Any]:
        return {"until_sure": 0.125, "until_certain": 0.75, "dirty_rows": 80}

    monkeypatch.setattr(models, "run_model", run)
    monkeypatch.setattr(sure, "sureness", surely)
    monkeypatch.setattr(sure, "cleaned_until", soon)
    monkeypatch.setattr(model_cases, "GENERATED", {"mixed": "random"})
    return asked


def test_a_run_is_saved_and_resumed(tmp_path: Path, hasty: list[str]) -> None:
    text, finished = models.reproduce(None, tmp_path, 1, True, quiet())
    assert not finished
    assert "| model | mixed, random |\n" in text
    with (tmp_path / "models.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == 2
    text, finished = models.reproduce(None, tmp_path, 1, True, quiet())
    assert finished
    n_models = len(model_names("random"))
    assert len(hasty) == n_models + 1  # the interrupted cell again, and nothing twice
    assert (tmp_path / "models.md").read_text() == text
    with (tmp_path / "models.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == n_models
    assert "| numbers | forest, K = 15 | 10 | 50.0% | 25.0% |" in text
    assert "| numbers | forest, K = 15 | 80 | 12.5% | 75.0% |" in text
    assert models.reproduce(None, tmp_path, 5, True, quiet()) == (text, True)
    assert len(hasty) == n_models + 1


# -- the tables -----------------------------------------------------------------------------------


def line(table: str, seed: str, model: str, accuracy: float, **more: Any) -> dict[str, str]:
    usual = {"log_loss": 0.5, "fit": 1.0, "predict": 2.0, **more}
    key = {"table": table, "holes": "real", "seed": seed, "model": model}
    return {**key, "accuracy": str(accuracy), **{name: str(value) for name, value in usual.items()}}


FOREST = "forest space, K = 15"
LINES = [
    line("Chile", "0", FOREST, 0.70, certain=0.5, sure=0.8, sure_points=80, sure_right=60),
    line("Chile", "1", FOREST, 0.60, certain=0.7, sure=0.6, sure_points=20, sure_right=15),
    line("Chile", "1", BOOSTING, 0.59),
    line("Chile", "0", BOOSTING, 0.67),
    line("Adult", "0", FOREST, 0.80, certain=0.5, sure=0.8, sure_points=80, sure_right=60),
    line("Adult", "0", BOOSTING, 0.82),
]


def test_differences_are_paired_by_split() -> None:
    ours = {one["seed"]: one for one in LINES[:2]}
    theirs = {one["seed"]: one for one in LINES[2:4]}
    found = models.paired_differences(ours, theirs)
    np.testing.assert_allclose(found, [0.03, 0.01])
    del theirs["0"]
    np.testing.assert_allclose(models.paired_differences(ours, theirs), [0.01])


def test_lines_of_the_tables() -> None:
    found = models.markdown(LINES).splitlines()
    assert found[:2] == [
        "<!-- table: models in short -->",
        "| model | real holes (2 tables): mean; worst |",
    ]
    assert "<!-- table: models, real -->" in found
    assert f"| {FOREST} | +0.0; -2.0 |" in found  # means of tables: +2 and -2
    assert f"| {BOOSTING} | accuracy 0.725 |" in found
    chile = next(one for one in found if one.startswith(f"| Chile | {FOREST} |"))
    assert chile == (
        f"| Chile | {FOREST} | 2 | 0.650 ± 0.071 | +2.0 ± 1.0 | 0.50 | 60.0% | 70.0% | 75.0%"
        " | 1.00 | 2.00 |  |"
    )
    adult = next(one for one in found if one.startswith(f"| Adult | {BOOSTING} |"))
    assert "| 1 | 0.820 | +0.0 | 0.50 |  |  |  |" in adult


def test_injected_holes_have_a_table_of_their_own() -> None:
    """One per table, a column for each way; means, and what they are ahead of boosting."""
    wine = [
        {**line("wine", seed, model, accuracy), "holes": holes}
        for holes, seed, model, accuracy in [
            ("high", "0", FOREST, 0.9),
            ("random", "0", FOREST, 0.7),
            ("random", "1", FOREST, 0.8),
            ("random", "0", BOOSTING, 0.65),
            ("random", "1", BOOSTING, 0.75),
        ]
    ]
    found = models.markdown(wine)
    assert found.split("<!-- table: models, wine -->\n")[1].splitlines()[:5] == [
        "| model | wine, random | wine, high |",
        "| --- | ---: | ---: |",
        f"| {FOREST} | 0.750 (+5.0) | 0.900 |",
        f"| {BOOSTING} | 0.700 |  |",
        "",
    ]


def test_a_model_that_lacks_a_table_says_so() -> None:
    more = [*LINES, line("Chile", "0", "plain space, K = 3", 0.66)]
    assert "| plain space, K = 3 | -1.0; -1.0 (1 of 2) |" in models.markdown(more).splitlines()


def test_nothing_done_is_an_empty_table() -> None:
    assert models.markdown([]).startswith("<!-- table: models in short -->\n| model |\n")


# -- sure points ----------------------------------------------------------------------------------


def test_a_table_without_holes_is_always_sure() -> None:
    case = mixed(("numbers", "random", "0"))
    whole = case.X_test
    found = sure.sureness(whole, whole, case.y_test, whole, case.y_test, "forest", 5)
    assert found["sure"] == 1
    assert found["sure_same"] == 1
    assert np.isnan(found["open_same"])


@pytest.mark.slow
def test_sure_labels_are_compared_with_the_truth() -> None:
    found = sure._measure(None, "numbers", "plain, K = 3")
    assert 0.3 < found["sure"] < 0.9
    assert found["sure_same"] > 0.9 > found["open_same"]
    assert 0 < found["until_sure"] < found["until_certain"] < 1


def test_nothing_is_cleaned_where_all_is_sure() -> None:
    case = mixed(("numbers", "random", "0"))
    hidden = case.X_test.assign(x4=case.X_test["x4"].where(np.arange(60) != 7))
    found = sure.cleaned_until(hidden, case.X_test, case.y_test, case.X_test, "plain", 3)
    assert found == {"until_sure": 0, "until_certain": 0, "dirty_rows": 1}
