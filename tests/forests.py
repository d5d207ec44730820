"""Forests of few trees and short boosting, where a command or page learns them by the way."""

from __future__ import annotations

from typing import Any

import pytest

from cpclean.data.spaces.leaf_space import LeafSpace

TREES, WORLDS, ROUNDS = 10, 2, 5


@pytest.fixture(autouse=True)
def small_forests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a whole room, by import in its conftest; tests marked `whole_forests` go without."""
    if request.node.get_closest_marker("whole_forests"):
        return
    usual = LeafSpace.options

    def fewer(self: LeafSpace, *args: Any) -> dict[str, Any]:
        found = usual(self, *args)
        most = {"n_trees": TREES, "n_worlds": WORLDS}
        return found | {name: min(found[name], number) for name, number in most.items()}

    monkeypatch.setattr(LeafSpace, "options", fewer)
    monkeypatch.setattr("cpclean.baselines.rivals.ROUNDS", ROUNDS)
