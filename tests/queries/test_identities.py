"""What must hold between answers, on instances far too large to write out their worlds."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from cpclean import (
    Cell,
    FactoredRow,
    IncompleteDataset,
    conditional_shares,
    entropies,
    expected_entropies,
    is_certain,
    possible_labels,
    world_counts,
    world_shares,
)
from cpclean.queries import reference

TABLES = (possible_labels, is_certain, world_counts, world_shares, entropies, expected_entropies)

# (classes, K, rows)
SIZES = [(2, 1, 300), (2, 3, 500), (2, 8, 300), (3, 1, 400), (3, 5, 300), (4, 3, 500), (6, 10, 300),
         (2, 15, 300), (5, 15, 300)]  # fmt: skip


def instance(
    seed: object,
    n_rows: int,
    n_classes: int,
    *,
    grid: int = 0,
    width: int = 2,
    uniform: bool = True,
) -> tuple[IncompleteDataset, np.ndarray]:
    """A third of the rows dirty; candidates scatter around a centre of their own."""
    rng = np.random.default_rng(seed)
    candidates, priors = [], []
    for _ in range(n_rows):
        size = int(rng.integers(2, 7)) if rng.random() < 0.35 else 1
        vectors = rng.normal(size=width) + 0.5 * rng.normal(size=(size, width))
        candidates.append(np.round(vectors * grid) if grid else vectors)
        priors.append(None if uniform else rng.dirichlet(np.ones(size)))
    X = rng.normal(size=(12, width))
    data = IncompleteDataset(candidates, rng.integers(0, n_classes, size=n_rows), priors)
    return data, np.round(X * grid) if grid else X


def pieces(data: IncompleteDataset) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
    rows = range(data.n_rows)
    return [data.candidates(row) for row in rows], data.labels, [data.prior(row) for row in rows]


# -- shares, counts, certainty ---------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "k", "n_rows"), SIZES)
def test_shares_counts_and_certainty_agree(n_classes: int, k: int, n_rows: int) -> None:
    data, X = instance([1, n_classes, k], n_rows, n_classes)
    counts = world_counts(data, X, k)
    shares = world_shares(data, X, k)
    possible = possible_labels(data, X, k)
    certain = is_certain(data, X, k)
    assert data.n_worlds > 10**30
    assert counts.sum(axis=1).tolist() == [data.n_worlds] * len(X)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(X)), abs=1e-15)
    assert (possible == (counts > 0)).all()
    assert ((shares > 0) == possible).all()
    assert (certain == (possible.sum(axis=1) == 1)).all()
    assert (certain == (counts == data.n_worlds).any(axis=1)).all()
    assert (certain == (shares == 1.0).any(axis=1)).all()
    assert not certain.all()
    for share, count in zip(shares.ravel(), counts.ravel(), strict=True):
        exact = float(Fraction(count, data.n_worlds))
        assert share == pytest.approx(exact, rel=1e-10, abs=0.0)


@pytest.mark.nojit
@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (3, 2), (4, 5)])
def test_shares_counts_and_certainty_agree_on_a_smaller_instance(n_classes: int, k: int) -> None:
    data, X = instance([2, n_classes, k], 90, n_classes)
    counts = world_counts(data, X[:2], k)
    assert counts.sum(axis=1).tolist() == [data.n_worlds] * 2
    assert (possible_labels(data, X[:2], k) == (counts > 0)).all()
    expected = [[float(Fraction(count, data.n_worlds)) for count in row] for row in counts]
    assert world_shares(data, X[:2], k) == pytest.approx(np.array(expected), rel=1e-10, abs=0.0)


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (4, 3)])
def test_a_prior_is_a_number_of_equal_candidates(n_classes: int, k: int) -> None:
    # Weights of m / 16 are m copies of a candidate, all equally likely: counts say the exact share.
    rng = np.random.default_rng([3, n_classes])
    rows, copied, priors = [], [], []
    for _ in range(120):
        size = int(rng.integers(1, 5))
        vectors = rng.normal(size=(size, 2))
        times = rng.multinomial(16 - size, np.ones(size) / size) + 1
        rows.append(vectors)
        copied.append(np.repeat(vectors, times, axis=0))
        priors.append(times / 16)
    labels = rng.integers(0, n_classes, size=120)
    X = rng.normal(size=(4, 2))
    copies = IncompleteDataset(copied, labels)
    counts = world_counts(copies, X, k)
    expected = [[float(Fraction(count, copies.n_worlds)) for count in row] for row in counts]
    actual = world_shares(IncompleteDataset(rows, labels, priors), X, k)
    assert actual == pytest.approx(np.array(expected), rel=1e-10, abs=0.0)


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (2, 6), (4, 3)])
def test_a_candidate_of_prior_zero_might_as_well_not_be_there(n_classes: int, k: int) -> None:
    rng = np.random.default_rng([21, n_classes, k])
    data, X = instance([21, n_classes], 200, n_classes, uniform=False)
    candidates, labels, priors = pieces(data)
    more, weights = [], []
    for vectors, prior in zip(candidates, priors, strict=True):
        extra = rng.normal(size=(rng.integers(0, 3), 2))
        order = rng.permutation(len(vectors) + len(extra))
        more.append(np.concatenate([vectors, extra])[order])
        weights.append(np.r_[prior, np.zeros(len(extra))][order])
    longer = IncompleteDataset(more, labels, weights)
    assert longer.n_worlds > data.n_worlds
    assert world_shares(longer, X, k) == pytest.approx(world_shares(data, X, k), rel=1e-11)
    expected = expected_entropies(data, X, k)
    assert expected_entropies(longer, X, k) == pytest.approx(expected, abs=1e-12)
    assert not (possible_labels(data, X, k) & ~possible_labels(longer, X, k)).any()
    shorter, given = conditional_shares(data, X[0], k), conditional_shares(longer, X[0], k)
    for row, vectors in enumerate(candidates):
        for number, vector in enumerate(vectors):
            place = (more[row] == vector).all(axis=1).argmax()
            assert given[row][place] == pytest.approx(shorter[row][number], abs=1e-12)


@pytest.mark.parametrize(("n_classes", "k"), [(5, 10), (3, 4)])
def test_counts_as_the_paper_s_algorithm_counts(n_classes: int, k: int) -> None:
    data, X = instance([4, n_classes], 60, n_classes, grid=3)
    for t in X[:2]:
        expected = reference.ss_dc_mc(data, t, k)
        assert tuple(world_counts(data, [t], k)[0]) == expected


# -- conditionals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize(("n_classes", "k", "n_rows"), SIZES)
def test_conditionals_average_to_the_share(
    n_classes: int, k: int, n_rows: int, uniform: bool
) -> None:
    data, X = instance([5, n_classes, k], n_rows, n_classes, uniform=uniform)
    X = X[:3]
    shares = world_shares(data, X, k)
    given = [conditional_shares(data, t, k) for t in X]
    for whole, rows in zip(shares, given, strict=True):
        for row, one in enumerate(rows):
            assert (one >= 0).all()
            assert (one <= 1).all()
            assert one.sum(axis=1) == pytest.approx(np.ones(len(one)), abs=1e-12)
            assert data.prior(row) @ one == pytest.approx(whole, abs=1e-12)
    # The entropy to expect, from the conditionals themselves.
    expected = np.zeros(n_rows)
    for rows in given:
        for row, one in enumerate(rows):
            logs = np.log(np.where(one > 0, one, 1.0))
            expected[row] += data.prior(row) @ -(one * logs).sum(axis=1) / len(X)
    actual = expected_entropies(data, X, k)
    assert actual == pytest.approx(expected, abs=1e-11)
    assert (actual <= entropies(data, X, k).mean() + 1e-12).all()


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (2, 12), (4, 3), (6, 5)])
def test_a_conditional_is_the_share_after_pinning(n_classes: int, k: int) -> None:
    data, X = instance([6, n_classes, k], 350, n_classes, uniform=False)
    rng = np.random.default_rng(6)
    for t in X[:2]:
        given = conditional_shares(data, t, k)
        for row in rng.choice(data.dirty_rows, size=20, replace=False):
            for number in range(data.candidate_counts[row]):
                expected = world_shares(data.pin(row, number), [t], k)[0]
                assert given[row][number] == pytest.approx(expected, abs=1e-12)


# -- pinning ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (3, 2), (5, 4)])
def test_pinning_only_narrows_down(n_classes: int, k: int) -> None:
    rng = np.random.default_rng([7, n_classes])
    data, _ = instance([7, n_classes, k], 200, n_classes)
    X = rng.normal(size=(60, 2))
    before = possible_labels(data, X, k)
    seen = [before.sum()]
    for row in rng.permutation(data.dirty_rows):
        data = data.pin(row, int(rng.integers(data.candidate_counts[row])))
        after = possible_labels(data, X, k)
        assert not (after & ~before).any()
        assert not (is_certain(data, X, k) < (before.sum(axis=1) == 1)).any()
        before = after
        seen.append(before.sum())
    assert seen[-1] == len(X) < seen[0]
    assert data.n_worlds == 1


# -- symmetries ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "k"), [(2, 4), (4, 3)])
def test_the_order_of_rows_and_candidates_does_not_matter_without_ties(
    n_classes: int, k: int
) -> None:
    data, X = instance([8, n_classes], 300, n_classes, uniform=False)
    candidates, labels, priors = pieces(data)
    rng = np.random.default_rng(8)
    rows = rng.permutation(300)
    inside = [rng.permutation(len(candidates[row])) for row in rows]
    shuffled = IncompleteDataset(
        [candidates[row][order] for row, order in zip(rows, inside, strict=True)],
        labels[rows],
        [priors[row][order] for row, order in zip(rows, inside, strict=True)],
    )
    assert possible_labels(shuffled, X, k).tolist() == possible_labels(data, X, k).tolist()
    assert world_counts(shuffled, X, k).tolist() == world_counts(data, X, k).tolist()
    assert world_shares(shuffled, X, k) == pytest.approx(world_shares(data, X, k), rel=1e-12)
    expected = expected_entropies(data, X, k)[rows]
    assert expected_entropies(shuffled, X, k) == pytest.approx(expected, abs=1e-12)
    given, again = conditional_shares(data, X[0], k), conditional_shares(shuffled, X[0], k)
    for place, (row, order) in enumerate(zip(rows, inside, strict=True)):
        assert again[place] == pytest.approx(given[row][order], abs=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "linear"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_features_does_not_matter_on_a_grid(metric: str, n_classes: int) -> None:
    data, X = instance([9, n_classes], 200, n_classes, grid=2, width=5, uniform=False)
    candidates, labels, priors = pieces(data)
    order = [3, 0, 4, 1, 2]
    turned = IncompleteDataset([one[:, order] for one in candidates], labels, priors)
    for ask in TABLES:
        expected = ask(data, X, 3, metric)
        actual = ask(turned, X[:, order], 3, metric)
        if expected.dtype == float:
            assert actual == pytest.approx(expected, abs=1e-13)
        else:
            assert actual.tolist() == expected.tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_names_of_classes_do_not_matter_but_their_order(n_classes: int) -> None:
    data, X = instance([10, n_classes], 200, n_classes)
    candidates, labels, _ = pieces(data)
    names = np.array(["ape", "bee", "cat", "dog"])[:n_classes]
    named = IncompleteDataset(candidates, names[labels])
    assert world_counts(named, X, 4).tolist() == world_counts(data, X, 4).tolist()
    # With K = 1 no votes tie, so that a new order of the classes only reorders the answer.
    turned = IncompleteDataset(candidates, n_classes - 1 - labels)
    expected = world_counts(data, X, 1)[:, ::-1]
    assert world_counts(turned, X, 1).tolist() == expected.tolist()


def test_what_is_given_is_never_written_to() -> None:
    data, X = instance(11, 80, 3, uniform=False)
    candidates, labels, priors = pieces(data)
    given = [*candidates, labels, *priors, X]
    before = [array.copy() for array in given]
    fresh = IncompleteDataset(candidates, labels, priors)
    for metric in ("euclidean", "cosine", "manhattan"):
        for ask in TABLES:
            ask(fresh, X, 3, metric, n_jobs=2)
        conditional_shares(fresh, X[0], 3, metric)
    distances = np.random.default_rng(11).random((3, data.n_candidates))
    kept = distances.copy()
    for ask in TABLES:
        ask(fresh, distances, 3, "precomputed")
    assert np.array_equal(distances, kept)
    for array, was in zip(given, before, strict=True):
        assert np.array_equal(array, was)
        assert array.flags.writeable
    assert fresh == IncompleteDataset(candidates, labels, priors)


FORMS = {
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "int": lambda X: X.astype(np.int16),
    "float32": lambda X: X.astype(np.float32),
    "object": lambda X: X.astype(object),
}


@pytest.mark.parametrize("form", FORMS)
def test_points_may_be_given_in_many_forms(form: str) -> None:
    data, X = instance(12, 80, 3, grid=2, width=3)
    given = FORMS[form](X)
    for ask in TABLES:
        assert ask(data, given, 3).tolist() == ask(data, X, 3).tolist()
    for actual, expected in zip(
        conditional_shares(data, given[0], 3), conditional_shares(data, X[0], 3), strict=True
    ):
        assert actual.tolist() == expected.tolist()


def test_points_of_yes_and_no() -> None:
    rng = np.random.default_rng(13)
    data = IncompleteDataset(rng.integers(0, 2, size=(30, 2, 4)).astype(bool), np.arange(30) % 3)
    X = rng.integers(0, 2, size=(5, 4)).astype(bool)
    plain = IncompleteDataset([data.candidates(row) for row in range(30)], np.arange(30) % 3)
    for ask in TABLES:
        assert ask(data, X, 3).tolist() == ask(plain, X.astype(float), 3).tolist()


# -- factored rows ---------------------------------------------------------------------------------


def factored_instance(seed: object, n_rows: int, n_classes: int, grid: bool):
    """Rows of 3 to 5 uncertain cells beside plain and clean ones, in eight columns."""
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> np.ndarray:
        return rng.integers(-2, 3, size=shape).astype(float) if grid else rng.normal(size=shape)

    rows, priors = [], []
    for number in range(n_rows):
        priors.append(None)
        if number % 3 == 0:
            rows.append(numbers(8))
        elif number % 3 == 1:
            rows.append(numbers(4, 8))
            priors[-1] = rng.dirichlet(np.ones(4))
        else:
            starts = np.sort(rng.choice([0, 2, 4, 5, 6], size=rng.integers(3, 6), replace=False))
            cells = []
            for start in starts:
                columns = 2 if start in (0, 2) and rng.random() < 0.7 else 1
                size = int(rng.integers(2, 4))
                values = numbers(size, columns)
                prior = rng.dirichlet(np.ones(size)) if rng.random() < 0.5 else None
                cells.append(Cell(list(range(start, start + columns)), values, prior))
            rows.append(FactoredRow(numbers(8), cells))
    X = numbers(3, 8)
    return IncompleteDataset(rows, rng.integers(0, n_classes, size=n_rows), priors), X


@pytest.mark.parametrize("grid", [True, False])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "linear"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_factored_rows_as_written_out(n_classes: int, metric: str, grid: bool) -> None:
    data, X = factored_instance([14, n_classes], 30, n_classes, grid)
    plain = data.expanded()
    assert data.n_worlds == plain.n_worlds > 10**15
    for k in (1, 4):
        for ask in (possible_labels, is_certain, world_counts):
            assert ask(data, X, k, metric).tolist() == ask(plain, X, k, metric).tolist()
        for ask in (world_shares, entropies, expected_entropies):
            expected = ask(plain, X, k, metric)
            assert ask(data, X, k, metric) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        for actual, expected in zip(
            conditional_shares(data, X[0], k, metric),
            conditional_shares(plain, X[0], k, metric),
            strict=True,
        ):
            assert actual == pytest.approx(expected, abs=1e-12)


def test_pinning_factored_rows_as_written_out() -> None:
    data, X = factored_instance(15, 24, 3, grid=True)
    plain = data.expanded()
    rng = np.random.default_rng(15)
    for row in rng.permutation(data.dirty_rows)[:8]:
        number = int(rng.integers(data.candidate_counts[row]))
        assert data.pin(row, number).expanded() == plain.pin(row, number)
        data, plain = data.pin(row, number), plain.pin(row, number)
        assert world_counts(data, X, 3).tolist() == world_counts(plain, X, 3).tolist()
        assert world_shares(data, X, 3) == pytest.approx(world_shares(plain, X, 3), rel=1e-12)


def large_rows(n_classes: int, grid: bool):
    """20 rows, three of them with 5^8 combinations of which 2 x 2 or 5 x 2 differ in place.

    Returns the data, the same with what coincides merged (priors added up), the number of worlds
    of the first for each of the second where merging keeps the ratio, and query points.
    """
    rng = np.random.default_rng([16, n_classes])
    draw = (
        (lambda *s: rng.integers(-2, 3, size=s) * 1.0) if grid else (lambda *s: rng.normal(size=s))
    )
    large, small = [], []
    for number in range(20):
        if number in (3, 7, 12):
            base, cells, merged = draw(8), [], []
            for column in range(8):
                if column == number % 4:  # five values, all different
                    values = np.arange(5.0) - 2.0 if grid else draw(5)
                    prior = rng.dirichlet(np.ones(5))
                    merged.append(Cell(column, values, prior))
                elif column == 5:  # three and two
                    values = np.array([0.5, -1.5, 0.5, 0.5, -1.5])
                    prior = np.array([0.1, 0.2, 0.3, 0.1, 0.3])
                    merged.append(Cell(column, [0.5, -1.5], [0.5, 0.5]))
                else:  # all the same
                    values, prior = np.full(5, base[column]), rng.dirichlet(np.ones(5))
                cells.append(Cell(column, values, prior))
            large.append(FactoredRow(base, cells))
            small.append(FactoredRow(base, merged))
        else:
            row = draw(3 if number % 2 else 1, 8)
            large.append(row)
            small.append(row)
    labels = np.arange(20) % n_classes
    X = draw(2, 8) * 0.5
    return IncompleteDataset(large, labels), IncompleteDataset(small, labels), X


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("k", [1, 4])
def test_rows_of_390625_combinations(n_classes: int, k: int) -> None:
    large, small, X = large_rows(n_classes, grid=True)
    assert large.candidate_counts.max() == 5**8
    held = sum(array.nbytes for array in vars(large).values() if isinstance(array, np.ndarray))
    assert held < 20_000
    assert possible_labels(large, X, k).tolist() == possible_labels(small, X, k).tolist()
    assert world_shares(large, X, k) == pytest.approx(world_shares(small, X, k), rel=1e-11)
    expected = expected_entropies(small, X, k)
    assert expected_entropies(large, X, k) == pytest.approx(expected, abs=1e-11)
    given, wanted = conditional_shares(large, X[0], k), conditional_shares(small, X[0], k)
    for row in range(20):
        if row not in (3, 7, 12):
            assert given[row] == pytest.approx(wanted[row], abs=1e-12)
            continue
        for number in (0, 1, 777, 5**7, 200_000, 5**8 - 1):
            vector = large.candidate(row, number)
            place = (small.candidates(row) == vector).all(axis=1).argmax()
            assert given[row][number] == pytest.approx(wanted[row][place], abs=1e-12)


@pytest.mark.parametrize(("n_classes", "k"), [(2, 3), (3, 2)])
def test_counts_with_rows_of_390625_combinations(n_classes: int, k: int) -> None:
    # Uniform: three of five values in one place count as three, so keep the five of each cell.
    large, _, X = large_rows(n_classes, grid=True)
    rows = []
    for row in range(20):
        cells = [cell for cell in large.cells(row) if len(np.unique(cell.values, axis=0)) > 1]
        base = large.candidate(row, 0)
        rows.append(FactoredRow(base, [Cell(cell.column, cell.values) for cell in cells]))
    small = IncompleteDataset(rows, large.labels)
    ratio = large.n_worlds // small.n_worlds
    assert ratio == 5**18
    for t in X:
        expected = reference.ss_dc_mc(small, t, k)
        assert world_counts(large, [t], k)[0].tolist() == [count * ratio for count in expected]


def test_a_row_of_390625_distinct_combinations_as_written_out() -> None:
    rng = np.random.default_rng(17)
    factored = FactoredRow(np.zeros(8), [Cell(c, rng.normal(size=5)) for c in range(8)])
    others = [rng.normal(size=(1 + i % 3, 8)) for i in range(19)]
    data = IncompleteDataset([factored, *others], np.arange(20) % 2)
    plain = data.expanded()
    X = rng.normal(size=(1, 8))
    assert world_counts(data, X, 3).tolist() == world_counts(plain, X, 3).tolist()
    assert world_shares(data, X, 3) == pytest.approx(world_shares(plain, X, 3), rel=1e-11)
    expected = expected_entropies(plain, X, 3)
    assert expected_entropies(data, X, 3) == pytest.approx(expected, abs=1e-11)


def test_certainty_takes_little_memory_however_many_combinations() -> None:
    rng = np.random.default_rng(18)
    cells = rng.normal(size=(200, 8, 5))
    data = IncompleteDataset(
        [FactoredRow(np.zeros(8), [Cell(c, one[c]) for c in range(8)]) for one in cells],
        np.arange(200) % 3,
    )
    X = rng.normal(size=(10, 8))
    possible_labels(data, X[:1], 3)  # compiled and prepared before memory is watched
    tracemalloc.start()
    try:
        possible_labels(data, X, 3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert data.n_candidates == 200 * 5**8
    assert peak < 2_000_000


# -- many classes ----------------------------------------------------------------------------------


def test_a_hundred_classes_and_ten_neighbours() -> None:
    data, X = instance(19, 520, 100, uniform=False)
    X, k = X[[0, 5]], 10
    assert data.n_classes == 100
    possible = possible_labels(data, X, k)
    shares = world_shares(data, X, k)
    counts = world_counts(data, X[:1], k)
    assert (possible[:1] == (counts > 0)).all()
    assert ((shares > 0) == possible).all()
    assert possible.sum(axis=1).max() > 5
    assert shares.sum(axis=1) == pytest.approx(np.ones(2), abs=1e-14)
    assert counts.sum() == data.n_worlds
    uniform = IncompleteDataset(*pieces(data)[:2])
    exact = [float(Fraction(count, data.n_worlds)) for count in counts[0]]
    assert world_shares(uniform, X[:1], k)[0] == pytest.approx(exact, rel=1e-10, abs=0.0)
    after = expected_entropies(data, X[:1], k)
    now = entropies(data, X[:1], k)[0]
    assert now == pytest.approx(-sum(p * math.log(p) for p in shares[0] if p > 0), abs=1e-12)
    assert (after <= now + 1e-12).all()
    assert after.min() < now - 1e-4
    row = int(after.argmin())
    pinned = [
        entropies(data.pin(row, number), X[:1], k)[0]
        for number in range(data.candidate_counts[row])
    ]
    assert after[row] == pytest.approx(data.prior(row) @ pinned, abs=1e-11)
    given = conditional_shares(data, X[0], k)
    for row in data.dirty_rows:
        assert data.prior(row) @ given[row] == pytest.approx(shares[0], abs=1e-12)


def test_a_class_a_row() -> None:
    rng = np.random.default_rng(20)
    data = IncompleteDataset(rng.normal(size=(130, 2, 2)), rng.permutation(130))
    X = rng.normal(size=(2, 2))
    # All votes are 1: the smallest class among the K nearest wins.
    for k in (1, 5):
        counts = world_counts(data, X, k)
        expected = [[float(Fraction(count, 2**130)) for count in row] for row in counts]
        assert counts.sum(axis=1).tolist() == [2**130] * 2
        assert world_shares(data, X, k) == pytest.approx(np.array(expected), rel=1e-10, abs=0.0)
    few = IncompleteDataset(rng.normal(size=(30, 2, 2)), rng.permutation(30))
    assert tuple(world_counts(few, X[:1], 3)[0]) == reference.ss_dc_mc(few, X[0], 3)
