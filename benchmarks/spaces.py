"""The spaces that are measured: the authors' published ones, or generated stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import generated
from benchmarks.generated import Floats, Parts
from benchmarks.measure import ROOT
from cpclean import IncompleteDataset

KINDS = {
    "Supreme": "systematic",
    "Bank": "systematic",
    "Puma": "systematic",
    "BabyProduct": "real",
}
USUAL_FOLDER = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Space:
    """An incomplete dataset, query points, and all candidates in one array."""

    data: IncompleteDataset
    points: Floats
    candidates: Floats  # row after row
    owners: npt.NDArray[np.int64]  # the row of each candidate
    truth: npt.NDArray[np.int64]  # the number of each row's true candidate


@dataclass(frozen=True)
class Source:
    """Where spaces come from; folder None means that they are generated."""

    folder: Path | None
    n_points: int

    def space(self, name: str) -> Space:
        return _space(self.folder, name, self.n_points)


def holds_spaces(folder: Path) -> bool:
    return all((folder / "spaces" / name / kind).is_dir() for name, kind in KINDS.items())


def assembled(parts: Parts) -> Space:
    sizes = [len(one) for one in parts.candidates]
    truth = parts.truth if parts.truth is not None else np.random.default_rng(5).integers(sizes)
    return Space(
        IncompleteDataset(parts.candidates, parts.labels),
        parts.points,
        np.concatenate(parts.candidates),
        np.repeat(np.arange(len(sizes)), sizes),
        truth,
    )


@cache
def _space(folder: Path | None, name: str, n_points: int) -> Space:
    if folder is None:
        return assembled(generated.like(name, n_points))
    return assembled(_published(folder / "spaces" / name / KINDS[name], n_points))


def _published(folder: Path, n_points: int) -> Parts:
    from cpclean.experiments.spaces import load_space

    space = load_space(folder, n_val=n_points)
    data = space.table.dataset
    return Parts(
        candidates=[data.candidates(row) for row in range(data.n_rows)],
        labels=data.labels,
        points=space.X_val,
        truth=space.truth,
    )
