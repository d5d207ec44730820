"""cpclean demo: the whole story on a table that is at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from cpclean.data.incomplete import IncompleteDataset


@click.command()
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Which table to generate.",
)
@click.option(
    "--neighbors",
    type=int,
    default=3,
    show_default=True,
    metavar="K",
    help="How many nearest neighbours vote.",
)
def demo(seed: int, neighbors: int) -> None:
    """Generate a table with holes and ask the three questions of it.

    \b
    Example:
      cpclean demo --seed 7 --neighbors 1
    """
    from rich.console import Console

    console = Console(highlight=False)
    example = _example(seed)
    with console.status("Asking; the first run ever also compiles the kernels ..."):
        answers = _ask(example, neighbors)

    data, certain = example.data, answers.certain
    about = "~" if console.options.ascii_only else "≈"
    voters = "nearest neighbour" if neighbors == 1 else f"{neighbors} nearest neighbours"
    console.print(
        f"A generated table: {data.n_rows} rows, {data.n_features} features, "
        f"{len(data.classes)} classes. {len(data.dirty_rows)} rows have holes, {example.n_holes} "
        f"in all, and a hole might be filled with any of {example.n_repairs} values. So the table "
        f"stands for [bold]{example.n_repairs}^{example.n_holes} {about} "
        f"10^{math.log10(data.n_worlds):.0f} worlds[/]."
    )
    console.print(
        f"\n[bold]1. Which predictions are certain?[/] {certain.sum()} of {len(certain)} query "
        f"points ({certain.mean():.1%}) get the same label from their {voters} in every world."
    )
    console.print(
        "\n[bold]2. How many worlds predict each label?[/] "
        f"{len(answers.shown)} of the points, from certain to most open:"
    )
    console.print(_worlds_table(data.classes, answers, ascii_only=console.options.ascii_only))
    console.print(_best_row(certain, answers.entropies.mean(), answers.expected))


@dataclass(frozen=True)
class _Example:
    """A generated table with holes, and points to ask about."""

    data: IncompleteDataset
    points: NDArray[np.float64]
    n_holes: int
    n_repairs: int


@dataclass(frozen=True)
class _Answers:
    """What the queries say: about all points and rows, and more about the few points on show."""

    certain: NDArray[np.bool_]
    entropies: NDArray[np.float64]
    expected: NDArray[np.float64]
    shown: NDArray[np.intp]
    possible: NDArray[np.bool_]
    shares: NDArray[np.float64]
    counts: NDArray[np.object_]


def _example(seed: int) -> _Example:
    """300 rows of 4 features in 3 overlapping classes; a quarter of the rows lack a cell or two.

    A missing cell might hold its column's minimum, first quartile, mean, third quartile or
    maximum: the candidates of the paper's section on experiments.
    """
    import itertools

    import numpy as np

    from cpclean.data.incomplete import IncompleteDataset

    n_rows, n_features, n_points = 300, 4, 200
    names = np.array(["ash", "elm", "oak"])
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=1.5, size=(len(names), n_features))
    kinds = rng.integers(len(names), size=n_rows + n_points)
    values = centres[kinds] + rng.normal(size=(n_rows + n_points, n_features))
    table, points = values[:n_rows], values[n_rows:]

    missing = np.zeros((n_rows, n_features), dtype=bool)
    for position, row in enumerate(rng.choice(n_rows, size=n_rows // 4, replace=False)):
        n_lost = 2 if position % 5 == 0 else 1
        missing[row, rng.choice(n_features, size=n_lost, replace=False)] = True

    known = np.where(missing, np.nan, table)
    low, first, third, high = np.nanquantile(known, [0, 0.25, 0.75, 1], axis=0)
    repairs = np.stack([low, first, np.nanmean(known, axis=0), third, high], axis=1)
    candidates = []
    for row, holes in zip(table, missing, strict=True):
        filled = np.array(list(itertools.product(*repairs[holes])))
        versions = np.tile(row, (len(filled), 1))
        versions[:, holes] = filled
        candidates.append(versions)
    data = IncompleteDataset(candidates, names[kinds[:n_rows]])
    return _Example(data, points, n_holes=int(missing.sum()), n_repairs=repairs.shape[1])


def _ask(example: _Example, n_neighbors: int) -> _Answers:
    from cpclean.queries.certain import is_certain, possible_labels
    from cpclean.queries.gains import expected_entropies
    from cpclean.queries.shares import entropies, world_counts, world_shares

    data, points = example.data, example.points
    certain = is_certain(data, points, n_neighbors)
    spread = entropies(data, points, n_neighbors)
    shown = _from_certain_to_open(certain, spread, n_shown=8)
    return _Answers(
        certain=certain,
        entropies=spread,
        expected=expected_entropies(data, points, n_neighbors),
        shown=shown,
        possible=possible_labels(data, points[shown], n_neighbors),
        shares=world_shares(data, points[shown], n_neighbors),
        counts=world_counts(data, points[shown], n_neighbors),
    )


def _from_certain_to_open(
    certain: NDArray[np.bool_], spread: NDArray[np.float64], n_shown: int
) -> NDArray[np.intp]:
    """Indices of a certain point, then of uncertain ones at even steps to the most open."""
    import numpy as np

    order = np.lexsort((spread, ~certain))
    start = max(0, min(int(certain.sum()) - 1, len(order) - n_shown))
    return order[np.linspace(start, len(order) - 1, n_shown).round().astype(np.intp)]


def _worlds_table(classes: NDArray[Any], answers: _Answers, ascii_only: bool) -> Table:
    """One line a point: possible labels, the share of each, the exact count of the winner."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.ASCII2 if ascii_only else box.ROUNDED)
    table.add_column("point", justify="right")
    table.add_column("possible")
    table.add_column("certain")
    for label in classes:
        table.add_column(str(label), justify="right")
    table.add_column("worlds for the\nwinner (digits)", justify="right")
    for at, point in enumerate(answers.shown):
        certain, possible, shares = answers.certain[point], answers.possible[at], answers.shares[at]
        winner = int(shares.argmax())
        table.add_row(
            str(point),
            " ".join(str(label) for label in classes[possible]),
            "[green]yes[/]" if certain else "no",
            *(
                _share_text(shares[label], possible[label], certain)
                for label in range(len(classes))
            ),
            _count_text(answers.counts[at, winner], gap="..." if ascii_only else "…"),
        )
    return table


def _share_text(share: float, possible: bool, certain: bool) -> str:
    """A share in percent that reads 100 % only for a certain label, however near a float comes."""
    if not possible:
        return "-"
    if certain:
        return "100%"
    if share < 0.001:
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}"


def _count_text(count: int, gap: str) -> str:
    """An exact count; of a long one the ends and, in brackets, how many digits it has."""
    digits = str(count)
    if len(digits) <= 12:
        return digits
    return f"{digits[:4]}{gap}{digits[-4:]} ({len(digits)})"


def _best_row(certain: NDArray[np.bool_], before: float, after: NDArray[np.float64]) -> str:
    question = "\n[bold]3. Which row should be cleaned first?[/]"
    if certain.all():
        return f"{question} None: every prediction is certain already."
    best = int(after.argmin())
    return (
        f"{question} Row {best}: once its true values are known, the mean entropy of the "
        f"predictions is expected to fall from {before:.4f} to {after[best]:.4f}, the lowest that "
        "any one row can bring."
    )
