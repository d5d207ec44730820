"""Tables that models are compared on: split into training rows and test rows.

"real"        holes as they are, in both parts
"random", "important", "high"
              tables of scikit-learn; holes are injected into the training rows
"published"   the authors' spaces, with the split that they published
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.data.frames import columns_from
from cpclean.data.table import IncompleteTable
from cpclean.data.table_versions import Versions
from cpclean.errors import DataError
from cpclean.experiments.fresh import RATE, TableFile, generated_table
from cpclean.experiments.inject import INJECTIONS, inject
from cpclean.experiments.space_files import Labels, SpaceFiles
from cpclean.experiments.spaces import PUBLISHED
from cpclean.experiments.store import Key
from cpclean.intake.reading import read_csv

REAL = {
    "CreditData": TableFile("CreditData/data.csv", "Status", ("rownames",)),
    "Chile": TableFile("Chile/data.csv", "vote", ("rownames",)),
    "Adult": TableFile("Adult/data.csv", "Income"),
    "BabyProduct": TableFile("BabyProduct/dirty.csv", "class"),
}
BUNDLED = ("breast_cancer", "wine", "iris", "digits")
SMALLEST = ("wine", "iris")
SPACES = ("Supreme", "Bank", "Puma")  # published, with columns of numbers only
GENERATED = {"numbers": "random", "mixed": "high"}

# Of larger tables, each split takes a sample.
MOST_ROWS = 4000
MOST_ROWS_OF = {"digits": 600}  # ten classes, 64 columns: shares take long
TEST_SHARE = 0.25
QUICK_ROWS = 240


@dataclass(frozen=True)
class Case:
    """Training rows and test rows; nothing but the former may enter a choice.

    Attributes
    ----------
    key : (table, holes, seed)
    X_train, X_test : pandas.DataFrame
        With holes as nulls.
    y_train, y_test : ndarray
    versions : Versions, optional
        The published repairs of the training rows.
    """

    key: Key
    X_train: Any
    y_train: Labels
    X_test: Any
    y_test: Labels
    versions: Versions | None = None

    def table(self, space: Any, published: bool = False) -> IncompleteTable:
        """The training rows in a space, with default candidates or the published ones."""
        repairs = self.versions if published else "default"
        return IncompleteTable(self.X_train, self.y_train, repairs, space=space)


def case_keys(folder: Path | None, seeds: int, quick: bool = False) -> Iterator[Key]:
    """The keys of all cases; without a data folder, of small generated tables.

    Quickly, of the tables of scikit-learn only the smallest ones, with random holes.
    """
    bundled = SMALLEST if quick else BUNDLED[:-1]
    kinds = INJECTIONS[:1] if quick else INJECTIONS
    if folder is not None:
        check_data(folder)
        yield from ((name, "published", "") for name in SPACES)
    for seed in map(str, range(seeds)):  # an interrupted run has something of every table
        if folder is None:
            yield from ((name, holes, seed) for name, holes in GENERATED.items())
        else:
            yield from ((name, "real", seed) for name in REAL)
            yield from ((name, holes, seed) for name in bundled for holes in kinds)
    if folder is not None and not quick:  # last, because it takes as long as all others together
        last = BUNDLED[-1]
        yield from ((last, holes, str(seed)) for seed in range(seeds) for holes in INJECTIONS)


def check_data(folder: Path) -> None:
    """Refuse a folder that lacks one of the tables."""
    needed = [f"spaces/{name}/{PUBLISHED[name]}" for name in SPACES]
    needed += [f"tables/{source.file}" for source in REAL.values()]
    lacking = [name for name in needed if not (folder / name).exists()]
    if lacking:
        raise DataError(
            f"{folder} does not hold the data of the experiments: {lacking[0]} is missing. Name "
            "the folder that holds spaces/ and tables/, or use --quick alone for generated tables."
        )


@lru_cache(maxsize=1)
def case_of(folder: Path | None, key: Key) -> Case:
    """The case of a key; the last one is cached."""
    table, holes, seed = key
    if holes == "published":
        assert folder is not None
        return _published(folder / "spaces" / table / PUBLISHED[table], key)
    if table in REAL:
        assert folder is not None
        frame, labels = real_table(folder, REAL[table])
    elif table in BUNDLED:
        frame, labels = _bundled(table)
    else:
        whole = generated_table(table, QUICK_ROWS)
        frame, labels = whole.frame, whole.labels
    train, test = split(labels, int(seed), MOST_ROWS_OF.get(table, MOST_ROWS))
    X, y = frame.iloc[train].reset_index(drop=True), labels[train]
    if holes != "real":
        X = inject(X, holes, RATE, int(seed), y).frame
    some = X.notna().any(axis=1).to_numpy()  # a row that is all holes says nothing
    X, y = X[some].reset_index(drop=True), y[some]
    return Case(key, X, y, frame.iloc[test].reset_index(drop=True), labels[test])


def split(labels: Labels, seed: int, most: int = MOST_ROWS) -> tuple[Sequence[int], Sequence[int]]:
    """Numbers of the training rows and of the test rows, with equal shares of classes."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(labels))
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(seed).permutation(len(rows))[:most])
    parts = train_test_split(rows, test_size=TEST_SHARE, random_state=seed, stratify=labels[rows])
    return parts[0], parts[1]


def real_table(folder: Path, source: TableFile) -> tuple[Any, Labels]:
    """A table with its own holes, without rows that have no label; and the labels."""
    frame = read_csv(folder / "tables" / source.file, null_tokens=("?",))
    frame = frame.drop(columns=list(source.drop))
    frame = frame[frame[source.label].notna()].reset_index(drop=True)
    return frame.drop(columns=source.label), np.asarray(frame[source.label].to_numpy())


def _bundled(name: str) -> tuple[Any, Labels]:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    return bunch.data, bunch.target.to_numpy()


def published_training(folder: Path, table: str) -> tuple[Any, Any, Labels]:
    """The training rows of a published space with holes, the true ones, and their labels."""
    files = SpaceFiles(folder / "spaces" / table / PUBLISHED[table])
    return files.frame("X_train_dirty"), files.frame("X_train_clean"), files.labels("y_train")


def published_validation(folder: Path, table: str) -> tuple[Any, Labels]:
    """The validation points of a published space, and their labels."""
    files = SpaceFiles(folder / "spaces" / table / PUBLISHED[table])
    return files.frame("X_val"), files.labels("y_val")


def _published(place: Path, key: Key) -> Case:
    files = SpaceFiles(place)
    dirty = files.frame("X_train_dirty")
    kinds = {column.name: column.kind for column in columns_from(dirty)}
    return Case(
        key,
        dirty,
        files.labels("y_train"),
        files.frame("X_test"),
        files.labels("y_test"),
        Versions([columns_from(version, kinds) for version in files.versions.values()]),
    )
