"""Points as bytes and back, bit for bit, with the completions of those that have holes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.points import Points
from cpclean.data.row_arrays import RowArrays
from cpclean.projects.packing import Packer, Unpacker


def are_complete(points: Points) -> bool:
    """Whether every point is one vector, as in format 1."""
    return len(points.owner) == points.n_points and points.is_exact


def point_arrays(points: Points) -> dict[str, npt.NDArray[Any]]:
    """All arrays of points, by the names that they have in a project.

    Complete points are one array: their vectors, one per point.
    """
    if are_complete(points):
        return {"vectors": points.all_vectors()}
    found = {
        "vectors": points.vectors[points.vector],
        "owner": points.owner,
        "weight": points.weight,
        "drawn": points.drawn,
    }
    if points.cells is not None:
        found |= {f"cells_{name}": array for name, array in points.cells.named().items()}
    return found


def pack_points(points: Points, into: Packer) -> dict[str, Any]:
    """What a project has about its points."""
    packed = {name: into.array(one, "the points") for name, one in point_arrays(points).items()}
    vectors = packed.pop("vectors")
    return {"vectors": vectors} | ({"completions": packed} if packed else {})


def unpack_points(stored: Mapping[str, Any], source: Unpacker) -> Points:
    """The points that were packed."""
    vectors, packed = source.array(stored["vectors"]), stored.get("completions")
    if packed is None:
        return Points.of(vectors)
    found = {name: source.array(one) for name, one in packed.items()}
    points = Points.from_entries(np.array(vectors, order="C"), found["owner"], found["weight"])
    points.drawn = found["drawn"]
    if len(points.drawn):
        points.cells = RowArrays.from_named(found, "cells_")
    return points
