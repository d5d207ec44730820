"""Primes, inverses and the Chinese remainder theorem."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice
from random import Random

import numpy as np
import pytest

from cpclean.queries import residues


def is_prime_by_division(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, math.isqrt(number) + 1))


def test_small_primes() -> None:
    expected = [number for number in range(2000) if is_prime_by_division(number)]
    assert [number for number in range(2, 2000) if residues._is_prime(number)] == expected


@pytest.mark.parametrize("number", [2047, 3277, 1373653, 25326001, 3215031751, 4294967295])
def test_pseudoprimes_do_not_pass(number: int) -> None:
    # Composite, yet strong probable primes to base 2; to 2 and 3; to 2, 3 and 5; to 2, 3, 5 and 7.
    assert not residues._is_prime(number)


def test_the_primes_used() -> None:
    primes = list(islice(residues._primes(), 80))
    assert primes[0] == 4294967291  # the largest below 2^32
    assert primes == sorted(set(primes), reverse=True)
    for prime in primes[:3] + primes[63:66]:
        assert is_prime_by_division(prime)
    # No prime in between is left out, also where the list of known primes ends.
    for number in range(primes[-1], 2**32):
        if number not in primes and number % 2 and number % 3 and number % 5:
            assert not residues._is_prime(number)
    assert all(2**31 < prime < 2**32 for prime in primes)


def test_as_many_primes_as_needed() -> None:
    for bound in (1, 2**31, 2**32 - 5, 2**32, 10**30, 3**1500, 7**3000):
        primes = residues.primes_beyond(bound)
        assert math.prod(primes) > bound
        assert math.prod(primes[:-1]) <= bound
        assert len(set(primes)) == len(primes)
    assert len(residues.primes_beyond(3**1500)) > 64


def test_inverses() -> None:
    prime = residues.primes_beyond(1)[0]
    sizes = np.array([1, 2, 3, 5, 2, 390_625, 2**31 - 1, 3, 1])
    inverse = residues.inverses(sizes, prime)
    assert inverse.dtype == np.uint64
    assert [int(i) * int(size) % prime for i, size in zip(inverse, sizes, strict=True)] == [1] * 9


def test_combined() -> None:
    rng = Random(1)
    for _ in range(300):
        sizes = [
            rng.choice([1, 2, 3, 4, 5, 12, 390_625, 2**31 - 1]) for _ in range(rng.randint(1, 40))
        ]
        whole = math.prod(sizes)
        number = rng.choice([0, 1, whole, whole - 1, rng.randint(0, whole)])
        primes = residues.primes_beyond(whole)
        shares = [number * pow(whole, -1, prime) % prime for prime in primes]
        assert residues.combined(shares, primes, whole) == number
        # More primes than needed do no harm: points of one block share the longest list.
        more = residues.primes_beyond(whole**2 * 2**64)
        shares = [number * pow(whole, -1, prime) % prime for prime in more]
        assert residues.combined(shares, more, whole) == number


def test_a_share_is_a_fraction_of_the_whole() -> None:
    primes = residues.primes_beyond(12)
    for number in range(13):
        share = Fraction(number, 12)
        residue = [share.numerator * pow(share.denominator, -1, p) % p for p in primes]
        assert residues.combined(residue, primes, 12) == number


def test_product() -> None:
    rng = Random(2)
    assert residues.product([]) == 1
    assert residues.product(iter([7])) == 7
    for length in (2, 3, 5, 64, 1001):
        factors = [rng.randint(1, 10**6) for _ in range(length)]
        assert residues.product(factors) == math.prod(factors)
