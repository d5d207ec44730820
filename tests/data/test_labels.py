"""Labels of any hashable, sortable kind."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from cpclean import IncompleteDataset, IncompleteTable, possible_labels, world_counts
from cpclean.data.labels import encode_labels
from cpclean.errors import DataError, TableError

DAY = datetime.date(2024, 2, 29)
LATER = datetime.date(2024, 3, 1)
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)

KINDS = {
    "text": (["b", "a", "b"], ["a", "b"]),
    "int": ([7, -3, 7], [-3, 7]),
    "huge int": ([10**30, 2, 10**30], [2, 10**30]),
    "float": ([0.5, -1.5, 0.5], [-1.5, 0.5]),
    "bool": ([True, False, True], [False, True]),
    "bytes": ([b"y", b"x", b"y"], [b"x", b"y"]),
    "date": ([LATER, DAY, LATER], [DAY, LATER]),
    "tuple": ([(1, "b"), (1, "a"), (1, "b")], [(1, "a"), (1, "b")]),
    "tuples of numbers": ([(2, 1), (1, 2), (2, 1)], [(1, 2), (2, 1)]),
    "tuples of different lengths": ([(1, 2), (1,), (1, 2)], [(1,), (1, 2)]),
    "int and float": ([2, 0.5, 2.0], [0.5, 2]),
    "fraction": ([HALF, THIRD, HALF], [THIRD, HALF]),
    "one class": (["only"] * 3, ["only"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_labels(kind: str) -> None:
    labels, classes = KINDS[kind]
    data = IncompleteDataset([[0.0], [1.0], [2.0]], labels)
    assert data.classes.tolist() == classes
    assert data.codes.tolist() == [classes.index(label) for label in labels]
    assert data.codes.dtype == np.int64
    assert data.labels.tolist() == labels
    assert world_counts(data, [[0.1]], 1)[0].tolist() == [c == labels[0] for c in classes]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([3, 1, 3], dtype=np.uint8),
        np.array([3, 1, 3, 9])[:-1][::-1],
        np.array(["2024-03-01", "2024-02-29", "2024-03-01"], dtype="datetime64[D]"),
        pd.Series(["b", "a", "b"], index=[5, 6, 7]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series([2, 1, 2], dtype="Int64"),
        pd.Series([True, False, True]),
        pd.Index(["b", "a", "b"]),
        ("b", "a", "b"),
    ],
    ids=lambda labels: f"{type(labels).__name__}-{getattr(labels, 'dtype', '')}",
)
def test_containers_of_labels(labels: object) -> None:
    codes, classes = encode_labels(labels)
    assert codes.tolist() == [1, 0, 1]
    assert classes[codes].tolist() == np.asarray(labels).tolist()


def test_classes_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    for labels in (rng.integers(-50, 50, 300), rng.choice(["x", "yy", "Z", ""], 300)):
        expected, inverse = np.unique(labels, return_inverse=True)
        codes, classes = encode_labels(labels)
        assert classes.dtype == expected.dtype
        assert classes.tolist() == expected.tolist()
        assert codes.tolist() == inverse.tolist()
        codes, classes = encode_labels(labels.astype(object))
        assert classes.tolist() == expected.tolist()
        assert codes.tolist() == inverse.tolist()


def test_numbers_beside_text_are_not_turned_into_text() -> None:
    with pytest.raises(DataError, match=r"sortable among each other; .* Use one kind of label"):
        encode_labels(["1", 1, "2"])


def test_true_beside_numbers_is_the_number_one() -> None:
    codes, classes = encode_labels([True, 0, 1, 2])
    assert classes.tolist() == [0, 1, 2]
    assert codes.tolist() == [1, 0, 1, 2]


def test_the_smaller_class_wins_in_the_order_of_the_labels() -> None:
    for small, large in [("a", "b"), (-5, 2), (DAY, LATER), ((0, 9), (1, 0)), (False, True)]:
        data = IncompleteDataset([[1.0], [2.0]], [large, small])
        assert possible_labels(data, [[0.0]], 2).tolist() == [[True, False]]
        assert data.classes.tolist() == [small, large]


@pytest.mark.parametrize(
    ("labels", "rows"),
    [
        (["a", None, "b"], "1"),
        ([None, None, None], "0, 1, 2"),
        ([1.0, math.nan, 2.0], "1"),
        ([1, math.nan, 2], "1"),
        (["a", "b", math.nan], "2"),
        (np.array([math.nan, 1.0, 2.0], dtype=np.float32), "0"),
        (np.array(["a", None, None], dtype=object), "1, 2"),
        (np.array(["2024-01-01", "NaT", "2024-01-01"], dtype="datetime64[D]"), "1"),
        (np.array([1, "NaT", 1], dtype="timedelta64[D]"), "1"),
        ([pd.NA, "a", "b"], "0"),
        ([1, 2, pd.NA], "2"),
        ([pd.NaT, pd.Timestamp("2024-01-01"), pd.NaT], "0, 2"),
        (pd.Series(["a", None, "b"]), "1"),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "1"),
        (pd.Series([1, None, 2], dtype="Int64"), "1"),
        (pd.Series(["a", None, "b"], dtype="category"), "1"),
        (pd.array([True, False, None]), "2"),
    ],
)
def test_missing_labels(labels: object, rows: str) -> None:
    expected = rf"every row needs a label; missing in row {rows}\. Drop these rows"
    with pytest.raises(DataError, match=expected):
        IncompleteDataset([[0.0], [1.0], [2.0]], labels)


def test_at_most_three_missing_labels_are_named() -> None:
    with pytest.raises(DataError, match=r"missing in row 0, 2, 4 and 7 more\. Drop these rows"):
        encode_labels([None, "a"] * 10)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1], [2], [1]], "hashable and sortable among each other; unhashable type: 'list'"),
        ([{}, {}, {}], "hashable and sortable among each other; unhashable type: 'dict'"),
        (["a", 1, "b"], "sortable among each other; '<' not supported between instances of"),
        ([1j, 2j, "b"], "sortable among each other; '<' not supported"),
        ([DAY, "a", "b"], "sortable among each other; '<' not supported"),
        (np.zeros((3, 1)), r"labels must be one-dimensional, one per row; got shape \(3, 1\)"),
        (np.array(5), r"labels must be one-dimensional, one per row; got shape \(\)"),
        (pd.DataFrame({"a": [1, 2, 3]}), r"one-dimensional, one per row; got shape \(3, 1\)"),
    ],
)
def test_labels_that_cannot_be_classes(labels: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        IncompleteDataset([[0.0], [1.0], [2.0]], labels)


@pytest.mark.parametrize(("labels", "count"), [([0, 1], 2), ([], 0), ([0, 1, 0, 1], 4)])
def test_one_label_a_row(labels: list[int], count: int) -> None:
    expected = rf"one entry per row; got 3 candidate sets and {count} labels"
    with pytest.raises(DataError, match=expected):
        IncompleteDataset([[0.0], [1.0], [2.0]], labels)


def test_measurements_are_no_labels():
    frame = pd.DataFrame({"a": range(20), "price": [n + 0.25 for n in range(20)]})
    told = (
        r"the labels are 20 different numbers in 20 rows, as measurements are\. .* few labels\. "
        r"Name another column, .* pandas\.qcut\(numbers, 3\)\.$"
    )
    for label in ("price", frame["price"].to_numpy()):
        with pytest.raises(TableError, match=told):
            IncompleteTable(frame, label=label)
    IncompleteTable(frame, label=pd.qcut(frame["price"], 3, labels=False).tolist())
    IncompleteTable(frame, label=[0.5, 1.5] * 10)  # halves are labels if they come again


def test_a_misspelt_column_among_the_kinds():
    frame = pd.DataFrame({"size": [1, 2], "y": ["a", "b"]})
    with pytest.raises(TableError, match=r"does not have: 'sise'\. Did you mean 'size'\?"):
        IncompleteTable(frame, label="y", kinds={"sise": "numeric"})
