"""Means and quartiles are the same however the numbers are split, and as NumPy defines them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cpclean.data.exact_mean import ExactSum, exact_mean
from cpclean.data.ranks import quartiles
from cpclean.data.streamed.rank_search import RankSearch

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
COARSE = st.integers(-5, 5).map(float)
NUMBERS = arrays(np.float64, st.integers(1, 40), elements=st.one_of(FINITE, COARSE))


@settings(max_examples=50, deadline=None)
@given(NUMBERS, st.integers(1, 7))
def test_a_mean_is_rounded_once(numbers: np.ndarray, step: int) -> None:
    exact = sum(map(Fraction, numbers.tolist())) / len(numbers)
    total = ExactSum()
    for at in range(0, len(numbers), step):
        total.add(numbers[at : at + step])
    assert exact_mean(numbers) == total.mean == float(exact)


def test_a_mean_of_infinite_numbers_is_infinite() -> None:
    assert exact_mean(np.array([1.0, np.inf])) == np.inf


@settings(max_examples=50, deadline=None)
@given(arrays(np.float64, st.integers(1, 40), elements=st.one_of(st.floats(-1e6, 1e6), COARSE)))
def test_quartiles_are_those_of_numpy(numbers: np.ndarray) -> None:
    assert quartiles(numbers) == tuple(np.percentile(numbers, [25, 75]).tolist())


@pytest.mark.parametrize("shape", ["spread", "ties", "tail", "sorted", "two"])
def test_ranks_are_found_in_few_passes(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.data.streamed.rank_search._MOST_KEPT", 300)
    rng = np.random.default_rng(len(shape))
    for size in (1, 2, 3, 10, 997, 5000):
        numbers = {
            "spread": lambda n: rng.normal(size=n),
            "ties": lambda n: rng.integers(0, 4, n).astype(float),
            "tail": lambda n: np.exp(rng.normal(size=n) * 20),
            "sorted": lambda n: np.arange(float(n)),
            "two": lambda n: (np.arange(n) % 64 == 0).astype(float),
        }[shape](size)
        sample = numbers[:: max(1, size // 200)]  # of a sorted or periodic column, a bad one
        search = RankSearch(size, numbers.min(), numbers.max(), sample)
        passes = 0
        while not search.is_done:
            for part in np.array_split(numbers, 7):
                search.add(part)
            search.end_pass()
            passes += 1
            assert passes < 20
        assert search.quartiles == quartiles(numbers)
