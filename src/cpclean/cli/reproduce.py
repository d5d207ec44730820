"""cpclean reproduce: tables and figures of results, measured again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from cpclean.cli.mistakes import Mistake, tell

# With --quick, at most.
QUICK_SEEDS, QUICK_RUNS = 1, 2
GENERATED = "Quick: small generated tables, to see that everything works."
FEW_ROWS = (
    "Quick: a few rows of every table, {seeds} seed and {runs} random orders, to see that "
    "everything works; the figures are not those of the full tables."
)


@click.command(short_help="Measure tables and figures of results again.")
@click.option(
    "--table",
    type=click.Choice(["paper", "priors", "models", "spaces"]),
    help="Only this table. paper: Tables 1 and 2 of the paper. priors: what each prior is worth, "
    "without any cleaning. models: nearest neighbours in each space beside other models. "
    "spaces: the choices behind the forest space, one made differently at a time.",
)
@click.option(
    "--figure",
    type=click.Choice(["sure", "cleaning", "validation"]),
    help="Only this figure. sure: how little cleaning is enough, and how often what is sure is "
    "true. cleaning: what cleaning row by row brings, compared with random order. "
    "validation: how many validation points it takes.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="The folder that contains spaces/ and tables/.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often tables are split and cells hidden again.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many random orders of cleaning.",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="The share of rows with holes after which --table paper measures CPClean early.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Where results are saved, cell by cell; a later run continues from there.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="How many processes work at once.  [default: one per core]",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Use few rows of every table, one seed and two random orders: minutes instead of hours. "
    "Without --data-dir, the tables are generated.",
)
def reproduce(
    table: str | None,
    figure: str | None,
    data_dir: Path | None,
    seeds: int,
    runs: int,
    budget: float,
    out: Path,
    jobs: int | None,
    quick: bool,
) -> None:
    """Measure the tables and figures of the results again, cell by cell.

    Without --table or --figure, all of them are measured. How long that takes is said first. After
    Ctrl-C, the same command continues where it stopped.

    \b
    Example:
      cpclean reproduce --table priors --quick
      cpclean reproduce --quick --data-dir ../shared/data --out quick
      cpclean reproduce --figure cleaning --data-dir ../shared/data --out results
    """
    if data_dir is None and not quick:
        raise Mistake(
            "name the folder that contains spaces/ and tables/ with --data-dir, or try --quick, "
            "which generates small tables."
        )
    from rich.console import Console

    from cpclean.experiments import compare_priors as priors
    from cpclean.experiments import enough, models, paper, space_choices, validation
    from cpclean.experiments import orders as curves
    from cpclean.experiments.few_rows import few_rows

    console = Console(stderr=True, highlight=False)
    jobs = jobs or os.cpu_count() or 1
    if quick:
        seeds, runs = min(seeds, QUICK_SEEDS), min(runs, QUICK_RUNS)
        if data_dir is not None:
            data_dir = few_rows(data_dir, out / "few_rows")  # refuses a folder without data
    sections: dict[str, Callable[[], tuple[str, bool]]] = {
        "paper": lambda: paper.reproduce(data_dir, out, seeds, quick, console, budget, jobs),
        "priors": lambda: priors.reproduce(data_dir, out, seeds, quick, console, jobs),
        "models": lambda: models.reproduce(data_dir, out, seeds, quick, console, jobs),
        "sure": lambda: enough.reproduce(data_dir, out, quick, console, jobs),
        "spaces": lambda: space_choices.reproduce(data_dir, out, quick, console, jobs),
        "cleaning": lambda: curves.reproduce(data_dir, out, runs, quick, console, jobs),
        "validation": lambda: validation.reproduce(data_dir, out, quick, console, jobs),
    }
    wanted = [name for name in sections if name in (table, figure)] or list(sections)
    few = ""
    if quick:
        few = FEW_ROWS.format(seeds=seeds, runs=runs) if data_dir is not None else GENERATED
    tell(_told(wanted, seeds, runs, jobs, few))
    finished = True
    for name in wanted:
        text, finished = sections[name]()
        click.echo(text)
        if not finished:
            break
    if not finished:
        click.echo(
            f"Interrupted. The results so far are above; the same command continues from {out}.",
            err=True,
        )
        raise click.exceptions.Exit(130)


def _told(wanted: list[str], seeds: int, runs: int, jobs: int, few: str) -> str:
    """What is measured, and how long it takes; `few` says how much there is with --quick."""
    from cpclean.experiments.durations import expected_quickly, expected_seconds, in_time

    usual = expected_seconds(wanted, seeds, runs, jobs)
    seconds = expected_quickly(wanted, jobs) if few else usual
    cores = "one process" if jobs == 1 else f"{jobs} processes"
    return (
        f"{few or 'Measuring ' + ', '.join(wanted) + '.'} About {in_time(seconds)} with {cores} on "
        "cores of their own, less what is saved already."
    )
