"""The loader of the authors' spaces: on a tiny space written here, and on the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cpclean import IncompleteTable
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.errors import DataError, TableError
from cpclean.experiments.measures import world_accuracy
from cpclean.experiments.spaces import PUBLISHED, load_space

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def write_space(folder: Path) -> Path:
    """Two numbers, a category and a flag; holes in the first number and in the category."""
    place = folder / "spaces" / "Tiny" / "systematic"
    (place / "X_train_repairs").mkdir(parents=True)
    clean = pd.DataFrame(
        {
            "n": [0.0, 10.0, 5.0, 2.0, 8.0, 4.0],
            "k": [1, 2, 3, 4, 5, 6],
            "c": ["a", "b", "a", "b", "a", "z"],
            "f": [True, False, True, False, True, False],
        }
    )
    dirty = clean.copy()
    dirty.loc[2, "n"] = np.nan
    dirty.loc[3, ["n", "c"]] = [np.nan, None]
    dirty.loc[5, "c"] = None
    first = dirty.fillna({"n": 4.0, "c": "a"})
    versions = {
        "mean": first,
        "same": first.assign(n=first["n"] + 1e-14),  # equal to 12 decimals
        "max": dirty.fillna({"n": 10.0, "c": "b"}),
        "dummy": dirty.fillna({"n": 4.0, "c": "missing"}),  # no category of the full table
        "empty": dirty.fillna({"n": 4.0}),  # a category left open
    }
    for name, frame in versions.items():
        frame.to_csv(place / "X_train_repairs" / f"{name}.csv", index=False)
    points = clean.head(3).assign(c=["a", "y", "b"])  # y occurs in points only
    labels = pd.DataFrame({"y": list("NPNPNP")})
    for name, frame in {
        "X_train_clean": clean, "X_train_dirty": dirty, "X_val": points, "X_test": points.head(2),
        "y_train": labels, "y_val": labels.head(3), "y_test": labels.head(2),
    }.items():  # fmt: skip
        frame.to_csv(place / f"{name}.csv", index=False)
    return place


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_space(tmp_path)


def test_candidates_are_the_distinct_rows_of_the_versions(place: Path) -> None:
    table = load_space(place).table
    assert [len(table.candidates(row)) for row in range(6)] == [1, 1, 2, 3, 1, 3]
    assert [one["n"] for one in table.candidates(2)] == [4.0, 10.0]
    # versions in order of their names; what the full table does not have is no category
    assert [repr(one["c"]) for one in table.candidates(5)] == ["absent", "'b'", "'a'"]
    assert table.dataset.prior(5).tolist() == pytest.approx([1 / 3] * 3)


def test_the_space_is_scaled_by_the_dirty_table_and_one_hot_over_all_categories(
    place: Path,
) -> None:
    space = load_space(place)
    assert space.clean.shape == (6, 1 + 1 + 4 + 2)  # a, b, y, z; a flag is a category
    assert space.clean[:, 0].tolist() == pytest.approx([0.0, 1.0, 0.5, 0.2, 0.8, 0.4])
    groups = np.vstack([space.clean, space.X_val])[:, 2:]
    assert set(groups.ravel().round(12).tolist()) == {0.0, 1.0}
    assert (groups.sum(axis=1).round(12) == 2.0).all()  # y, too, has a place of its own
    absent = space.table.dataset.candidate(5, 0)
    assert absent[2:6].tolist() == [0.0] * 4


def test_truth_and_default(place: Path) -> None:
    space = load_space(place)
    found = [space.table.candidates(row)[space.truth[row]] for row in (2, 3, 5)]
    assert found[0] == {"n": 4.0}
    assert found[1] == {"n": 10.0, "c": "b"}  # 0.8 off; the others miss the category
    assert repr(found[2]["c"]) == "absent"  # nearer to z than a or b are
    world = space.closest_world()
    assert world.shape == space.clean.shape
    assert world[[0, 1, 4]].tolist() == space.clean[[0, 1, 4]].tolist()
    assert space.default[5].tolist() == space.table.dataset.candidate(5, 2).tolist()


def test_another_prior_changes_weights_only(place: Path) -> None:
    space = load_space(place)
    other = space.build("label").dataset
    for row in range(6):
        assert other.candidates(row).tolist() == space.table.dataset.candidates(row).tolist()
    assert other.prior(5).tolist() != space.table.dataset.prior(5).tolist()
    assert other == load_space(place, prior="label").table.dataset


def test_number_of_validation_points(place: Path) -> None:
    assert len(load_space(place).X_val) == 3
    space = load_space(place, n_val=1)
    assert len(space.X_val) == len(space.y_val) == 1
    assert len(load_space(place, n_val=None).y_val) == 3


def test_a_folder_that_is_not_a_space(place: Path) -> None:
    with pytest.raises(DataError, match=r"is not a space: it has no X_train_dirty.csv, .* 5 more"):
        load_space(place.parent)
    (place / "y_val.csv").unlink()
    with pytest.raises(DataError, match=r"it has no y_val.csv. Name a folder such as spaces/"):
        load_space(place)


# -- categories that only points have ------------------------------------------------------------

PETS = pd.DataFrame({"pet": ["cat", "dog", None], "k": [1, 2, 3]})


def test_more_categories_have_a_place_of_their_own() -> None:
    table = IncompleteTable(PETS, [0, 1, 0], categories={"pet": ["emu", "cat"]})
    other = pd.DataFrame({"pet": ["emu", "dog"], "k": [1, 2]})
    emu, dog = table.encode(other)  # no warning
    assert emu[:-1].sum() == dog[:-1].sum() > 0
    assert (emu[:-1] * dog[:-1] == 0).all()
    with pytest.warns(UnseenCategoryWarning, match="1 in column 'pet'"):
        IncompleteTable(PETS, [0, 1, 0]).encode(other)


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ({"k": [1]}, "categories may name categorical columns only; 'k' is not one"),
        ({"town": ["A"]}, "categories may name categorical columns only; 'town' is not one"),
        ({"pet": ["emu", None]}, "categories of 'pet' must not be null"),
    ],
)
def test_bad_categories(categories: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(PETS, [0, 1, 0], categories=categories)


# -- the published ones ---------------------------------------------------------------------------

REFERENCE = {  # test accuracy, K = 3: fully clean, closest-candidate world, default
    "Supreme": (0.970, 0.933, 0.796),
    "Bank": (0.825, 0.767, 0.641),
    "Puma": (0.766, 0.733, 0.627),
    "BabyProduct": (0.883, 0.842, 0.662),
}


@pytest.mark.skipif(not (DATA / "spaces").is_dir(), reason=f"the authors' spaces are not at {DATA}")
@pytest.mark.parametrize("name", PUBLISHED)
def test_reference_figures(name: str) -> None:
    space = load_space(DATA / "spaces" / name / PUBLISHED[name])
    worlds = (space.clean, space.closest_world(), space.default)
    actual = [round(world_accuracy(rows, space), 3) for rows in worlds]
    assert actual == pytest.approx(REFERENCE[name], abs=1e-9)
