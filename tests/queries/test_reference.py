"""The paper's algorithms, against the oracle, against each other, and against the paper's slips."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from random import Random

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from slow_cases import rest_slow
from strategies import Case, cases, factored_cases, random_case, random_factored_case, sweep

from cpclean.data.incomplete import Cell, FactoredRow, IncompleteDataset
from cpclean.errors import QueryError
from cpclean.queries import reference
from cpclean.queries.reference import brute_force, mm, ss, ss_dc, ss_dc_mc, ss_k1

COUNTING = [brute_force, ss, ss_dc, ss_dc_mc]

# Section 3.1.2 of the paper: label 0 wins 2 + 4 of eight worlds, label 1 wins 2.
PAPER = ([[[6.0], [2.0]], [[5.0], [4.0]], [[3.0], [1.0]]], [1, 1, 0])


def check(case: Case) -> None:
    data = case.dataset()
    for t in case.X:
        expected = tuple(oracle.world_counts(*case.question(t)))
        for count in COUNTING:
            actual = count(data, t, n_neighbors=case.n_neighbors, metric=case.metric)
            assert actual == expected, count.__name__
        if case.n_classes <= 2:
            certain = tuple(worlds == case.n_worlds for worlds in expected)
            assert mm(data, t, n_neighbors=case.n_neighbors, metric=case.metric) == certain
        nearest = (*case.question(t)[:5], 1, case.metric)
        assert ss_k1(data, t, metric=case.metric) == tuple(oracle.world_counts(*nearest))


# -- agreement -------------------------------------------------------------------------------


@pytest.mark.parametrize("part", rest_slow(range(16)))
def test_seeded_sweep_plain_rows(part: int) -> None:
    for case in sweep(100, seed=100 + part):
        check(case)


@pytest.mark.parametrize("part", rest_slow(range(6)))
def test_seeded_sweep_factored_rows(part: int) -> None:
    for case in sweep(100, seed=200 + part, make=random_factored_case):
        check(case)


@settings(max_examples=50, deadline=None)
@given(cases())
def test_any_case(case: Case) -> None:
    check(case)


@settings(max_examples=30, deadline=None)
@given(factored_cases())
def test_any_factored_case(case: Case) -> None:
    check(case)


def test_the_sweep_meets_what_it_should() -> None:
    met = {"ties": 0, "uncertain": 0, "many classes": 0, "all neighbours": 0, "one neighbour": 0}
    metrics = set()
    for case in sweep(300, seed=100):
        metrics.add(case.metric)
        t = case.X[0]
        rows = [{oracle.distance(x, t, case.metric) for x in row} for row in case.candidates]
        met["ties"] += len(set().union(*rows)) < sum(map(len, rows))
        met["uncertain"] += sum(oracle.possible_labels(*case.question(t))) > 1
        met["many classes"] += case.n_classes > 2
        met["all neighbours"] += case.n_neighbors == len(case.labels)
        met["one neighbour"] += case.n_neighbors == 1
    assert min(met.values()) >= 30, met
    assert len(metrics) == 8


@pytest.mark.nojit
@pytest.mark.parametrize("make", [random_case, random_factored_case])
def test_written_out_rows_give_the_same_answers(make: object) -> None:
    for case in sweep(50, seed=300, make=make):
        asked = {"n_neighbors": case.n_neighbors, "metric": case.metric}
        factored, plain = case.dataset(), case.expanded_dataset()
        assert ss_dc(factored, case.X[0], **asked) == ss_dc(plain, case.X[0], **asked)


@pytest.mark.parametrize("n_neighbors", [1, 3, 8])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_three_scans_agree_where_worlds_cannot_be_written_out(
    n_neighbors: int, n_classes: int
) -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 6, size=37)
    candidates = [rng.integers(0, 4, size=(size, 3)).astype(float) for size in sizes]
    labels = np.arange(37) % n_classes
    data = IncompleteDataset(candidates, labels)
    t = [1.0, 2.0, 1.0]
    expected = ss(data, t, n_neighbors=n_neighbors)
    assert sum(expected) == data.n_worlds == math.prod(sizes.tolist()) > 10**10
    assert ss_dc(data, t, n_neighbors=n_neighbors) == expected
    assert ss_dc_mc(data, t, n_neighbors=n_neighbors) == expected
    if n_neighbors == 1:
        assert ss_k1(data, t) == expected
    if n_classes == 2:
        certain = tuple(count == data.n_worlds for count in expected)
        assert mm(data, t, n_neighbors=n_neighbors) == certain


@pytest.mark.nojit
def test_the_paper_s_example() -> None:
    data = IncompleteDataset(*PAPER)
    assert ss_k1(data, [0.0]) == (6, 2)
    for count in COUNTING:
        assert count(data, [0.0], n_neighbors=1) == (6, 2)
    assert mm(data, [0.0], n_neighbors=1) == (False, False)


@pytest.mark.nojit
def test_one_class_is_certain() -> None:
    data = IncompleteDataset([[[1.0], [2.0]], [[0.0], [3.0], [4.0]]], ["a", "a"])
    for count in COUNTING:
        assert count(data, [0.0], n_neighbors=2) == (6,)
    assert ss_k1(data, [0.0]) == (6,)
    assert mm(data, [0.0], n_neighbors=2) == (True,)


def test_answers_are_plain_python_values() -> None:
    data = IncompleteDataset(*PAPER)
    for count in COUNTING:
        assert {type(worlds) for worlds in count(data, np.zeros(1), 2)} == {int}
    assert {type(worlds) for worlds in ss_k1(data, np.zeros(1))} == {int}
    assert {type(certain) for certain in mm(data, np.zeros(1), np.int64(2))} == {bool}


@pytest.mark.nojit
def test_a_factored_row_counts_every_combination() -> None:
    row = FactoredRow([np.nan, np.nan], [Cell(1, [0.0, 5.0]), Cell(0, [0.0, 1.0, 9.0])])
    data = IncompleteDataset([row, [[2.0, 0.0]]], ["near", "other"])
    for count in COUNTING:
        assert count(data, [0.0, 0.0], n_neighbors=1) == (2, 4)  # (0, 0) and (1, 0) are nearer


# -- the slips: the printed text gives other numbers ---------------------------------------------


def as_printed(
    candidates: list[list[list[float]]], codes: list[int], k: int, slip: str | None = None
) -> list[int]:
    """The scan around 0.0 written straight from the paper, with one of its slips left in.

    Recomputes everything at every boundary. Without a slip it must be right, so that whatever
    goes wrong with one is the slip's doing.
    """
    n_classes = max(codes) + 1
    nearness = [[(abs(x), i) for (x,) in row] for i, row in enumerate(candidates)]
    counts = [0] * n_classes

    def leaf(row: int, label: int, boundary: tuple[float, int]) -> list[int]:
        if codes[row] != label:
            return [1] * (k + 1) if slip == "leaf of another label" else [1] + [0] * k
        if row == boundary[1]:
            return ([0, 1] + [0] * k)[: k + 1]
        alpha = sum(place >= boundary for place in nearness[row])
        ways = [alpha, len(nearness[row]) - alpha]
        return ((ways[::-1] if slip == "leaf rationale" else ways) + [0] * k)[: k + 1]

    def tree(label: int, boundary: tuple[float, int], a: int, b: int) -> list[int]:
        if a == b:
            return leaf(a, label, boundary)
        m = (a + b) // 2
        left = tree(label, boundary, a, m)
        right = tree(label, boundary, a + 1 if slip == "right child" else m + 1, b)
        return [sum(left[n] * right[c - n] for n in range(c + 1)) for c in range(k + 1)]

    def program(label: int, boundary: tuple[float, int]) -> list[int]:
        ways = [1] * (k + 1) if slip == "base case" else [1] + [0] * k
        for row, code in enumerate(codes):
            if code == label:
                out, take = leaf(row, label, boundary)[:2]
                ways = [out * ways[c] + (take * ways[c - 1] if c else 0) for c in range(k + 1)]
        return ways

    def fill(others: list[int], caps: list[int], places: int, ways: list[list[int]]) -> int:
        if places < 0:
            return 0
        if not others:
            return int(places == 0)
        top = min(caps[0], places)
        return sum(
            ways[others[0]][n] * fill(others[1:], caps[1:], places - n, ways)
            for n in range(top + 1)
        )

    for boundary in (place for row in nearness for place in row):
        if slip == "base case":
            ways = [program(label, boundary) for label in range(n_classes)]
        else:
            ways = [tree(label, boundary, 0, len(codes) - 1) for label in range(n_classes)]
        for label in range(n_classes):
            others = [other for other in range(n_classes) if other != label]
            for votes in range(1, k + 1):
                caps = [votes - (other < label) for other in others]
                if slip == "strict majority":
                    caps = [votes - 1] * len(others)
                places = k - votes - (slip == "remaining places")
                counts[label] += ways[label][votes] * fill(others, caps, places, ways)
    return counts


# Three classes, two neighbours, so that votes tie in some worlds.
THREE = ([[[1.0], [6.0]], [[2.0]], [[3.0], [4.0], [9.0]], [[5.0], [0.5]]], [0, 1, 2, 0])


@pytest.mark.parametrize(
    "slip",
    [
        "base case",  # 1: C(c, 0) = 1
        "leaf of another label",  # 2: T(c) = 1 for every c
        "right child",  # 3: a+1..b
        "leaf rationale",  # 4: alpha candidates inside the top K
        "strict majority",  # 5: ">" for all labels
        "remaining places",  # 5: K - c - 1
    ],
)
def test_the_text_as_printed_miscounts(slip: str) -> None:
    candidates, codes = THREE
    expected = oracle.world_counts(candidates, codes, 3, None, [0.0], 2)
    assert as_printed(candidates, codes, 2) == expected
    assert as_printed(candidates, codes, 2, slip) != expected
    data = IncompleteDataset(candidates, codes)
    for count in COUNTING:
        assert count(data, [0.0], n_neighbors=2) == tuple(expected)


def test_a_strict_majority_loses_the_worlds_with_tied_votes() -> None:
    candidates, codes = THREE
    assert sum(as_printed(candidates, codes, 2, "strict majority")) < 12
    assert sum(as_printed(candidates, codes, 2)) == 12


def extreme_prediction(
    candidates: list[list[list[float]]], codes: list[int], k: int, label: int
) -> int:
    """What the label's extreme world predicts at 0.0, by the oracle."""
    extreme = [
        [(min if code == label else max)(row, key=lambda x: abs(x[0]))]
        for row, code in zip(candidates, codes, strict=True)
    ]
    return oracle.world_counts(extreme, codes, max(codes) + 1, None, [0.0], k).index(1)


def test_mm_as_printed_answers_possible_and_not_certain() -> None:
    # Slip 6: both extreme worlds predict their own label, yet neither label is certain.
    candidates, codes = PAPER
    assert [extreme_prediction(candidates, codes, 1, label) for label in (0, 1)] == [0, 1]
    assert mm(IncompleteDataset(candidates, codes), [0.0], n_neighbors=1) == (False, False)


def test_the_appendix_condition_would_refuse_a_certain_label() -> None:
    # Slip 7: label 0 is certain, so the extreme world of label 1 predicts 0; "does not predict l"
    # would call that a reason against 0, while "does not predict l'" is the reason for it.
    candidates, codes = [[[1.0], [2.0]], [[3.0], [4.0]]], [0, 1]
    assert extreme_prediction(candidates, codes, 1, 1) == 0
    assert oracle.possible_labels(candidates, codes, 2, None, [0.0], 1) == [True, False]
    assert mm(IncompleteDataset(candidates, codes), [0.0], n_neighbors=1) == (True, False)


@pytest.mark.nojit
def test_mm_would_be_wrong_for_three_classes_and_refuses() -> None:
    # Slip 9: label 1 wins only while row 0 (label 2) keeps row 2 (label 0) out of the top 2, but
    # its extreme world moves row 0 away.
    candidates, codes = [[[1.0], [4.0]], [[2.0]], [[3.0]]], [2, 1, 0]
    assert oracle.possible_labels(candidates, codes, 3, None, [0.0], 2) == [True, True, False]
    assert extreme_prediction(candidates, codes, 2, 1) == 0
    with pytest.raises(QueryError, match=r"at most two classes; the data has 3\. .*possible_lab"):
        mm(IncompleteDataset(candidates, codes), [0.0], n_neighbors=2)


# -- errors -----------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("ask", [*COUNTING, mm])
@pytest.mark.parametrize("n_neighbors", [0, -1, 4, 2.0, "2", True, None])
def test_n_neighbors_must_be_within_the_rows(ask: object, n_neighbors: object) -> None:
    data = IncompleteDataset(*PAPER)
    expected = r"n_neighbors must be an int in \[1, 3\] \(the number of training rows\); got "
    with pytest.raises(QueryError, match=expected + repr(n_neighbors)):
        ask(data, [0.0], n_neighbors=n_neighbors)


@pytest.mark.parametrize("ask", [*COUNTING, mm, ss_k1])
@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.0, 1.0], r"shape \(1,\), a value for every feature .* got shape \(2,\)"),
        ([[0.0]], r"one query point of shape \(1,\).* got shape \(1, 1\)"),
        (0.0, r"got shape \(\)"),
        ([math.nan], "x must be finite; got NaN or infinity in feature 0"),
        ([-math.inf], "x must be finite; got NaN or infinity in feature 0"),
        (["red"], "x must be numbers"),
    ],
)
@pytest.mark.nojit
def test_the_query_point_is_checked(ask: object, x: object, message: str) -> None:
    data = IncompleteDataset(*PAPER)
    with pytest.raises(QueryError, match=message):
        ask(data, x)


@pytest.mark.nojit
@pytest.mark.parametrize("ask", [*COUNTING, mm, ss_k1])
@pytest.mark.parametrize("metric", ["hemming", "Euclidean", "precomputed", None, 2])
def test_the_metric_must_be_known(ask: object, metric: object) -> None:
    data = IncompleteDataset(*PAPER)
    with pytest.raises(QueryError, match=rf'one of "euclidean", .* callable; got {metric!r}'):
        ask(data, [0.0], metric=metric)


def test_a_metric_must_give_numbers() -> None:
    data = IncompleteDataset(*PAPER)
    with pytest.raises(QueryError, match="got NaN in row 0, 1, 2"):
        ss(data, [0.0], metric=lambda x, t: math.nan)


@pytest.mark.nojit
def test_a_callable_metric_gets_arrays() -> None:
    data = IncompleteDataset(*PAPER)
    asked = {"n_neighbors": 1, "metric": lambda x, t: np.abs(x - t).sum()}
    for count in COUNTING:
        assert count(data, [0.0], **asked) == (6, 2)


# -- independence -------------------------------------------------------------------------------


def test_the_reference_shares_nothing_with_the_compiled_engine() -> None:
    tree = ast.parse(Path(reference.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    assert not [name for name in modules if "numba" in name or name.startswith("cpclean.queries")]


def test_sums_have_one_rounding_a_term() -> None:
    # A compensated sum, such as the built-in one from Python 3.12 on, would give 1e16 + 2.
    assert reference._distance([1e16, 1.0, 1.0], [0.0, 0.0, 0.0], "manhattan") == 1e16
    rng = Random(3)
    for _ in range(200):
        vector, t = [rng.random() for _ in range(6)], [rng.random() for _ in range(6)]
        for metric in reference.METRICS:
            assert reference._distance(vector, t, metric) == oracle.distance(vector, t, metric)
