"""``python -m benchmarks``: run the sections, print the table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live

from benchmarks import (
    building,
    classes,
    cleaning,
    clusters,
    counting,
    hole_choices,
    holes,
    leaves,
    machine,
    scale,
    serving,
    spaces,
    speed,
    startup,
    streamed,
    tables,
    telling,
    wide,
)
from benchmarks.report import PLAIN_WIDTH, Report, markdown, show
from benchmarks.run import Run

SECTIONS: dict[str, Callable[[Run], None]] = {
    "speed": speed.measure,
    "counts": counting.measure_counts,
    "reference": counting.measure_reference,
    "memory": scale.measure_memory,
    "doubling": scale.measure_doubling,
    "startup": startup.measure,
    "classes": classes.measure,
    "wide": wide.measure_wide,
    "tied": wide.measure_tied,
    "building": building.measure,
    "tables": tables.measure,
    "holes": holes.measure,
    "choices": hole_choices.measure,
    "leaves": leaves.measure,
    "cleaning": cleaning.measure,
    "telling": telling.measure,
    "cluster": clusters.measure,
    "streamed": streamed.measure,
    "serving": serving.measure,
}
INTERRUPTED = 130


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Fewer points and rows: a check that takes a minute.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that holds spaces/; by default ../shared/data, if it is there.",
)
@click.option("--repeat", type=click.IntRange(min=1), help="Rounds of timing; 9, or 3 if quick.")
@click.option(
    "--only",
    type=click.Choice(list(SECTIONS)),
    multiple=True,
    help="This section and no other; may be given more than once.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the table for a README.")
def main(
    quick: bool,
    data_dir: Path | None,
    repeat: int | None,
    only: tuple[str, ...],
    as_markdown: bool,
) -> None:
    """Measure cpclean's speed and memory, and check its answers.

    Exits with 1 if any agreement check fails; targets are only reported.

    \b
    Example:
      python -m benchmarks --quick --only speed
    """
    report = Report()
    source = spaces.Source(_folder(data_dir), n_points=100 if quick else 1_000)
    _introduce(report, source, quick)
    interrupted = False
    try:
        with _progress() as say:
            run = Run(source, quick, repeat or (3 if quick else 9), report, say)
            for name in only or SECTIONS:
                SECTIONS[name](run)
    except KeyboardInterrupt:
        interrupted = True
        report.notes.append("Interrupted: this is what was done until then.")
    except Exception:
        report.notes.append("Stopped by an error: this is what was done until then.")
        raise
    finally:
        _print(report, as_markdown)
    if interrupted:
        sys.exit(INTERRUPTED)
    if report.failed:
        sys.exit(1)


def _folder(given: Path | None) -> Path | None:
    if given is None:
        return spaces.USUAL_FOLDER if spaces.holds_spaces(spaces.USUAL_FOLDER) else None
    if not spaces.holds_spaces(given):
        wanted = ", ".join(f"{name}/{kind}" for name, kind in spaces.KINDS.items())
        raise click.BadParameter(
            f"{given} has no folder spaces with {wanted}. Leave the option out to measure "
            "generated spaces.",
            param_hint="--data-dir",
        )
    return given


def _introduce(report: Report, source: spaces.Source, quick: bool) -> None:
    report.notes.append(f"Machine: {machine.described()}.")
    report.notes.append(
        "Times are CPU (wall), best round; ratios are those of CPU times within one round, median "
        "(lowest). kneighbors is scikit-learn's brute-force search for 3 neighbours among all "
        "candidates (points x candidates), on one thread, since waiting threads spin and that "
        "counts as CPU time. It is fitted, and our data prepared, before time counts. Memory "
        "growth is the peak of a fresh process beyond what it held once the data was made."
    )
    if quick:
        report.notes.append("Quick: the targets are meant for the full run, not for this one.")
    if source.folder is None:
        report.notes.append(
            "The authors' spaces are absent (see --data-dir): generated ones of the same shape "
            "stand in for them."
        )


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """One line that says what is going on; redrawn between measurements, never during one."""
    console = Console(stderr=True, highlight=False)
    start = time.monotonic()

    def line(text: str) -> str:
        return f"{time.monotonic() - start:4.0f} s  {text}"

    if not console.is_terminal:
        yield lambda text: console.print(line(text))
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda text: live.update(line(text), refresh=True)


def _print(report: Report, as_markdown: bool) -> None:
    if as_markdown:
        print(markdown(report, _command()))
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    show(report, console)


def _command() -> str:
    """The command as a reader would type it: a folder of this machine is no part of it."""
    words = ["python -m benchmarks"]
    after_folder = False
    for word in sys.argv[1:]:
        if after_folder or word.startswith("--data-dir="):
            word = "DIR" if after_folder else "--data-dir=DIR"
        after_folder = word == "--data-dir"
        words.append(word)
    return " ".join(words)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
