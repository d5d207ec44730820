"""Boards here, over shards in this process in any order, and on two other processes."""

import pickle
from random import Random

import pytest
from cluster.board_contract import BoardContract

from cpclean.cluster.hands import HERE, Hands


class Shards:
    """A cluster within this process: values and pieces go by bytes, in random order."""

    least = 1

    def __init__(self, seed):
        self._rng = Random(seed)

    @property
    def at_once(self):
        return self._rng.randint(1, 40)

    def map(self, work, held, pieces, words):
        results = {}
        for number in self._rng.sample(range(len(pieces)), len(pieces)):
            value = pickle.loads(pickle.dumps(held.root.value))
            for step in held.steps:
                value = step.change(value, pickle.loads(pickle.dumps(step.argument)))
            results[number] = work(value, *pickle.loads(pickle.dumps(pieces[number])))
        return [results[number] for number in range(len(pieces))]

    def close(self):
        pass


class TestHere(BoardContract):
    @pytest.fixture
    def hands(self):
        return HERE


class TestShards(BoardContract):
    @pytest.fixture
    def hands(self, monkeypatch):
        # Blocks of one point, so that few points make many shards.
        monkeypatch.setattr("cpclean.queries.query.BLOCK_POINTS", 1)
        return Hands(cluster=Shards(1))


@pytest.mark.slow
class TestDask(BoardContract):
    @pytest.fixture
    def hands(self, local):
        return Hands(cluster=local)
