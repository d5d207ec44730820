"""Tables built with arrays are those built row by row, bit for bit."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data import slow_table as slow
from sklearn.impute import SimpleImputer
from slow_cases import rest_slow

from cpclean import IncompleteTable
from cpclean.data.columns import ABSENT, OTHER
from cpclean.data.repairs import Imputers, Options, Versions
from cpclean.errors import TableError

TOKENS = ("?", "-999")


def _series(rng: random.Random, n_rows: int) -> pd.Series:
    """A column with ties, nulls, null tokens, or nothing at all in it."""
    share = rng.choice([0.0, 0.1, 0.3, 0.6])

    def of(make: Any, dtype: Any = object) -> pd.Series:
        values = [None if rng.random() < share else make() for _ in range(n_rows)]
        return pd.Series(values, dtype=dtype)

    start = datetime(2024, 2, 28)
    return rng.choice(
        [
            lambda: of(lambda: rng.choice([0.0, -0.0, 1.0, 1.5, -3.25, 7.0, -999.0]), float),
            lambda: of(lambda: rng.gauss(0, 1e3), float),
            lambda: of(lambda: rng.randint(-2, 6), "Int64"),
            lambda: of(lambda: rng.random() < 0.4, "boolean"),
            lambda: of(lambda: rng.choice("aaabbcdef?")),
            lambda: of(lambda: rng.choice(["a", "b", "other"]), "category"),
            lambda: of(lambda: rng.choice([1, True, "1", 1.0, (1, 2), 0.0, -0.0, "x"])),
            lambda: of(lambda: start + timedelta(hours=rng.randint(0, 60)), "datetime64[us]"),
            lambda: of(lambda: start + timedelta(days=rng.randint(0, 3), microseconds=1)),
            lambda: of(lambda: timedelta(seconds=rng.randint(0, 5))),
            lambda: of(lambda: 4.0, float),
            lambda: pd.Series([None] * n_rows, dtype=float),
        ]
    )()


def _table(seed: int, prior: str, **options: Any) -> IncompleteTable | None:
    """A small random table; None where there is none to be had, as when nothing is observed."""
    rng = random.Random(seed)
    n_rows = rng.choice([3, 6, 12, 30])
    n_columns = rng.randint(2, 5)
    frame = pd.DataFrame({f"c{n}": _series(rng, n_rows) for n in range(n_columns)})
    suspects = None
    if rng.random() < 0.5:
        suspects = np.random.default_rng(seed).random((n_rows, n_columns)) < 0.2
    labels = [rng.choice(["no", "yes", "maybe"]) for _ in range(n_rows)]
    if callable(repairs := options.get("repairs")):
        options["repairs"] = repairs(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return IncompleteTable(
                frame, labels, prior=prior, suspects=suspects, null_tokens=TOKENS, **options
            )
        except TableError as problem:
            if "no column carries information" in str(problem):
                return None
            if "nothing is known of row" in str(problem):
                return None
            raise


@pytest.mark.parametrize("prior", ["uniform", "observed", "label"])
@pytest.mark.parametrize("block", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_default_repairs(prior: str, block: int) -> None:
    made = 0
    for seed in range(40 * block, 40 * block + 40):
        table = _table(seed, prior)
        if table is None:
            continue
        made += 1
        options = slow.default_options(table)
        assert repr(dict(table.options)) == repr(options)
        for cell, feature in enumerate(table.space.features):
            if feature is None:
                continue
            if feature.kind == "categorical":
                expected = slow.categories(table, cell, options)
                assert list(map(repr, feature.categories)) == list(map(repr, expected))
            elif len(set(slow.known_values(table, cell))) > 1:
                assert (feature.shift, feature.scale) == slow.scale_of(table, cell)
        expected = slow.dataset(table, options, prior)
        assert slow.same_bits(table.dataset, expected) == []
        assert table.dataset.candidate_counts.tolist() == expected.candidate_counts.tolist()
        assert table.dataset.n_worlds == expected.n_worlds
    assert made > 20


class Proposals:
    """A repair of one's own: values drawn from the column, in whole versions or one by one."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def propose(self, columns: Any, holes: Any) -> dict[int, Options]:
        rng = random.Random(self.seed)
        found = {}
        for row in np.flatnonzero(holes.any(axis=1)).tolist():
            cells = [
                cell for cell in np.flatnonzero(holes[row]).tolist() if columns[cell].n_observed
            ]
            if not cells:
                continue
            rng.shuffle(cells)
            size, joint = rng.choice([1, 2, 3, 9]), rng.random() < 0.6
            lists = [[rng.choice(columns[cell].observed.tolist()) for _ in range(size)]
                     for cell in cells]  # fmt: skip
            for cell, own in zip(cells, lists, strict=True):
                if columns[cell].kind == "categorical" and rng.random() < 0.5:
                    own[-1] = rng.choice([OTHER, ABSENT])
            if not joint:
                lists = [list(dict.fromkeys(own)) for own in lists]
            weights = None
            if joint and rng.random() < 0.5:
                weights = tuple(float(rng.randint(1, 3)) for _ in range(size))
            found[row] = Options(tuple(cells), tuple(map(tuple, lists)), joint, weights)
        return found


REPAIRS = {
    "your own": Proposals,
    "imputers": lambda seed: [SimpleImputer(), SimpleImputer(strategy="median")],
    "weighed": lambda seed: Imputers(
        [
            SimpleImputer(),
            SimpleImputer(strategy="median"),
            SimpleImputer(strategy="most_frequent"),
        ],
        weigh="version",
    ),
    "holoclean": lambda seed: "holoclean",
    "drawn": lambda seed: "default",
    "observed": lambda seed: "observed",
}


@pytest.mark.parametrize("prior", rest_slow(["uniform", "observed", "label"]))
@pytest.mark.parametrize("repairs", REPAIRS)
def test_other_repairs(repairs: str, prior: str) -> None:
    made = 0
    for seed in range(30):
        limit = {"max_exact": 1 + seed % 7} if repairs == "drawn" else {}
        table = _table(seed, prior, repairs=REPAIRS[repairs], **limit)
        if table is not None:
            made += 1
            options = _expected(table, repairs, seed)
            assert repr(dict(table.options)) == repr(options)
            expected = slow.dataset(table, options, prior)
            assert slow.same_bits(table.dataset, expected) == []
    assert made > 10


def _expected(table: IncompleteTable, repairs: str, seed: int) -> dict[int, Options]:
    """What the repair proposes, checked the slow way; HoloClean's own is not repeated.

    Rows that are drawn keep all of their values.
    """
    if repairs == "drawn":
        return slow.default_options(table)
    if repairs == "observed":
        return slow.default_options(table, slow.observed_list)
    if repairs == "your own":
        known = [_blanked(column, holes) for column, holes in zip(table.columns, table.holes.T,
                 strict=True)]  # fmt: skip
        return slow.finished(table, Proposals(seed).propose(known, table.holes))
    return dict(table.options)


def _blanked(column: Any, holes: Any) -> Any:
    values = column.values.copy()
    values[holes] = None if column.kind == "categorical" else np.nan
    return replace(column, values=values)


@pytest.mark.parametrize("weigh", ["distinct", "version"])
def test_versions_are_merged_as_row_by_row(weigh: str) -> None:
    for seed in range(30):
        table = _table(seed, "uniform")
        if table is None:
            continue
        rng = np.random.default_rng(seed)
        tables: list[Any] = []
        for _ in range(4):
            order = rng.permutation(table.n_rows)
            tables.append([_shuffled(column, order, rng) for column in table.columns])
        holes = rng.random((table.n_rows, len(table.columns))) < 0.4
        expected = slow.merged_versions(tables, holes, weigh)
        actual = Versions(tables, weigh).propose(table.columns, holes)
        assert dict(actual).keys() == expected.keys()
        for row, own in expected.items():
            assert str(actual[row].values) == str(_plain(own.values))
            assert (actual[row].cells, actual[row].weights) == (own.cells, own.weights)


def _shuffled(column: Any, order: Any, rng: np.random.Generator) -> Any:
    values = column.values[order]
    values[column.missing[order]] = "none" if column.kind == "categorical" else 0.0
    if column.kind == "numeric":
        values = values + rng.choice([0.0, 1e-14, -1e-14], len(values))
    return replace(column, values=values)


def _plain(values: Any) -> Any:
    """NumPy's numbers as Python's."""
    return tuple(
        tuple(one.item() if isinstance(one, np.generic) else one for one in own) for own in values
    )
