"""Which spaces an experiment runs on: published ones, injected ones, or small generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

from cpclean.errors import DataError
from cpclean.experiments.fresh import TABLES, Sizes, fresh_space, generated_table, load_table
from cpclean.experiments.spaces import PUBLISHED, Space, load_space
from cpclean.experiments.store import Key

GENERATED = ("numbers", "mixed")
QUICK = Sizes(train=100, val=60, test=120)

# Columns that identify a space in a table of results.
SPACE_KEYS = ("table", "holes", "seed")


def check_folder(folder: Path) -> None:
    """Refuse a folder that does not hold the data."""
    needed = [f"spaces/{name}/{kind}" for name, kind in PUBLISHED.items()]
    needed += [f"tables/{source.file}" for source in TABLES.values()]
    lacking = [name for name in needed if not (folder / name).exists()]
    if lacking:
        raise DataError(
            f"{folder} does not hold the data of the experiments: {lacking[0]} is missing"
            f"{f', and {len(lacking) - 1} more' if len(lacking) > 1 else ''}. Name the folder that "
            "holds spaces/ and tables/, or use --quick alone for generated tables."
        )


def table_names(folder: Path | None) -> Sequence[str]:
    """The published spaces of a data folder, or, without one, the generated tables."""
    if folder is None:
        return GENERATED
    check_folder(folder)
    return list(PUBLISHED)


@lru_cache(maxsize=1)
def space_of(folder: Path | None, table: str, sizes: Sizes, n_val: int | None = 1000) -> Space:
    """A published space, or one of a generated table; the last one is cached."""
    if folder is None:
        return fresh_space(generated_table(table), "important", 0, sizes)
    return load_space(folder / "spaces" / table / PUBLISHED[table], n_val=n_val)


def each_space(
    folder: Path | None, seeds: int, sizes: Sizes, kinds: Sequence[str]
) -> Iterator[tuple[Key, Callable[[], Space]]]:
    """Published spaces once, injected ones for every seed: their keys, and how to make them."""
    if folder is not None:
        for name in table_names(folder):
            place = folder / "spaces" / name / PUBLISHED[name]
            yield (name, "published", ""), partial(load_space, place)
    names: Sequence[str] = GENERATED if folder is None else list(TABLES)
    for seed in range(seeds):  # seed by seed: an interrupted run has something of every table
        for name in names:
            for kind in kinds:
                yield (name, kind, str(seed)), partial(_injected, folder, name, kind, seed, sizes)


def _injected(folder: Path | None, name: str, kind: str, seed: int, sizes: Sizes) -> Space:
    """A fresh space of a table of the data folder, or, without one, of a generated table."""
    whole = generated_table(name) if folder is None else load_table(folder, name)
    return fresh_space(whole, kind, seed, sizes)
