"""Which answers had to be, and which were avoidable, against all worlds and all orders."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain, combinations, permutations, product
from random import Random
from typing import Any

import numpy as np
import oracle
import pytest
from cleaning.samples import frame
from data.spaces.tree_samples import random_trees_of
from slow_cases import rest_slow
from strategies import lopsided

from cpclean import (
    Cell,
    CleaningSession,
    FactoredRow,
    IncompleteDataset,
    IncompleteTable,
    Points,
    is_certain,
    simulate,
    world_shares,
)
from cpclean.cleaning.effort import Effort
from cpclean.cleaning.hindsight import Hindsight

Vector = tuple[float, ...]


class Looking:
    """A session, and by the plainest means: what each row could be, and what it is known to be."""

    def __init__(self, session: CleaningSession, X: Any) -> None:
        data, view = session.view.start, session.view
        self.codes, self.n_classes = data.codes.tolist(), data.n_classes
        self.k, self.metric, self.level = session.n_neighbors, session.metric, session.sure
        self.X = [tuple(one) for one in X]
        self.before: list[dict[Vector, float]] = []  # of every row: candidates and their priors
        self.now: list[dict[Vector, float]] = []
        for row in range(data.n_rows):
            base, known = data.candidate(row, 0).tolist(), view.known_of(row).features
            parts = [
                (list(cell.column), [tuple(one) for one in cell.values], list(cell.prior))
                for cell in data.cells(row)
            ]
            inside = [column for columns, _, _ in parts for column in columns]
            outside = [column for column in range(data.n_features) if column not in inside]
            start = [dict(_summed(zip(v, p, strict=True))) for _, v, p in parts]
            then = [_narrowed(one, c, known) for one, (c, _, _) in zip(start, parts, strict=True)]
            told = {tuple(known.get(column, base[column]) for column in outside): 1.0}
            start.append({tuple(base[column] for column in outside): 1.0})
            places = [*(columns for columns, _, _ in parts), outside]
            wide = [
                {**dict.fromkeys(b, 0.0), **a} for a, b in zip(start, [*then, told], strict=True)
            ]
            self.before.append(_combined(wide, places))
            self.now.append(_combined([*then, told], places))

    def settled(self, answered: Any) -> list[bool]:
        """Whether each point is settled if only these rows are as they are known."""
        rows = [
            self.now[row] if row in answered else self.before[row] for row in range(len(self.codes))
        ]
        return [self._settled(rows, t) for t in self.X]

    def _settled(self, rows: list[dict[Vector, float]], t: Vector) -> bool:
        priors = [[Fraction(weight) for weight in row.values()] for row in rows]
        priors = [[weight / sum(row) for weight in row] for row in priors]
        asked = ([list(row) for row in rows], self.codes, self.n_classes, priors, t, self.k)
        if sum(oracle.possible_labels(*asked, self.metric)) == 1:
            return True
        return self.level is not None and bool(
            max(oracle.world_shares(*asked, self.metric)) >= self.level - 1e-12
        )

    def needed(self) -> tuple[set[int], int]:
        """The rows that are in every set of rows that settles the points, in every world.

        And how many rows the smallest of these sets has.
        """
        worlds = list(product(*self.before))
        label = {
            world: tuple(
                oracle.possible_labels(
                    [[one] for one in world], self.codes, self.n_classes, None, t, self.k,
                    self.metric,
                ).index(True)
                for t in self.X
            )
            for world in worlds
        }  # fmt: skip
        every = range(len(self.codes))
        (counted,) = np.nonzero(self.settled(every))
        found, fewest = set(every), len(every)
        for truth in product(*self.now):
            for chosen in chain.from_iterable(combinations(every, size) for size in range(6)):
                if found <= set(chosen) and len(chosen) >= fewest:
                    continue
                seen = {
                    tuple(label[world][point] for point in counted)
                    for world in worlds
                    if all(world[row] == truth[row] for row in chosen)
                }
                if len(seen) == 1:
                    found &= set(chosen)
                    fewest = min(fewest, len(chosen))
        return found, fewest


def _summed(pairs: Any) -> Iterator[tuple[Vector, float]]:
    merged: dict[Vector, float] = {}
    for value, weight in pairs:
        merged[value] = merged.get(value, 0.0) + float(weight)
    return iter(merged.items())


def _narrowed(
    given: dict[Vector, float], columns: list[int], known: Mapping[int, float]
) -> dict[Vector, float]:
    said = {place: known[column] for place, column in enumerate(columns) if column in known}
    agree = {v: w for v, w in given.items() if all(v[at] == one for at, one in said.items())}
    left = agree or given
    if not sum(left.values()):
        left = dict.fromkeys(left, 1.0)
    replaced = ((tuple(said.get(at, x) for at, x in enumerate(v)), w) for v, w in left.items())
    return dict(_summed(replaced))


def _combined(parts: list[dict[Vector, float]], places: list[list[int]]) -> dict[Vector, float]:
    found: dict[Vector, float] = {}
    order = [column for columns in places for column in columns]
    for chosen in product(*(part.items() for part in parts)):
        flat = [value for values, _ in chosen for value in values]
        vector = tuple(value for _, value in sorted(zip(order, flat, strict=True)))
        found[vector] = float(np.prod([weight for _, weight in chosen]))
    return found


def tiny(rng: Random, max_exact: int = 1000) -> IncompleteDataset:
    def number() -> float:
        return float(rng.randint(0, 3))

    rows: list[Any] = []
    priors: list[Any] = []
    for _ in range(5):
        kind, prior = rng.random(), None
        if kind < 0.2:
            rows.append([[number(), number()]])
        elif kind < 0.7:
            rows.append([[number(), number()] for _ in range(rng.randint(2, 3))])
            prior = rng.choice([None, [0.9, *[0.1 / (len(rows[-1]) - 1)] * (len(rows[-1]) - 1)]])
        else:
            cells = [Cell(column, [number(), number()]) for column in range(rng.randint(1, 2))]
            rows.append(FactoredRow([number(), number()], cells))
        priors.append(prior)
    return IncompleteDataset(
        rows, [rng.randrange(rng.randint(2, 3)) for _ in rows], priors, max_exact=max_exact
    )


def played(seed: int, sure: float | None, surprises: bool) -> tuple[CleaningSession, Looking]:
    """Questions answered, rows corrected and skipped, cells answered, and steps back."""
    rng = Random(seed)
    metric: Any = rng.choice(["euclidean", "manhattan", "hamming", lopsided])
    drawn = sure is None and metric is not lopsided and rng.random() < 0.5
    data = tiny(rng, 3 if drawn else 1000)
    X = [[float(rng.randint(0, 3)), float(rng.randint(0, 3))] for _ in range(3)]
    strategy = rng.choice(["cpclean", "random", "cells"])
    session = CleaningSession(
        data, X, rng.randint(1, 3), strategy, random_state=seed, metric=metric, sure=sure
    )
    for _ in range(rng.randint(2, 9)):
        what, row = rng.random() * (2 if surprises else 1), rng.randrange(5)
        question = session.ask()
        if what < 0.5 and question is not None:
            session.tell(**question.answer(rng.randrange(len(question.candidates))))
        elif what < 0.7:
            session.tell(row, rng.randrange(int(data.candidate_counts[row])))
        elif what < 0.8:
            session.skip(row)
        elif what < 0.9 and session.answers:
            session.undo()
        elif surprises:
            session.tell(row, value={rng.randrange(2): float(rng.randint(-1, 4))})
        else:
            column, vector = rng.randrange(2), data.candidates(row)[0].tolist()
            session.tell(row, value={column: vector[column]})
    return session, Looking(session, X)


def check_kept(effort: Effort, looking: Looking, session: CleaningSession) -> None:
    settled = np.array(looking.settled(effort.answered))
    assert settled.tolist() == session.settled.tolist()
    assert sorted(effort.answered) == sorted(session.known)
    assert sorted(effort.kept + effort.avoidable) == sorted(effort.answered)
    assert (looking.settled(effort.kept) >= settled).all()
    for row in effort.kept:
        without = np.array(looking.settled(set(effort.kept) - {row}))
        assert (settled & ~without).any()


@pytest.mark.parametrize("surprises", rest_slow([False, True]))
def test_against_all_worlds_and_orders(surprises: bool) -> None:
    found = lost = exact = drawn = more = 0
    for seed in range(20):
        session, looking = played(seed, None, surprises)
        effort = session.effort()
        check_kept(effort, looking, session)
        expected, fewest = looking.needed()
        assert set(effort.needed) <= expected
        assert len(effort.needed) <= effort.at_least <= fewest
        assert set(effort.needed) <= set(effort.kept)
        if all(len(row) == 1 for row in looking.now):
            assert set(effort.needed) == expected
            exact += bool(expected)
        found += len(effort.needed)
        more += effort.at_least > len(effort.needed)
        lost += len(effort.avoidable)
        drawn += bool(len(session.view.start.drawn_rows) and effort.needed)
    assert min(found, lost, exact, drawn, more) > 1


@pytest.mark.parametrize("surprises", rest_slow([True, False]))
def test_sessions_that_settle_what_is_sure(surprises: bool) -> None:
    lost = kept = 0
    for seed in range(30):
        session, looking = played(seed, 0.7, surprises)
        effort = session.effort()
        check_kept(effort, looking, session)
        assert effort.needed is None
        assert effort.random_at_least is None
        lost, kept = lost + len(effort.avoidable), kept + len(effort.kept)
    assert min(lost, kept) > 10


def test_all_rows_answered_in_any_order() -> None:
    """Many answers can be dropped, and each that is makes points depend on rows farther away."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = [rng.integers(0, 99, (rng.integers(1, 4), 1)).astype(float) for _ in range(30)]
        data, X = IncompleteDataset(rows, rng.integers(0, 2, 30)), rng.uniform(0, 99, (3, 1))
        session = CleaningSession(data, X, 2, "random", random_state=seed)
        truth = [int(rng.integers(len(row))) for row in rows]
        session.replay(
            {"row": row, "candidate": truth[row]}
            for row in rng.permutation(data.dirty_rows).tolist()
        )
        effort = session.effort()
        for left_out in (None, *effort.kept):
            known = data
            for row in set(effort.kept) - {left_out}:
                known = known.pin(row, truth[row])
            assert is_certain(known, X, 2).all() == (left_out is None)


@pytest.mark.parametrize("leaves", [False, True])
def test_counting_finds_the_rows_that_trying_finds(leaves: bool) -> None:
    found = more = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = [rng.integers(0, 6, (rng.integers(1, 4), 3)).astype(float) for _ in range(40)]
        data, X = IncompleteDataset(rows, rng.integers(0, 2, 40)), rng.integers(0, 6, (8, 3)) * 1.0
        if leaves:
            data = data.in_space(random_trees_of(rng, 3, 9))
        session = CleaningSession(data, X, 3)
        simulate(session, [int(rng.integers(len(row))) for row in rows], progress=False)
        effort = session.effort()
        start = Hindsight.of(session.view.version.board, effort.answered)
        tried = {row for row in effort.answered if start.depends_on(row)}
        assert set(effort.needed) == tried
        assert len(effort.needed) <= effort.at_least <= len(effort.kept)
        found, more = found + len(tried), more + effort.at_least - len(tried)
    assert min(found, more) > 3


def test_either_of_two_rows_has_to_be_cleaned() -> None:
    """Without both of them, three of the nearest rows are "b"; without one of them, two are."""
    rows = [[[0.0]], [[1.0]], [[2.0], [9.0]], [[3.0], [9.0]], [[4.0]], [[5.0]], [[6.0]]]
    data = IncompleteDataset(rows, list("aaaabbb"))
    session = CleaningSession(data, [[0.0]], 5)
    assert not session.certain.any()
    session.replay([{"row": 2, "candidate": 0}, {"row": 3, "candidate": 0}])
    effort = session.effort()
    assert (effort.needed, effort.at_least, len(effort.kept)) == ((), 1, 1)
    assert effort.random_at_least == 1.0


def recomputed(session: CleaningSession, rows: Any) -> np.ndarray:
    """Whether each point is settled in a new session with only the answers about some rows."""
    other = session.from_start()
    for row in rows:
        other.tell(row, value=session.known[row])
    return other.settled


def larger(seed: int, leaves: bool, **how: Any) -> tuple[CleaningSession, IncompleteDataset]:
    """Rows of which some are drawn, in the plain space or among leaves."""
    rng = np.random.default_rng(seed)
    rows: list[Any] = []
    for number in range(24):
        base = rng.integers(0, 6, 3).astype(float)
        size = number % 4
        cells = [Cell(column, sorted(set(rng.integers(0, 6, 4)))) for column in range(size)]
        rows.append(FactoredRow(base, cells))
    data = IncompleteDataset(rows, rng.integers(0, 2, 24), max_exact=8, n_draws=30)
    if leaves:
        data = data.in_space(random_trees_of(rng, 3, 9))
    session = CleaningSession(data, rng.integers(0, 6, (15, 3)).astype(float), 3, **how)
    truth = [int(rng.integers(count)) for count in data.candidate_counts]
    simulate(session, truth, progress=False)
    session.replay({"row": row, "candidate": truth[row]} for row in data.dirty_rows[:4].tolist())
    return session, data


@pytest.mark.parametrize(
    ("leaves", "sure"), rest_slow([(True, None), (True, 0.8), (False, None), (False, 0.8)], 2)
)
def test_drawn_rows_and_leaves_against_new_sessions(leaves: bool, sure: float | None) -> None:
    session, data = larger(1, leaves, sure=sure)
    effort, settled = session.effort(), session.settled
    assert len(data.drawn_rows)
    assert effort.all_settled
    assert effort.avoidable
    assert effort.kept
    assert (recomputed(session, effort.kept) >= settled).all()
    for row in effort.kept:
        assert (settled & ~recomputed(session, set(effort.kept) - {row})).any()
    if sure is None:
        check_needed_in_some_worlds(effort, session, data)


def check_needed_in_some_worlds(
    effort: Effort, session: CleaningSession, data: IncompleteDataset
) -> None:
    assert effort.needed
    rng = np.random.default_rng(0)
    for row in effort.needed:
        everything = session.from_start()
        for other in data.dirty_rows.tolist():
            if other != row:
                known = session.known.get(other)
                number = int(rng.integers(data.candidate_counts[other]))
                value = data.candidate(other, number).tolist() if known is None else known
                everything.tell(other, value=value)
        assert not everything.certain.all()


def test_completions_count_one_by_one() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.integers(0, 9, (rng.integers(1, 4), 2)).astype(float) for _ in range(20)]
    data, X = IncompleteDataset(rows, rng.integers(0, 2, 20)), rng.integers(0, 9, (9, 2)) * 1.0
    points = Points([X[:3], X[3:7], X[7:]], [[0.5, 0.5, 0.0], None, None])
    truth = np.zeros(20, dtype=int)
    session = CleaningSession(data, points, 3)
    simulate(session, truth, progress=False)
    alone = CleaningSession(data, np.delete(X, 2, axis=0), 3)
    alone.replay(session.answers)
    effort = session.effort()
    assert effort == alone.effort()
    assert effort.needed


def test_a_table_with_true_values_that_were_no_candidates() -> None:
    table = IncompleteTable(frame(), label="buys")
    session = CleaningSession(table, frame().dropna(), 1)
    session.tell(1, value={"age": 44.4})
    session.tell(2, value={"city": "C"})
    session.tell(4, value={"age": 1.0})
    effort = session.effort()
    assert effort.answered == (1, 2, 4)
    again = pickle.loads(pickle.dumps(session))
    assert again.effort() == effort
    assert (recomputed(session, effort.kept) >= session.settled).all()
    session.tell(0, value={"age": 60.0})  # it has no hole
    assert session.effort().n_rows == 4


def test_to_find_out_whether_a_row_is_needed_to_be_sure_is_a_knapsack_problem() -> None:
    """As the notes of `Effort` have it: no set of the others, left open, fits two bounds."""
    level, found = 0.8, set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p, q = rng.uniform(0.01, 0.12, 5), rng.uniform(0.1, 0.35, 5)
        beside_a, beside_b, far = [0.0], [100.0], [50.0]
        rows = [[beside_a, beside_b, far]] * 5 + [[beside_b, far], [[1.0]], [[101.0]]]
        priors = [*([a, b, 1 - a - b] for a, b in zip(p, q, strict=True)), [0.5, 0.5], None, None]
        data = IncompleteDataset(rows, [1] * 6 + [0, 0], priors)
        settled, fits = False, False
        for size in range(6):
            for cleaned in combinations(range(5), size):
                now = data
                for row in cleaned:
                    now = now.pin(row, 2)
                shares = world_shares(now, [beside_a, beside_b], 1)
                settled |= bool((shares.max(axis=1) >= level).all())
                left = [row for row in range(5) if row not in cleaned]
                both = np.prod(1 - p[left]) >= level, np.prod(1 - q[left]) <= 2 * (1 - level)
                fits |= all(both)
        assert settled == fits
        found.add(settled)
    assert found == {True, False}


def test_nothing_answered() -> None:
    data = IncompleteDataset([[[0.0], [5.0]], [[1.0]]], ["a", "b"])
    session = CleaningSession(data, [[0.0]], 1)
    session.skip(0)
    assert session.effort() == Effort((), (), (), (), 1, False, 0)
    assert session.effort().random_at_least == 0


@pytest.mark.parametrize("needed", [1, 2, 4])
def test_the_last_needed_row_of_a_random_order(needed: int) -> None:
    rows = tuple(range(needed))
    places = [max(order.index(row) for row in rows) + 1 for order in permutations(range(6))]
    effort = Effort(rows, rows, (), rows, 6, True)
    assert effort.random_at_least == pytest.approx(np.mean(places))
