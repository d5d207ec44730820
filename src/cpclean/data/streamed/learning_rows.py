"""The trees of a large table, learnt from a random sample of its rows."""

from __future__ import annotations

import numpy as np

from cpclean.data.drawing import uniforms
from cpclean.data.rows import Ints
from cpclean.data.spaces.leaf_space import LeafSpace
from cpclean.data.spaces.tree_features import TreeSpace
from cpclean.data.spaces.trees import Trees
from cpclean.data.streamed.pieces import n_rows
from cpclean.data.streamed.row_batches import read_all
from cpclean.data.streamed.row_recipe import RowRecipe, SomeRows
from cpclean.progress_bar import Shown, progress_bar

# Rows whose chances are looked at together.
_BLOCK = 1 << 20


def learnt_trees(recipe: RowRecipe, leaves: LeafSpace, n_labelled: int, progress: Shown) -> Trees:
    """The trees for the rows of a table; all of them are looked at if they are few."""
    total = n_rows(recipe.reader.source)
    wanted = None
    if n_labelled > leaves.max_rows:
        wanted = sample_of(total, int(leaves.max_rows), recipe.drawing.seed)
    parts: list[SomeRows] = []
    with progress_bar(total, "reading rows to learn from", shown=progress) as follow:
        for batch in read_all(recipe.reader, recipe.reader.source.pieces, recipe.at_once, follow):
            places = np.arange(len(batch.rows))
            if wanted is not None:
                places = places[np.isin(batch.rows, wanted)]
            if len(places):
                parts.append(recipe.encoded(batch.take(places)))
    data = recipe.dataset(SomeRows.joined(parts))
    assert isinstance(recipe.space, TreeSpace)
    return leaves.trees(data, recipe.space, recipe.drawing.seed)


def sample_of(n_rows: int, size: int, seed: int) -> Ints:
    """Some rows by chance, ascending; a row's chance depends on the seed and its number alone."""
    rows, chances = np.empty(0, dtype=np.int64), np.empty(0)
    for start in range(0, n_rows, _BLOCK):
        own = np.arange(start, min(start + _BLOCK, n_rows))
        chance = uniforms(seed % 2**32, own, np.zeros_like(own), 2)[:, 0]
        rows, chances = np.concatenate([rows, own]), np.concatenate([chances, chance])
        if len(rows) > size:
            best = np.argpartition(chances, size - 1)[:size]
            rows, chances = rows[best], chances[best]
    return np.sort(rows)
