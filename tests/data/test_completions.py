"""Points with holes, against completions written out by hand from values and observed shares."""

from __future__ import annotations

import io
import itertools
import math
import pickle
from collections import Counter
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from data.table_samples import FEATURES, FRAME
from sklearn.impute import SimpleImputer
from slow_cases import parts

from cpclean import IncompleteTable, Points, read_csv
from cpclean.data import points as points_module
from cpclean.data.columns import OTHER
from cpclean.data.holoclean.cell_values import HoloCells
from cpclean.data.holoclean.holo_model import HoloSettings, fit_model
from cpclean.data.holoclean.other_rows import weights_in_rows
from cpclean.data.priors import LabelPrior, shares_nearest
from cpclean.data.repairs import HoloRepair, Options, whole_domain
from cpclean.data.spaces.plain import UnseenCategoryWarning
from cpclean.errors import DataError, TableError


def five(numbers: list[float]) -> list[float]:
    """The paper's candidates of a column of numbers."""
    low, high = np.percentile(numbers, [25, 75])
    return sorted({min(numbers), float(low), float(np.mean(numbers)), float(high), max(numbers)})


def nearest_shares(values: list[float], numbers: list[float]) -> list[float]:
    """Which share of the numbers is nearest to each value; ties are split."""
    shares = [0.0] * len(values)
    for number in numbers:
        gaps = [abs(number - value) for value in values]
        takers = [place for place, gap in enumerate(gaps) if gap == min(gaps)]
        for place in takers:
            shares[place] += 1 / len(takers) / len(numbers)
    return shares


def by_hand(table: IncompleteTable, frame: pd.DataFrame, point: dict[str, Any]) -> Any:
    """Vectors and weights of all completions of a point, from the columns of the frame."""
    parts = []
    for name, feature in zip(table.names, table.space.features, strict=True):
        seen = frame[name].dropna().tolist()
        value = point[name]
        if feature is None:
            continue
        if feature.kind == "categorical":
            times = Counter(seen)
            listed = [*sorted(times, key=lambda one: (-times[one], str(one)))[:4], OTHER]
            shares = [times[one] / len(seen) for one in listed[:-1]]
            shares.append(1 - sum(shares))
        else:
            numbers = [one.timestamp() if hasattr(one, "timestamp") else float(one) for one in seen]
            listed = [0.0, 1.0] if feature.kind == "boolean" else five(numbers)
            shares = nearest_shares(listed, numbers)
        if value is not None:
            stored = value.timestamp() if hasattr(value, "timestamp") else value
            listed, shares = [stored], [1.0]
        parts.append(list(zip(feature.encoded(listed).tolist(), shares, strict=True)))
    chosen = list(itertools.product(*parts))
    vectors = [list(itertools.chain(*(vector for vector, _ in one))) for one in chosen]
    return np.array(vectors), np.array([math.prod(share for _, share in one) for one in chosen])


def entries(points: Points, point: int) -> tuple[np.ndarray, np.ndarray]:
    own = points.entries(point)
    return points.vectors[points.vector[own]], points.weight[own]


UTC_FRAME = FRAME.assign(since=FRAME["since"].dt.tz_localize("UTC"))
SAMPLES: list[dict[str, Any]] = [
    {"age": 20, "city": "A", "member": True, "since": pd.Timestamp("2020-02-02", tz="UTC")},
    {"age": None, "city": "B", "member": False, "since": pd.Timestamp("2019-02-02", tz="UTC")},
    {"age": 33, "city": None, "member": None, "since": pd.Timestamp("2020-02-02", tz="UTC")},
    {"age": None, "city": None, "member": False, "since": None},
    dict.fromkeys(FEATURES),
]


def sample_frame(samples: list[dict[str, Any]]) -> pd.DataFrame:
    """Points in columns of objects; a column of nulls has no type of its own."""
    return pd.DataFrame(samples, columns=FEATURES, dtype=object)


# -- values and weights ----------------------------------------------------------------------------


def test_completions_are_those_written_out_by_hand() -> None:
    table = IncompleteTable(UTC_FRAME, "y")
    points = table.points(sample_frame(SAMPLES), max_completions=10_000)
    assert points.is_exact
    for number, sample in enumerate(SAMPLES):
        vectors, weights = by_hand(table, UTC_FRAME, sample)
        found, weight = entries(points, number)
        np.testing.assert_allclose(found, vectors, atol=1e-12)
        np.testing.assert_allclose(weight, weights, atol=1e-12)


def small_case(seed: int, most_points: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table with holes, ties and constant columns, and points with more holes."""
    rng = np.random.default_rng(seed)
    n_rows, n_points = int(rng.integers(2, 9)), int(rng.integers(1, most_points + 1))
    columns: dict[str, list[Any]] = {}
    for number in range(int(rng.integers(1, 4))):
        if rng.random() < 0.5:
            values = rng.integers(0, 4, n_rows + n_points).astype(float).tolist()
        else:
            values = rng.choice(list("abcdefg"), n_rows + n_points).tolist()
        gone = rng.random(n_rows + n_points) < np.repeat([0.2, 0.6], [n_rows, n_points])
        columns[f"c{number}"] = [
            None if out else one for one, out in zip(values, gone.tolist(), strict=True)
        ]
    columns["n"] = [0.0, 1.0, *rng.random(n_rows + n_points - 2).tolist()]
    frame = pd.DataFrame({name: pd.Series(own, dtype=object) for name, own in columns.items()})
    return frame[:n_rows], frame[n_rows:].reset_index(drop=True)


def check_by_hand(seed: int, most_points: int = 4) -> int:
    frame, given = small_case(seed, most_points)
    table = IncompleteTable(frame, np.arange(len(frame)) % 2)
    points = table.points(given, max_completions=10_000)
    raw = given.where(given.notna(), None).to_dict("records")
    for number, sample in enumerate(raw):
        vectors, weights = by_hand(table, frame, sample)
        found, weight = entries(points, number)
        np.testing.assert_allclose(found, vectors, atol=1e-12)
        np.testing.assert_allclose(weight, weights, atol=1e-12)
    return len(raw)


@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_small_tables_by_hand() -> None:
    for seed in range(60):
        check_by_hand(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cpclean.errors.TableWarning")
def test_many_more_small_tables_by_hand() -> None:
    # To read a table takes longer than to check a point: many points a table.
    seeds = parts(range(1000, 1800), 400)
    assert sum(check_by_hand(seed, most_points=20) for seed in seeds) > 9 * len(seeds)


def test_complete_points_are_as_encoded() -> None:
    table = IncompleteTable(FRAME, "y")
    complete = FRAME.loc[[0, 4]].reset_index(drop=True)
    points = table.points(complete)
    np.testing.assert_array_equal(points.all_vectors(), table.encode(complete))
    assert table.points(complete[:0]).n_points == 0


def test_labels_play_no_part() -> None:
    one = IncompleteTable(FRAME, "y").points(sample_frame(SAMPLES))
    flipped = FRAME.assign(y=FRAME["y"].map({"no": "yes", "yes": "no"}))
    two = IncompleteTable(flipped, "y").points(sample_frame(SAMPLES))
    other = IncompleteTable(FRAME, "y", prior="uniform").points(
        sample_frame(SAMPLES).assign(y=["yes", None, "no", "no", "never seen"])
    )
    for same in (two, other):
        assert same.vectors.tobytes() == one.vectors.tobytes()
        assert same.weight.tobytes() == one.weight.tobytes()


def test_doubted_cells_teach_nothing() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 99.0], "b": [1, 2, 3, 4]})
    doubted = IncompleteTable(frame, [0, 1, 0, 1], suspects=[(3, "a")])
    trusted = IncompleteTable(frame.assign(a=[0.0, 1.0, 2.0, None]), [0, 1, 0, 1])
    point = pd.DataFrame({"a": [None], "b": [2]})
    one, two = doubted.points(point), trusted.points(point)
    assert one.vectors.tolist() == two.vectors.tolist()
    assert one.weight.tolist() == two.weight.tolist()


def listed(table: IncompleteTable, name: str, **given: Any) -> list[Any]:
    """What a hole of a point in this column can be, in units of the space."""
    place = table.names.index(name)
    point = {**table.row(0), name: None}
    points = table.points(pd.DataFrame([point], columns=list(table.names), dtype=object), **given)
    feature = table.space.feature(place)
    found = points.vectors[points.vector, feature.start : feature.stop].tolist()
    return [list(one) for one in dict.fromkeys(map(tuple, found))]  # others may be null as well


def test_values_that_repairs_list_for_a_column() -> None:
    frame = pd.DataFrame({"a": [0.0, None, 8.0], "b": [0.0, 5.0, 8.0], "c": ["x", "y", "z"]})
    repairs = {"a": [2.0, 6.0], "b": iter([2.0, 4.0, 6.0]), "c": whole_domain}
    table = IncompleteTable(frame, [0, 1, 0], repairs)
    assert listed(table, "a") == [[0.25], [0.75]]
    assert listed(table, "b") == [[0.25], [0.5], [0.75]]  # no hole in the table, asked for once
    assert np.argmax(listed(table, "c"), axis=1).tolist() == [0, 1, 2]  # and no "other"
    assert IncompleteTable.from_parts(table.parts).column_values == table.column_values
    with pytest.raises(TableError, match="the repair of column 'b' gives nothing"):
        IncompleteTable(frame, [0, 1, 0], {"b": []})


def test_repairs_that_look_at_rows_leave_the_default() -> None:
    frame = pd.DataFrame({"a": [0.0, None, 10.0, 4.0], "b": [0.0, 5.0, 10.0, 2.0]})
    for repairs in ([SimpleImputer()], "holoclean"):
        table = IncompleteTable(frame, [0, 1, 0, 1], repairs)
        assert listed(table, "a") == listed(IncompleteTable(frame, [0, 1, 0, 1]), "a")
        assert len(listed(table, "a")) == 5


def test_a_column_that_is_known_by_its_candidates_alone() -> None:
    frame = pd.DataFrame({"a": [None, None, None], "b": [0.0, 5.0, 10.0], "c": [1.0, None, 1.0]})
    table = IncompleteTable(frame, [0, 1, 0], {"a": ["u", "v"], "c": [1.0, 3.0]})
    assert np.argmax(listed(table, "a"), axis=1).tolist() == [0, 1]
    assert listed(table, "c") == [[0.0], [1.0]]

    class Own:
        def propose(self, columns: Any, holes: Any) -> Any:
            return {1: Options((2,), ((7.0, 9.0),))}

    table = IncompleteTable(frame[["b", "b", "c"]].set_axis(list("bdc"), axis=1), [0, 1, 0], Own())
    assert listed(table, "c") == [[0.0], [0.75], [1.0]]  # 1, 7 and 9: its one value is no default


def test_domains_of_the_table_and_of_the_points() -> None:
    text = "age[18|30|65],pets,y\n40,[2|3],no\n,0,yes\n50,1,no\n"
    table = IncompleteTable(read_csv(io.StringIO(text), domains=True), "y")
    # Scaled by what is observed, 40 and 50.
    assert listed(table, "age") == [[(one - 40) / 10] for one in (18, 30, 65)]
    asked = read_csv(io.StringIO("age[20|60],pets\n[40|50|60],1\n,1\n45,\n"), domains=True)
    points = table.points(asked)
    assert [round(10 * one[0] + 40) for one in entries(points, 0)[0]] == [40, 50, 60]
    assert [round(10 * one[0] + 40) for one in entries(points, 1)[0]] == [20, 60]
    assert entries(points, 0)[1].tolist() == [0.5, 0.5, 0.0]
    assert len(entries(points, 2)[0]) == len(listed(table, "pets"))  # not listed: the column's


# -- the choice of weights -------------------------------------------------------------------------


def test_uniform_and_functions_and_dicts() -> None:
    table = IncompleteTable(FRAME, "y")
    sample = sample_frame([SAMPLES[0] | {"age": None}])
    assert table.points(sample, "uniform").weight.tolist() == [0.2] * 5
    asked: list[Any] = []

    def mine(column: Any, values: Any, observed: Any, own: Any) -> Any:
        asked.append((column.name, list(values), observed.tolist(), own.tolist()))
        return [1, 2, 3, 4, 0]

    weight = table.points(sample, mine).weight
    np.testing.assert_allclose(weight, [0.1, 0.2, 0.3, 0.4, 0.0])
    ages = [18.0, 30.0, 40.0, 65.0]
    assert asked == [("age", five(ages), ages, ages)]
    assert table.points(sample, {"age": mine}).weight.tolist() == weight.tolist()
    assert len(asked) == 1  # worked out once for a table
    assert table.points(sample, {"city": "uniform"}).weight.tolist() == nearest_shares(
        five(ages), ages
    )
    city = sample_frame([SAMPLES[0] | {"city": None}])
    given = table.points(city, {"city": {"A": 3, "C": 1}}).weight
    assert given.tolist() == [0.75, 0.0, 0.25, 0.0]


def test_a_function_does_not_hinder_pickling() -> None:
    table = IncompleteTable(FRAME, "y")
    expected = table.points(sample_frame(SAMPLES), lambda *given: np.ones(len(given[1])))
    again = pickle.loads(pickle.dumps(copy(table)))
    assert again.points(sample_frame(SAMPLES), "uniform").weight.tolist() == (
        expected.weight.tolist()
    )


@pytest.mark.parametrize(
    ("completions", "message"),
    [
        ("label", 'must not be the prior "label": it looks at the label of a row'),
        (LabelPrior(2.0), 'must not be the prior "label"'),
        ({"age": "label"}, 'must not be the prior "label"'),
        ({"town": "uniform"}, "completions name columns that the table does not have: 'town'"),
        ("likely", 'completions must be "observed", "uniform", "holoclean", a function'),
        (None, "completions must be .*; got None"),
        ({"age": [1, 2]}, r"completions must be .*; got \[1, 2\]"),
        (lambda *_: [1, -1, 1, 1, 1], "prior of column 'age' must give 5 weights, finite and not"),
        (lambda *_: [], r"prior of column 'age' must give 5 weights, .*; got \[\]"),
        (lambda *_: [0] * 5, "prior of column 'age' sums to nothing: no candidate has a weight"),
        ({"city": {"Z": 1}}, "prior of column 'city' sums to nothing"),
    ],
)
def test_completions_that_cannot_be_used(completions: Any, message: str) -> None:
    table = IncompleteTable(FRAME, "y")
    with pytest.raises(TableError, match=message):
        table.points(sample_frame([SAMPLES[3]]), completions)


def test_limits_that_cannot_be_used() -> None:
    table = IncompleteTable(FRAME, "y")
    for limit in (0, 2.5, True, None):
        with pytest.raises(TableError, match="max_completions must be an int of at least 1; got"):
            table.points(sample_frame(SAMPLES), max_completions=limit)


def test_sets_of_completions_that_cannot_be_used() -> None:
    with pytest.raises(DataError, match=r"the prior of point 1 .*negative"):
        Points([[[0.0]], [[0.0], [1.0]]], [None, [-0.5, 1.5]])
    with pytest.raises(DataError, match="point 1 has an empty candidate set"):
        Points([[[0.0]], []])


# -- HoloClean -------------------------------------------------------------------------------------


def related(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 7, n_rows)
    frame = pd.DataFrame(
        {
            "a": [f"a{one}" for one in group],
            "b": [f"b{one // 2}" for one in group],
            "n": group + rng.normal(size=n_rows).round(2),
            "m": rng.integers(0, 3, n_rows).astype(float),
        }
    )
    gone = rng.random(frame.shape) < 0.15
    gone[:, 3] &= ~gone.all(axis=1)  # a row of which nothing is known is no row
    return frame.mask(gone)


def test_holoclean_in_many_rows_is_what_it_is_in_one() -> None:
    frame = related(120, 0)
    table = IncompleteTable(frame.assign(n=frame["n"].fillna(1.0)), np.arange(120) % 2)
    model = fit_model(table.columns, ~table.holes, HoloSettings(fallback=3))
    cells = HoloCells(model, np.ones((120, 4), dtype=bool))
    codes = np.column_stack([one.codes for one in model.attributes])
    lists: list[tuple[Any, ...]] = [
        ("a1", "a2", OTHER), ("a0", "never", "a5"), ("a1", "a2", "a3", "never", OTHER),
        tuple(f"a{one}" for one in range(7)), (*(f"a{one}" for one in range(7)), OTHER), (OTHER,),
    ]  # fmt: skip
    for a, values in [
        *((0, one) for one in lists),
        (1, ("b0", OTHER)),
        (2, (-1.0, 2.0, 2.01, 9.0)),
        (3, (0.0, 2.0, 1.0)),
    ]:
        found = weights_in_rows(model, a, codes, values)
        for row in range(0, 120, 3):
            expected = cells.weights(row, a, values)
            np.testing.assert_allclose(found[row], expected / expected.sum(), atol=1e-12)


def test_holoclean_looks_at_the_other_cells_of_a_point() -> None:
    frame = related(300, 1)
    table = IncompleteTable(frame, np.arange(300) % 2)
    given = pd.DataFrame(
        {"a": ["a0", "a6", None], "b": [None, None, None], "n": [0.0, 6.0, None], "m": [1, 1, 1.0]}
    )
    points = table.points(given, "holoclean")
    b = table.space.feature(1)
    for number, best in ((0, "b0"), (1, "b3")):
        vectors, weight = entries(points, number)
        likeliest = vectors[weight.argmax(), b.start : b.stop]
        assert b.categories[int(likeliest.argmax())] == best
        assert weight.max() > 0.5
    np.testing.assert_allclose(np.bincount(points.owner, points.weight), 1.0)
    observed = table.points(given)
    assert observed.vectors.tolist() == points.vectors.tolist()  # only the weights differ
    coarse = table.points(given, HoloRepair(bins=2))
    assert coarse.weight.tolist() != points.weight.tolist()
    alone = table.points(given[:1], {"b": "holoclean"})
    np.testing.assert_allclose(alone.weight, entries(points, 0)[1])


def test_cells_outside_the_space_inform_holoclean_if_they_can() -> None:
    frame = related(300, 2).assign(same="x")
    table = IncompleteTable(frame, np.arange(300) % 2, weights={"a": 0})
    given = pd.DataFrame({"a": ["a6"], "b": [None], "n": [None], "m": [1.0], "same": [None]})
    b = table.space.feature(1)
    points = table.points(given, "holoclean")
    likeliest = points.vectors[points.vector[points.weight.argmax()], b.start : b.stop]
    assert b.categories[int(likeliest.argmax())] == "b3"
    table.points(given.assign(a=[5.0]), "holoclean")  # of another kind: it says nothing


# -- order, parts and draws ------------------------------------------------------------------------


def many_points(n_points: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    complete = [SAMPLES[0] | {"age": int(rng.integers(10, 80))} for _ in range(n_points)]
    gone = rng.random((n_points, 4)) < 0.5
    return sample_frame(complete).mask(gone, None)


@pytest.mark.parametrize("limit", [1, 10, 125])
def test_a_point_is_the_same_alone_and_among_others(limit: int) -> None:
    table = IncompleteTable(UTC_FRAME, "y", n_draws=8, random_state=3)
    given = many_points(40)
    together = table.points(given, max_completions=limit)
    order = np.random.default_rng(1).permutation(40)
    shuffled = table.points(given.iloc[order].reset_index(drop=True), max_completions=limit)
    for place, number in enumerate(order.tolist()):
        alone = table.points(given[number : number + 1], max_completions=limit)
        for vectors, weight in (entries(shuffled, place), entries(alone, 0)):
            assert vectors.tobytes() == entries(together, number)[0].tobytes()
            assert weight.tobytes() == entries(together, number)[1].tobytes()


def test_parts_are_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    table = IncompleteTable(UTC_FRAME, "y", n_draws=8)
    given = many_points(40)
    whole = table.points(given, max_completions=10)
    monkeypatch.setattr(points_module, "_PART", 200)
    parts = list(table.points_in_parts(given, max_completions=10))
    assert len(parts) > 5
    assert sum(part.n_points for part in parts) == 40
    assert max(part.vectors.size for part in parts) <= 200 + 10 * table.dataset.n_features
    at = 0
    for part in parts:
        for number in range(part.n_points):
            assert entries(part, number)[0].tobytes() == entries(whole, at)[0].tobytes()
            assert np.isin(number, part.drawn) == np.isin(at, whole.drawn)
            at += 1
    complete = FRAME.loc[[0, 4]].reset_index(drop=True)
    assert len(list(table.points_in_parts(complete))) == 1
    assert len(list(table.points_in_parts(complete[:0]))) == 1


def test_draws_beyond_the_limit() -> None:
    table = IncompleteTable(UTC_FRAME, "y", n_draws=16, random_state=5)
    sample = sample_frame(SAMPLES)
    points = table.points(sample, max_completions=20)
    assert points.drawn.tolist() == [3, 4]
    assert entries(points, 4)[1].tolist() == [1 / 16] * 16
    possible = {bytes(one) for one in by_hand(table, UTC_FRAME, SAMPLES[4])[0].round(9)}
    assert {bytes(one) for one in entries(points, 4)[0].round(9)} <= possible
    other = IncompleteTable(UTC_FRAME, "y", n_draws=16, random_state=6)
    again = other.points(sample, max_completions=20)
    assert entries(again, 4)[0].tolist() != entries(points, 4)[0].tolist()
    assert entries(again, 1)[0].tolist() == entries(points, 1)[0].tolist()


# -- what may stand in points ----------------------------------------------------------------------


def test_nulls_of_every_kind_and_frame() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, None], "c": ["x", None, "z"], "n": [1, 2, 3]})
    table = IncompleteTable(frame, [0, 1, 0], null_tokens=["?", "-9"])
    columns = {"a": [0.5, None], "c": [None, "x"], "n": [None, None]}
    expected = table.points(pd.DataFrame(columns, dtype=object))
    frames = [
        pd.DataFrame(columns),
        pd.DataFrame(columns).convert_dtypes(),
        pd.DataFrame({"a": [0.5, math.nan], "c": [pd.NA, "x"], "n": [pd.NA, pd.NaT]}),
        pd.DataFrame({"a": [0.5, -9.0], "c": ["?", "x"], "n": [-9, -9]}),
        pl.DataFrame(columns),
        pl.DataFrame(columns, schema={"a": pl.Float32, "c": pl.Categorical, "n": pl.Int8}),
        pa.table(columns),
    ]
    for one in frames:
        points = table.points(one)
        assert points.vectors.tolist() == expected.vectors.tolist()
        assert points.weight.tolist() == expected.weight.tolist()


def test_a_column_that_is_null_in_all_points() -> None:
    table = IncompleteTable(FRAME, "y")
    for name in FEATURES:
        sample = sample_frame([SAMPLES[0] | {name: None}] * 2)
        for frame in (sample, sample.assign(**{name: np.nan}), sample.assign(**{name: pd.NaT})):
            assert table.points(frame).mixtures.tolist() == [0, 1]


def test_unseen_categories_beside_holes() -> None:
    table = IncompleteTable(FRAME, "y")
    sample = sample_frame([SAMPLES[0] | {"city": "new", "age": None}, SAMPLES[0] | {"city": None}])
    with pytest.warns(UnseenCategoryWarning, match="encoded as all zero: 1 in column 'city'"):
        points = table.points(sample)
    city = table.space.feature(1)
    vectors, weight = entries(points, 0)
    assert not vectors[:, city.start : city.stop].any()
    assert len(weight) == 5


def test_holes_in_ignored_columns_do_not_matter() -> None:
    frame = pd.DataFrame({"same": ["x", "x"], "off": [1, 2], "n": [1, 2]})
    table = IncompleteTable(frame, [0, 1], weights={"off": 0})
    points = table.points(pd.DataFrame({"same": [None], "off": [None], "n": [2]}))
    assert points.all_vectors().tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (sample_frame(SAMPLES).drop(columns="city"),
         r"missing 'city'\. Columns of points may be null: add what is missing as nulls\."),
        (sample_frame(SAMPLES).assign(extra=None), r"not expected 'extra'\.$"),
        (sample_frame(SAMPLES).assign(age=[None, 1.0, math.inf, 1, 2]),
         "column 'age' has infinite values in row 2"),
        (sample_frame(SAMPLES).assign(age=[None, "old", None, None, None]),
         "'age' is numeric in the training table, but here it is categorical and holds 'old'"),
    ],
)  # fmt: skip
def test_points_that_cannot_be_used(points: pd.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        IncompleteTable(FRAME, "y").points(points)


def test_shares_of_other_are_what_is_left() -> None:
    """What the checks by hand rest on, for a column of more than four categories."""
    frame = pd.DataFrame({"c": [*"aaabbbccdde", "f"], "n": range(12)})
    table = IncompleteTable(frame, np.arange(12) % 2)
    points = table.points(pd.DataFrame({"c": [None], "n": [3]}))
    weight = shares_nearest(table.columns[0], ("a", "b", "c", "d", OTHER), table.columns[0].values)
    np.testing.assert_allclose(points.weight, weight)
    np.testing.assert_allclose(weight, np.array([3, 3, 2, 2, 2]) / 12)
