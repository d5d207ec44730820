"""Forests of few trees, where a command or page learns one and its trees are not the point."""

from __future__ import annotations

from typing import Any

import pytest

from cpclean.data.spaces.leaf_space import LeafSpace

TREES, WORLDS = 10, 2


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
