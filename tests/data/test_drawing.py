"""Draws in place of rows with many candidates: what they depend on, and how they are spread."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from itertools import product

import numpy as np
import pytest

from cpclean import Cell, FactoredRow, IncompleteDataset
from cpclean.data.drawing import inverted, uniforms
from cpclean.errors import DataError

N_DRAWS = 64


def holey(n_cells: int = 7, n_values: int = 5, shift: float = 0.0) -> FactoredRow:
    """A row of 5^7 candidates; its values say which cell and which value they are."""
    values = shift + np.arange(n_values, dtype=float)
    prior = np.arange(1, n_values + 1) / (n_values * (n_values + 1) / 2)
    cells = [Cell(column, 10.0 * column + values, prior) for column in range(n_cells)]
    return FactoredRow([math.nan] * n_cells, cells)


def data_of(rows: list[object], **options: int) -> IncompleteDataset:
    return IncompleteDataset(rows, [number % 2 for number in range(len(rows))], **options)


def draws(data: IncompleteDataset, row: int) -> np.ndarray:
    return data.sampled.candidates(row)


# -- what draws depend on --------------------------------------------------------------------------


def test_draws_depend_on_seed_row_and_column_alone() -> None:
    rows = [holey(), holey(), np.zeros(7), holey()]
    data = data_of(rows, max_exact=100)
    assert data.drawn_rows.tolist() == [0, 1, 3]
    again = data_of(rows, max_exact=100)
    for row in (0, 1, 3):
        assert (draws(data, row) == draws(again, row)).all()
    assert (draws(data, 0) != draws(data, 1)).any()
    other = data_of(rows, max_exact=100, random_state=1)
    assert (draws(data, 0) != draws(other, 0)).any()
    # Columns are drawn independently of each other, although their priors are the same.
    places = draws(data, 0) - 10.0 * np.arange(7)
    assert len({tuple(column) for column in places.T}) == 7


def test_other_rows_and_other_limits_change_nothing() -> None:
    data = data_of([holey(), holey(), holey()], max_exact=100)
    more = data_of([np.ones(7), holey(), holey(shift=0.5), np.ones(7)], max_exact=1000)
    assert (draws(data, 1) == draws(more, 1)).all()
    assert (draws(data, 2) + 0.5 == draws(more, 2)).all()


def test_rows_keep_their_draws_when_they_are_taken() -> None:
    data = data_of([holey() for _ in range(5)], max_exact=100)
    some = data.take([4, 1, 1])
    for place, row in enumerate([4, 1, 1]):
        assert (draws(some, place) == draws(data, row)).all()
    fewer = some.take([2, 0])
    assert (draws(fewer, 0) == draws(data, 1)).all()
    assert (draws(fewer, 1) == draws(data, 4)).all()


def test_a_cell_that_becomes_known_leaves_the_draws_of_the_others() -> None:
    data = data_of([holey(), holey()], max_exact=100)
    before = draws(data, 0)
    known = data.given(0, {2: 22.0})
    after = draws(known, 0)
    assert set(after[:, 2]) == {22.0}
    others = [0, 1, 3, 4, 5, 6]
    assert (after[:, others] == before[:, others]).all()
    assert (draws(known, 1) == draws(data, 1)).all()
    # A value that is no candidate, and more cells; whether draws were looked at before or not.
    fresh = data_of([holey(), holey()], max_exact=100)
    for start in (data, fresh):
        twice = start.given(0, {2: 22.0, 5: -1.0})
        assert (draws(twice, 0)[:, [0, 1, 3, 4, 6]] == before[:, [0, 1, 3, 4, 6]]).all()
        assert set(draws(twice, 0)[:, 5]) == {-1.0}
    assert (draws(known.unpin(0), 0) == before).all()
    # Once few candidates are left, they are all there.
    few = data.given(0, {0: 0.0, 1: 10.0, 2: 20.0, 3: 30.0, 4: 40.0})
    assert len(draws(few, 0)) == 25
    assert few.drawn_rows.tolist() == [1]
    none = few.pin(1, 0)
    assert none.is_exact
    assert none.sampled is none


def test_another_process_draws_the_same() -> None:
    code = (
        "import numpy as np\n"
        "from cpclean.data.drawing import uniforms\n"
        "rows, columns = np.array([0, 3, 10**9]), np.array([5, 0, 7])\n"
        "print(uniforms(12, rows, columns, 8).tolist())\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows, columns = np.array([0, 3, 10**9]), np.array([5, 0, 7])
    assert run.stdout.strip() == str(uniforms(12, rows, columns, 8).tolist())
    # Written down: other numbers would change the questions of sessions that are saved.
    known = [0.46695241982990354, 0.5025634469067564, 0.22427888843414173, 0.983311812668062]
    assert uniforms(0, np.array([0]), np.array([0]), 4).tolist() == [known]


# -- how they are spread ---------------------------------------------------------------------------


def test_every_draw_has_the_prior_of_the_product() -> None:
    """A draw of its own, over many rows: its cells are independent, each with its own prior."""
    priors = [np.array([0.1, 0.0, 0.6, 0.3]), np.array([0.5, 0.25, 0.25])]
    cells = [Cell(column, np.arange(len(prior)), prior) for column, prior in enumerate(priors)]
    n_rows = 4000
    sampled = data_of([FactoredRow([0, 0], cells)] * n_rows, max_exact=2, n_draws=4).sampled
    found = np.stack([sampled.candidates(row) for row in range(n_rows)]).astype(int)
    assert found.shape == (n_rows, 4, 2)
    seen = [Counter(map(tuple, found[:, draw].tolist())) for draw in range(4)]
    for one in seen:
        for first, second in product(range(4), range(3)):
            chance = priors[0][first] * priors[1][second]
            spread = math.sqrt(n_rows * chance * (1 - chance))
            assert abs(one[first, second] - n_rows * chance) <= 4.5 * spread
            assert chance > 0 or (first, second) not in one


@pytest.mark.parametrize("n_draws", [2, 3, 7, 64, 101])
def test_one_draw_falls_into_each_stratum_of_its_half(n_draws: int) -> None:
    rows, columns = np.arange(50), np.arange(50) % 7
    numbers = uniforms(5, rows, columns, n_draws)
    assert numbers.shape == (50, n_draws)
    assert ((numbers >= 0) & (numbers < 1)).all()
    middle = (n_draws + 1) // 2
    for half in (numbers[:, :middle], numbers[:, middle:]):
        size = half.shape[1]
        assert (np.sort(np.floor(half * size), axis=1) == np.arange(size)).all()
    if n_draws == 64:  # in an order of its own
        assert len({tuple(np.argsort(one[:middle])) for one in numbers}) == 50
        assert (np.argsort(numbers[:, :middle]) != np.argsort(numbers[:, middle:])).any()


def test_counts_of_values_are_near_to_their_prior() -> None:
    data = data_of([holey(), np.zeros(7)], max_exact=100, n_draws=N_DRAWS)
    found = draws(data, 0)
    assert found.shape == (N_DRAWS, 7)
    assert data.sampled.prior(0).tolist() == [1 / N_DRAWS] * N_DRAWS
    for column in range(7):
        times = [int((found[:, column] == 10 * column + value).sum()) for value in range(5)]
        for value in range(5):
            assert abs(times[value] - N_DRAWS * (value + 1) / 15) < 4  # at most 2 off in each half


def test_numbers_stand_for_values_that_weigh() -> None:
    lists = [[0.0, 0.5, 0.0, 0.5, 0.0], [1.0], [0.25, 0.25, 0.5], [0.0, 1e-300, 1.0], [0.1] * 10]
    sizes = np.array([len(one) for one in lists])
    almost = np.nextafter(1.0, 0.0)
    numbers = np.tile([0.0, 0.25, 0.5, 0.75, almost], (len(lists), 1))
    found = inverted(np.concatenate(lists), sizes, np.arange(5), numbers)
    assert found[0].tolist() == [1, 1, 3, 3, 3]
    assert found[1].tolist() == [0] * 5
    assert found[2].tolist() == [0, 1, 2, 2, 2]
    assert found[3, 1:].tolist() == [2] * 4
    assert found[4].tolist() == [0, 2, 5, 7, 9]


def test_weights_of_zero_are_never_drawn() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        sizes = rng.integers(1, 7, size=30)
        lists = [rng.choice([0.0, 0.0, 1.0, 1e-12, 3.0], size) for size in sizes]
        for one in lists:
            one[rng.integers(len(one))] = 1.0
        flat = np.concatenate([one / one.sum() for one in lists])
        numbers = rng.choice([0.0, 0.5, np.nextafter(1.0, 0.0), rng.random()], (30, 40))
        found = inverted(flat, sizes, np.arange(30), numbers)
        chosen = np.array([lists[row][found[row]] for row in range(30)])
        assert (chosen > 0).all()


@pytest.mark.parametrize("n_draws", [2, 3, 5, 160])
def test_halves_are_the_first_and_the_second_half(n_draws: int) -> None:
    rows = [holey(), np.zeros(7), holey(), [[1.0] * 7, [2.0] * 7]]
    data = data_of(rows, max_exact=100, n_draws=n_draws)
    middle = (n_draws + 1) // 2
    for half, kept in zip(data.halves(), (slice(0, middle), slice(middle, n_draws)), strict=True):
        own = draws(data, 0)[kept]
        assert half.candidates(0).tolist() == own.tolist()
        assert half.prior(0).tolist() == [1 / len(own)] * len(own)
        assert half.candidates(1).tolist() == [[0.0] * 7]
        assert half.prior(3).tolist() == [0.5, 0.5]
        assert half.is_exact
    exact = data_of([holey(2)], max_exact=100)
    assert exact.halves() == (exact, exact)


# -- limits ----------------------------------------------------------------------------------------


def test_rows_up_to_the_limit_stay_as_they_are() -> None:
    rows = [holey(3), holey(3), np.zeros(3)]
    exact, drawn = data_of(rows, max_exact=125), data_of(rows, max_exact=124)
    assert exact.is_exact
    assert exact.sampled is exact
    assert drawn.drawn_rows.tolist() == [0, 1]
    assert (drawn.sampled.n_worlds, drawn.n_worlds) == (160**2, 125**2)


def test_draws_that_do_not_differ_are_one_value() -> None:
    cells = [Cell(column, [0.0, 1.0], [1.0, 0.0]) for column in range(4)]
    data = data_of([FactoredRow([9.0] * 4, cells), np.ones(4)], max_exact=3)
    assert (draws(data, 0) == 0.0).all()
    assert data.sampled.prior(0).sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_exact": 0}, "max_exact must be an int of at least 1; got 0"),
        ({"max_exact": 2.5}, "max_exact must be an int of at least 1; got 2.5"),
        ({"max_exact": True}, "max_exact must be an int of at least 1; got True"),
        ({"n_draws": 1}, "n_draws must be an int of at least 2; got 1"),
        ({"random_state": -1}, r"random_state must be an int in \[0, 2\*\*64\); got -1"),
        ({"random_state": 2**64}, r"random_state must be an int in \[0, 2\*\*64\); got 1844"),
        ({"random_state": None}, r"random_state must be an int in \[0, 2\*\*64\); got None"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        data_of([holey(2)], **options)


def test_large_seeds_and_limits() -> None:
    rows = [holey(40), np.zeros(40)]
    for limit in (100, 2**62, 2**70, 10**40):
        data = data_of(rows, max_exact=limit, random_state=2**64 - 1)
        assert not data.is_exact  # nobody goes through so many
        assert draws(data, 0).shape == (160, 40)
