"""HoloClean's answers for the holes of a table: repairs, candidates, weights of candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cpclean.data.coding import objects
from cpclean.data.columns import OTHER, Column
from cpclean.data.holoclean.counts import Attribute, Bools, Ints
from cpclean.data.holoclean.holo_model import (
    CellDomains,
    HoloModel,
    HoloSettings,
    fit_model,
    softmax,
)
from cpclean.data.ragged import Ragged
from cpclean.data.rows import Floats


@dataclass(frozen=True)
class _Answers:
    """The domains of all holes of one attribute, the chances of their values, and the repairs."""

    rows: Ints  # the rows of the holes, in ascending order
    domains: CellDomains
    chances: Floats
    best: Ints


class HoloCells:
    """What a model says about the holes of the table it was learnt from.

    Every row is looked at as it stands: its other holes say nothing. A hole of a column without
    any trusted value has no answer.
    """

    def __init__(self, model: HoloModel, holes: Bools) -> None:
        self.model = model
        self._codes = np.column_stack([one.codes for one in model.attributes])
        self._answers: dict[int, _Answers] = {}
        for a, one in enumerate(model.attributes):
            rows = np.flatnonzero(holes[:, a])
            if one.size and len(rows):
                self._answers[a] = _Answers(rows, *model.chances(a, self._codes[rows]))

    def filled(self, columns: Sequence[Column]) -> list[Column]:
        """The columns with the likeliest value in every hole."""
        result = []
        for a, column in enumerate(columns):
            values = column.values.copy()
            if found := self._answers.get(a):
                values[found.rows] = objects(self.model.attributes[a].values)[found.best]
            result.append(replace(column, values=values))
        return result

    def domains(self, a: int, *, best: bool = False) -> Ragged:
        """The domains of all holes of a column, in row order; only the likeliest values if `best`.

        Numbers are in ascending order, categories from the likeliest on.
        """
        found, one = self._answers[a], self.model.attributes[a]
        codes, sizes = found.best, np.ones(len(found.best), dtype=np.int64)
        if not best:
            codes, sizes = found.domains.values, np.diff(found.domains.starts)
            if one.kind == "categorical":
                codes = codes[np.lexsort((-found.chances.round(12), found.domains.cells))]
        return Ragged.sized(objects(one.values)[codes], sizes)

    def candidates(self, row: int, a: int) -> tuple[Any, ...]:
        """The domain of a hole, as `domains` has it."""
        return tuple(self.domains(a)[self._place(row, a)].tolist())

    def repair(self, row: int, a: int) -> Any:
        """The likeliest value of a hole."""
        return self.model.attributes[a].values[self._answers[a].best[self._place(row, a)]]

    def _place(self, row: int, a: int) -> int:
        return int(np.searchsorted(self._answers[a].rows, row))

    def __contains__(self, a: int) -> bool:
        return a in self._answers

    def weights(self, row: int, a: int, values: tuple[Any, ...]) -> Floats:
        """How likely each candidate of a hole is, for candidates from wherever.

        If they are the hole's domain: the softmax over it. Otherwise the softmax is over the
        domain and the candidates' categories; those of a category, such as numbers in one bin,
        share its chance. The chance of a bin without a candidate goes to the candidates nearest to
        its mean; that of a category to "other", which also stands for all values not looked at.
        """
        if a not in self._answers:
            return np.ones(len(values))
        times = Counter(values)
        distinct = tuple(times)
        shares = dict(zip(distinct, self._shares(row, a, distinct), strict=True))
        return np.array([shares[value] / times[value] for value in values])

    def _shares(self, row: int, a: int, values: tuple[Any, ...]) -> Floats:
        one = self.model.attributes[a]
        codes = one.coded(values)
        domain, chances = self._of(row, a)
        looked_at = np.union1d(domain, codes[codes >= 0])
        unseen = codes < 0
        if len(looked_at) == one.size:  # nothing is left that "other" could be
            unseen &= np.array([value is not OTHER for value in values])
        if unseen.any() or len(looked_at) > len(domain):
            features = self._features(row, a, looked_at)
            others = [value is OTHER for value, new in zip(values, unseen, strict=True) if new]
            features = np.concatenate([features, self._rest(row, a, features, others)])
            scores = features @ self.model.weights[a]
            chances = softmax(scores, np.array([0, len(scores)]))
        shares = np.zeros(len(values))
        shares[unseen] = chances[len(looked_at) :]
        for code, chance in zip(looked_at.tolist(), chances.tolist(), strict=False):
            takers = codes == code
            if not takers.any():
                takers = stand_ins(one, code, values)
            if takers.any():
                shares[takers] += chance / takers.sum()
        return shares

    def _features(self, row: int, a: int, codes: Ints) -> Floats:
        domains = CellDomains(np.array([0, len(codes)]), codes)
        return self.model.features(a, self._codes[[row]], domains)

    def _rest(self, row: int, a: int, features: Floats, others: list[bool]) -> Floats:
        """Features of candidates that were never observed: none, or all that is left of "other"."""
        rest = np.zeros((len(others), features.shape[1]))
        if any(others):
            context = self._codes[row]
            known = [
                pair is None or (context[b] >= 0 and pair.given[context[b]] > 0)
                for b, pair in enumerate(self.model.pairs[a])
            ]
            rest[others.index(True)] = np.where(known, 1.0 - features.sum(axis=0), 0.0).clip(0.0)
        return rest

    def _of(self, row: int, a: int) -> tuple[Ints, Floats]:
        found, number = self._answers[a], self._place(row, a)
        part = slice(found.domains.starts[number], found.domains.starts[number + 1])
        return found.domains.values[part], found.chances[part]


def stand_ins(one: Attribute, code: int, values: tuple[Any, ...]) -> Bools:
    """The candidates that stand for a category without a candidate of its own."""
    if one.kind == "categorical":
        return np.array([value is OTHER for value in values])
    gaps = np.abs(np.array(values) - one.values[code])
    return np.asarray(gaps == gaps.min())


def holo_cells(columns: Sequence[Column], holes: Bools, settings: HoloSettings) -> HoloCells:
    """Learn from the cells of a table that are no holes, and answer for those that are."""
    missing = np.column_stack([column.missing for column in columns])
    return HoloCells(fit_model(columns, ~(holes | missing), settings), holes)
