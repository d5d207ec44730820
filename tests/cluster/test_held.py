"""Values by name, the steps they came about by, and what a worker keeps of them."""

import pickle

import numpy as np
import pytest
from cluster.pieces import grown, plus

from cpclean.cluster import worker_tasks
from cpclean.cluster.hands import HERE, Hands
from cpclean.cluster.held import MOST_STEPS, Held
from cpclean.cluster.worker_tasks import NotKept, Order, packed, perform, unpacked


@pytest.fixture(autouse=True)
def empty_worker():
    worker_tasks.forget()
    yield
    worker_tasks.forget()


def ordered(held, steps, numbers):
    whole = len(steps) == len(held.steps)
    order = Order(held.root.key, tuple(steps), whole, plus, (np.array(numbers),))
    return unpacked(perform(packed(held.root.value), packed(order)))


def test_a_worker_repeats_the_steps_that_it_has_not_seen():
    held = Held.of(10).then(grown, 1).then(grown, 2)
    later = held.then(grown, 4)
    assert ordered(held, held.steps, [0, 5]) == [13, 18]
    # The last step alone is enough for a worker that has the value before it.
    assert ordered(later, later.steps[-2:], [0]) == [17]
    assert ordered(later, later.steps[-1:], [0]) == [17]


def test_a_worker_that_has_nothing_says_so():
    held = Held.of(10).then(grown, 1).then(grown, 2)
    assert isinstance(ordered(held, held.steps[-1:], [0]), NotKept)
    assert ordered(held, held.steps, [0]) == [13]


def test_two_ways_from_one_value_are_kept_apart():
    held = Held.of(1).then(grown, 1)
    one, other = held.then(grown, 10), held.then(grown, 100)
    assert ordered(one, one.steps, [0]) == [12]
    assert ordered(other, other.steps[-2:], [0]) == [102]
    assert ordered(one, one.steps[-1:], [0]) == [12]


def test_what_is_not_kept_any_more_is_made_again():
    held = Held.of(0)
    for _ in range(worker_tasks.MOST_KEPT + 5):
        held = held.then(grown, 1)
    assert ordered(held, held.steps, [0]) == [len(held.steps)]
    first = Held(1, held.root, held.steps[:1])
    assert isinstance(ordered(held, held.steps[1:2], [0]), NotKept)
    assert ordered(first, first.steps, [0]) == [1]


def test_a_long_way_begins_anew():
    held = Held.of(0)
    for _ in range(MOST_STEPS):
        held = held.then(grown, 1)
    assert len(held.steps) == MOST_STEPS
    after = held.then(grown, 1)
    assert (after.value, after.steps, after.root.value) == (MOST_STEPS + 1, (), MOST_STEPS + 1)
    assert after.key != held.key


class Counting:
    """A cluster in this process that notes the sizes of its pieces."""

    def __init__(self, at_once, least=1):
        self.at_once, self.least, self.sizes = at_once, least, []

    def map(self, work, held, pieces, words):
        self.sizes = [len(one[0]) for one in pieces]
        return [work(pickle.loads(pickle.dumps(held.value)), *one) for one in pieces]

    def close(self):
        pass


@pytest.mark.parametrize("at_once", [1, 2, 3, 50])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000])
def test_pieces_are_whole_units_and_come_back_in_order(at_once, size):
    cluster = Counting(at_once)
    numbers = np.arange(size)
    found = Hands(cluster=cluster).over(plus, Held.of(7), (numbers,), 64)
    assert found == HERE.over(plus, Held.of(7), (numbers,), 64) == (7 + numbers).tolist()
    assert sum(cluster.sizes) == size
    assert all(one % 64 == 0 for one in cluster.sizes[:-1])
    assert len(cluster.sizes) <= 4 * at_once


def test_little_work_stays_here():
    cluster = Counting(2, least=10)
    Hands(cluster=cluster).over(plus, Held.of(7), (np.arange(9),), 4)
    assert cluster.sizes == []
    Hands(cluster=cluster).over(plus, Held.of(7), (np.arange(10),), 4)
    assert cluster.sizes == [4, 4, 2]
