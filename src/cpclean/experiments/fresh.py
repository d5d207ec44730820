"""Fresh spaces: a complete table, split again, with injected holes and the paper's repairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.baselines.source import source_of
from cpclean.baselines.worlds import default_rows
from cpclean.cleaning.truth import closest_candidates
from cpclean.data.frames import columns_from
from cpclean.data.table import IncompleteTable
from cpclean.data.task import Task
from cpclean.errors import DataError
from cpclean.experiments.inject import inject
from cpclean.experiments.space_files import Labels
from cpclean.experiments.spaces import Space
from cpclean.intake.reading import read_csv


@dataclass(frozen=True)
class Whole:
    """A complete table: features and one label per row."""

    name: str
    frame: Any
    labels: Labels


@dataclass(frozen=True)
class Sizes:
    """How many rows to take at most; of a small table, a quarter each goes to val and test."""

    train: int = 1500
    val: int = 500
    test: int = 1000


USUAL = Sizes()
RATE = 0.2  # of cells that are hidden


@dataclass(frozen=True)
class TableFile:
    """Where a complete table is in the data folder. Rows with real holes are left out."""

    file: str
    label: str
    drop: tuple[str, ...] = ()


TABLES = {
    "Supreme": TableFile("Supreme/data.csv", "binaryClass"),
    "Bank": TableFile("Bank/data.csv", "binaryClass"),
    "Puma": TableFile("Puma/data.csv", "class"),
    "BabyProduct": TableFile("BabyProduct/clean.csv", "class"),
    "Chile": TableFile("Chile/data.csv", "vote", ("rownames",)),
}


def load_table(folder: str | Path, name: str) -> Whole:
    """A table of the data folder, complete rows only."""
    source = TABLES[name]
    file = Path(folder) / "tables" / source.file
    if not file.is_file():
        raise DataError(f"there is no table {name}: {file} is missing.")
    frame = read_csv(file)
    frame = frame.drop(columns=list(source.drop)).dropna().reset_index(drop=True)
    return Whole(name, frame.drop(columns=source.label), frame[source.label].to_numpy())


def generated_table(name: str, n_rows: int = 1200) -> Whole:
    """A made-up table, where there is no data: "numbers", or "mixed" types and 3 classes."""
    import pandas as pd

    rng = np.random.default_rng(sum(map(ord, name)))
    classes = np.array(["N", "P"] if name == "numbers" else ["N", "O", "P"])
    codes = rng.integers(len(classes), size=n_rows)
    values = rng.normal(size=(n_rows, 5)) + np.outer(codes, [1.6, 0.8, 0.4, 0.0, 0.0])
    frame = pd.DataFrame(values, columns=[f"x{number}" for number in range(5)])
    if name != "numbers":
        frame["x1"] = frame["x1"].round().astype(int)
        towns = np.array(list("ABCDEFG"), dtype=object)
        frame["town"] = towns[np.minimum(rng.geometric(0.4, n_rows) + codes, len(towns)) - 1]
        frame["owner"] = rng.random(n_rows) < 0.25 + 0.25 * codes
    return Whole(name, frame, classes[codes])


def fresh_space(
    whole: Whole, kind: str, seed: int, sizes: Sizes = USUAL, rate: float = RATE
) -> Space:
    """Split a table, hide cells of the training rows, and propose the paper's candidates.

    Parameters
    ----------
    whole : Whole
    kind : {"random", "important", "high"}
        How cells are hidden; see `cpclean.experiments.inject`.
    seed : int
        Seed of the split and of the holes.
    sizes : Sizes
    rate : float
        The share of the training table's cells that is hidden.
    """
    n_rows = len(whole.labels)
    if n_rows < 8:
        raise DataError(f"table {whole.name} needs at least 8 rows to be split; got {n_rows}.")
    order = np.random.default_rng(seed).permutation(n_rows)
    cuts = np.cumsum([min(sizes.test, n_rows // 4), min(sizes.val, n_rows // 4)])
    test, val, rest = np.split(order, cuts)
    rest = rest[: sizes.train]
    clean, labels = whole.frame.iloc[rest].reset_index(drop=True), whole.labels[rest]
    dirty = inject(clean, kind, rate, seed, labels).frame
    kinds = {column.name: column.kind for column in columns_from(whole.frame)}
    categories = {
        name: whole.frame[name].unique().tolist()
        for name, kind in kinds.items()
        if kind == "categorical"
    }

    def build(prior: Any) -> IncompleteTable:
        return IncompleteTable(dirty, labels, prior=prior, kinds=kinds, categories=categories)

    table = build("uniform")
    encoded = table.encode(clean)
    return Space(
        name=whole.name,
        task=Task.of(
            table,
            whole.frame.iloc[val],
            whole.labels[val],
            row_names=rest,
            point_names=val,
            frame=dirty,
        ),
        X_test=table.encode(whole.frame.iloc[test]),
        y_test=whole.labels[test],
        clean=encoded,
        truth=closest_candidates(table.dataset, encoded, table),
        default=default_rows(source_of(table)),
        build=build,
    )
