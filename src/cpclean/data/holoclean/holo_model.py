"""HoloClean, the imputation case: a softmax over the likely values of every empty cell.

1. Values become categories; count them, and the pairs of values that stand in one row.
2. Correlation of attribute A given B: 1 - H(A|B) / log|dom A|.
3. The domain of an empty cell of A: the union, over the attributes B that correlate more than
   `correlation` and have a value b in the row, of the values v with
   n(B=b, A=v) > share * n(B=b); if that is empty, the `fallback` most frequent values.
4. Features of (cell, v): P(v | B=b) for every B with a value b in the row, and the frequency of v.
   Their weights are tied over all cells of A: one for each ordered pair, one for each attribute.
5. The chance of v is a softmax over the domain of the weighted features. Weights minimise the
   cross-entropy, summed over observed cells, plus decay / 2 times the sum of their squares.
6. The likeliest value is the repair; the softmax vector is a prior over the candidates.

n(B=b) counts rows in which A is known, as P(v | B=b) does. An observed cell is learnt from as if
it were empty: it is left out of the counts of pairs that its own domain and features come from,
and plays no part if its value is not in that domain. A single value leaves no choice to learn from:
there the most frequent values join it. Weights of different attributes A do not meet in any cell,
so each attribute is trained by itself, and memory holds the features of one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cpclean.data.columns import Column
from cpclean.data.holoclean.counts import (
    Attribute,
    Bools,
    Ints,
    PairCounts,
    attributes_of,
    pair_counts,
)
from cpclean.data.rows import Floats, is_whole
from cpclean.errors import TableError

# Features held at a time, in doubles: an attribute with more is trained on a sample of its cells.
_MOST_FEATURES = 10_000_000
# Cells are looked at in blocks. With the usual thresholds, k attributes propose at most 9 k values
# for a cell, with k features each: a block holds nine times this many doubles at most.
_BLOCK = 1_000_000


@dataclass(frozen=True)
class HoloSettings:
    """The options of HoloClean.

    Parameters
    ----------
    bins : int
        The number of bins of a column of numbers.
    correlation, share : float
        Thresholds of the domain: only attributes that correlate more than the first propose
        values, and only those with more than this share of the rows that have the same b.
    fallback : int
        How many of the most frequent values are the domain of a cell for which none is proposed.
    decay : float
        How strongly large weights are held back, the less so the more cells there are.
    max_iter : int
        Steps of L-BFGS, at most.
    seed : int
        Of the sample of cells that very large tables are trained on.
    """

    bins: int = 10
    correlation: float = 0.05
    share: float = 0.1
    fallback: int = 10
    decay: float = 1.0
    max_iter: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("bins", 2), ("fallback", 1), ("max_iter", 1), ("seed", 0)):
            given = getattr(self, name)
            if not is_whole(given) or given < least:
                raise TableError(f"{name} must be an int of at least {least}; got {given!r}.")
        for name, most in (("correlation", 1.0), ("share", 1.0), ("decay", math.inf)):
            given = getattr(self, name)
            number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
            if not number or not 0 <= given <= most or given == math.inf:
                limits = "not below 0" if most == math.inf else f"in [0, {most:g}]"
                raise TableError(f"{name} must be a finite number {limits}; got {given!r}.")


@dataclass(frozen=True)
class CellDomains:
    """The domains of some cells of one attribute, one after the other.

    Those of cell i are values[starts[i]:starts[i + 1]], codes in ascending order.
    """

    starts: Ints
    values: Ints

    @property
    def cells(self) -> Ints:
        """The number of the cell to which each value belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True)
class HoloModel:
    """What was learnt from a table; a row is given as the codes of its attributes, -1 for holes.

    weights[a, b] belongs to P(v | B=b), weights[a, a] to the frequency of v.
    """

    settings: HoloSettings
    attributes: tuple[Attribute, ...]
    pairs: tuple[tuple[PairCounts | None, ...], ...]  # of A given B; none for A itself
    weights: Floats

    def domains(self, a: int, rows: Ints, observed: bool = False) -> CellDomains:
        """Step 3, for the cells of attribute `a` in these rows, shape (n, n_columns).

        If `observed`, the rows are those learnt from, and their cells are taken as if empty. The
        attribute must have a value.
        """
        size = self.attributes[a].size
        found = [np.zeros(0, dtype=np.int64)]
        for b, pair in enumerate(self.pairs[a]):
            if pair is not None and pair.correlation > self.settings.correlation:
                found.append(self._proposed(pair, rows[:, b], rows[:, a] if observed else None))
        keys = np.unique(np.concatenate(found))
        sizes = np.bincount(keys // size, minlength=len(rows))
        (few,) = np.nonzero(sizes < (2 if observed else 1))
        frequent = self.attributes[a].frequent[: self.settings.fallback]
        keys = np.union1d(keys, (few[:, None] * size + frequent).ravel())
        starts = np.searchsorted(keys, np.arange(len(rows) + 1) * size)
        return CellDomains(starts, keys % size)

    def _proposed(self, pair: PairCounts, given: Ints, own: Ints | None) -> Ints:
        """Cell number * size + value, for the values that one other attribute proposes."""
        share, spare = self.settings.share, 0 if own is None else 1
        of_b = pair.keys // pair.size
        # Only these are copied for every cell: at most 1 / share of them for each b.
        likely = np.flatnonzero(pair.counts > share * (pair.given[of_b] - spare))
        starts = np.searchsorted(of_b[likely], np.arange(len(pair.given) + 1))
        (cells,) = np.nonzero(given >= 0)
        first = starts[given[cells]]
        lengths = starts[given[cells] + 1] - first
        ends = np.cumsum(lengths)
        places = np.arange(lengths.sum()) + np.repeat(first - ends + lengths, lengths)
        cells, chosen = np.repeat(cells, lengths), likely[places]
        keys = cells * pair.size + pair.keys[chosen] % pair.size
        if own is None:
            return np.asarray(keys)
        counts = pair.counts[chosen] - (keys % pair.size == own[cells])
        return np.asarray(keys[counts > share * (pair.given[given[cells]] - spare)])

    def features(self, a: int, rows: Ints, domains: CellDomains, observed: bool = False) -> Floats:
        """Step 4: one line per value of the domains, one column per attribute; `a`: frequency."""
        cells, values = domains.cells, domains.values
        made = np.zeros((len(values), len(self.attributes)))
        for b, pair in enumerate(self.pairs[a]):
            if pair is None:
                counts = self.attributes[a].counts
                made[:, b] = counts[values] / counts.sum()
            elif len(pair.given):
                given = rows[cells, b]
                counts, totals = pair.of(given, values), pair.given[given]
                if observed:
                    counts = counts - ((values == rows[cells, a]) & (given >= 0))
                    totals = totals - 1
                made[:, b] = counts / np.maximum(totals, 1)
        return made

    def chances(self, a: int, rows: Ints) -> tuple[CellDomains, Floats, Ints]:
        """Steps 5 and 6: domains of empty cells, the softmax over each, and its likeliest value.

        At equal chances the more frequent value is the repair, then the smaller code.
        """
        parts, scores = [], []
        for block in _blocks(rows):
            parts.append(self.domains(a, block))
            scores.append(self.features(a, block, parts[-1]) @ self.weights[a])
        lengths = np.concatenate([np.diff(part.starts) for part in parts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        domains = CellDomains(starts, np.concatenate([part.values for part in parts]))
        chances = softmax(np.concatenate(scores), domains.starts)
        counts = self.attributes[a].counts[domains.values]
        order = np.lexsort((domains.values, -counts, -chances.round(12), domains.cells))
        return domains, chances, domains.values[order[starts[:-1]]]


def _blocks(rows: Ints) -> Iterator[Ints]:
    step = max(1, _BLOCK // rows.shape[1] ** 2)
    for start in range(0, max(len(rows), 1), step):
        yield rows[start : start + step]


def softmax(scores: Floats, starts: Ints) -> Floats:
    """The softmax of each run of scores; no run is empty."""
    if not len(scores):
        return scores
    lengths = np.diff(starts)
    raised = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts[:-1]), lengths))
    return np.asarray(raised / np.repeat(np.add.reduceat(raised, starts[:-1]), lengths))


def loss_and_gradient(
    weights: Floats, features: Floats, starts: Ints, true: Ints, decay: float
) -> tuple[float, Floats]:
    """Step 5, divided by the number of cells; `true` are the places of their true values."""
    chances = softmax(features @ weights, starts)
    # A chance may underflow to 0, whose logarithm the line search could not use.
    loss = -np.log(np.maximum(chances[true], 1e-300)).sum() + decay / 2 * (weights @ weights)
    chances[true] -= 1.0
    return float(loss / len(true)), (features.T @ chances + decay * weights) / len(true)


def fit_model(columns: Sequence[Column], trusted: Bools, settings: HoloSettings) -> HoloModel:
    """Learn from the trusted cells of a table, a mask of shape (rows, columns)."""
    attributes = attributes_of(columns, trusted, settings.bins)
    pairs = tuple(
        tuple(None if a is b else pair_counts(a, b) for b in attributes) for a in attributes
    )
    weights = np.zeros((len(attributes), len(attributes)))
    model = HoloModel(settings, attributes, pairs, weights)
    codes = np.column_stack([one.codes for one in attributes])
    for a, one in enumerate(attributes):
        if one.size > 1:
            weights[a] = _trained(model, a, codes[one.codes >= 0])
    return model


def _trained(model: HoloModel, a: int, rows: Ints) -> Floats:
    # Loaded only where they are needed.
    from scipy.optimize import minimize  # type: ignore[import-untyped]
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    n_features = rows.shape[1]
    order = np.random.default_rng(model.settings.seed).permutation(len(rows))
    features, lengths, true, held = [], [], [], 0
    for block in _blocks(rows[order]):
        domains = model.domains(a, block, observed=True)
        hits = domains.values == block[domains.cells, a]
        learnt = np.zeros(len(block), dtype=bool)
        learnt[domains.cells[hits]] = True  # the others' values are not in their domains
        kept = learnt[domains.cells]
        made = model.features(a, block, domains, observed=True)[kept]
        true.append(np.flatnonzero(hits[kept]) + held)
        lengths.append(np.diff(domains.starts)[learnt])
        features.append(made)
        held += len(made)
        if held * n_features > _MOST_FEATURES:
            break
    if not held:
        return np.zeros(n_features)
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    with threadpool_limits(1, "blas"):  # so few weights that threads would wait for each other
        result = minimize(
            loss_and_gradient,
            np.zeros(n_features),
            (np.concatenate(features), starts, np.concatenate(true), model.settings.decay),
            method="L-BFGS-B",
            jac=True,
            options={"maxiter": model.settings.max_iter},
        )
    return np.asarray(result.x)
