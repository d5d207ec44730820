"""Exact counts out of prime fields: primes, inverses and the Chinese remainder theorem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from cpclean.data.incomplete import Ints

# Products of two residues must fit into 64 bits, and no number of candidates may be a multiple of a
# prime: rows have fewer than 2^31 candidates, and the primes used lie just below 2^32.
_BELOW = 2**32


def product(factors: Iterable[int]) -> int:
    """The product of many ints, multiplying numbers of equal length with each other."""
    numbers = list(factors) or [1]
    while len(numbers) > 1:
        halves = [a * b for a, b in zip(numbers[::2], numbers[1::2], strict=False)]
        numbers = halves + ([numbers[-1]] if len(numbers) % 2 else [])
    return numbers[0]


def primes_beyond(bound: int) -> list[int]:
    """Primes whose product exceeds the bound.

    >>> len(primes_beyond(10**30))
    4
    """
    found: list[int] = []
    reached = 1
    for prime in _primes():
        found.append(prime)
        reached *= prime
        if reached > bound:
            break
    return found


def inverses(sizes: Ints, prime: int) -> npt.NDArray[np.uint64]:
    """1 / size in the prime field, element by element."""
    distinct, place = np.unique(sizes, return_inverse=True)
    inverse = np.array([pow(int(size), -1, prime) for size in distinct], dtype=np.uint64)
    return inverse[place]


def combined(shares: Sequence[int], primes: Sequence[int], whole: int) -> int:
    """The number from 0 to `whole` whose share of the whole is known in every prime field.

    >>> primes = primes_beyond(12)
    >>> combined([5 * pow(12, -1, prime) for prime in primes], primes, 12)
    5
    """
    number, modulus = 0, 1
    for share, prime in zip(shares, primes, strict=True):
        if modulus > whole:
            break
        wanted = share * whole % prime
        number += modulus * ((wanted - number) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return number


def _primes() -> Iterator[int]:
    yield from _known_primes(64)
    for candidate in range(_known_primes(64)[-1] - 2, 2, -2):
        if _is_prime(candidate):
            yield candidate


@cache
def _known_primes(count: int) -> tuple[int, ...]:
    """The largest primes below the limit, found once."""
    found: list[int] = []
    candidate = _BELOW - 1
    while len(found) < count:
        if _is_prime(candidate):
            found.append(candidate)
        candidate -= 2
    return tuple(found)


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test; these bases decide every number below 2^32 and beyond."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11):
        if number % base == 0:
            return number == base
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return number > 1
