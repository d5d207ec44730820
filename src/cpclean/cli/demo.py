"""cpclean demo: the whole story on a built-in table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from cpclean.analysis.words import percent
from cpclean.cli.charts import curves
from cpclean.cli.output import terminal, working
from cpclean.cli.predict import short_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table

    from cpclean.cleaning.question import Question
    from cpclean.cleaning.session import CleaningSession
    from cpclean.cli.wines import Wines

# Answers that are shown one by one, random orders to compare with, and points that are shown.
ANSWERS = 10
ORDERS = 5
SHOWN = 5
WIDTH = 80

NEXT = {
    "inspect": ("inspect train.csv --label y", "do the holes matter?"),
    "clean": ("clean train.csv --label y", "clean, answer by answer"),
    "report": ("report train.csv --label y -o page.html", "a page to show to others"),
    "serve": ("serve --demo", "this demo in a browser"),
}


@click.command(short_help="The whole story on a built-in table.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed: for the cells that are missing, and the rows to predict.",
)
@click.option(
    "--neighbors",
    "-k",
    type=int,
    default=3,
    show_default=True,
    metavar="K",
    help="How many nearest neighbours vote.",
)
@click.pass_context
def demo(ctx: click.Context, seed: int, neighbors: int) -> None:
    """The whole story on a built-in table: what is certain, what to clean, what it achieves.

    The table of wines is part of scikit-learn; nothing is downloaded, and nothing is written. Some
    laboratory results are hidden, and the questions are answered with the hidden values.

    \b
    Example:
      cpclean demo --seed 7 --neighbors 1
    """
    from cpclean.cli.wines import wines
    from cpclean.queries.geometry import ask
    from cpclean.queries.model import Model

    console = terminal()
    console.width = min(WIDTH, console.width)
    console.soft_wrap = False
    with working("Reading"):
        example = wines(seed)
        data, points = example.table.dataset, example.table.encode(example.points)
        ask(data, points, Model(neighbors))  # says what is wrong before anything is shown
    _tell_table(console, example)  # something to read while the very first run compiles
    with working("Asking"):
        session = example.session(neighbors)
        answers = _asked(example, session)
        question = session.ask()
    _tell_certain(console, answers, neighbors)
    _tell_next(console, question, example)
    if question is not None:
        _clean(console, session, example)
        _tell_curve(console, session, example)
    _tell_ways(console, ctx)


@dataclass(frozen=True)
class _Answers:
    """The results of the queries: about all points, and more about the few that are shown."""

    classes: NDArray[Any]
    certain: NDArray[np.bool_]
    shown: NDArray[np.intp]
    possible: NDArray[np.bool_]
    shares: NDArray[np.float64]
    counts: NDArray[np.object_]


def _asked(example: Wines, session: CleaningSession) -> _Answers:
    from cpclean.queries.certain import possible_labels
    from cpclean.queries.shares import entropies, world_counts, world_shares

    data, points = example.table.dataset, example.table.encode(example.points)
    k = session.n_neighbors
    shown = _from_certain_to_open(session.certain, entropies(data, points, k), SHOWN)
    return _Answers(
        classes=data.classes,
        certain=session.certain,
        shown=shown,
        possible=possible_labels(data, points[shown], k),
        shares=world_shares(data, points[shown], k),
        counts=world_counts(data, points[shown], k),
    )


def _from_certain_to_open(
    certain: NDArray[np.bool_], spread: NDArray[np.float64], n_shown: int
) -> NDArray[np.intp]:
    """Indices of a certain point, then of uncertain ones in even steps to the least decided."""
    import numpy as np

    order = np.lexsort((spread, ~certain))
    start = max(0, min(int(certain.sum()) - 1, len(order) - n_shown))
    return order[np.linspace(start, len(order) - 1, n_shown).round().astype(np.intp)]


# -- showing ---------------------------------------------------------------------------------------


def _tell_table(console: Console, example: Wines) -> None:
    from cpclean.analysis.summary import worlds_text

    table = example.table
    about = "about " if table.dataset.n_worlds >= 10**6 else ""
    console.print(
        f"[bold]A table with holes.[/] {table.n_rows} wines of three cultivars, "
        f"{len(table.names)} measurements each. The laboratory skipped "
        f"{example.n_skipped} costly analyses, more often for pale wines; now and then, magnesium "
        f"was forgotten. {len(table.dataset.dirty_rows)} rows have holes, {table.holes.sum()} in "
        f"all, and each hole has 5 candidates. So the table stands for "
        f"[bold]{about}{worlds_text(table.dataset.n_worlds)} worlds[/]."
    )


def _tell_certain(console: Console, answers: _Answers, neighbors: int) -> None:
    certain = answers.certain
    share = percent(float(certain.mean()))
    voters = "nearest neighbour" if neighbors == 1 else f"{neighbors} nearest neighbours"
    console.print(
        f"\n[bold]1. Which predictions are certain?[/] {certain.sum()} of {len(certain)} other "
        f"wines ({share}) get the same cultivar from their {voters} in every world."
    )
    console.print(
        f"\n[bold]2. How many worlds predict each cultivar?[/] {len(answers.shown)} of the wines, "
        "from certain to least decided:"
    )
    console.print(_worlds_table(answers, ascii_only=console.options.ascii_only))


def _worlds_table(answers: _Answers, ascii_only: bool) -> Table:
    """One line per point: possible labels, the share of each, the winner's exact count."""
    from rich import box
    from rich.table import Table

    classes = answers.classes
    table = Table(box=box.ASCII2 if ascii_only else box.ROUNDED)
    table.add_column("wine", justify="right")
    table.add_column("possible")
    table.add_column("certain")
    for label in classes:
        table.add_column(str(label), justify="right")
    table.add_column("worlds for\nthe winner", justify="right")
    for at, point in enumerate(answers.shown):
        certain, possible, shares = answers.certain[point], answers.possible[at], answers.shares[at]
        winner = int(shares.argmax())
        table.add_row(
            str(point),
            " ".join(str(label) for label in classes[possible]),
            "[green]yes[/]" if certain else "no",
            *(share_text(shares[label], possible[label], certain) for label in range(len(classes))),
            short_count(answers.counts[at, winner]),
        )
    return table


def share_text(share: float, possible: bool, certain: bool) -> str:
    """A share in percent; it is 100% only for a certain label, however close a float comes."""
    if not possible:
        return "-"
    if certain:
        return "100%"
    return percent(min(max(share, 1e-9), 1 - 1e-9))  # a float may be rounded to 0 or 1


def _tell_next(console: Console, question: Question | None, example: Wines) -> None:
    head = "\n[bold]3. Which row should be cleaned first?[/]"
    if question is None:
        console.print(f"{head} None: every prediction is certain already.")
        return
    why, row = question.why, example.table.row(question.row)
    holes = [name for name, value in row.items() if value is None]
    settled = [len(points) for points in why.settles]
    at_once = f" and knowing it may settle up to {max(settled)} at once" if any(settled) else ""
    near = "1 uncertain wine" if len(why.points) == 1 else f"{len(why.points)} uncertain wines"
    console.print(
        f"{head} Row {question.row}, where {' and '.join(holes)} is missing. It can be among the "
        f"nearest of {near}{at_once}. It is expected to lower the mean "
        f"entropy of all predictions by {question.gain:.4f} nats, more than any other row."
    )


def _clean(console: Console, session: CleaningSession, example: Wines) -> None:
    """Ten answers, one line each."""
    from rich import box
    from rich.table import Table

    from cpclean.cleaning.simulation import simulate

    plain = console.options.ascii_only
    table = Table(box=box.ASCII2 if plain else box.ROUNDED)
    for name in ("answer", "row", "true values", "settled", "certain"):
        table.add_column(name, justify="left" if name == "true values" else "right")
    while len(session.history) < ANSWERS and not session.done:
        record = simulate(session, example.truth, 1, exact=True, progress=False)[-1]
        values = session.answers[-1]["value"]
        table.add_row(
            str(len(session.history)),
            str(record.row),
            ", ".join(f"{name} {value:g}" for name, value in values.items()),
            str(record.settled),
            percent(record.certain_share),
        )
    count = len(session.history)
    many = {1: "One answer", ANSWERS: "Ten answers"}.get(count, f"{count} answers")
    console.print(f"\n[bold]4. {many}[/], from the values that were hidden:")
    console.print(table)


def _tell_curve(console: Console, session: CleaningSession, example: Wines) -> None:
    """Cleaning to the end, compared with random orders."""
    from cpclean.cleaning.simulation import simulate

    k, start = session.n_neighbors, float(example.session(session.n_neighbors).certain_share)
    with working("Cleaning to the end, and in random orders"):
        simulate(session, example.truth, exact=True, progress=False)
        others = [example.session(k, "random", seed) for seed in range(ORDERS)]
        for other in others:
            simulate(other, example.truth, exact=True, progress=False)
    orders = [_curve(other, start) for other in others]
    longest = max(map(len, orders))
    held = [[*shares, *shares[-1:] * (longest - len(shares))] for shares in orders]
    mean = [sum(shares) / ORDERS for shares in zip(*held, strict=True)]
    asked, random = len(session.history), sum(len(shares) - 1 for shares in orders) / ORDERS
    console.print(
        f"\n[bold]5. What it achieves.[/] All predictions are certain after {asked} "
        f"answer{'s' if asked > 1 else ''}; in random order after {random:.0f}, on average, of "
        f"{len(example.table.dataset.dirty_rows)} rows with holes. Share of certain predictions:"
    )
    lines = {
        "the row that is expected to help most": list(enumerate(_curve(session, start))),
        f"random order (mean of {ORDERS})": list(enumerate(mean)),
    }
    click.echo(curves(lines, console.options.ascii_only))


def _curve(session: CleaningSession, start: float) -> list[float]:
    return [start, *(record.certain_share for record in session.history)]


def _tell_ways(console: Console, ctx: click.Context) -> None:
    group = ctx.parent.command if ctx.parent else None
    verbs = group.commands if isinstance(group, click.Group) else {}
    console.print("\n[bold]Where to go next[/]")
    for verb, (line, what) in NEXT.items():
        if verb in verbs:
            click.echo(f"  cpclean {line:<39} {what}".rstrip())
