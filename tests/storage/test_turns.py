"""Turns of threads: first come, first served; nobody is left waiting."""

import threading

from waiting import PATIENCE, until

from cpclean.storage.turns import Turns


def test_who_comes_first_is_served_first():
    turns, served = Turns(), []

    def work(number):
        assert turns.take(PATIENCE)
        served.append(number)
        turns.give()

    assert turns.take(1)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for number, one in enumerate(threads):
        one.start()
        until(lambda n=number + 1: len(turns._waiting) == n)
    turns.give()
    for one in threads:
        one.join()
    assert served == list(range(20))


def test_who_gives_up_is_passed_over():
    turns, came = Turns(), []
    assert turns.take(1)
    later = threading.Thread(target=lambda: came.append(turns.take(0.05)))
    later.start()
    last = threading.Thread(target=lambda: came.append(turns.take(PATIENCE)))
    until(lambda: turns._waiting or came)
    last.start()
    later.join()
    turns.give()
    last.join()
    assert came == [False, True]
    turns.give()
    assert turns.take(0.01)


def test_one_at_a_time_whatever_happens():
    turns, inside, most, taken = Turns(), [], [], []

    def work(seed):
        for step in range(200):
            if turns.take(0.0005 * ((seed + step) % 4)):
                inside.append(seed)
                most.append(len(inside))
                taken.append(seed)
                inside.remove(seed)
                turns.give()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert set(most) == {1}
    assert len(taken) > 16
    assert turns.take(1)
    assert not turns._waiting
