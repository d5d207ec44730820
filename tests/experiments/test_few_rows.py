"""A data folder in small, and what measuring costs."""

import csv
from pathlib import Path

import pytest

from cpclean.cli.reproduce import reproduce
from cpclean.errors import DataError
from cpclean.experiments import few_rows as small
from cpclean.experiments.durations import COSTS, QUICK_COSTS, expected_quickly, expected_seconds
from cpclean.experiments.fresh import TABLES
from cpclean.experiments.model_cases import REAL
from cpclean.experiments.spaces import PUBLISHED


def written(file: Path, rows: int, mark: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            [["a", "b"], *([f"{mark}{n}", f"x\n{n}"] for n in range(rows))]
        )


def rows_in(file: Path) -> list[list[str]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    for source in (*TABLES.values(), *REAL.values()):
        written(data / "tables" / source.file, 500, "t")
    for table, kind in PUBLISHED.items():
        place = data / "spaces" / table / kind
        for name in ("X_train_dirty", "X_train_clean", "y_train", "X_train_repairs/mean"):
            written(place / f"{name}.csv", 200, "r")
        for name in ("X_val", "y_val", "X_test", "y_test"):
            written(place / f"{name}.csv", 60, "p")
    return data


def test_a_few_rows_of_every_file(folder: Path, tmp_path: Path) -> None:
    out = small.few_rows(folder, tmp_path / "few")
    names = {file.relative_to(folder) for file in folder.rglob("*.csv")}
    assert {file.relative_to(out) for file in out.rglob("*.csv")} == names
    for name in names:
        whole, few = rows_in(folder / name), rows_in(out / name)
        most = (
            small.ROWS_OF_TABLE
            if name.parts[0] == "tables"
            else 120
            if "train" in str(name)
            else 60
        )
        assert len(few) == most + 1
        kept = [whole.index(row) for row in few]
        assert kept == sorted(set(kept))  # rows of the file, in its order, cells with newlines too


def test_files_of_a_space_keep_the_same_rows(folder: Path, tmp_path: Path) -> None:
    place = small.few_rows(folder, tmp_path / "few") / "spaces/Bank/systematic"
    names = ("X_train_dirty", "X_train_clean", "y_train", "X_train_repairs/mean")
    first, *others = (rows_in(place / f"{name}.csv") for name in names)
    assert all(one == first for one in others)


def test_what_is_there_is_not_written_again(folder: Path, tmp_path: Path) -> None:
    out = small.few_rows(folder, tmp_path / "few")
    file = out / "tables/Bank/data.csv"
    file.write_text("as it was")
    assert small.few_rows(folder, tmp_path / "few") == out
    assert file.read_text() == "as it was"


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not hold the data of the experiments"):
        small.few_rows(tmp_path, tmp_path / "few")
    assert not (tmp_path / "few").exists()


def test_every_section_has_a_cost() -> None:
    options = {one.name: one.type for one in reproduce.params}
    names = {*options["table"].choices, *options["figure"].choices}
    assert set(COSTS) == set(QUICK_COSTS) == names
    assert (
        expected_seconds(["paper"], 3, 20, 2) == (COSTS["paper"].once + 3 * COSTS["paper"].seed) / 2
    )
    assert expected_seconds(names, 5, 20, 1) > expected_seconds(names, 5, 10, 1)
    assert expected_quickly(names, 2) <= 300  # five minutes on two cores
