"""Fresh spaces: a complete table, split anew, with injected holes and the paper's repairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cpclean.cleaning.truth import closest_candidates
from cpclean.data.frames import columns_from
from cpclean.data.repairs import whole_domain
from cpclean.data.rows import Floats
from cpclean.data.table import IncompleteTable
from cpclean.errors import DataError
from cpclean.experiments.inject import inject
from cpclean.experiments.spaces import Labels, Space
from cpclean.intake.reading import read_csv


@dataclass(frozen=True)
class Whole:
    """A complete table: features and one label a row."""

    name: str
    frame: Any
    labels: Labels


@dataclass(frozen=True)
class Sizes:
    """How many rows to take at most; a small table gives a quarter each to val and test."""

    train: int = 1500
    val: int = 500
    test: int = 1000


USUAL = Sizes()
RATE = 0.2  # of cells that are hidden


@dataclass(frozen=True)
class _Source:
    """Where a complete table stands in the data folder. Rows with real holes are left out."""

    file: str
    label: str
    drop: tuple[str, ...] = ()


TABLES = {
    "Supreme": _Source("Supreme/data.csv", "binaryClass"),
    "Bank": _Source("Bank/data.csv", "binaryClass"),
    "Puma": _Source("Puma/data.csv", "class"),
    "BabyProduct": _Source("BabyProduct/clean.csv", "class"),
    "Chile": _Source("Chile/data.csv", "vote", ("rownames",)),
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
    """A made-up table, for where no data is at hand: "numbers", or "mixed" types and 3 classes."""
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
        Of the split and of the holes.
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
        table=table,
        X_val=table.encode(whole.frame.iloc[val]),
        y_val=whole.labels[val],
        X_test=table.encode(whole.frame.iloc[test]),
        y_test=whole.labels[test],
        clean=encoded,
        truth=closest_candidates(table.dataset, encoded, table),
        default=default_world(table),
        build=build,
    )


def made_space(folder: Path | None, name: str, kind: str, seed: int, sizes: Sizes) -> Space:
    """A fresh space of a table of the data folder, or, without one, of a generated table."""
    whole = generated_table(name) if folder is None else load_table(folder, name)
    return fresh_space(whole, kind, seed, sizes)


def default_world(table: IncompleteTable) -> Floats:
    """The rows as cleaned by default: the mean of numbers, else the most frequent value."""
    filled = []
    for column in table.columns:
        values = column.values.copy()
        if column.missing.any() and len(column.observed):
            usual = whole_domain(column)[0]
            if column.kind not in ("categorical", "boolean"):
                usual = column.observed.mean()
            values[column.missing] = usual
        filled.append(replace(column, values=values))
    return table.encoding.encode(filled)
