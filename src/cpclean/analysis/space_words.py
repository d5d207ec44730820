"""The space of a table in words."""

from __future__ import annotations

from cpclean.analysis.words import count
from cpclean.data.spaces.filled_space import FilledSpace
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.trees import Trees

# What certain means in a space that was made for the table.
GIVEN_THE_SPACE = (
    "Certain means certain given the space: it was made once and stays as it is, whatever the "
    "holes turn out to be."
)

_LEAVES = {
    "forest": "leaves of a forest of {trees}",
    "extra": "leaves of {trees} with extremely randomised splits",
    "random": "leaves of {trees} with random splits",
    "fitted": "what a fitted model makes of the rows",
}


def space_words(leaves: LeafSpace | None, space: FilledSpace | None = None) -> str:
    """Where distances are measured; a dataset that is no table's has a space without a choice.

    >>> space_words(LeafSpace()), space_words(LeafSpace("random", 50))
    ('leaves of a forest of 100 trees', 'leaves of 50 trees with random splits')
    >>> space_words(None)
    'scaled columns'
    """
    if leaves is None and isinstance(space, Trees):
        return f"leaves of {count(space.n_trees, 'tree')}"
    if leaves is None:
        return "scaled columns" if space is None else _LEAVES["fitted"]
    return _LEAVES[leaves.kind].format(trees=count(leaves.n_trees, "tree"))
