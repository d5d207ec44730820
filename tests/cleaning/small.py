"""Small incomplete datasets on a coarse grid, for sessions: ties and priors of 0 abound."""

from __future__ import annotations

from random import Random
from typing import Any

from cpclean import Cell, FactoredRow, IncompleteDataset


def random_data(rng: Random) -> IncompleteDataset:
    n_rows, n_features = rng.randint(4, 24), rng.randint(1, 4)
    n_classes = rng.randint(1, 4)

    def number() -> float:
        return float(rng.randint(-3, 3))

    rows: list[Any] = []
    priors: list[Any] = []
    for _ in range(n_rows):
        kind = rng.random()
        base = [number() for _ in range(n_features)]
        prior = None
        if kind < 0.3:
            rows.append([base])
        elif kind < 0.65 or n_features == 1:
            size = rng.randint(2, 5)
            rows.append([[number() for _ in range(n_features)] for _ in range(size)])
            if rng.random() < 0.5:
                weights = [rng.choice([0.0, 1.0, 2.0, 5.0]) for _ in range(size)]
                prior = [w / sum(weights) for w in weights] if sum(weights) else None
        else:
            columns = rng.sample(range(n_features), rng.randint(1, min(3, n_features)))
            rows.append(
                FactoredRow(base, [Cell(c, sorted({number() for _ in range(3)})) for c in columns])
            )
        priors.append(prior)
    labels = [rng.randrange(n_classes) for _ in range(n_rows)]
    return IncompleteDataset(rows, labels, priors)


def problem(seed: int, n_points: int = 6) -> tuple[IncompleteDataset, list[list[float]], int]:
    """A dataset, validation points, and K."""
    rng = Random(seed)
    data = random_data(rng)
    points = [[float(rng.randint(-3, 3)) for _ in range(data.n_features)] for _ in range(n_points)]
    return data, points, min(3, data.n_rows)
