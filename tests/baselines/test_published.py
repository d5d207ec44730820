"""The baselines on the authors' published spaces, against the reference figures."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cpclean.baselines import softmax
from cpclean.baselines.activeclean import ActiveClean
from cpclean.baselines.boostclean import BoostClean
from cpclean.baselines.random_clean import RandomClean
from cpclean.baselines.source import source_of
from cpclean.baselines.versions import read_versions, versions_of
from cpclean.baselines.worlds import ClosestWorld, DefaultCleaning, GroundTruth
from cpclean.experiments.spaces import PUBLISHED, Space, load_space

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not (DATA / "spaces").is_dir(), reason="the published spaces are not at ../shared/data"
)

# Test accuracy with three neighbours: fully clean, closest-candidate world, default.
REFERENCE = {
    "BabyProduct": (0.883, 0.842, 0.662),
    "Supreme": (0.970, 0.933, 0.796),
    "Bank": (0.825, 0.767, 0.641),
    "Puma": (0.766, 0.733, 0.627),
}


def folder(name: str) -> Path:
    return DATA / "spaces" / name / PUBLISHED[name]


@cache
def loaded(name: str) -> Space:
    return load_space(folder(name))


LARGEST = "BabyProduct"
SPACES = [
    pytest.param(name, marks=[pytest.mark.slow] if name == LARGEST else []) for name in REFERENCE
]


@pytest.mark.parametrize("name", SPACES)
def test_the_three_worlds(name: str) -> None:
    space = loaded(name)
    methods = (GroundTruth(), ClosestWorld(), DefaultCleaning())
    found = [method.fit(space).score(space.X_test, space.y_test) for method in methods]
    assert found == pytest.approx(REFERENCE[name], abs=0.0006)


@pytest.mark.parametrize("name", REFERENCE)
def test_mean_and_mode_of_the_dirty_table_are_the_published_default(name: str) -> None:
    space = loaded(name)
    own = DefaultCleaning().fit(space.table).world_
    np.testing.assert_allclose(own, space.default, atol=1e-12)


@pytest.mark.parametrize("name", SPACES)
def test_every_version_is_a_candidate_of_every_row(name: str) -> None:
    space = loaded(name)
    data = space.table.dataset
    versions = versions_of(source_of(space), read_versions(folder(name) / "X_train_repairs"))
    assert len(versions) >= 10
    rows = np.stack([version.rows for version in versions])
    for row in data.dirty_rows[::7].tolist():
        gaps = np.abs(rows[:, row, None, :] - data.candidates(row)[None]).max(axis=2)
        assert gaps.min(axis=1).max() < 1e-9
        assert gaps.min(axis=0).max() < 1e-9  # and the other way round


def test_boostclean_takes_what_is_best_on_validation_points() -> None:
    space = loaded("Supreme")
    versions = read_versions(folder("Supreme") / "X_train_repairs")
    method = BoostClean(versions, rounds=1).fit(space)
    errors = {}
    for version in method.versions_:
        alone = BoostClean({version.name: version.rows}, rounds=1).fit(space)
        errors[version.name] = 1.0 - alone.score(space.X_val, space.y_val)
    (first,) = method.rounds_
    assert first.error == pytest.approx(min(errors.values()))
    assert method.versions_[first.version].name == min(errors, key=lambda name: errors[name])
    test = method.score(space.X_test, space.y_test)
    assert DefaultCleaning().fit(space).score(space.X_test, space.y_test) < test < 0.933


def test_random_cleaning_goes_from_default_to_the_closest_world() -> None:
    space = loaded("Supreme")
    curve = RandomClean(n_runs=3, counts=[0, 224, 1119]).fit(space).scores(
        space.X_test, space.y_test
    )  # fmt: skip
    assert curve.mean[[0, 2]].tolist() == pytest.approx([0.796, 0.933], abs=0.0006)
    assert 0.8 < curve.mean[1] < 0.933
    assert curve.std[[0, 2]].tolist() == pytest.approx([0.0, 0.0])


@pytest.mark.slow
def test_activeclean_learns_from_cleaned_rows() -> None:
    space = loaded("Supreme")
    found = [
        ActiveClean(random_state=seed, counts=[0, 1119]).fit(space).scores(
            space.X_test, space.y_test
        ).mean
        for seed in range(5)
    ]  # fmt: skip
    start, end = np.mean(found, axis=0)
    assert end > start + 0.02


@pytest.mark.parametrize("name", ["Supreme", "Bank"])
def test_activeclean_comes_near_its_optimum_once_all_rows_are_clean(name: str) -> None:
    space = loaded(name)
    data = space.table.dataset
    rows, ridge = space.closest_world(), softmax.ridge_of(1.0, data.n_rows, 2)
    Z = softmax.with_intercept(rows)
    best = softmax.fitted(rows, data.codes, 2, 1.0)
    method = ActiveClean(counts=[0, len(data.dirty_rows)]).fit(space)
    start, end, least = (softmax.loss(one, Z, data.codes, ridge) for one in (*method.path_, best))
    assert start - end > 0.6 * (start - least)
    likely = softmax.with_intercept(space.X_test) @ best.T
    optimum = (data.classes[likely.argmax(axis=1)] == space.y_test).mean()
    assert method.score(space.X_test, space.y_test) == pytest.approx(optimum, abs=0.015)
